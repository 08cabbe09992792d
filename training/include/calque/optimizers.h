// Optimisers update variables by gradients. The learning rate may follow a schedule.
//
//   optimizers::Adam adam(1e-3);
//   std::vector<Variable> weights = net.trainable_variables();
//   adam.apply_gradients(tape.gradient(loss, weights), weights);
//   adam.minimize([&] { return loss_of(net(x)); }, weights);       // computes the gradients and applies them
//   adam.learning_rate().assign(1e-4);                             // also in between the calls of a compiled step
//   optimizers::SGD sgd(schedules::CosineDecay(0.1, 10'000), {.momentum = 0.9}, {.clipnorm = 1});
//   optimizers::Optimizer named = "rmsprop";
//   Config config = optimizers::serialize(adam);                   // {"class_name":"Adam","config":{...}}
//   optimizers::Optimizer same = optimizers::deserialize(config);  // without the state
//
// An optimiser is a shared handle to a module. Its variables are the number of steps, the learning rate, and the slots,
// which are the state for each variable. The name of a slot contains the name of its variable: "momentum/dense/kernel".
// The slots of a variable are made by build(), or at the variable's first step, eagerly or in a function's first trace.
//
// Formulas, defaults and names are those of Keras 3. An optimiser of your own is a body with a handle:
//
//   struct SignBody : optimizers::OptimizerBody {
//     explicit SignBody(double rate) : OptimizerBody("sign", rate, {"last"}) {}
//     void update(Variable &variable, const Tensor &gradient, const std::vector<Tensor> &rate,
//                 std::vector<Variable> &slots) override {
//       variable.assign_sub(rate[0] * sign(gradient));
//       slots[0].assign(gradient);
//     }
//   };
//   optimizers::Optimizer mine(std::make_shared<SignBody>(0.1));
//
// To be used in configs, it must be registered, and override own_config() if it adds options:
//
//   optimizers::register_optimizer<SignBody>(
//       "Sign", [](std::optional<LearningRate> rate, const Config &, optimizers::OptimizerOptions) {
//         return optimizers::Optimizer(std::make_shared<SignBody>(rate ? rate->number() : 0.1));
//       });
#ifndef CALQUE_OPTIMIZERS_H
#define CALQUE_OPTIMIZERS_H

#include "calque/config.h"
#include "calque/module.h"
#include "calque/schedules.h"

#include <typeindex>
#include <unordered_map>
#include <unordered_set>

