// Every differentiable elementwise operation: derivatives of first and second order against central differences, and
// those of many examples against single ones.
#include "test/operations/Testing.h"

#include <span>

using namespace calque;
using namespace calque::testing;

namespace {
class ElementwiseGradient : public ::testing::TestWithParam<ElementwiseCase> {};

std::vector<ElementwiseCase> differentiableCases() {
  std::vector<ElementwiseCase> cases;
  for (const ElementwiseCase &op : elementwiseCases())
    if (op.schema().differentiable)
      cases.push_back(op);
  return cases;
}
} // namespace

TEST_P(ElementwiseGradient, IsThatOfCentralDifferences) {
  const ElementwiseCase &op = GetParam();
  std::vector<DType> signature = signatures(op).back();
  ASSERT_EQ(signature.back(), DType::Float64);
  const std::vector<std::vector<Shape>> shapes = {
      {{}, {}, {}}, {{2, 3}, {2, 3}, {2, 3}}, {{3, 1}, {4}, {3, 4}}, {{2, 1, 2}, {3, 1}, {2}}};
  std::mt19937 random(3);
  // One operand alone is never broadcast.
  const std::size_t count = signature.size() == 1 ? 2 : shapes.size();
  for (const std::vector<Shape> &operands : std::span(shapes).first(count)) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < signature.size(); ++i) {
      std::vector<double> values = randomValues(random, sizeOf(operands[i]), op.low, op.high, op.kinks);
      if (signature[i] == DType::Bool)
        for (double &value : values)
          value = value > 0;
      inputs.push_back(makeTensor(signature[i], values, operands[i]));
    }
    SCOPED_TRACE("first operand " + operands[0].str());
    expectDerivatives(op.function, inputs, op.orders);
    if (&operands == &shapes[signature.size() == 1 ? 1 : 2])
      expectBatched({batchedDerivatives(op.function, inputs)});
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ElementwiseGradient, ::testing::ValuesIn(differentiableCases()),
                         [](const auto &info) { return info.param.name(); });

// Found by calque-fuzz: h^0 = 0^0 = 1, so that the slope is 0 and not 0 * (1 / 0). JAX and PyTorch give 0 as well.
TEST(Gradient, OfThePowerZeroIsZero) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Tensor x = makeTensor<double>(dtype, {0, -0.0, 2, 0, 0}, {5}), y = makeTensor<double>(dtype, {0, 0, 0, 1, 2}, {5});
    auto slope = [&](const Tensor &x) { return sum(pow(x, y)); };
    EXPECT_EQ(valuesOf(grad(slope)(x)), (std::vector<double>{0, 0, 0, 1, 0}));
    EXPECT_EQ(valuesOf(function<Tensor(const Tensor &)>(grad(slope))(x)), (std::vector<double>{0, 0, 0, 1, 0}));
    EXPECT_EQ(valuesOf(jvp(slope, x, makeTensor<double>(dtype, {1, 1, 1, 1, 1}, {5})).second), std::vector<double>{1});
  }
}

// Where s = sigmoid(x) is near 1/2, 1 - 2 s is the difference of numbers near 1. The expected values are
// s (1 - s) (1 - 2 s) and s (1 - s) (1 - 6 s + 6 s^2) of these doubles, computed in 80 decimal digits (Python's
// decimal).
TEST(Gradient, OfHigherOrderIsExactNearTheMiddleOfSigmoid) {
  const std::vector<double> at = {1e-9, -1e-9, 1e-5, 0.001, 0.1, 1, -3, -20};
  const std::vector<double> second = {-1.25000000000000008e-10, 1.25000000000000008e-10,  -1.24999999995833349e-06,
                                      -1.24999958333342194e-04, -1.24584217214678446e-02, -9.08577476729484079e-02,
                                      4.08915746609434805e-02,  2.06115360544514093e-09};
  const std::vector<double> third = {-1.25000000000000000e-01, -1.25000000000000000e-01, -1.24999999987499999e-01,
                                     -1.24999875000044267e-01, -1.23754416340829260e-01, -3.53255805162356468e-02,
                                     3.29310762242564226e-02,  2.06115358845172399e-09};
  using F = std::function<Tensor(const Tensor &)>;
  auto derivative = [](const F &f) -> F {
    return [f](const Tensor &x) { return grad([&](const Tensor &y) { return sum(f(y)); })(x); };
  };
  auto forward = [](const F &f) -> F {
    return [f](const Tensor &x) { return jvp(f, x, ones(x.shape(), DType::Float64)).second; };
  };
  const F slope = derivative([](const Tensor &x) { return sigmoid(x); }), curvature = derivative(slope),
          bend = derivative(derivative(derivative([](const Tensor &x) { return softplus(x); })));
  const Tensor x = tensor<double>(at);
  auto expect = [&](const F &f, const std::vector<double> &expected) {
    for (const Tensor &found : {f(x), function<Tensor(const Tensor &)>(f)(x)})
      for (std::size_t i = 0; i < at.size(); ++i)
        EXPECT_NEAR(found.data<double>()[i] / expected[i], 1, 4e-15) << at[i];
  };
  expect(curvature, second);
  expect(forward(slope), second);
  expect(derivative(curvature), third);
  expect(bend, second);
  // Where sigmoid(x) is 1 to the last digit: e^-x (1 - 2 e^-x), the next term of which is beyond these digits.
  const F hill = derivative(derivative([](const Tensor &x) { return softplus(x); }));
  for (double large : {37., 100., 700.})
    EXPECT_NEAR(hill(tensor<double>({large})).data<double>()[0] / (std::exp(-large) * (1 - 2 * std::exp(-large))), 1,
                1e-14);
  EXPECT_NEAR(hill(tensor({20.f})).data<float>()[0], 2.0611536e-9f, 1e-15f);
  expect(forward(forward(forward([](const Tensor &x) { return softplus(x); }))), second);
  // The first derivative is of the result, as ever.
  const Tensor s = sigmoid(x), first = slope(x), expected = s * (1.0 - s);
  EXPECT_TRUE(std::ranges::equal(first.bytes(), expected.bytes()));
}
