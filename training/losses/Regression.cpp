// The losses of numbers and directions.
#include "Pair.h"
#include "absl/strings/str_cat.h"
#include "calque/activations.h"
#include "calque/losses.h"

#include <cmath>

namespace calque::losses {

using training::fail;
using training::kEpsilon;
using training::meanOfLast;
using training::Pair;
using training::pairOf;

Tensor mean_squared_error(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "mean_squared_error");
  auto [y, p] = pairOf("mean_squared_error", y_true, y_pred);
  return meanOfLast(square(y - p));
}

Tensor mean_absolute_error(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "mean_absolute_error");
  auto [y, p] = pairOf("mean_absolute_error", y_true, y_pred);
  return meanOfLast(abs(y - p));
}

Tensor mean_absolute_percentage_error(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "mean_absolute_percentage_error");
  auto [y, p] = pairOf("mean_absolute_percentage_error", y_true, y_pred);
  return 100 * meanOfLast(abs((y - p) / maximum(abs(y), kEpsilon)));
}

Tensor mean_squared_logarithmic_error(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "mean_squared_logarithmic_error");
  auto [y, p] = pairOf("mean_squared_logarithmic_error", y_true, y_pred);
  return meanOfLast(square(log1p(maximum(p, kEpsilon)) - log1p(maximum(y, kEpsilon))));
}

CALQUE_DEFINE_LOSS_FUNCTION(Huber)
Tensor HuberFunction::operator()(const Operand &y_true, const Operand &y_pred, HuberOptions options) const {
  CallSite site(y_true.where(), "huber");
  if (!(options.delta > 0) || !std::isfinite(options.delta))
    fail<ValueError>(absl::StrCat("huber: delta is finite and above 0, unlike ", Number(options.delta).str()));
  auto [y, p] = pairOf("huber", y_true, y_pred);
  Tensor error = p - y, magnitude = abs(error);
  Tensor isSmall = magnitude <= options.delta;
  // The square of a large error would be infinite, and its derivative with it.
  Tensor small = where(isSmall, error, 0);
  return meanOfLast(
      where(isSmall, 0.5 * square(small), options.delta * magnitude - 0.5 * options.delta * options.delta));
}

Tensor log_cosh(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "log_cosh");
  auto [y, p] = pairOf("log_cosh", y_true, y_pred);
  Tensor error = p - y;
  return meanOfLast(error + activations::softplus(-2 * error) - std::log(2.0));
}

Tensor kl_divergence(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "kl_divergence");
  auto [y, p] = pairOf("kl_divergence", y_true, y_pred);
  y = clip(y, kEpsilon, 1);
  return sum(y * log(y / clip(p, kEpsilon, 1)), {-1});
}

Tensor poisson(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "poisson");
  auto [y, p] = pairOf("poisson", y_true, y_pred);
  return meanOfLast(p - y * log(p + kEpsilon));
}

namespace {
// 1 - y_true * y_pred where it is above 0, with labels of -1 and 1.
Tensor margins(const Pair &pair) {
  const Tensor &y = pair.y_true;
  Tensor isBinary = all(logical_or(y == 0, y == 1));
  return maximum(1 - where(isBinary, 2 * y - 1, y) * pair.y_pred, 0);
}
} // namespace

Tensor hinge(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "hinge");
  return meanOfLast(margins(pairOf("hinge", y_true, y_pred)));
}

Tensor squared_hinge(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "squared_hinge");
  return meanOfLast(square(margins(pairOf("squared_hinge", y_true, y_pred))));
}

Tensor categorical_hinge(const Operand &y_true, const Operand &y_pred) {
  CallSite site(y_true.where(), "categorical_hinge");
  auto [y, p] = pairOf("categorical_hinge", y_true, y_pred);
  return maximum(max((1 - y) * p, {-1}) - sum(y * p, {-1}) + 1, 0);
}

CALQUE_DEFINE_LOSS_FUNCTION(CosineSimilarity)
Tensor CosineSimilarityFunction::operator()(const Operand &y_true, const Operand &y_pred,
                                            CosineSimilarityOptions options) const {
  CallSite site(y_true.where(), "cosine_similarity");
  auto [y, p] = pairOf("cosine_similarity", y_true, y_pred);
  auto direction = [&](const Tensor &x) { return x * rsqrt(maximum(sum(square(x), {options.axis}, true), 1e-14)); };
  return -sum(direction(y) * direction(p), {options.axis});
}

} // namespace calque::losses
