// Layers that convolve.
#ifndef CALQUE_LAYERS_CONVOLUTION_H
#define CALQUE_LAYERS_CONVOLUTION_H

#include "calque/activations.h"
#include "calque/layers/extent.h"
#include "calque/layers/layer.h"

namespace calque::layers {

struct Conv2DOptions {
  Extent strides = 1;
  std::string padding = "valid"; // or "same"
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  std::string name = {};
};
// activation(conv2d(x, kernel) + bias): images [N,H,W,C] give [N,H',W',filters]. ValueError for sizes below one and
// another padding; ShapeError for inputs that are no images, and for other channels than those of the first input.
class CALQUE_API Conv2D : public Layer {
public:
  Conv2D(std::int64_t filters, Extent kernel_size, Conv2DOptions options = {},
         SourceLocation where = SourceLocation::current());
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};

struct Conv1DOptions {
  std::int64_t strides = 1;
  std::string padding =
      "valid"; // or "same", "causal": as much before as the window sees, so that no step sees later ones
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  std::string name = {};
};
// The same of sequences: [N,T,C] give [N,T',filters].
class CALQUE_API Conv1D : public Layer {
public:
  Conv1D(std::int64_t filters, std::int64_t kernel_size, Conv1DOptions options = {},
         SourceLocation where = SourceLocation::current());
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};

} // namespace calque::layers
#endif
