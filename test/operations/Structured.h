// What the tests of structured operations and of movement share.
#ifndef CALQUE_TEST_OPERATIONS_STRUCTURED_H
#define CALQUE_TEST_OPERATIONS_STRUCTURED_H

#include "test/operations/Testing.h"

namespace calque::testing {

using Axes = std::vector<std::int64_t>;

// The operands in another type; those that are not float64 stay as they are.
inline std::vector<Tensor> as(DType dtype, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> operands;
  for (const Tensor &x : inputs)
    operands.push_back(x.dtype() == DType::Float64 ? cast(x, dtype) : x);
  return operands;
}

inline BatchedCall batched(const Body &f, const std::vector<Tensor> &inputs, bool exact) {
  return {[f](const std::vector<Tensor> &x) { return std::vector<Tensor>{f(x)}; }, inputs, exact};
}

// Derivatives of one example and, if asked, of many: one case of a family is enough for those.
inline void expectAllDerivatives(const Body &f, const std::vector<Tensor> &inputs, int order, bool manyExamples) {
  expectDerivatives(f, inputs, order);
  SCOPED_TRACE("derivatives of many examples");
  if (manyExamples)
    expectBatched({batchedDerivatives(f, inputs)});
}

// Eagerly and compiled, in float64 and float32, and for many examples.
inline void expectValues(const Body &f, const std::vector<Tensor> &inputs, const Shape &shape,
                         const std::vector<double> &expected, bool manyExamples = true) {
  for (DType dtype : {DType::Float64, DType::Float32}) {
    std::vector<Tensor> operands = as(dtype, inputs);
    double tolerance = dtype == DType::Float64 ? 1e-12 : 2e-5;
    auto compiled = function<Tensor(const std::vector<Tensor> &)>(f);
    for (bool compile : {false, true}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + (compile ? " compiled" : " eager"));
      Tensor result = compile ? compiled(operands) : f(operands);
      ASSERT_EQ(result.shape(), shape);
      std::vector<double> values = valuesOf(result);
      ASSERT_EQ(values.size(), expected.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isfinite(expected[i]))
          EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
        else
          EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
              << "element " << i << ": " << values[i];
      }
    }
  }
  SCOPED_TRACE("many examples");
  if (manyExamples && !inputs.empty())
    expectBatched({batched(f, inputs, false)});
}

// The elements that a function picks by the index in the result.
inline std::vector<double> generate(const Shape &shape, const std::function<double(const Shape &)> &element) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(element(unravel(i, shape)));
  return values;
}

// The dimension of an axis, which may count from the end.
inline std::size_t dimensionOf(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

} // namespace calque::testing
#endif
