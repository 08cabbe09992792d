// Layers that enlarge, pad and crop sequences, images and volumes. Channels are the last dimension.
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
// Near the border of an image, the weights of the pixels inside are scaled to the sum 1. ValueError for another
// interpolation. All interpolations but "nearest" take floating-point images only.
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

// Adds zeros around sequences, images and volumes. ValueError for negative numbers.
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

// Removes steps, rows and columns at the ends. ValueError for negative numbers. ShapeError for inputs that are not
// larger than the part that is removed, and for inputs with an unknown size in a cropped dimension.
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
