// Runs code that needs a deep stack on a thread with such a stack. Compilers recurse, and the caller's stack may be the
// 16 KiB of a fiber or of a small thread. The stack size of a std::thread can't be chosen.
#ifndef CALQUE_FRONTEND_CORE_OWNSTACK_H
#define CALQUE_FRONTEND_CORE_OWNSTACK_H

#include <atomic>
#include <memory>
#include <type_traits>

namespace calque::detail {

// Calls work(context) on a thread of its own, waits for it, and rethrows its exception here. CompileError if no thread
// can be started.
void onOwnStack(void (*work)(void *), void *context);

template <typename F> void onOwnStack(F &&work) {
  using Callable = std::remove_reference_t<F>;
  onOwnStack([](void *context) { (*static_cast<Callable *>(context))(); },
             const_cast<void *>(static_cast<const void *>(std::addressof(work))));
}

// The number of tasks of this thread that run on other threads. While it is not 0, this thread makes progress although
// it takes no CPU time. Other threads may read the number as long as this thread runs.
std::atomic<int> &workElsewhere();

} // namespace calque::detail
#endif
