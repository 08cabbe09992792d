#include "calque/random.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/init_scope.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Trace.h"
#include "frontend/operations/RandomStream.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>

namespace calque {

namespace detail {
namespace {
std::int64_t numbersPerCounter(DType dtype) { return dtype == DType::Float64 ? 2 : 4; }
} // namespace

Tensor unitNumbers(const Shape &shape, const Tensor &state, DType dtype, SourceLocation where) {
  if (!shape.is_known())
    return applyOpen(schema::OpId::RandomUniformOpen, {&state, 1}, shape, {dtype}, where);
  schema::Attribute attributes[] = {knownDims(shape, where), dtype};
  return apply(schema::OpId::RandomUniform, {&state, 1}, attributes, where);
}

Tensor stateAfter(const Tensor &state, const Tensor &drawn, std::int64_t times, SourceLocation where) {
  DType dtype = is_floating(drawn.dtype()) ? drawn.dtype() : DType::Float32;
  Size count = drawn.size(where);
  Tensor counters;
  if (count.is_known()) {
    counters = tensor<std::int64_t>({0, times * random::counters_used(count, dtype, where)}, where);
  } else {
    CallSite site(where);
    std::int64_t perCounter = numbersPerCounter(dtype);
    Tensor used = (sizeAsTensor(count, where) + (perCounter - 1)) / perCounter;
    counters = used * tensor<std::int64_t>({0, times}, where);
  }
  return add(Operand(state, where), Operand(counters, where));
}

DType drawnType(DType dtype) { return is_half(dtype) ? DType::Float32 : dtype; }

double lastBelow(double bound, double least, DType dtype) {
  if (is_complex(dtype))
    return bound;
  return dispatch(dtype, [&]<typename T>(std::type_identity<T>) -> double {
    if constexpr (std::is_floating_point_v<T>) {
      return std::nextafter(static_cast<T>(bound), static_cast<T>(least));
    } else if constexpr (kIsHalf<T>) {
      const T rounded(bound);
      const float next = std::nextafter(float(rounded), float(T(least)));
      // Towards zero the bits of a half are those of the next smaller one.
      const std::uint16_t bits = rounded.bits();
      if (float(rounded) == 0)
        return float(T::from_bits(0x8001));
      return float(
          T::from_bits(static_cast<std::uint16_t>(std::fabs(next) < std::fabs(float(rounded)) ? bits - 1 : bits + 1)));
    } else {
      return bound;
    }
  });
}
} // namespace detail

void set_seed(std::int64_t seed, SourceLocation where) { random::global_generator().reset(seed, where); }

namespace random {
using detail::drawnType;
using detail::lastBelow;

namespace {
constexpr double kTwoPi = 6.283185307179586476925;

// Whether the bound is finite as a number of the type.
bool isFinite(double bound, DType dtype) {
  if (is_complex(dtype)) // which the draw refuses
    return true;
  return dispatch(dtype, [&]<typename T>(std::type_identity<T>) {
    return std::isfinite(static_cast<double>(static_cast<detail::Arithmetic<T>>(static_cast<T>(bound))));
  });
}

//===-- Integers ----------------------------------------------------------------------------------===//

// Uniform float32 numbers are digits to this base.
constexpr std::int64_t kBase = 1 << 24;

// How many digits make a number of the type. They have the bits of the largest interval, and at least 32 bits more, so
// that the probabilities of the integers differ little.
std::int64_t digitsOf(DType dtype) { return size_of(dtype) <= 4 ? 3 : 4; }

// floor(length * fraction) for a fraction 0.d1d2..., by long multiplication: the product of two digits has 48 bits. For
// lengths up to 2^64 the result wraps to int64, and so does its sum with the first integer, which is then right.
Tensor scaled(unsigned __int128 length, const std::vector<Tensor> &digits) {
  std::vector<std::int64_t> ofLength;
  for (; length > 0; length /= kBase)
    ofLength.push_back(static_cast<std::int64_t>(length % kBase));
  const auto last = static_cast<std::int64_t>(digits.size());
  Tensor carry, result;
  auto increase = [](Tensor &sum, const Tensor &by) { sum = sum.defined() ? sum + by : by; };
  for (std::int64_t place = -last; place < static_cast<std::int64_t>(ofLength.size()); ++place) {
    Tensor atPlace = carry;
    for (std::size_t i = 0; i < ofLength.size(); ++i) {
      std::int64_t behind = static_cast<std::int64_t>(i) - place; // the place of a digit of the fraction
      if (ofLength[i] != 0 && behind >= 1 && behind <= last)
        increase(atPlace, digits[static_cast<std::size_t>(behind) - 1] * ofLength[i]);
    }
    if (!atPlace.defined())
      continue;
    carry = Tensor();
    if (place < 0)
      carry = atPlace / kBase;
    else
      increase(result, place == 0 ? atPlace : atPlace * (std::int64_t(1) << (24 * place)));
  }
  return result;
}

// The finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}
} // namespace

Tensor state(std::int64_t key, std::int64_t counter, SourceLocation where) {
  return tensor<std::int64_t>({key, counter}, where);
}

std::int64_t counters_used(std::int64_t count, DType dtype, SourceLocation where) {
  if (count < 0)
    throw ValueError(absl::StrCat("counters_used: there are no ", count, " numbers"), detail::userLine(where));
  detail::requireElementType(dtype, detail::userLine(where));
  std::int64_t perCounter = dtype == DType::Float64 ? 2 : 4;
  return count / perCounter + (count % perCounter != 0);
}

Tensor stateless_uniform(const Shape &shape, const Operand &state, UniformOptions options) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "uniform");
  detail::requireElementType(options.dtype, where);
  double length = options.maxval - options.minval;
  if (!(length > 0) || !isFinite(length, options.dtype) || !isFinite(options.minval, options.dtype) ||
      !isFinite(options.maxval, options.dtype))
    throw ValueError(absl::StrCat("uniform: no number is in [", Number(options.minval).str(), ", ",
                                  Number(options.maxval).str(), "); minval must be less than maxval, and both finite"),
                     where);
  const DType drawn = drawnType(options.dtype);
  Tensor u = detail::unitNumbers(shape, state.toTensor(), drawn, where);
  if (options.minval != 0 || options.maxval != 1)
    u = Operand(u, where) * length + options.minval;
  else if (drawn == options.dtype)
    return u;
  // Rounding could give maxval, which is not in the interval.
  if (drawn != options.dtype)
    u = cast(Operand(u, where), options.dtype);
  return minimum(Operand(u, where), lastBelow(options.maxval, options.minval, options.dtype));
}

