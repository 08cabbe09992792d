#include "calque/schedules.h"
#include "Fields.h"
#include "Nearest.h"
#include "calque/callable.h"
#include "calque/functions.h"

#include <cmath>
#include <mutex>
#include <numbers>
#include <unordered_map>

namespace calque {

using training::fail;

namespace schedules {

namespace {

//===-- Formulas: what each schedule is made of, and its rate -------------------------------------===//

// Checks what a schedule is made of, with its name in front of messages.
struct Checks {
  const char *kind;
  SourceLocation where;

  void finite(const char *name, double value) const {
    if (!std::isfinite(value))
      fail<ValueError>(absl::StrCat(kind, ": ", name, " is finite, unlike ", Number(value).str()), where);
  }
  void positive(const char *name, double value) const {
    finite(name, value);
    if (!(value > 0))
      fail<ValueError>(absl::StrCat(kind, ": ", name, " is above 0, unlike ", Number(value).str()), where);
  }
  void notNegative(const char *name, double value) const {
    finite(name, value);
    if (!(value >= 0))
      fail<ValueError>(absl::StrCat(kind, ": ", name, " is at least 0, unlike ", Number(value).str()), where);
  }
  void steps(std::int64_t steps) const {
    if (steps < 1)
      fail<ValueError>(absl::StrCat(kind, ": the number of steps is above 0, unlike ", steps), where);
  }
};

// The base for each period that has passed.
Tensor raised(double base, const Tensor &exponent) { return pow(scalar<double>(base), exponent); }
Tensor cosine(const Tensor &fraction) { return 0.5 * (1 + cos(std::numbers::pi * fraction)); }

// What most of them have.
struct Decay {
  double initial_learning_rate = 0;
  std::int64_t decay_steps = 0;

  template <typename A> void describeDecay(A &a, const char *steps = "decay_steps") {
    a("initial_learning_rate", initial_learning_rate);
    a(steps, decay_steps);
  }
  void checkDecay(const Checks &is) const {
    is.notNegative("initial_learning_rate", initial_learning_rate);
    is.steps(decay_steps);
  }
  double period() const { return static_cast<double>(decay_steps); }
};

// Those of a rate of decay, which change at each step or at every `decay_steps` alone.
struct RateDecay : Decay {
  double decay_rate = 0;
  StaircaseOptions options;

  template <typename A> void describe(A &a) {
    describeDecay(a);
    a("decay_rate", decay_rate);
    a("staircase", options.staircase);
  }
  void check(const Checks &is) const {
    checkDecay(is);
    is.notNegative("decay_rate", decay_rate);
  }
  Tensor passed(const Tensor &step) const {
    Tensor periods = step / period();
    return options.staircase ? floor(periods) : periods;
  }
};

struct Exponential : RateDecay {
  static constexpr const char *className = "ExponentialDecay", *kind = "exponential_decay";

  Tensor operator()(const Tensor &step) const { return initial_learning_rate * raised(decay_rate, passed(step)); }
};

struct InverseTime : RateDecay {
  static constexpr const char *className = "InverseTimeDecay", *kind = "inverse_time_decay";

  Tensor operator()(const Tensor &step) const { return initial_learning_rate / (1 + decay_rate * passed(step)); }
};

struct PiecewiseConstant {
  static constexpr const char *className = "PiecewiseConstantDecay", *kind = "piecewise_constant_decay";
  std::vector<std::int64_t> boundaries;
  std::vector<double> values;

  template <typename A> void describe(A &a) {
    a("boundaries", boundaries);
    a("values", values);
  }
  void check(const Checks &is) const {
    if (values.size() != boundaries.size() + 1)
      fail<ValueError>(absl::StrCat("piecewise_constant_decay: there is one value more than boundaries, unlike ",
                                    values.size(), " values and ", boundaries.size(), " boundaries"),
                       is.where);
    for (std::size_t i = 1; i < boundaries.size(); ++i)
      if (boundaries[i] <= boundaries[i - 1])
        fail<ValueError>(absl::StrCat("piecewise_constant_decay: the boundaries ascend, unlike ", boundaries[i - 1],
                                      " and ", boundaries[i]),
                         is.where);
    for (double value : values)
      is.notNegative("each value", value);
  }
  Tensor operator()(const Tensor &step) const {
    Tensor rate = scalar<double>(values.back());
    for (std::size_t i = boundaries.size(); i-- > 0;)
      rate = where(step <= boundaries[i], values[i], rate);
    return rate;
  }
};

struct Polynomial : Decay {
  static constexpr const char *className = "PolynomialDecay", *kind = "polynomial_decay";
  PolynomialDecayOptions options;

