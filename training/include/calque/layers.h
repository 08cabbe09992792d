// Layers: functions with variables, which they make at their first call from the shape of the input.
//
//   layers::Sequential net({
//       layers::Conv2D(16, 3, {.padding = "same", .activation = "relu"}),
//       layers::BatchNormalization(),
//       layers::MaxPool2D(2),
//       layers::Flatten(),
//       layers::Dropout(0.5),
//       layers::Dense(10),
//   });
//   Tensor logits = net(x, {.training = true}); // batch statistics and dropout; without the option, neither
//   net.trainable_variables();
//
// A layer of one's own is a body with a handle:
//
//   struct ScaleBody : layers::LayerBody {
//     ScaleBody() : LayerBody("scale") {}
//     void build(const Shape &input, DType dtype) override { factor = weight("factor", {input.back()}, dtype, ones); }
//     Tensor call(const Tensor &x, layers::CallOptions) override { return x * factor; }
//     Variable factor{nullptr};
//   };
//   layers::Layer scale(std::make_shared<ScaleBody>());
#ifndef CALQUE_LAYERS_H
#define CALQUE_LAYERS_H

#include "calque/callable.h"
#include "calque/initializers.h"
#include "calque/module.h"
#include "calque/random.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace calque::layers {

struct CallOptions {
  bool training = false;
};

// The object that handles to one layer share: its variables and its computation.
class CALQUE_API LayerBody : public Module {
public:
  // `kind` is its name in messages: "dense". A layer without variables has nothing to build.
  explicit LayerBody(std::string kind, bool builds = true);
  const std::string &kind() const { return kind_; }
  bool built() const { return built_.load(std::memory_order_acquire); }

protected:
  // Checks the shape and element type of an input and makes the variables for such inputs. Called once; if it throws,
  // the variables that it has registered are removed.
  virtual void build(const Shape & /*input*/, DType /*dtype*/) {}
  virtual Tensor call(const Tensor &x, CallOptions options) = 0;
  // Builds for inputs of a shape, without a call. A layer that consists of layers builds those.
  virtual void buildFor(const Shape &input, DType dtype) { ensureBuilt(input, dtype); }

  // Registers a variable. Its initial value is computed at once, also while tracing.
  Variable weight(std::string name, const Shape &shape, DType dtype, const Initializer &initializer,
                  bool trainable = true);

  // Its full name in messages: "dense 'head'".
  std::string title() const;
  void checkBuilt(SourceLocation where) const override;

private:
  friend class Layer;
  void ensureBuilt(const Shape &input, DType dtype);

  std::string kind_;
  const char *const inMessages; // the kind, for as long as the process lives
  std::mutex mutex_;            // held while building
  std::atomic<bool> built_;
};

// A shared handle: copies are the same layer, with the same variables.
class CALQUE_API Layer {
public:
  explicit Layer(std::shared_ptr<LayerBody> body) : body_(std::move(body)) {}

  // Errors inside name the caller's line.
  Tensor operator()(const Operand &x, CallOptions options = {}) const;
  // Makes the variables for inputs of such a shape; otherwise the first call makes them.
  void build(const Shape &input, DType dtype = DType::Float32, SourceLocation where = SourceLocation::current()) const;
  bool built(SourceLocation where = SourceLocation::current()) const { return checked(where).built(); }

  // As of a module.
  std::vector<Variable> variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).variables(where);
  }
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).trainable_variables(where);
  }
  std::vector<std::pair<std::string, Variable>>
  named_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).named_variables(where);
  }
  const std::string &name(SourceLocation where = SourceLocation::current()) const { return checked(where).name(); }
  const std::shared_ptr<LayerBody> &body() const noexcept { return body_; }
  bool same_as(const Layer &other) const noexcept { return body_ == other.body_; }

protected:
  // StateError for an empty handle: one that was moved from, or made of a null pointer.
  LayerBody &checked(SourceLocation where) const;