namespace calque::optimizers {

// The options that all optimisers have.
struct OptimizerOptions {
  // Subtracts weight_decay * rate * w from each variable w before its update. This decay is not a part of the gradient.
  std::optional<double> weight_decay = std::nullopt;
  // At most one of three limits: for the norm of each gradient, for the norm of all gradients together, and for the
  // magnitude of each element.
  std::optional<double> clipnorm = std::nullopt, global_clipnorm = std::nullopt, clipvalue = std::nullopt;
  // Keeps a moving average of each variable: ema_momentum * average + (1 - ema_momentum) * w after each step. It is
  // written to the variables every `ema_overwrite_frequency` updates, and by finalize_variable_values(). An update is
  // one step, or several steps with gradient accumulation.
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<std::int64_t> ema_overwrite_frequency = std::nullopt;
  // The variables are updated once in this many steps, by the mean of the gradients since the last update.
  std::optional<std::int64_t> gradient_accumulation_steps = std::nullopt;
  // The first scale of losses: see Optimizer::scale_loss(). While gradients are finite, it doubles every so many steps
  // (never, for 0). A step whose gradients are not finite changes no variable, and halves it, down to 1.
  std::optional<double> loss_scale = std::nullopt;
  std::int64_t loss_scale_growth_steps = 2000;
  double decay = 0;      // the rate is learning_rate / (1 + decay * iterations), as in Keras' older optimisers
  std::string name = {}; // empty: the name of the class
};

// A slot: its name, and the initial value of its elements.
struct SlotSpec {
  std::string name;
  double initial = 0;
  SlotSpec(const char *called, double value = 0) : name(called), initial(value) {}
};

class Optimizer;
// {"class_name": ..., "config": ...}. StateError for an unknown class, and the errors of get_config().
CALQUE_API Config serialize(const Optimizer &optimizer, SourceLocation where = SourceLocation::current());

// The object that handles to one optimiser share.
class CALQUE_API OptimizerBody : public Module {
public:
  // ValueError for a learning rate below 0, for options out of range, and for two ways of clipping.
  OptimizerBody(std::string kind, LearningRate rate, std::vector<SlotSpec> slots = {}, OptimizerOptions options = {},
                SourceLocation where = SourceLocation::current());
  const std::string &name() const { return name_; }
  // The hyperparameters, in order: {"learning_rate", 0.001}, {"beta_1", 0.9}.
  const std::vector<std::pair<std::string, Number>> &hyperparameters() const { return numbers; }
  // The config: name, learning rate and options. The options that all optimisers have come last.
  Config get_config(SourceLocation where = SourceLocation::current()) const;
  // The names of the slots: "adam (momentum, velocity)".
  std::string kinds_of_slots() const;
  bool has_weights() const override { return false; }
  // Visits the parts of the module, and the slots by the paths that their variables have in the checkpoint.
  void checkpoint_parts(CheckpointVisitor &visitor) override;

protected:
  // The options that the class adds.
  virtual Config own_config() const { return {}; }
  // Called once in each step, before the updates. Returns float64 scalars that the updates of all variables use. By
  // default it returns the learning rate. `step` counts the updates from 1.
  virtual std::vector<Tensor> prepare(const Tensor &rate, const Tensor & /*step*/) { return {rate}; }
  // Updates one variable. `prepared` has the numbers of prepare() in the variable's element type.
  virtual void update(Variable &variable, const Tensor &gradient, const std::vector<Tensor> &prepared,
                      std::vector<Variable> &slots) = 0;
  // Adds a number to hyperparameters(). ValueError unless the number is in [low, high), or without `high` at least low.
  void hyperparameter(const char *name, double value, double low, std::optional<double> high = std::nullopt);

private:
  friend class Optimizer;
  friend CALQUE_API Config serialize(const Optimizer &optimizer, SourceLocation where);
  const SourceLocation made; // errors of hyperparameters name it
  struct Slots {
    Variable of; // keeps the variable alive, so that no other variable gets its address
    std::vector<Variable> own;
    std::optional<Variable> accumulator, average;
  };
  Slots &slotsOf(const Variable &variable, const std::string &path);
  bool decays(const Variable &variable) const;
  void visitSlots(CheckpointVisitor &visitor, const Slots &slots) const;
  Variable slot(const std::string &name, const std::string &path, const Variable &of, double initial);
  void check(const std::vector<std::optional<Tensor>> &gradients, const std::vector<Variable> &variables) const;
  void step(const std::vector<std::optional<Tensor>> &gradients, const std::vector<Variable> &variables);
  void unscaledStep(const std::vector<std::optional<Tensor>> &gradients, const std::vector<Variable> &variables);
  void scaleLosses(double first);
  void updateAll(std::vector<Tensor> gradients, const std::vector<Variable> &variables,
                 const std::vector<Slots *> &slots, const Tensor &rate, const Tensor &number);
  std::vector<Tensor> clipped(const std::vector<Tensor> &gradients) const;

  const std::string kind, name_;
  const char *const inMessages; // the kind, for as long as the process lives
  const std::vector<SlotSpec> specs;
  const OptimizerOptions options;
  const LearningRate rate_;
  Variable steps, learningRate;
  struct LossScale {
    Variable scale, finiteSteps; // float32; the steps since it changed
  };
  std::optional<LossScale> lossScale;
  std::unordered_map<const void *, Slots> slots;
  std::unordered_map<std::string, std::shared_ptr<Module>> folders; // of each kind of slot
  std::vector<std::pair<std::string, Number>> numbers;
  std::unordered_set<const void *> withoutDecay;
  std::vector<std::string> namesWithoutDecay;
  bool isSwapped = false; // the variables have the averages as values, and the averages those of the variables
};

// A shared handle: copies are the same optimiser, with the same state.
class CALQUE_API Optimizer {
public:
  explicit Optimizer(std::shared_ptr<OptimizerBody> body) : body_(std::move(body)) {}
  // Makes an optimiser with default options by its name: "sgd", "rmsprop", "adagrad", "adadelta", "adam", "adamax",
  // "nadam", "adamw", "lion", "ftrl", or the name of a class, which may be a registered one. LookupError for another
  // name.
  Optimizer(const char *name, SourceLocation where = SourceLocation::current());
  Optimizer(const std::string &name, SourceLocation where = SourceLocation::current())
      : Optimizer(name.c_str(), where) {}

