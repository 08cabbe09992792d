// Random numbers of many distributions. The results are compositions of public operations on uniform numbers, so that
// they run, compile and are mapped like users' own. Rejection repeats for all elements until each has a number, and
// keeps the first that an element accepts.
#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/call_site.h"
#include "calque/control_flow.h"
#include "calque/functions.h"
#include "calque/random.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/operations/RandomStream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace calque::random {

using schema::OpId;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A stream of numbers whose key is a hash of a state: 63 of its bits.
class Stream {
public:
  Stream(const Tensor &state, DType dtype, SourceLocation where) : dtype(dtype), where(where) {
    const Tensor words = detail::unitNumbers({2}, state, DType::Float64, where);
    const Tensor high = cast(slice(words, {0}, {1}) * 0x1p53, DType::Int64),
                 low = cast(slice(words, {1}, {2}) * 0x1p10, DType::Int64);
    state_ = concat({bitwise_xor(left_shift(high, 10), low), zeros({1}, DType::Int64)});
  }
  Stream(const Tensor &state, DType dtype, SourceLocation where, bool) : dtype(dtype), where(where), state_(state) {}
  // That of a state within a loop.
  static Stream at(const Tensor &state, DType dtype, SourceLocation where) { return {state, dtype, where, true}; }

  // In [0, 1).
  Tensor unit(const Shape &shape) {
    Tensor u = detail::unitNumbers(shape, state_, dtype, where);
    state_ = detail::stateAfter(state_, u, 1, where);
    return u;
  }
  // Standard exponentials above 0.
  Tensor exponential(const Shape &shape) { return maximum(-log1p(-unit(shape)), halfStep()); }
  Tensor normal(const Shape &shape) {
    const Tensor radius = sqrt(-2 * log1p(-unit(shape)));
    return radius * cos(unit(shape) * (2 * std::numbers::pi));
  }
  // Between -1/2 and 1/2, without both.
  Tensor centred(const Shape &shape) { return (unit(shape) - 0.5) + halfStep(); }

  const Tensor &state() const { return state_; }

private:
  double halfStep() const { return dtype == DType::Float32 ? 0x1p-25 : 0x1p-54; }

  DType dtype;
  SourceLocation where;
  Tensor state_;
};

// What a parameter may be.
struct Range {
  double low, high;
  bool hasLow, hasHigh;
  const char *text;
  bool holds(double x) const { return (hasLow ? x >= low : x > low) && (hasHigh ? x <= high : x < high); }
  Tensor holds(const Tensor &x) const {
    return logical_and(hasLow ? greater_equal(x, low) : greater(x, low), hasHigh ? less_equal(x, high) : less(x, high));
  }
};
constexpr Range kAny{-kInfinity, kInfinity, false, false, "finite"};
constexpr Range kBound{-kInfinity, kInfinity, true, true, "a number"};
constexpr Range kNotNegative{0, kInfinity, true, false, "finite and not below 0"};
constexpr Range kPositive{0, kInfinity, false, false, "finite and above 0"};
constexpr Range kProbability{0, 1, true, true, "in [0, 1]"};
constexpr Range kPositiveProbability{0, 1, false, true, "in (0, 1]"};

struct Parameter {
  const char *name;
  const Operand &operand;
  const Range &range;
  bool hasClasses = false; // its last axis is one of classes, which the shape does not have
};

// The draw of one call: its parameters as tensors of one type, and its stream.
struct Draw {
  const char *name;
  SourceLocation where;
  DType dtype, drawn;
  Shape shape;
  std::vector<Tensor> given;   // as they are
  std::vector<Tensor> widened; // of the type of `drawn`
  Tensor isValid;              // where all parameters are in range; empty if all are numbers
  std::optional<Stream> stream;

  // NaN where a parameter is out of range, and the type of the result.
  Tensor finished(Tensor x) const {
    if (isValid.defined())
      x = calque::where(isValid, x, kNaN);
    return x.dtype() == dtype ? x : cast(x, dtype);
  }
  // The parameter as a tensor that no gradient passes.
  Tensor fixed(std::size_t i) const { return stop_gradient(widened[i]); }
};

