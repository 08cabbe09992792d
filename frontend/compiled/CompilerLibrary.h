// The library of the compiler, which is loaded at the first compilation.
#ifndef CALQUE_FRONTEND_COMPILED_COMPILERLIBRARY_H
#define CALQUE_FRONTEND_COMPILED_COMPILERLIBRARY_H

#include "calque/source_location.h"
#include "program/Compiler.h"

#include <string>

namespace calque::detail {

// The path of the compiler's library, or its file name alone if it is not beside this library.
std::string compilerLibrary();
// The compiler, loaded at the first use. CompileError if it is missing. Once memory has run out in the compiler, all
// its calls throw MemoryError.
Compiler &compiler();
// Throws this MemoryError with a line of the user's program.
[[noreturn]] void failForCompilersMemory(SourceLocation where);

} // namespace calque::detail
#endif