  // A float64 scalar: assign it to change the rate. With a schedule, this call assigns the schedule's value for the
  // next step to it, and a value that you assign is overwritten.
  Variable learning_rate(SourceLocation where = SourceLocation::current()) const;
  bool has_schedule(SourceLocation where = SourceLocation::current()) const;
  // Assigns the rate, a number or a scalar of any floating-point type. StateError if the rate follows a schedule.
  void set_learning_rate(const Operand &rate) const;
  // The number of steps, an int64 scalar.
  Variable iterations(SourceLocation where = SourceLocation::current()) const;

  // The loss times the present scale, in its type; without loss_scale, the loss. Gradients of it are those that
  // apply_gradients() takes, which divides them by the scale: numbers that float16 would round to 0 survive. minimize()
  // and fit() scale by themselves. Micikevicius et al.: Mixed precision training, 2018.
  Tensor scale_loss(const Operand &loss) const;
  // Scales losses from here on, as loss_scale does.
  void set_loss_scale(double first = 32768, SourceLocation where = SourceLocation::current()) const;
  // The present scale, a float32 scalar; none without loss_scale.
  std::optional<Variable> loss_scale(SourceLocation where = SourceLocation::current()) const;
  // One step. Variables without a gradient do not change. ValueError if the numbers of gradients and variables differ,
  // if no variable has a gradient, and if a variable is given twice. ShapeError and DTypeError for a gradient whose
  // type is not that of its variable. StateError for a variable that is an argument of the function being traced.
  void apply_gradients(const std::vector<std::optional<Tensor>> &gradients, const std::vector<Variable> &variables,
                       SourceLocation where = SourceLocation::current()) const;
  // Computes the loss and its gradients, makes one step, and returns the loss.
  Tensor minimize(const std::function<Tensor()> &loss, const std::vector<Variable> &variables,
                  SourceLocation where = SourceLocation::current()) const;
  // Makes the slots of variables. They are named after the variables, or after the given paths, such as those of
  // named_variables().
  void build(const std::vector<Variable> &variables, SourceLocation where = SourceLocation::current()) const;
  void build(const std::vector<std::pair<std::string, Variable>> &variables,
             SourceLocation where = SourceLocation::current()) const;
  // Excludes these variables from weight decay, and all variables whose names contain one of the texts `names`.
  void exclude_from_weight_decay(const std::vector<Variable> &variables,
                                 const std::vector<std::string> &names = {}) const;
  // Returns those of the given variables that are excluded from weight decay.
  std::vector<Variable> excluded_from_weight_decay(const std::vector<Variable> &variables) const;
  bool uses_ema(SourceLocation where = SourceLocation::current()) const { return checked(where).options.use_ema; }
  // With use_ema: exchanges the values of variables with their averages. The next call exchanges them back.
  void swap_averages(const std::vector<Variable> &variables, SourceLocation where = SourceLocation::current()) const;
  bool has_swapped_averages(SourceLocation where = SourceLocation::current()) const { return checked(where).isSwapped; }
  // With use_ema: assigns the averages to those variables that have an average.
  void finalize_variable_values(const std::vector<Variable> &variables,
                                SourceLocation where = SourceLocation::current()) const;

  // "adam", or the name in the options.
  const std::string &name(SourceLocation where = SourceLocation::current()) const { return checked(where).name(); }
  // adam(learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07)
  std::string str(SourceLocation where = SourceLocation::current()) const;
  // See module.h.
  std::vector<Variable> variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).variables(where);
  }
  std::vector<Variable> trainable_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).trainable_variables(where);
  }
  std::vector<std::pair<std::string, Variable>>
  named_variables(SourceLocation where = SourceLocation::current()) const {
    return checked(where).named_variables(where);
  }
  // The config of the body. StateError for a rate that is a function without a registered name.
  Config get_config(SourceLocation where = SourceLocation::current()) const { return checked(where).get_config(where); }
  const std::shared_ptr<OptimizerBody> &body() const noexcept { return body_; }
  bool same_as(const Optimizer &other) const noexcept { return body_ == other.body_; }

private:
  OptimizerBody &checked(SourceLocation where) const;
  std::shared_ptr<OptimizerBody> body_;
};

// Makes an optimiser from its config, without state. LookupError for an unknown class, ValueError for an option that
// the class lacks.
CALQUE_API Optimizer deserialize(const Config &config, SourceLocation where = SourceLocation::current());

