#ifndef CALQUE_CODEGEN_NATIVE_THREADS_H
#define CALQUE_CODEGEN_NATIVE_THREADS_H

#include <cstddef>
#include <functional>

namespace calque::codegen {

// Calls a function on this thread and, at the same time, on up to `others` further ones: fewer where the system gives
// no more. Neither function may throw.
void onThreads(std::size_t others, const std::function<void()> &here, const std::function<void()> &there);

} // namespace calque::codegen
#endif
