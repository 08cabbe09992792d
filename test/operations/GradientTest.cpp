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
    expectDerivatives(op.function, inputs, 2);
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
