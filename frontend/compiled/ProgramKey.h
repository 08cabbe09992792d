// The key of a recording's native code. It is the same in every process.
#ifndef CALQUE_FRONTEND_COMPILED_PROGRAMKEY_H
#define CALQUE_FRONTEND_COMPILED_PROGRAMKEY_H

#include "program/Compiler.h"

namespace calque::detail {

// A digest of the recording's operations, by their mnemonics, and of `context`. Names and lines are left out.
// std::nullopt if the code depends on C++ code that no recording contains: the rules of users' operations.
std::optional<runtime::KernelKey> programKey(const schema::Recording &recording, std::string_view context);

} // namespace calque::detail
#endif
