// A hash table whose readers take no lock: open addressing, with entries published into empty slots. Patterns are
// entries that match many keys; of several that match, the most specific one wins. Beyond a cap, the table evicts the
// least recently used entry. Tables of Abseil and of the standard library lock their readers out while one writes, look
// up one key at a time and never evict.
#ifndef CALQUE_FRONTEND_CORE_KEYTABLE_H
#define CALQUE_FRONTEND_CORE_KEYTABLE_H

#include "frontend/core/Epoch.h"
#include "frontend/core/PatternIndex.h"

#include <cstddef>
#include <list>
#include <queue>

namespace calque::detail {

// How exactly a table knows which entry was used last. Exact: every use has a time of its own, from a counter that all
// readers share. Coarse: all uses between two insertions have the same time.
enum class Recency { Exact, Coarse };

// There is one writer at a time. Readers hold a ReadScope for as long as they use an entry.
template <typename T, Recency recency = Recency::Coarse> class KeyTable {
public:
  // `most`: entries at once; 0: any number.
  explicit KeyTable(std::size_t most = 0) : most_(most) { publish(); }
  ~KeyTable() { delete current_.load(); }
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
  // The first made of the accepted entries with exactly these words and unknown positions; this is no use of it.
  template <typename Accept> T *findSame(KeyView key, const Positions &unknown, Accept accept) const {
    const Slots &slots = *current_.load();
    return unknown.empty() ? slots.find(hashKey(key), key, accept) : slots.patterns.findSame(key, unknown, accept);
  }

  // Inserts an entry, after it has evicted another one where the table is full.
  T *insert(std::shared_ptr<T> entry) {
    T *result = entry.get();
    std::shared_ptr<T> evicted = most_ && live_.size() == most_ ? takeLeastRecentlyUsed() : nullptr;
    result->number = ++made_;
    result->lastUse = clock_.fetch_add(2) + 2;
    live_.push_back(std::move(entry));
    if (most_)
      byUse_.push({result->lastUse, result->number, std::prev(live_.end())});
    Slots &slots = *current_.load();
    if (result->isPattern() || (evicted && evicted->isPattern()) || slots.isHalfTaken()) {
      publish();
    } else {
      if (evicted)
        slots.remove(evicted.get());
      slots.place(result);
    }
    if (evicted)
      retired_.add(std::move(evicted));
    retired_.collect();
    return result;
  }

  // Removes all entries. They are freed after the last ReadScope that may have found them.
  void clear() {
    std::list<std::shared_ptr<T>> gone = std::exchange(live_, {});
    byUse_ = {};
    publish();
    for (std::shared_ptr<T> &entry : gone)
      retired_.add(std::move(entry));
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
    // The slot stays taken, because lookups of other keys go on behind it.
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

  // Takes the least recently used of the live entries away; the first one made of several.
  std::shared_ptr<T> takeLeastRecentlyUsed() {
    // The queue takes in uses up to now, and no later ones: readers go on meanwhile.
    std::uint64_t now = clock_.load();
    while (true) {
      Use oldest = byUse_.top();
      byUse_.pop();
      if (std::uint64_t last = (*oldest.entry)->lastUse.load(); last != oldest.time && oldest.time <= now) {
        oldest.time = last;
        byUse_.push(oldest);
        continue;
      }
      std::shared_ptr<T> entry = std::move(*oldest.entry);
      live_.erase(oldest.entry);
      return entry;
    }
  }

  void publish() {
    std::vector<T *> plain, patterns;
    for (const std::shared_ptr<T> &entry : live_)
      (entry->isPattern() ? patterns : plain).push_back(entry.get());
    // A third is taken, so that as many insertions as there are slots in a sixth are made before the next time.
    auto slots = std::make_unique<Slots>(std::bit_ceil(std::max<std::size_t>(16, 3 * plain.size())));
    for (T *entry : plain)
      slots->place(entry);
    slots->patterns = PatternIndex<T>(patterns);
    if (Slots *before = current_.exchange(slots.release()))
      retired_.add(std::shared_ptr<Slots>(before));
  }

  std::atomic<Slots *> current_{nullptr};
  const std::size_t most_;
  mutable std::atomic<std::uint64_t> clock_{0};
  std::uint64_t made_ = 0;
  std::list<std::shared_ptr<T>> live_; // in the order in which they were made
  // A use of each live entry of a table with a cap, the earliest first; later uses are looked up when it comes first.
  struct Use {
    std::uint64_t time, number;
    typename std::list<std::shared_ptr<T>>::iterator entry;
    bool operator>(const Use &other) const { return std::pair(time, number) > std::pair(other.time, other.number); }
  };
  std::priority_queue<Use, std::vector<Use>, std::greater<>> byUse_;
  Retired retired_;
};

} // namespace calque::detail
#endif
