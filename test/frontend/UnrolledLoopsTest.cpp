// Loops of a few iterations, of which the compiler makes straight code.
#include "test/frontend/Testing.h"

using namespace calque;
using namespace calque::testing;

// Those of more than 8 stay loops.
TEST(ForRange, GivesTheSameUnrolledOrNot) {
  for (int n : {0, 1, 3, 8, 9, 20}) {
    auto loop = [n](const Tensor &x, const Tensor &w) {
      return sum(for_range(0, n, x, [&](const Tensor &i, const Tensor &y) {
        return tanh(y * w) + for_range(i, 3, x, [&](const Tensor &j, const Tensor &z) {
                 return sin(z) + cast(j, DType::Float32) * y;
               });
      }));
    };
    Tensor x = tensor<float>({0.1f, -0.2f, 0.3f}), w = tensor<float>({1.1f, 0.7f, -0.4f});
    auto compiled = function(value_and_grad(loop));
    auto [value, gradient] = compiled(x, w);
    auto [eagerValue, eagerGradient] = value_and_grad(loop)(x, w);
    expectValues(value, eagerValue.to_vector<float>());
    expectValues(gradient, eagerGradient.to_vector<float>());
  }
}
