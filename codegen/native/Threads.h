#ifndef CALQUE_CODEGEN_NATIVE_THREADS_H
#define CALQUE_CODEGEN_NATIVE_THREADS_H

#include <cstddef>
#include <functional>

namespace calque::codegen {

// Calls `here` on this thread and, at the same time, `there` on each of up to `others` further threads, or fewer if the
// system gives no more. Returns when all have returned. Neither function may throw.
void onThreads(std::size_t others, const std::function<void()> &here, const std::function<void()> &there);

} // namespace calque::codegen
#endif
