// The base of all layers: a body has the variables and the computation, and handles refer to it.
//
//   layers::Dense dense(10);
//   Tensor y = dense(x);                                   // one input, one result
//   Tensor z = layers::Add()({x, y});                      // several inputs
//   auto [h, last] = lstm.apply(x).unpack<2>();            // several results
//
// A layer of your own is a body with a handle:
//
//   struct ScaleBody : layers::LayerBody {
//     ScaleBody() : LayerBody("scale") {}
//     void build(const Shape &input, DType dtype) override { factor = weight("factor", {input.back()}, dtype, ones); }
//     Tensor call(const Tensor &x, const layers::CallOptions &) override { return x * factor; }
//     Variable factor{nullptr};
//   };
//   auto scale = layers::make_layer<ScaleBody>(); // scale->factor
#ifndef CALQUE_LAYERS_LAYER_H
#define CALQUE_LAYERS_LAYER_H

#include "calque/callable.h"
#include "calque/config.h"
#include "calque/constraints.h"
#include "calque/initializers.h"
#include "calque/layers/dtype_policy.h"
#include "calque/module.h"
#include "calque/regularizers.h"
#include "calque/symbolic.h"
#include "calque/tensor_spec.h"
#include "calque/tensors.h"

#include <atomic>
#include <mutex>

namespace calque::layers {

// A bool tensor [N,T] that says which steps of a sequence count. Without a mask, all steps count.
using Mask = std::optional<Tensor>;

struct CallOptions {
  bool training = false;
  Mask mask = std::nullopt;     // of the input, or of the first of several inputs
  std::vector<Mask> masks = {}; // one for each of several inputs; `mask` is ignored then

  // The mask of one of the inputs.
  Mask mask_of(std::size_t input) const;
};

// The object that handles to one layer share: its variables and its computation.
class CALQUE_API LayerBody : public Module {
public:
  // `kind` is the layer's name in messages: "dense". `builds`: the layer has variables.
  explicit LayerBody(std::string kind, bool builds = true);
  CALQUE_STAYS LayerBody(LayerBody &&);
  const std::string &kind() const { return kind_; }
  // Whether the layer has made its variables, and the layers inside of it have made theirs.
  bool built() const;

  // Errors inside name the caller's line. ValueError for another number of inputs than the layer takes.
  Tensors apply(const Tensors &inputs, const CallOptions &options = {},
                SourceLocation where = SourceLocation::current());
  // The result of a layer that has one. ValueError for a layer that has several.
  Tensor call_one(const Tensors &inputs, const CallOptions &options = {},
                  SourceLocation where = SourceLocation::current());
  // Makes the variables for inputs of these types. Without it, the first call makes them.
  void build_for(const std::vector<TensorSpec<>> &inputs, SourceLocation where = SourceLocation::current());
  // The types of the inputs in the first call or build; empty before. For a model with symbolic inputs, these are the
  // inputs' types.
  virtual std::vector<TensorSpec<>> input_specs() const;
  // The results, and a mask for each.
  struct Masked {
    Tensors results;
    std::vector<Mask> masks;
  };
  Masked apply_masked(const Tensors &inputs, const CallOptions &options = {},
                      SourceLocation where = SourceLocation::current());
  // The masks alone.
  std::vector<Mask> masks_for(const Tensors &inputs, const CallOptions &options = {},
                              SourceLocation where = SourceLocation::current());

  // The values that training adds to the loss. These are the values that were passed to add_loss() in the latest call
  // of this layer that came from outside of layers, and the present values of the regularisers of all weights of this
  // layer and of the layers inside.
  std::vector<Tensor> losses(SourceLocation where = SourceLocation::current()) const;

  // The types in which the layer computes and keeps variables: those of set_dtype_policy() when it was made, unless it
  // has its own. StateError for a layer that has made its variables.
  DTypePolicy dtype_policy() const { return policy_; }
  void set_dtype_policy(const DTypePolicy &policy, SourceLocation where = SourceLocation::current());

  // Whether the results for an example may depend on other examples of its batch. By default true for a layer that is
  // not of the library, and for a layer with a part that mixes examples.
  virtual bool mixes_examples(bool training) const;

  // The config from which the layer can be made again: its options, and "name". StateError unless the class overrides
  // it. An override begins with Config{{"name", name()}} and does not call this function.
  virtual Config get_config() const;

protected:
  // Errors in overrides of your own classes name lines of these overrides. Errors in the library's layers name the line
  // of the caller.
  //
  // Layers of one input and one result override these functions. `build` checks the shape and element type of an input
  // and makes the variables for such inputs. It is called once; if it throws, the variables that it has registered are
  // removed.
  virtual void build(const Shape &input, DType dtype);
  virtual Tensor call(const Tensor &x, const CallOptions &options);
  // The mask of the result: none, unless the layer says otherwise.
  virtual Mask compute_mask(const Tensor &x, const Mask &mask);

