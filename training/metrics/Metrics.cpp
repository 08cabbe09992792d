#include "calque/metrics.h"

#include "Labels.h"

namespace calque::metrics {

Mean::Mean(SourceLocation where)
    : total(variable("total", Operand(zeros({}, DType::Float64), where), false)),
      count(variable("count", Operand(zeros({}, DType::Float64), where), false)) {}

void Mean::update_state(const Operand &values) {
  CallSite site(values.where(), "mean");
  Tensor x = values.toTensor();
  total.assign_add(sum(cast(x, DType::Float64)));
  count.assign_add(x.size());
}

void Mean::update_state(const Operand &values, const Operand &weights) {
  CallSite site(values.where(), "mean");
  Tensor x = cast(values.toTensor(), DType::Float64);
  Tensor w = broadcast_to(cast(weights.toTensor(), DType::Float64), x.shape());
  total.assign_add(sum(x * w));
  count.assign_add(sum(w));
}

Tensor Mean::result(SourceLocation where) const {
  CallSite site(where);
  // `where` computes both branches, so the divisor must not be 0 in the one that it does not take.
  Tensor some = count != 0;
  Tensor mean = total / calque::where(some, count, 1);
  return cast(calque::where(some, mean, 0), DType::Float32);
}

void Mean::reset_state(SourceLocation where) {
  CallSite site(where);
  total.assign(0);
  count.assign(0);
}

SparseCategoricalAccuracy::SparseCategoricalAccuracy(SourceLocation where) : hits(submodule<Mean>("mean", where)) {}

void SparseCategoricalAccuracy::update_state(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "sparse_categorical_accuracy");
  Tensor predictions = y_pred.toTensor();
  Tensor labels = training::labelsFor("sparse_categorical_accuracy", y_true.toTensor(), predictions);
  hits.update_state(argmax(predictions) == cast(labels, DType::Int64));
}

} // namespace calque::metrics
