// StableHLO's dialect `check`, with which its own tests compare.
#include "stablehlo/Checks.h"

#include "calque/assertions.h"
#include "calque/function.h"

#include <cmath>

namespace calque::stablehlo {

namespace {

Tensor expected(const Call &call) {
  if (!call.has("value"))
    return call.tensor(1);
  const Dense &dense = *call.attribute("value").dense;
  return dense.isSplat && !dense.type.dims.empty() ? broadcast_to(dense.elements, dense.type.shape()) : dense.elements;
}

void requireSame(const Call &call, const Tensor &x, const Tensor &y) {
  if (x.dtype() != y.dtype() || x.rank() != y.rank() ||
      (x.shape().is_known() && y.shape().is_known() && Numbers(x.shape()) != Numbers(y.shape())))
    call.refuse(name_of(x.dtype()) + x.shape().str() + " is compared with " + name_of(y.dtype()) + y.shape().str());
}

void require(const Call &call, const Tensor &holds, const std::string &what) {
  const Tensor holdsAll = all(holds);
  if (holdsAll.is_known() && hostIntegers(holdsAll)[0] == 0)
    call.refuse(what);
  assert_true(holdsAll, what);
}

Tensor isSame(const Tensor &x, const Tensor &y) {
  const Tensor same = equal(x, y);
  return is_inexact(x.dtype()) && !is_complex(x.dtype()) ? logical_or(same, logical_and(isnan(x), isnan(y))) : same;
}
Tensor isNear(const Tensor &x, const Tensor &y, double tolerance) {
  if (is_complex(x.dtype()))
    return logical_and(isNear(real(x), real(y), tolerance), isNear(imag(x), imag(y), tolerance));
  const Tensor a = cast(x, DType::Float64), b = cast(y, DType::Float64);
  // Relative for large numbers.
  const Tensor within = abs(a - b) <= tolerance * maximum(1.0, abs(b));
  return logical_or(isSame(x, y), within);
}
Tensor isClose(const Tensor &x, const Tensor &y, double ulps) {
  if (is_complex(x.dtype()))
    return logical_and(isClose(real(x), real(y), ulps), isClose(imag(x), imag(y), ulps));
  if (!is_floating(x.dtype()))
    return equal(x, y);
  const Tensor a = cast(inTotalOrder(x), DType::Int64), b = cast(inTotalOrder(y), DType::Int64);
  const Tensor difference = cast(maximum(a, b), DType::UInt64) - cast(minimum(a, b), DType::UInt64);
  return logical_or(isSame(x, y), logical_and(less_equal(difference, cast(scalarOf(ulps, DType::Int64), DType::UInt64)),
                                              equal(isnan(x), isnan(y))));
}

} // namespace

Results expectEqual(const Call &call) {
  const Tensor x = call.tensor(0), y = expected(call);
  requireSame(call, x, y);
  Tensor holds = isSame(x, y);
  if (is_complex(x.dtype()))
    holds = logical_and(isSame(real(x), real(y)), isSame(imag(x), imag(y)));
  require(call, holds, "values differ that are expected to be equal");
  return {};
}
Results expectNear(const Call &call) {
  const Tensor x = call.tensor(0), y = expected(call);
  requireSame(call, x, y);
  const double tolerance = call.has("tolerance") ? call.number("tolerance") : 1e-3;
  require(call, isNear(x, y, tolerance), "values differ by more than " + std::to_string(tolerance));
  return {};
}
Results expectClose(const Call &call) {
  const Tensor x = call.tensor(0), y = expected(call);
  requireSame(call, x, y);
  const std::int64_t most = call.integer("max_ulp_difference", 3);
  std::string what = "values differ by more than " + std::to_string(most) + " steps of their type";
  if (executing_eagerly() && is_inexact(x.dtype()) && !is_complex(x.dtype()) && std::int64_t(x.size()) > 0) {
    const Tensor a = cast(x, DType::Float64), b = cast(y, DType::Float64);
    const Tensor relative = max(abs(a - b)) / max(abs(b));
    what += ", by " + std::to_string(1e9 * hostNumbers(relative)[0]) + "e-9 of the largest one";
  }
  require(call, isClose(x, y, static_cast<double>(most)), what);
  return {};
}

namespace {
constexpr Operator kTable[] = {
    {"check.expect_almost_eq", 2, 2, expectNear}, {"check.expect_almost_eq_const", 1, 1, expectNear},
    {"check.expect_close", 2, 2, expectClose},    {"check.expect_eq", 2, 2, expectEqual},
    {"check.expect_eq_const", 1, 1, expectEqual},
};
} // namespace

Table checkOperators() { return kTable; }

} // namespace calque::stablehlo
