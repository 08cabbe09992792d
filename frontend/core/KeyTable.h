// A hash table whose readers take no lock: open addressing, with entries published into empty slots. Patterns are
// entries that match many keys; of several that match, the most specific one wins. Beyond a cap, the table evicts the
// least recently used entry. With tables of Abseil or the standard library, readers must wait while a thread writes.
// These tables also have no patterns, and never evict.
#ifndef CALQUE_FRONTEND_CORE_KEYTABLE_H
#define CALQUE_FRONTEND_CORE_KEYTABLE_H

#include "frontend/core/Epoch.h"
#include "frontend/core/PatternIndex.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <utility>
#include <vector>

namespace calque::detail {

// How exactly a table knows which entry was used last. Exact: every use has a time of its own, from a counter that all
// readers share. Coarse: all uses between two insertions have the same time.
enum class Recency { Exact, Coarse };

// There is one writer at a time. Readers hold a ReadScope for as long as they use an entry.
template <typename T, Recency recency = Recency::Coarse> class KeyTable {
public:
  // `most`: the largest number of entries; 0: no limit.
  explicit KeyTable(std::size_t most = 0)
      : slots_(std::make_shared<Slots>(kFewestSlots)), current_(slots_.get()), most_(most) {}
  KeyTable(const KeyTable &) = delete;
  KeyTable &operator=(const KeyTable &) = delete;

  template <typename Accept> T *find(std::size_t hash, KeyView key, Accept accept) const {
    const Slots &slots = *current_.load();
    T *entry = slots.find(hash, key, accept);
    if (!entry && !slots.patterns.empty())
      entry = slots.patterns.find(key, accept);
    if (entry)
      touch(*entry);
    return entry;
  }
  T *find(std::size_t hash, KeyView key) const {
    return find(hash, key, [](const T &) { return true; });
  }
  // The first made of the accepted entries with exactly these words and unknown positions. Does not count as a use of
  // the entry.
  template <typename Accept> T *findSame(KeyView key, const Positions &unknown, Accept accept) const {
    const Slots &slots = *current_.load();
    return unknown.empty() ? slots.find(hashKey(key), key, accept) : slots.patterns.findSame(key, unknown, accept);
  }

  // Inserts an entry. If the table is full, evicts another entry first. If memory runs out, the table has not changed.
  T *insert(std::shared_ptr<T> entry) {
    T *result = entry.get();
    std::list<std::shared_ptr<T>> added;
    added.push_back(std::move(entry));
    if (most_ && byUse_.size() == byUse_.capacity())
      byUse_.reserve(2 * byUse_.size() + 1);
    retired_.reserve(2); // an entry and the slots
    const bool isFull = most_ && live_.size() == most_;
    const auto oldest = isFull ? leastRecentlyUsed() : live_.end();
    T *evicted = isFull ? oldest->get() : nullptr;
    result->number = ++made_;
    result->lastUse = clock_.fetch_add(2) + 2;
    std::shared_ptr<Slots> larger;
    if (result->isPattern() || (evicted && evicted->isPattern()) || current_.load()->isHalfTaken())
      larger = slotsOf(result, evicted);

    // From here on nothing throws.
    if (larger) {
      publish(std::move(larger));
    } else {
      if (evicted)
        current_.load()->remove(evicted);
      current_.load()->place(result);
    }
    if (evicted) {
      removeFirstUse();
      retired_.add(std::move(*oldest));
      live_.erase(oldest);
    }
    live_.splice(live_.end(), added);
    if (most_)
      addUse({result->lastUse, result->number, std::prev(live_.end())});
    retired_.collect();
    return result;
  }

  // Removes all entries. They are freed after the last ReadScope that may have found them. If memory runs out, the
  // table has not changed.
  void clear() {
    retired_.reserve(live_.size() + 1);
    publish(std::make_shared<Slots>(kFewestSlots));
    byUse_.clear();
    for (std::shared_ptr<T> &entry : live_)
      retired_.add(std::move(entry));
    live_.clear();
    retired_.collect();
  }

  // The entries in the order in which they were made. The caller holds the writer's lock.
  const std::list<std::shared_ptr<T>> &entries() const { return live_; }
  std::size_t numRetired() const { return retired_.size(); }

private:
  struct Slots {
    explicit Slots(std::size_t size) : mask(size - 1), entries(new std::atomic<T *>[size]) {
      for (std::size_t i = 0; i < size; ++i)
        entries[i].store(nullptr, std::memory_order_relaxed);
    }
    // The first made of the accepted plain entries with this key. Loads and removals are sequentially consistent: a
    // reader whose scope the writer does not see does not see what the writer has removed.
    template <typename Accept> T *find(std::size_t hash, KeyView key, Accept accept) const {
      for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
        T *entry = entries[i].load();
        if (!entry)
          return nullptr;
        if (entry != removed() && entry->hash == hash &&
            std::equal(key.begin(), key.end(), entry->key.begin(), entry->key.end()) && accept(*entry))
          return entry;
      }
    }
    void place(T *entry) {
      std::size_t i = entry->hash & mask;
      while (entries[i].load(std::memory_order_relaxed))
        i = (i + 1) & mask;
      entries[i].store(entry, std::memory_order_release);
      ++taken;
    }
    // The slot stays taken, because lookups of other keys continue behind it.
    void remove(const T *entry) {
      std::size_t i = entry->hash & mask;
      while (entries[i].load(std::memory_order_relaxed) != entry)
        i = (i + 1) & mask;
      entries[i].store(removed());
    }
    bool isHalfTaken() const { return taken * 2 > mask; }

    std::size_t mask, taken = 0;
    std::unique_ptr<std::atomic<T *>[]> entries;
    PatternIndex<T> patterns;
  };

