// Layers that normalise.
#ifndef CALQUE_LAYERS_NORMALIZATION_H
#define CALQUE_LAYERS_NORMALIZATION_H

#include "calque/layers/layer.h"

namespace calque::layers {

struct BatchNormalizationOptions {
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true; // whether there are beta and gamma
  std::int64_t axis = -1;           // that of the channels
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {}, activity_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta for each channel. In training, mean and (biased) variance are
// those of the batch, where a mask says so of its steps that count, and the moving ones become momentum * moving +
// (1 - momentum) * batch. In inference, and where the layer is not trainable, they are the moving ones. Ioffe, Szegedy:
// Batch normalization, 2015. ShapeError in training for an empty batch; AssertionError at the call where the size of
// the batch is not known while tracing.
class CALQUE_API BatchNormalization : public Layer {
public:
  explicit BatchNormalization(BatchNormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable gamma(SourceLocation where = SourceLocation::current()) const { return variable("gamma", where); }
  Variable beta(SourceLocation where = SourceLocation::current()) const { return variable("beta", where); }
  Variable moving_mean(SourceLocation where = SourceLocation::current()) const {
    return variable("moving_mean", where);
  }
  Variable moving_variance(SourceLocation where = SourceLocation::current()) const {
    return variable("moving_variance", where);
  }
};

struct LayerNormalizationOptions {
  std::vector<std::int64_t> axes = {-1}; // together
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {}, activity_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta, mean and (biased) variance over the axes of each example. Ba,
// Kiros, Hinton: Layer normalization, 2016. ShapeError for axes that are not known, or that there are not.
class CALQUE_API LayerNormalization : public Layer {
public:
  explicit LayerNormalization(LayerNormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable gamma(SourceLocation where = SourceLocation::current()) const { return variable("gamma", where); }
  Variable beta(SourceLocation where = SourceLocation::current()) const { return variable("beta", where); }
};

struct GroupNormalizationOptions {
  std::int64_t groups = 32; // -1: one for each channel
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {}, activity_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
// The same over all elements of an example in each group of channels, the last dimension. Wu, He: Group normalization,
// 2018. ShapeError for channels that the groups don't divide.
class CALQUE_API GroupNormalization : public Layer {
public:
  explicit GroupNormalization(GroupNormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable gamma(SourceLocation where = SourceLocation::current()) const { return variable("gamma", where); }
  Variable beta(SourceLocation where = SourceLocation::current()) const { return variable("beta", where); }
};

} // namespace calque::layers
#endif
