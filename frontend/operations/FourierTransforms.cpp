// Public functions for Fourier transforms.
#include "calque/fft.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/FourierCalls.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace calque::fft {

using detail::TransformCall;
using detail::typeOf;
using schema::OpId;

namespace {

// What a transform is divided by, as Calque_FourierOp has it: nothing, the root of n or n.
enum Divisor : std::int64_t { kNothing, kRoot, kLength };

Divisor divisorOf(const std::string &norm, bool isInverse, const TransformCall &call) {
  if (norm == "ortho")
    return kRoot;
  if (norm == "backward")
    return isInverse ? kLength : kNothing;
  if (norm == "forward")
    return isInverse ? kNothing : kLength;
  throw ValueError(absl::StrCat(call.function, R"(: the norm is "backward", "ortho" or "forward", not ")", norm, "\""),
                   call.where);
}

// The transform of complex numbers along an axis.
Tensor alongAxis(const Tensor &x, std::int64_t axis, bool isInverse, Divisor divisor, const TransformCall &call) {
  auto apply = [&](const Tensor &value, bool columns) {
    const std::array<schema::Attribute, 3> attributes{columns, isInverse, static_cast<std::int64_t>(divisor)};
    return detail::apply(OpId::Fourier, {&value, 1}, attributes, call.where);
  };
  if (axis >= x.rank() - 2)
    return apply(x, axis == x.rank() - 2);
  Tensor merged = x;
  while (merged.rank() > axis + 2)
    merged = detail::mergeDims(merged, merged.rank() - 2);
  return reshape(apply(merged, true), x.shape());
}

Tensor complexTransform(const Operand &given, const FftOptions &options, bool isInverse, const char *function) {
  TransformCall call(given, function);
  const Divisor divisor = divisorOf(options.norm, isInverse, call);
  const Tensor own = given.toTensor(), x = call.complexOf(own);
  const std::int64_t axis = call.axis(options.axis, own);
  return alongAxis(call.resized(x, axis, options.n), axis, isInverse, divisor, call);
}

// Of real numbers along the last axis.
Tensor halfSpectrum(const Tensor &x, Divisor divisor, const TransformCall &call) {
  const std::array<schema::Attribute, 2> attributes{static_cast<std::int64_t>(divisor), schema::Scalar(1.0)};
  return detail::apply(OpId::RealFourier, {&x, 1}, attributes, call.where);
}
Tensor realOfHalf(const Tensor &x, std::int64_t n, Divisor divisor, const TransformCall &call) {
  const std::array<schema::Attribute, 3> attributes{n, static_cast<std::int64_t>(divisor), schema::Scalar(2.0)};
  return detail::apply(OpId::FourierToReal, {&x, 1}, attributes, call.where);
}

Tensor realTransform(const Tensor &x, std::int64_t axis, std::optional<std::int64_t> n, Divisor divisor,
                     const TransformCall &call) {
  const Tensor sized = call.resized(x, axis, n);
  return call.axisBack(halfSpectrum(call.axisLast(sized, axis), divisor, call), axis);
}

// The number of real numbers that the frequencies of `x`, as the user gave it, are of.
std::int64_t lengthOf(const Tensor &x, std::int64_t axis, std::optional<std::int64_t> n, const TransformCall &call) {
  if (!n) {
    const std::int64_t given = call.knownSize(x, axis);
    n = 2 * (given - 1);
    if (given < 2)
      throw ShapeError(
          absl::StrCat(call.function, ": of ", given, " frequencies no length follows; give n, in ", typeOf(x)),
          call.where);
  }
  call.checkLength(*n);
  return *n;
}

Tensor inverseReal(const Tensor &x, std::int64_t axis, std::int64_t n, Divisor divisor, const TransformCall &call) {
  const Tensor sized = call.resized(x, axis, n / 2 + 1);
  return call.axisBack(realOfHalf(call.axisLast(sized, axis), n, divisor, call), axis);
}

//===-- Several axes ----------------------------------------------------------------------------===//

struct Axes {
  std::vector<std::int64_t> axes;
  std::vector<std::optional<std::int64_t>> sizes;
};

