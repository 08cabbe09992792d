// What tests of branches and loops of host code share: inputs that take different ways, and the comparison of them.
#ifndef CALQUE_TEST_NATIVE_SAME_H
#define CALQUE_TEST_NATIVE_SAME_H

#include "test/Tensors.h"

#include <vector>

namespace calque::testing {

// The same eagerly and compiled, for several inputs.
template <typename F> void expectSame(F f, const std::vector<double> &inputs) {
  auto compiled = function(f);
  for (double input : inputs) {
    Tensor x = scalar<double>(input);
    std::vector<double> eager = valuesOf(f(x)), traced = valuesOf(compiled(x));
    ASSERT_EQ(eager.size(), traced.size());
    for (std::size_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(eager[i], traced[i], 1e-9 * (1 + std::abs(eager[i]))) << input;
  }
}

inline const std::vector<double> kInputs{2, 3.5, 9, 30};

} // namespace calque::testing
#endif
