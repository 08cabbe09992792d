#include "calque/optimizers.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "calque/callable.h"
#include "calque/control_flow.h"
#include "calque/functions.h"
#include "calque/gradient_tape.h"
#include "calque/init_scope.h"

#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace calque::optimizers {

using training::describe;
using training::fail;

namespace {
// The part of a slot's path, so that "momentum" has "dense" which has "kernel".
struct Folder : Module {
  using Module::adopt;
  // A checkpoint has slots by the paths of their variables.
  void checkpoint_parts(CheckpointVisitor &) override {}
  std::unordered_map<std::string, std::shared_ptr<Folder>> folders;
  std::unordered_set<std::string> taken;

  // A name that no part has. It is taken when the part is there, so that what fails on the way takes none.
  std::string freeName(const std::string &name) const {
    std::string free = name.empty() ? "variable" : name;
    for (int i = 1; taken.contains(free); ++i)
      free = absl::StrCat(name, "_", i);
    return free;
  }
  Folder &folder(const std::string &name) {
    std::shared_ptr<Folder> &found = folders[name];
    if (!found) {
      found = std::make_shared<Folder>();
      const std::string free = freeName(name);
      adopt(free, found);
      taken.insert(free);
    }
    return *found;
  }
};
} // namespace

OptimizerBody::OptimizerBody(std::string kind, LearningRate rate, std::vector<SlotSpec> slots, OptimizerOptions options,
                             SourceLocation where)
    : made(where), kind(kind), name_(options.name.empty() ? kind : options.name),
      inMessages(calque::detail::interned(kind)), specs(std::move(slots)), options(options), rate_(std::move(rate)),
      steps(variable("iterations", Operand(scalar(std::int64_t(0)), where), false)),
      learningRate(variable("learning_rate", Operand(scalar<double>(rate_.number()), where), false)) {
  CallSite site(where);
  if (!(rate_.number() >= 0) || !std::isfinite(rate_.number()))
    fail<ValueError>(
        absl::StrCat(kind, ": the learning rate is finite and not below 0, unlike ", Number(rate_.number()).str()));
  hyperparameter("learning_rate", rate_.number(), 0);
  int ways = 0;
  auto bound = [&](const char *name, const std::optional<double> &value) {
    if (value && ++ways > 1)
      fail<ValueError>(absl::StrCat(kind, ": clips in one way, and ", name, " would be a second"), where);
    if (value)
      hyperparameter(name, *value, 0);
  };
  bound("clipnorm", options.clipnorm);
  bound("global_clipnorm", options.global_clipnorm);
  bound("clipvalue", options.clipvalue);
  if (options.weight_decay)
    hyperparameter("weight_decay", *options.weight_decay, 0);
  if (options.decay != 0)
    hyperparameter("decay", options.decay, 0);
  if (options.decay != 0 && rate_.schedule())
    fail<ValueError>(absl::StrCat(kind, ": the rate has a schedule, so it takes no decay"), where);
  if (options.use_ema)
    hyperparameter("ema_momentum", options.ema_momentum, 0, 1);
  auto every = [&](const char *name, const std::optional<std::int64_t> &value) {
    if (value)
      hyperparameter(name, static_cast<double>(*value), 1);
  };
  every("gradient_accumulation_steps", options.gradient_accumulation_steps);
  if (options.loss_scale) {
    hyperparameter("loss_scale", *options.loss_scale, 1);
    scaleLosses(*options.loss_scale);
  }
  if (options.loss_scale_growth_steps < 0)
    fail<ValueError>(
        absl::StrCat(kind, ": loss_scale_growth_steps is not below 0, unlike ", options.loss_scale_growth_steps),
        where);
  every("ema_overwrite_frequency", options.ema_overwrite_frequency);
}

void OptimizerBody::hyperparameter(const char *name, double value, double low, std::optional<double> high) {
  if (!(value >= low) || (high && !(value < *high)))
    fail<ValueError>(
        high ? absl::StrCat(kind, ": ", name, " is in [", low, ", ", *high, "), unlike ", Number(value).str())
             : absl::StrCat(kind, ": ", name, " is at least ", low, ", unlike ", Number(value).str()),
        made);
  numbers.emplace_back(name, value);
}

