#include "calque/losses.h"

#include "Labels.h"
#include "absl/strings/str_cat.h"

#include <ostream>

namespace calque {

std::ostream &losses::operator<<(std::ostream &os, Reduction reduction) {
  switch (reduction) {
  case Reduction::Mean:
    return os << "Mean";
  case Reduction::Sum:
    return os << "Sum";
  case Reduction::None:
    return os << "None";
  }
  return os << static_cast<int>(reduction);
}

Tensor training::labelsFor(const char *what, const Tensor &labels, const Tensor &predictions) {
  std::string given = absl::StrCat(describe(labels.dtype(), labels.shape()), " and ",
                                   describe(predictions.dtype(), predictions.shape()));
  if (!is_integer(labels.dtype()) || !is_floating(predictions.dtype()))
    fail<DTypeError>(absl::StrCat(what, ": takes integer labels and floating-point predictions, not ", given));
  Shape expected = predictions.shape();
  if (!expected.empty()) {
    const Size classes = expected.back();
    expected.pop_back();
    Shape column = expected;
    column.push_back(1);
    bool hasClasses = !classes.is_known() || classes > 0;
    // Sizes that are not known are compared at the call: as a shape, for a label that is known to be one would be
    // repeated.
    if (labels.shape().is_compatible_with(expected) && hasClasses)
      return labels.shape().is_known() && expected.is_known() ? labels : reshape(labels, expected);
    if (labels.shape().is_compatible_with(column) && hasClasses)
      return reshape(labels, expected);
  }
  fail<ShapeError>(absl::StrCat(
      what, ": takes labels [...] or [...,1] and predictions [...,C] with at least one class, not ", given));
}

namespace losses {

Tensor sparse_categorical_crossentropy(const Operand &y_true, const Operand &y_pred, CrossentropyOptions options) {
  CallSite site(y_true.where(), "sparse_categorical_crossentropy");
  Tensor predictions = y_pred.toTensor();
  Tensor labels = training::labelsFor("sparse_categorical_crossentropy", y_true.toTensor(), predictions);
  Tensor logits = options.from_logits ? predictions : log(minimum(maximum(predictions, 1e-7), 1 - 1e-7));
  const Size classes = logits.shape().back();
  // gather refuses a label that is no class. Without it, such a label would select nothing, and the loss would ignore
  // it.
  Tensor checked;
  {
    CallSite ofLabels(y_true.where(), nullptr, "label");
    checked = gather(iota({classes}, labels.dtype()), labels);
  }
  // A select, because a product with zeros is NaN where another class has the logit -infinity.
  Tensor isLabel = expand_dims(checked, {-1}) == iota({classes}, checked.dtype());
  Tensor losses = -sum(where(isLabel, log_softmax(logits), 0), {-1});
  switch (options.reduction) {
  case Reduction::Mean:
    return mean(losses);
  case Reduction::Sum:
    return sum(losses);
  case Reduction::None:
    return losses;
  }
  training::fail<ValueError>(
      absl::StrCat("sparse_categorical_crossentropy: unknown reduction ", static_cast<int>(options.reduction)));
}

} // namespace losses
} // namespace calque
