// A program outside of the project that trains: one weight of a line.
#include <calque/training.h>

int main() {
  using namespace calque;
  layers::Dense line(1, {.use_bias = false, .kernel_initializer = ones});
  optimizers::SGD sgd(0.25);
  Tensor x = reshape(tensor({1.0f, -1.0f}), {2, 1});
  auto step = function([&] {
    GradientTape tape;
    Tensor loss = mean(square(line(x) - 3 * x));
    auto weights = line.trainable_variables();
    sgd.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  });
  // The gradient is 2 (w - 3): each step halves the distance, and quarters the loss.
  if (step().item<float>() != 4 || step().item<float>() != 1)
    return 1;
  return line.trainable_variables()[0].value().item<float>() != 2.5f;
}
