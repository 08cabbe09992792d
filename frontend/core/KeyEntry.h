// The keys of lookups, and the base class of the entries that are found by keys.
#ifndef CALQUE_FRONTEND_CORE_KEYENTRY_H
#define CALQUE_FRONTEND_CORE_KEYENTRY_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace calque::detail {

using Key = std::vector<std::uint64_t>;
using KeyView = std::span<const std::uint64_t>;
// Positions of a key that match any word, ascending.
using Positions = std::vector<std::uint32_t>;

// The hash of a key's words, except those at the unknown positions.
inline std::size_t hashKey(KeyView key, std::span<const std::uint32_t> unknown = {}) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL ^ key.size();
  auto add = [&](KeyView words) {
    for (std::uint64_t word : words) {
      hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32;
    }
  };
  std::size_t begin = 0;
  for (std::uint32_t position : unknown) {
    add(key.subspan(begin, position - begin));
    begin = position + 1;
  }
  add(key.subspan(begin));
  return hash;
}

struct KeyEntry {
  Key key;
  std::size_t hash = 0;
  Positions unknown;        // empty: a plain entry; else a pattern
  std::uint64_t number = 0; // counts entries in the order in which they were made
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

} // namespace calque::detail
#endif