  // Marks the slot of an entry that was removed. Nothing reads the object behind the address.
  static T *removed() {
    alignas(T) static std::byte mark;
    return reinterpret_cast<T *>(&mark);
  }

  void touch(T &entry) const {
    if (!most_)
      return;
    std::uint64_t now = clock_.load(std::memory_order_relaxed);
    if constexpr (recency == Recency::Exact) {
      if (entry.lastUse.load(std::memory_order_relaxed) != now)
        entry.lastUse.store(clock_.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      if (entry.lastUse.load(std::memory_order_relaxed) != now + 1)
        entry.lastUse.store(now + 1, std::memory_order_relaxed);
    }
  }

  // For each live entry of a table with a cap, one known use, the earliest first. An entry's later uses are read when
  // its known use is first.
  struct Use {
    std::uint64_t time, number;
    typename std::list<std::shared_ptr<T>>::iterator entry;
    bool operator>(const Use &other) const { return std::pair(time, number) > std::pair(other.time, other.number); }
  };
  void addUse(Use use) {
    byUse_.push_back(use);
    std::ranges::push_heap(byUse_, std::greater<>());
  }
  void removeFirstUse() {
    std::ranges::pop_heap(byUse_, std::greater<>());
    byUse_.pop_back();
  }

  // Returns the least recently used live entry; of several, the one that was made first. Its use is then the first of
  // the heap.
  typename std::list<std::shared_ptr<T>>::iterator leastRecentlyUsed() {
    // Uses after this moment are ignored, because readers continue meanwhile.
    std::uint64_t now = clock_.load();
    while (true) {
      Use oldest = byUse_.front();
      std::uint64_t last = (*oldest.entry)->lastUse.load();
      if (last == oldest.time || oldest.time > now)
        return oldest.entry;
      oldest.time = last;
      removeFirstUse();
      addUse(oldest);
    }
  }

  // Makes slots with the live entries and `added`, without `removed`.
  std::shared_ptr<Slots> slotsOf(T *added, const T *removed) const {
    std::vector<T *> plain, patterns;
    for (const std::shared_ptr<T> &entry : live_)
      if (entry.get() != removed)
        (entry->isPattern() ? patterns : plain).push_back(entry.get());
    (added->isPattern() ? patterns : plain).push_back(added);
    // A third of the slots is taken. So the next slots are made after a number of insertions that is a sixth of the
    // slots.
    auto slots = std::make_shared<Slots>(std::bit_ceil(std::max(kFewestSlots, 3 * plain.size())));
    for (T *entry : plain)
      slots->place(entry);
    slots->patterns = PatternIndex<T>(patterns);
    return slots;
  }
  // retired_ must have memory reserved for one more object.
  void publish(std::shared_ptr<Slots> slots) {
    std::swap(slots_, slots);
    current_.store(slots_.get());
    retired_.add(std::move(slots)); // readers don't find the old slots from now on
  }

  static constexpr std::size_t kFewestSlots = 16;
  std::shared_ptr<Slots> slots_;
  std::atomic<Slots *> current_;
  const std::size_t most_;
  mutable std::atomic<std::uint64_t> clock_{0};
  std::uint64_t made_ = 0;
  std::list<std::shared_ptr<T>> live_; // in the order in which they were made
  std::vector<Use> byUse_;             // a heap
  Retired retired_;
};

} // namespace calque::detail
#endif
