// What the tests of the training library share.
#ifndef CALQUE_TEST_TRAINING_TESTING_H
#define CALQUE_TEST_TRAINING_TESTING_H

#include "calque/training.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

namespace calque::testing {

inline void expectNear(const Tensor &x, const std::vector<double> &expected, double tolerance = 1e-12) {
  std::vector<double> values = valuesOf(x);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
}

// The gradients of a float64 scalar with respect to variables against central differences.
template <typename F> void expectVariableGradients(F &&loss, const std::vector<Variable> &variables) {
  GradientTape tape;
  Tensor value = loss();
  std::vector<std::optional<Tensor>> gradients = tape.gradient(value, variables);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    SCOPED_TRACE(variables[i].name());
    ASSERT_TRUE(gradients[i]);
    Variable variable = variables[i];
    const Tensor before = variable.value();
    std::vector<double> elements = valuesOf(before), numeric;
    for (double &element : elements) {
      double kept = element, sides[2];
      for (int side : {0, 1}) {
        element = kept + (side ? 1e-6 : -1e-6);
        variable.assign(tensor(elements, before.shape()));
        sides[side] = loss().template item<double>();
      }
      element = kept;
      numeric.push_back((sides[1] - sides[0]) / 2e-6);
    }
    variable.assign(before);
    expectNear(*gradients[i], numeric, 1e-5);
  }
}

// The statement throws such an error, whose text contains a part and this file's name.
#define EXPECT_MISUSE(Error, statement, part)                                                                          \
  do {                                                                                                                 \
    std::string text = errorOf<Error>([&] { statement; });                                                             \
    EXPECT_CONTAINS(text, part);                                                                                       \
    EXPECT_CONTAINS(text, std::string(__FILE__) + ":" + std::to_string(__LINE__));                                     \
  } while (false)

} // namespace calque::testing
#endif
