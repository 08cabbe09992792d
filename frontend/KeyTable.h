// A hash table whose readers take no lock: open addressing, with entries published into empty slots. Patterns are
// entries that match many keys; they are tried one by one, and the most specific match wins. Beyond a cap, the table
// evicts the least recently used entry. Tables of Abseil and of the standard library lock their readers out while one
// writes, look up one key at a time and never evict.
#ifndef CALQUE_FRONTEND_KEYTABLE_H
#define CALQUE_FRONTEND_KEYTABLE_H

#include "frontend/Epoch.h"

#include <algorithm>
#include <span>

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

// The base class of a KeyTable's entries.
struct KeyEntry {
  Key key;
  std::size_t hash = 0;
  std::vector<std::uint32_t> unknown; // positions of the key that match any word, ascending; none: a plain entry
  std::uint64_t number = 0;           // in the order in which entries were made
  std::atomic<std::uint64_t> lastUse{0};

  bool isPattern() const { return !unknown.empty(); }
  bool matches(KeyView given) const {
    if (given.size() != key.size())
      return false;
    std::size_t next = 0;
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (next < unknown.size() && unknown[next] == i)
        ++next;
      else if (key[i] != given[i])
        return false;
    }
    return true;
  }
  // For two patterns that match one key: whether the other matches all keys that this one matches, and more.
  bool moreSpecificThan(const KeyEntry &other) const {
    return unknown.size() < other.unknown.size() &&
           std::includes(other.unknown.begin(), other.unknown.end(), unknown.begin(), unknown.end());
  }
};

// How exactly a table knows which entry was used last. Exact: every use has a time of its own, from a counter that all
// readers share. Coarse: all uses between two insertions have the same time.
enum class Recency { Exact, Coarse };

// There is one writer at a time. Readers hold a ReadScope for as long as they use an entry.
template <typename T, Recency recency = Recency::Coarse> class KeyTable {
public:
  // `most`: entries at once; 0: any number.
  explicit KeyTable(std::size_t most = 0) : most_(most) { publish(16); }
  ~KeyTable() { delete current_.load(); }
  KeyTable(const KeyTable &) = delete;
  KeyTable &operator=(const KeyTable &) = delete;

  template <typename Accept> T *find(std::size_t hash, KeyView key, Accept accept) const {
    const Slots &slots = *current_.load();
    for (std::size_t i = hash & slots.mask;; i = (i + 1) & slots.mask) {
      T *entry = slots.entries[i].load(std::memory_order_acquire);
      if (!entry)
        return slots.patterns.empty() ? nullptr : findPattern(slots, key, accept);
      if (entry->hash == hash && std::equal(key.begin(), key.end(), entry->key.begin(), entry->key.end()) &&
          accept(*entry)) {
        touch(*entry);
        return entry;
      }
    }
  }
  T *find(std::size_t hash, KeyView key) const {
    return find(hash, key, [](const T &) { return true; });
  }

  // Inserts an entry and evicts others beyond the cap.
  T *insert(std::shared_ptr<T> entry) {
    T *result = entry.get();
    result->number = ++made_;
    result->lastUse = clock_.fetch_add(2) + 2;
    live_.push_back(std::move(entry));
    const Slots &slots = *current_.load();
    if (most_ && live_.size() > most_) {
      evict(live_.size() - most_, result);
    } else if (result->isPattern()) {
      publish(slots.mask + 1);
    } else if (live_.size() * 2 > slots.mask + 1) {
      publish(2 * (slots.mask + 1));
    } else {
      place(*current_.load(), result);
    }
    retired_.collect();
    return result;
  }

  // Removes all entries. They are freed after the last ReadScope that may have found them.
  void clear() {
    std::vector<std::shared_ptr<T>> gone = std::move(live_);
    live_.clear();
    publish(16);
    for (std::shared_ptr<T> &entry : gone)
      retired_.add(std::move(entry));
    retired_.collect();
  }

  void setLimit(std::size_t most) {
    most_ = most;
    if (most && live_.size() > most)
      evict(live_.size() - most, nullptr);
    retired_.collect();
  }
  std::size_t limit() const { return most_; }

  // The entries in the order in which they were made. The caller holds the writer's lock.
  const std::vector<std::shared_ptr<T>> &entries() const { return live_; }
  std::size_t numRetired() const { return retired_.size(); }

private:
  struct Slots {
    explicit Slots(std::size_t size) : mask(size - 1), entries(new std::atomic<T *>[size]) {
      for (std::size_t i = 0; i < size; ++i)
        entries[i].store(nullptr, std::memory_order_relaxed);
    }
    std::size_t mask;
    std::unique_ptr<std::atomic<T *>[]> entries;
    std::vector<T *> patterns;
  };

  // The most specific pattern; the first one made where several are.
  template <typename Accept> T *findPattern(const Slots &slots, KeyView key, Accept accept) const {
    auto fits = [&](T *entry) { return entry->matches(key) && accept(*entry); };
    for (T *entry : slots.patterns) {
      if (!fits(entry) || std::any_of(slots.patterns.begin(), slots.patterns.end(),
                                      [&](T *other) { return other->moreSpecificThan(*entry) && fits(other); }))
        continue;
      touch(*entry);
      return entry;
    }
    return nullptr;
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

  void evict(std::size_t count, const T *spared) {
    std::vector<std::shared_ptr<T>> gone;
    for (; count && !live_.empty(); --count) {
      auto older = [&](const std::shared_ptr<T> &a, const std::shared_ptr<T> &b) {
        return std::pair(a.get() == spared, a->lastUse.load()) < std::pair(b.get() == spared, b->lastUse.load());
      };
      auto victim = std::min_element(live_.begin(), live_.end(), older);
      gone.push_back(std::move(*victim));
      live_.erase(victim);
    }
    publish(current_.load()->mask + 1);
    for (std::shared_ptr<T> &entry : gone)
      retired_.add(std::move(entry));
  }

  static void place(Slots &slots, T *entry) {
    std::size_t i = entry->hash & slots.mask;
    while (slots.entries[i].load(std::memory_order_relaxed))
      i = (i + 1) & slots.mask;
    slots.entries[i].store(entry, std::memory_order_release);
  }
  void publish(std::size_t size) {
    auto slots = std::make_unique<Slots>(size);
    for (const std::shared_ptr<T> &entry : live_)
      if (entry->isPattern())
        slots->patterns.push_back(entry.get());
      else
        place(*slots, entry.get());
    if (Slots *before = current_.exchange(slots.release()))
      retired_.add(std::shared_ptr<Slots>(before));
  }

  std::atomic<Slots *> current_{nullptr};
  std::size_t most_;
  mutable std::atomic<std::uint64_t> clock_{0};
  std::uint64_t made_ = 0;
  std::vector<std::shared_ptr<T>> live_;
  Retired retired_;
};

} // namespace calque::detail
#endif
