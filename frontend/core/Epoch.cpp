#include "frontend/core/Epoch.h"

#include "frontend/core/PerThread.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <utility>

namespace calque::detail {

std::atomic<std::uint64_t> currentEpoch{1};
constinit thread_local EpochRecord *threadEpoch = nullptr;

namespace {
// Records are never freed. A thread that ends leaves its record to a new thread.
std::atomic<EpochRecord *> records{nullptr};

// In a forked process no other thread is in a scope.
void inForkedProcess() {
  for (EpochRecord *record = records.load(); record; record = record->next)
    if (record != threadEpoch) {
      record->epoch.store(0);
      record->depth = 0;
      record->taken.store(false);
    }
}
constinit runtime::ForkHandlers atForks{nullptr, nullptr, &inForkedProcess};
[[maybe_unused]] const bool knowsForks = runtime::atFork(atForks);

struct Return {
  ~Return() {
    if (EpochRecord *record = std::exchange(threadEpoch, nullptr); record && record->depth == 0)
      record->taken.store(false, std::memory_order_release);
  }
};
} // namespace

EpochRecord &takeEpochRecord() {
  PerThread<Return>::get();
  for (EpochRecord *record = records.load(); record; record = record->next)
    if (bool free = false; record->taken.compare_exchange_strong(free, true))
      return *(threadEpoch = record);
  auto *record = new EpochRecord;
  record->next = records.load();
  while (!records.compare_exchange_weak(record->next, record)) {
  }
  return *(threadEpoch = record);
}

void Retired::add(std::shared_ptr<const void> object) {
  objects.push_back({std::move(object), currentEpoch.fetch_add(1) + 1});
}

void Retired::collect() {
  if (objects.empty())
    return;
  std::uint64_t oldest = ~std::uint64_t(0);
  for (EpochRecord *record = records.load(); record; record = record->next)
    if (std::uint64_t epoch = record->epoch.load())
      oldest = std::min(oldest, epoch);
  // Destructors may call collect() again, so the list must be consistent before the first runs.
  auto kept = std::stable_partition(objects.begin(), objects.end(),
                                    [&](const Object &object) { return object.epoch > oldest; });
  std::vector<Object> freed(std::make_move_iterator(kept), std::make_move_iterator(objects.end()));
  objects.erase(kept, objects.end());
}

} // namespace calque::detail
