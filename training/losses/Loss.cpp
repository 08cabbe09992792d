#include "calque/losses.h"

#include "Pair.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"

#include <ostream>

namespace calque {

using training::describe;
using training::fail;

training::Pair training::pairOf(const char *what, const Operand &y_true, const Operand &y_pred) {
  Tensor targets = y_true.toTensor(), predictions = y_pred.toTensor();
  std::string given = absl::StrCat(describe(targets.dtype(), targets.shape()), " and ",
                                   describe(predictions.dtype(), predictions.shape()));
  if (!is_floating(predictions.dtype()))
    fail<DTypeError>(absl::StrCat(what, ": takes targets and floating-point predictions, not ", given));
  targets = cast(targets, predictions.dtype());
  auto fit = [](Tensor &longer, Tensor &shorter) {
    if (longer.rank() != shorter.rank() + 1 || !longer.shape().is_compatible_with([&] {
          Shape column = shorter.shape();
          column.push_back(1);
          return column;
        }()))
      return;
    if (shorter.rank() == 1)
      shorter = expand_dims(shorter, {-1});
    else
      longer = squeeze(longer, {-1});
  };
  fit(targets, predictions);
  fit(predictions, targets);
  if (!targets.shape().is_compatible_with(predictions.shape()))
    fail<ShapeError>(absl::StrCat(what, ": takes targets and predictions of one shape, not ", given));
  return {targets, predictions};
}

Tensor training::alongExamples(const char *owner, const char *what, const Tensor &weights, const Tensor &losses) {
  Tensor fitted = weights;
  if (weights.rank() == losses.rank() + 1 && weights.shape().back().is_known() && weights.shape().back() == 1)
    fitted = squeeze(weights, {-1});
  std::vector<std::int64_t> missing;
  bool fits = fitted.rank() <= losses.rank();
  for (std::int64_t i = 0; fits && i < losses.rank(); ++i) {
    auto at = static_cast<std::size_t>(i);
    if (i >= fitted.rank()) {
      missing.push_back(i);
    } else if (Size size = fitted.shape()[at], of = losses.shape()[at]; size.is_known() && of.is_known()) {
      fits = size == of || size == 1;
    }
  }
  if (!fits)
    fail<ShapeError>(absl::StrCat(owner, ": ", what, " ", describe(weights.dtype(), weights.shape()),
                                  " must have the first dimensions of the examples' values ",
                                  describe(losses.dtype(), losses.shape())));
  return fitted.rank() == 0 || missing.empty() ? fitted : expand_dims(fitted, missing);
}

namespace losses {

using training::alongExamples;

std::ostream &operator<<(std::ostream &os, Reduction reduction) {
  switch (reduction) {
  case Reduction::Mean:
    return os << "Mean";
  case Reduction::Sum:
    return os << "Sum";
  case Reduction::None:
    return os << "None";
  case Reduction::MeanWithSampleWeight:
    return os << "MeanWithSampleWeight";
  }
  return os << static_cast<int>(reduction);
}

Loss::~Loss() = default;

Tensor Loss::operator()(const Operand &y_true, const Operand &y_pred, const LossCallOptions &options) const {
  const char *inMessages = calque::detail::interned(name().empty() ? "loss" : name());
  CallSite site(y_true.where(), inMessages);
  const Tensor targets = y_true.toTensor(), predictions = y_pred.toTensor();
  Tensor values = call(targets, predictions);
  std::optional<Tensor> counts = mask(targets, predictions), weights = options.sample_weight;
  if (options.mask) {
    Tensor given = alongExamples(inMessages, "a mask", *options.mask, values);
    counts = counts ? logical_and(*counts, given) : given;
  }
  if (weights)
    weights = alongExamples(inMessages, "weights", cast(*weights, values.dtype()), values);
  if (weights)
    values = training::weighted(*weights, values);
  if (counts)
    values = where(*counts, values, 0);
  if (reduction() == Reduction::None)
    return values;
  // Mean, where all count.
  if (reduction() == Reduction::Mean && !counts)
    return mean(values);
  Tensor total = sum(values);
  if (reduction() == Reduction::Sum)
    return total;
  if (reduction() != Reduction::Mean && reduction() != Reduction::MeanWithSampleWeight)
    fail<ValueError>(absl::StrCat(inMessages, ": unknown reduction ", static_cast<int>(reduction())));
  Tensor of = ones(values.shape(), values.dtype());
  if (reduction() == Reduction::MeanWithSampleWeight && weights)
    of = of * *weights;
  if (counts)
    of = where(*counts, of, 0);
  Tensor number = sum(of);
  // `where` computes both branches, so the divisor must not be 0 in the one that it does not take.
  Tensor some = number != 0;
  return where(some, total / where(some, number, 1), 0);
}

namespace {
class FunctionLoss final : public Loss {
public:
  FunctionLoss(std::string name, std::function<Tensor(const Tensor &, const Tensor &)> function, bool isUsers)
      : Loss({.name = std::move(name)}), function(std::move(function)), isUsers(isUsers) {}
  FunctionLoss(const FunctionLoss &) = default;

protected:
  Tensor call(const Tensor &y_true, const Tensor &y_pred) const override {
    std::optional<UserCode> scope;
    if (isUsers)
      scope.emplace();
    return function(y_true, y_pred);
  }

private:
  std::function<Tensor(const Tensor &, const Tensor &)> function;
  bool isUsers; // and not one of the library's, which has the line of its call
};
} // namespace

AnyLoss::AnyLoss(const char *name, SourceLocation where) : AnyLoss(get(name, where)) {}
AnyLoss::AnyLoss(LossFunction function)
    : AnyLoss(std::make_shared<FunctionLoss>(
          "loss", [function](const Tensor &y_true, const Tensor &y_pred) { return function(y_true, y_pred); }, false)) {
  function_ = training::nameOfLoss(function);
}
AnyLoss AnyLoss::ofFunction(std::function<Tensor(const Tensor &, const Tensor &)> function, std::string name) {
  AnyLoss made(std::make_shared<FunctionLoss>(name.empty() ? "loss" : name, std::move(function), true));
  made.function_ = std::move(name);
  return made;
}

} // namespace losses
} // namespace calque