void requireFits(const char *name, const Parameter &parameter, const Tensor &x, const Shape &shape,
                 SourceLocation where) {
  Shape sizes = x.shape();
  if (parameter.hasClasses) {
    if (sizes.empty())
      throw ShapeError(absl::StrCat(name, ": ", parameter.name, " has an axis of classes, and this is a scalar"),
                       where);
    if (sizes.back() == 0)
      throw ShapeError(absl::StrCat(name, ": ", parameter.name, " has no classes: ", detail::typeOf(x)), where);
    sizes = Shape(sizes.begin(), sizes.end() - 1);
  }
  bool fits = sizes.size() <= shape.size();
  for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
    const Size &own = sizes[sizes.size() - 1 - i], &other = shape[shape.size() - 1 - i];
    fits = !own.is_known() || own == 1 || !other.is_known() || own == other;
  }
  if (!fits)
    throw ShapeError(absl::StrCat(name, ": ", parameter.name, " of ", detail::typeOf(x),
                                  " does not broadcast to the shape ", shape.str()),
                     where);
}

Draw drawOf(const char *name, const Shape &shape, const Operand &state, std::initializer_list<Parameter> parameters,
            bool isWide = false) {
  Draw draw;
  draw.name = name;
  draw.where = detail::userLine(state.where());
  draw.shape = shape;
  std::optional<DType> dtype;
  for (const Parameter &parameter : parameters)
    if (!parameter.operand.isNumber()) {
      const DType own = parameter.operand.tensor().dtype(draw.where);
      if (!is_floating(own))
        throw DTypeError(absl::StrCat(name, ": ", parameter.name, " is of ", names_of({DTypeKind::Float}), ", not ",
                                      detail::typeOf(parameter.operand.tensor())),
                         draw.where);
      if (dtype && *dtype != own)
        throw DTypeError(
            absl::StrCat(name, ": parameters have one element type, unlike ", name_of(*dtype), " and ", name_of(own)),
            draw.where);
      dtype = own;
    }
  draw.dtype = dtype.value_or(default_dtype());
  draw.drawn = isWide ? DType::Float64 : detail::drawnType(draw.dtype);
  for (const Parameter &parameter : parameters) {
    Tensor x;
    if (parameter.operand.isHostNumber()) {
      // The number itself, not what the type makes of it.
      const Tensor exact = parameter.operand.toTensor(DType::Float64);
      const double value = exact.item<double>(draw.where);
      if (!parameter.range.holds(value))
        throw ValueError(absl::StrCat(name, ": ", parameter.name, " must be ", parameter.range.text, ", unlike ",
                                      Number(value).str()),
                         draw.where);
      x = parameter.operand.toTensor(draw.drawn);
    } else {
      x = parameter.operand.isNumber() ? parameter.operand.toTensor(draw.dtype) : parameter.operand.tensor();
      requireFits(name, parameter, x, shape, draw.where);
    }
    draw.given.push_back(x);
    draw.widened.push_back(x.dtype() == draw.drawn ? x : cast(x, draw.drawn));
    if (!parameter.operand.isHostNumber() && !parameter.hasClasses) {
      const Tensor holds = parameter.range.holds(stop_gradient(draw.widened.back()));
      draw.isValid = draw.isValid.defined() ? logical_and(draw.isValid, holds) : holds;
    }
  }
  draw.stream.emplace(state.toTensor(), draw.drawn, draw.where);
  return draw;
}

// Whether a condition holds for all classes.
Tensor allOf(const Tensor &condition) { return all(condition, {-1}, true); }

// x with the shape, whose sizes may be unknown: u has it.
Tensor spread(const Tensor &x, const Tensor &u) { return x + zeros_like(u); }

// Repeats `propose` until each element has accepted a number. It takes the stream and gives numbers and where they are
// accepted.
template <typename Propose>
std::pair<Tensor, Tensor> rejection(const Tensor &state, const Tensor &isDone, const Tensor &initial, DType dtype,
                                    SourceLocation where, Propose propose) {
  auto [last, done, value] =
      while_loop([](const Tensor &, const Tensor &done, const Tensor &) { return logical_not(all(done)); },
                 [&](const Tensor &current, const Tensor &done, const Tensor &value) {
                   Stream stream = Stream::at(current, dtype, where);
                   auto [proposed, accepts] = propose(stream);
                   return std::tuple(stream.state(), logical_or(done, accepts),
                                     calque::where(logical_or(done, logical_not(accepts)), value, proposed));
                 },
                 std::tuple(state, isDone, initial));
  return {value, last};
}

