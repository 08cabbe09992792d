// A function's lock: one thread at a time traces the function. While a lambda is traced it may need the lock of another
// function, or, on another thread, the lock of its own function. A std::mutex or an absl::Mutex could then wait without
// an end. This lock does not:
//
// - Two threads whose lambdas call each other's function: the thread that would close the circle enters the lock as
// well. The owner can't go on before that thread leaves, so the lambda is entered as if by a recursive call.
// - A lambda that waits for a thread which calls the function: the owner neither runs nor waits for a lock. The waiting
//   thread gives up with an error.
//
// A lambda may run for any time, so fork() does not wait for it. In the child, locks of other threads are free, because
// nothing is written to a function before its trace is complete.
#ifndef CALQUE_FRONTEND_CORE_TRACELOCK_H
#define CALQUE_FRONTEND_CORE_TRACELOCK_H

#include "calque/source_location.h"

#include <atomic>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace calque::detail {

class TraceLock {
public:
  // The lock of the function with this name, made at `where`.
  TraceLock(std::string name, SourceLocation where) : name(std::move(name)), where(where) {}

  // StateError, at the line `call`, if waiting would have no end. A thread may hold the lock several times.
  void lock(SourceLocation call);
  void unlock();

  class Guard {
  public:
    explicit Guard(TraceLock &held, SourceLocation call = {}) : held(held) { held.lock(call); }
    ~Guard() { held.unlock(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    TraceLock &held;
  };

  // For a forked process, in which this thread is the only one.
  static void dropOtherOwners();

private:
  struct Owner {
    std::thread::id thread;
    clockid_t clock;                   // its CPU's time
    const std::atomic<int> *elsewhere; // see workElsewhere()
  };
  static bool waitsFor(std::thread::id thread, std::thread::id other);
  static const Owner *lastOwner(const TraceLock &lock);

  const std::string name;
  const SourceLocation where;
  std::vector<Owner> owners; // the innermost last
};

} // namespace calque::detail
#endif
