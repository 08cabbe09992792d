// Public functions that are computed by Fourier transforms: cosine and sine transforms, and convolutions.
#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "calque/fft.h"
#include "frontend/operations/FourierCalls.h"

#include <cmath>
#include <numbers>

namespace calque::fft {

using detail::TransformCall;
using detail::typeOf;

namespace {

//===-- Cosine and sine transforms --------------------------------------------------------------===//
//
// Type 2 is that of J. Makhoul, A fast cosine transform in one and two dimensions, IEEE Trans. Acoust. Speech Signal
// Process. 28, 1980, and type 3 its inverse. Types 1 are real transforms of numbers that are continued to both sides.
// Type 4 of an even length is a complex transform of half of the length: H. S. Malvar, Signal processing with lapped
// transforms, Artech House, 1992.

// All are along the last axis, of n numbers.
class Trigonometric {
public:
  Trigonometric(const Tensor &x, const TransformCall &call)
      : dtype(x.dtype()), n(call.knownSize(x, x.rank() - 1)), last(x.rank() - 1), call(call) {}

  Tensor cosines(int type, const Tensor &x) const {
    switch (type) {
    case 1:
      return part(irfft(complex(x, zeros_like(x)), {.n = 2 * (n - 1), .norm = "forward"}), 0, n);
    case 2:
      return cosines2(x);
    case 3:
      return cosines3(x);
    default:
      return n % 2 == 0 ? cosines4Even(x) : cosines4Odd(x);
    }
  }

  // Sines are cosines of numbers with alternating signs, or in the opposite order.
  Tensor sines(int type, const Tensor &x) const {
    switch (type) {
    case 1: {
      std::vector<std::int64_t> one(static_cast<std::size_t>(last + 1), 0);
      one.back() = 1;
      const Tensor padded = pad(x, one, one);
      return part(irfft(complex(zeros_like(padded), -padded), {.n = 2 * (n + 1), .norm = "forward"}), 1, n + 1);
    }
    case 2:
      return turned(cosines2(x * signs()));
    case 3:
      return cosines3(turned(x)) * signs();
    default:
      return cosines(4, turned(x)) * signs();
    }
  }

  // x with its number at a place multiplied.
  Tensor scaledAt(const Tensor &x, std::int64_t at, double factor) const {
    std::vector<double> factors(static_cast<std::size_t>(n), 1.0);
    factors[static_cast<std::size_t>(at)] = factor;
    return x * numbers(factors);
  }

private:
  Tensor numbers(const std::vector<double> &values) const { return call.constant(values, dtype); }
  // exp(i angle) for each of n angles.
  template <typename Angle> Tensor turns(std::int64_t count, Angle angle) const {
    std::vector<double> re, im;
    for (std::int64_t k = 0; k < count; ++k) {
      re.push_back(std::cos(angle(k)));
      im.push_back(std::sin(angle(k)));
    }
    return complex(numbers(re), numbers(im));
  }
  Tensor part(const Tensor &x, std::int64_t start, std::int64_t end) const {
    return detail::rowsAlong(x, last, start, end);
  }
  Tensor turned(const Tensor &x) const { return reverse(x, {last}); }
  Tensor signs() const {
    std::vector<double> values;
    for (std::int64_t k = 0; k < n; ++k)
      values.push_back(k % 2 ? -1 : 1);
    return numbers(values);
  }
  Tensor chosen(const Tensor &x, const std::vector<std::int64_t> &places) const {
    return gather(x, tensor<std::int64_t>(places), last);
  }
  // Even places, and then odd ones backwards; and where each place of x went.
  std::vector<std::int64_t> evenThenOdd() const {
    std::vector<std::int64_t> order;
    for (std::int64_t j = 0; j < n; j += 2)
      order.push_back(j);
    for (std::int64_t j = n - 1 - n % 2; j > 0; j -= 2)
      order.push_back(j);
    return order;
  }

