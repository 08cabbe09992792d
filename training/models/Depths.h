// The order in which Keras has the layers of a graph.
#ifndef CALQUE_TRAINING_MODELS_DEPTHS_H
#define CALQUE_TRAINING_MODELS_DEPTHS_H

#include "SymbolicCall.h"

namespace calque::detail {

// Inputs and calls of layers as Keras' Functional orders them (map_graph in its ops/function.py): by the number of
// calls to the end of the graph, the most first, where a layer that is called again counts as the farthest of its calls
// so far; and in the same distance by where a search from the outputs back meets the layer first. Each comes after
// those that it needs. Outputs that all have names are searched from in the order of the names, as those of a
// dictionary in Keras.
std::vector<std::shared_ptr<SymbolicCall>> inDepthOrder(const std::vector<std::shared_ptr<SymbolicCall>> &inputs,
                                                        const SymbolicTensors &outputs);

} // namespace calque::detail
#endif
