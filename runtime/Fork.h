// What a forked process finds.
//
// fork() copies one thread, and the memory as it is. A mutex that another thread holds at that moment is never unlocked
// in the child, and what it guards may be half written. So whoever changes what threads share, or has the compiler
// work, is in a section, and fork() waits until no other thread is in one:
//
//   ForkMutex mutex;                   // in place of a std::mutex: to hold it is a section
//   std::lock_guard lock(mutex);
//
//   ForkSection section;               // for more than one lock, or for what others lock in libraries below
//
// A section ends by itself: no user's code runs in it, and nothing in it waits for a thread that is not in a section,
// or else a fork() would wait for as long. A lock that is held while user's code runs is no section. It knows its
// owner, and a handler of forks sets it free in the child.
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

// On a thread that another one has started or called for, and waits for in a section: its own sections are part of that
// one, and wait for no fork().
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

// What else is to be done at a fork, each by the forking thread; null: nothing. `prepare` comes when no other thread is
// in a section, and may take locks that are held for a few instructions only. `parent` and `child` give them back.
struct ForkHandlers {
  void (*prepare)() = nullptr;
  void (*parent)() = nullptr;
  void (*child)() = nullptr;
  ForkHandlers *next = nullptr;
};
// The object lives as long as the process. Always true, so that a static object may be initialised by it.
bool atFork(ForkHandlers &handlers) noexcept;

} // namespace calque::runtime
#endif
