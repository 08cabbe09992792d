// Native code on disk: a directory with a file for each entry, found by a key of 256 bits.
//
//   CacheSettings settings = cacheSettings();             // of the environment
//   CodeCache cache(settings.directory, settings.maxBytes);
//   CacheKey key = cacheKey(std::as_bytes(std::span(text))); // of everything that the code depends on
//   std::optional<std::vector<std::byte>> bytes = cache.load(key);
//   if (!bytes)
//     cache.store(key, compile());
//
// A cache never fails. An entry that can't be read, was damaged, is of another version, or could have been written by
// another user counts as missing; an entry that can't be written is not kept. Any number of threads and processes may
// use one directory at the same time: entries appear whole or not at all, and there are no locks that a process could
// leave behind.
#ifndef CALQUE_RUNTIME_CODECACHE_H
#define CALQUE_RUNTIME_CODECACHE_H

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace calque::runtime {

using CacheKey = std::array<std::byte, 32>;

// SHA-256, because a key decides which code runs.
CacheKey cacheKey(std::span<const std::byte> text);

struct CacheSettings {
  std::string directory; // empty: there is no cache
  std::uint64_t maxBytes = std::uint64_t(1) << 30;
  std::string error; // what is wrong with the environment
};
// CALQUE_CACHE is "off", "0" or an absolute path; without it, the directory is calque in XDG_CACHE_HOME, else in
// ~/.cache. CALQUE_CACHE_SIZE is a number of bytes, with K, M, G or T for powers of 1,024. A program that runs with
// other rights than its user has no cache, as its environment is not to be trusted.
CacheSettings cacheSettings();

struct CacheEntry {
  CacheKey key;
  std::uint64_t bytes; // on disk, as the limit counts them
  std::chrono::system_clock::time_point used;
};

class CodeCache {
public:
  // Nothing is read or made before it is needed. If `directory` is empty, the cache keeps nothing.
  CodeCache(std::string directory, std::uint64_t maxBytes);
  // An installed cache: it is read even if it belongs to root, and is never written.
  explicit CodeCache(std::string installed)
      : path(std::move(installed)), maxBytes(UINT64_MAX), share(0), isInstalled(true) {}

  using Entry = std::optional<std::vector<std::byte>>;
  Entry load(const CacheKey &key) const { return std::move(load({&key, 1})[0]); }
  // The entries of these keys, in less time than one by one.
  std::vector<Entry> load(std::span<const CacheKey> keys) const;
  // Makes the directory if it is missing. Removes the least recently used entries if all entries take more than
  // `maxBytes`. Removal looks at every entry, so it happens once for each `share` of bytes stored.
  void store(const CacheKey &key, std::span<const std::byte> bytes);
  // The entries, the last used first. They are not checked as load() checks them.
  std::vector<CacheEntry> entries() const;

private:
  Entry loadFrom(int directory, const CacheKey &key) const;
  void evict(int directory);

  const std::string path;
  const std::uint64_t maxBytes;
  const std::uint64_t share; // of maxBytes
  const bool isInstalled = false;
  std::atomic<std::uint64_t> unseen{0}; // bytes stored since entries were counted
  std::mutex evicting;
};

} // namespace calque::runtime
#endif
