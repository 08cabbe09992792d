// Layers that compute the largest element or the mean of each window, or of each channel. Masks do not pass. Only
// GlobalAveragePooling1D uses a mask.
#ifndef CALQUE_LAYERS_POOLING_H
#define CALQUE_LAYERS_POOLING_H

#include "calque/layers/core.h"
#include "calque/layers/extent.h"

namespace calque::layers {

template <std::size_t rank> struct PoolLayerOptions {
  std::optional<Extents<rank>> strides = std::nullopt; // the window's size unless given
  std::string padding = "valid";                       // or "same"
  std::string name = {};
};
namespace detail {
// The first member of the options, so that options must be named: `{2, 3}` is a window.
struct ByName {
  explicit ByName() = default;
};
} // namespace detail
// Options that include the size of the window: MaxPooling2D({.padding = "same"}).
template <std::size_t rank> struct PoolWindowOptions {
  detail::ByName by_name = detail::ByName();
  Extents<rank> pool_size = 2;
  std::optional<Extents<rank>> strides = std::nullopt;
  std::string padding = "valid";
  std::string name = {};
};
using MaxPool1DOptions = PoolLayerOptions<1>;
using MaxPool2DOptions = PoolLayerOptions<2>;
using MaxPool3DOptions = PoolLayerOptions<3>;
using AveragePooling1DOptions = PoolLayerOptions<1>;
using AveragePooling2DOptions = PoolLayerOptions<2>;
using AveragePooling3DOptions = PoolLayerOptions<3>;
// The largest element of each window of sequences [N,T,C], images [N,H,W,C] or volumes [N,D,H,W,C]. ValueError for
// sizes below one and for another padding. ShapeError for inputs of another rank.
class CALQUE_API MaxPool1D : public Layer {
public:
  explicit MaxPool1D(Extents<1> pool_size = 2, PoolLayerOptions<1> options = {},
                     SourceLocation where = SourceLocation::current());
  explicit MaxPool1D(PoolWindowOptions<1> options, SourceLocation where = SourceLocation::current())
      : MaxPool1D(options.pool_size, {options.strides, options.padding, options.name}, where) {}
};
class CALQUE_API MaxPool2D : public Layer {
public:
  explicit MaxPool2D(Extents<2> pool_size = 2, PoolLayerOptions<2> options = {},
                     SourceLocation where = SourceLocation::current());
  explicit MaxPool2D(PoolWindowOptions<2> options, SourceLocation where = SourceLocation::current())
      : MaxPool2D(options.pool_size, {options.strides, options.padding, options.name}, where) {}
};
class CALQUE_API MaxPool3D : public Layer {
public:
  explicit MaxPool3D(Extents<3> pool_size = 2, PoolLayerOptions<3> options = {},
                     SourceLocation where = SourceLocation::current());
  explicit MaxPool3D(PoolWindowOptions<3> options, SourceLocation where = SourceLocation::current())
      : MaxPool3D(options.pool_size, {options.strides, options.padding, options.name}, where) {}
};
// The mean of each window. Padding does not count.
class CALQUE_API AveragePooling1D : public Layer {
public:
  explicit AveragePooling1D(Extents<1> pool_size = 2, PoolLayerOptions<1> options = {},
                            SourceLocation where = SourceLocation::current());
  explicit AveragePooling1D(PoolWindowOptions<1> options, SourceLocation where = SourceLocation::current())
      : AveragePooling1D(options.pool_size, {options.strides, options.padding, options.name}, where) {}
};
class CALQUE_API AveragePooling2D : public Layer {
public:
  explicit AveragePooling2D(Extents<2> pool_size = 2, PoolLayerOptions<2> options = {},
                            SourceLocation where = SourceLocation::current());
  explicit AveragePooling2D(PoolWindowOptions<2> options, SourceLocation where = SourceLocation::current())
      : AveragePooling2D(options.pool_size, {options.strides, options.padding, options.name}, where) {}
};
class CALQUE_API AveragePooling3D : public Layer {
public:
  explicit AveragePooling3D(Extents<3> pool_size = 2, PoolLayerOptions<3> options = {},
                            SourceLocation where = SourceLocation::current());
  explicit AveragePooling3D(PoolWindowOptions<3> options, SourceLocation where = SourceLocation::current())
      : AveragePooling3D(options.pool_size, {options.strides, options.padding, options.name}, where) {}
};
using MaxPooling1D = MaxPool1D;
using MaxPooling2D = MaxPool2D;
using MaxPooling3D = MaxPool3D;
using AvgPool1D = AveragePooling1D;
using AvgPool2D = AveragePooling2D;
using AvgPool3D = AveragePooling3D;

struct GlobalPoolingOptions {
  bool keepdims = false; // [N,1,1,C] instead of [N,C]
  std::string name = {};
};
// The mean, or the largest element, of each channel of an example: sequences [N,T,C], images [N,H,W,C] or volumes
// [N,D,H,W,C] give [N,C]. With a mask, the mean of a sequence is over the steps that count.
class CALQUE_API GlobalAveragePooling1D : public Layer {
public:
  explicit GlobalAveragePooling1D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalAveragePooling2D : public Layer {
public:
  explicit GlobalAveragePooling2D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalAveragePooling3D : public Layer {
public:
  explicit GlobalAveragePooling3D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalMaxPooling1D : public Layer {
public:
  explicit GlobalMaxPooling1D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalMaxPooling2D : public Layer {
public:
  explicit GlobalMaxPooling2D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API GlobalMaxPooling3D : public Layer {
public:
  explicit GlobalMaxPooling3D(GlobalPoolingOptions options = {}, SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
