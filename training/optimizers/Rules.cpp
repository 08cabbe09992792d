// The rules of the optimisers, as Keras 3 has them.
#include "Fields.h"
#include "Nearest.h"
#include "calque/callable.h"
#include "calque/functions.h"
#include "calque/optimizers.h"

#include <deque>
#include <mutex>

namespace calque::optimizers {

using training::fail;

namespace {

using Prepared = std::vector<Tensor>;
using Kept = std::vector<Variable>; // the slots of one variable

// average = keep * average + (1 - keep) * x, and the new value.
Tensor average(Variable &of, double keep, const Tensor &x) {
  Tensor value = keep * of + (1 - keep) * x;
  of.assign(value);
  return value;
}

//===-- Options -----------------------------------------------------------------------------------===//

template <typename A> void describe(A &a, SGDOptions &of) {
  a("momentum", of.momentum);
  a("nesterov", of.nesterov);
}
template <typename A> void describe(A &a, RMSpropOptions &of) {
  a("rho", of.rho);
  a("momentum", of.momentum);
  a("epsilon", of.epsilon);
  a("centered", of.centered);
}
template <typename A> void describe(A &a, AdagradOptions &of) {
  a("initial_accumulator_value", of.initial_accumulator_value);
  a("epsilon", of.epsilon);
}
template <typename A> void describe(A &a, AdadeltaOptions &of) {
  a("rho", of.rho);
  a("epsilon", of.epsilon);
}
template <typename A, typename Options> void describeBetas(A &a, Options &of) {
  a("beta_1", of.beta_1);
  a("beta_2", of.beta_2);
}
template <typename A> void describe(A &a, AdamOptions &of) {
  describeBetas(a, of);
  a("epsilon", of.epsilon);
  a("amsgrad", of.amsgrad);
}
template <typename A> void describe(A &a, AdamWOptions &of) { // its decay is an option of all
  describeBetas(a, of);
  a("epsilon", of.epsilon);
  a("amsgrad", of.amsgrad);
}
template <typename A> void describe(A &a, AdamaxOptions &of) {
  describeBetas(a, of);
  a("epsilon", of.epsilon);
}
template <typename A> void describe(A &a, NadamOptions &of) {
  describeBetas(a, of);
  a("epsilon", of.epsilon);
}
template <typename A> void describe(A &a, LionOptions &of) { describeBetas(a, of); }
template <typename A> void describe(A &a, FtrlOptions &of) {
  a("learning_rate_power", of.learning_rate_power);
  a("initial_accumulator_value", of.initial_accumulator_value);
  a("l1_regularization_strength", of.l1_regularization_strength);
  a("l2_regularization_strength", of.l2_regularization_strength);
  a("l2_shrinkage_regularization_strength", of.l2_shrinkage_regularization_strength);
  a("beta", of.beta);
}
template <typename A> void describe(A &a, OptimizerOptions &of) {
  a("weight_decay", of.weight_decay);
  a("clipnorm", of.clipnorm);
  a("global_clipnorm", of.global_clipnorm);
  a("clipvalue", of.clipvalue);
  a("use_ema", of.use_ema);
  a("ema_momentum", of.ema_momentum);
  a("ema_overwrite_frequency", of.ema_overwrite_frequency);
  a("gradient_accumulation_steps", of.gradient_accumulation_steps);
  a("decay", of.decay);
}

//===-- Rules -------------------------------------------------------------------------------------===//

// The body of an optimiser with options.
template <typename Options> struct Rule : OptimizerBody {
  Rule(const char *kind, LearningRate rate, std::vector<SlotSpec> slots, const Options &of, OptimizerOptions options,
       SourceLocation where)
      : OptimizerBody(kind, std::move(rate), std::move(slots), std::move(options), where), of(of) {}
  Config own_config() const override {
    ConfigWriter writer;
    Options options = of;
    describe(writer, options);
    return std::move(writer.config);
  }
  const Options of;
};

struct SGDBody final : Rule<SGDOptions> {
  SGDBody(LearningRate rate, SGDOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("sgd", std::move(rate), of.momentum == 0 ? std::vector<SlotSpec>() : std::vector<SlotSpec>{"momentum"}, of,
             std::move(options), where) {
    hyperparameter("momentum", of.momentum, 0, 1);
    if (of.nesterov && of.momentum == 0)
      fail<ValueError>("sgd: nesterov looks ahead along the momentum, which is 0", where);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor step = prepared[0] * gradient;
    if (slots.empty())
      return variable.assign_sub(step);
    Tensor velocity = of.momentum * slots[0] - step;
    slots[0].assign(velocity);
    variable.assign_add(of.nesterov ? of.momentum * velocity - step : velocity);
  }
};

struct RMSpropBody final : Rule<RMSpropOptions> {
  static std::vector<SlotSpec> specs(const RMSpropOptions &of) {
    std::vector<SlotSpec> specs = {"velocity"};
    if (of.momentum != 0)
      specs.emplace_back("momentum");
    if (of.centered)
      specs.emplace_back("average_gradient");
    return specs;
  }
  RMSpropBody(LearningRate rate, RMSpropOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("rmsprop", std::move(rate), specs(of), of, std::move(options), where) {
    hyperparameter("rho", of.rho, 0, 1);
    hyperparameter("momentum", of.momentum, 0, 1);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor squares = average(slots[0], of.rho, square(gradient)) + of.epsilon;
    if (of.centered)
      squares = squares - square(average(slots.back(), of.rho, gradient));
    Tensor step = prepared[0] * gradient / sqrt(squares);
    if (of.momentum != 0) {
      step = of.momentum * slots[1] + step;
      slots[1].assign(step);
    }
    variable.assign_sub(step);
  }
};

struct AdagradBody final : Rule<AdagradOptions> {
  AdagradBody(LearningRate rate, AdagradOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("adagrad", std::move(rate), {{"accumulator", of.initial_accumulator_value}}, of, std::move(options),
             where) {
    hyperparameter("initial_accumulator_value", of.initial_accumulator_value, 0);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor squares = slots[0] + square(gradient);
    slots[0].assign(squares);
    variable.assign_sub(prepared[0] * gradient / sqrt(squares + of.epsilon));
  }
};

struct AdadeltaBody final : Rule<AdadeltaOptions> {
  AdadeltaBody(LearningRate rate, AdadeltaOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("adadelta", std::move(rate), {"accumulated_grad", "accumulated_delta_var"}, of, std::move(options),
             where) {
    hyperparameter("rho", of.rho, 0, 1);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor squares = average(slots[0], of.rho, square(gradient));
    Tensor delta = sqrt(slots[1] + of.epsilon) * gradient / sqrt(squares + of.epsilon);
    average(slots[1], of.rho, square(delta));
    variable.assign_sub(prepared[0] * delta);
  }
};

struct AdamBody final : Rule<AdamOptions> {
  AdamBody(const char *kind, LearningRate rate, AdamOptions of, OptimizerOptions options, SourceLocation where)
      : Rule(kind, std::move(rate),
             of.amsgrad ? std::vector<SlotSpec>{"momentum", "velocity", "velocity_hat"}
                        : std::vector<SlotSpec>{"momentum", "velocity"},
             of, std::move(options), where) {
    hyperparameter("beta_1", of.beta_1, 0, 1);
    hyperparameter("beta_2", of.beta_2, 0, 1);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  Prepared prepare(const Tensor &rate, const Tensor &step) override {
    return {rate * sqrt(1 - pow(of.beta_2, step)) / (1 - pow(of.beta_1, step))};
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor first = average(slots[0], of.beta_1, gradient), second = average(slots[1], of.beta_2, square(gradient));
    if (of.amsgrad) {
      second = maximum(slots[2], second);
      slots[2].assign(second);
    }
    variable.assign_sub(prepared[0] * first / (sqrt(second) + of.epsilon));
  }
};

struct AdamaxBody final : Rule<AdamaxOptions> {
  AdamaxBody(LearningRate rate, AdamaxOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("adamax", std::move(rate), {"momentum", "norm"}, of, std::move(options), where) {
    hyperparameter("beta_1", of.beta_1, 0, 1);
    hyperparameter("beta_2", of.beta_2, 0, 1);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  Prepared prepare(const Tensor &rate, const Tensor &step) override { return {rate / (1 - pow(of.beta_1, step))}; }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor first = average(slots[0], of.beta_1, gradient), norm = maximum(of.beta_2 * slots[1], abs(gradient));
    slots[1].assign(norm);
    variable.assign_sub(prepared[0] * first / (norm + of.epsilon));
  }
};

struct NadamBody final : Rule<NadamOptions> {
  NadamBody(LearningRate rate, NadamOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("nadam", std::move(rate), {"momentum", "velocity"}, of, std::move(options), where) {
    hyperparameter("beta_1", of.beta_1, 0, 1);
    hyperparameter("beta_2", of.beta_2, 0, 1);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  Prepared prepare(const Tensor &rate, const Tensor &step) override {
    auto u = [&](const Tensor &t) { return of.beta_1 * (1 - 0.5 * pow(0.96, t)); };
    Tensor now = u(step), next = u(step + 1), product = uProduct * now;
    uProduct.assign(product);
    return {rate, next / (1 - product * next), (1 - now) / (1 - product), 1 / (1 - pow(of.beta_2, step))};
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor first = average(slots[0], of.beta_1, gradient), second = average(slots[1], of.beta_2, square(gradient));
    Tensor ahead = prepared[1] * first + prepared[2] * gradient;
    variable.assign_sub(prepared[0] * ahead / (sqrt(second * prepared[3]) + of.epsilon));
  }
  Variable uProduct = variable("u_product", scalar<double>(1), false);
};

struct LionBody final : Rule<LionOptions> {
  LionBody(LearningRate rate, LionOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("lion", std::move(rate), {"momentum"}, of, std::move(options), where) {
    hyperparameter("beta_1", of.beta_1, 0, 1);
    hyperparameter("beta_2", of.beta_2, 0, 1);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    variable.assign_sub(prepared[0] * sign(of.beta_1 * slots[0] + (1 - of.beta_1) * gradient));
    average(slots[0], of.beta_2, gradient);
  }
};

struct FtrlBody final : Rule<FtrlOptions> {
  FtrlBody(LearningRate rate, FtrlOptions of, OptimizerOptions options, SourceLocation where)
      : Rule("ftrl", std::move(rate), {{"accumulator", of.initial_accumulator_value}, "linear"}, of, std::move(options),
             where) {
    if (!(of.learning_rate_power <= 0))
      fail<ValueError>(
          absl::StrCat("ftrl: learning_rate_power is at most 0, unlike ", Number(of.learning_rate_power).str()), where);
    hyperparameter("initial_accumulator_value", of.initial_accumulator_value, 0);
    hyperparameter("l1_regularization_strength", of.l1_regularization_strength, 0);
    hyperparameter("l2_regularization_strength", of.l2_regularization_strength, 0);
    hyperparameter("l2_shrinkage_regularization_strength", of.l2_shrinkage_regularization_strength, 0);
    hyperparameter("beta", of.beta, 0);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    const Tensor &rate = prepared[0];
    Tensor shrunk = gradient + 2 * of.l2_shrinkage_regularization_strength * variable;
    Tensor squares = slots[0] + square(gradient), root = pow(squares, -of.learning_rate_power);
    Tensor linear = slots[1] + shrunk - (root - pow(slots[0].value(), -of.learning_rate_power)) / rate * variable;
    Tensor quadratic = root / rate + 2 * (of.l2_regularization_strength + of.beta / (2 * rate));
    Tensor bounded = clip(linear, -of.l1_regularization_strength, of.l1_regularization_strength);
    variable.assign((bounded - linear) / quadratic);
    slots[0].assign(squares);
    slots[1].assign(linear);
  }
};

} // namespace

#define CALQUE_DEFINE_OPTIMIZER(Name)                                                                                  \
  Name::Name(LearningRate learning_rate, Name##Options of, OptimizerOptions options, SourceLocation where)             \
      : Optimizer(std::make_shared<Name##Body>(std::move(learning_rate), of, std::move(options), where)) {}
CALQUE_DEFINE_OPTIMIZER(SGD)
CALQUE_DEFINE_OPTIMIZER(RMSprop)
CALQUE_DEFINE_OPTIMIZER(Adagrad)
CALQUE_DEFINE_OPTIMIZER(Adadelta)
CALQUE_DEFINE_OPTIMIZER(Adamax)
CALQUE_DEFINE_OPTIMIZER(Nadam)
CALQUE_DEFINE_OPTIMIZER(Lion)
CALQUE_DEFINE_OPTIMIZER(Ftrl)
#undef CALQUE_DEFINE_OPTIMIZER
Adam::Adam(LearningRate learning_rate, AdamOptions of, OptimizerOptions options, SourceLocation where)
    : Optimizer(std::make_shared<AdamBody>("adam", std::move(learning_rate), of, std::move(options), where)) {}
AdamW::AdamW(LearningRate learning_rate, AdamWOptions of, OptimizerOptions options, SourceLocation where)
    : Optimizer([&] {
        if (!options.weight_decay)
          options.weight_decay = of.weight_decay;
        AdamOptions adam{.beta_1 = of.beta_1, .beta_2 = of.beta_2, .epsilon = of.epsilon, .amsgrad = of.amsgrad};
        return std::make_shared<AdamBody>("adamw", std::move(learning_rate), adam, std::move(options), where);
      }()) {}

//===-- Names -------------------------------------------------------------------------------------===//

namespace {

struct Class {
  std::string name, kind; // "AdamW", "adamw"; no kind for a user's own
  std::type_index body;
  OptimizerMaker make;
};

struct Registry {
  std::mutex mutex;
  std::deque<Class> classes; // which stay where they are

  Registry() {
#define CALQUE_OPTIMIZER(Name, Body, snake)                                                                            \
  classes.push_back(                                                                                                   \
      {#Name, snake, typeid(Body), [](std::optional<LearningRate> rate, const Config &own, OptimizerOptions options) { \
         Name##Options of;                                                                                             \
         ConfigReader reader(own, snake);                                                                              \
         describe(reader, of);                                                                                         \
         reader.finish();                                                                                              \
         return Optimizer(rate ? Name(*rate, of, std::move(options), {}) : made<Name>(of, std::move(options)));        \
       }})
    CALQUE_OPTIMIZER(SGD, SGDBody, "sgd");
    CALQUE_OPTIMIZER(RMSprop, RMSpropBody, "rmsprop");
    CALQUE_OPTIMIZER(Adagrad, AdagradBody, "adagrad");
    CALQUE_OPTIMIZER(Adadelta, AdadeltaBody, "adadelta");
    CALQUE_OPTIMIZER(Adam, AdamBody, "adam");
    CALQUE_OPTIMIZER(AdamW, AdamBody, "adamw");
    CALQUE_OPTIMIZER(Adamax, AdamaxBody, "adamax");
    CALQUE_OPTIMIZER(Nadam, NadamBody, "nadam");
    CALQUE_OPTIMIZER(Lion, LionBody, "lion");
    CALQUE_OPTIMIZER(Ftrl, FtrlBody, "ftrl");
#undef CALQUE_OPTIMIZER
  }
  // With the rate that is the class's default.
  template <typename Name, typename Options> static Name made(const Options &of, OptimizerOptions options) {
    return Name(Name().learning_rate().value().template item<double>(), of, std::move(options), {});
  }
  std::vector<std::string> names() {
    std::lock_guard lock(mutex);
    std::vector<std::string> all;
    for (const Class &each : classes)
      all.push_back(each.kind.empty() ? each.name : each.kind);
    return all;
  }
  template <typename Is> const Class *find(Is is) {
    std::lock_guard lock(mutex);
    for (const Class &each : classes)
      if (is(each))
        return &each;
    return nullptr;
  }
};
Registry &registry() {
  static Registry known;
  return known;
}

} // namespace

Optimizer::Optimizer(const char *name, SourceLocation where) {
  if (!name)
    calque::detail::throwNothingToCall("optimizer", where);
  const Class *found = registry().find([&](const Class &each) { return each.name == name || each.kind == name; });
  if (!found)
    fail<LookupError>(absl::StrCat("optimizers: no optimizer has the name '", name, "'; ",
                                   training::nearest(name, registry().names())),
                      where);
  // What a maker of the user's asks for and does not get.
  try {
    body_ = found->make({}, {}, {}).body();
  } catch (const LookupError &error) {
    fail<LookupError>(absl::StrCat("optimizers: '", name, "' can't be made by its name alone: ", messageOf(error)),
                      where);
  } catch (const ValueError &error) {
    fail<ValueError>(absl::StrCat("optimizers: '", name, "' can't be made by its name alone: ", messageOf(error)),
                     where);
  }
}

Config OptimizerBody::get_config(SourceLocation where) const {
  Config config{{"name", name_}};
  // What a schedule last gave is no option, but what was assigned to a rate is.
  config.set("learning_rate", rate_.schedule() ? rate_.get_config(where) : learningRate.value().item<double>());
  for (const auto &[name, value] : own_config())
    config.set(name, value);
  ConfigWriter writer;
  OptimizerOptions common = options;
  describe(writer, common);
  if (lossScale) { // Keras has an optimizer around this one
    writer("loss_scale", common.loss_scale = common.loss_scale.value_or(32768));
    writer("loss_scale_growth_steps", common.loss_scale_growth_steps);
  }
  for (const auto &[name, value] : writer.config)
    config.set(name, value);
  return config;
}

Config serialize(const Optimizer &optimizer, SourceLocation where) {
  CallSite site(where, "serialize");
  Config config = optimizer.get_config(where);
  const OptimizerBody &body = *optimizer.body();
  const std::type_index type = typeid(body);
  const Class *found = registry().find(
      [&](const Class &each) { return each.body == type && (each.kind.empty() || each.kind == body.kind); });
  if (!found)
    fail<StateError>(absl::StrCat("serialize: the class of the optimizer '", optimizer.name(),
                                  "' is not known; register_optimizer() gives it a name"));
  return {{"class_name", found->name}, {"config", config}};
}

Optimizer deserialize(const Config &config, SourceLocation where) {
  CallSite site(where, "deserialize");
  const std::string name = config.at("class_name", where).as<std::string>(where);
  const Class *found = registry().find([&](const Class &each) { return each.name == name; });
  if (!found)
    fail<LookupError>(absl::StrCat("deserialize: there is no optimizer '", name, "'; ",
                                   training::nearest(name, registry().names()),
                                   "; register_optimizer() makes one of your own known"));
  Config own = config.contains("config") ? config.at("config").as<Config>(where) : Config();
  OptimizerOptions common;
  ConfigReader reader(own, found->kind.empty() ? found->name : found->kind);
  describe(reader, common);
  reader("name", common.name);
  reader("loss_scale", common.loss_scale);
  reader("loss_scale_growth_steps", common.loss_scale_growth_steps);
  std::optional<LearningRate> rate;
  if (const ConfigValue *given = own.find("learning_rate"))
    rate = LearningRate::from_config(*given, where);
  // What is left is its own.
  for (const std::string &read : reader.names())
    own.erase(read);
  own.erase("learning_rate");
  return found->make(std::move(rate), own, std::move(common));
}

void register_optimizer(const std::string &class_name, std::type_index body, OptimizerMaker make,
                        SourceLocation where) {
  calque::detail::requireCallable(make, "register_optimizer", where);
  if (registry().find([&](const Class &each) { return each.name == class_name || each.body == body; }))
    fail<ValueError>(absl::StrCat("register_optimizer: there is an optimizer '", class_name, "' already"), where);
  std::lock_guard lock(registry().mutex);
  registry().classes.push_back({class_name, {}, body, std::move(make)});
}

} // namespace calque::optimizers
