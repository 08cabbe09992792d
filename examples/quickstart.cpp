#include <calque/calque.h>

#include <cstdio>
#include <vector>

using namespace calque;

int main() {
  // Exclusive or, learned by a perceptron with one hidden layer of four.
  Tensor x = tensor<float>({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2}), y = tensor<float>({0, 1, 1, 0}, {4, 1});
  Variable w1(tensor<float>({0.6f, -0.4f, 0.9f, -0.7f, 0.5f, 0.8f, -0.6f, -0.3f}, {2, 4})), b1(zeros({4}));
  Variable w2(tensor<float>({0.7f, -0.5f, 0.4f, -0.9f}, {4, 1})), b2(zeros({1}));
  std::vector<Variable> weights = {w1, b1, w2, b2};

  auto predict = function([&](const Tensor &x) { return sigmoid(matmul(tanh(matmul(x, w1) + b1), w2) + b2); });
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = mean(square(predict(x) - y));
    auto gradients = tape.gradient(loss, weights);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i].assign_sub(*gradients[i] * 2);
    return loss;
  });

  for (int i = 0; i <= 2000; ++i)
    if (Tensor loss = step(x, y); i % 500 == 0) // the first call compiles, the others run native code
      std::printf("step %4d  loss %.4f\n", i, loss.item<float>());
  for (float p : predict(x).to_vector<float>())
    std::printf("%.0f ", p);
  std::printf("= 0 xor 0, 0 xor 1, 1 xor 0, 1 xor 1\n");
}
