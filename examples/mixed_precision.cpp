// Layers that compute in 16 bits and keep their variables in float32: by fit(), and in a loop of one's own.
#include <calque/training.h>

#include <cstdio>

using namespace calque;

int main() {
  set_seed(2);
  const Tensor points = random::normal({1024, 8}), labels = cast(sum(square(points), 1) > 8, DType::Int32);

  // All layers that are made from here on.
  layers::set_dtype_policy("mixed_bfloat16");
  layers::Dense scores(2);
  scores.set_dtype_policy("float32"); // but this one
  Sequential net({layers::Dense(64, {.activation = "relu"}), layers::BatchNormalization(), scores});
  net.compile({.optimizer = optimizers::Adam(3e-3),
               .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
               .metrics = {"accuracy"}});
  net.fit(points, labels, {.epochs = 20, .verbose = 0});
  std::printf("accuracy above 0.9: %d\n", net.evaluate(points, labels)["accuracy"] > 0.9);
  std::printf("kernels are %s\n", name_of(net.variables()[0].dtype()));

  // With float16, the gradients of a scaled loss. A step whose gradients overflow changes no weight.
  layers::set_dtype_policy("mixed_float16");
  layers::Dense hidden(64, {.activation = "relu"}), out(2);
  optimizers::Adam adam(3e-3, {}, {.loss_scale = 32768});
  auto weights = [&] {
    std::vector<Variable> all = hidden.trainable_variables();
    for (const Variable &weight : out.trainable_variables())
      all.push_back(weight);
    return all;
  };
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor logits = cast(out(hidden(x)), DType::Float32);
    const Tensor loss = mean(losses::sparse_categorical_crossentropy(y, logits, {.from_logits = true}));
    adam.apply_gradients(tape.gradient(adam.scale_loss(loss), weights()), weights());
    return loss;
  });
  const Tensor first = step(points, labels);
  Tensor last = first;
  for (int i = 0; i < 60; ++i)
    last = step(points, labels);
  std::printf("the loss falls: %d\n", last.item<float>() < 0.7f * first.item<float>());
}
