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
  std::int64_t axis = -1; // that has a mean and a variance each
  bool invert = false;    // back from normalised numbers
  std::string name = {};
};
// (x - mean) / max(sqrt(variance), 1e-7) for each feature, by what adapt() has seen. StateError before it has.
class CALQUE_API Normalization : public Layer {
public:
  explicit Normalization(NormalizationOptions options = {}, SourceLocation where = SourceLocation::current());
  // Takes mean and (biased) variance of each feature of these examples [N, ...]. ShapeError for a scalar and for no
  // examples.
  void adapt(const Operand &examples) const;
  Variable mean(SourceLocation where = SourceLocation::current()) const { return variable("mean", where); }
  Variable variance(SourceLocation where = SourceLocation::current()) const { return variable("variance", where); }
};

} // namespace calque::layers
#endif
