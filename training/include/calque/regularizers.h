// Regularisers: what weights add to the loss.
//
//   layers::Dense dense(128, {.kernel_regularizer = regularizers::l2(1e-4)});
//   dense(x);
//   dense.losses(); // 1e-4 * sum(square(kernel))
#ifndef CALQUE_REGULARIZERS_H
#define CALQUE_REGULARIZERS_H

#include "calque/config.h"
#include "calque/tensor.h"

namespace calque {

// l1 * sum(|w|) + l2 * sum(w * w), or nothing.
struct CALQUE_API Regularizer {
  double l1 = 0, l2 = 0;

  Regularizer() = default;
  Regularizer(double ofL1, double ofL2) : l1(ofL1), l2(ofL2) {}
  // "l1", "l2" or "l1_l2", with the factors that they have by default. LookupError for another name.
  Regularizer(const char *name, SourceLocation where = SourceLocation::current());

  Tensor operator()(const Tensor &weight) const;
  explicit operator bool() const { return l1 != 0 || l2 != 0; }
  // Null for nothing.
  ConfigValue get_config() const;
  static Regularizer from_config(const ConfigValue &config, SourceLocation where = SourceLocation::current());
};

namespace regularizers {
// ValueError for factors that are not finite or below 0.
CALQUE_API Regularizer l1(double factor = 0.01, SourceLocation where = SourceLocation::current());
CALQUE_API Regularizer l2(double factor = 0.01, SourceLocation where = SourceLocation::current());
CALQUE_API Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01, SourceLocation where = SourceLocation::current());
} // namespace regularizers
} // namespace calque
#endif