//===-- Gamma variables ---------------------------------------------------------------------------===//

struct GammaNumbers {
  Tensor value, logarithm; // the logarithm passes no gradient, and does not vanish
  Tensor state;
};

// `alpha` is of the type that is drawn, and of the shape. Where it is not valid, the numbers mean nothing.
GammaNumbers gammaNumbers(const Tensor &alpha, const Shape &shape, const Tensor &state, SourceLocation where) {
  const DType dtype = alpha.dtype();
  Stream stream = Stream::at(state, dtype, where);
  const Tensor power = stream.exponential(shape);
  const Tensor given = spread(stop_gradient(alpha), power);
  const Tensor isValid = kNotNegative.holds(given), fixed = calque::where(isValid, given, 1);
  const Tensor isSmall = less(fixed, 1), d = calque::where(isSmall, fixed + 1, fixed) - 1.0 / 3, c = 1.0 / sqrt(9 * d);
  auto [scaled, next] = rejection(stream.state(), logical_not(isValid), ones_like(d), dtype, where, [&](Stream &draws) {
    const Tensor x = draws.normal(shape), e = draws.exponential(shape), w = maximum(c * x, -0.999);
    // log(u) < x^2 / 2 + d - d v + d log(v), where v = (1 + w)^3: large terms of it cancel.
    const Tensor rest = 3 * (w - log1p(w)) + w * w * (3 + w), root = 1 + w;
    return std::pair(root * root * root, logical_and(greater(c * x, -0.999), less(-e, 0.5 * x * x - d * rest)));
  });
  // Of shapes below 1 that of alpha + 1 times a uniform number to the power of 1 / alpha.
  const Tensor exponent = calque::where(isSmall, power / calque::where(equal(fixed, 0), 1, fixed), 0);
  const Tensor isZero = equal(fixed, 0), logarithm = calque::where(isZero, -kInfinity, log(d * scaled) - exponent);
  const Tensor drawn = stop_gradient(calque::where(isZero, 0, d * scaled * exp(-exponent)));
  // It follows alpha along its quantile.
  const Tensor operands[] = {spread(alpha, power), drawn};
  return {detail::apply(OpId::GammaSample, operands, {}, where), stop_gradient(logarithm), next};
}

//===-- Counts ------------------------------------------------------------------------------------===//

// Counts by their probabilities one after another: `first` is that of 0, `ratio` the quotient of that of k and that of
// k - 1.
template <typename Ratio> Tensor inverted(const Tensor &isUsed, const Tensor &u, const Tensor &first, Ratio ratio) {
  const Tensor none = zeros_like(u);
  auto [k, probability, sum] = while_loop(
      [&](const Tensor &, const Tensor &probability, const Tensor &sum) {
        return any(logical_and(isUsed, logical_and(greater_equal(u, sum), greater(probability, 1e-18))));
      },
      [&](const Tensor &k, const Tensor &probability, const Tensor &sum) {
        const Tensor isLeft = logical_and(greater_equal(u, sum), greater(probability, 1e-18));
        const Tensor next = k + 1, own = probability * ratio(next);
        return std::tuple(calque::where(isLeft, next, k), calque::where(isLeft, own, probability),
                          calque::where(isLeft, sum + own, sum));
      },
      std::tuple(none, spread(first, u), spread(first, u)));
  return k;
}

