// The rules of the optimisers, as Keras 3 has them.
#include "Support.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "calque/functions.h"
#include "calque/optimizers.h"

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

struct SGDBody final : OptimizerBody {
  SGDBody(LearningRate rate, SGDOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("sgd", std::move(rate),
                      of.momentum == 0 ? std::vector<SlotSpec>() : std::vector<SlotSpec>{"momentum"},
                      std::move(options), where),
        of(of) {
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
  const SGDOptions of;
};

struct RMSpropBody final : OptimizerBody {
  static std::vector<SlotSpec> specs(const RMSpropOptions &of) {
    std::vector<SlotSpec> specs = {"velocity"};
    if (of.momentum != 0)
      specs.emplace_back("momentum");
    if (of.centered)
      specs.emplace_back("average_gradient");
    return specs;
  }
  RMSpropBody(LearningRate rate, RMSpropOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("rmsprop", std::move(rate), specs(of), std::move(options), where), of(of) {
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
  const RMSpropOptions of;
};

struct AdagradBody final : OptimizerBody {
  AdagradBody(LearningRate rate, AdagradOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("adagrad", std::move(rate), {{"accumulator", of.initial_accumulator_value}}, std::move(options),
                      where),
        of(of) {
    hyperparameter("initial_accumulator_value", of.initial_accumulator_value, 0);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor squares = slots[0] + square(gradient);
    slots[0].assign(squares);
    variable.assign_sub(prepared[0] * gradient / sqrt(squares + of.epsilon));
  }
  const AdagradOptions of;
};

struct AdadeltaBody final : OptimizerBody {
  AdadeltaBody(LearningRate rate, AdadeltaOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("adadelta", std::move(rate), {"accumulated_grad", "accumulated_delta_var"}, std::move(options),
                      where),
        of(of) {
    hyperparameter("rho", of.rho, 0, 1);
    hyperparameter("epsilon", of.epsilon, 0);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    Tensor squares = average(slots[0], of.rho, square(gradient));
    Tensor delta = sqrt(slots[1] + of.epsilon) * gradient / sqrt(squares + of.epsilon);
    average(slots[1], of.rho, square(delta));
    variable.assign_sub(prepared[0] * delta);
  }
  const AdadeltaOptions of;
};

struct AdamBody final : OptimizerBody {
  AdamBody(const char *kind, LearningRate rate, AdamOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody(kind, std::move(rate),
                      of.amsgrad ? std::vector<SlotSpec>{"momentum", "velocity", "velocity_hat"}
                                 : std::vector<SlotSpec>{"momentum", "velocity"},
                      std::move(options), where),
        of(of) {
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
  const AdamOptions of;
};

struct AdamaxBody final : OptimizerBody {
  AdamaxBody(LearningRate rate, AdamaxOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("adamax", std::move(rate), {"momentum", "norm"}, std::move(options), where), of(of) {
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
  const AdamaxOptions of;
};

struct NadamBody final : OptimizerBody {
  NadamBody(LearningRate rate, NadamOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("nadam", std::move(rate), {"momentum", "velocity"}, std::move(options), where), of(of) {
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
  const NadamOptions of;
  Variable uProduct = variable("u_product", scalar<double>(1), false);
};

struct LionBody final : OptimizerBody {
  LionBody(LearningRate rate, LionOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("lion", std::move(rate), {"momentum"}, std::move(options), where), of(of) {
    hyperparameter("beta_1", of.beta_1, 0, 1);
    hyperparameter("beta_2", of.beta_2, 0, 1);
  }
  void update(Variable &variable, const Tensor &gradient, const Prepared &prepared, Kept &slots) override {
    variable.assign_sub(prepared[0] * sign(of.beta_1 * slots[0] + (1 - of.beta_1) * gradient));
    average(slots[0], of.beta_2, gradient);
  }
  const LionOptions of;
};

struct FtrlBody final : OptimizerBody {
  FtrlBody(LearningRate rate, FtrlOptions of, OptimizerOptions options, SourceLocation where)
      : OptimizerBody("ftrl", std::move(rate), {{"accumulator", of.initial_accumulator_value}, "linear"},
                      std::move(options), where),
        of(of) {
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
  const FtrlOptions of;
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

Optimizer::Optimizer(const char *name, SourceLocation where) {
  using Make = Optimizer (*)();
  static const absl::flat_hash_map<std::string, Make> known = [] {
    absl::flat_hash_map<std::string, Make> made;
#define CALQUE_OPTIMIZER(Name, snake)                                                                                  \
  for (const char *each : {#Name, snake})                                                                              \
  made.emplace(each, []() -> Optimizer { return Name(); })
    CALQUE_OPTIMIZER(SGD, "sgd");
    CALQUE_OPTIMIZER(RMSprop, "rmsprop");
    CALQUE_OPTIMIZER(Adagrad, "adagrad");
    CALQUE_OPTIMIZER(Adadelta, "adadelta");
    CALQUE_OPTIMIZER(Adam, "adam");
    CALQUE_OPTIMIZER(AdamW, "adamw");
    CALQUE_OPTIMIZER(Adamax, "adamax");
    CALQUE_OPTIMIZER(Nadam, "nadam");
    CALQUE_OPTIMIZER(Lion, "lion");
    CALQUE_OPTIMIZER(Ftrl, "ftrl");
#undef CALQUE_OPTIMIZER
    return made;
  }();
  auto found = known.find(name);
  if (found == known.end())
    fail<LookupError>(absl::StrCat("optimizers: no optimizer has the name '", name, "'"), where);
  body_ = found->second().body();
}

} // namespace calque::optimizers
