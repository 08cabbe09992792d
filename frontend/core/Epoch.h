// Epoch-based reclamation (Fraser: Practical lock-freedom, 2004). It determines when objects that readers find without
// a lock may be freed.
//
//   ReadScope scope;                      // a reader: what it finds from here on lives until the end of the scope
//   T *entry = table.find(...);
//
// A writer makes an object unreachable, retires it with a new epoch, and frees it once no scope of an earlier epoch is
// open. Scopes nest; only the outermost counts. C++20 and Abseil have no such class. With a shared_ptr for each reader,
// all threads would write to one counter.
#ifndef CALQUE_FRONTEND_CORE_EPOCH_H
#define CALQUE_FRONTEND_CORE_EPOCH_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace calque::detail {

struct EpochRecord {
  std::atomic<std::uint64_t> epoch{0}; // the epoch in which the thread's scope began; 0: no scope is open
  std::atomic<bool> taken{true};
  unsigned depth = 0; // used by the thread alone
  EpochRecord *next = nullptr;
};

extern std::atomic<std::uint64_t> currentEpoch;
extern constinit thread_local EpochRecord *threadEpoch;
EpochRecord &takeEpochRecord();

class ReadScope {
public:
  ReadScope() : record(threadEpoch ? *threadEpoch : takeEpochRecord()) {
    // Sequentially consistent: either the writer sees the scope, or the reader sees what the writer made unreachable.
    if (record.depth++ == 0)
      record.epoch.store(currentEpoch.load(), std::memory_order_seq_cst);
  }
  ~ReadScope() {
    if (--record.depth == 0)
      record.epoch.store(0, std::memory_order_release);
  }
  ReadScope(const ReadScope &) = delete;
  ReadScope &operator=(const ReadScope &) = delete;

private:
  EpochRecord &record;
};

// The objects that a writer has made unreachable. Guarded by the writer's lock.
class Retired {
public:
  // Allocates memory for this many more objects, so that the next calls of add() don't throw.
  void reserve(std::size_t more);
  void add(std::shared_ptr<const void> object);
  // Frees the objects that no open scope can have found.
  void collect() noexcept;
  std::size_t size() const { return objects.size(); }

private:
  struct Object {
    std::shared_ptr<const void> held;
    std::uint64_t epoch;
  };
  std::vector<Object> objects;
};

} // namespace calque::detail
#endif
