// What is counted while training and testing. The state is variables, so that metrics work eagerly and in traced
// functions.
//
//   metrics::SparseCategoricalAccuracy accuracy;
//   accuracy.update_state(labels, logits);
//   std::cout << accuracy.result() << '\n';
//   accuracy.reset_state();
#ifndef CALQUE_METRICS_H
#define CALQUE_METRICS_H

#include "calque/module.h"

namespace calque::metrics {

// The mean of all elements seen so far, 0 of none.
class CALQUE_API Mean : public Module {
public:
  explicit Mean(SourceLocation where = SourceLocation::current());
  // Takes part of a tensor of numbers or bools.
  void update_state(const Operand &values);
  // Elements that count as much as their weights, which broadcast to the values' shape.
  void update_state(const Operand &values, const Operand &weights);
  // A float32 scalar.
  Tensor result(SourceLocation where = SourceLocation::current()) const;
  void reset_state(SourceLocation where = SourceLocation::current());

private:
  // In float64: in float32 a count stops at 2^24.
  Variable total, count;
};

// The fraction of the labels y_true [...] or [..., 1] that are where y_pred [..., C] is largest.
class CALQUE_API SparseCategoricalAccuracy : public Module {
public:
  explicit SparseCategoricalAccuracy(SourceLocation where = SourceLocation::current());
  // ShapeError and DTypeError as the loss of that name has them.
  void update_state(const Operand &y_true, const Operand &y_pred);
  Tensor result(SourceLocation where = SourceLocation::current()) const { return hits.result(where); }
  void reset_state(SourceLocation where = SourceLocation::current()) { hits.reset_state(where); }

private:
  Mean &hits;
};

} // namespace calque::metrics
#endif
