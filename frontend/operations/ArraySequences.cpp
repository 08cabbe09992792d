// Functions of calque/arrays/sequences.h.
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "calque/arrays/sequences.h"
#include "calque/arrays/sets.h"

#include "absl/strings/str_cat.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

//===-- Running extrema -------------------------------------------------------------------------===//

namespace {

Tensor scanned(const Tensor &x, std::int64_t axis, Tensor (*combine)(const Tensor &, const Tensor &)) {
  return detail::scanByDoubling({x}, axis, [&](const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
    return std::vector<Tensor>{combine(a[0], b[0])};
  })[0];
}

// log(exp(a) + exp(b)). Differentiable where both are equal.
Tensor logOfSum(const Tensor &a, const Tensor &b) {
  const Tensor isSame = logical_and(a == b, isinf(a)); // their difference is NaN
  const Tensor to = where(isSame, 0, a - b);
  const Tensor isLess = to < 0, isNone = isnan(to);
  return where(logical_or(isLess, isnan(b)), b, a) +
         where(isNone, 0, softplus(where(isLess, to, where(isNone, 0, -to))));
}

} // namespace

Tensor cummax(const Operand &x, std::int64_t axis) {
  ArrayCall call(x, "cummax");
  const Tensor value = x.toTensor();
  return scanned(value, call.axis(axis, value), [](const Tensor &a, const Tensor &b) {
    return a.dtype() == DType::Bool ? logical_or(a, b) : maximum(a, b);
  });
}

Tensor cummin(const Operand &x, std::int64_t axis) {
  ArrayCall call(x, "cummin");
  const Tensor value = x.toTensor();
  return scanned(value, call.axis(axis, value), [](const Tensor &a, const Tensor &b) {
    return a.dtype() == DType::Bool ? logical_and(a, b) : minimum(a, b);
  });
}

Tensor logcumsumexp(const Operand &x, std::int64_t axis) {
  ArrayCall call(x, "logcumsumexp");
  const Tensor value = detail::floatsOf(x, call);
  return scanned(value, call.axis(axis, value), logOfSum);
}

//===-- Partitions ------------------------------------------------------------------------------===//

namespace {
void checkPlace(const Tensor &x, std::int64_t kth, std::int64_t axis, const ArrayCall &call) {
  const Size size = x.shape()[static_cast<std::size_t>(call.axis(axis, x))];
  if (size.is_known() && (kth < -std::int64_t(size) || kth >= std::int64_t(size)))
    throw ValueError(absl::StrCat(call.function, ": there is no place ", kth, " along axis ", axis, " of ", typeOf(x)),
                     call.where);
}
} // namespace

Tensor partition(const Operand &x, std::int64_t kth, std::int64_t axis) {
  ArrayCall call(x, "partition");
  const Tensor value = x.toTensor();
  checkPlace(value, kth, axis, call);
  return sort(value, axis);
}

Tensor argpartition(const Operand &x, std::int64_t kth, std::int64_t axis) {
  ArrayCall call(x, "argpartition");
  const Tensor value = x.toTensor();
  checkPlace(value, kth, axis, call);
  return argsort(value, axis);
}

//===-- Differences and integrals ---------------------------------------------------------------===//

namespace {

// All entries along an axis but the first `front` and the last `back` ones. The size may be unknown.
Tensor without(const Tensor &x, std::int64_t axis, std::int64_t front, std::int64_t back) {
  return split(x, {front, -1, back}, axis)[1];
}

Tensor differences(const Tensor &x, std::int64_t axis) {
  const Tensor later = without(x, axis, 1, 0), earlier = without(x, axis, 0, 1);
  return x.dtype() == DType::Bool ? logical_xor(later, earlier) : later - earlier;
}

// A vector along an axis of a tensor of this rank.
Tensor along(const Tensor &vector, std::int64_t axis, std::int64_t rank) {
  std::vector<std::int64_t> others;
  for (std::int64_t other = 0; other < rank; ++other)
    if (other != axis)
      others.push_back(other);
  return others.empty() ? vector : expand_dims(vector, others);
}

// The distances of neighbours among samples along an axis: a scalar, or of the rank of the samples. Those of complex
// samples may be real.
Tensor distancesOf(const Tensor &y, const Operand &spacing, std::int64_t axis, const ArrayCall &call) {
  Tensor given = spacing.isNumber() ? spacing.toTensor(y.dtype()) : spacing.tensor();
  if (is_complex(y.dtype()) && given.dtype() == real_of(y.dtype()))
    given = cast(given, y.dtype());
  if (given.rank() == 0)
    return given;
  const Size size = y.shape()[static_cast<std::size_t>(axis)];
  if (given.rank() != 1 || (given.shape()[0].is_known() && size.is_known() && given.shape()[0] != size))
    throw ShapeError(absl::StrCat(call.function, ": the spacing is a scalar or a place for each sample along axis ",
                                  axis, " of ", typeOf(y), ", not ", typeOf(given)),
                     call.where);
  return along(differences(given, 0), axis, y.rank());
}

void requireSamples(const Tensor &y, std::int64_t axis, std::int64_t least, const ArrayCall &call) {
  const Size size = y.shape()[static_cast<std::size_t>(axis)];
  if (size.is_known() && size < least)
    throw ShapeError(absl::StrCat(call.function, ": there must be ", least, " samples at least along axis ", axis,
                                  " of ", typeOf(y)),
                     call.where);
}

} // namespace

