// Layers that enlarge images and sequences, and cut them: channels are the last dimension.
#ifndef CALQUE_LAYERS_RESHAPING_H
#define CALQUE_LAYERS_RESHAPING_H

#include "calque/layers/core.h"
#include "calque/layers/extent.h"

namespace calque::layers {

// Repeats each step, or each pixel: [N,T,C], [N,H,W,C], [N,D,H,W,C]. ValueError for sizes below one.
class CALQUE_API UpSampling1D : public Layer {
public:
  explicit UpSampling1D(std::int64_t size = 2, LayerOptions options = {},
                        SourceLocation where = SourceLocation::current());
};
struct UpSampling2DOptions {
  std::string interpolation = "nearest"; // or "bilinear", "bicubic", "lanczos3", "lanczos5", between centres of pixels
  std::string name = {};
};
// Beyond the border of an image there is nothing: the weights of the pixels that are there add up to 1. ValueError for
// another interpolation. All but "nearest" take floating-point images.
class CALQUE_API UpSampling2D : public Layer {
public:
  explicit UpSampling2D(Extent size = 2, UpSampling2DOptions options = {},
                        SourceLocation where = SourceLocation::current());
};
class CALQUE_API UpSampling3D : public Layer {
public:
  explicit UpSampling3D(Extents<3> size = 2, LayerOptions options = {},
                        SourceLocation where = SourceLocation::current());
};

// Zeros around steps and images. ValueError for negative numbers.
class CALQUE_API ZeroPadding1D : public Layer {
public:
  explicit ZeroPadding1D(std::int64_t padding = 1, LayerOptions options = {},
                         SourceLocation where = SourceLocation::current());
  ZeroPadding1D(std::int64_t before, std::int64_t behind, LayerOptions options = {},
                SourceLocation where = SourceLocation::current());
};
class CALQUE_API ZeroPadding2D : public Layer {
public:
  explicit ZeroPadding2D(Border padding = 1, LayerOptions options = {},
                         SourceLocation where = SourceLocation::current());
};
class CALQUE_API ZeroPadding3D : public Layer {
public:
  explicit ZeroPadding3D(Borders<3> padding = 1, LayerOptions options = {},
                         SourceLocation where = SourceLocation::current());
};

// Takes steps, rows and columns away. ValueError for negative numbers; ShapeError for inputs that are not larger, or of
// which a size that is cut is not known.
class CALQUE_API Cropping1D : public Layer {
public:
  explicit Cropping1D(std::int64_t cropping = 1, LayerOptions options = {},
                      SourceLocation where = SourceLocation::current());
  Cropping1D(std::int64_t before, std::int64_t behind, LayerOptions options = {},
             SourceLocation where = SourceLocation::current());
};
class CALQUE_API Cropping2D : public Layer {
public:
  explicit Cropping2D(Border cropping = 0, LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API Cropping3D : public Layer {
public:
  explicit Cropping3D(Borders<3> cropping = 1, LayerOptions options = {},
                      SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
