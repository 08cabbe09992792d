// What the layers of a model give, and the gradients with respect to it, in one call: Keras' K.function of the outputs
// of all layers and of K.gradients.
//
//   auto [outputs, gradients] = models::layer_values(model, x);          // of the sum of what the model gives
//   outputs["dense_1"];                                                  // by the names of the layers in the model
//   *gradients.at("dense_1");                                            // of the shape of outputs["dense_1"]
//   models::layer_values(model, x, {.layer = "logits"});                 // of the sum of what a layer gives
//   models::layer_values(model, x, {.target = [&](const Tensors &y) { return loss(labels, y[0]); }, .training = true});
//
// In a function, function([&](const Tensor &x) { return models::layer_values(model, x); }), it is traced once.
#ifndef CALQUE_MODELS_LAYER_VALUES_H
#define CALQUE_MODELS_LAYER_VALUES_H

#include "calque/models/model.h"

#include <functional>
#include <map>

namespace calque::models {

struct LayerValuesOptions {
  // What the gradients are of: the sum of the results of a layer, or what this makes of the model's results; the sum of
  // all that the model gives unless one of the two is given.
  std::string layer = {};
  std::function<Tensor(const Tensors &results)> target = nullptr;
  bool training = false;
};

// The layers that the model consists of, not those inside of them, in the order of their calls. The second call of a
// layer is "dense@1". The results of one that gives several are "lstm[0]", "lstm[1]".
struct LayerValues {
  Tensors outputs;
  // None where the target does not depend on the output, and for integers and bools.
  std::map<std::string, std::optional<Tensor>> gradients;
};

// ValueError for a layer and a target; LookupError for a layer that is not called. Otherwise as a call of the model.
CALQUE_API LayerValues layer_values(Model &model, const Tensors &x, LayerValuesOptions options = {},
                                    SourceLocation where = SourceLocation::current());
CALQUE_API LayerValues layer_values(const ModelHandle &model, const Tensors &x, LayerValuesOptions options = {},
                                    SourceLocation where = SourceLocation::current());

} // namespace calque::models
#endif
