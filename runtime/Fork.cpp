#include "runtime/Fork.h"

#include <atomic>
#include <pthread.h>

namespace calque::runtime {

namespace {
// Initialised at compile time and never destroyed: sections may be entered before main() and in static destructors.
constinit std::atomic<int> inside{0}; // the threads that are in sections
constinit std::atomic<int> forking{0};
constinit thread_local int depth = 0; // of this thread's sections
constinit thread_local bool isCounted = false;
constinit std::atomic<ForkHandlers *> handlers{nullptr};

void leave() {
  inside.fetch_sub(1);
  if (forking.load())
    inside.notify_all();
}

void prepare() {
  for (int other; (other = forking.exchange(1));)
    forking.wait(other);
  const int own = isCounted;
  for (int now; (now = inside.load()) > own;)
    inside.wait(now);
  for (ForkHandlers *each = handlers.load(); each; each = each->next)
    if (each->prepare)
      each->prepare();
}

void open() {
  forking.store(0);
  forking.notify_all();
}

void inParent() {
  for (ForkHandlers *each = handlers.load(); each; each = each->next)
    if (each->parent)
      each->parent();
  open();
}

void inChild() {
  // Threads that waited to enter have counted themselves for a moment.
  inside.store(isCounted);
  for (ForkHandlers *each = handlers.load(); each; each = each->next)
    if (each->child)
      each->child();
  open();
}

// If there is no memory for the handlers, forks run as if the library knew nothing of them.
[[maybe_unused]] const int registered = pthread_atfork(&prepare, &inParent, &inChild);
} // namespace

void beginForkSection() {
  if (depth++ > 0)
    return;
  isCounted = true;
  for (;;) {
    inside.fetch_add(1);
    // Sequentially consistent: either this thread sees the fork, or the fork sees this thread.
    const int now = forking.load();
    if (!now)
      return;
    leave();
    forking.wait(now);
  }
}
void endForkSection() {
  if (--depth > 0)
    return;
  isCounted = false;
  leave();
}

PartOfForkSection::PartOfForkSection() { ++depth; }
PartOfForkSection::~PartOfForkSection() { --depth; }

bool atFork(ForkHandlers &added) noexcept {
  added.next = handlers.load();
  while (!handlers.compare_exchange_weak(added.next, &added)) {
  }
  return true;
}

} // namespace calque::runtime