  // With V the transform of the numbers in that order, y[k] - i y[n - k] = 2 exp(-i pi k / (2 n)) V[k].
  Tensor cosines2(const Tensor &x) const {
    const std::int64_t half = n / 2 + 1;
    const Tensor v = rfft(chosen(x, evenThenOdd()));
    const Tensor y =
        2 *
        (v * turns(half, [&](std::int64_t k) { return -std::numbers::pi * static_cast<double>(k) / (2 * size()); }));
    const Tensor high = -imag(y);
    // y[n - k] for k from (n - 1) / 2 down to 1.
    return concat({real(y), turned(part(high, 1, n - half + 1))}, last);
  }
  Tensor cosines3(const Tensor &x) const {
    const std::int64_t half = n / 2 + 1;
    std::vector<std::int64_t> opposite, back(static_cast<std::size_t>(n));
    std::vector<double> mask;
    for (std::int64_t k = 0; k < half; ++k) {
      opposite.push_back((n - k) % n);
      mask.push_back(k ? -1 : 0);
    }
    const Tensor y = complex(part(x, 0, half), chosen(x, opposite) * numbers(mask));
    const Tensor v =
        irfft(y * turns(half, [&](std::int64_t k) { return std::numbers::pi * static_cast<double>(k) / (2 * size()); }),
              {.n = n, .norm = "forward"});
    const std::vector<std::int64_t> order = evenThenOdd();
    for (std::int64_t j = 0; j < n; ++j)
      back[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])] = j;
    return chosen(v, back);
  }
  Tensor cosines4Even(const Tensor &x) const {
    const std::int64_t half = n / 2;
    std::vector<std::int64_t> even, odd, back(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < half; ++j) {
      even.push_back(2 * j);
      odd.push_back(n - 1 - 2 * j);
      back[static_cast<std::size_t>(2 * j)] = j;
      back[static_cast<std::size_t>(n - 1 - 2 * j)] = half + j;
    }
    const Tensor turn =
        turns(half, [&](std::int64_t j) { return -std::numbers::pi * static_cast<double>(8 * j + 1) / (8 * size()); });
    const Tensor y = 2 * (fft(complex(chosen(x, even), chosen(x, odd)) * turn) * turn);
    return chosen(concat({real(y), -imag(y)}, last), back);
  }
  Tensor cosines4Odd(const Tensor &x) const {
    const Tensor turned = complex(x, zeros_like(x)) * turns(n, [&](std::int64_t j) {
                            return -std::numbers::pi * static_cast<double>(j) / (2 * size());
                          });
    const Tensor y = part(fft(turned, {.n = 2 * n}), 0, n) * turns(n, [&](std::int64_t k) {
                       return -std::numbers::pi * static_cast<double>(2 * k + 1) / (4 * size());
                     });
    return 2 * real(y);
  }

  double size() const { return static_cast<double>(n); }

  const DType dtype;
  const std::int64_t n, last;
  const TransformCall &call;
};

Tensor trigonometric(const Operand &given, const DctOptions &options, bool isSine, bool isInverse,
                     const char *function) {
  TransformCall call(given, function);
  if (options.type < 1 || options.type > 4)
    throw ValueError(absl::StrCat(function, ": the type is 1, 2, 3 or 4, not ", options.type), call.where);
  const std::string &norm = options.norm;
  if (norm != "backward" && norm != "ortho" && norm != "forward")
    throw ValueError(absl::StrCat(function, R"(: the norm is "backward", "ortho" or "forward", not ")", norm, "\""),
                     call.where);
  const Tensor real = call.realOf(given.toTensor());
  const std::int64_t axis = call.axis(options.axis, real);
  Tensor x = call.axisLast(call.resized(real, axis, options.n), axis);
  const std::int64_t n = call.knownSize(x, x.rank() - 1);
  if (options.type == 1 && !isSine && n < 2)
    throw ShapeError(absl::StrCat(function, ": type 1 takes 2 numbers or more, not ", typeOf(real)), call.where);
  // Types 2 and 3 are each the other one's inverse.
  const int type = isInverse && (options.type == 2 || options.type == 3) ? 5 - options.type : options.type;
  const bool isOrtho = norm == "ortho";
  const Trigonometric transform(x, call);
  const double root = std::sqrt(2.0);
  if (isOrtho && type == 3)
    x = transform.scaledAt(x, isSine ? n - 1 : 0, root);
  if (isOrtho && type == 1 && !isSine)
    x = transform.scaledAt(transform.scaledAt(x, 0, root), n - 1, root);
  Tensor y = isSine ? transform.sines(type, x) : transform.cosines(type, x);
  if (isOrtho && type == 2)
    y = transform.scaledAt(y, isSine ? n - 1 : 0, 1 / root);
  if (isOrtho && type == 1 && !isSine)
    y = transform.scaledAt(transform.scaledAt(y, 0, 1 / root), n - 1, 1 / root);
  const double whole = 2 * static_cast<double>(type != 1 ? n : isSine ? n + 1 : n - 1);
  if (isOrtho)
    y = y * (1 / std::sqrt(whole));
  else if ((norm == "forward") != isInverse)
    y = y * (1 / whole);
  return call.axisBack(y, axis);
}

} // namespace

