// Sequences of points that fill a cube evenly.
#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/call_site.h"
#include "calque/control_flow.h"
#include "calque/functions.h"
#include "calque/random.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/operations/RandomStream.h"
#include "frontend/operations/SobolNumbers.h"

namespace calque::random {

namespace {

constexpr std::int64_t kHaltonDimensions = 1000;

void requireSequence(const char *name, std::int64_t count, std::int64_t dimensions, std::int64_t mostDimensions,
                     std::int64_t mostPoints, const SequenceOptions &options, SourceLocation where) {
  if (count < 0 || options.first < 0 || count > mostPoints || options.first > mostPoints - count)
    throw ValueError(absl::StrCat(name, ": the points are among those from 0 to ", mostPoints, ", unlike ", count,
                                  " from ", options.first, " on"),
                     where);
  if (dimensions < 0 || dimensions > mostDimensions)
    throw ValueError(absl::StrCat(name, ": has from 0 to ", mostDimensions, " dimensions, not ", dimensions), where);
  if (!is_floating(options.dtype))
    throw DTypeError(
        absl::StrCat(name, ": makes points of ", names_of({DTypeKind::Float}), ", not ", name_of(options.dtype)),
        where);
  if (options.shift && (!is_floating(options.shift->dtype()) || options.shift->shape() != Shape{dimensions}))
    throw ShapeError(absl::StrCat(name, ": the shift has one number for each of ", dimensions, " dimensions, unlike ",
                                  detail::typeOf(*options.shift)),
                     where);
}

// Points of float64 in [0, 1), moved and as the type.
Tensor finished(Tensor points, const SequenceOptions &options) {
  if (options.shift)
    points = mod(points + cast(*options.shift, DType::Float64), 1);
  if (options.dtype != DType::Float64)
    points = cast(points, options.dtype);
  return minimum(points, detail::lastBelow(1, 0, options.dtype));
}

std::vector<std::int64_t> primes(std::int64_t count) {
  std::vector<std::int64_t> found;
  for (std::int64_t n = 2; std::ssize(found) < count; ++n) {
    bool isPrime = true;
    for (std::int64_t p : found) {
      if (p * p > n)
        break;
      isPrime &= n % p != 0;
    }
    if (isPrime)
      found.push_back(n);
  }
  return found;
}

} // namespace

// The number of a point, as a Gray code, says which direction numbers are added without carry.
Tensor sobol(std::int64_t count, std::int64_t dimensions, SequenceOptions options, SourceLocation line) {
  SourceLocation where = detail::userLine(line);
  CallSite site(where, "sobol");
  requireSequence("sobol", count, dimensions, kSobolDimensions, std::int64_t(1) << kSobolBits, options, where);
  const Tensor index = arange(options.first, options.first + count, std::int64_t(1), DType::Int64);
  const Tensor gray = expand_dims(bitwise_xor(index, right_shift(index, 1)), {-1});
  Tensor sum = zeros({count, dimensions}, DType::Int64);
  for (std::int64_t bit = 0; bit < kSobolBits && ((options.first + count - 1) >> bit) > 0; ++bit) {
    std::vector<std::int64_t> row;
    for (std::int64_t d = 0; d < dimensions; ++d)
      row.push_back(kSobolNumbers[d][bit]);
    const Tensor isSet = -bitwise_and(right_shift(gray, bit), 1); // all bits, or none
    sum = bitwise_xor(sum, bitwise_and(isSet, tensor(row)));
  }
  return finished(cast(sum, DType::Float64) * 0x1p-32, options);
}

// The digits of the number of a point in a prime base, in reverse order behind the point.
Tensor halton(std::int64_t count, std::int64_t dimensions, SequenceOptions options, SourceLocation line) {
  SourceLocation where = detail::userLine(line);
  CallSite site(where, "halton");
  // Up to so many points, the reversed digits are an int64 in every base.
  requireSequence("halton", count, dimensions, kHaltonDimensions, std::int64_t(1) << 49, options, where);
  const Tensor base = tensor(primes(dimensions));
  const Tensor index = arange(options.first, options.first + count, std::int64_t(1), DType::Int64);
  const Tensor none = zeros({count, dimensions}, DType::Int64), left = expand_dims(index, {-1}) + none;
  auto [rest, reversed, scale] =
      while_loop([](const Tensor &rest, const Tensor &, const Tensor &) { return any(greater(rest, 0)); },
                 [&](const Tensor &rest, const Tensor &reversed, const Tensor &scale) {
                   const Tensor isLeft = greater(rest, 0), next = rest / base;
                   return std::tuple(next, calque::where(isLeft, reversed * base + (rest - next * base), reversed),
                                     calque::where(isLeft, scale * base, scale));
                 },
                 std::tuple(left, none, none + 1));
  return finished(cast(reversed, DType::Float64) / cast(scale, DType::Float64), options);
}

} // namespace calque::random
