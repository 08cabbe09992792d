#include "frontend/operations/ProductOrder.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace calque::detail {

double ProductOrder::product(Letters letters) const {
  double product = 1;
  for (; letters; letters &= letters - 1)
    product *= sizes[static_cast<std::size_t>(std::countr_zero(letters))];
  return product;
}

std::vector<ProductOrder::Pair> ProductOrder::pairs() const {
  if (factors.size() <= 2)
    return factors.size() == 2 ? std::vector<Pair>{{0, 1}} : std::vector<Pair>{};
  return factors.size() <= kMostOptimal ? optimal() : greedy();
}

// By dynamic programming over sets of factors: the best order of a set is that of two parts of it and their product.
std::vector<ProductOrder::Pair> ProductOrder::optimal() const {
  using Set = std::uint32_t;
  struct Best {
    double cost = std::numeric_limits<double>::infinity();
    Letters letters = 0; // that are left of the set's product
    Set part = 0;        // one of the two; 0 of a single factor
  };
  const std::size_t count = factors.size();
  const Set all = (Set(1) << count) - 1;
  std::vector<Best> best(all + 1);
  for (Set set = 1; set <= all; ++set) {
    Letters inside = 0, outside = result;
    for (std::size_t i = 0; i < count; ++i)
      (set >> i & 1 ? inside : outside) |= factors[i];
    best[set].letters = inside & outside;
    if (std::has_single_bit(set)) {
      best[set].cost = 0;
      continue;
    }
    // Parts with the last factor: the smallest of them is that factor alone, as in the order of the factors.
    const Set last = std::bit_floor(set);
    for (Set part = last; part < set; part = ((part | ~set) + 1) & set) {
      const Best &a = best[part], &b = best[set & ~part];
      if (const double cost = a.cost + b.cost + product(a.letters | b.letters); cost < best[set].cost)
        best[set].cost = cost, best[set].part = part;
    }
    if (best[set].part == 0) // the costs are infinite, or a size is 0 times one
      best[set].part = last;
  }
  // The sets in the order in which their products are made. Each is then at its first factor.
  std::vector<Set> live;
  for (std::size_t i = 0; i < count; ++i)
    live.push_back(Set(1) << i);
  std::vector<Pair> pairs;
  auto make = [&](auto &self, Set set) -> void {
    if (std::has_single_bit(set))
      return;
    const Set one = best[set].part, other = set & ~one;
    self(self, other);
    self(self, one);
    auto at = [&](Set part) {
      return static_cast<std::size_t>(std::find(live.begin(), live.end(), part) - live.begin());
    };
    const auto [first, second] = std::minmax({at(one), at(other)});
    pairs.emplace_back(first, second);
    live[first] = set;
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(second));
  };
  make(make, all);
  return pairs;
}

std::vector<ProductOrder::Pair> ProductOrder::greedy() const {
  std::vector<Letters> live = factors;
  std::vector<Pair> pairs;
  while (live.size() > 1) {
    // How many of the others have a letter, for letters that only the pair has.
    std::vector<int> counts(kMostLetters);
    for (Letters letters : live)
      for (; letters; letters &= letters - 1)
        ++counts[static_cast<std::size_t>(std::countr_zero(letters))];
    auto leftOf = [&](Letters a, Letters b) {
      Letters left = 0;
      for (Letters letters = a | b; letters; letters &= letters - 1) {
        const auto letter = static_cast<unsigned>(std::countr_zero(letters));
        const int own = static_cast<int>(a >> letter & 1) + static_cast<int>(b >> letter & 1);
        if (counts[letter] > own || (result >> letter & 1))
          left |= Letters(1) << letter;
      }
      return left;
    };
    Pair next{0, 1};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::pair<double, double> least{infinity, infinity};
    for (std::size_t i = 0; i < live.size(); ++i)
      for (std::size_t j = i + 1; j < live.size(); ++j) {
        const double more = product(leftOf(live[i], live[j])) - product(live[i]) - product(live[j]);
        if (const std::pair own{more, product(live[i] | live[j])}; own < least) {
          least = own;
          next = {i, j};
        }
      }
    live[next.first] = leftOf(live[next.first], live[next.second]);
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(next.second));
    pairs.push_back(next);
  }
  return pairs;
}

} // namespace calque::detail