Axes axesOf(const Tensor &x, const FftnOptions &options, bool isOfTwo, const TransformCall &call) {
  const std::vector<std::int64_t> &s = options.s;
  AxisList list = options.axes;
  if (list.numbers().empty() && isOfTwo)
    list = {-2, -1};
  if (list.numbers().empty() && !s.empty()) {
    std::vector<std::int64_t> last;
    for (auto i = -static_cast<std::int64_t>(s.size()); i < 0; ++i)
      last.push_back(i);
    list = std::move(last);
  }
  Axes result{call.axesOrAll(list, x), {}};
  if (!s.empty() && s.size() != result.axes.size())
    throw ValueError(
        absl::StrCat(call.function, ": there are ", s.size(), " lengths for ", result.axes.size(), " axes"),
        call.where);
  for (std::size_t i = 0; i < result.axes.size(); ++i)
    result.sizes.push_back(s.empty() || s[i] == -1 ? std::nullopt : std::optional(s[i]));
  return result;
}

Tensor complexAlong(Tensor x, const Axes &axes, std::size_t count, bool isInverse, Divisor divisor,
                    const TransformCall &call) {
  for (std::size_t i = 0; i < count; ++i)
    x = call.resized(x, axes.axes[i], axes.sizes[i]);
  for (std::size_t i = count; i-- > 0;)
    x = alongAxis(x, axes.axes[i], isInverse, divisor, call);
  return x;
}

Tensor severalComplex(const Operand &given, const FftnOptions &options, bool isOfTwo, bool isInverse,
                      const char *function) {
  TransformCall call(given, function);
  const Divisor divisor = divisorOf(options.norm, isInverse, call);
  const Tensor own = given.toTensor(), x = call.complexOf(own);
  const Axes axes = axesOf(own, options, isOfTwo, call);
  return complexAlong(x, axes, axes.axes.size(), isInverse, divisor, call);
}

void requireAnAxis(const Axes &axes, const TransformCall &call) {
  if (axes.axes.empty())
    throw ValueError(absl::StrCat(call.function, ": there is no axis of a scalar"), call.where);
}

Tensor severalReal(const Operand &given, const FftnOptions &options, bool isOfTwo, const char *function) {
  TransformCall call(given, function);
  const Divisor divisor = divisorOf(options.norm, false, call);
  const Tensor x = call.realOf(given.toTensor());
  const Axes axes = axesOf(x, options, isOfTwo, call);
  requireAnAxis(axes, call);
  const Tensor half = realTransform(x, axes.axes.back(), axes.sizes.back(), divisor, call);
  return complexAlong(half, axes, axes.axes.size() - 1, false, divisor, call);
}

Tensor severalToReal(const Operand &given, const FftnOptions &options, bool isOfTwo, const char *function) {
  TransformCall call(given, function);
  const Divisor divisor = divisorOf(options.norm, true, call);
  const Tensor own = given.toTensor(), x = call.complexOf(own);
  const Axes axes = axesOf(own, options, isOfTwo, call);
  requireAnAxis(axes, call);
  const std::int64_t n = lengthOf(own, axes.axes.back(), axes.sizes.back(), call);
  const Tensor half = complexAlong(x, axes, axes.axes.size() - 1, true, divisor, call);
  return inverseReal(half, axes.axes.back(), n, divisor, call);
}

} // namespace

Tensor fft(const Operand &x, FftOptions options) { return complexTransform(x, options, false, "fft"); }
Tensor ifft(const Operand &x, FftOptions options) { return complexTransform(x, options, true, "ifft"); }

Tensor rfft(const Operand &given, FftOptions options) {
  TransformCall call(given, "rfft");
  const Divisor divisor = divisorOf(options.norm, false, call);
  const Tensor x = call.realOf(given.toTensor());
  return realTransform(x, call.axis(options.axis, x), options.n, divisor, call);
}

Tensor irfft(const Operand &given, FftOptions options) {
  TransformCall call(given, "irfft");
  const Divisor divisor = divisorOf(options.norm, true, call);
  const Tensor own = given.toTensor(), x = call.complexOf(own);
  const std::int64_t axis = call.axis(options.axis, own);
  return inverseReal(x, axis, lengthOf(own, axis, options.n, call), divisor, call);
}

Tensor hfft(const Operand &given, FftOptions options) {
  TransformCall call(given, "hfft");
  const Divisor divisor = divisorOf(options.norm, false, call);
  const Tensor own = given.toTensor(), x = call.complexOf(own);
  const std::int64_t axis = call.axis(options.axis, own);
  return inverseReal(conj(x), axis, lengthOf(own, axis, options.n, call), divisor, call);
}

