// Every differentiable elementwise operation: derivatives of first and second order against central differences, and those of
// many examples against single ones.
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
  const std::vector<std::vector<Shape>> shapes = {{{}, {}, {}}, {{2, 3}, {2, 3}, {2, 3}}, {{3, 1}, {4}, {3, 4}}, {{2, 1, 2}, {3, 1}, {2}}};
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
    SCOPED_TRACE("first operand " + schema::shapeString(operands[0]));
    expectDerivatives(op.function, inputs, 2);
    if (&operands == &shapes[signature.size() == 1 ? 1 : 2])
      expectBatched({batchedDerivatives(op.function, inputs)});
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ElementwiseGradient, ::testing::ValuesIn(differentiableCases()),
                         [](const auto &info) { return info.param.name(); });
