// Schedules: learning rates that depend on the number of the step.
//
//   optimizers::SGD sgd(schedules::ExponentialDecay(0.1, 1000, 0.96));
//   optimizers::SGD own([](const Tensor &step) { return 0.1 / sqrt(step + 1); }); // a float64 scalar, at first 0
//   Tensor rate = schedules::CosineDecay(0.1, 100)(50);
//   Config config = schedules::CosineDecay(0.1, 100).get_config(); // {"class_name":"CosineDecay","config":{...}}
//   schedules::Schedule same = schedules::Schedule::from_config(config);
//   register_schedule("root", own_rate);                           // one's own has a name then, by which it is saved:
//   optimizers::SGD named(schedules::Schedule("root"));
//
// The formulas are those of Keras 3, in float64. An optimiser passes the number of steps before the present one as
// `step`.
#ifndef CALQUE_SCHEDULES_H
#define CALQUE_SCHEDULES_H

#include "calque/config.h"
#include "calque/tensor.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace calque {

namespace schedules {

// A rate for each step: a function from a float64 scalar to a float64 scalar.
class CALQUE_API Schedule {
public:
  template <typename F>
    requires(!std::is_base_of_v<Schedule, std::remove_cvref_t<F>> &&
             std::is_invocable_r_v<Tensor, const F &, const Tensor &>)
  explicit Schedule(F f) : rate_(std::move(f)) {}
  // The schedule that is registered under a name. LookupError for another name.
  explicit Schedule(const std::string &name, SourceLocation where = SourceLocation::current());
  Tensor operator()(const Operand &step) const;

  // {"class_name": its class, "config": its options}, or the name of a registered function. StateError for a function
  // that is not registered.
  ConfigValue get_config(SourceLocation where = SourceLocation::current()) const;
  // LookupError for an unknown class or name, ValueError for options that the class lacks.
  static Schedule from_config(const ConfigValue &config, SourceLocation where = SourceLocation::current());

protected:
  template <typename Formula> static Schedule made(Formula formula, SourceLocation where);

private:
  std::function<Tensor(const Tensor &)> rate_;
  ConfigValue config_; // null for a function
};

struct StaircaseOptions {
  bool staircase = false; // the rate changes only every `decay_steps` steps
};
// initial * decay_rate^(step / decay_steps). ValueError unless decay_steps is above 0; so do all schedules below.
class CALQUE_API ExponentialDecay : public Schedule {
public:
  ExponentialDecay(double initial_learning_rate, std::int64_t decay_steps, double decay_rate,
                   StaircaseOptions options = {}, SourceLocation where = SourceLocation::current());
};
// initial / (1 + decay_rate * step / decay_steps).
class CALQUE_API InverseTimeDecay : public Schedule {
public:
  InverseTimeDecay(double initial_learning_rate, std::int64_t decay_steps, double decay_rate,
                   StaircaseOptions options = {}, SourceLocation where = SourceLocation::current());
};
// values[i] up to step boundaries[i], and the last value after the last boundary. ValueError unless there is one value
// more than boundaries, and the boundaries ascend.
class CALQUE_API PiecewiseConstantDecay : public Schedule {
public:
  PiecewiseConstantDecay(std::vector<std::int64_t> boundaries, std::vector<double> values,
                         SourceLocation where = SourceLocation::current());
};
struct PolynomialDecayOptions {
  double end_learning_rate = 1e-4, power = 1;
  bool cycle = false; // after decay_steps steps, decay_steps is replaced by its next multiple
};
// (initial - end) * (1 - step / decay_steps)^power + end.
class CALQUE_API PolynomialDecay : public Schedule {
public:
  PolynomialDecay(double initial_learning_rate, std::int64_t decay_steps, PolynomialDecayOptions options = {},
                  SourceLocation where = SourceLocation::current());
};
struct CosineDecayOptions {
  double alpha = 0;                                   // the rate at the end, as a fraction of the rate at the beginning
  std::optional<double> warmup_target = std::nullopt; // the rate rises to it in warmup_steps, and then decays
  std::int64_t warmup_steps = 0;
};
// Half a period of the cosine. Loshchilov, Hutter: SGDR, stochastic gradient descent with warm restarts, 2017.
class CALQUE_API CosineDecay : public Schedule {
public:
  CosineDecay(double initial_learning_rate, std::int64_t decay_steps, CosineDecayOptions options = {},
              SourceLocation where = SourceLocation::current());
};
struct CosineDecayRestartsOptions {
  // Each period is t_mul times as long as the one before (at least 1), and m_mul times as high (above 0).
  double t_mul = 2, m_mul = 1;
  double alpha = 0;
};
class CALQUE_API CosineDecayRestarts : public Schedule {
public:
  CosineDecayRestarts(double initial_learning_rate, std::int64_t first_decay_steps,
                      CosineDecayRestartsOptions options = {}, SourceLocation where = SourceLocation::current());
};

} // namespace schedules

// Gives a function of the step a name for configs. ValueError for a name that is taken.
CALQUE_API void register_schedule(const std::string &name, std::function<Tensor(const Tensor &)> rate,
                                  SourceLocation where = SourceLocation::current());

// A learning rate as an option: a number, a schedule, or a function of the step.
class CALQUE_API LearningRate {
public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  LearningRate(T number) : number_(static_cast<double>(number)) {}
  template <typename F>
    requires std::is_invocable_r_v<Tensor, const F &, const Tensor &>
  LearningRate(F schedule) {
    if constexpr (std::is_base_of_v<schedules::Schedule, F>)
      schedule_ = std::make_shared<schedules::Schedule>(schedule);
    else
      schedule_ = std::make_shared<schedules::Schedule>(schedules::Schedule(std::move(schedule)));
  }
  double number() const { return number_; }
  // A number, or the config of a schedule.
  ConfigValue get_config(SourceLocation where = SourceLocation::current()) const {
    return schedule_ ? schedule_->get_config(where) : ConfigValue(number_);
  }
  static LearningRate from_config(const ConfigValue &config, SourceLocation where = SourceLocation::current());
  // Null for a number.
  const schedules::Schedule *schedule() const { return schedule_.get(); }

private:
  double number_ = 0;
  std::shared_ptr<const schedules::Schedule> schedule_;
};

} // namespace calque
#endif