Variable OptimizerBody::slot(const std::string &name, const std::string &path, const Variable &of, double initial) {
  std::shared_ptr<Module> &root = folders[name];
  if (!root) {
    root = std::make_shared<Folder>();
    adopt(name, root);
  }
  auto *folder = static_cast<Folder *>(root.get());
  std::vector<std::string> pieces = absl::StrSplit(path, '/');
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    folder = &folder->folder(pieces[i]);
  const std::string last = folder->freeName(pieces.back());
  pieces.back() = last;
  Variable made(full(of.shape(), initial, of.dtype()),
                {.name = absl::StrCat(name, "/", absl::StrJoin(pieces, "/")), .trainable = false});
  folder->adopt(last, made);
  folder->taken.insert(last);
  return made;
}

std::string OptimizerBody::kinds_of_slots() const {
  std::vector<std::string> names;
  for (const SlotSpec &spec : specs)
    names.push_back(spec.name);
  if (options.gradient_accumulation_steps)
    names.emplace_back("gradient_accumulator");
  if (options.use_ema)
    names.emplace_back("average");
  return names.empty() ? kind : absl::StrCat(kind, " (", absl::StrJoin(names, ", "), ")");
}

OptimizerBody::Slots &OptimizerBody::slotsOf(const Variable &of, const std::string &path) {
  auto found = slots.find(of.state().get());
  if (found != slots.end())
    return found->second;
  Slots made{of, {}, {}, {}};
  for (const SlotSpec &spec : specs)
    made.own.push_back(slot(spec.name, path, of, spec.initial));
  if (options.gradient_accumulation_steps)
    made.accumulator = slot("gradient_accumulator", path, of, 0);
  if (options.use_ema)
    made.average = slot("average", path, of, 0);
  restore_made([&](CheckpointVisitor &visitor) { visitSlots(visitor, made); });
  return slots.emplace(of.state().get(), std::move(made)).first->second;
}

void OptimizerBody::visitSlots(CheckpointVisitor &visitor, const Slots &of) const {
  for (std::size_t i = 0; i < specs.size(); ++i)
    visitor.slot(specs[i].name, of.of, of.own[i]);
  if (of.accumulator)
    visitor.slot("gradient_accumulator", of.of, *of.accumulator);
  if (of.average)
    visitor.slot("average", of.of, *of.average);
}

void OptimizerBody::checkpoint_parts(CheckpointVisitor &visitor) {
  Module::checkpoint_parts(visitor);
  for (const auto &[state, each] : slots)
    visitSlots(visitor, each);
}

void OptimizerBody::check(const std::vector<std::optional<Tensor>> &gradients,
                          const std::vector<Variable> &variables) const {
  if (gradients.size() != variables.size())
    fail<ValueError>(absl::StrCat(kind, ": the number of gradients is ", gradients.size(), ", and that of variables ",
                                  variables.size()));
  std::unordered_set<const void *> seen;
  bool any = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable &variable = variables[i];
    std::string name = absl::StrCat("variable ", i, ", '", variable.name(), "',");
    if (!seen.insert(variable.state().get()).second)
      fail<ValueError>(absl::StrCat(kind, ": ", name, " is given twice"));
    if (!gradients[i])
      continue;
    any = true;
    if (variable.is_argument())
      fail<StateError>(absl::StrCat(kind, ": ", name,
                                    " is an argument of the function being traced, which stands for different "
                                    "variables; what is kept for each is not known, so capture it instead"));
    std::string types = absl::StrCat(name, " is ", describe(variable.dtype(), variable.shape()), " and its gradient ",
                                     describe(gradients[i]->dtype(), gradients[i]->shape()));
    if (is_complex(variable.dtype()))
      fail<DTypeError>(absl::StrCat(kind, ": ", name, " is ", describe(variable.dtype(), variable.shape()),
                                    ", and optimizers change real numbers; train its real and its imaginary part"));
    if (gradients[i]->dtype() != variable.dtype() || !is_floating(variable.dtype()))
      fail<DTypeError>(absl::StrCat(kind, ": ", types));
    if (!gradients[i]->shape().is_compatible_with(variable.shape()))
      fail<ShapeError>(absl::StrCat(kind, ": ", types));
  }
  if (!any)
    fail<ValueError>(absl::StrCat(kind, ": no variable has a gradient"));
}

