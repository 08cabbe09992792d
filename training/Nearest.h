// The names that a wrong one may have meant, for messages.
#ifndef CALQUE_TRAINING_NEAREST_H
#define CALQUE_TRAINING_NEAREST_H

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace calque::training {

// How many letters are to be put in, left out or changed to make one name of another (Levenshtein: Binary codes capable
// of correcting deletions, insertions, and reversals, 1966); capitals count as small letters.
inline std::size_t distanceOf(const std::string &a, const std::string &b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool same = absl::ascii_tolower(a[i]) == absl::ascii_tolower(b[j]);
      const std::size_t changed = diagonal + (same ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j + 1] + 1, row[j] + 1, changed}));
    }
  }
  return row.back();
}

// The names in a map.
template <typename Map> std::vector<std::string> keysOf(const Map &map) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : map)
    keys.push_back(name);
  return keys;
}

// "there are a, b, c", and of many names "the nearest are a, b, c".
inline std::string nearest(const std::string &name, std::vector<std::string> names) {
  if (names.empty())
    return "there are none";
  std::sort(names.begin(), names.end());
  if (names.size() <= 12)
    return "there are " + absl::StrJoin(names, ", ");
  std::stable_sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
    return distanceOf(name, a) < distanceOf(name, b);
  });
  names.resize(4);
  return "the nearest are " + absl::StrJoin(names, ", ");
}

} // namespace calque::training
#endif
