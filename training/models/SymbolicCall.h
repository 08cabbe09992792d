// What symbolic tensors are results of.
#ifndef CALQUE_TRAINING_MODELS_SYMBOLIC_CALL_H
#define CALQUE_TRAINING_MODELS_SYMBOLIC_CALL_H

#include "calque/layers/layer.h"

namespace calque::detail {

// A call of a layer in a graph, or an input, which has no layer.
struct SymbolicCall {
  std::optional<layers::Layer> layer;
  SymbolicTensors inputs;
  std::vector<TensorSpec<>> results; // with their names
  SourceLocation where;
};

inline SymbolicTensor resultOf(const std::shared_ptr<SymbolicCall> &call, std::size_t result) {
  const TensorSpec<> &spec = call->results[result];
  return {call, result, spec.dtype(), spec.shape(), spec.name()};
}

// The layer of an arithmetic operation of one or two symbolic tensors; of one, a number stands on the other side.
layers::Layer arithmeticLayer(const std::string &operation, std::optional<double> left, std::optional<double> right);

} // namespace calque::detail
#endif