private:
  std::shared_ptr<LayerBody> body_;
};

// "linear", "relu", "gelu", "sigmoid", "tanh", "softmax" (over the last axis), or a callable on a tensor. ValueError
// for another name.
class CALQUE_API ActivationFunction {
public:
  ActivationFunction(const char *name, SourceLocation where = SourceLocation::current());
  template <typename F>
    requires(!std::is_same_v<F, ActivationFunction> && std::is_invocable_r_v<Tensor, F, const Tensor &>)
  ActivationFunction(F f, SourceLocation where = SourceLocation::current()) : apply_(std::move(f)) {
    calque::detail::requireCallable(apply_, "activation", where);
  }
  Tensor operator()(const Tensor &x) const { return apply_(x); }

private:
  std::function<Tensor(const Tensor &)> apply_;
};

// Height and width; one number means both.
struct Extent {
  std::int64_t height, width;
  Extent(std::int64_t both) : height(both), width(both) {}
  Extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
};

struct DenseOptions {
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = glorot_uniform;
  Initializer bias_initializer = zeros;
};
// activation(x * kernel + bias) over the last dimension: [..., in] gives [..., units]. ValueError for fewer than one
// unit; ShapeError for inputs of rank 1, and for another last dimension than that of the first input.
class CALQUE_API Dense : public Layer {
public:
  explicit Dense(std::int64_t units, DenseOptions options = {}, SourceLocation where = SourceLocation::current());
};

struct Conv2DOptions {
  Extent strides = 1;
  std::string padding = "valid"; // or "same"
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = glorot_uniform;
  Initializer bias_initializer = zeros;
};
// activation(conv2d(x, kernel) + bias): images [N,H,W,C] give [N,H',W',filters]. ValueError for sizes below one and
// another padding; ShapeError for inputs that are no images, and for other channels than those of the first input.
class CALQUE_API Conv2D : public Layer {
public:
  Conv2D(std::int64_t filters, Extent kernel_size, Conv2DOptions options = {},
         SourceLocation where = SourceLocation::current());
};

struct MaxPool2DOptions {
  std::optional<Extent> strides = std::nullopt; // the window's size unless given
  std::string padding = "valid";                // or "same"
};
// The largest element of each window of images [N,H,W,C].
class CALQUE_API MaxPool2D : public Layer {
public:
  explicit MaxPool2D(Extent pool_size = 2, MaxPool2DOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

struct BatchNormalizationOptions {
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true; // whether there are beta and gamma
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta for each channel, the last dimension. In training, mean and
// (biased) variance are those of the batch, and the moving ones become momentum * moving + (1 - momentum) * batch. In
// inference, they are the moving ones. Ioffe, Szegedy: Batch normalization, 2015. ShapeError in training for an empty
// batch; AssertionError at the call where the size of the batch is not known while tracing.
class CALQUE_API BatchNormalization : public Layer {
public:
  explicit BatchNormalization(BatchNormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
};

struct DropoutOptions {
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
};
// In training, each element is zero with probability `rate`, else x / (1 - rate), by the layer's own generator. In
// inference, the result is x. ValueError unless 0 <= rate < 1.
class CALQUE_API Dropout : public Layer {
public:
  explicit Dropout(double rate, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};

// Reshapes [N, ...] to [N, n].
class CALQUE_API Flatten : public Layer {
public:
  Flatten();
};

class CALQUE_API Activation : public Layer {
public:
  explicit Activation(ActivationFunction function);
};

// Layers one after the other. Those without a name get one: "dense", "dense_1". A layer may occur more than once.
class CALQUE_API Sequential : public Layer {
public:
  Sequential(std::initializer_list<Layer> layers = {}, SourceLocation where = SourceLocation::current());
  void add(const Layer &layer, SourceLocation where = SourceLocation::current());
  const std::vector<Layer> &layers(SourceLocation where = SourceLocation::current()) const;
};

} // namespace calque::layers
#endif
