// Saved functions as object files, for programs that have no compiler and no Calque: C and C++ programs on small
// machines, in other languages, in other processes. docs/ahead-of-time.md shows one.
//
//   compile_ahead(load_functions("digits.calque"), "digits.o", "digits.h");
//
// The object file has native code, weights and plans. It is linked with the library calque-standalone; the header
// declares a C function for each saved one.
#ifndef CALQUE_AHEAD_OF_TIME_H
#define CALQUE_AHEAD_OF_TIME_H

#include "calque/saved_functions.h"

namespace calque {

struct AheadOptions {
  // The beginning of all names in C: letters, digits and underscores. Empty: the name of the object file. If the name
  // has another meaning in C, as "index" has, the names of functions still begin with it, and the library is index_1.
  std::string name = {};
  // The CPU that the code is for: "baseline", "avx2", "avx512" or "aarch64". Empty: this one.
  std::string target = {};
  // Functions whose pullbacks are compiled, too. NAME_pullback takes the arguments and a cotangent for each
  // floating-point result. It returns these results, and a cotangent for each floating-point argument.
  std::vector<std::string> pullbacks = {};
  // The functions to compile. Empty: all of the file.
  std::vector<std::string> functions = {};
};

// Compiles functions of a file. Where a function was saved with several traces, those behind the first have a
// number at the end of their names. Names that C does not allow, or that the header needs itself, are changed; comments
// in the header say which.
//
// ValueError for a name of the library that is no identifier of C, for an unknown target, and for functions that take
// variables as arguments or apply the user's operations. LookupError for a function, or the pullback of a function,
// that is not in the file. CompileError. DataError if a file can't be written.
CALQUE_API void compile_ahead(const SavedFunctions &functions, const std::string &object, const std::string &header,
                              AheadOptions options = {}, SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