Tensor stateless_normal(const Shape &shape, const Operand &state, NormalOptions options) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "normal");
  detail::requireElementType(options.dtype, where);
  if (!(options.stddev >= 0) || !isFinite(options.stddev, options.dtype))
    throw ValueError(
        absl::StrCat("normal: a standard deviation is finite and not below 0, unlike ", Number(options.stddev).str()),
        where);
  const DType drawn = drawnType(options.dtype);
  Tensor first = state.toTensor();
  Tensor u = detail::unitNumbers(shape, first, drawn, where);
  Tensor v = detail::unitNumbers(shape, detail::stateAfter(first, u, 1, where), drawn, where);
  // u is in [0, 1), so 1 - u is never 0 and its logarithm is finite.
  Tensor result = sqrt(-2 * log1p(-u)) * cos(v * kTwoPi);
  if (options.mean != 0 || options.stddev != 1)
    result = result * options.stddev + options.mean;
  return drawn == options.dtype ? result : cast(Operand(result, where), options.dtype);
}

Tensor stateless_bernoulli(const Shape &shape, const Operand &state, double probability) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "bernoulli");
  if (!(probability >= 0 && probability <= 1))
    throw ValueError(absl::StrCat("bernoulli: a probability is in [0, 1], unlike ", Number(probability).str()), where);
  return less(Operand(detail::unitNumbers(shape, state.toTensor(), DType::Float32, where), where), probability);
}

Tensor stateless_randint(const Shape &shape, const Operand &state, std::int64_t minval,
                         std::optional<std::int64_t> maxval, IntegerOptions options) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "randint");
  if (!is_integer(options.dtype))
    throw DTypeError(absl::StrCat("randint: makes integers, not ", name_of(options.dtype)), where);
  std::int64_t smallest = 0, largest = 0;
  dispatch(options.dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      smallest = std::numeric_limits<T>::min();
      largest = static_cast<std::int64_t>(std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
    }
  });
  std::string interval = maxval ? absl::StrCat("[", minval, ", ", *maxval, ")") : absl::StrCat("[", minval, ", ...)");
  if (maxval && *maxval <= minval)
    throw ValueError(absl::StrCat("randint: no integer is in ", interval, "; minval must be less than maxval"), where);
  if (minval < smallest || minval > largest || (maxval && *maxval - 1 > largest))
    throw ValueError(absl::StrCat("randint: ", name_of(options.dtype), " does not hold all integers of ", interval),
                     where);
  const auto last = static_cast<__int128>(maxval ? *maxval - 1 : largest);
  Tensor first = state.toTensor(), current = first;
  std::vector<Tensor> digits;
  for (std::int64_t i = 0; i < digitsOf(options.dtype); ++i) {
    Tensor u = detail::unitNumbers(shape, current, DType::Float32, where);
    digits.push_back(cast(u * static_cast<double>(kBase), DType::Int64));
    if (i + 1 < digitsOf(options.dtype))
      current = detail::stateAfter(first, u, i + 1, where);
  }
  return cast(scaled(static_cast<unsigned __int128>(last - minval + 1), digits) + minval, options.dtype);
}

