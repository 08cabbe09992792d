#include <calque/training.h>

#include <cstdio>

using namespace calque;

int main() {
  set_seed(1);
  auto [x, y] = *data::fashion_mnist("train").batch(8000).begin();
  auto [test_x, test_y] = *data::fashion_mnist("test").batch(2000).begin();
  Sequential model(
      {layers::Flatten(), layers::Dense(128, {.activation = "relu"}), layers::Dropout(0.2), layers::Dense(10)});
  model.compile({.optimizer = "adam",
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  callbacks::EarlyStopping early({.patience = 2, .restore_best_weights = true});
  model.fit(x, y, {.batch_size = 64, .epochs = 4, .callbacks = {early}, .validation_split = 0.1});
  auto [loss, accuracy] = model.evaluate(test_x, test_y).unpack<2>();
  std::printf("%s\n", accuracy > 0.8 ? "accuracy above 0.8" : "accuracy too low");
  for (double each : model.history().history.at("val_loss"))
    std::printf("%.1f ", each);
  std::printf("\n");
}
