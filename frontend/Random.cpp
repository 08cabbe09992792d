#include "calque/random.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/init_scope.h"
#include "frontend/Apply.h"
#include "frontend/Shape.h"
#include "frontend/Trace.h"

#include <cmath>

namespace calque {

void set_seed(std::int64_t seed, SourceLocation where) { random::global_generator().reset(seed, where); }

namespace random {
namespace {
constexpr double kTwoPi = 6.283185307179586476925;

std::int64_t numbersPerCounter(DType dtype) { return dtype == DType::Float64 ? 2 : 4; }

// Uniform numbers in [0, 1).
Tensor unit(const Shape &shape, const Tensor &state, DType dtype, SourceLocation where) {
  if (!shape.is_known())
    return detail::applyOpen(schema::OpId::RandomUniformOpen, {&state, 1}, shape, {dtype}, where);
  schema::Attribute attributes[] = {detail::knownDims(shape, where), dtype};
  return detail::apply(schema::OpId::RandomUniform, {&state, 1}, attributes, where);
}

// The state after so many times the counters that the numbers drawn have used.
Tensor advance(const Tensor &state, const Tensor &drawn, std::int64_t times, SourceLocation where) {
  DType dtype = is_floating(drawn.dtype()) ? drawn.dtype() : DType::Float32;
  Size count = drawn.size(where);
  Tensor counters;
  if (count.is_known()) {
    counters = tensor<std::int64_t>({0, times * counters_used(count, dtype, where)}, where);
  } else {
    CallSite site(where);
    std::int64_t perCounter = numbersPerCounter(dtype);
    Tensor used = (detail::sizeAsTensor(count, where) + (perCounter - 1)) / perCounter;
    counters = used * tensor<std::int64_t>({0, times}, where);
  }
  return add(Operand(state, where), Operand(counters, where));
}

// Whether numbers of the type hold the bound.
bool isFinite(double bound, DType dtype) {
  return std::isfinite(dtype == DType::Float32 ? static_cast<float>(bound) : bound);
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
  std::int64_t perCounter = numbersPerCounter(dtype);
  return count / perCounter + (count % perCounter != 0);
}

Tensor stateless_uniform(const Shape &shape, const Operand &state, UniformOptions options) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "uniform");
  double length = options.maxval - options.minval;
  if (!(length > 0) || !isFinite(length, options.dtype) || !isFinite(options.minval, options.dtype) ||
      !isFinite(options.maxval, options.dtype))
    throw ValueError(absl::StrCat("uniform: no number is in [", Number(options.minval).str(), ", ",
                                  Number(options.maxval).str(), "); minval must be less than maxval, and both finite"),
                     where);
  Tensor u = unit(shape, state.toTensor(), options.dtype, where);
  if (options.minval == 0 && options.maxval == 1)
    return u;
  // Rounding could give maxval, which is not in the interval.
  double last = options.dtype == DType::Float32
                    ? std::nextafter(static_cast<float>(options.maxval), static_cast<float>(options.minval))
                    : std::nextafter(options.maxval, options.minval);
  return minimum(Operand(Operand(u, where) * length + options.minval, where), last);
}

Tensor stateless_normal(const Shape &shape, const Operand &state, NormalOptions options) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "normal");
  if (!(options.stddev >= 0) || !isFinite(options.stddev, options.dtype))
    throw ValueError(
        absl::StrCat("normal: a standard deviation is finite and not below 0, unlike ", Number(options.stddev).str()),
        where);
  Tensor first = state.toTensor();
  Tensor u = unit(shape, first, options.dtype, where);
  Tensor v = unit(shape, advance(first, u, 1, where), options.dtype, where);
  // u is in [0, 1), so 1 - u is never 0 and its logarithm is finite.
  Tensor standard = sqrt(-2 * log1p(-u)) * cos(v * kTwoPi);
  return options.mean == 0 && options.stddev == 1 ? standard : standard * options.stddev + options.mean;
}

Tensor stateless_bernoulli(const Shape &shape, const Operand &state, double probability) {
  SourceLocation where = detail::userLine(state.where());
  CallSite site(where, "bernoulli");
  if (!(probability >= 0 && probability <= 1))
    throw ValueError(absl::StrCat("bernoulli: a probability is in [0, 1], unlike ", Number(probability).str()), where);
  return less(Operand(unit(shape, state.toTensor(), DType::Float32, where), where), probability);
}

Generator::Generator(std::int64_t seed, SourceLocation where)
    : state_(Operand(random::state(seed, 0, where), where), {.name = "generator", .trainable = false}) {}

Tensor Generator::uniform(const Shape &shape, UniformOptions options, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_uniform(shape, Operand(before, where), options);
  CallSite site(where, "random::uniform"); // as which vmap refuses the assignment
  moveOn(before, drawn, 1, where);
  return drawn;
}

Tensor Generator::normal(const Shape &shape, NormalOptions options, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_normal(shape, Operand(before, where), options);
  CallSite site(where, "random::normal"); // as which vmap refuses the assignment
  moveOn(before, drawn, 2, where);
  return drawn;
}

Tensor Generator::bernoulli(const Shape &shape, double probability, SourceLocation where) {
  Tensor before = state_.value(where);
  Tensor drawn = stateless_bernoulli(shape, Operand(before, where), probability);
  CallSite site(where, "random::bernoulli"); // as which vmap refuses the assignment
  moveOn(before, drawn, 1, where);
  return drawn;
}

void Generator::moveOn(const Tensor &before, const Tensor &drawn, std::int64_t times, SourceLocation where) {
  state_.assign(Operand(advance(before, drawn, times, where), where));
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

Generator &global_generator() {
  // Never destroyed, because its users may be destroyed later. InitScope, because the first use may be in a trace.
  static auto *generator = [] {
    InitScope now;
    return new Generator(0);
  }();
  return *generator;
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

} // namespace random
} // namespace calque
