// Keeps the library usable in a forked process.
//
// fork() copies one thread, and the memory as it is. A mutex that another thread holds at that moment is never unlocked
// in the child, and what it guards may be half written. So a thread is in a section while it changes data that threads
// share, or runs the compiler. fork() waits until no other thread is in a section:
//
//   ForkMutex mutex;                   // in place of a std::mutex: to hold it is a section
//   std::lock_guard lock(mutex);
//
//   ForkSection section;               // for more than one lock, or for locks of other libraries
//
// A section runs no code of the user, and waits for no thread that is outside of a section, because fork() would wait
// for as long. A lock that is held while user's code runs is no section. It knows its owner, and a handler of forks
// unlocks it in the child.
#ifndef CALQUE_RUNTIME_FORK_H
#define CALQUE_RUNTIME_FORK_H

#include <mutex>

namespace calque::runtime {

// Sections of one thread nest.
void beginForkSection();
void endForkSection();

class ForkSection {
public:
  ForkSection() { beginForkSection(); }
  ~ForkSection() { endForkSection(); }
  ForkSection(const ForkSection &) = delete;
  ForkSection &operator=(const ForkSection &) = delete;
};

// While an object lives, the sections of its thread do not wait for fork(). For a thread that works for another one,
// which waits for it in a section of its own.
class PartOfForkSection {
public:
  PartOfForkSection();
  ~PartOfForkSection();
  PartOfForkSection(const PartOfForkSection &) = delete;
  PartOfForkSection &operator=(const PartOfForkSection &) = delete;
};

class ForkMutex {
public:
  constexpr ForkMutex() = default;
  void lock() {
    beginForkSection();
    mutex.lock();
  }
  void unlock() {
    mutex.unlock();
    endForkSection();
  }

private:
  std::mutex mutex;
};

// Functions that the forking thread calls at a fork; null: nothing to call. `prepare` is called when no other thread is
// in a section. It may take locks that are held for a few instructions only, which `parent` and `child` release.
struct ForkHandlers {
  void (*prepare)() = nullptr;
  void (*parent)() = nullptr;
  void (*child)() = nullptr;
  ForkHandlers *next = nullptr;
};
// Adds handlers, which must live as long as the process. Returns true, so that a static object can be initialised with
// it.
bool atFork(ForkHandlers &handlers) noexcept;

} // namespace calque::runtime
#endif
