// The data that save-models and resume-models train on.
#ifndef CALQUE_TEST_SAVING_DIGITS_H
#define CALQUE_TEST_SAVING_DIGITS_H

#include "calque/training.h"

namespace calque::testing {

// MNIST from a directory, or without one few images of its type.
inline std::pair<Tensor, Tensor> digits(int argc, char **argv) {
  if (argc > 2) {
    auto [train, test] = data::load_mnist(argv[2]);
    return {cast(expand_dims(train.first, {-1}), DType::Float32) / 255, train.second};
  }
  Tensor x = sin(reshape(iota({80 * 28 * 28}, DType::Float32), {80, 28, 28, 1}) * 0.37f);
  return {x, cast(iota({80}, DType::Int64) * 7 % 10, DType::Int32)};
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
