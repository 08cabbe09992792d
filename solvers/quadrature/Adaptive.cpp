// Adaptive Gauss-Kronrod quadrature.
#include "Kronrod.h"
#include "Quadrature.h"
#include "calque/control_flow.h"
#include "calque/custom_gradient.h"
#include "calque/user_calls.h"

#include <cmath>

namespace calque::solvers::detail {

namespace {

// The integral over some intervals, of which the first `count` are used.
struct Partition {
  Tensor count;
  Tensor begins, ends, errors; // [capacity]
  Tensor values;               // [capacity, ...]
};
struct Estimate {
  Tensor value, error;
};

// Applies the rule to [a, b]. The error estimate is that of QUADPACK, for the largest of several elements.
Estimate applyRule(const Kronrod &rule, const QuadFunction &f, const Tensor &a, const Tensor &b) {
  const DType dtype = a.dtype();
  const Tensor half = 0.5 * (b - a), middle = 0.5 * (a + b);
  auto constant = [dtype](const std::vector<double> &numbers) { return cast(tensor(numbers), dtype); };
  const Tensor weights = constant(rule.weights);
  const Tensor values = f(middle + half * constant(rule.nodes));
  const Tensor value = half * weightedSum(weights, values);

  const Tensor seen = stop_gradient(values), length = abs(stop_gradient(half));
  const Tensor mean = 0.5 * weightedSum(weights, seen);
  const Tensor deviation = max(length * weightedSum(weights, abs(seen - expand_dims(mean, 0))));
  const Tensor magnitude = max(length * weightedSum(weights, abs(seen)));
  std::vector<double> differences = rule.weights;
  for (std::size_t i = 0; i < differences.size(); ++i)
    differences[i] -= rule.gauss[i];
  const Tensor raw = max(length * abs(weightedSum(constant(differences), seen)));
  const Tensor ratio = 200 * raw / where(deviation == 0, 1, deviation);
  const Tensor scaled = where(deviation == 0, raw, deviation * minimum(1, ratio * sqrt(ratio)));
  return {value, maximum(scaled, 50 * epsilon(dtype) * magnitude)};
}

// Zero, with the derivative 1 by the limit: of an integral to b, f(b) times this has the derivative f(b). The
// derivative is NaN where f(b) is not finite.
Tensor offset(const Tensor &limit, const Tensor &isFinite) {
  auto make = custom_gradient([&](const Tensor &x) {
    auto pullback = [isFinite](const Tensor &g) {
      return where(isFinite, g, std::numeric_limits<double>::quiet_NaN());
    };
    return std::pair(0 * stop_gradient(x), pullback);
  });
  return make(limit);
}

// Zero, with the derivative of the integral by its limit. The factor 1/2 makes the second derivative right, too.
Tensor boundary(const QuadFunction &f, const Tensor &limit, const Tensor &inside) {
  auto at = [&](const Tensor &x) { return call_user([&] { return f(x); }); };
  const Tensor fixed = stop_gradient(limit);
  const Tensor isFinite = all(isfinite(stop_gradient(at(fixed))));
  // The value where f is finite, whatever the limit is: otherwise 0 times infinity would be NaN.
  const Tensor x = where(isFinite, 0.5 * (limit + fixed), inside);
  return at(x) * offset(limit, isFinite);
}

bool isInfinite(const Operand &x, double sign) {
  return x.isHostNumber() && x.toTensor(DType::Float64).item<double>() == sign * kInfinity;
}

void checkOptions(const QuadOptions &options) {
  auto check = [](const char *name, const OptionalValue &value) {
    if (value && value.number() && !(*value.number() >= 0 && std::isfinite(*value.number())))
      fail<ValueError>(std::string("quad: .") + name + " = " + Number(*value.number()).str() +
                       "; it is finite and not negative");
  };
  check("rtol", options.rtol);
  check("atol", options.atol);
  if (options.max_intervals < 1)
    fail<ValueError>("quad: .max_intervals = " + std::to_string(options.max_intervals) + "; at least one is needed");
}

} // namespace

QuadResult integrateAdaptively(const QuadFunction &f, const Operand &a, const Operand &b, const QuadOptions &options,
                               SourceLocation where) {
  CallSite site(where, "quad");
  checkOptions(options);
  const Limits limits = limitsOf("quad", a, b, options.dtype, true);
  const DType dtype = limits.dtype;
  for (const auto &[given, limit] : {std::pair(&a, limits.a), std::pair(&b, limits.b)})
    if (!given->isHostNumber())
      assert_true(isfinite(limit), "quad: a limit that is a tensor is finite; infinite limits are C++ numbers");
  auto tolerance = [&](const OptionalValue &value, double wide, double narrow) {
    return value ? cast((*value).toTensor(dtype), dtype) : number(dtype == DType::Float64 ? wide : narrow, dtype);
  };
  const Tensor rtol = tolerance(options.rtol, 1e-8, 1e-4), atol = tolerance(options.atol, 1e-10, 1e-6);
  const Kronrod &rule = options.rule == QuadRule::GaussKronrod15 ? kKronrod15 : kKronrod21;

  // The values at nodes of the variable t of the substitution, times dx/dt.
  const bool fromInfinity = isInfinite(a, -1) || isInfinite(a, 1), toInfinity = isInfinite(b, -1) || isInfinite(b, 1);
  const Tensor fixedA = stop_gradient(limits.a), fixedB = stop_gradient(limits.b);
  QuadFunction values = [&](const Tensor &x) { return valuesAt(f, x); };
  Tensor begin = fixedA, end = fixedB, inside = 0.5 * (fixedA + fixedB);
  auto scaled = [](const Tensor &y, const Tensor &factors) {
    Shape shape(static_cast<std::size_t>(y.rank()), 1);
    shape[0] = factors.shape()[0];
    return y * reshape(factors, shape);
  };
  if (fromInfinity || toInfinity) {
    const double sign = isInfinite(fromInfinity ? a : b, 1) ? 1 : -1;
    const bool isWhole = fromInfinity && toInfinity;
    if (isWhole && isInfinite(a, 1) == isInfinite(b, 1))
      fail<ValueError>("quad: both limits are the same infinity");
    // Of a range that begins at infinity the integral is that from its end, with the other sign.
    const double orientation = isWhole ? (isInfinite(b, 1) ? 1 : -1) : (toInfinity ? 1 : -1) * sign;
    const Tensor start = isWhole ? number(0, dtype) : toInfinity ? fixedA : fixedB;
    inside = start + sign;
    begin = number(0, dtype);
    end = number(1, dtype);
    values = [=, &f](const Tensor &t) {
      const Tensor distance = (1 - t) / t, factors = orientation / (t * t);
      Tensor y = valuesAt(f, start + sign * distance);
      if (isWhole)
        y = y + valuesAt(f, start - sign * distance);
      return scaled(y, factors);
    };
  }

  const std::int64_t capacity = options.max_intervals;
  const Estimate whole = applyRule(rule, values, begin, end);
  std::vector<std::int64_t> counted(static_cast<std::size_t>(capacity));
  for (std::int64_t i = 0; i < capacity; ++i)
    counted[static_cast<std::size_t>(i)] = i;
  const Tensor places = tensor(counted), isFirst = places == 0;
  Shape rows(static_cast<std::size_t>(whole.value.rank()) + 1, 1);
  rows[0] = capacity;
  Partition initial{scalar<std::int64_t>(1), calque::where(isFirst, begin, 0), calque::where(isFirst, end, 0),
                    calque::where(isFirst, whole.error, 0),
                    calque::where(reshape(isFirst, rows), expand_dims(whole.value, 0), 0)};
  auto goalOf = [&](const Tensor &total) { return maximum(atol, rtol * max(abs(stop_gradient(total)))); };
  auto goesOn = [&](const Partition &at) {
    const Tensor error = sum(at.errors);
    return (error > goalOf(sum(at.values, {0}))) & (at.count < capacity) & isfinite(error);
  };
  auto halve = [&](const Partition &at) {
    // `argmax` would make the loop an ordinary one.
    const Tensor worst = minimum(min(calque::where(at.errors == max(at.errors), places, capacity)), capacity - 1);
    const Tensor low = gather(at.begins, worst), high = gather(at.ends, worst), middle = 0.5 * (low + high);
    const Estimate left = applyRule(rule, values, low, middle), right = applyRule(rule, values, middle, high);
    const Tensor isLeft = places == worst, isRight = places == at.count;
    auto put = [](const Tensor &where1, const Tensor &x, const Tensor &where2, const Tensor &y, const Tensor &old) {
      return calque::where(where1, x, calque::where(where2, y, old));
    };
    return Partition{at.count + 1, put(isLeft, low, isRight, middle, at.begins),
                     put(isLeft, middle, isRight, high, at.ends),
                     put(isLeft, left.error, isRight, right.error, at.errors),
                     put(reshape(isLeft, rows), expand_dims(left.value, 0), reshape(isRight, rows),
                         expand_dims(right.value, 0), at.values)};
  };
  const Partition last = while_loop(goesOn, halve, initial);

  QuadResult result;
  result.value = sum(last.values, {0});
  result.error = sum(last.errors);
  result.intervals = last.count;
  result.converged = result.error <= goalOf(result.value);
  if (!b.isNumber())
    result.value = result.value + boundary(f, limits.b, inside);
  if (!a.isNumber())
    result.value = result.value - boundary(f, limits.a, inside);
  if (options.on_failure == OnQuadFailure::Throw) {
    assert_true(isfinite(result.error), "quad: the function is not finite at a node");
    assert_true(result.converged,
                "quad: the error is above the tolerance after .max_intervals = " + std::to_string(capacity) +
                    " intervals. The function may be singular or discontinuous: give more intervals "
                    "or a larger tolerance, or divide the range there");
  }
  return result;
}

} // namespace calque::solvers::detail
