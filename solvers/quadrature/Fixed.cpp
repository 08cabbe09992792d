// Gauss-Legendre quadrature, and integrals of samples.
#include "Quadrature.h"
#include "calque/transforms.h"
#include "calque/user_calls.h"

#include <cmath>
#include <numbers>

namespace calque::solvers {

namespace {
constexpr std::int64_t kMostNodes = 1000;

// The roots of Legendre's polynomial of degree n and the weights, by Newton's method from the approximation of
// Tricomi. Abramowitz, Stegun: Handbook of mathematical functions, 25.4.29.
void legendre(std::int64_t n, std::vector<double> &nodes, std::vector<double> &weights) {
  nodes.resize(static_cast<std::size_t>(n));
  weights.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < (n + 1) / 2; ++i) {
    long double x = std::cos(std::numbers::pi_v<long double> * (static_cast<long double>(i) + 0.75L) /
                             (static_cast<long double>(n) + 0.5L));
    long double slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      long double p = 1, before = 0;
      for (std::int64_t k = 1; k <= n; ++k) {
        const auto degree = static_cast<long double>(k);
        const long double next = ((2 * degree - 1) * x * p - (degree - 1) * before) / degree;
        before = p;
        p = next;
      }
      slope = static_cast<long double>(n) * (x * p - before) / (x * x - 1);
      const long double change = p / slope;
      x -= change;
      if (std::fabs(change) < 1e-18L)
        break;
    }
    const bool isMiddle = 2 * i + 1 == n;
    const long double weight = 2 / ((1 - x * x) * slope * slope);
    const auto low = static_cast<std::size_t>(i), high = static_cast<std::size_t>(n - 1 - i);
    nodes[low] = isMiddle ? 0 : static_cast<double>(-x);
    nodes[high] = isMiddle ? 0 : static_cast<double>(x);
    weights[low] = weights[high] = static_cast<double>(weight);
  }
}
} // namespace

GaussRule gauss_legendre(std::int64_t n, DType dtype, SourceLocation where) {
  CallSite site(where, "gauss_legendre");
  if (n < 1 || n > kMostNodes)
    fail<ValueError>("gauss_legendre: the number of nodes is from 1 to " + std::to_string(kMostNodes) + ", unlike " +
                     std::to_string(n));
  if (!is_floating(dtype))
    fail<DTypeError>(std::string("gauss_legendre: nodes are float32 or float64, not ") + name_of(dtype));
  std::vector<double> nodes, weights;
  legendre(n, nodes, weights);
  return {cast(tensor(nodes), dtype), cast(tensor(weights), dtype)};
}

namespace detail {

Limits limitsOf(const char *function, const Operand &a, const Operand &b, DType dtype, bool mayBeInfinite) {
  const std::string name = function;
  if (!a.isNumber())
    dtype = a.tensor().dtype();
  else if (!b.isNumber())
    dtype = b.tensor().dtype();
  if (!is_floating(dtype))
    fail<DTypeError>(name + ": limits are float32 or float64, not " + name_of(dtype));
  const Limits limits{a.toTensor(dtype), b.toTensor(dtype), dtype};
  for (const Tensor &limit : {limits.a, limits.b}) {
    if (limit.dtype() != dtype)
      fail<DTypeError>(name + ": the limits are " + describe(limits.a) + " and " + describe(limits.b) +
                       ": they have one element type");
    if (limit.rank() != 0)
      fail<ShapeError>(name + ": a limit is " + describe(limit) + "; limits are scalars, and vmap maps over several");
  }
  for (const Operand *operand : {&a, &b})
    if (operand->isHostNumber()) {
      const Tensor value = operand->toTensor(DType::Float64);
      const double limit = value.item<double>();
      if (std::isnan(limit) || (std::isinf(limit) && !mayBeInfinite))
        fail<ValueError>(name + ": a limit is " + Number(limit).str() + (mayBeInfinite ? "" : "; it is finite"));
    }
  return limits;
}

Tensor valuesAt(const QuadFunction &f, const Tensor &nodes) {
  auto own = [&](const Tensor &x) { return call_user([&] { return f(x); }); };
  return vmap(own)(nodes);
}

Tensor weightedSum(const Tensor &weights, const Tensor &values) {
  if (!is_floating(values.dtype()) || values.dtype() != weights.dtype())
    fail<DTypeError>(std::string("the function that is integrated returned ") + name_of(values.dtype()) +
                     " for limits of " + name_of(weights.dtype()) + ": both have one element type");
  return contract(weights, values, {}, {}, {0}, {0});
}

Tensor integrateFixed(const QuadFunction &f, const Operand &a, const Operand &b, const FixedQuadOptions &options,
                      SourceLocation where) {
  CallSite site(where, "fixed_quad");
  if (options.order < 1 || options.order > kMostNodes)
    fail<ValueError>("fixed_quad: .order is from 1 to " + std::to_string(kMostNodes) + ", unlike " +
                     std::to_string(options.order));
  if (options.panels < 1)
    fail<ValueError>("fixed_quad: .panels is at least 1, unlike " + std::to_string(options.panels));
  const Limits limits = limitsOf("fixed_quad", a, b, options.dtype, false);
  std::vector<double> nodes, weights, allNodes, allWeights;
  legendre(options.order, nodes, weights);
  const auto panels = static_cast<double>(options.panels);
  for (std::int64_t panel = 0; panel < options.panels; ++panel)
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      allNodes.push_back((2 * static_cast<double>(panel) + 1 + nodes[i]) / panels - 1);
      allWeights.push_back(weights[i] / panels);
    }
  const Tensor half = 0.5 * (limits.b - limits.a), middle = 0.5 * (limits.a + limits.b);
  const Tensor values = valuesAt(f, middle + half * cast(tensor(allNodes), limits.dtype));
  return half * weightedSum(cast(tensor(allWeights), limits.dtype), values);
}

} // namespace detail