Tensor ihfft(const Operand &given, FftOptions options) {
  TransformCall call(given, "ihfft");
  const Divisor divisor = divisorOf(options.norm, true, call);
  const Tensor x = call.realOf(given.toTensor());
  return conj(realTransform(x, call.axis(options.axis, x), options.n, divisor, call));
}

Tensor fftn(const Operand &x, FftnOptions options) { return severalComplex(x, options, false, false, "fftn"); }
Tensor ifftn(const Operand &x, FftnOptions options) { return severalComplex(x, options, false, true, "ifftn"); }
Tensor rfftn(const Operand &x, FftnOptions options) { return severalReal(x, options, false, "rfftn"); }
Tensor irfftn(const Operand &x, FftnOptions options) { return severalToReal(x, options, false, "irfftn"); }
Tensor fft2(const Operand &x, FftnOptions options) { return severalComplex(x, options, true, false, "fft2"); }
Tensor ifft2(const Operand &x, FftnOptions options) { return severalComplex(x, options, true, true, "ifft2"); }
Tensor rfft2(const Operand &x, FftnOptions options) { return severalReal(x, options, true, "rfft2"); }
Tensor irfft2(const Operand &x, FftnOptions options) { return severalToReal(x, options, true, "irfft2"); }

//===-- Frequencies -----------------------------------------------------------------------------===//

namespace {

// Rolls each axis by half of its size, rounded down, or back.
Tensor shifted(const Operand &given, const AxisList &axes, bool isBack, const char *function) {
  TransformCall call(given, function);
  Tensor x = given.toTensor();
  for (std::int64_t axis : call.axesOrAll(axes, x)) {
    const Size size = x.shape()[static_cast<std::size_t>(axis)];
    if (size.is_known()) {
      const std::int64_t half = size / 2;
      x = roll(x, isBack ? -half : half, axis);
    } else {
      const Tensor half = floor_divide(Operand(size).toTensor(DType::Int64), 2);
      x = roll(x, isBack ? -half : half, axis);
    }
  }
  return x;
}

Tensor frequencies(std::int64_t n, bool isOfReal, const FrequencyOptions &options, SourceLocation line,
                   const char *function) {
  detail::TransformCall call(line, function);
  call.checkLength(n);
  if (!std::isfinite(options.d) || options.d == 0)
    throw ValueError(absl::StrCat(function, ": the distance d of samples must be finite and not 0, not ", options.d),
                     call.where);
  return call.constant(isOfReal ? n / 2 + 1 : n, options.dtype, [&](std::int64_t k) {
    return static_cast<double>(isOfReal || k < n - n / 2 ? k : k - n) / (static_cast<double>(n) * options.d);
  });
}

} // namespace

Tensor fftshift(const Operand &x, const AxisList &axes) { return shifted(x, axes, false, "fftshift"); }
Tensor ifftshift(const Operand &x, const AxisList &axes) { return shifted(x, axes, true, "ifftshift"); }

Tensor fftfreq(std::int64_t n, FrequencyOptions options, SourceLocation where) {
  return frequencies(n, false, options, where, "fftfreq");
}
Tensor rfftfreq(std::int64_t n, FrequencyOptions options, SourceLocation where) {
  return frequencies(n, true, options, where, "rfftfreq");
}

std::int64_t next_fast_len(std::int64_t n, SourceLocation where) {
  const TransformCall call(where, "next_fast_len");
  call.checkLength(n);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> best;
  // Powers of 5, these times powers of 3, and these times powers of 2, as far as they are below n and int64 has them.
  auto forPowers = [&](std::int64_t start, std::int64_t factor, auto &&use) {
    std::int64_t length = start;
    for (use(length); length < n && length <= most / factor; use(length))
      length *= factor;
  };
  forPowers(1, 5, [&](std::int64_t fives) {
    forPowers(fives, 3, [&](std::int64_t threes) {
      forPowers(threes, 2, [&](std::int64_t length) {
        if (length >= n)
          best = std::min(best.value_or(length), length);
      });
    });
  });
  if (!best)
    throw ValueError(absl::StrCat("next_fast_len: no such length from ", n, " on is below 2^63"), call.where);
  return *best;
}

} // namespace calque::fft
