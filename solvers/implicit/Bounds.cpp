#include "implicit/Bounds.h"

#include "absl/strings/str_cat.h"

namespace calque::solvers::internal {

namespace {
Tensor vectorOf(const char *what, const char *which, const Tensor &bound, const FlatFunction &f) {
  if (bound.dtype() != f.dtype())
    fail<DTypeError>(
        absl::StrCat(what, ": ", which, " is ", describe(bound), ", and x0 is ", name_of(f.dtype()), f.shape().str()));
  const auto rank = static_cast<std::int64_t>(f.shape().size());
  bool fits = bound.rank() <= rank;
  for (std::int64_t i = 0; fits && i < bound.rank(); ++i) {
    const Size size = bound.shape()[static_cast<std::size_t>(i)];
    fits = size.is_known() &&
           (std::int64_t(size) == 1 ||
            std::int64_t(size) == std::int64_t(f.shape()[static_cast<std::size_t>(rank - bound.rank() + i)]));
  }
  if (!fits)
    fail<ShapeError>(absl::StrCat(what, ": ", which, " is ", describe(bound), ", which does not broadcast to x0 of ",
                                  name_of(f.dtype()), f.shape().str()));
  return stop_gradient(f.flat(broadcast_to(bound, f.shape())));
}
} // namespace

Bounds::Bounds(const char *what, const std::optional<Tensor> &lower, const std::optional<Tensor> &upper,
               const FlatFunction &f) {
  if (lower)
    lower_ = vectorOf(what, "the lower bound", *lower, f);
  if (upper)
    upper_ = vectorOf(what, "the upper bound", *upper, f);
  if (lower && upper)
    assert_less_equal(lower_, upper_, absl::StrCat(what, ": a lower bound is above its upper bound"));
}

Tensor Bounds::project(Tensor x) const {
  if (lower_.defined())
    x = maximum(x, lower_);
  if (upper_.defined())
    x = minimum(x, upper_);
  return x;
}

Tensor Bounds::freeAt(const Tensor &x, const Tensor &gradient) const {
  Tensor isFree;
  if (lower_.defined())
    isFree = !((x <= lower_) & (gradient >= 0));
  if (upper_.defined()) {
    Tensor below = !((x >= upper_) & (gradient <= 0));
    isFree = isFree.defined() ? isFree & below : below;
  }
  return isFree;
}

} // namespace calque::solvers::internal
