// Layers for all kinds of networks: dense layers, embeddings, activations, and layers that move elements.
//
//   layers::Dense dense(10, {.activation = "softmax", .name = "probabilities"});
//   Tensor y = dense(x);
//   dense.kernel(); // its variables
#ifndef CALQUE_LAYERS_CORE_H
#define CALQUE_LAYERS_CORE_H

#include "calque/activations.h"
#include "calque/layers/layer.h"

namespace calque::layers {

// The options of layers without other options.
struct LayerOptions {
  std::string name = {};
};

struct DenseOptions {
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};
// activation(x * kernel + bias) over the last dimension: [..., in] gives [..., units]. ValueError for fewer than one
// unit. ShapeError for inputs of rank 1, and if the size of the last dimension is not that of the first input.
class CALQUE_API Dense : public Layer {
public:
  explicit Dense(std::int64_t units, DenseOptions options = {}, SourceLocation where = SourceLocation::current());
  // [in, units] and [units]. StateError before they are made; LookupError for the bias of a layer without one.
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer = {}, activity_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false; // the mask of the result is true where the input is not 0
  DType dtype = default_dtype();
  std::string name = {};
};
// A vector for each integer in [0, input_dim): [...] of int32 or int64 gives [..., output_dim]. ValueError for sizes
// below one; DTypeError for other inputs; IndexError for numbers out of range.
class CALQUE_API Embedding : public Layer {
public:
  Embedding(std::int64_t input_dim, std::int64_t output_dim, EmbeddingOptions options = {},
            SourceLocation where = SourceLocation::current());
  Variable embeddings(SourceLocation where = SourceLocation::current()) const { return variable("embeddings", where); }
};

// Reshapes [N, ...] to [N, n].
class CALQUE_API Flatten : public Layer {
public:
  explicit Flatten(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

// Reshapes each example: [N, ...] gives [N, target_shape...]. One size may be -1; it follows from the others.
// ValueError for other negative sizes; ShapeError for examples with another number of elements.
class CALQUE_API Reshape : public Layer {
public:
  explicit Reshape(std::vector<std::int64_t> target_shape, LayerOptions options = {},
                   SourceLocation where = SourceLocation::current());
};

// Permutes the dimensions of each example. As in Keras, they count from 1: {2, 1} transposes [N, a, b] to [N, b, a].
// ValueError for a list that is no permutation; ShapeError for inputs of another rank.
class CALQUE_API Permute : public Layer {
public:
  explicit Permute(std::vector<std::int64_t> dims, LayerOptions options = {},
                   SourceLocation where = SourceLocation::current());
};

// Repeats each example n times: [N, features] gives [N, n, features]. ValueError for n below 1.
class CALQUE_API RepeatVector : public Layer {
public:
  explicit RepeatVector(std::int64_t n, LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

// Applies a function. Masks pass.
class CALQUE_API Activation : public Layer {
public:
  explicit Activation(ActivationFunction function, LayerOptions options = {},
                      SourceLocation where = SourceLocation::current());
};

namespace detail {
template <typename Signature> inline constexpr bool takesSeveral = false;
template <typename R> inline constexpr bool takesSeveral<R(Tensors)> = true;
template <typename R> inline constexpr bool takesSeveral<R(const Tensors &)> = true;
} // namespace detail

// A function of the user as a layer. It takes a single tensor, or several as Tensors. The layer has no config.
class CALQUE_API Lambda : public Layer {
public:
  template <typename F>
    requires(!std::is_base_of_v<Layer, F>)
  explicit Lambda(F f, LayerOptions options = {}, SourceLocation where = SourceLocation::current())
      : Lambda(wrapped(std::move(f)), options, where, 0) {}

private:
  template <typename F> static std::function<Tensors(const Tensors &)> wrapped(F f) {
    if constexpr (detail::takesSeveral<typename calque::detail::CallableTraits<F>::Signature>)
      return [f = std::move(f)](const Tensors &x) mutable { return Tensors(f(x)); };
    else
      return [f = std::move(f)](const Tensors &x) mutable { return Tensors(Tensor(f(x.single()))); };
  }
  Lambda(std::function<Tensors(const Tensors &)> f, LayerOptions options, SourceLocation where, int);
};

// Masks the steps of a sequence [N,T,features] in which all features are `mask_value`, and sets these steps to zero.
class CALQUE_API Masking : public Layer {
public:
  explicit Masking(double mask_value = 0, LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

//===-- Activations as layers -------------------------------------------------------------------===//

struct ReLUOptions {
  std::optional<double> max_value = std::nullopt; // the largest result
  double negative_slope = 0;                      // the slope below the threshold
  double threshold = 0;
  std::string name = {};
};
// ValueError for options below 0.
class CALQUE_API ReLU : public Layer {
public:
  explicit ReLU(ReLUOptions options = {}, SourceLocation where = SourceLocation::current());
};

class CALQUE_API LeakyReLU : public Layer {
public:
  explicit LeakyReLU(double negative_slope = 0.3, LayerOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

class CALQUE_API ELU : public Layer {
public:
  explicit ELU(double alpha = 1, LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

class CALQUE_API Softmax : public Layer {
public:
  explicit Softmax(std::int64_t axis = -1, LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  std::vector<std::int64_t> shared_axes = {}; // all places along these axes share a slope; axes count from 1
  std::string name = {};
};
// x, or alpha * x below 0. alpha has a slope for each element of an example. He, Zhang, Ren, Sun: Delving deep into
// rectifiers, 2015.
class CALQUE_API PReLU : public Layer {
public:
  explicit PReLU(PReLUOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable alpha(SourceLocation where = SourceLocation::current()) const { return variable("alpha", where); }
};

} // namespace calque::layers
#endif