  template <typename A> void describe(A &a) {
    describeDecay(a);
    a("end_learning_rate", options.end_learning_rate);
    a("power", options.power);
    a("cycle", options.cycle);
  }
  void check(const Checks &is) const {
    checkDecay(is);
    is.notNegative("end_learning_rate", options.end_learning_rate);
    is.notNegative("power", options.power);
  }
  Tensor operator()(const Tensor &step) const {
    Tensor passed = options.cycle ? step / (period() * where(step == 0, 1, ceil(step / period())))
                                  : minimum(step, period()) / period();
    const double end = options.end_learning_rate;
    return (initial_learning_rate - end) * pow(1 - passed, options.power) + end;
  }
};

struct Cosine : Decay {
  static constexpr const char *className = "CosineDecay", *kind = "cosine_decay";
  CosineDecayOptions options;

  template <typename A> void describe(A &a) {
    describeDecay(a);
    a("alpha", options.alpha);
    a("warmup_target", options.warmup_target);
    a("warmup_steps", options.warmup_steps);
  }
  void check(const Checks &is) const {
    checkDecay(is);
    is.notNegative("alpha", options.alpha);
    is.notNegative("warmup_steps", static_cast<double>(options.warmup_steps));
    if (options.warmup_target)
      is.notNegative("warmup_target", *options.warmup_target);
  }
  Tensor operator()(const Tensor &step) const {
    const bool warms = options.warmup_target.has_value();
    const double warmup = warms ? static_cast<double>(options.warmup_steps) : 0;
    const double from = warms ? *options.warmup_target : initial_learning_rate;
    Tensor fraction = (minimum(step, period() + warmup) - warmup) / period();
    Tensor decayed = from * ((1 - options.alpha) * cosine(fraction) + options.alpha);
    if (!warms || warmup == 0)
      return decayed;
    return where(step < warmup, (from - initial_learning_rate) * (step / warmup) + initial_learning_rate, decayed);
  }
};

struct CosineRestarts : Decay {
  static constexpr const char *className = "CosineDecayRestarts", *kind = "cosine_decay_restarts";
  CosineDecayRestartsOptions options;

  template <typename A> void describe(A &a) {
    describeDecay(a, "first_decay_steps");
    a("t_mul", options.t_mul);
    a("m_mul", options.m_mul);
    a("alpha", options.alpha);
  }
  void check(const Checks &is) const {
    checkDecay(is);
    is.positive("t_mul", options.t_mul);
    // Periods that get shorter end, and after them there is no rate.
    if (options.t_mul < 1)
      fail<ValueError>(absl::StrCat("cosine_decay_restarts: t_mul is at least 1, unlike ", Number(options.t_mul).str(),
                                    ", whose periods would all be over by step ",
                                    Number(period() / (1 - options.t_mul)).str()),
                       is.where);
    is.positive("m_mul", options.m_mul);
    is.notNegative("alpha", options.alpha);
  }
  Tensor operator()(const Tensor &step) const {
    Tensor passed = step / period(), restarts, fraction;
    if (options.t_mul == 1) {
      restarts = floor(passed);
      fraction = passed - restarts;
    } else {
      restarts = floor(log(1 - passed * (1 - options.t_mul)) / std::log(options.t_mul));
      Tensor longer = raised(options.t_mul, restarts);
      fraction = (passed - (1 - longer) / (1 - options.t_mul)) / longer;
    }
    Tensor height = raised(options.m_mul, restarts) * cosine(fraction);
    return initial_learning_rate * ((1 - options.alpha) * height + options.alpha);
  }
};

//===-- Names -------------------------------------------------------------------------------------===//

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::function<Tensor(const Tensor &)>> rates;
};
Registry &registry() {
  static Registry made;
  return made;
}

} // namespace

template <typename Formula> Schedule Schedule::made(Formula formula, SourceLocation where) {
  formula.check(Checks{Formula::kind, where});
  ConfigWriter writer;
  formula.describe(writer);
  Schedule schedule(std::move(formula));
  schedule.config_ = Config{{"class_name", Formula::className}, {"config", writer.config}};
  return schedule;
}

Schedule::Schedule(const std::string &name, SourceLocation where) : config_(name) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().rates.find(name);
  if (found == registry().rates.end())
    fail<LookupError>(absl::StrCat("schedule: there is no '", name, "'; ",
                                   training::nearest(name, training::keysOf(registry().rates)),
                                   "; register_schedule() makes one of your own known"),
                      where);
  rate_ = found->second;
}

