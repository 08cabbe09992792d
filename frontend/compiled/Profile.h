// Measures the time of the kernels of functions, if the environment asks for it; docs/tools.md describes it to users.
//
//   CALQUE_PROFILE=1           a table of each function when the process ends
//   CALQUE_DUMP_FILE=FILE      appended to this file instead of written to standard error
//   CALQUE_DUMP_FUNCTION=NAME  only functions of this name
#ifndef CALQUE_FRONTEND_COMPILED_PROFILE_H
#define CALQUE_FRONTEND_COMPILED_PROFILE_H

#include "calque/source_location.h"
#include "program/Compiler.h"

#include <memory>

namespace calque::detail {

// Whether the environment asks for a profile. Call it before the first code is loaded: the steps of all code after this
// call are then measured. ValueError for an invalid setting.
bool isProfiled();

// Notes a function's code, to print its times when the process ends.
void profile(const schema::Recording &recording, const CompileOptions &options,
             std::shared_ptr<const Executable> executable, SourceLocation where);

} // namespace calque::detail
#endif