namespace {
// Uniform numbers for `numSamples` samples, of shape [..., numSamples, C].
Tensor samplesOf(const Tensor &logits, std::int64_t numSamples, const Tensor &state, SourceLocation where) {
  if (logits.rank() == 0)
    throw ValueError("categorical: logits have an axis of classes, and these are a scalar", where);
  if (!is_floating(logits.dtype()))
    throw DTypeError(
        absl::StrCat("categorical: takes logits of ", names_of({DTypeKind::Float}), ", not ", detail::typeOf(logits)),
        where);
  if (logits.shape().back() == 0)
    throw ShapeError(absl::StrCat("categorical: axis ", logits.rank() - 1, " of ", detail::typeOf(logits),
                                  " is empty, and an empty set has no result"),
                     where);
  if (numSamples < 0)
    throw ValueError(absl::StrCat("categorical: there are no ", numSamples, " samples"), where);
  Shape shape = logits.shape();
  shape.insert(shape.end() - 1, numSamples);
  return detail::unitNumbers(shape, state, drawnType(logits.dtype()), where);
}

// The classes that uniform numbers draw: the class whose sum of logit and Gumbel noise is largest.
Tensor classesOf(const Tensor &logits, const Tensor &u) {
  // Half of the smallest number above 0 takes the place of 0, so that the noise is finite.
  double smallest = u.dtype() == DType::Float32 ? 0x1p-25 : 0x1p-54;
  const Tensor wide = logits.dtype() == u.dtype() ? logits : cast(logits, u.dtype());
  return argmax(expand_dims(wide, {-2}) - log(-log(maximum(u, smallest))), -1);
}

// Keys by which a stable sort puts [0, n) in random order. They are float64, because many of a million numbers of 24
// bits would be equal.
Tensor keysOf(const Size &n, const Tensor &state, SourceLocation where) {
  return detail::unitNumbers(Shape{n}, state, DType::Float64, where);
}
} // namespace

Tensor stateless_categorical(const Operand &logits, const Operand &state, std::int64_t num_samples) {
  SourceLocation where = detail::userLine(logits.where());
  CallSite site(where, "categorical");
  Tensor given = logits.toTensor();
  return classesOf(given, samplesOf(given, num_samples, state.toTensor(), where));
}

Tensor stateless_permutation(const Size &n, const Operand &state) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "permutation");
  return argsort(keysOf(n, state.toTensor(), where));
}

Tensor stateless_shuffle(const Operand &x, const Operand &state, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite site(where, "shuffle");
  Tensor given = x.toTensor();
  const std::size_t dimension = detail::dimensionOf(axis, given.rank(), "shuffle", where);
  return gather(given, argsort(keysOf(given.shape()[dimension], state.toTensor(), where)), axis);
}

Generator::Generator(std::int64_t seed, SourceLocation where)
    : state_(Operand(random::state(seed, 0, where), where), {.name = "generator", .trainable = false}) {}

Tensor Generator::uniform(const Shape &shape, UniformOptions options, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_uniform(shape, Operand(before, where), options);
  CallSite site(where, "random::uniform"); // by this name, vmap refuses the assignment
  moveOn(before, drawn, 1, where);
  return drawn;
}

Tensor Generator::normal(const Shape &shape, NormalOptions options, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_normal(shape, Operand(before, where), options);
  CallSite site(where, "random::normal"); // by this name, vmap refuses the assignment
  moveOn(before, drawn, 2, where);
  return drawn;
}

Tensor Generator::bernoulli(const Shape &shape, double probability, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_bernoulli(shape, Operand(before, where), probability);
  CallSite site(where, "random::bernoulli"); // by this name, vmap refuses the assignment
  moveOn(before, drawn, 1, where);
  return drawn;
}

Tensor Generator::randint(const Shape &shape, std::int64_t minval, std::optional<std::int64_t> maxval,
                          IntegerOptions options, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_randint(shape, Operand(before, where), minval, maxval, options);
  CallSite site(where, "random::randint"); // by this name, vmap refuses the assignment
  moveOn(before, drawn, digitsOf(options.dtype), where);
  return drawn;
}

