#include "Nearest.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace calque::training {

namespace {

// How many letters are to be put in, left out or changed to make one name of another (Levenshtein: Binary codes capable
// of correcting deletions, insertions, and reversals, 1966); capitals count as small letters.
std::size_t distanceOf(std::string_view a, std::string_view b) {
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

// A text of a file may be long, and is near to none then.
constexpr std::size_t kLongestName = 256;

} // namespace

std::string nearest(const std::string &name, std::vector<std::string> names) {
  if (names.empty())
    return "there are none";
  std::sort(names.begin(), names.end());
  if (names.size() <= 12)
    return "there are " + absl::StrJoin(names, ", ");
  const std::string_view start = std::string_view(name).substr(0, kLongestName);
  std::vector<std::pair<std::size_t, std::string>> byDistance;
  for (std::string &each : names)
    byDistance.emplace_back(distanceOf(start, each), std::move(each));
  std::partial_sort(byDistance.begin(), byDistance.begin() + 4, byDistance.end());
  return "the nearest are " + absl::StrJoin(byDistance.begin(), byDistance.begin() + 4, ", ",
                                            [](std::string *out, const auto &each) { *out += each.second; });
}

} // namespace calque::training