  // Layers of several inputs or results override these functions. By default they check that there is one input, and
  // call the functions above.
  virtual void build_inputs(const std::vector<TensorSpec<>> &inputs);
  virtual Tensors call_inputs(const Tensors &inputs, const CallOptions &options);
  virtual std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &options);
  // Throws if a mask does not fit its input. By default the layers of the library refuse a mask whose shape is not that
  // of the input's first dimensions.
  virtual void check_mask(const Tensor &mask, const Tensor &input) const;
  // The results and their masks together. A layer that consists of layers overrides it, so that each of its layers is
  // called once.
  virtual Masked call_masked(const Tensors &inputs, const CallOptions &options);
  // Called by build_for(): a layer that consists of layers builds these.
  virtual void build_parts(const std::vector<TensorSpec<>> &inputs);

  // Registers a variable. Its initial value is computed at once, also while tracing.
  Variable weight(std::string name, const Shape &shape, DType dtype, const Initializer &initializer,
                  bool trainable = true, const Regularizer &regularizer = {}, const Constraint &constraint = {},
                  SourceLocation where = SourceLocation::current());
  // In call(): adds a scalar to losses().
  void add_loss(const Operand &value);

  // The regulariser whose value for each result of a call is added to losses(), divided by the number of examples. By
  // default there is none.
  virtual Regularizer activity_regularizer() const { return {}; }
  // In call(): adds a regulariser's value for a tensor that is not a result, divided by the number of examples.
  void add_activity_loss(const Regularizer &regularizer, const Tensor &value);

  // With a policy that mixes: whether the layer casts its inputs and reads variables in the type that it computes in,
  // or leaves that to the layers that it consists of; and whether it computes in the type of its variables, and casts
  // its results.
  virtual bool casts_inputs() const { return true; }
  virtual bool computes_in_full() const { return false; }

  // Whether this is a layer of the library. Errors in its computation then name the line of its caller, otherwise their
  // own lines.
  virtual bool is_of_library() const { return false; }

  std::string oneInputIsTaken(std::size_t given) const;
  // The full name in messages: "dense 'head'", or "dense" for a layer without a name.
  std::string title() const;
  void checkBuilt(SourceLocation where) const override;
  void before_variable() override { name_by_kind(); }
  // Names a layer that has no name. Models override it and get no name, because their variables belong to their layers.
  virtual void name_by_kind() { set_name_by_kind(kind_); }

private:
  friend class Layer;
  template <typename Specs> void ensureBuilt(const Specs &specs, SourceLocation where);
  void regularize(const Tensors &results);
  template <typename Call> auto called(const Tensors &inputs, SourceLocation where, Call call);
  void requireBuiltTypes(const Tensors &inputs) const;
  std::optional<DType> inputType() const;
  std::vector<TensorSpec<>> typesOfBuild(std::vector<TensorSpec<>> inputs) const;
  void checkMasks(const Tensors &inputs, const CallOptions &options) const;
  class Scope;

  std::string kind_;
  DTypePolicy policy_;
  const char *const inMessages; // the kind, for as long as the process lives
  mutable std::mutex building;  // held while building
  std::atomic<bool> built_, hasSpecs = false;
  std::vector<TensorSpec<>> specs_;
  mutable std::mutex losing;
  std::vector<Tensor> losses_;
  std::vector<std::pair<Variable, Regularizer>> regularized;
  std::vector<std::weak_ptr<calque::detail::SymbolicCall>> calls; // in graphs
};

// A shared handle: copies are the same layer, with the same variables.
class CALQUE_API Layer {
public:
  // A body that has no name gets one: see Module::name().
  explicit Layer(std::shared_ptr<LayerBody> body) : body_(std::move(body)) {
    if (body_)
      body_->name_by_kind();
  }

  // The result of a layer that has one. ValueError for a layer that has several. Errors inside name the caller's line.
  Tensor operator()(const Operand &x, const CallOptions &options = {}) const {
    return checked(x.where()).call_one(x.toTensor(), options, x.where());
  }
  Tensor operator()(std::initializer_list<Tensor> inputs, const CallOptions &options = {},
                    SourceLocation where = SourceLocation::current()) const {
    return checked(where).call_one(inputs, options, where);
  }
  template <typename T>
    requires(std::is_same_v<T, Tensors> || std::is_same_v<T, std::vector<Tensor>>)
  Tensor operator()(const T &inputs, const CallOptions &options = {},
                    SourceLocation where = SourceLocation::current()) const {
    return checked(where).call_one(inputs, options, where);
  }
  // All results.
  Tensors apply(const Tensors &inputs, const CallOptions &options = {},
                SourceLocation where = SourceLocation::current()) const {
    return checked(where).apply(inputs, options, where);
  }

