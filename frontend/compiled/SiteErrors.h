// The errors of native code: each failing site has a line, a name, and a text.
#ifndef CALQUE_FRONTEND_COMPILED_SITEERRORS_H
#define CALQUE_FRONTEND_COMPILED_SITEERRORS_H

#include "frontend/compiled/Compilation.h"

namespace calque::detail {

struct Signature;

// The caller of native code. Code that is cached by structure has the sites of its first caller. For other callers, the
// lines and names of sites come from their own recordings.
struct Caller {
  SourceLocation where; // of the call: the line of results, and of failures without a line
  const schema::Recording *recording = nullptr;
  const schema::SourceLine *operation = nullptr; // the line of the operation, if the code is that of one operation
  schema::OpId op = {};
  // Replaces the text of every site, if given: a label, a message, the symbol of a user's operation.
  const std::string *text = nullptr;
  const Signature *signature = nullptr; // of the call, which names the parameters that are its arguments
};

// Thrown if the sizes of arguments don't fit together, by code of unknown sizes. The code has not run.
struct SizesDisagree : ShapeError {
  SizesDisagree(const std::string &message, SourceLocation where, const Code *code)
      : ShapeError(message, where), code(code) {}
  const Code *code;
};

// The name of a failing site, and its line.
struct Failure {
  std::string operation, index;
  SourceLocation where;
};
Failure failureAt(const Site &site, const Caller &caller);

// Throws the error of the site at which native code has failed. `failedElements` are those of an assertion. `isHeard`:
// the call has printed, or called the host.
[[noreturn]] void throwSite(const Code &code, const CalqueErrorSlot &slot, const Caller &caller, bool isHeard = false,
                            const std::string &failedElements = {});

// The beginning of a MemoryError's text.
std::string whose(const Caller &caller);

} // namespace calque::detail
#endif