// Of float64, as whole numbers; -1 where the rate is out of range.
Tensor poissonNumbers(const Tensor &given, const Shape &shape, const Tensor &state, SourceLocation where) {
  Stream stream = Stream::at(state, DType::Float64, where);
  const Tensor u = stream.unit(shape), rate = spread(given, u);
  const Tensor isValid = kNotNegative.holds(rate), isLarge = logical_and(isValid, greater_equal(rate, 10));
  const Tensor isSmall = logical_and(isValid, logical_not(isLarge));
  const Tensor small = calque::where(isSmall, rate, 1), large = calque::where(isLarge, rate, 10);
  const Tensor few = inverted(isSmall, u, exp(-small), [&](const Tensor &k) { return small / k; });
  const Tensor root = sqrt(large), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const Tensor inverseAlpha = 1.1239 + 1.1328 / (b - 3.4), ofV = 0.9277 - 3.6224 / (b - 2), logRate = log(large);
  Tensor many =
      rejection(stream.state(), logical_not(isLarge), zeros_like(large), DType::Float64, where, [&](Stream &draws) {
        const Tensor x = draws.unit(shape) - 0.5, v = 1 - draws.unit(shape), us = 0.5 - abs(x);
        const Tensor k = floor((2 * a / maximum(us, 1e-300) + b) * x + large + 0.43);
        const Tensor isInside = logical_and(greater_equal(us, 0.07), less_equal(v, ofV));
        const Tensor isPossible =
            logical_and(greater_equal(k, 0), logical_or(greater_equal(us, 0.013), less_equal(v, us)));
        const Tensor bounded = maximum(k, 0);
        const Tensor accepts =
            less_equal(log(v * inverseAlpha / (a / (us * us) + b)), bounded * logRate - large - lgamma(bounded + 1));
        return std::pair(k, logical_or(isInside, logical_and(isPossible, accepts)));
      }).first;
  return calque::where(isValid, calque::where(isLarge, many, few), -1);
}

// n and p of float64.
Tensor binomialNumbers(const Tensor &trials, const Tensor &probability, const Shape &shape, const Tensor &state,
                       SourceLocation where, Tensor *next = nullptr) {
  Stream stream = Stream::at(state, DType::Float64, where);
  const Tensor u = stream.unit(shape), givenN = spread(trials, u), givenP = spread(probability, u);
  const Tensor isValid =
      logical_and(logical_and(kNotNegative.holds(givenN), equal(floor(givenN), givenN)), kProbability.holds(givenP));
  const Tensor n = calque::where(isValid, givenN, 0), p = calque::where(isValid, givenP, 0);
  const Tensor isMirrored = greater(p, 0.5), q = calque::where(isMirrored, 1 - p, p);
  const Tensor isLarge = greater_equal(n * q, 10), odds = q / (1 - q);
  const Tensor few = inverted(logical_not(isLarge), u, exp(n * log1p(-q)),
                              [&](const Tensor &k) { return odds * maximum(n - k + 1, 0) / k; });
  const Tensor manyN = calque::where(isLarge, n, 40), manyP = calque::where(isLarge, q, 0.5),
               ratio = manyP / (1 - manyP);
  const Tensor spread = sqrt(manyN * manyP * (1 - manyP)), b = 1.15 + 2.53 * spread;
  const Tensor a = -0.0873 + 0.0248 * b + 0.01 * manyP, c = manyN * manyP + 0.5, ofV = 0.92 - 4.2 / b;
  const Tensor alpha = (2.83 + 5.1 / b) * spread, mode = floor((manyN + 1) * manyP), logRatio = log(ratio);
  const Tensor atMode = lgamma(mode + 1) + lgamma(manyN - mode + 1);
  auto [many, last] =
      rejection(stream.state(), logical_not(isLarge), zeros_like(manyN), DType::Float64, where, [&](Stream &draws) {
        const Tensor x = draws.unit(shape) - 0.5, v = 1 - draws.unit(shape), us = 0.5 - abs(x);
        const Tensor k = floor((2 * a / maximum(us, 1e-300) + b) * x + c);
        const Tensor isPossible = logical_and(greater_equal(k, 0), less_equal(k, manyN));
        const Tensor isInside = logical_and(greater_equal(us, 0.07), less_equal(v, ofV));
        const Tensor bounded = minimum(maximum(k, 0), manyN);
        const Tensor limit = atMode - lgamma(bounded + 1) - lgamma(manyN - bounded + 1) + (bounded - mode) * logRatio;
        const Tensor accepts = less_equal(log(v * alpha / (a / (us * us) + b)), limit);
        return std::pair(k, logical_and(isPossible, logical_or(isInside, accepts)));
      });
  if (next)
    *next = last;
  const Tensor count = minimum(calque::where(isLarge, many, few), n);
  return calque::where(isValid, calque::where(isMirrored, n - count, count), -1);
}

