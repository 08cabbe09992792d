// Windows, and transforms of the segments of a signal.
#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "calque/fft.h"
#include "calque/warnings.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/operations/FourierCalls.h"

#include <array>
#include <cmath>
#include <numbers>

namespace calque::fft {

using detail::TransformCall;
using detail::typeOf;

namespace {

// A window whose number j of m, symmetric ones, is at(j, m); a window of one number is 1.
template <typename At>
Tensor window(std::int64_t n, const WindowOptions &options, SourceLocation line, const char *function, At at) {
  TransformCall call(line, function);
  if (n < 0)
    throw ValueError(absl::StrCat(function, ": a window has 0 numbers or more, not ", n), call.where);
  const std::int64_t m = options.sym || n < 2 ? n : n + 1;
  return call.constant(n, options.dtype, [&](std::int64_t j) {
    return m == 1 ? 1.0 : at(static_cast<double>(j), static_cast<double>(m));
  });
}

// A sum of cosines.
Tensor cosines(std::int64_t n, const WindowOptions &options, SourceLocation where, const char *function,
               std::initializer_list<double> coefficients) {
  return window(n, options, where, function, [&](double j, double m) {
    double sum = 0, k = 0;
    for (double coefficient : coefficients)
      sum += coefficient * std::cos(k++ * (2 * std::numbers::pi * j / (m - 1) - std::numbers::pi));
    return sum;
  });
}

} // namespace

Tensor boxcar(std::int64_t n, WindowOptions options, SourceLocation where) {
  return window(n, options, where, "boxcar", [](double, double) { return 1.0; });
}
Tensor bartlett(std::int64_t n, WindowOptions options, SourceLocation where) {
  return window(n, options, where, "bartlett",
                [](double j, double m) { return j <= (m - 1) / 2 ? 2 * j / (m - 1) : 2 - 2 * j / (m - 1); });
}
Tensor hann(std::int64_t n, WindowOptions options, SourceLocation where) {
  return cosines(n, options, where, "hann", {0.5, 0.5});
}
Tensor hamming(std::int64_t n, WindowOptions options, SourceLocation where) {
  return cosines(n, options, where, "hamming", {0.54, 0.46});
}
Tensor blackman(std::int64_t n, WindowOptions options, SourceLocation where) {
  return cosines(n, options, where, "blackman", {0.42, 0.5, 0.08});
}
Tensor nuttall(std::int64_t n, WindowOptions options, SourceLocation where) {
  return cosines(n, options, where, "nuttall", {0.3635819, 0.4891775, 0.1365995, 0.0106411});
}
Tensor blackmanharris(std::int64_t n, WindowOptions options, SourceLocation where) {
  return cosines(n, options, where, "blackmanharris", {0.35875, 0.48829, 0.14128, 0.01168});
}
Tensor flattop(std::int64_t n, WindowOptions options, SourceLocation where) {
  return cosines(n, options, where, "flattop", {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368});
}
Tensor cosine(std::int64_t n, WindowOptions options, SourceLocation where) {
  return window(n, options, where, "cosine",
                [](double j, double m) { return std::sin(std::numbers::pi / m * (j + 0.5)); });
}
Tensor gaussian(std::int64_t n, double std, WindowOptions options, SourceLocation where) {
  if (!(std > 0))
    throw ValueError(absl::StrCat("gaussian: std must be above 0, not ", std), where);
  return window(n, options, where, "gaussian", [&](double j, double m) {
    const double x = (j - (m - 1) / 2) / std;
    return std::exp(-x * x / 2);
  });
}
Tensor tukey(std::int64_t n, double alpha, WindowOptions options, SourceLocation where) {
  if (std::isnan(alpha))
    throw ValueError("tukey: alpha must be a number, not nan", where);
  return window(n, options, where, "tukey", [&](double j, double m) {
    if (alpha <= 0)
      return 1.0;
    if (alpha >= 1)
      return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * j / (m - 1));
    const double width = std::floor(alpha * (m - 1) / 2), x = 2 * j / alpha / (m - 1);
    if (j <= width)
      return 0.5 * (1 + std::cos(std::numbers::pi * (x - 1)));
    return j < m - width - 1 ? 1.0 : 0.5 * (1 + std::cos(std::numbers::pi * (x - 2 / alpha + 1)));
  });
}
namespace {
// exp(-x) I0(x). From where I0 overflows, the first terms of its asymptotic series are exact to the last digit
// (Abramowitz and Stegun, 9.7.1).
double scaledBessel(double x) {
  if (x < 700)
    return std::exp(-x) * std::cyl_bessel_i(0, x);
  const double y = 1 / (8 * x);
  return (1 + y * (1 + y * (4.5 + y * 37.5))) / std::sqrt(2 * std::numbers::pi * x);
}
} // namespace
Tensor kaiser(std::int64_t n, double beta, WindowOptions options, SourceLocation where) {
  if (!std::isfinite(beta))
    throw ValueError(absl::StrCat("kaiser: beta must be finite, not ", beta), where);
  const double whole = std::fabs(beta);
  return window(n, options, where, "kaiser", [&](double j, double m) {
    const double x = 2 * j / (m - 1) - 1, part = whole * std::sqrt(std::max(0.0, 1 - x * x));
    return std::exp(part - whole) * (scaledBessel(part) / scaledBessel(whole));
  });
}

