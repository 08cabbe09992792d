// What the tests of the solvers share.
#ifndef CALQUE_TEST_SOLVERS_TESTING_H
#define CALQUE_TEST_SOLVERS_TESTING_H

#include "calque/solvers.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

namespace calque::testing {

inline void expectNear(const Tensor &x, const std::vector<double> &expected, double tolerance) {
  std::vector<double> values = valuesOf(x);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
}

// Calls f eagerly and compiled, expects almost the same, and returns it. The norms of both are sums in different
// orders, so that steps differ in the last bits.
template <typename F, typename... Args> auto eagerAndCompiled(F f, const Args &...args) {
  auto eager = f(args...);
  auto compiled = function(f)(args...);
  std::vector<Tensor> a = detail::tensorsIn(eager), b = detail::tensorsIn(compiled);
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].dtype(), b[i].dtype());
    EXPECT_EQ(a[i].shape(), b[i].shape());
    expectNear(a[i], valuesOf(b[i]), a[i].dtype() == DType::Float32 ? 1e-4 : 1e-9);
  }
  return compiled;
}

// As expectGradients, and compiled alone: eagerly, each iteration of an implicit method is traced.
inline void expectCompiledGradients(const Body &f, const std::vector<Tensor> &inputs) {
  auto value = function<Tensor(const std::vector<Tensor> &)>(f);
  auto slopes = function<std::vector<Tensor>(const std::vector<Tensor> &)>(
      [f](const std::vector<Tensor> &x) { return gradients(f, x); });
  const std::vector<Tensor> found = slopes(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double> elements = valuesOf(inputs[i]), numeric;
    for (double &element : elements) {
      const double kept = element;
      double sides[2];
      for (int side : {0, 1}) {
        element = kept + (side ? 1e-6 : -1e-6);
        std::vector<Tensor> moved = inputs;
        moved[i] = tensor(elements, inputs[i].shape());
        sides[side] = value(moved).item<double>();
      }
      element = kept;
      numeric.push_back((sides[1] - sides[0]) / 2e-6);
    }
    for (std::size_t j = 0; j < numeric.size(); ++j)
      EXPECT_NEAR(valuesOf(found[i])[j], numeric[j], 1e-5 + 1e-3 * std::fabs(numeric[j]))
          << "operand " << i << ", element " << j;
  }
}

// The statement throws such an error, whose text contains a part and the line.
// An error at the statement's line whose text begins with the public function that it calls.
#define EXPECT_FAILURE_OF(Error, statement, begin)                                                                     \
  do {                                                                                                                 \
    const std::string failureText = errorOf<Error>([&] { statement; });                                                \
    EXPECT_TRUE(failureText.starts_with(begin)) << failureText;                                                        \
    EXPECT_CONTAINS(failureText, std::string(__FILE__) + ":" + std::to_string(__LINE__));                              \
  } while (false)

#define EXPECT_MISUSE(Error, statement, part)                                                                          \
  do {                                                                                                                 \
    const std::string misuseText = errorOf<Error>([&] { statement; });                                                 \
    EXPECT_CONTAINS(misuseText, part);                                                                                 \
    EXPECT_CONTAINS(misuseText, std::string(__FILE__) + ":" + std::to_string(__LINE__));                               \
  } while (false)

} // namespace calque::testing
#endif