Tensor diff(const Operand &x, std::int64_t n, std::int64_t axisOf) {
  ArrayCall call(x, "diff");
  Tensor value = x.toTensor();
  const std::int64_t axis = call.axis(axisOf, value);
  if (n < 0)
    throw ValueError(absl::StrCat("diff: the number of differences must not be negative: ", n), call.where);
  for (; n > 0 && !detail::isKnownTo(value.shape()[static_cast<std::size_t>(axis)], 0); --n)
    value = differences(value, axis);
  return value;
}

Tensor gradient(const Operand &samples, const Operand &spacing, std::int64_t axisOf, std::int64_t order) {
  ArrayCall call(samples, "gradient");
  const Tensor y = detail::floatsOrComplexOf(samples, call);
  const std::int64_t axis = call.axis(axisOf, y);
  if (order != 1 && order != 2)
    throw ValueError(absl::StrCat("gradient: the order at the ends is 1 or 2, not ", order), call.where);
  requireSamples(y, axis, order + 1, call);
  const Tensor distances = distancesOf(y, spacing, axis, call);
  const bool isEven = distances.rank() == 0;
  // Of samples that are not even, the slope by the parabola through a sample and its neighbours.
  Tensor middle;
  if (isEven) {
    middle = (without(y, axis, 2, 0) - without(y, axis, 0, 2)) / (2 * distances);
  } else {
    const Tensor before = without(distances, axis, 0, 1), behind = without(distances, axis, 1, 0);
    middle = -behind / (before * (before + behind)) * without(y, axis, 0, 2) +
             (behind - before) / (before * behind) * without(y, axis, 1, 1) +
             before / (behind * (before + behind)) * without(y, axis, 2, 0);
  }
  auto first = [&](const Tensor &x, std::int64_t i) { return without(split(x, {i + 1, -1}, axis)[0], axis, i, 0); };
  auto last = [&](const Tensor &x, std::int64_t i) { return without(split(x, {-1, i + 1}, axis)[1], axis, 0, i); };
  auto distance = [&](auto end, std::int64_t i) { return isEven ? distances : end(distances, i); };
  Tensor start, end;
  if (order == 1) {
    start = (first(y, 1) - first(y, 0)) / distance(first, 0);
    end = (last(y, 0) - last(y, 1)) / distance(last, 0);
  } else {
    const Tensor a = distance(first, 0), b = distance(first, 1), c = distance(last, 1), d = distance(last, 0);
    start =
        -(2 * a + b) / (a * (a + b)) * first(y, 0) + (a + b) / (a * b) * first(y, 1) - a / (b * (a + b)) * first(y, 2);
    end = d / (c * (c + d)) * last(y, 2) - (d + c) / (c * d) * last(y, 1) + (2 * d + c) / (d * (c + d)) * last(y, 0);
  }
  return concat({start, middle, end}, axis);
}

Tensor cumulative_trapezoid(const Operand &samples, const Operand &spacing, std::int64_t axisOf, bool initial) {
  ArrayCall call(samples, "cumulative_trapezoid");
  const Tensor y = detail::floatsOrComplexOf(samples, call);
  const std::int64_t axis = call.axis(axisOf, y);
  requireSamples(y, axis, 1, call);
  const Tensor distances = distancesOf(y, spacing, axis, call);
  const Tensor sums = cumsum((without(y, axis, 1, 0) + without(y, axis, 0, 1)) / 2 * distances, axis);
  if (!initial)
    return sums;
  std::vector<std::int64_t> low(static_cast<std::size_t>(y.rank()), 0), high = low;
  low[static_cast<std::size_t>(axis)] = 1;
  return pad(sums, low, high);
}

//===-- Interpolation ---------------------------------------------------------------------------===//

