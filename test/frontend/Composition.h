// What the tests of transformations of transformations share.
#ifndef CALQUE_TEST_FRONTEND_COMPOSITION_H
#define CALQUE_TEST_FRONTEND_COMPOSITION_H

#include "Testing.h"
#include "test/Tensors.h"

namespace calque::testing {

// Runs a body eagerly and in a function; expected elements are in row-major order.
inline void inBothModes(const Body &body, const std::vector<Tensor> &inputs, const std::vector<double> &expected,
                        const Shape &shape) {
  auto f = function<Tensor(const std::vector<Tensor> &)>(body);
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    Tensor result = compiled ? f(inputs) : body(inputs);
    ASSERT_EQ(result.shape(), shape);
    std::vector<double> values = valuesOf(result);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(values[i], expected[i], 1e-10 * (1 + std::fabs(expected[i]))) << "element " << i;
  }
}

inline Tensor cubes(const Tensor &x) { return x * x * x; }

} // namespace calque::testing
#endif