//===-- Short-time transforms -------------------------------------------------------------------===//

namespace {

// The options of a call, checked.
class Segments {
public:
  Segments(const StftOptions &options, DType dtype, const TransformCall &call)
      : length(options.nperseg), step(options.nperseg - options.noverlap.value_or(options.nperseg / 2)),
        transform(options.nfft.value_or(options.nperseg)), isOfUser(options.window.has_value()), call(call) {
    call.checkLength(length);
    if (step < 1 || step > length)
      throw ValueError(absl::StrCat(call.function, ": noverlap must be from 0 to nperseg - 1 = ", length - 1, ", not ",
                                    length - step),
                       call.where);
    if (transform < length)
      throw ValueError(absl::StrCat(call.function, ": nfft must be nperseg = ", length, " or more, not ", transform),
                       call.where);
    window = options.window ? *options.window : hann(length, {.sym = false, .dtype = dtype}, call.where);
    if (window.rank() != 1 || !detail::isKnownTo(window.shape()[0], length) || window.dtype() != dtype)
      throw ShapeError(
          absl::StrCat(call.function, ": the window is ", name_of(dtype), " [", length, "], not ", typeOf(window)),
          call.where);
  }

  // The places of the numbers of each segment, [segments, length].
  Tensor places(std::int64_t segments) const {
    const std::array<std::int64_t, 2> sizes{segments, length};
    detail::checkShape({segments, length}, DType::Int64, call.where);
    const detail::TypeRef type = detail::sharedType(DType::Int64, sizes);
    runtime::Buffer buffer = detail::allocate(*type, call.where, absl::StrCat(call.function, ": "));
    auto *place = static_cast<std::int64_t *>(buffer.data());
    for (std::int64_t s = 0; s < segments; ++s)
      for (std::int64_t j = 0; j < length; ++j)
        *place++ = s * step + j;
    return detail::makeConstant(type, std::move(buffer), call.where);
  }

  // The sums of the squares of windows at each place, but for so many at both ends. Those of the user's window have
  // derivatives, so that operations make them, and its numbers are only checked here. A window that is traced has none
  // that could be checked now.
  Tensor weights(std::int64_t segments, std::int64_t ends) const {
    const bool isTraced = window.impl()->trace != 0;
    const std::vector<double> numbers = isTraced ? std::vector<double>() : checkedWeights(segments, ends);
    if (!isOfUser && !isTraced)
      return call.constant(numbers, window.dtype());
    const std::int64_t size = (segments - 1) * step + length;
    const Tensor squares = reshape(broadcast_to(square(window), {segments, length}), {segments * length});
    const Tensor sums =
        scatter_add(zeros({size}, window.dtype()), reshape(places(segments), {segments * length}), squares);
    return detail::rowsAlong(sums, 0, ends, size - ends);
  }

  const std::int64_t length, step, transform;
  const bool isOfUser; // the window
  Tensor window;

private:
  std::vector<double> checkedWeights(std::int64_t segments, std::int64_t ends) const {
    const std::int64_t size = (segments - 1) * step + length;
    const std::vector<double> numbers =
        window.dtype() == DType::Float64 ? window.to_vector<double>() : widened(window.to_vector<float>());
    std::vector<double> sums(static_cast<std::size_t>(size), 0.0);
    for (std::int64_t s = 0; s < segments; ++s)
      for (std::int64_t j = 0; j < length; ++j)
        sums[static_cast<std::size_t>(s * step + j)] +=
            numbers[static_cast<std::size_t>(j)] * numbers[static_cast<std::size_t>(j)];
    std::vector<double> inside(sums.begin() + ends, sums.end() - ends);
    for (std::size_t i = 0; i < inside.size(); ++i)
      if (!(inside[i] > 1e-10))
        throw ValueError(absl::StrCat("istft: the squares of the windows sum to ", inside[i], " at place ", i,
                                      ", so that the number there can't be found"),
                         call.where);
    return inside;
  }

