// A cache of values that are made from keys, for all threads. Lookups take no lock. A missing value is made without
// holding the lock; the first thread that has made it stores it. Beyond its cap, the cache evicts the least recently
// used value.
//
//   static auto *cache = new KeyCache<Type>(4096); // never destroyed: other threads may still run
//   ReadScope scope;                               // for as long as the value is used
//   const Type &type = cache->findOrMake(key, [&] { return makeType(); });
#ifndef CALQUE_FRONTEND_CORE_KEYCACHE_H
#define CALQUE_FRONTEND_CORE_KEYCACHE_H

#include "frontend/core/KeyTable.h"
#include "runtime/Fork.h"

#include <mutex>

namespace calque::detail {

template <typename T> class KeyCache {
public:
  explicit KeyCache(std::size_t most) : table(most) {}

  // Null if the key has no value.
  const T *find(KeyView key) const { return valueOf(table.find(hashKey(key), key)); }

  // `make` may use the cache. If it throws, nothing is stored. The words of `key` may change while `make` runs.
  template <typename Make> const T &findOrMake(KeyView key, Make make) {
    std::size_t hash = hashKey(key);
    if (const T *found = valueOf(table.find(hash, key)))
      return *found;
    return insert(hash, Key(key.begin(), key.end()), make);
  }

private:
  struct Entry : KeyEntry {
    Entry(std::size_t hashOfKey, Key words, T made) : value(std::move(made)) {
      key = std::move(words);
      hash = hashOfKey;
    }
    const T value;
  };
  static const T *valueOf(const Entry *entry) { return entry ? &entry->value : nullptr; }

  template <typename Make> [[gnu::noinline]] const T &insert(std::size_t hash, Key key, Make &make) {
    auto entry = std::make_shared<Entry>(hash, std::move(key), make());
    std::lock_guard lock(mutex);
    if (const T *found = valueOf(table.find(hash, entry->key)))
      return *found; // another thread was first
    return table.insert(std::move(entry))->value;
  }

  KeyTable<Entry> table;
  runtime::ForkMutex mutex;
};

} // namespace calque::detail
#endif
