// Layers one after the other.
//
//   Sequential net{Input({28, 28}), layers::Flatten(), layers::Dense(10)}; // is built by its input, or
//   Sequential other{layers::Flatten(), layers::Dense(10)};                // by build() or the first call
//   other.build({kDynamic, 28, 28});
//   other.get_layer("dense").output();                                     // for other models on the same layers
#ifndef CALQUE_MODELS_SEQUENTIAL_H
#define CALQUE_MODELS_SEQUENTIAL_H

#include "calque/models/model.h"

namespace calque {
namespace models {

// A part of a Sequential: a layer, a module of your own with an operator() on a tensor, or as the first part the input.
class CALQUE_API SequentialPart {
public:
  template <std::derived_from<layers::Layer> L> SequentialPart(const L &layer) : layer_(layer) {}
  template <std::derived_from<Module> M>
    requires(!std::derived_from<M, layers::LayerBody> && std::is_invocable_r_v<Tensor, M &, const Tensor &>)
  SequentialPart(std::shared_ptr<M> module, SourceLocation where = SourceLocation::current())
      : SequentialPart(module, [module](const Tensor &x) { return Tensor((*module)(x)); }, where) {}
  template <std::derived_from<layers::LayerBody> B>
  SequentialPart(std::shared_ptr<B> body) : layer_(layers::Layer(std::move(body))) {}
  SequentialPart(const SymbolicTensor &input) : input_(input) {}

  const std::optional<layers::Layer> &layer() const { return layer_; }
  const std::optional<SymbolicTensor> &input() const { return input_; }

private:
  SequentialPart(std::shared_ptr<Module> module, std::function<Tensor(const Tensor &)> call, SourceLocation where);
  std::optional<layers::Layer> layer_; // or
  std::optional<SymbolicTensor> input_;
};

// A model that calls its layers one after the other. Layers without a name get one: "dense", "dense_1". A layer may
// occur more than once. The mask of a layer's result is passed to the next layer.
class CALQUE_API Sequential : public ModelHandle {
public:
  Sequential(std::initializer_list<SequentialPart> parts = {}, SourceLocation where = SourceLocation::current());
  // ValueError for an input that is not the first part, and for a layer that this model is a part of.
  void add(const SequentialPart &part, SourceLocation where = SourceLocation::current());

  // The graph of the layers. Input() or build() makes it; otherwise the first call makes it, with an unknown batch
  // size. StateError before.
  SymbolicTensor input(SourceLocation where = SourceLocation::current()) const;
  SymbolicTensor output(SourceLocation where = SourceLocation::current()) const;
  SymbolicTensors inputs(SourceLocation where = SourceLocation::current()) const { return input(where); }
  SymbolicTensors outputs(SourceLocation where = SourceLocation::current()) const { return output(where); }
};

} // namespace models

using models::Sequential;
namespace layers {
using calque::Input;
using models::Sequential;
} // namespace layers

} // namespace calque
#endif
