// save-models DIRECTORY [MNIST]: trains the convolutional network of MNIST for four epochs and writes what it has then
// to expected.safetensors, and again for two epochs, and saves the model as half. resume-models, which has none of the
// code below, trains that on.
#include "calque/safetensors.h"
#include "test/saving/Digits.h"

#include <iostream>

using namespace calque;
using namespace calque::testing;

namespace {

Sequential network() {
  set_seed(1);
  Sequential model({Input({28, 28, 1})});
  int block = 0;
  for (auto [filters, repeats] : {std::pair(16, 1), {32, 2}, {64, 3}}) {
    for (int i = 0; i < repeats; ++i) {
      model.add(layers::Conv2D(filters, 3, {.padding = "same", .activation = "relu"}));
      model.add(layers::BatchNormalization());
    }
    model.add(layers::MaxPooling2D(2, {.name = "pool_" + std::to_string(++block)}));
  }
  model.add(layers::Flatten());
  model.add(layers::Dense(256, {.activation = "relu"}));
  model.add(layers::BatchNormalization());
  model.add(layers::Dropout(0.5));
  model.add(layers::Dense(10, {.activation = "softmax"}));
  model.compile(
      {.optimizer = optimizers::Adam(1e-3), .loss = losses::SparseCategoricalCrossentropy(), .metrics = {"accuracy"}});
  return model;
}

} // namespace

int main(int argc, char **argv) {
  const std::string directory = argv[1];
  auto [x, y] = digits(argc, argv);
  Sequential whole = network();
  whole.fit(x, y, {.batch_size = 64, .epochs = 4, .verbose = argc > 2 ? 2 : 0});
  save_safetensors(directory + "/expected.safetensors", stateOf(whole));
  Sequential half = network();
  half.fit(x, y, {.batch_size = 64, .epochs = 2, .verbose = 0});
  half.save(directory + "/half");
  std::cout << "saved\n";
}