  static std::vector<double> widened(const std::vector<float> &numbers) { return {numbers.begin(), numbers.end()}; }
  const TransformCall &call;
};

Tensor padLast(const Tensor &x, std::int64_t before, std::int64_t behind) {
  std::vector<std::int64_t> low(static_cast<std::size_t>(x.rank()), 0), high = low;
  low.back() = before;
  high.back() = behind;
  return before || behind ? pad(x, low, high) : x;
}

// The options for a signal of this size: a segment is no longer than it.
StftOptions fitted(StftOptions options, const Tensor &x, std::int64_t size, const TransformCall &call) {
  if (options.nperseg <= size)
    return options;
  if (options.window)
    throw ValueError(
        absl::StrCat("stft: the window of ", options.nperseg, " numbers is longer than the ", size, " of ", typeOf(x)),
        call.where);
  detail::warn(absl::StrCat("stft: nperseg = ", options.nperseg, " is more than the ", size, " numbers of ", typeOf(x),
                            ", and ", size, " is taken"),
               call.where);
  options.nperseg = size;
  return options;
}

} // namespace

Tensor stft(const Operand &given, StftOptions options) {
  TransformCall call(given, "stft");
  Tensor x = call.realOf(given.toTensor());
  if (x.rank() < 1)
    throw ShapeError(absl::StrCat("stft: takes numbers along an axis, not ", typeOf(x)), call.where);
  const std::int64_t last = x.rank() - 1;
  const std::int64_t numbers = call.knownSize(call.resized(x, last, std::nullopt), last);
  const Segments segments(fitted(options, x, numbers, call), x.dtype(), call);
  const std::int64_t half = options.boundary ? segments.length / 2 : 0;
  const std::int64_t size = numbers + 2 * half;
  const std::int64_t over = (size - segments.length) % segments.step;
  const std::int64_t more = options.padded && over ? segments.step - over : 0;
  const std::int64_t count = (size + more - segments.length) / segments.step + 1;
  const Tensor framed = gather(padLast(x, half, half + more), segments.places(count), last) * segments.window;
  const Tensor spectra = rfft(framed, {.n = segments.transform});
  const Tensor scale = 1 / sum(segments.window);
  return moveaxis(spectra * complex(scale, zeros_like(scale)), -1, -2);
}

Tensor istft(const Operand &given, StftOptions options) {
  TransformCall call(given, "istft");
  const Tensor z = given.toTensor();
  if (!is_complex(z.dtype()) || z.rank() < 2)
    throw ShapeError(absl::StrCat("istft: takes complex numbers [..., frequencies, segments], not ", typeOf(z)),
                     call.where);
  const Segments segments(options, real_of(z.dtype()), call);
  const std::int64_t frequencies = call.knownSize(z, z.rank() - 2), count = call.knownSize(z, z.rank() - 1);
  if (frequencies != segments.transform / 2 + 1)
    throw ShapeError(absl::StrCat("istft: a transform of ", segments.transform, " numbers has ",
                                  segments.transform / 2 + 1, " frequencies, not ", typeOf(z)),
                     call.where);
  if (count < 1)
    throw ShapeError(absl::StrCat("istft: there is no segment in ", typeOf(z)), call.where);
  const std::int64_t size = (count - 1) * segments.step + segments.length, last = z.rank() - 2;
  const Tensor framed =
      detail::rowsAlong(irfft(moveaxis(z, -1, -2), {.n = segments.transform}), z.rank() - 1, 0, segments.length);
  const Tensor places = reshape(segments.places(count), {count * segments.length});
  // Adds segments at their places.
  auto added = [&](const Tensor &flat, std::int64_t axis) {
    Shape shape = flat.shape();
    shape[static_cast<std::size_t>(axis)] = size;
    return scatter_add(zeros(shape, flat.dtype()), places, flat, axis);
  };
  const Tensor x = added(detail::mergeDims(framed * (segments.window * sum(segments.window)), last), last);
  const std::int64_t half = options.boundary ? segments.length / 2 : 0;
  if (size - 2 * half < 1)
    throw ValueError(
        absl::StrCat("istft: ", count, " segments of ", segments.length, " numbers leave none between the boundaries"),
        call.where);
  return detail::rowsAlong(x, last, half, size - half) / segments.weights(count, half);
}

} // namespace calque::fft
