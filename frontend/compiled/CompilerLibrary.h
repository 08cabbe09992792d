// The compiler's library, which is loaded when something is first compiled.
#ifndef CALQUE_FRONTEND_COMPILED_COMPILERLIBRARY_H
#define CALQUE_FRONTEND_COMPILED_COMPILERLIBRARY_H

#include "calque/source_location.h"
#include "program/Compiler.h"

#include <string>

namespace calque::detail {

// The path of the compiler's library, or its file name alone if it is not beside this library.
std::string compilerLibrary();
// The compiler, loaded at the first use. CompileError when there is none. Its calls throw MemoryError from the moment at
// which memory has run out in one of them.
Compiler &compiler();
// Throws this MemoryError, with a line of the user's.
[[noreturn]] void failForCompilersMemory(SourceLocation where);

} // namespace calque::detail
#endif
