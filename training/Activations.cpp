#include "calque/activations.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/functions.h"

#include <cmath>
#include <mutex>

namespace calque {

using training::fail;

namespace activations {

namespace {
// A branch that is not taken is given 0, because what is infinite there would make a derivative NaN, in reverse mode by
// the cotangent 0 and in forward mode by the tangent 0. NaN is not below 0: it stays, with the derivative 1, as
// TensorFlow has it.
Tensor eluOf(const Tensor &x, double alpha, double scale) {
  Tensor isLow = less_equal(x, 0), low = where(isLow, x, 0);
  return where(isLow, expm1(scale == 1 ? low : low / scale) * alpha, x);
}
} // namespace

Tensor linear(const Operand &x) { return x.toTensor(); }
Tensor relu(const Operand &x, ReluOptions options) {
  const auto &[slope, top, threshold] = options;
  if (slope != 0 && threshold == 0 && !top)
    return where(greater(x, 0), x, x.toTensor() * slope);
  // NaN is not below the threshold, and stays.
  Tensor kept = threshold != 0 ? where(less_equal(x, threshold), 0, x) : calque::relu(x);
  if (top) // where it is reached, nothing changes any more
    kept = where(greater_equal(kept, *top), *top, maximum(kept, 0));
  return slope != 0 ? kept - calque::relu(threshold - x.toTensor()) * slope : kept;
}
Tensor relu6(const Operand &x) { return relu(x, {.max_value = 6}); }
Tensor leaky_relu(const Operand &x, double slope) { return relu(x, {.negative_slope = slope}); }
Tensor elu(const Operand &x, double alpha) { return eluOf(x.toTensor(), alpha, 1); }
Tensor selu(const Operand &x) { return elu(x, 1.6732632423543772848170429916717) * 1.0507009873554804934193349852946; }
Tensor gelu(const Operand &operand, bool approximate) {
  Tensor x = operand.toTensor();
  if (approximate)
    return x * 0.5 * (1 + calque::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + erf(x * std::sqrt(0.5)));
}
Tensor silu(const Operand &x) { return x.toTensor() * calque::sigmoid(x); }
Tensor mish(const Operand &x) { return x.toTensor() * calque::tanh(softplus(x)); }
Tensor softsign(const Operand &x) { return x.toTensor() / (1 + abs(x)); }
Tensor sigmoid(const Operand &x) { return calque::sigmoid(x); }
Tensor hard_sigmoid(const Operand &x) { return relu(x.toTensor() + 3, {.max_value = 6}) / 6; }
Tensor hard_silu(const Operand &operand) {
  Tensor x = operand.toTensor();
  Tensor isLow = less_equal(x, -3), isHigh = greater_equal(x, 3);
  Tensor middle = where(logical_or(isLow, isHigh), 0, x);
  return where(isHigh, x, where(isLow, 0, middle * ((middle + 3) / 6)));
}
Tensor tanh(const Operand &x) { return calque::tanh(x); }
Tensor celu(const Operand &x, double alpha) { return eluOf(x.toTensor(), alpha, alpha); }
Tensor glu(const Operand &operand, std::int64_t axis) {
  std::vector<Tensor> halves = split(operand, 2, axis);
  return halves[0] * calque::sigmoid(halves[1]);
}
Tensor hard_tanh(const Operand &x) { return clip(x, -1, 1); }
Tensor hard_shrink(const Operand &x, double threshold) { return where(greater(abs(x), threshold), x, 0); }
Tensor soft_shrink(const Operand &x, double threshold) {
  return where(greater(x, threshold), x.toTensor() - threshold,
               where(less(x, -threshold), x.toTensor() + threshold, 0));
}
Tensor tanh_shrink(const Operand &x) { return x.toTensor() - calque::tanh(x); }
Tensor log_sigmoid(const Operand &x) { return -softplus(-x.toTensor()); }
Tensor squareplus(const Operand &operand, double b) {
  // The larger root y of y^2 - x y = b / 4. Below 0 it is b / 4 divided by the other one's magnitude, as a sum of x and
  // a square root that is nearly -x has no digits left. Far from 0 the square root is |x|, whose square may overflow.
  const Tensor x = operand.toTensor(), size = where(x < 0, -x, x);
  const Tensor isFar = size > 0x1p27 * std::sqrt(std::abs(b));
  const Tensor root = where(isFar, size, sqrt(square(where(isFar, 0, size)) + b));
  const Tensor larger = size / 2 + root / 2;
  return where(x < 0, b / 4 / larger, larger);
}
Tensor sparse_plus(const Operand &operand) {
  Tensor x = operand.toTensor();
  Tensor isLow = less_equal(x, -1), isMiddle = logical_and(greater(x, -1), less(x, 1));
  return where(isLow, 0, where(isMiddle, square(where(isMiddle, x, 0) + 1) / 4, x));
}
Tensor threshold(const Operand &x, double threshold, double default_value) {
  return where(greater(x, threshold), x, default_value);
}
Tensor sparsemax(const Operand &operand, std::int64_t axis) {
  // What is above the threshold tau adds up to 1. The numbers above are the largest k: number k of them is, by the
  // first k, just above.
  Tensor x = operand.toTensor();
  Tensor sorted = sort(x, axis, true);
  Tensor number = cumsum(ones(sorted.shape(), x.dtype()), axis);
  Tensor isAbove = sorted * number > cumsum(sorted, axis) - 1;
  Tensor tau = (sum(where(isAbove, sorted, 0), axis, true) - 1) / sum(cast(isAbove, x.dtype()), axis, true);
  return maximum(x - tau, 0);
}
Tensor softmax(const Operand &x, std::int64_t axis) { return calque::softmax(x, axis); }
Tensor log_softmax(const Operand &x, std::int64_t axis) { return calque::log_softmax(x, axis); }
Tensor exponential(const Operand &x) { return exp(x); }

} // namespace activations

//===-- Names -----------------------------------------------------------------------------------===//

namespace {

using Unary = Tensor (*)(const Operand &);
struct NamedActivation {
  std::string name;
  std::function<Tensor(const Tensor &)> apply;
  Unary function = nullptr;
};

struct ActivationRegistry {
  std::mutex mutex;
  std::vector<NamedActivation> known;

