#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

// Trains up to a step, from where the last run has stopped, and gives the loss.
float train(const std::string &folder, std::int64_t last) {
  set_seed(1);
  Tensor x = random::uniform({64, 1}, {.minval = -1}), y = sin(3 * x);
  data::Dataset batches = data::from_tensor_slices(x, y).shuffle(64).repeat().batch(16);
  auto at = batches.begin();
  Sequential model({layers::Dense(16, {.activation = "tanh"}), layers::Dropout(0.1), layers::Dense(1)});
  model.build(Shape{16, 1});
  optimizers::Adam adam(0.02);
  metrics::Mean mean_loss("loss");
  std::int64_t step = 0;

  Checkpoint checkpoint{{"model", model}, {"adam", adam}, {"loss", mean_loss}, {"data", at}, {"step", step}};
  CheckpointManager manager(checkpoint, folder, {.max_to_keep = 2});
  manager.restore_or_initialize();

  auto update = function([&](const Tensor &x, const Tensor &y) {
    return adam.minimize([&] { return mean(square(model(x, {.training = true}) - y)); }, model.trainable_variables());
  });
  while (step < last) {
    auto [inputs, targets] = *at;
    mean_loss(update(inputs, targets));
    ++at;
    if (++step % 20 == 0)
      manager.save({}, {.enable_async = true}); // a thread writes while training goes on
  }
  checkpoint.wait();
  return mean_loss.result().item<float>();
}

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "calque-saving-example";
  std::filesystem::remove_all(folder);

  // A value, and the same again.
  Variable x(2.0);
  Checkpoint checkpoint{{"x", x}};
  std::string path = checkpoint.save(folder + "/first/");
  x.assign(11.0);
  checkpoint.restore(path);
  std::cout << std::filesystem::path(path).filename().string() << ' ' << x << '\n';

  // Training in two parts is training in one.
  train(folder + "/parts", 40);
  std::cout << (train(folder + "/parts", 80) == train(folder + "/whole", 80) ? "the same" : "another") << " loss\n";

  // Weights for others, and from others.
  save_safetensors(folder + "/w.safetensors", {{"w", ones({2, 3})}, {"x", x}}, {{"made by", "Calque"}});
  for (const auto &[name, tensor] : load_safetensors(folder + "/w.safetensors"))
    std::cout << name << ' ' << tensor.shape() << '\n';
  std::filesystem::remove_all(folder);
}
