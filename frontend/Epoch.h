// When what readers take no lock for may be freed: epoch-based reclamation (Fraser: Practical lock-freedom, 2004).
//
//   ReadScope scope;                      // a reader: what it finds from now on stays until the end of the scope
//   T *entry = table.find(...);
//
// A writer makes a thing unreachable, retires it with the epoch that begins then, and frees it once no scope of an
// earlier epoch is open. Scopes nest; only the outermost counts.
#ifndef CALQUE_FRONTEND_EPOCH_H
#define CALQUE_FRONTEND_EPOCH_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace calque::detail {

struct EpochRecord {
  std::atomic<std::uint64_t> epoch{0}; // in which the thread's scope began; 0: none is open
  std::atomic<bool> taken{true};
  unsigned depth = 0; // the thread's own
  EpochRecord *next = nullptr;
};

extern std::atomic<std::uint64_t> currentEpoch;
extern constinit thread_local EpochRecord *threadEpoch;
EpochRecord &takeEpochRecord();

class ReadScope {
public:
  ReadScope() : record(threadEpoch ? *threadEpoch : takeEpochRecord()) {
    // Sequentially consistent: either a writer that looks afterwards sees the scope, or the scope sees what it wrote.
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

// What a writer has made unreachable. Under the writer's lock.
class Retired {
public:
  void add(std::shared_ptr<const void> object);
  // Frees what no scope can hold.
  void collect();
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