// Whole numbers of float64 as integers of the options.
Tensor asIntegers(const Tensor &x, const IntegerOptions &options) { return cast(x, options.dtype); }
void requireIntegers(const char *name, const IntegerOptions &options, SourceLocation where) {
  if (!is_integer(options.dtype))
    throw DTypeError(absl::StrCat(name, ": makes integers, not ", name_of(options.dtype)), where);
}

} // namespace

//===-- By inversion ------------------------------------------------------------------------------===//

Tensor stateless_exponential(const Shape &shape, const Operand &state, const Operand &scale) {
  CallSite site(detail::userLine(state.where()), "exponential");
  Draw draw = drawOf("exponential", shape, state, {{"scale", scale, kNotNegative}});
  return draw.finished(draw.stream->exponential(shape) * draw.widened[0]);
}

Tensor stateless_laplace(const Shape &shape, const Operand &state, const Operand &loc, const Operand &scale) {
  CallSite site(detail::userLine(state.where()), "laplace");
  Draw draw = drawOf("laplace", shape, state, {{"loc", loc, kAny}, {"scale", scale, kNotNegative}});
  const Tensor v = draw.stream->centred(shape);
  return draw.finished(draw.widened[0] - sign(v) * log1p(-2 * abs(v)) * draw.widened[1]);
}

Tensor stateless_gumbel(const Shape &shape, const Operand &state, const Operand &loc, const Operand &scale) {
  CallSite site(detail::userLine(state.where()), "gumbel");
  Draw draw = drawOf("gumbel", shape, state, {{"loc", loc, kAny}, {"scale", scale, kNotNegative}});
  return draw.finished(draw.widened[0] - log(draw.stream->exponential(shape)) * draw.widened[1]);
}

Tensor stateless_logistic(const Shape &shape, const Operand &state, const Operand &loc, const Operand &scale) {
  CallSite site(detail::userLine(state.where()), "logistic");
  Draw draw = drawOf("logistic", shape, state, {{"loc", loc, kAny}, {"scale", scale, kNotNegative}});
  return draw.finished(draw.widened[0] + 2 * atanh(2 * draw.stream->centred(shape)) * draw.widened[1]);
}

Tensor stateless_cauchy(const Shape &shape, const Operand &state, const Operand &loc, const Operand &scale) {
  CallSite site(detail::userLine(state.where()), "cauchy");
  Draw draw = drawOf("cauchy", shape, state, {{"loc", loc, kAny}, {"scale", scale, kNotNegative}});
  return draw.finished(draw.widened[0] + tan(draw.stream->centred(shape) * std::numbers::pi) * draw.widened[1]);
}

Tensor stateless_lognormal(const Shape &shape, const Operand &state, const Operand &mean, const Operand &sigma) {
  CallSite site(detail::userLine(state.where()), "lognormal");
  Draw draw = drawOf("lognormal", shape, state, {{"mean", mean, kAny}, {"sigma", sigma, kNotNegative}});
  return draw.finished(exp(draw.widened[0] + draw.stream->normal(shape) * draw.widened[1]));
}

Tensor stateless_weibull(const Shape &shape, const Operand &state, const Operand &a) {
  CallSite site(detail::userLine(state.where()), "weibull");
  Draw draw = drawOf("weibull", shape, state, {{"a", a, kPositive}});
  return draw.finished(exp(log(draw.stream->exponential(shape)) / draw.widened[0]));
}

Tensor stateless_pareto(const Shape &shape, const Operand &state, const Operand &a) {
  CallSite site(detail::userLine(state.where()), "pareto");
  Draw draw = drawOf("pareto", shape, state, {{"a", a, kPositive}});
  return draw.finished(exp(draw.stream->exponential(shape) / draw.widened[0]));
}

