// Functional models: graphs of layers, from symbolic inputs to symbolic outputs.
//
//   SymbolicTensor image = Input({28, 28}, {.name = "image"}), age = Input({1}, {.name = "age"});
//   SymbolicTensor x = layers::Dense(32, {.activation = "relu"})(layers::Flatten()(image));
//   SymbolicTensor both = layers::Concatenate()({x, age});
//   models::Functional model({image, age}, {{"class", layers::Dense(10)(both)}, {"score", layers::Dense(1)(x)}});
//   Tensors y = model.apply({{"image", images}, {"age", ages}}); // or in the order of the inputs
//   y["class"];
//
//   models::Functional features(model.inputs(), model.get_layer("flatten").output()); // shares the layers
#ifndef CALQUE_MODELS_FUNCTIONAL_H
#define CALQUE_MODELS_FUNCTIONAL_H

#include "calque/models/model.h"

namespace calque::models {

struct FunctionalOptions {
  std::string name = {};
};

// A functional model: the layers of the graph are its parts. Layers without a name get one, "dense", "dense_1", in the
// order of their calls. layers(), summary() and weights() list the layers in Keras' order: layers with more calls
// between them and the end of the graph come first; among equals, the order is that of a search from the outputs back.
// Arguments must have the types of the inputs (else ShapeError or DTypeError). They are matched by name if they have
// names, else by position. LookupError for a name that no input has. Masks pass along the graph.
//
// ValueError for no inputs or no outputs, for an input that is a layer's result, and for an output that depends on an
// input that is not in the list.
class CALQUE_API Functional : public ModelHandle {
public:
  Functional(const SymbolicTensors &inputs, const SymbolicTensors &outputs, FunctionalOptions options = {},
             SourceLocation where = SourceLocation::current());

  const SymbolicTensors &inputs(SourceLocation where = SourceLocation::current()) const;
  const SymbolicTensors &outputs(SourceLocation where = SourceLocation::current()) const;
  // The only input, and the only output. ValueError if there are several.
  SymbolicTensor input(SourceLocation where = SourceLocation::current()) const;
  SymbolicTensor output(SourceLocation where = SourceLocation::current()) const;
};

} // namespace calque::models
#endif
