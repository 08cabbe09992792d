#include "frontend/core/TraceLock.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"
#include "frontend/core/OwnStack.h"
#include "frontend/core/TensorImpl.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace calque::detail {

namespace {

// An owner that does nothing for so many looks, 5 s, waits for something that is not a lock of ours. Looks are counted,
// not the time: a process that was stopped in between has not waited.
constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr int kMostIdleLooks = 100;

struct Waiting {
  std::thread::id thread;
  const TraceLock *lock;
};
// Of all functions. They are held while a call is traced, never while one runs.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Waiting> waiting;
  std::vector<TraceLock *> owned; // one for each owner, in no order
};
Shared &shared() {
  static auto *made = new Shared; // never destroyed: static destructors may still trace
  return *made;
}

const TraceLock *lockThatStops(std::thread::id thread) {
  for (const Waiting &each : shared().waiting)
    if (each.thread == thread)
      return each.lock;
  return nullptr;
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// What other threads hold of the locks themselves they hold for a few instructions.
void beforeFork() { shared().mutex.lock(); }
void inParent() { shared().mutex.unlock(); }
void inForkedProcess() {
  TraceLock::dropOtherOwners();
  shared().mutex.unlock();
}
constinit runtime::ForkHandlers atForks{&beforeFork, &inParent, &inForkedProcess};
[[maybe_unused]] const bool knowsForks = runtime::atFork(atForks);

} // namespace

void TraceLock::dropOtherOwners() {
  Shared &all = shared();
  const std::thread::id self = std::this_thread::get_id();
  std::vector<TraceLock *> owned;
  for (TraceLock *lock : all.owned) {
    std::erase_if(lock->owners, [&](const Owner &owner) { return owner.thread != self; });
    if (static_cast<std::size_t>(std::ranges::count(owned, lock)) < lock->owners.size())
      owned.push_back(lock);
  }
  all.owned = std::move(owned);
  all.waiting.clear();
  // It may still count threads as waiting, and would wait for them.
  std::construct_at(&all.changed);
}

bool TraceLock::waitsFor(std::thread::id thread, std::thread::id other) {
  while (const TraceLock *lock = lockThatStops(thread)) {
    if (lock->owners.empty())
      return false; // the thread is about to enter
    thread = lock->owners.back().thread;
    if (thread == other)
      return true;
  }
  return false;
}

// The owner at the end of the chain of waiting owners, which itself waits for no lock. Null if it is about to enter
// one.
const TraceLock::Owner *TraceLock::lastOwner(const TraceLock &lock) {
  const TraceLock *last = &lock;
  while (const TraceLock *next = lockThatStops(last->owners.back().thread)) {
    if (next->owners.empty())
      return nullptr;
    last = next;
  }
  return &last->owners.back();
}

void TraceLock::lock(SourceLocation call) {
  Shared &all = shared();
  std::thread::id self = std::this_thread::get_id();
  std::unique_lock guard(all.mutex);
  auto mayEnter = [&] {
    return owners.empty() || owners.back().thread == self || waitsFor(owners.back().thread, self);
  };
  if (!mayEnter()) {
    all.waiting.push_back({self, this});
    std::thread::id watched;
    std::int64_t used = -1;
    for (int idle = 0; !mayEnter();) {
      const Owner *owner = lastOwner(*this);
      std::int64_t now = owner ? nanoseconds(owner->clock) : -1;
      bool isIdle = owner && owner->thread == watched && now == used && owner->elsewhere->load() == 0;
      idle = isIdle ? idle + 1 : 0;
      watched = owner ? owner->thread : std::thread::id();
      used = now;
      if (idle == kMostIdleLooks) {
        std::erase_if(all.waiting, [&](const Waiting &each) { return each.thread == self; });
        throw StateError(absl::StrCat("function '", name, "', made at ", lineOf(where).str(),
                                      ", is being traced by another thread, which waits for something; if its lambda "
                                      "waits for this call, neither ever goes on"),
                         call);
      }
      all.changed.wait_for(guard, kBetweenLooks);
    }
    std::erase_if(all.waiting, [&](const Waiting &each) { return each.thread == self; });
  }
  Owner owner{self, CLOCK_MONOTONIC, &workElsewhere()};
  if (pthread_getcpuclockid(pthread_self(), &owner.clock) != 0)
    owner.clock = CLOCK_MONOTONIC; // which always goes on: nobody gives up on it
  owners.reserve(owners.size() + 1);
  all.owned.push_back(this);
  owners.push_back(owner);
}

void TraceLock::unlock() {
  Shared &all = shared();
  {
    std::lock_guard guard(all.mutex);
    owners.pop_back();
    all.owned.erase(std::ranges::find(all.owned, this));
  }
  all.changed.notify_all();
}

} // namespace calque::detail
