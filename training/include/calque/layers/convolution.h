// Layers that convolve sequences [N,T,C], images [N,H,W,C] and volumes [N,D,H,W,C].
#ifndef CALQUE_LAYERS_CONVOLUTION_H
#define CALQUE_LAYERS_CONVOLUTION_H

#include "calque/activations.h"
#include "calque/layers/extent.h"
#include "calque/layers/layer.h"

namespace calque::layers {

// A layer that has a bias if `use_bias` is true.
class CALQUE_API BiasedLayer : public Layer {
public:
  using Layer::Layer;
  Variable bias(SourceLocation where = SourceLocation::current()) const { return variable("bias", where); }
};
// A layer with a kernel and a bias.
class CALQUE_API KernelLayer : public BiasedLayer {
public:
  using BiasedLayer::BiasedLayer;
  Variable kernel(SourceLocation where = SourceLocation::current()) const { return variable("kernel", where); }
};

template <std::size_t rank> struct ConvLayerOptions {
  Extents<rank> strides = 1;
  // "valid", "same", or for sequences "causal": padding before the first step only, so that no result depends on later
  // steps.
  std::string padding = "valid";
  Extents<rank> dilation_rate = 1; // the distance between elements of a window
  std::int64_t groups = 1;         // a filter reads the channels of its group alone
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};
using Conv1DOptions = ConvLayerOptions<1>;
using Conv2DOptions = ConvLayerOptions<2>;
using Conv3DOptions = ConvLayerOptions<3>;
// activation(conv(x, kernel) + bias): [N,...,C] give [N,...,filters]. The kernel is [..., C / groups, filters].
// ValueError for sizes below one, for another padding, and for a number of filters that the groups do not divide.
// ShapeError for inputs of another rank, for a number of channels that the groups do not divide, and for another number
// of channels than in the first input.
class CALQUE_API Conv1D : public KernelLayer {
public:
  Conv1D(std::int64_t filters, Extents<1> kernel_size, Conv1DOptions options = {},
         SourceLocation where = SourceLocation::current());
};
class CALQUE_API Conv2D : public KernelLayer {
public:
  Conv2D(std::int64_t filters, Extents<2> kernel_size, Conv2DOptions options = {},
         SourceLocation where = SourceLocation::current());
};
class CALQUE_API Conv3D : public KernelLayer {
public:
  Conv3D(std::int64_t filters, Extents<3> kernel_size, Conv3DOptions options = {},
         SourceLocation where = SourceLocation::current());
};

template <std::size_t rank> struct ConvTransposeLayerOptions {
  Extents<rank> strides = 1;
  std::string padding = "valid";                              // or "same"
  std::optional<Extents<rank>> output_padding = std::nullopt; // see conv_transpose()
  Extents<rank> dilation_rate = 1;
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};
using Conv1DTransposeOptions = ConvTransposeLayerOptions<1>;
using Conv2DTransposeOptions = ConvTransposeLayerOptions<2>;
using Conv3DTransposeOptions = ConvTransposeLayerOptions<3>;
// activation(conv_transpose(x, kernel) + bias), which enlarges images by the strides. The kernel is [..., filters, C].
// Errors are those of Conv2D.
class CALQUE_API Conv1DTranspose : public KernelLayer {
public:
  Conv1DTranspose(std::int64_t filters, Extents<1> kernel_size, Conv1DTransposeOptions options = {},
                  SourceLocation where = SourceLocation::current());
};
class CALQUE_API Conv2DTranspose : public KernelLayer {
public:
  Conv2DTranspose(std::int64_t filters, Extents<2> kernel_size, Conv2DTransposeOptions options = {},
                  SourceLocation where = SourceLocation::current());
};
class CALQUE_API Conv3DTranspose : public KernelLayer {
public:
  Conv3DTranspose(std::int64_t filters, Extents<3> kernel_size, Conv3DTransposeOptions options = {},
                  SourceLocation where = SourceLocation::current());
};

template <std::size_t rank> struct DepthwiseConvLayerOptions {
  Extents<rank> strides = 1;
  std::string padding = "valid"; // or "same"
  std::int64_t depth_multiplier = 1;
  Extents<rank> dilation_rate = 1;
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, bias_constraint = {};
  std::string name = {};
};
using DepthwiseConv1DOptions = DepthwiseConvLayerOptions<1>;
using DepthwiseConv2DOptions = DepthwiseConvLayerOptions<2>;
// Convolves each channel with `depth_multiplier` filters of its own. C channels give C * depth_multiplier channels; the
// results of one channel are next to each other. The kernel is [..., C, depth_multiplier]. Errors are those of Conv2D.
class CALQUE_API DepthwiseConv1D : public KernelLayer {
public:
  explicit DepthwiseConv1D(Extents<1> kernel_size, DepthwiseConv1DOptions options = {},
                           SourceLocation where = SourceLocation::current());
};
class CALQUE_API DepthwiseConv2D : public KernelLayer {
public:
  explicit DepthwiseConv2D(Extents<2> kernel_size, DepthwiseConv2DOptions options = {},
                           SourceLocation where = SourceLocation::current());
};

template <std::size_t rank> struct SeparableConvLayerOptions {
  Extents<rank> strides = 1;
  std::string padding = "valid"; // or "same"
  Extents<rank> dilation_rate = 1;
  std::int64_t depth_multiplier = 1;
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  std::string name = {};
};
using SeparableConv1DOptions = SeparableConvLayerOptions<1>;
using SeparableConv2DOptions = SeparableConvLayerOptions<2>;
// A depthwise convolution, then a convolution with a window of one element, the bias and the activation. Errors are
// those of Conv2D.
class CALQUE_API SeparableConv1D : public BiasedLayer {
public:
  SeparableConv1D(std::int64_t filters, Extents<1> kernel_size, SeparableConv1DOptions options = {},
                  SourceLocation where = SourceLocation::current());
  Variable depthwise_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("depthwise_kernel", where);
  }
  Variable pointwise_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("pointwise_kernel", where);
  }
};
class CALQUE_API SeparableConv2D : public BiasedLayer {
public:
  SeparableConv2D(std::int64_t filters, Extents<2> kernel_size, SeparableConv2DOptions options = {},
                  SourceLocation where = SourceLocation::current());
  Variable depthwise_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("depthwise_kernel", where);
  }
  Variable pointwise_kernel(SourceLocation where = SourceLocation::current()) const {
    return variable("pointwise_kernel", where);
  }
};

} // namespace calque::layers
#endif