Tensor dct(const Operand &x, DctOptions options) { return trigonometric(x, options, false, false, "dct"); }
Tensor idct(const Operand &x, DctOptions options) { return trigonometric(x, options, false, true, "idct"); }
Tensor dst(const Operand &x, DctOptions options) { return trigonometric(x, options, true, false, "dst"); }
Tensor idst(const Operand &x, DctOptions options) { return trigonometric(x, options, true, true, "idst"); }

//===-- Convolutions ----------------------------------------------------------------------------===//

Tensor fftconvolve(const Operand &given, const Operand &other, ConvolveOptions options) {
  TransformCall call(given, "fftconvolve");
  const Tensor a = given.toTensor(), b = other.toTensor();
  if (a.rank() != b.rank())
    throw ShapeError(absl::StrCat("fftconvolve: takes two tensors of one rank, not ", typeOf(a), " and ", typeOf(b)),
                     call.where);
  if (a.dtype() != b.dtype())
    throw DTypeError(absl::StrCat("fftconvolve: takes two tensors of one type, not ", typeOf(a), " and ", typeOf(b)),
                     call.where);
  const bool isFull = options.mode == "full", isSame = options.mode == "same", isValid = options.mode == "valid";
  if (!isFull && !isSame && !isValid)
    throw ValueError(absl::StrCat(R"(fftconvolve: the mode is "full", "same" or "valid", not ")", options.mode, "\""),
                     call.where);
  const bool isComplex = is_complex(a.dtype());
  if (!isComplex)
    call.realOf(a);
  const std::vector<std::int64_t> axes = call.axesOrAll(options.axes, a);
  if (axes.empty())
    return a * b;
  std::vector<std::int64_t> lengths, ofA, ofB;
  bool isFirstLarger = true, isSecondLarger = true;
  for (std::int64_t axis : axes) {
    const std::int64_t m = call.knownSize(a, axis), n = call.knownSize(b, axis);
    if (m == 0 || n == 0)
      throw ShapeError(absl::StrCat("fftconvolve: there is nothing to convolve along axis ", axis, " of ", typeOf(a),
                                    " and ", typeOf(b)),
                       call.where);
    isFirstLarger &= m >= n;
    isSecondLarger &= n >= m;
    ofA.push_back(m);
    ofB.push_back(n);
    lengths.push_back(next_fast_len(m + n - 1, call.where));
  }
  if (isValid && !isFirstLarger && !isSecondLarger)
    throw ValueError(
        absl::StrCat("fftconvolve: for \"valid\" one operand must be as large as the other along all axes, "
                     "not ",
                     typeOf(a), " and ", typeOf(b)),
        call.where);
  const FftnOptions of{.s = lengths, .axes = axes};
  Tensor product = isComplex ? ifftn(fftn(a, of) * fftn(b, of), of) : irfftn(rfftn(a, of) * rfftn(b, of), of);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t full = ofA[i] + ofB[i] - 1;
    const std::int64_t size = isFull ? full : isSame ? ofA[i] : std::max(ofA[i], ofB[i]) - std::min(ofA[i], ofB[i]) + 1;
    const std::int64_t start = (full - size) / 2;
    product = detail::rowsAlong(product, axes[i], start, start + size);
  }
  return product;
}

} // namespace calque::fft