Tensor stateless_rayleigh(const Shape &shape, const Operand &state, const Operand &scale) {
  CallSite site(detail::userLine(state.where()), "rayleigh");
  Draw draw = drawOf("rayleigh", shape, state, {{"scale", scale, kNotNegative}});
  return draw.finished(sqrt(2 * draw.stream->exponential(shape)) * draw.widened[0]);
}

// In float64, and of the tail that is the smaller one, where probabilities do not vanish.
Tensor stateless_truncated_normal(const Shape &shape, const Operand &state, const Operand &low, const Operand &high) {
  CallSite site(detail::userLine(state.where()), "truncated_normal");
  Draw draw = drawOf("truncated_normal", shape, state, {{"low", low, kBound}, {"high", high, kBound}}, /*isWide=*/true);
  if (low.isHostNumber() && high.isHostNumber() &&
      !(low.toTensor(DType::Float64).item<double>() < high.toTensor(DType::Float64).item<double>()))
    throw ValueError(absl::StrCat("truncated_normal: low is below high, unlike ",
                                  Number(low.toTensor(DType::Float64).item<double>()).str(), " and ",
                                  Number(high.toTensor(DType::Float64).item<double>()).str()),
                     draw.where);
  const Tensor first = draw.widened[0], last = draw.widened[1], isOrdered = less(first, last);
  draw.isValid = draw.isValid.defined() ? logical_and(draw.isValid, isOrdered) : isOrdered;
  const Tensor isAbove = greater(first, 0);
  const Tensor from = calque::where(isAbove, -last, first), to = calque::where(isAbove, -first, last);
  // Each way computes numbers of its own where the other one's are taken, of which no derivative is infinite.
  const Tensor isFar = less(to, -35), below = ndtr(calque::where(isFar, -1, from));
  const Tensor u = draw.stream->centred(shape) + 0.5;
  const Tensor near = ndtri(below + u * (ndtr(calque::where(isFar, 0, to)) - below));
  // Far out, where probabilities vanish, the tail beyond x is exp(-x^2 / 2) / x but for a factor that is nearly the
  // same for all of the numbers. `e` is how far its logarithm is from that at t; log(x / t) is small beside it.
  const Tensor t = calque::where(isFar, -to, 35), end = maximum(minimum(calque::where(isFar, -from, 36), 1e150), t);
  const Tensor ratio = t / end, rest = ratio * exp(-0.5 * (end - t) * (end + t)), e = -log1p(u * (rest - 1));
  auto moved = [&](const Tensor &by) { return t + 2 * by / (t + sqrt(t * t + 2 * by)); };
  const Tensor far = -moved(maximum(e - log(moved(e) / t), 0));
  const Tensor inside = maximum(minimum(calque::where(isFar, far, near), to), from);
  return draw.finished(calque::where(isAbove, -inside, inside));
}

//===-- Gamma and what is made of it --------------------------------------------------------------===//

Tensor stateless_gamma(const Shape &shape, const Operand &state, const Operand &alpha) {
  CallSite site(detail::userLine(state.where()), "gamma");
  Draw draw = drawOf("gamma", shape, state, {{"alpha", alpha, kNotNegative}});
  return draw.finished(gammaNumbers(draw.widened[0], shape, draw.stream->state(), draw.where).value);
}

Tensor stateless_beta(const Shape &shape, const Operand &state, const Operand &a, const Operand &b) {
  CallSite site(detail::userLine(state.where()), "beta");
  Draw draw = drawOf("beta", shape, state, {{"a", a, kPositive}, {"b", b, kPositive}});
  const GammaNumbers g = gammaNumbers(draw.widened[0], shape, draw.stream->state(), draw.where);
  const GammaNumbers h = gammaNumbers(draw.widened[1], shape, g.state, draw.where);
  // Both vanish for small shapes: then the larger one is all.
  const Tensor sum = g.value + h.value, hasVanished = logical_not(greater(sum, 0));
  const Tensor quotient = g.value / calque::where(hasVanished, 1, sum);
  const Tensor larger = cast(greater(g.logarithm, h.logarithm), quotient.dtype());
  return draw.finished(calque::where(hasVanished, larger, quotient));
}