  ActivationRegistry() {
    using namespace activations;
    auto add = [&](const char *name, Unary function) { known.push_back({name, function, function}); };
    add("linear", linear);
    add("relu", [](const Operand &x) { return activations::relu(x); });
    add("relu6", relu6);
    add("leaky_relu", [](const Operand &x) { return activations::leaky_relu(x); });
    add("elu", [](const Operand &x) { return activations::elu(x); });
    add("selu", selu);
    add("gelu", [](const Operand &x) { return gelu(x); });
    add("gelu_tanh", [](const Operand &x) { return gelu(x, true); });
    add("silu", silu);
    add("mish", mish);
    add("softplus", [](const Operand &x) { return softplus(x); });
    add("softsign", softsign);
    add("sigmoid", activations::sigmoid);
    add("hard_sigmoid", hard_sigmoid);
    add("hard_silu", hard_silu);
    add("tanh", activations::tanh);
    add("celu", [](const Operand &x) { return celu(x); });
    add("glu", [](const Operand &x) { return glu(x); });
    add("hard_tanh", hard_tanh);
    add("hard_shrink", [](const Operand &x) { return hard_shrink(x); });
    add("soft_shrink", [](const Operand &x) { return soft_shrink(x); });
    add("tanh_shrink", tanh_shrink);
    add("log_sigmoid", log_sigmoid);
    add("squareplus", [](const Operand &x) { return squareplus(x); });
    add("sparse_plus", sparse_plus);
    add("sparsemax", [](const Operand &x) { return sparsemax(x); });
    add("softmax", [](const Operand &x) { return calque::softmax(x); });
    add("log_softmax", [](const Operand &x) { return calque::log_softmax(x); });
    add("exponential", exponential);
  }
  const NamedActivation *find(const std::string &name) const {
    for (const NamedActivation &each : known)
      if (each.name == (name == "swish" ? "silu" : name == "hard_swish" ? "hard_silu" : name))
        return &each;
    return nullptr;
  }
};
ActivationRegistry &allActivations() {
  static ActivationRegistry made;
  return made;
}

} // namespace

std::vector<std::string> activations::names() {
  std::lock_guard lock(allActivations().mutex);
  std::vector<std::string> names;
  for (const NamedActivation &each : allActivations().known)
    names.push_back(each.name);
  return names;
}

void register_activation(const std::string &name, std::function<Tensor(const Tensor &)> f, SourceLocation where) {
  calque::detail::requireCallable(f, "register_activation", where);
  std::lock_guard lock(allActivations().mutex);
  if (allActivations().find(name))
    fail<ValueError>(absl::StrCat("register_activation: there is an activation '", name, "' already"), where);
  allActivations().known.push_back({name, std::move(f)});
}

namespace layers {

ActivationFunction::ActivationFunction(const char *name, SourceLocation where) {
  if (!name)
    calque::detail::throwNothingToCall("activation", where);
  {
    std::lock_guard lock(allActivations().mutex);
    if (const NamedActivation *found = allActivations().find(name)) {
      name_ = found->name;
      apply_ = found->apply;
      return;
    }
  }
  fail<ValueError>(
      absl::StrCat("activation: there is no '", name, "'; there are ", absl::StrJoin(activations::names(), ", ")),
      where);
}

std::string ActivationFunction::nameOf(Unary function) {
  // The operations of Calque are activations too.
  static const std::pair<Unary, const char *> operations[] = {
      {calque::relu, "relu"}, {calque::sigmoid, "sigmoid"}, {calque::tanh, "tanh"}, {calque::exp, "exponential"}};
  for (const auto &[operation, name] : operations)
    if (operation == function)
      return name;
  std::lock_guard lock(allActivations().mutex);
  for (const NamedActivation &each : allActivations().known)
    if (each.function == function)
      return each.name;
  return {};
}

const std::string &ActivationFunction::get_config(SourceLocation where) const {
  if (name_.empty())
    fail<StateError>("activation: a callable has no config; give it a name by register_activation(), and use that",
                     where);
  return name_;
}

} // namespace layers
} // namespace calque
