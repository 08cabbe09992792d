// Layers that make raw numbers fit for training.
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
  std::optional<std::int64_t> axis = -1; // that has a mean and a variance each; none: one of each for all elements
  // Instead of adapt(): a number for each place along the axis, or one for all.
  std::optional<std::vector<double>> mean = std::nullopt, variance = std::nullopt;
  bool invert = false; // back from normalised numbers
  std::string name = {};
};
// (x - mean) / max(sqrt(variance), 1e-7) for each feature, by what adapt() has seen, the options say, or the weights
// are set to. StateError before one of these: where all means are 0 and all variances 1, as they are made. Its weights
// are those of Keras, the last of which, the number of examples seen, is 0 there.
//
// ValueError for a mean without a variance and the other way round, and for other numbers of both.
class CALQUE_API Normalization : public Layer {
public:
  explicit Normalization(NormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  // Takes mean and (biased) variance of each feature of these examples [N, ...]. ShapeError for a scalar and for no
  // examples; StateError where the options say what they are.
  void adapt(const Operand &examples) const;
  // LookupError where the options say what they are.
  Variable mean(SourceLocation where = SourceLocation::current()) const { return variable("mean", where); }
  Variable variance(SourceLocation where = SourceLocation::current()) const { return variable("variance", where); }
};

} // namespace calque::layers
#endif
