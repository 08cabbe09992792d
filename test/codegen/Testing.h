// What the tests of kernels share: sums with what they may be off by, and comparisons with them.
#ifndef CALQUE_TEST_CODEGEN_TESTING_H
#define CALQUE_TEST_CODEGEN_TESTING_H

#include "test/Tensors.h"

#include <numeric>
#include <sstream>
#include <string>

namespace calque::testing {

using Axes = std::vector<std::int64_t>;

inline std::string text(const std::vector<std::int64_t> &values) {
  std::ostringstream result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result << (i ? "," : "[") << values[i];
  result << (values.empty() ? "[]" : "]");
  return result.str();
}

inline bool isInteger(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

// Values in [-1, 1) for floats, -9 to 9 for integers, and both for bool.
inline Tensor operand(std::mt19937 &random, const Shape &shape, DType dtype) {
  std::vector<double> values(static_cast<std::size_t>(sizeOf(shape)));
  for (double &value : values)
    value = dtype == DType::Bool ? static_cast<double>(random() % 2)
            : isInteger(dtype)   ? static_cast<double>(random() % 19) - 9
                                 : static_cast<double>(random() % (1 << 20)) / (1 << 19) - 1;
  return makeTensor(dtype, values, shape);
}

// Small whole numbers, on which float arithmetic is exact.
inline Tensor wholes(std::mt19937 &random, const Shape &shape, DType dtype) {
  std::vector<double> values(static_cast<std::size_t>(sizeOf(shape)));
  for (double &value : values)
    value = dtype == DType::Bool ? static_cast<double>(random() % 2) : static_cast<double>(random() % 17) - 8;
  return makeTensor(dtype, values, shape);
}

// Sums and the sums of their terms' magnitudes, in row-major order.
struct Sums {
  explicit Sums(const Shape &shape)
      : shape(shape), sum(static_cast<std::size_t>(sizeOf(shape))), magnitude(sum.size()) {}
  void add(std::size_t at, long double term) {
    sum[at] += term;
    magnitude[at] += std::fabs(term);
  }
  Shape shape;
  std::vector<long double> sum, magnitude;
};

// However many terms a sum has, it is off by at most 4 eps sum|term|; integers are exact.
inline void expectSums(const Tensor &found, const Sums &expected) {
  ASSERT_EQ(found.shape(), expected.shape);
  double epsilon = isInteger(found.dtype()) ? 0 : found.dtype() == DType::Float32 ? 0x1p-23 : 0x1p-52;
  std::vector<double> values = valuesOf(found);
  int wrong = 0;
  for (std::size_t i = 0; i < values.size() && wrong < 4; ++i) {
    auto off = static_cast<double>(std::fabs(values[i] - expected.sum[i]));
    if (!(off <= 4 * epsilon * static_cast<double>(expected.magnitude[i]))) {
      ++wrong;
      ADD_FAILURE() << "element " << text(unravel(static_cast<std::int64_t>(i), found.shape())) << " is " << values[i]
                    << ", not " << static_cast<double>(expected.sum[i]);
    }
  }
}

// Equal elements; NaN equals NaN.
inline void expectElements(const Tensor &found, const Shape &shape, const std::vector<double> &expected) {
  ASSERT_EQ(found.shape(), shape);
  std::vector<double> values = valuesOf(found);
  ASSERT_EQ(values.size(), expected.size());
  int wrong = 0;
  for (std::size_t i = 0; i < values.size() && wrong < 4; ++i)
    if (values[i] != expected[i] && !(std::isnan(values[i]) && std::isnan(expected[i]))) {
      ++wrong;
      ADD_FAILURE() << "element " << text(unravel(static_cast<std::int64_t>(i), shape)) << " is " << values[i]
                    << ", not " << expected[i];
    }
}

// The elements that a function gives for each index.
inline std::vector<double> generate(const Shape &shape, const std::function<double(const Shape &)> &element) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(element(unravel(i, shape)));
  return values;
}

inline auto compile(ManyBody body) {
  return function<std::vector<Tensor>(const std::vector<Tensor> &)>(std::move(body));
}

} // namespace calque::testing
#endif
