#include "implicit/Function.h"

#include "absl/strings/str_cat.h"
#include "calque/transforms.h"
#include "calque/user_calls.h"

#include <cmath>
#include <limits>

namespace calque::solvers::internal {

std::string describe(const Tensor &x) { return absl::StrCat(name_of(x.dtype()), x.shape().str()); }

void requireFunction(const char *what, const char *which, bool isThere) {
  if (!isThere)
    fail<StateError>(
        absl::StrCat(what, ": ", which, " is an empty std::function; pass a callable that takes and returns a Tensor"));
}

void requireFloat(const char *what, const char *which, const Tensor &x) {
  if (x.dtype() != DType::Float32 && x.dtype() != DType::Float64)
    fail<DTypeError>(absl::StrCat(what, ": ", which, " is float32 or float64, not ", describe(x)));
}

void requireKnownSizes(const char *what, const char *which, const Tensor &x) {
  for (const Size &size : x.shape())
    if (!size.is_known())
      fail<StateError>(
          absl::StrCat(what, ": the sizes of ", which, " must be known while tracing, and it is ", describe(x)));
  if (std::int64_t(x.size()) == 0)
    fail<ShapeError>(absl::StrCat(what, ": ", which, " is ", describe(x), ", which has no elements"));
}

void requirePositive(const char *what, const char *which, double value) {
  if (!(value > 0) || !std::isfinite(value))
    fail<ValueError>(absl::StrCat(what, ": ", which, " is finite and above 0, unlike ", Number(value).str()));
}

void requireNotNegative(const char *what, const char *which, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    fail<ValueError>(absl::StrCat(what, ": ", which, " is finite and not negative, unlike ", Number(value).str()));
}

void requireCount(const char *what, const char *which, std::int64_t value) {
  if (value < 1)
    fail<ValueError>(absl::StrCat(what, ": ", which, " is at least 1, unlike ", value));
}

Tensor callUser(const Map &f, const Tensor &x) {
  return call_user([&] { return f(x); });
}

FlatFunction::FlatFunction(const char *what, Map f, const Tensor &x) : what_(what), f_(std::move(f)) {
  requireFunction(what, "the function", static_cast<bool>(f_));
  requireFloat(what, "x0", x);
  requireKnownSizes(what, "x0", x);
  shape_ = x.shape();
  size_ = x.size();
  dtype_ = x.dtype();
}

Tensor FlatFunction::valueOf(const Tensor &vector) const {
  Tensor y = callUser(f_, reshape(vector, shape_));
  if (y.dtype() != dtype_)
    fail<DTypeError>(absl::StrCat(what_, ": the function returns ", describe(y), " for x of ", name_of(dtype_),
                                  shape_.str(), ", and must return the element type of x"));
  return y;
}

Tensor checkedConvergence(const Tensor &isDone, bool isRequired, const Convergence &c) {
  Tensor done = stop_gradient(isDone);
  if (isRequired) {
    const double infinity = std::numeric_limits<double>::infinity();
    Tensor unmet = where(c.measure <= c.tolerance, full({}, infinity, c.measure.dtype()), c.measure);
    assert_less_equal(where(done, 0, stop_gradient(unmet)), c.tolerance,
                      absl::StrCat(c.what, ": no convergence in ", c.limit.text, " iterations, ", c.condition, "; ",
                                   c.advice, ", or set require_convergence to false and read `converged`"));
  }
  return done;
}

namespace {
bool isForwardMode(std::int64_t m, std::int64_t n, Differentiation mode) {
  // Eagerly, forward mode is traced in each call, which pays for tall Jacobians alone.
  const std::int64_t least = executing_eagerly() ? 8 * n : n;
  return mode == Differentiation::Forward || (mode == Differentiation::Automatic && m >= least);
}
Tensor forwardColumns(const Map &f, const Tensor &x, std::int64_t m) {
  const std::int64_t n = x.size();
  if (n == 1)
    return reshape(jvp(f, x, ones({1}, x.dtype())).second, {1, m});
  return vmap([&](const Tensor &direction) { return jvp(f, x, direction).second; })(eye(n, x.dtype()));
}
} // namespace

Tensor jacobianOf(const Map &f, const Tensor &x, std::int64_t m, Differentiation mode) {
  if (isForwardMode(m, x.size(), mode))
    return transpose(forwardColumns(f, x, m));
  return reshape(jacobian(f)(x), {m, x.size()});
}

Tensor jacobianColumnsOf(const Map &f, const Tensor &x, std::int64_t m, Differentiation mode) {
  if (isForwardMode(m, x.size(), mode))
    return forwardColumns(f, x, m);
  return transpose(reshape(jacobian(f)(x), {m, x.size()}));
}

} // namespace calque::solvers::internal