Tensor interp(const Operand &operand, const Operand &places, const Operand &values, InterpOptions options) {
  ArrayCall call(operand, "interp");
  const Tensor xp = detail::floatsOf(places, call), fp = detail::floatsOrComplexOf(values, call);
  const Tensor x = operand.isNumber() ? operand.toTensor(xp.dtype()) : detail::floatsOf(operand, call);
  const Shape one = xp.shape(), other = fp.shape();
  if (one.size() != 1 || other.size() != 1 || !one.is_compatible_with(other) || detail::isKnownTo(one[0], 0))
    throw ShapeError(absl::StrCat("interp: the points must be two vectors of one size above 0, not ", typeOf(xp),
                                  " and ", typeOf(fp)),
                     call.where);
  const Tensor count = Operand(one[0]).toTensor(DType::Int64);
  auto withEnds = [&](Tensor result) {
    if (options.left)
      result = where(x < gather(xp, 0), *options.left, result);
    if (options.right)
      result = where(x > gather(xp, count - 1), *options.right, result);
    return result;
  };
  if (is_complex(fp.dtype())) // where x is NaN, so is the real part, and the imaginary part is 0, as in NumPy
    return withEnds(complex(interp(x, xp, real(fp)), where(isnan(x), 0, interp(x, xp, imag(fp)))));
  const Tensor place = searchsorted(xp, x, "right");
  const Tensor from = maximum(place - 1, 0), to = minimum(place, count - 1);
  const Tensor low = gather(xp, from), below = gather(fp, from), high = gather(xp, to), above = gather(fp, to);
  const Tensor isEnd = from == to;
  const Tensor slope = (above - below) / where(isEnd, 1, high - low);
  const Tensor ahead = below + slope * (x - low);
  // With infinities, as NumPy: from the other end, if from one there is no number.
  const Tensor back = above + slope * (x - high);
  const Tensor either = where(logical_and(isnan(back), below == above), below, back);
  const Tensor result = where(isEnd, below, where(isnan(ahead), where(x == low, below, either), ahead));
  return where(isnan(x), x, withEnds(result));
}

//===-- Convolution and polynomials -------------------------------------------------------------===//

namespace {

Tensor convolved(const Operand &first, const Operand &second, bool reverses, const std::string &mode,
                 const ArrayCall &call) {
  Tensor a = detail::floatsOrComplexOf(first, call), v = detail::floatsOrComplexOf(second, call);
  for (const Tensor &x : {a, v}) {
    if (x.rank() != 1 || detail::isKnownTo(x.shape()[0], 0))
      throw ShapeError(absl::StrCat(call.function, ": takes vectors with elements, not ", typeOf(x)), call.where);
    if (!x.shape().is_known())
      throw StateError(
          absl::StrCat(call.function, ": the sizes must be known while tracing, unlike that of ", typeOf(x)),
          call.where);
  }
  if (mode != "full" && mode != "same" && mode != "valid")
    throw ValueError(absl::StrCat(call.function, ": the mode is 'full', 'same' or 'valid', not '", mode, "'"),
                     call.where);
  // A correlation with the shorter one first is the other one's, backwards.
  const bool isBackwards = reverses && mode == "same" && a.shape()[0] < v.shape()[0];
  if (reverses)
    v = reverse(is_complex(v.dtype()) ? conj(v) : v);
  if (a.shape()[0] < v.shape()[0])
    std::swap(a, v);
  const std::int64_t window = v.shape()[0];
  const std::int64_t all = mode == "full" ? 2 * (window - 1) : mode == "same" ? window - 1 : 0;
  const std::int64_t front = mode == "full" ? window - 1 : isBackwards ? all / 2 : all - all / 2;
  const Tensor sums =
      conv(expand_dims(a, {0, 2}), expand_dims(reverse(v), {1, 2}), {.padding = Padding::Pairs{{front, all - front}}});
  return squeeze(sums, {0, 2});
}

} // namespace

Tensor convolve(const Operand &a, const Operand &v, const std::string &mode) {
  ArrayCall call(a, "convolve");
  return convolved(a, v, false, mode, call);
}

Tensor correlate(const Operand &a, const Operand &v, const std::string &mode) {
  ArrayCall call(a, "correlate");
  return convolved(a, v, true, mode, call);
}

Tensor polyval(const Operand &coefficients, const Operand &operand) {
  ArrayCall call(coefficients, "polyval");
  const auto [p, x] = detail::paired(coefficients, operand);
  if (p.rank() != 1)
    throw ShapeError(absl::StrCat("polyval: the coefficients must be a vector, not ", typeOf(p)), call.where);
  if (!p.shape().is_known())
    throw StateError("polyval: the number of coefficients must be known while tracing", call.where);
  Tensor result = zeros_like(x);
  for (const Tensor &coefficient : unstack(p))
    result = result * x + coefficient;
  return result;
}

} // namespace calque
