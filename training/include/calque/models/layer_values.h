// The outputs of all layers of a model, and the gradients with respect to these outputs, in one call. In Keras,
// K.function of all layers' outputs and of K.gradients computes them.
//
//   auto [outputs, gradients] = models::layer_values(model, x);          // of the sum of what the model gives
//   outputs["dense_1"];                                                  // by the names of the layers in the model
//   *gradients.at("dense_1");                                            // of the shape of outputs["dense_1"]
//   models::layer_values(model, x, {.layer = "logits"});                 // of the sum of what a layer gives
//   models::layer_values(model, x, {.target = [&](const Tensors &y) { return loss(labels, y[0]); }, .training = true});
//
// Use it in a function to trace it once: function([&](const Tensor &x) { return models::layer_values(model, x); }).
#ifndef CALQUE_MODELS_LAYER_VALUES_H
#define CALQUE_MODELS_LAYER_VALUES_H

#include "calque/models/model.h"

#include <functional>
#include <map>

namespace calque::models {

struct LayerValuesOptions {
  // The target of the gradients: the sum of the results of the layer with the name `layer`, or the result of the
  // function `target` on the model's results. If neither is given, the target is the sum of all results of the model.
  std::string layer = {};
  std::function<Tensor(const Tensors &results)> target = nullptr;
  bool training = false;
};

// The values of the layers that the model consists of, without layers inside of layers, in the order of their calls.
// The second call of a layer has the name "dense@1". If a layer has several results, their names are "lstm[0]",
// "lstm[1]".
struct LayerValues {
  Tensors outputs;
  // std::nullopt if the target does not depend on the output, and for integers and bools.
  std::map<std::string, std::optional<Tensor>> gradients;
};

// ValueError if both a layer and a target are given. LookupError for a layer that is not called. Other errors are those
// of a call of the model.
CALQUE_API LayerValues layer_values(Model &model, const Tensors &x, LayerValuesOptions options = {},
                                    SourceLocation where = SourceLocation::current());
CALQUE_API LayerValues layer_values(const ModelHandle &model, const Tensors &x, LayerValuesOptions options = {},
                                    SourceLocation where = SourceLocation::current());

} // namespace calque::models
#endif
