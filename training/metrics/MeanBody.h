// What metrics share.
#ifndef CALQUE_TRAINING_METRICS_MEANBODY_H
#define CALQUE_TRAINING_METRICS_MEANBODY_H

#include "calque/metrics.h"
#include "losses/Pair.h"

namespace calque::training {

// a / b, and 0 where b is 0. `where` computes both branches, so the divisor must not be 0 in the one that it does not
// take.
inline Tensor divided(const Operand &a, const Operand &b) {
  Tensor some = b != 0;
  return where(some, a / where(some, b, 1), 0);
}

// The mean of values.
struct MeanBody : metrics::MetricBody {
  using MetricBody::MetricBody;
  void add(const Tensor &values, const std::optional<Tensor> &weights);
  Tensor compute() const override;

  Variable total = variable("total", zeros({}, DType::Float64), false);
  Variable count = variable("count", zeros({}, DType::Float64), false);
};

} // namespace calque::training
#endif
