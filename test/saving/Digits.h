// The network of MNIST that is saved as a model and as functions, and the data that save-models and resume-models
// train on.
#ifndef CALQUE_TEST_SAVING_DIGITS_H
#define CALQUE_TEST_SAVING_DIGITS_H

#include "calque/training.h"

namespace calque::testing {

// The reference network: six convolutions and two dense layers with batch normalisation.
inline Sequential referenceNetwork(const char *activation) {
  Sequential model({Input({28, 28, 1})});
  for (auto [filters, repeats] : {std::pair(16, 1), {32, 2}, {64, 3}}) {
    for (int i = 0; i < repeats; ++i) {
      model.add(layers::Conv2D(filters, 3, {.padding = "same", .activation = "relu"}));
      model.add(layers::BatchNormalization());
    }
    model.add(layers::MaxPooling2D(2, {.name = "pool_" + std::to_string(filters)}));
  }
  model.add(layers::Flatten());
  model.add(layers::Dense(256, {.activation = "relu"}));
  model.add(layers::BatchNormalization());
  model.add(layers::Dropout(0.5));
  model.add(layers::Dense(10, {.activation = activation}));
  return model;
}

// MNIST from a directory, or its first images; without a directory few images of its type.
inline std::pair<Tensor, Tensor> digits(int argc, char **argv) {
  if (argc > 2) {
    auto [train, test] = data::load_mnist(argv[2]);
    const std::int64_t count = argc > 3 ? std::stoll(argv[3]) : std::int64_t(train.second.shape()[0]);
    return {cast(expand_dims(train.first.rows(0, count), {-1}), DType::Float32) / 255, train.second.rows(0, count)};
  }
  Tensor x = sin(reshape(iota({80 * 28 * 28}, DType::Float32), {80, 28, 28, 1}) * 0.37f);
  return {x, cast(iota({80}, DType::Int64) * 7 % 10, DType::Int32)};
}

// A batch for the graph of save-models.
inline models::Batch sequences() {
  auto waves = [](std::int64_t count, const Shape &shape, float step) {
    return sin(reshape(iota({count}, DType::Float32), shape) * step);
  };
  return {{{"left", waves(5 * 18, {5, 6, 3}, 0.7f)}, {"right", waves(5 * 18, {5, 6, 3}, 1.3f)}},
          {{"class", cast(iota({5}, DType::Int64) % 3, DType::Int32)}, {"score", waves(5, {5, 1}, 0.4f)}}};
}

// What training has made: the model's variables and the optimiser's.
inline std::map<std::string, Tensor> stateOf(const ModelHandle &model) {
  std::map<std::string, Tensor> state;
  for (const auto &[name, variable] : model.named_variables())
    state.emplace("model/" + name, variable.value());
  for (const auto &[name, variable] : model.optimizer().named_variables())
    state.emplace("optimizer/" + name, variable.value());
  return state;
}

} // namespace calque::testing
#endif