Tensor Generator::categorical(const Operand &logits, std::int64_t num_samples) {
  SourceLocation where = detail::userLine(logits.where());
  Tensor before = state_.value(where), given = logits.toTensor(), u, drawn;
  {
    CallSite site(where, "categorical");
    u = samplesOf(given, num_samples, before, where);
    drawn = classesOf(given, u);
  }
  CallSite site(where, "random::categorical"); // by this name, vmap refuses the assignment
  moveOn(before, u, 1, where);
  return drawn;
}

Tensor Generator::permutation(const Size &n, SourceLocation where) {
  Tensor before = state_.value(where), keys, drawn;
  {
    CallSite site(where, "permutation");
    keys = keysOf(n, before, where);
    drawn = argsort(keys);
  }
  CallSite site(where, "random::permutation"); // by this name, vmap refuses the assignment
  moveOn(before, keys, 1, where);
  return drawn;
}

Tensor Generator::shuffle(const Operand &x, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  Tensor before = state_.value(where), given = x.toTensor(), keys, drawn;
  {
    CallSite site(where, "shuffle");
    const std::size_t dimension = detail::dimensionOf(axis, given.rank(), "shuffle", where);
    keys = keysOf(given.shape()[dimension], before, where);
    drawn = gather(given, argsort(keys), axis);
  }
  CallSite site(where, "random::shuffle"); // by this name, vmap refuses the assignment
  moveOn(before, keys, 1, where);
  return drawn;
}

void Generator::moveOn(const Tensor &before, const Tensor &drawn, std::int64_t times, SourceLocation where) {
  state_.assign(Operand(detail::stateAfter(before, drawn, times, where), where));
  if (const std::shared_ptr<detail::Trace> &trace = detail::currentTrace())
    trace->noteDraw(state_.state(), before);
}

void Generator::reset(std::int64_t seed, SourceLocation where) {
  state_.assign(Operand(random::state(seed, 0, where), where));
}

std::int64_t Generator::draw_seed(SourceLocation where) {
  InitScope now;
  const std::vector<std::int64_t> before = state_.value(where).to_vector<std::int64_t>(where);
  state_.assign(Operand(random::state(before[0], before[1] + 1, where), where));
  std::uint64_t seed = mix(mix(static_cast<std::uint64_t>(before[0])) + static_cast<std::uint64_t>(before[1]));
  return static_cast<std::int64_t>(seed);
}

namespace {
// The seed of the global generator if the program sets none: CALQUE_SEED, or another number in each run, short enough
// to be typed.
std::int64_t firstSeed() {
  if (const char *text = std::getenv("CALQUE_SEED"); text && *text) {
    std::int64_t seed = 0;
    if (!absl::SimpleAtoi(text, &seed))
      throw ValueError(absl::StrCat("CALQUE_SEED is '", text, "' and must be a whole number, of 64 bits"));
    return seed;
  }
  try {
    return std::random_device()();
  } catch (const std::exception &) { // the system has no random numbers to give
    const auto time = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    return static_cast<std::int64_t>(mix(time) >> 32);
  }
}
} // namespace

Generator &global_generator() {
  // Never destroyed, because its users may be destroyed later. InitScope, because the first use may be in a trace.
  static auto *generator = [] {
    InitScope now;
    return new Generator(firstSeed());
  }();
  return *generator;
}

std::int64_t seed(SourceLocation where) {
  InitScope now;
  return global_generator().state().value(where).to_vector<std::int64_t>(where)[0];
}

Tensor uniform(const Shape &shape, UniformOptions options, SourceLocation where) {
  return global_generator().uniform(shape, options, where);
}
Tensor normal(const Shape &shape, NormalOptions options, SourceLocation where) {
  return global_generator().normal(shape, options, where);
}
Tensor bernoulli(const Shape &shape, double probability, SourceLocation where) {
  return global_generator().bernoulli(shape, probability, where);
}
Tensor randint(const Shape &shape, std::int64_t minval, std::optional<std::int64_t> maxval, IntegerOptions options,
               SourceLocation where) {
  return global_generator().randint(shape, minval, maxval, options, where);
}
Tensor categorical(const Operand &logits, std::int64_t num_samples) {
  return global_generator().categorical(logits, num_samples);
}
Tensor permutation(const Size &n, SourceLocation where) { return global_generator().permutation(n, where); }
Tensor shuffle(const Operand &x, std::int64_t axis) { return global_generator().shuffle(x, axis); }

} // namespace random
} // namespace calque