  // A call in the graph of a functional model. It builds the layer, and traces a call to find the types of the results.
  // Errors inside name the caller's line.
  SymbolicTensor operator()(const SymbolicTensor &x, SourceLocation where = SourceLocation::current()) const {
    return only(apply(SymbolicTensors(x), where), where);
  }
  SymbolicTensor operator()(std::initializer_list<SymbolicTensor> inputs,
                            SourceLocation where = SourceLocation::current()) const {
    return only(apply(SymbolicTensors(inputs), where), where);
  }
  template <typename T>
    requires(std::is_same_v<T, SymbolicTensors> || std::is_same_v<T, std::vector<SymbolicTensor>>)
  SymbolicTensor operator()(const T &inputs, SourceLocation where = SourceLocation::current()) const {
    return only(apply(inputs, where), where);
  }
  SymbolicTensors apply(const SymbolicTensors &inputs, SourceLocation where = SourceLocation::current()) const;
  // The input and the result of call number `call` of the layer in graphs. StateError for a layer without a call in a
  // graph. ValueError if the layer has several calls and `call` is not given, and if the call has several inputs or
  // results.
  SymbolicTensor input(std::optional<std::size_t> call = std::nullopt,
                       SourceLocation where = SourceLocation::current()) const;
  SymbolicTensor output(std::optional<std::size_t> call = std::nullopt,
                        SourceLocation where = SourceLocation::current()) const;

  // Makes the variables for an input of this shape. Without it, the first call makes them.
  void build(const Shape &input, DType dtype = default_dtype(),
             SourceLocation where = SourceLocation::current()) const {
    checked(where).build_for({TensorSpec<>(dtype, input, {}, where)}, where);
  }
  void build(const std::vector<TensorSpec<>> &inputs, SourceLocation where = SourceLocation::current()) const {
    checked(where).build_for(inputs, where);
  }
  bool built(SourceLocation where = SourceLocation::current()) const { return checked(where).built(); }
  // The mask of the result for an input with a mask.
  Mask compute_mask(const Operand &x, const Mask &mask = std::nullopt) const;

  // See module.h.
  std::vector<Variable> variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).variables(where);
  }
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).trainable_variables(where);
  }
  std::vector<Variable> non_trainable_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).non_trainable_variables(where);
  }
  std::vector<Variable> weights(SourceLocation where = SourceLocation::current()) const {
    return checked(where).weights(where);
  }
  std::vector<std::pair<std::string, Variable>>
  named_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).named_variables(where);
  }
  std::int64_t count_params(SourceLocation where = SourceLocation::current()) const {
    return checked(where).count_params(where);
  }
  std::vector<Tensor> get_weights(SourceLocation where = SourceLocation::current()) const {
    return checked(where).get_weights(where);
  }
  void set_weights(const std::vector<Tensor> &values, SourceLocation where = SourceLocation::current()) const {
    checked(where).set_weights(values, where);
  }
  std::vector<std::shared_ptr<Module>> submodules(SourceLocation where = SourceLocation::current()) const {
    return checked(where).submodules();
  }
  std::vector<Tensor> losses(SourceLocation where = SourceLocation::current()) const {
    return checked(where).losses(where);
  }
  bool trainable(SourceLocation where = SourceLocation::current()) const { return checked(where).trainable(); }
  void set_trainable(bool trainable, SourceLocation where = SourceLocation::current()) const {
    checked(where).set_trainable(trainable);
  }
  const std::string &name(SourceLocation where = SourceLocation::current()) const { return checked(where).name(); }
  // See LayerBody.
  DTypePolicy dtype_policy(SourceLocation where = SourceLocation::current()) const {
    return checked(where).dtype_policy();
  }
  void set_dtype_policy(const DTypePolicy &policy, SourceLocation where = SourceLocation::current()) const {
    checked(where).set_dtype_policy(policy, where);
  }
  // The config from which the layer can be made again. StateError for a class without a config, and for a callable
  // without a name.
  Config get_config(SourceLocation where = SourceLocation::current()) const;

  const std::shared_ptr<LayerBody> &body() const noexcept { return body_; }
  bool same_as(const Layer &other) const noexcept { return body_ == other.body_; }

  // A variable of the layer, by its name: "kernel". StateError before the variables are made, LookupError for another
  // name.
  Variable variable(const std::string &variable_name, SourceLocation where = SourceLocation::current()) const;

protected:
  // StateError for an empty handle, which was moved from or made of a null pointer.
  LayerBody &checked(SourceLocation where) const;

private:
  SymbolicTensor only(const SymbolicTensors &results, SourceLocation where) const;
  std::shared_ptr<calque::detail::SymbolicCall> symbolicCall(std::optional<std::size_t> call,
                                                             SourceLocation where) const;

  std::shared_ptr<LayerBody> body_;
};

} // namespace calque::layers
#endif
