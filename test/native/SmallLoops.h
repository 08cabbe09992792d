// What tests of loops on small values and on elements of arrays share: eager calls, which run one operation after the
// other, are the reference; gradients are compared with finite differences.
#ifndef CALQUE_TEST_NATIVE_SMALLLOOPS_H
#define CALQUE_TEST_NATIVE_SMALLLOOPS_H

#include "test/Tensors.h"

#include <string>

namespace calque::testing {

// Whether the function has no loop that the runtime runs.
template <typename F, typename... Args> bool isOneKernel(F &f, const Args &...args) {
  return f.ir("outlined", args...).find("calque_rt_while") == std::string::npos;
}

// The same eagerly and compiled, and compiled as one kernel.
template <typename F> void expectKernel(F f, const Tensor &x, double tolerance = 1e-12, bool isKernel = true) {
  auto compiled = function(f);
  Tensor eager = f(x), made = compiled(x);
  ASSERT_EQ(eager.dtype(), made.dtype());
  ASSERT_EQ(eager.shape(), made.shape());
  std::vector<double> wanted = valuesOf(eager), values = valuesOf(made);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(values[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << "element " << i;
  EXPECT_EQ(isOneKernel(compiled, x), isKernel);
}

// The gradient of a scalar function of a float64 tensor, compared with central differences.
template <typename F> void expectGradient(F f, const Tensor &x) {
  std::vector<double> values = valuesOf(x), gradient = valuesOf(function(grad(f))(x));
  constexpr double kStep = 1e-6;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> above(values), below(values);
    above[i] += kStep;
    below[i] -= kStep;
    const double difference =
        (f(tensor(above, x.shape())).template item<double>() - f(tensor(below, x.shape())).template item<double>()) /
        (2 * kStep);
    EXPECT_NEAR(gradient[i], difference, 1e-6 * (1 + std::abs(difference))) << "element " << i;
  }
}

} // namespace calque::testing
#endif
