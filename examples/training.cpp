#include <calque/training.h>

#include <cstdio>

using namespace calque;

// Two layers with dropout in between, and a scale of its own.
struct Classifier : Module {
  Variable scale = variable("scale", ones({}));
  layers::Dense hidden =
      submodule("hidden", layers::Dense(32, {.activation = "relu", .kernel_initializer = he_normal}));
  layers::Dropout dropout = submodule("dropout", layers::Dropout(0.1));
  layers::Dense head = submodule("head", layers::Dense(2));

  Tensor operator()(const Tensor &x, layers::CallOptions options = {}) const {
    return head(dropout(hidden(x * scale), options));
  }
};

int main() {
  set_seed(1);
  // Points of the plane: which of them lie in the unit circle?
  Tensor points = random::uniform({1200, 2}, {.minval = -1.5, .maxval = 1.5});
  Tensor inside = cast(sum(square(points), {1}) < 1, DType::Int32);
  data::Dataset all = data::from_tensor_slices(points, inside);
  data::Dataset train = all.shuffle(1200).batch(40).prefetch(2);

  Classifier net;
  optimizers::Adam adam(0.01);
  losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
  metrics::Mean loss;
  metrics::SparseCategoricalAccuracy accuracy;
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor l = crossentropy(y, net(x, {.training = true}));
    auto weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(l, weights), weights);
    loss.update_state(l);
  });
  auto test = function([&](const Tensor &x, const Tensor &y) { accuracy.update_state(y, net(x)); });

  for (int epoch = 1; epoch <= 9; ++epoch) {
    loss.reset_state();
    for (auto [x, y] : train)
      step(x, y);
    if (epoch % 3 == 0)
      std::printf("epoch %d  loss %.2f\n", epoch, loss.result().item<float>());
  }
  for (auto [x, y] : all.batch(400))
    test(x, y);
  std::printf("%s\n", accuracy.result().item<float>() > 0.95f ? "accuracy above 0.95" : "accuracy too low");
  for (const auto &[name, variable] : net.named_variables())
    std::printf("%s ", name.c_str());
  std::printf("\n");
}
