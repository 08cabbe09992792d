// The losses of probabilities and their logits.
#include "Labels.h"
#include "Pair.h"
#include "absl/strings/str_cat.h"
#include "calque/activations.h"
#include "calque/losses.h"

namespace calque {

using training::describe;
using training::fail;
using training::kEpsilon;
using training::pairOf;
using training::weighted;

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

namespace {
Tensor clipped(const Tensor &probabilities) { return clip(probabilities, kEpsilon, 1 - kEpsilon); }

// The probability that is missing at a label, as the base of a power: at 0 a power below 1 has no gradient.
Tensor leastMissing(const Tensor &missing) { return maximum(missing, kEpsilon); }

// ValueError unless in [0, 1].
void checkSmoothing(const char *what, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    fail<ValueError>(absl::StrCat(what, ": the label smoothing is in [0, 1], unlike ", Number(smoothing).str()));
}

// The cross-entropy of each element, and the probability that is missing at its label.
struct Binary {
  Tensor loss, missing;
};
Binary binary(const char *what, const Operand &y_true, const Operand &y_pred, bool fromLogits, double smoothing,
              Tensor *labels = nullptr) {
  checkSmoothing(what, smoothing);
  auto [y, p] = pairOf(what, y_true, y_pred);
  if (smoothing != 0)
    y = y * (1 - smoothing) + 0.5 * smoothing;
  if (labels)
    *labels = y;
  if (fromLogits)
    return {weighted(y, softplus(-p)) + weighted(1 - y, softplus(p)), y * sigmoid(-p) + (1 - y) * sigmoid(p)};
  Tensor q = clipped(p);
  return {-(y * log(q) + (1 - y) * log(1 - q)), 1 - (y * p + (1 - y) * (1 - p))};
}

// Labels, and the logarithms of their probabilities.
training::Pair categorical(const char *what, const Operand &y_true, const Operand &y_pred, bool fromLogits,
                           double smoothing, std::int64_t axis) {
  checkSmoothing(what, smoothing);
  auto [y, p] = pairOf(what, y_true, y_pred);
  if (p.rank() == 0)
    fail<ShapeError>(absl::StrCat(what, ": takes predictions of at least one class, not a scalar"));
  if (smoothing != 0) {
    Shape shape = p.shape();
    const std::int64_t at = axis < 0 ? axis + p.rank() : axis;
    if (at < 0 || at >= p.rank())
      fail<ValueError>(absl::StrCat(what, ": predictions of rank ", p.rank(), " have no axis ", axis));
    y = y * (1 - smoothing) + smoothing / cast(shape[static_cast<std::size_t>(at)], p.dtype());
  }
  return {y, fromLogits ? log_softmax(p, axis) : log(clipped(p / sum(p, {axis}, true)))};
}
} // namespace

CALQUE_DEFINE_LOSS_FUNCTION(BinaryCrossentropy)
Tensor BinaryCrossentropyFunction::operator()(const Operand &y_true, const Operand &y_pred,
                                              BinaryCrossentropyOptions options) const {
  CallSite site(y_true.where(), "binary_crossentropy");
  Tensor loss = binary("binary_crossentropy", y_true, y_pred, options.from_logits, options.label_smoothing).loss;
  return loss.rank() == 0 ? loss : mean(loss, {options.axis});
}

CALQUE_DEFINE_LOSS_FUNCTION(BinaryFocalCrossentropy)
Tensor BinaryFocalCrossentropyFunction::operator()(const Operand &y_true, const Operand &y_pred,
                                                   BinaryFocalCrossentropyOptions options) const {
  CallSite site(y_true.where(), "binary_focal_crossentropy");
  Tensor labels;
  auto [loss, missing] =
      binary("binary_focal_crossentropy", y_true, y_pred, options.from_logits, options.label_smoothing, &labels);
  loss = pow(leastMissing(missing), options.gamma) * loss;
  if (options.apply_class_balancing)
    loss = loss * (labels * options.alpha + (1 - labels) * (1 - options.alpha));
  return loss.rank() == 0 ? loss : mean(loss, {options.axis});
}

CALQUE_DEFINE_LOSS_FUNCTION(CategoricalCrossentropy)
Tensor CategoricalCrossentropyFunction::operator()(const Operand &y_true, const Operand &y_pred,
                                                   CategoricalCrossentropyOptions options) const {
  CallSite site(y_true.where(), "categorical_crossentropy");
  auto [y, logs] = categorical("categorical_crossentropy", y_true, y_pred, options.from_logits, options.label_smoothing,
                               options.axis);
  return -sum(weighted(y, logs), {options.axis});
}

CALQUE_DEFINE_LOSS_FUNCTION(CategoricalFocalCrossentropy)
Tensor CategoricalFocalCrossentropyFunction::operator()(const Operand &y_true, const Operand &y_pred,
                                                        CategoricalFocalCrossentropyOptions options) const {
  CallSite site(y_true.where(), "categorical_focal_crossentropy");
  auto [y, logs] = categorical("categorical_focal_crossentropy", y_true, y_pred, options.from_logits,
                               options.label_smoothing, options.axis);
  // Of a label whose probability is next to none all is missing, and the power of it is 1. Its logarithm may be
  // infinite, and then a product with the power has no derivative.
  constexpr double kNextToNone = -100;
  Tensor isMissing = less(logs, kNextToNone), rest = where(isMissing, kNextToNone, logs);
  Tensor missing = leastMissing(-expm1(rest));
  Tensor each = where(isMissing, weighted(y, logs), pow(missing, options.gamma) * weighted(y, rest));
  return -sum(options.alpha * each, {options.axis});
}

CALQUE_DEFINE_LOSS_FUNCTION(SparseCategoricalCrossentropy)
Tensor SparseCategoricalCrossentropyFunction::operator()(const Operand &y_true, const Operand &y_pred,
                                                         SparseCategoricalCrossentropyOptions options) const {
  CallSite site(y_true.where(), "sparse_categorical_crossentropy");
  Tensor predictions = y_pred.toTensor();
  Tensor labels = training::labelsFor("sparse_categorical_crossentropy", y_true.toTensor(), predictions);
  Tensor logits = options.from_logits ? predictions : log(clipped(predictions));
  const Size classes = logits.shape().back();
  Tensor isIgnored;
  if (options.ignore_class) {
    isIgnored = labels == *options.ignore_class;
    labels = where(isIgnored, 0, labels);
  }
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
  return options.ignore_class ? where(isIgnored, 0, losses) : losses;
}

} // namespace losses
} // namespace calque
