#include "calque/optimizers.h"

#include "Support.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "calque/functions.h"

#include <cmath>

namespace calque::optimizers {

using training::describe;
using training::fail;

Optimizer::Optimizer(std::string kind, double rate, std::vector<std::string> slots, SourceLocation where)
    : kind(std::move(kind)), inMessages(calque::detail::interned(this->kind)), slotNames(std::move(slots)),
      learningRate(variable("learning_rate", Operand(scalar(rate), where), false)),
      steps(variable("iterations", Operand(scalar(std::int64_t(0)), where), false)) {
  if (!(rate >= 0) || !std::isfinite(rate))
    fail<ValueError>(
        absl::StrCat(this->kind, ": the learning rate is finite and not below 0, unlike ", Number(rate).str()), where);
}

std::vector<Variable> &Optimizer::slotsOf(const Variable &of) {
  auto found = slots.find(of.state().get());
  if (found != slots.end())
    return found->second.variables;
  Slots made{of, {}};
  // The names have a number, because variables may share a name.
  for (const std::string &name : slotNames)
    made.variables.emplace_back(
        zeros(of.shape(), of.dtype()),
        VariableOptions{.name = absl::StrCat(kind, "/", slots.size(), "/", name), .trainable = false});
  for (std::size_t i = 0; i < slotNames.size(); ++i)
    adopt(absl::StrCat(slotNames[i], "_", slots.size()), made.variables[i]);
  return slots.emplace(of.state().get(), std::move(made)).first->second.variables;
}

void Optimizer::apply_gradients(const std::vector<std::optional<Tensor>> &gradients,
                                const std::vector<Variable> &variables, SourceLocation where) {
  CallSite site(where, inMessages);
  if (gradients.size() != variables.size())
    fail<ValueError>(absl::StrCat(kind, ": the number of gradients is ", gradients.size(), ", and that of variables ",
                                  variables.size()));
  absl::flat_hash_set<const void *> seen;
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
    if (gradients[i]->dtype() != variable.dtype() || !is_floating(variable.dtype()))
      fail<DTypeError>(absl::StrCat(kind, ": ", types));
    if (!gradients[i]->shape().is_compatible_with(variable.shape()))
      fail<ShapeError>(absl::StrCat(kind, ": ", types));
  }
  if (!any)
    fail<ValueError>(absl::StrCat(kind, ": no variable has a gradient"));

  std::vector<std::vector<Variable> *> kept(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (gradients[i])
      kept[i] = &slotsOf(variables[i]);
  steps.assign_add(1);
  Tensor rate = prepare();
  absl::flat_hash_map<DType, Tensor> rates;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i])
      continue;
    Variable variable = variables[i];
    Tensor &own = rates[variable.dtype()];
    if (!own.defined())
      own = cast(rate, variable.dtype());
    update(variable, *gradients[i], own, *kept[i]);
  }
}

SGD::SGD(double learning_rate, SGDOptions options, SourceLocation where)
    : Optimizer("sgd", learning_rate,
                options.momentum == 0 ? std::vector<std::string>() : std::vector<std::string>{"velocity"}, where),
      options(options) {
  if (!(options.momentum >= 0 && options.momentum < 1))
    fail<ValueError>(absl::StrCat("sgd: the momentum is in [0, 1), unlike ", Number(options.momentum).str()), where);
  if (options.nesterov && options.momentum == 0)
    fail<ValueError>("sgd: nesterov looks ahead along the momentum, which is 0", where);
}

void SGD::update(Variable &variable, const Tensor &gradient, const Tensor &rate, std::vector<Variable> &slots) {
  Tensor step = rate * gradient;
  if (slots.empty()) {
    variable.assign_sub(step);
    return;
  }
  Tensor velocity = options.momentum * slots[0] - step;
  slots[0].assign(velocity);
  variable.assign_add(options.nesterov ? options.momentum * velocity - step : velocity);
}

Adam::Adam(double learning_rate, AdamOptions options, SourceLocation where)
    : Optimizer("adam", learning_rate, {"momentum", "velocity"}, where), options(options) {
  for (double beta : {options.beta_1, options.beta_2})
    if (!(beta >= 0 && beta < 1))
      fail<ValueError>(absl::StrCat("adam: the betas are in [0, 1), unlike ", Number(beta).str()), where);
  if (!(options.epsilon >= 0))
    fail<ValueError>(absl::StrCat("adam: epsilon is not below 0, unlike ", Number(options.epsilon).str()), where);
}

Tensor Adam::prepare() {
  Tensor t = cast(iterations(), DType::Float64);
  return learning_rate() * sqrt(1 - pow(options.beta_2, t)) / (1 - pow(options.beta_1, t));
}

void Adam::update(Variable &variable, const Tensor &gradient, const Tensor &rate, std::vector<Variable> &slots) {
  Tensor first = options.beta_1 * slots[0] + (1 - options.beta_1) * gradient;
  Tensor second = options.beta_2 * slots[1] + (1 - options.beta_2) * square(gradient);
  slots[0].assign(first);
  slots[1].assign(second);
  variable.assign_sub(rate * first / (sqrt(second) + options.epsilon));
}

} // namespace calque::optimizers
