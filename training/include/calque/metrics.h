// Metrics of training and testing. Their state is variables, so that they work eagerly and in traced functions.
//
//   metrics::SparseCategoricalAccuracy accuracy;
//   accuracy.update_state(labels, logits);
//   std::cout << accuracy.result() << '\n';
//   accuracy.reset_state();
#ifndef CALQUE_METRICS_H
#define CALQUE_METRICS_H

#include "calque/module.h"

namespace calque::metrics {

// The mean of all elements since the last reset; 0 without elements.
class CALQUE_API Mean : public Module {
public:
  explicit Mean(SourceLocation where = SourceLocation::current());
  // Adds the elements of a tensor of numbers or bools.
  void update_state(const Operand &values);
  // Adds elements with weights, which broadcast to the values' shape.
  void update_state(const Operand &values, const Operand &weights);
  // A float32 scalar.
  Tensor result(SourceLocation where = SourceLocation::current()) const;
  void reset_state(SourceLocation where = SourceLocation::current());

private:
  // float64, because a count in float32 stops at 2^24.
  Variable total, count;
};

// The fraction of the labels y_true [...] or [..., 1] that are the index of the largest element of y_pred [..., C].
class CALQUE_API SparseCategoricalAccuracy : public Module {
public:
  explicit SparseCategoricalAccuracy(SourceLocation where = SourceLocation::current());
  // ShapeError and DTypeError as for sparse_categorical_crossentropy.
  void update_state(const Operand &y_true, const Operand &y_pred);
  Tensor result(SourceLocation where = SourceLocation::current()) const { return hits.result(where); }
  void reset_state(SourceLocation where = SourceLocation::current()) { hits.reset_state(where); }

private:
  Mean &hits;
};

} // namespace calque::metrics
#endif
