// Losses of classes.
#include "onnx/Support.h"

namespace calque::onnx {

namespace {

// The loss of logarithms of probabilities [N,C,...] for classes [N,...].
Tensor lossOf(const Call &call, const Tensor &logarithms, const Tensor &target, const Tensor &weight) {
  const std::string reduction = call.text("reduction", "mean");
  const DType dtype = logarithms.dtype();
  Tensor classes = cast(target, DType::Int64);
  // An ignored class counts with the weight 0; its own number may be outside of the classes.
  Tensor counts;
  if (call.hasAttribute("ignore_index")) {
    const Tensor isIgnored = classes == call.integer("ignore_index");
    classes = where(isIgnored, ofIntegers({0}, {}), classes);
    counts = cast(logical_not(isIgnored), dtype);
  }
  const Tensor chosen = squeeze(take_along_axis(logarithms, expand_dims(classes, {1}), 1), {1});
  if (weight.defined()) {
    const Tensor own = gather(weight, classes);
    counts = counts.defined() ? counts * own : own;
  }
  const Tensor loss = counts.defined() ? -chosen * counts : -chosen;
  if (reduction == "none")
    return loss;
  if (reduction == "sum")
    return sum(loss);
  if (reduction != "mean")
    call.refuse("attribute 'reduction' is '" + reduction + "'");
  return counts.defined() ? sum(loss) / sum(counts) : mean(loss);
}

Results negativeLogLikelihood(const Call &call) {
  return lossOf(call, call.tensor(0), call.tensor(1), call.has(2) ? call.tensor(2) : Tensor());
}
Results softmaxCrossEntropy(const Call &call) {
  const Tensor logarithms = log_softmax(call.tensor(0), 1);
  return {lossOf(call, logarithms, call.tensor(1), call.has(2) ? call.tensor(2) : Tensor()), logarithms};
}

constexpr Operator kTable[] = {
    {"NegativeLogLikelihoodLoss", {12, 13, 22}, 2, 3, 0, negativeLogLikelihood},
    {"SoftmaxCrossEntropyLoss", {12, 13}, 2, 3, 0, softmaxCrossEntropy},
};

} // namespace

Table lossOperators() { return kTable; }

} // namespace calque::onnx