Tensor Schedule::operator()(const Operand &step) const {
  CallSite site(step.where(), "learning_rate");
  return cast(rate_(cast(step.toTensor(), DType::Float64)), DType::Float64);
}

ConfigValue Schedule::get_config(SourceLocation where) const {
  if (config_.is_null())
    fail<StateError>("schedule: a function of the step has no config; give it a name by register_schedule(), and use "
                     "schedules::Schedule(name)",
                     where);
  return config_;
}

Schedule Schedule::from_config(const ConfigValue &config, SourceLocation where) {
  if (config.is<std::string>())
    return Schedule(config.as<std::string>(where), where);
  using Make = Schedule (*)(const Config &, SourceLocation);
  static const std::pair<std::string, Make> classes[] = {
#define CALQUE_SCHEDULE(Formula)                                                                                       \
  {                                                                                                                    \
    Formula::className, [](const Config &from, SourceLocation where) {                                                 \
      Formula formula;                                                                                                 \
      ConfigReader reader(from, Formula::kind);                                                                        \
      formula.describe(reader);                                                                                        \
      reader.finish();                                                                                                 \
      return made(std::move(formula), where);                                                                          \
    }                                                                                                                  \
  }
      CALQUE_SCHEDULE(Exponential), CALQUE_SCHEDULE(InverseTime), CALQUE_SCHEDULE(PiecewiseConstant),
      CALQUE_SCHEDULE(Polynomial),  CALQUE_SCHEDULE(Cosine),      CALQUE_SCHEDULE(CosineRestarts),
#undef CALQUE_SCHEDULE
  };
  CallSite site(where, "schedule");
  const auto all = config.as<Config>(where);
  const std::string name = all.at("class_name", where).as<std::string>(where);
  const ConfigValue *options = all.find("config");
  for (const auto &[className, make] : classes)
    if (name == className)
      return make(options ? options->as<Config>(where) : Config(), where);
  std::vector<std::string> names;
  for (const auto &[className, make] : classes)
    names.push_back(className);
  fail<LookupError>(absl::StrCat("schedule: there is no class '", name, "'; ", training::nearest(name, names)), where);
}

//===-- Classes -----------------------------------------------------------------------------------===//

ExponentialDecay::ExponentialDecay(double initial, std::int64_t steps, double decay, StaircaseOptions options,
                                   SourceLocation where)
    : Schedule(made(Exponential{{{initial, steps}, decay, options}}, where)) {}
InverseTimeDecay::InverseTimeDecay(double initial, std::int64_t steps, double decay, StaircaseOptions options,
                                   SourceLocation where)
    : Schedule(made(InverseTime{{{initial, steps}, decay, options}}, where)) {}
PiecewiseConstantDecay::PiecewiseConstantDecay(std::vector<std::int64_t> boundaries, std::vector<double> values,
                                               SourceLocation where)
    : Schedule(made(PiecewiseConstant{std::move(boundaries), std::move(values)}, where)) {}
PolynomialDecay::PolynomialDecay(double initial, std::int64_t steps, PolynomialDecayOptions options,
                                 SourceLocation where)
    : Schedule(made(Polynomial{{initial, steps}, options}, where)) {}
CosineDecay::CosineDecay(double initial, std::int64_t steps, CosineDecayOptions options, SourceLocation where)
    : Schedule(made(Cosine{{initial, steps}, options}, where)) {}
CosineDecayRestarts::CosineDecayRestarts(double initial, std::int64_t steps, CosineDecayRestartsOptions options,
                                         SourceLocation where)
    : Schedule(made(CosineRestarts{{initial, steps}, options}, where)) {}

} // namespace schedules

void register_schedule(const std::string &name, std::function<Tensor(const Tensor &)> rate, SourceLocation where) {
  calque::detail::requireCallable(rate, "register_schedule", where);
  std::lock_guard lock(schedules::registry().mutex);
  if (!schedules::registry().rates.emplace(name, std::move(rate)).second)
    fail<ValueError>(absl::StrCat("register_schedule: there is a schedule '", name, "' already"), where);
}

LearningRate LearningRate::from_config(const ConfigValue &config, SourceLocation where) {
  if (config.is<double>())
    return config.as<double>(where);
  return schedules::Schedule::from_config(config, where);
}

} // namespace calque