Tensor stateless_chi_square(const Shape &shape, const Operand &state, const Operand &df) {
  CallSite site(detail::userLine(state.where()), "chi_square");
  Draw draw = drawOf("chi_square", shape, state, {{"df", df, kPositive}});
  return draw.finished(2 * gammaNumbers(draw.widened[0] * 0.5, shape, draw.stream->state(), draw.where).value);
}

Tensor stateless_student_t(const Shape &shape, const Operand &state, const Operand &df) {
  CallSite site(detail::userLine(state.where()), "student_t");
  Draw draw = drawOf("student_t", shape, state, {{"df", df, kPositive}});
  const Tensor normal = draw.stream->normal(shape), half = draw.widened[0] * 0.5;
  return draw.finished(normal * sqrt(half / gammaNumbers(half, shape, draw.stream->state(), draw.where).value));
}

Tensor stateless_dirichlet(const Shape &shape, const Operand &state, const Operand &alpha) {
  CallSite site(detail::userLine(state.where()), "dirichlet");
  Draw draw = drawOf("dirichlet", shape, state, {{"alpha", alpha, kPositive, true}});
  if (alpha.isNumber())
    throw ShapeError("dirichlet: alpha has an axis of classes, and this is a number", draw.where);
  Shape all = shape;
  all.push_back(draw.given[0].shape().back());
  const GammaNumbers g = gammaNumbers(draw.widened[0], all, draw.stream->state(), draw.where);
  const Tensor sums = sum(g.value, {-1}, true), hasVanished = logical_not(greater(sums, 0));
  const Tensor shares = g.value / calque::where(hasVanished, 1, sums);
  const Tensor largest = cast(greater_equal(g.logarithm, max(g.logarithm, {-1}, true)), g.value.dtype());
  // NaN of one class is NaN of all.
  const Tensor isValid = allOf(kPositive.holds(draw.fixed(0)));
  const Tensor result = calque::where(isValid, calque::where(hasVanished, largest, shares), kNaN);
  return draw.finished(result);
}

// In float64, since 1 + sqrt(1 + 4 kappa^2) has few digits else.
Tensor stateless_von_mises(const Shape &shape, const Operand &state, const Operand &mu, const Operand &kappa) {
  CallSite site(detail::userLine(state.where()), "von_mises");
  Draw draw = drawOf("von_mises", shape, state, {{"mu", mu, kAny}, {"kappa", kappa, kNotNegative}}, /*isWide=*/true);
  const Tensor side = draw.stream->centred(shape), given = spread(draw.fixed(1), side);
  const Tensor isValid = kNotNegative.holds(given);
  // The distribution of larger ones is normal, of smaller ones uniform.
  const Tensor isWide = less(given, 1e-8), isNarrow = greater(given, 1e8);
  const Tensor k = calque::where(logical_and(isValid, logical_not(logical_or(isWide, isNarrow))), given, 1);
  const Tensor tau = 1 + sqrt(1 + 4 * k * k), rho = (tau - sqrt(2 * tau)) / (2 * k);
  const Tensor r = calque::where(less(k, 1e-4), 1 / k + k, (1 + rho * rho) / (2 * rho));
  const Tensor uniform = draw.stream->centred(shape), normal = draw.stream->normal(shape);
  const Tensor isDone = logical_or(logical_not(isValid), logical_or(isWide, isNarrow));
  const Tensor cosine =
      rejection(draw.stream->state(), isDone, zeros_like(k), DType::Float64, draw.where, [&](Stream &draws) {
        const Tensor z = cos(draws.unit(shape) * std::numbers::pi);
        const Tensor f = (1 + r * z) / (r + z), c = k * (r - f);
        const Tensor v = 1 - draws.unit(shape);
        return std::pair(f, logical_or(greater(c * (2 - c), v), greater_equal(log(c / v) + 1 - c, 0)));
      }).first;
  const Tensor angle = sign(side) * acos(maximum(minimum(cosine, 1), -1));
  const Tensor wide = uniform * (2 * std::numbers::pi), narrow = normal / sqrt(calque::where(isNarrow, given, 1));
  const Tensor turned = calque::where(isWide, wide, calque::where(isNarrow, narrow, angle)) + draw.widened[0];
  return draw.finished(mod(turned + std::numbers::pi, 2 * std::numbers::pi) - std::numbers::pi);
}

