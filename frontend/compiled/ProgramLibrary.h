// The compiler as one of programs that are data.
#ifndef CALQUE_FRONTEND_COMPILED_PROGRAMLIBRARY_H
#define CALQUE_FRONTEND_COMPILED_PROGRAMLIBRARY_H

#include "program/ProgramCompiler.h"

namespace calque::detail {

// As compiler() in CompilerLibrary.h.
ProgramCompiler &programCompiler();

} // namespace calque::detail
#endif
