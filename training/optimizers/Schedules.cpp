#include "calque/schedules.h"
#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/functions.h"

#include <cmath>
#include <numbers>

namespace calque::schedules {

namespace {
double checkedSteps(const char *kind, std::int64_t steps, SourceLocation where) {
  if (steps < 1)
    training::fail<ValueError>(absl::StrCat(kind, ": the number of steps is above 0, unlike ", steps), where);
  return static_cast<double>(steps);
}
// The base for each period that has passed.
Tensor raised(double base, const Tensor &exponent) { return pow(scalar<double>(base), exponent); }
Tensor cosine(const Tensor &fraction) { return 0.5 * (1 + cos(std::numbers::pi * fraction)); }
} // namespace

Tensor Schedule::operator()(const Operand &step) const {
  CallSite site(step.where(), "learning_rate");
  return cast(rate_(cast(step.toTensor(), DType::Float64)), DType::Float64);
}

ExponentialDecay::ExponentialDecay(double initial, std::int64_t steps, double decay, StaircaseOptions options,
                                   SourceLocation where)
    : Schedule([=, period = checkedSteps("exponential_decay", steps, where)](const Tensor &step) {
        Tensor passed = step / period;
        return initial * raised(decay, options.staircase ? floor(passed) : passed);
      }) {}

InverseTimeDecay::InverseTimeDecay(double initial, std::int64_t steps, double decay, StaircaseOptions options,
                                   SourceLocation where)
    : Schedule([=, period = checkedSteps("inverse_time_decay", steps, where)](const Tensor &step) {
        Tensor passed = step / period;
        return initial / (1 + decay * (options.staircase ? floor(passed) : passed));
      }) {}

PiecewiseConstantDecay::PiecewiseConstantDecay(std::vector<std::int64_t> boundaries, std::vector<double> values,
                                               SourceLocation where)
    : Schedule([boundaries, values, where] {
        if (values.size() != boundaries.size() + 1)
          training::fail<ValueError>(absl::StrCat("piecewise_constant_decay: there is one value more than boundaries, "
                                                  "unlike ",
                                                  values.size(), " values and ", boundaries.size(), " boundaries"),
                                     where);
        return [boundaries, values](const Tensor &step) {
          Tensor rate = scalar<double>(values.back());
          for (std::size_t i = boundaries.size(); i-- > 0;)
            rate = calque::where(step <= boundaries[i], values[i], rate);
          return rate;
        };
      }()) {}

PolynomialDecay::PolynomialDecay(double initial, std::int64_t steps, PolynomialDecayOptions options,
                                 SourceLocation where)
    : Schedule([=, period = checkedSteps("polynomial_decay", steps, where)](const Tensor &step) {
        Tensor passed = options.cycle ? step / (period * calque::where(step == 0, 1, ceil(step / period)))
                                      : minimum(step, period) / period;
        return (initial - options.end_learning_rate) * pow(1 - passed, options.power) + options.end_learning_rate;
      }) {}

CosineDecay::CosineDecay(double initial, std::int64_t steps, CosineDecayOptions options, SourceLocation where)
    : Schedule([=, period = checkedSteps("cosine_decay", steps, where)](const Tensor &step) {
        const bool warms = options.warmup_target.has_value();
        const double warmup = warms ? static_cast<double>(options.warmup_steps) : 0;
        const double from = warms ? *options.warmup_target : initial;
        Tensor fraction = (minimum(step, period + warmup) - warmup) / period;
        Tensor decayed = from * ((1 - options.alpha) * cosine(fraction) + options.alpha);
        if (!warms || warmup == 0)
          return decayed;
        return calque::where(step < warmup, (from - initial) * (step / warmup) + initial, decayed);
      }) {}

CosineDecayRestarts::CosineDecayRestarts(double initial, std::int64_t steps, CosineDecayRestartsOptions options,
                                         SourceLocation where)
    : Schedule([=, period = checkedSteps("cosine_decay_restarts", steps, where)](const Tensor &step) {
        Tensor passed = step / period, restarts, fraction;
        if (options.t_mul == 1) {
          restarts = floor(passed);
          fraction = passed - restarts;
        } else {
          restarts = floor(log(1 - passed * (1 - options.t_mul)) / std::log(options.t_mul));
          Tensor longer = raised(options.t_mul, restarts);
          fraction = (passed - (1 - longer) / (1 - options.t_mul)) / longer;
        }
        Tensor height = raised(options.m_mul, restarts) * cosine(fraction);
        return initial * ((1 - options.alpha) * height + options.alpha);
      }) {}

} // namespace calque::schedules
