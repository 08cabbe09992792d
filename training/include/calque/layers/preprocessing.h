// Layers that prepare raw numbers for training.
//
//   layers::Normalization scale;
//   scale.adapt(x);      // mean and variance of each feature
//   Sequential net{layers::Rescaling(1.0 / 255), scale, layers::Dense(1)};
#ifndef CALQUE_LAYERS_PREPROCESSING_H
#define CALQUE_LAYERS_PREPROCESSING_H

#include "calque/layers/core.h"

namespace calque::layers {

// x * scale + offset; integers become float32.
class CALQUE_API Rescaling : public Layer {
public:
  explicit Rescaling(double scale, double offset = 0, LayerOptions options = {},
                     SourceLocation where = SourceLocation::current());
};

struct NormalizationOptions {
  std::optional<std::int64_t> axis = -1; // a mean and a variance for each place along it; none: one of each for all
  // Set these instead of calling adapt(): a number for each place along the axis, or one number for all.
  std::optional<std::vector<double>> mean = std::nullopt, variance = std::nullopt;
  bool invert = false; // computes the numbers from normalised ones
  std::string name = {};
};
// (x - mean) / max(sqrt(variance), 1e-7) for each feature. Mean and variance come from adapt(), from the options, or
// from assigned weights. StateError before, that is, while all means are 0 and all variances are 1, their initial
// values. The weights are those of Keras. The last one is the number of examples seen, which is 0 in Keras.
//
// ValueError for a mean without a variance, for a variance without a mean, and for a wrong number of either.
class CALQUE_API Normalization : public Layer {
public:
  explicit Normalization(NormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  // Computes mean and (biased) variance of each feature of these examples [N, ...]. ShapeError for a scalar and for no
  // examples; StateError if the options set mean and variance.
  void adapt(const Operand &examples) const;
  // LookupError if the options set mean and variance.
  Variable mean(SourceLocation where = SourceLocation::current()) const { return variable("mean", where); }
  Variable variance(SourceLocation where = SourceLocation::current()) const { return variable("variance", where); }
};

} // namespace calque::layers
#endif
