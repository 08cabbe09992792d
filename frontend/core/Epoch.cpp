#include "frontend/core/Epoch.h"

#include "frontend/core/PerThread.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <iterator>
#include <new>
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

void Retired::reserve(std::size_t more) {
  if (objects.capacity() - objects.size() < more)
    objects.reserve(std::max(2 * objects.capacity(), objects.size() + more));
}

void Retired::add(std::shared_ptr<const void> object) {
  objects.push_back({std::move(object), currentEpoch.fetch_add(1) + 1});
}

void Retired::collect() noexcept {
  if (objects.empty())
    return;
  std::uint64_t oldest = ~std::uint64_t(0);
  for (EpochRecord *record = records.load(); record; record = record->next)
    if (std::uint64_t epoch = record->epoch.load())
      oldest = std::min(oldest, epoch);
  // Destructors may call collect() again, so the list must be consistent before the first runs.
  auto kept = std::stable_partition(objects.begin(), objects.end(),
                                    [&](const Object &object) { return object.epoch > oldest; });
  std::vector<Object> freed;
  try {
    freed.reserve(static_cast<std::size_t>(objects.end() - kept));
  } catch (const std::bad_alloc &) { // they are freed another time
    return;
  }
  std::move(kept, objects.end(), std::back_inserter(freed));
  objects.erase(kept, objects.end());
}

} // namespace calque::detail
