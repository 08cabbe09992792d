// Layers that normalise.
#ifndef CALQUE_LAYERS_NORMALIZATION_H
#define CALQUE_LAYERS_NORMALIZATION_H

#include "calque/layers/layer.h"

namespace calque::layers {

struct BatchNormalizationOptions {
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true; // whether the layer has beta, and gamma
  std::int64_t axis = -1;           // the axis of the channels
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {}, activity_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta for each channel. In training, mean and (biased) variance are
// those of the batch; with a mask, of the steps that count. The moving ones become momentum * moving + (1 - momentum) *
// batch. In inference, and if the layer is not trainable, mean and variance are the moving ones. Ioffe, Szegedy: Batch
// normalization, 2015. In training, ShapeError for an empty batch, or AssertionError at the call if the batch size is
// unknown while tracing.
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
  std::vector<std::int64_t> axes = {-1}; // mean and variance are over all of these axes
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = "zeros", gamma_initializer = "ones";
  Regularizer beta_regularizer = {}, gamma_regularizer = {}, activity_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta, with mean and (biased) variance over the axes of each example.
// Ba, Kiros, Hinton: Layer normalization, 2016. ShapeError for axes of unknown size, and for axes that the input lacks.
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
// The same formula, with mean and variance over all elements of an example in each group of channels. Channels are the
// last dimension. Wu, He: Group normalization, 2018. ShapeError for a number of channels that the groups don't divide.
class CALQUE_API GroupNormalization : public Layer {
public:
  explicit GroupNormalization(GroupNormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  Variable gamma(SourceLocation where = SourceLocation::current()) const { return variable("gamma", where); }
  Variable beta(SourceLocation where = SourceLocation::current()) const { return variable("beta", where); }
};

} // namespace calque::layers
#endif