namespace {
// The samples with the axis last, and the number of samples.
std::pair<Tensor, std::int64_t> samplesOf(const std::string &name, const Operand &y, const SampleOptions &options,
                                          std::int64_t least) {
  Tensor samples = y.toTensor();
  if (!is_floating(samples.dtype()))
    fail<DTypeError>(name + ": samples are float32 or float64, not " + name_of(samples.dtype()));
  const std::int64_t rank = samples.rank(), axis = options.axis < 0 ? options.axis + rank : options.axis;
  if (axis < 0 || axis >= rank)
    fail<ValueError>(name + ": the samples are " + describe(samples) + ", which has no axis " +
                     std::to_string(options.axis));
  const Size count = samples.shape()[static_cast<std::size_t>(axis)];
  if (!count.is_known() || count < least)
    fail<ShapeError>(name + ": the samples are " + describe(samples) + "; along axis " + std::to_string(options.axis) +
                     " there are at least " + std::to_string(least) + ", of a known number");
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  order.push_back(axis);
  return {axis == rank - 1 ? samples : transpose(samples, order), count};
}
Tensor distanceOf(const SampleOptions &options, const Tensor &samples) {
  return options.dx ? (*options.dx).toTensor(samples.dtype()) : number(1, samples.dtype());
}
// Drops or keeps samples along the last axis.
Tensor part(const Tensor &x, std::vector<std::int64_t> sizes, std::size_t which) {
  return split(x, std::move(sizes), -1)[which];
}
} // namespace

Tensor trapezoid(const Operand &y, SampleOptions options) {
  CallSite site(y.where(), "trapezoid");
  auto [samples, count] = samplesOf("trapezoid", y, options, 2);
  const Tensor means = 0.5 * (part(samples, {count - 1, 1}, 0) + part(samples, {1, count - 1}, 1));
  if (!options.x)
    return sum(means, -1) * distanceOf(options, samples);
  if (options.dx)
    fail<ValueError>("trapezoid: .dx and .x are both given");
  const Tensor x = (*options.x).toTensor(samples.dtype());
  if (x.rank() != 1 || !x.shape().is_compatible_with({Size(count)}))
    fail<ShapeError>("trapezoid: .x is " + describe(x) + " for " + std::to_string(count) + " samples");
  return sum(means * (part(x, {1, count - 1}, 1) - part(x, {count - 1, 1}, 0)), -1);
}

Tensor simpson(const Operand &y, SampleOptions options) {
  CallSite site(y.where(), "simpson");
  if (options.x)
    fail<ValueError>("simpson: .x is for trapezoid; Simpson's rule has samples at equal distances, .dx");
  auto [samples, count] = samplesOf("simpson", y, options, 3);
  std::vector<double> weights(static_cast<std::size_t>(count), 0);
  const std::int64_t odd = count % 2 == 1 ? count : count - 1;
  for (std::int64_t i = 0; i + 2 < odd; i += 2) {
    weights[static_cast<std::size_t>(i)] += 1.0 / 3;
    weights[static_cast<std::size_t>(i) + 1] += 4.0 / 3;
    weights[static_cast<std::size_t>(i) + 2] += 1.0 / 3;
  }
  if (odd != count) { // the last interval of the parabola through the last three
    weights[static_cast<std::size_t>(count) - 1] += 5.0 / 12;
    weights[static_cast<std::size_t>(count) - 2] += 8.0 / 12;
    weights[static_cast<std::size_t>(count) - 3] += -1.0 / 12;
  }
  return sum(samples * cast(tensor(weights), samples.dtype()), -1) * distanceOf(options, samples);
}

} // namespace calque::solvers