//===-- Counts ------------------------------------------------------------------------------------===//

Tensor stateless_poisson(const Shape &shape, const Operand &state, const Operand &rate, IntegerOptions options) {
  CallSite site(detail::userLine(state.where()), "poisson");
  Draw draw = drawOf("poisson", shape, state, {{"rate", rate, kNotNegative}}, /*isWide=*/true);
  requireIntegers("poisson", options, draw.where);
  return asIntegers(poissonNumbers(draw.fixed(0), shape, draw.stream->state(), draw.where), options);
}

Tensor stateless_binomial(const Shape &shape, const Operand &state, const Operand &n, const Operand &p,
                          IntegerOptions options) {
  CallSite site(detail::userLine(state.where()), "binomial");
  Draw draw = drawOf("binomial", shape, state, {{"n", n, kNotNegative}, {"p", p, kProbability}}, /*isWide=*/true);
  requireIntegers("binomial", options, draw.where);
  return asIntegers(binomialNumbers(draw.fixed(0), draw.fixed(1), shape, draw.stream->state(), draw.where), options);
}

Tensor stateless_geometric(const Shape &shape, const Operand &state, const Operand &p, IntegerOptions options) {
  CallSite site(detail::userLine(state.where()), "geometric");
  Draw draw = drawOf("geometric", shape, state, {{"p", p, kPositiveProbability}}, /*isWide=*/true);
  requireIntegers("geometric", options, draw.where);
  const Tensor e = draw.stream->exponential(shape), given = draw.fixed(0), isValid = kPositiveProbability.holds(given);
  const Tensor count = maximum(ceil(e / -log1p(-calque::where(isValid, given, 0.5))), 1);
  return asIntegers(calque::where(isValid, count, -1), options);
}

// Class after class: the number of those that are left is binomial.
Tensor stateless_multinomial(const Shape &shape, const Operand &state, const Operand &n, const Operand &p,
                             IntegerOptions options) {
  CallSite site(detail::userLine(state.where()), "multinomial");
  Draw draw =
      drawOf("multinomial", shape, state, {{"n", n, kNotNegative}, {"p", p, kNotNegative, true}}, /*isWide=*/true);
  requireIntegers("multinomial", options, draw.where);
  if (p.isNumber())
    throw ShapeError("multinomial: p has an axis of classes, and this is a number", draw.where);
  const Tensor weights = draw.fixed(1), total = cumsum(weights, -1, false, true);
  // The probability of each class among those that are left, the classes first.
  const Tensor shares = calque::where(greater(total, 0), weights / calque::where(greater(total, 0), total, 1), 0);
  std::vector<std::int64_t> order(static_cast<std::size_t>(weights.rank()));
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i == 0 ? weights.rank() - 1 : static_cast<std::int64_t>(i) - 1;
  const Tensor classes = transpose(shares, order);
  const Tensor first = spread(draw.fixed(0), draw.stream->unit(shape));
  const Tensor isValid = logical_and(allOf(kNotNegative.holds(weights)), greater(sum(weights, {-1}, true), 0));
  auto [left, counts] = scan(
      [&](const std::tuple<Tensor, Tensor> &carry, const Tensor &share) {
        const auto &[remaining, current] = carry;
        Tensor next;
        const Tensor count = binomialNumbers(remaining, share, shape, current, draw.where, &next);
        return std::pair(std::tuple(remaining - maximum(count, 0), next), count);
      },
      std::tuple(first, draw.stream->state()), classes);
  std::vector<std::int64_t> back(static_cast<std::size_t>(counts.rank()));
  for (std::size_t i = 0; i < back.size(); ++i)
    back[i] = i + 1 == back.size() ? 0 : static_cast<std::int64_t>(i) + 1;
  const Tensor isCount = kNotNegative.holds(first);
  const Tensor result = calque::where(logical_and(isValid, expand_dims(isCount, {-1})), transpose(counts, back), -1);
  return asIntegers(result, options);
}

} // namespace calque::random
