// Layers against overfitting, which act in training alone. In inference, their result is the input. Masks pass.
#ifndef CALQUE_LAYERS_REGULARIZATION_H
#define CALQUE_LAYERS_REGULARIZATION_H

#include "calque/layers/layer.h"
#include "calque/random.h"

namespace calque::layers {

struct DropoutOptions {
  std::optional<std::int64_t> seed = std::nullopt; // drawn from the global generator unless given
  std::string name = {};
};
// In training, each element is zero with probability `rate`, else x / (1 - rate), by the layer's own generator.
// ValueError unless 0 <= rate < 1.
class CALQUE_API Dropout : public Layer {
public:
  explicit Dropout(double rate, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};

// Dropout of whole channels of sequences [N,T,C], images [N,H,W,C] or volumes [N,D,H,W,C]. Tompson, Goroshin, Jain,
// LeCun, Bregler: Efficient object localization using convolutional networks, 2015. ShapeError for inputs of another
// rank.
class CALQUE_API SpatialDropout1D : public Layer {
public:
  explicit SpatialDropout1D(double rate, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API SpatialDropout2D : public Layer {
public:
  explicit SpatialDropout2D(double rate, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API SpatialDropout3D : public Layer {
public:
  explicit SpatialDropout3D(double rate, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};

// In training, adds normal numbers. ValueError for a standard deviation below 0.
class CALQUE_API GaussianNoise : public Layer {
public:
  explicit GaussianNoise(double stddev, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};
// In training, multiplies by normal numbers of mean 1 and variance rate / (1 - rate). ValueError unless 0 <= rate < 1.
class CALQUE_API GaussianDropout : public Layer {
public:
  explicit GaussianDropout(double rate, DropoutOptions options = {}, SourceLocation where = SourceLocation::current());
};

struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
  std::string name = {};
};
// Returns its input, and adds l1 * sum(|x|) + l2 * sum(x * x), divided by the number of examples, to losses(). Masks
// pass. ValueError for factors that are not finite or below 0.
class CALQUE_API ActivityRegularization : public Layer {
public:
  explicit ActivityRegularization(ActivityRegularizationOptions options = {},
                                  SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