std::vector<Tensor> OptimizerBody::clipped(const std::vector<Tensor> &gradients) const {
  std::vector<Tensor> result;
  if (options.clipvalue) {
    for (const Tensor &g : gradients)
      result.push_back(clip(g, -*options.clipvalue, *options.clipvalue));
  } else if (options.clipnorm) {
    for (const Tensor &g : gradients)
      result.push_back(g * (*options.clipnorm / maximum(sqrt(sum(square(g))), *options.clipnorm)));
  } else if (options.global_clipnorm) {
    Tensor squares = scalar<double>(0);
    for (const Tensor &g : gradients)
      squares = squares + cast(sum(square(g)), DType::Float64);
    Tensor factor = *options.global_clipnorm / maximum(sqrt(squares), *options.global_clipnorm);
    for (const Tensor &g : gradients)
      result.push_back(g * cast(factor, g.dtype()));
  } else {
    return gradients;
  }
  return result;
}

bool OptimizerBody::decays(const Variable &variable) const {
  bool does = !withoutDecay.contains(variable.state().get());
  for (const std::string &text : namesWithoutDecay)
    does = does && variable.name().find(text) == std::string::npos;
  return does;
}

void OptimizerBody::updateAll(std::vector<Tensor> gradients, const std::vector<Variable> &variables,
                              const std::vector<Slots *> &kept, const Tensor &rate, const Tensor &number) {
  gradients = clipped(gradients);
  // Numbers that all variables share are computed once for each element type.
  std::unordered_map<DType, std::vector<Tensor>> prepared;
  const std::vector<Tensor> numbers = prepare(rate, number);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Variable variable = variables[i];
    std::vector<Tensor> &own = prepared[variable.dtype()];
    if (own.empty())
      for (const Tensor &x : numbers)
        own.push_back(cast(x, variable.dtype()));
    if (options.weight_decay && decays(variable))
      variable.assign_sub(variable * *options.weight_decay * cast(rate, variable.dtype()));
    update(variable, gradients[i], own, kept[i]->own);
  }
}

void OptimizerBody::scaleLosses(double first) {
  if (lossScale)
    return;
  lossScale.emplace(LossScale{variable("loss_scale", scalar<float>(static_cast<float>(first)), false),
                              variable("loss_scale_finite_steps", scalar<std::int64_t>(0), false)});
}

void OptimizerBody::step(const std::vector<std::optional<Tensor>> &gradients, const std::vector<Variable> &variables) {
  check(gradients, variables);
  if (!lossScale)
    return unscaledStep(gradients, variables);
  const Tensor scale = lossScale->scale.value();
  Tensor areFinite = scalar(true);
  std::vector<std::optional<Tensor>> unscaled(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i])
      continue;
    slotsOf(variables[i], variables[i].name()); // not in a branch
    areFinite = logical_and(areFinite, all(isfinite(*gradients[i])));
    unscaled[i] = *gradients[i] / cast(scale, gradients[i]->dtype());
  }
  cond(
      areFinite,
      [&] {
        unscaledStep(unscaled, variables);
        if (options.loss_scale_growth_steps == 0)
          return;
        const Tensor count = lossScale->finiteSteps + 1, isDue = count >= options.loss_scale_growth_steps;
        // A scale that is too large to be one stays.
        lossScale->scale.assign(where(logical_and(isDue, isfinite(scale * 2)), scale * 2, scale));
        lossScale->finiteSteps.assign(where(isDue, 0, count));
      },
      [&] {
        lossScale->scale.assign(maximum(scale / 2, 1));
        lossScale->finiteSteps.assign(scalar<std::int64_t>(0));
      });
}

