// In which order the tensors of an einsum are multiplied, two at a time, so that there is little to multiply.
#ifndef CALQUE_FRONTEND_OPERATIONS_PRODUCTORDER_H
#define CALQUE_FRONTEND_OPERATIONS_PRODUCTORDER_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace calque::detail {

class ProductOrder {
public:
  // A set of letters: bit i is letter i. Letters from kMostLetters on are in no set.
  using Letters = std::uint64_t;
  static constexpr std::size_t kMostLetters = 64;
  // What an unknown size counts as.
  static constexpr double kUnknownSize = 64;
  // Two places in the list of factors, the first one below the second. The product takes the place of the first, and
  // those behind the second move up.
  using Pair = std::pair<std::size_t, std::size_t>;

  // The letters of each factor and of the result, and the size of each letter.
  ProductOrder(std::vector<Letters> factors, Letters result, std::vector<double> sizes)
      : factors(std::move(factors)), result(result), sizes(std::move(sizes)) {}

  // The pairs in their order, one fewer than there are factors. Up to kMostOptimal factors, no other order takes fewer
  // multiplications. Of more, the pair comes next whose product makes the tensors smallest, and of those the one
  // with the fewest multiplications. Among equal ones it is the
  // order of the factors.
  std::vector<Pair> pairs() const;
  static constexpr std::size_t kMostOptimal = 8;

private:
  double product(Letters letters) const;
  std::vector<Pair> optimal() const;
  std::vector<Pair> greedy() const;

  std::vector<Letters> factors;
  Letters result;
  std::vector<double> sizes;
};

} // namespace calque::detail
#endif