// Makes an optimiser from the config that own_config() returned. `rate` is std::nullopt if the config has no rate.
using OptimizerMaker =
    std::function<Optimizer(std::optional<LearningRate> rate, const Config &own, OptimizerOptions options)>;
// Registers the class of a body under a name. ValueError for a name or a class that is registered already.
CALQUE_API void register_optimizer(const std::string &class_name, std::type_index body, OptimizerMaker make,
                                   SourceLocation where = SourceLocation::current());
template <typename Body>
void register_optimizer(const std::string &class_name, OptimizerMaker make,
                        SourceLocation where = SourceLocation::current()) {
  register_optimizer(class_name, typeid(Body), std::move(make), where);
}

#define CALQUE_DECLARE_OPTIMIZER(Name, rate)                                                                           \
  class CALQUE_API Name : public Optimizer {                                                                           \
  public:                                                                                                              \
    explicit Name(LearningRate learning_rate = rate, Name##Options of = {}, OptimizerOptions options = {},             \
                  SourceLocation where = SourceLocation::current());                                                   \
  };

struct SGDOptions {
  double momentum = 0;
  bool nesterov = false; // Nesterov's momentum
};
// w -= rate * g, or with momentum m = momentum * m - rate * g; w += m, or with Nesterov's w += momentum * m - rate * g.
// Sutskever, Martens, Dahl, Hinton: On the importance of initialization and momentum in deep learning, 2013. ValueError
// for a momentum outside [0, 1), or Nesterov's without one.
CALQUE_DECLARE_OPTIMIZER(SGD, 0.01)

struct RMSpropOptions {
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false; // divides by the variance, not by the mean square
};
// v = rho v + (1 - rho) g^2; w -= rate * g / sqrt(v + epsilon), or the same with momentum. Hinton: Lecture 6e, 2012.
// Centered as Graves: Generating sequences with recurrent neural networks, 2013.
CALQUE_DECLARE_OPTIMIZER(RMSprop, 0.001)

struct AdagradOptions {
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
};
// a += g^2; w -= rate * g / sqrt(a + epsilon). Duchi, Hazan, Singer: Adaptive subgradient methods, 2011.
CALQUE_DECLARE_OPTIMIZER(Adagrad, 0.001)

struct AdadeltaOptions {
  double rho = 0.95, epsilon = 1e-7;
};
// The ratio of the mean squares of earlier steps and of gradients scales the steps. Zeiler: Adadelta, 2012.
CALQUE_DECLARE_OPTIMIZER(Adadelta, 0.001)

struct AdamOptions {
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false; // divides by the largest mean square so far
};
// Kingma, Ba: Adam, a method for stochastic optimization, 2015; the bias corrections are a factor of the rate, as in
// section 2 of the paper, so that epsilon is the paper's epsilon hat. AMSGrad: Reddi, Kale, Kumar: On the convergence
// of Adam and beyond, 2018. ValueError for betas outside [0, 1) and an epsilon below 0.
CALQUE_DECLARE_OPTIMIZER(Adam, 0.001)

struct AdamWOptions {
  double weight_decay = 0.004, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
};
// Adam with decoupled weight decay. Loshchilov, Hutter: Decoupled weight decay regularization, 2019.
CALQUE_DECLARE_OPTIMIZER(AdamW, 0.001)

struct AdamaxOptions {
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};
// Adam with the largest magnitude in place of the mean square: section 7.1 of Adam's paper.
CALQUE_DECLARE_OPTIMIZER(Adamax, 0.001)

struct NadamOptions {
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};
// Adam with Nesterov's momentum. Dozat: Incorporating Nesterov momentum into Adam, 2016.
CALQUE_DECLARE_OPTIMIZER(Nadam, 0.001)

struct LionOptions {
  double beta_1 = 0.9, beta_2 = 0.99;
};
// w -= rate * sign(beta_1 m + (1 - beta_1) g); m = beta_2 m + (1 - beta_2) g. Chen et al.: Symbolic discovery of
// optimization algorithms, 2023.
CALQUE_DECLARE_OPTIMIZER(Lion, 0.001)

struct FtrlOptions {
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1, l1_regularization_strength = 0,
         l2_regularization_strength = 0, l2_shrinkage_regularization_strength = 0, beta = 0;
};
// McMahan et al.: Ad click prediction, a view from the trenches, 2013.
CALQUE_DECLARE_OPTIMIZER(Ftrl, 0.001)
#undef CALQUE_DECLARE_OPTIMIZER

} // namespace calque::optimizers
#endif
