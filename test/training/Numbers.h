// What tests of data sets share: data sets of numbers, and the numbers in them.
#ifndef CALQUE_TEST_TRAINING_NUMBERS_H
#define CALQUE_TEST_TRAINING_NUMBERS_H

#include "test/training/Testing.h"

#include <numeric>

namespace calque::testing {

using Numbers = std::vector<std::int64_t>;

inline Numbers numbersOf(const data::Dataset<Tensor> &dataset) {
  Numbers numbers;
  for (const Tensor &x : dataset) {
    const std::vector<double> values = valuesOf(x);
    for (double value : values)
      numbers.push_back(static_cast<std::int64_t>(value));
  }
  return numbers;
}
inline Numbers upTo(std::int64_t n) {
  Numbers numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}
inline std::int64_t numberIn(const Tensor &x) { return x.item<std::int64_t>(); }

} // namespace calque::testing
#endif
