// A model that trains in parts: after each of them it is saved, loaded as by another program, and trained on.
#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

// A function of one's own goes by a name, which each program that uses the file has to know.
Tensor worst(const Tensor &y_true, const Tensor &y_pred) { return max(abs(y_true - y_pred), {-1}); }

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "calque-saving-models-example";
  std::filesystem::remove_all(folder);
  metrics::register_metric("worst", worst);
  set_seed(1);
  Tensor x = random::uniform({256, 1}, {.minval = -1}), y = sin(3 * x);
  Sequential model({Input({1}), layers::Dense(16, {.activation = "tanh"}), layers::Dropout(0.1), layers::Dense(1)});
  model.compile({.optimizer = optimizers::Adam(0.02), .loss = "mse", .metrics = {"worst"}});

  // Two epochs, and the best model of them by the validation's loss.
  callbacks::ModelCheckpoint best(folder + "/best-{epoch:02d}", {.save_best_only = true});
  model.fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = {best}, .validation_split = 0.25});
  model.save(folder + "/net");

  // Two more here, and two more of what was saved: the same bits.
  model.fit(x, y, {.epochs = 4, .verbose = 0, .validation_split = 0.25, .initial_epoch = 2});
  ModelHandle loaded = load_model(folder + "/net", {.restore_generator = true});
  loaded.fit(x, y, {.epochs = 4, .verbose = 0, .validation_split = 0.25, .initial_epoch = 2});
  const bool isSame = loaded.evaluate(x, y)["loss"] == model.evaluate(x, y)["loss"];
  std::cout << (isSame ? "the same" : "another") << " loss\n" << loaded.layers().size() << " layers\n";

  // The weights alone.
  model.save_weights(folder + "/weights");
  Sequential other({Input({1}), layers::Dense(16, {.activation = "tanh"}), layers::Dense(1, {.name = "out"})});
  other.load_weights(folder + "/weights", {.names = {{"dense_1/kernel", "out/kernel"}, {"dense_1/bias", "out/bias"}}});
  std::cout << (max(abs(other(x) - model(x))).item<float>() < 1e-6f ? "the same" : "other") << " predictions\n";

  // Functions, for programs without the training library.
  model.export_functions(folder + "/net.calque");
  std::filesystem::remove_all(folder);
}
