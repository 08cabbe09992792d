// The checks of debug::enable_check_numerics(): the first operation that makes a NaN or an infinity from finite numbers
// fails.
#ifndef CALQUE_FRONTEND_CORE_NUMERICS_H
#define CALQUE_FRONTEND_CORE_NUMERICS_H

#include "calque/tensor.h"

#include <atomic>
#include <span>
#include <string>

namespace calque::detail {

extern std::atomic<bool> checkingNumerics;
inline bool checksNumerics() { return checkingNumerics.load(std::memory_order_relaxed); }

// Whether checks are on, and a program of eager operations with these inputs can have them. The checks read all inputs,
// but a tape does not keep elements that no gradient needs.
bool canCheckNumerics(std::span<const Tensor *const> inputs);

// AssertionError if a result of an eager operation is not finite, and all operands are.
void requireFinite(std::string_view operation, std::span<const Tensor *const> operands, std::span<const Tensor> results,
                   SourceLocation where);

} // namespace calque::detail
#endif
