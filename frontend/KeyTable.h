// A table that readers take no lock for: open addressing, entries published into empty slots, nothing ever moved.
#ifndef CALQUE_FRONTEND_KEYTABLE_H
#define CALQUE_FRONTEND_KEYTABLE_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace calque::detail {

using Key = std::vector<std::uint64_t>;
using KeyView = std::span<const std::uint64_t>;

inline std::size_t hashKey(KeyView key) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL ^ key.size();
  for (std::uint64_t word : key) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return hash;
}

// T has members `Key key` and `std::size_t hash`. One writer at a time; entries live as long as the table, because a
// reader may hold any of them.
template <typename T> class KeyTable {
public:
  KeyTable() { grow(16); }

  template <typename Accept> T *find(std::size_t hash, KeyView key, Accept accept) const {
    const Slots &slots = *current_.load(std::memory_order_acquire);
    for (std::size_t i = hash & slots.mask;; i = (i + 1) & slots.mask) {
      T *entry = slots.entries[i].load(std::memory_order_acquire);
      if (!entry)
        return nullptr;
      if (entry->hash == hash && std::equal(key.begin(), key.end(), entry->key.begin(), entry->key.end()) && accept(*entry))
        return entry;
    }
  }
  T *find(std::size_t hash, KeyView key) const {
    return find(hash, key, [](const T &) { return true; });
  }

  T *insert(std::unique_ptr<T> entry) {
    if ((live_.size() + 1) * 2 > current_.load(std::memory_order_relaxed)->mask + 1)
      grow(2 * (current_.load(std::memory_order_relaxed)->mask + 1));
    T *result = entry.get();
    owned_.push_back(std::move(entry));
    live_.push_back(result);
    place(*current_.load(std::memory_order_relaxed), result);
    return result;
  }

  // Finds nothing from now on.
  void clear() {
    live_.clear();
    grow(16);
  }

private:
  struct Slots {
    explicit Slots(std::size_t size) : mask(size - 1), entries(new std::atomic<T *>[size]) {
      for (std::size_t i = 0; i < size; ++i)
        entries[i].store(nullptr, std::memory_order_relaxed);
    }
    std::size_t mask;
    std::unique_ptr<std::atomic<T *>[]> entries;
  };

  static void place(Slots &slots, T *entry) {
    std::size_t i = entry->hash & slots.mask;
    while (slots.entries[i].load(std::memory_order_relaxed))
      i = (i + 1) & slots.mask;
    slots.entries[i].store(entry, std::memory_order_release);
  }
  void grow(std::size_t size) {
    auto slots = std::make_unique<Slots>(size);
    for (T *entry : live_)
      place(*slots, entry);
    current_.store(slots.get(), std::memory_order_release);
    allSlots_.push_back(std::move(slots));
  }

  std::atomic<Slots *> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> allSlots_;
  std::vector<std::unique_ptr<T>> owned_;
  std::vector<T *> live_;
};

} // namespace calque::detail
#endif