void OptimizerBody::unscaledStep(const std::vector<std::optional<Tensor>> &gradients,
                                 const std::vector<Variable> &variables) {
  std::vector<Tensor> given;
  std::vector<Variable> updated;
  std::vector<Slots *> kept;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i])
      continue;
    slotsOf(variables[i], variables[i].name());
    given.push_back(*gradients[i]);
    updated.push_back(variables[i]);
  }
  // Not before all are made, because more of them move those that there are.
  for (const Variable &variable : updated)
    kept.push_back(&slots.at(variable.state().get()));

  const Tensor before = steps.value();
  Tensor rate = learningRate.value();
  if (const schedules::Schedule *schedule = rate_.schedule()) {
    rate = (*schedule)(before);
    learningRate.assign(rate);
  } else if (options.decay != 0) {
    rate = rate / (1 + options.decay * cast(before, DType::Float64));
  }
  if (const auto &period = options.gradient_accumulation_steps) {
    Tensor updates = (before + 1) % *period == 0;
    cond(
        updates,
        [&] {
          std::vector<Tensor> means;
          for (std::size_t i = 0; i < given.size(); ++i) {
            means.push_back((given[i] + *kept[i]->accumulator) / static_cast<double>(*period));
            kept[i]->accumulator->assign(zeros(given[i].shape(), given[i].dtype()));
          }
          updateAll(means, updated, kept, rate, cast(before / *period + 1, DType::Float64));
        },
        [&] {
          for (std::size_t i = 0; i < given.size(); ++i)
            kept[i]->accumulator->assign_add(given[i]);
        });
  } else {
    updateAll(given, updated, kept, rate, cast(before + 1, DType::Float64));
  }
  if (options.use_ema) {
    // Keras averages at each step, and counts updates.
    const std::int64_t period = options.gradient_accumulation_steps.value_or(1);
    Tensor updates = period == 1 ? before : floor_divide(before, period);
    for (std::size_t i = 0; i < updated.size(); ++i) {
      // The first average is the variable.
      Tensor momentum = where(updates == 0, 0.0, scalar<double>(options.ema_momentum));
      Tensor part = cast(momentum, updated[i].dtype());
      Tensor average = part * *kept[i]->average + (1 - part) * updated[i];
      kept[i]->average->assign(average);
      if (const auto &frequency = options.ema_overwrite_frequency)
        updated[i].assign(where((updates + 1) % *frequency == 0, average, updated[i]));
    }
  }
  // As Keras: last, and also after a step that accumulates.
  for (Variable &variable : updated)
    if (const auto &constraint = variable.constraint())
      variable.assign(constraint(variable));
  steps.assign_add(1);
}

//===-- Handles -----------------------------------------------------------------------------------===//
OptimizerBody &Optimizer::checked(SourceLocation where) const {
  if (!body_)
    calque::detail::throwEmptyHandle("optimizer", where);
  return *body_;
}

Variable Optimizer::learning_rate(SourceLocation where) const {
  OptimizerBody &body = checked(where);
  if (const schedules::Schedule *schedule = body.rate_.schedule()) {
    CallSite site(where, body.inMessages);
    body.learningRate.assign((*schedule)(body.steps.value()));
  }
  return body.learningRate;
}
Variable Optimizer::iterations(SourceLocation where) const { return checked(where).steps; }
bool Optimizer::has_schedule(SourceLocation where) const { return checked(where).rate_.schedule() != nullptr; }

void Optimizer::set_learning_rate(const Operand &rate) const {
  const SourceLocation where = CallSite::resolve(rate.where());
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  if (has_schedule(where))
    fail<StateError>(absl::StrCat(body.inMessages, ": the learning rate follows a schedule, and can't be set"));
  if (rate.isNumber())
    body.learningRate.assign(rate);
  else if (is_floating(rate.tensor().dtype()))
    body.learningRate.assign(cast(rate, DType::Float64));
  else
    fail<DTypeError>(absl::StrCat(body.inMessages, ": a learning rate is a floating-point scalar, not ",
                                  training::describe(rate.tensor().dtype(), rate.tensor().shape())));
}

