// Gradients of gradients, to high orders.
#include "Testing.h"
#include "test/Tensors.h"

#include <cmath>
#include <sstream>

using namespace calque;
using namespace calque::testing;

namespace {
using Derivative = std::function<Tensor(const Tensor &)>;

Tensor fiveSines(const Tensor &x) {
  Tensor y = x;
  for (int i = 0; i < 5; ++i)
    y = sin(y) * x;
  return y;
}
Tensor manyRules(const Tensor &x) {
  return tanh(x * 0.5f + x * 0.5f) / (exp(-x) + 1) - log(x * x + 1) * sigmoid(-x) + relu(x - 0.3f) * cos(x) +
         pow(abs(x) + 0.5f, x);
}
// The derivatives of an elementwise function, each of the one before.
std::vector<Derivative> gradients(Derivative f, int most) {
  std::vector<Derivative> orders{f};
  for (int order = 1; order <= most; ++order)
    orders.push_back(
        [f = orders.back()](const Tensor &x) { return grad([&](const Tensor &a) { return sum(f(a)); })(x); });
  return orders;
}
} // namespace

// The numbers are those of operations that JAX's compiler leaves of the same derivatives.
TEST(Grad, OfHigherOrdersComputesNothingTwice) {
  const int most[] = {0, 35, 85, 222, 567, 1428, 3596};
  std::vector<Derivative> orders = gradients(fiveSines, 6);
  for (std::size_t order = 1; order < orders.size(); ++order) {
    std::istringstream lines(function(orders[order]).ir("simplified", ones({8})));
    int operations = 1; // the return
    for (std::string line; std::getline(lines, line);)
      operations += line.find(" = calque.") != std::string::npos;
    EXPECT_GT(operations, 30) << "order " << order;
    EXPECT_LE(operations, most[order]) << "order " << order;
  }
}

// Beyond the first order, sums are grouped in another way: an eager tape differentiates one operation at a time, and a
// function shares what the rules of several have in common.
TEST(Grad, HasTheBitsOfEagerCode) {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i)
    values.push_back(-2.f + 0.0637f * static_cast<float>(i));
  Tensor x = tensor(values);
  for (const Derivative &f : {Derivative(fiveSines), Derivative(manyRules)})
    for (const Derivative &derivative : gradients(f, 1))
      expectSameBits(derivative(x), function(derivative)(x));
}

TEST(Grad, OfHigherOrdersIsThatOfEagerCode) {
  std::vector<double> values;
  for (int i = 0; i < 64; ++i)
    values.push_back(-2. + 0.0637 * i);
  Tensor x = tensor(values);
  for (const Derivative &f : {Derivative(fiveSines), Derivative(manyRules)})
    for (const Derivative &derivative : gradients(f, 4)) {
      Tensor eager = derivative(x), compiled = function(derivative)(x);
      for (std::int64_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(eager.data<double>()[i], compiled.data<double>()[i],
                    1e-11 * (1 + std::abs(compiled.data<double>()[i])));
    }
}

TEST(Grad, OfHigherOrdersIsWhatForwardModeGives) {
  Tensor x = tensor<double>({-1.7, -0.4, 0.1, 0.9, 1.3});
  Derivative forward = fiveSines;
  for (const Derivative &reverse : gradients(fiveSines, 5)) {
    Tensor expected = function(forward)(x), given = function(reverse)(x);
    for (std::int64_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(given.data<double>()[i], expected.data<double>()[i],
                  1e-9 * (1 + std::abs(expected.data<double>()[i])));
    forward = [f = forward](const Tensor &a) { return jvp(f, a, ones(a.shape(), DType::Float64)).second; };
  }
}
