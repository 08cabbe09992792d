// The compiler's options, from the environment or from a caller.
#ifndef CALQUE_FRONTEND_COMPILED_COMPILERSETTINGS_H
#define CALQUE_FRONTEND_COMPILED_COMPILERSETTINGS_H

#include "calque/export.h"
#include "program/Compiler.h"

#include <optional>
#include <string>

namespace calque::detail {

// The options of this thread: those that were set for it, else those of CALQUE_OPTIMIZE, CALQUE_TARGET and
// CALQUE_TIMING, else all optimisations and this machine's CPU. ValueError for an environment that is invalid.
CALQUE_API CompileOptions compileOptions();
CALQUE_API void setCompileOptions(std::optional<CompileOptions> options);
// The target that CALQUE_TARGET names on a machine with such a CPU. ValueError for a name that is no target, and for a
// target whose code the CPU can't run.
CALQUE_API runtime::Cpu targetOf(const std::string &setting, runtime::Cpu host);

// The options of this thread, with checks if debug::enable_check_numerics() is on.
CompileOptions checkedOptions();

} // namespace calque::detail
#endif