Tensor Optimizer::scale_loss(const Operand &loss) const {
  const SourceLocation where = CallSite::resolve(loss.where());
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  const Tensor value = loss.toTensor();
  if (!body.lossScale)
    return value;
  if (!is_floating(value.dtype()))
    fail<DTypeError>(absl::StrCat(body.inMessages, ": scale_loss takes floating-point numbers, not ",
                                  describe(value.dtype(), value.shape())));
  return value * cast(body.lossScale->scale, value.dtype());
}
void Optimizer::set_loss_scale(double first, SourceLocation where) const {
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  if (!(first >= 1) || !std::isfinite(first))
    fail<ValueError>(absl::StrCat(body.inMessages, ": loss_scale is at least 1, unlike ", Number(first).str()), where);
  body.scaleLosses(first);
  body.lossScale->scale.assign(static_cast<float>(first));
}
std::optional<Variable> Optimizer::loss_scale(SourceLocation where) const {
  const OptimizerBody &body = checked(where);
  return body.lossScale ? std::optional(body.lossScale->scale) : std::nullopt;
}

void Optimizer::apply_gradients(const std::vector<std::optional<Tensor>> &gradients,
                                const std::vector<Variable> &variables, SourceLocation where) const {
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  body.step(gradients, variables);
}

Tensor Optimizer::minimize(const std::function<Tensor()> &loss, const std::vector<Variable> &variables,
                           SourceLocation where) const {
  checked(where);
  calque::detail::requireCallable(loss, "minimize", where);
  GradientTape tape({}, where);
  Tensor value = loss();
  const Tensor target = scale_loss(Operand(value, where));
  apply_gradients(tape.gradient(target, variables, {}, where), variables, where);
  return value;
}

void Optimizer::build(const std::vector<Variable> &variables, SourceLocation where) const {
  std::vector<std::pair<std::string, Variable>> named;
  for (const Variable &variable : variables)
    named.emplace_back(variable.name(where), variable);
  build(named, where);
}
void Optimizer::build(const std::vector<std::pair<std::string, Variable>> &variables, SourceLocation where) const {
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  const bool isFirst = body.slots.empty();
  for (const auto &[path, variable] : variables)
    try {
      body.slotsOf(variable, path);
    } catch (const StateError &) { // the function that takes the steps makes variables in its first trace alone
      if (isFirst)
        throw;
      fail<StateError>(absl::StrCat(body.kind, ": the variable '", path,
                                    "' has come to the model after the first step, for which nothing is kept yet; "
                                    "compile() the model anew, with a new optimizer, after a layer is added"),
                       where);
    }
}

void Optimizer::exclude_from_weight_decay(const std::vector<Variable> &variables,
                                          const std::vector<std::string> &names) const {
  OptimizerBody &body = checked({});
  for (const Variable &variable : variables)
    body.withoutDecay.insert(variable.state().get());
  body.namesWithoutDecay.insert(body.namesWithoutDecay.end(), names.begin(), names.end());
}

std::vector<Variable> Optimizer::excluded_from_weight_decay(const std::vector<Variable> &variables) const {
  std::vector<Variable> excluded;
  for (const Variable &variable : variables)
    if (!checked({}).decays(variable))
      excluded.push_back(variable);
  return excluded;
}

void Optimizer::finalize_variable_values(const std::vector<Variable> &variables, SourceLocation where) const {
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  for (Variable variable : variables) {
    auto found = body.slots.find(variable.state().get());
    if (found == body.slots.end() || !found->second.average)
      continue;
    if (body.isSwapped)
      found->second.average->assign(variable);
    else
      variable.assign(*found->second.average);
  }
  body.isSwapped = false;
}

void Optimizer::swap_averages(const std::vector<Variable> &variables, SourceLocation where) const {
  OptimizerBody &body = checked(where);
  CallSite site(where, body.inMessages);
  if (body.steps.value().item<std::int64_t>() == 0) // nothing is averaged yet
    return;
  for (Variable variable : variables) {
    auto found = body.slots.find(variable.state().get());
    if (found == body.slots.end() || !found->second.average)
      continue;
    const Tensor now = variable.value();
    variable.assign(*found->second.average);
    found->second.average->assign(now);
  }
  body.isSwapped = !body.isSwapped;
}

std::string Optimizer::str(SourceLocation where) const {
  std::string text;
  for (const auto &[name, number] : checked(where).hyperparameters())
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, "=",
                    name == "learning_rate" && has_schedule(where) ? "schedule" : number.str());
  return absl::StrCat(this->name(where), "(", text, ")");
}

} // namespace calque::optimizers
