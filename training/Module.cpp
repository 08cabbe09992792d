#include "calque/module.h"

#include "Support.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "calque/functions.h"

#include <atomic>
#include <mutex>

namespace calque {

using training::describe;
using training::fail;

struct Module::Found {
  std::string path;
  Variable variable;
  bool trainable, isState;
};

struct Module::Collector {
  SourceLocation where;
  std::vector<Found> found;
  absl::flat_hash_map<const void *, std::size_t> positions; // of variables among those found
  bool isArranged = false;                                  // whether a part has an order of its own
  std::vector<std::size_t> order = {};                      // of those found, where one has
  absl::flat_hash_set<const void *> placed = {};
};

Module::Module(std::string name, SourceLocation where) { set_name(std::move(name), where); }
Module::~Module() = default;
void Module::checkBuilt(SourceLocation) const {}
Module::Registration::~Registration() {
  if (kept)
    return;
  module.unmake([this](CheckpointVisitor &visitor) {
    for (std::size_t i = before; i < module.parts_.size(); ++i)
      visitPart(visitor, module.parts_[i]);
  });
  module.parts_.resize(before);
}

void Module::visitPart(CheckpointVisitor &visitor, const Part &part) {
  if (part.module)
    visitor.part(part.name, *part.module);
  else
    visitor.variable(part.name, *part.variable);
}

void Module::checkpoint_parts(CheckpointVisitor &visitor) {
  for (const Part &part : parts_)
    visitPart(visitor, part);
  visitor.later(*this);
}

void Module::registerPart(Part part) {
  parts_.push_back(std::move(part));
  try {
    restore_made([this](CheckpointVisitor &visitor) { visitPart(visitor, parts_.back()); });
  } catch (...) { // it is of another type than the checkpoint's
    parts_.pop_back();
    throw;
  }
}

void Module::collect(const std::string &path, Collector &collector) const {
  checkBuilt(collector.where);
  collector.isArranged = collector.isArranged || !order_of_parts().empty();
  for (const Part &part : parts_) {
    if (part.module && !part.module->has_weights())
      continue;
    if (part.module)
      part.module->collect(absl::StrCat(path, part.name, "/"), collector);
    else if (auto [at, isNew] = collector.positions.emplace(part.variable->state().get(), collector.found.size());
             isNew)
      collector.found.push_back(
          {path + part.name, *part.variable, trainable_ && part.variable->trainable(), part.isState});
    else if (!trainable_) // one of two modules that have it
      collector.found[at->second].trainable = false;
  }
}

// Where each variable comes first by the orders that parts have.
void Module::arrange(Collector &collector) const {
  std::vector<const Part *> ordered;
  for (const Part &part : parts_)
    ordered.push_back(&part);
  if (const std::vector<std::size_t> own = order_of_parts(); !own.empty()) {
    std::vector<const Part *> modules;
    for (const Part &part : parts_)
      if (part.module)
        modules.push_back(&part);
    auto next = own.begin();
    for (const Part *&part : ordered)
      if (part->module)
        part = modules.at(*next++);
  }
  for (const Part *part : ordered)
    if (part->module && !part->module->has_weights())
      continue;
    else if (part->module)
      part->module->arrange(collector);
    else if (const void *state = part->variable->state().get(); collector.placed.insert(state).second)
      collector.order.push_back(collector.positions.at(state));
}

std::vector<Module::Found> Module::collected(SourceLocation where) const {
  Collector collector{where, {}, {}};
  collect("", collector);
  if (!trainable_)
    for (Found &each : collector.found)
      each.trainable = false;
  if (!collector.isArranged)
    return std::move(collector.found);
  arrange(collector);
  std::vector<Found> result;
  for (std::size_t at : collector.order)
    result.push_back(std::move(collector.found[at]));
  return result;
}

template <typename Wanted> std::vector<Variable> Module::variablesThat(SourceLocation where, Wanted wanted) const {
  std::vector<Variable> result;
  for (Found &found : collected(where))
    if (wanted(found))
      result.push_back(std::move(found.variable));
  return result;
}

std::vector<std::pair<std::string, Variable>> Module::named_variables(SourceLocation where) const {
  std::vector<std::pair<std::string, Variable>> result;
  for (Found &found : collected(where))
    result.emplace_back(std::move(found.path), std::move(found.variable));
  return result;
}
std::vector<Variable> Module::variables(SourceLocation where) const {
  return variablesThat(where, [](const Found &) { return true; });
}
namespace {
std::atomic<std::uint64_t> changesOfTrainable = 0;
}
std::uint64_t training::trainableChanges() { return changesOfTrainable; }

void Module::set_trainable(bool trainable) {
  trainable_ = trainable;
  ++changesOfTrainable;
  for (const Part &part : parts_)
    if (part.module)
      part.module->set_trainable(trainable);
}

std::vector<Variable> Module::trainable_variables(SourceLocation where) const {
  return variablesThat(where, [](const Found &found) { return found.trainable; });
}
std::vector<Variable> Module::non_trainable_variables(SourceLocation where) const {
  return variablesThat(where, [](const Found &found) { return !found.trainable; });
}
std::vector<Variable> Module::weights(SourceLocation where) const {
  return variablesThat(where, [](const Found &found) { return !found.isState; });
}

std::int64_t Module::count_params(SourceLocation where) const {
  std::int64_t count = 0;
  for (const Variable &weight : weights(where)) {
    std::int64_t elements = 1;
    for (const Size &size : weight.shape())
      elements *= size;
    count += elements;
  }
  return count;
}

std::vector<Tensor> Module::get_weights(SourceLocation where) const {
  std::vector<Tensor> values;
  for (const Variable &weight : weights(where))
    values.push_back(weight.value(where));
  return values;
}

void Module::set_weights(const std::vector<Tensor> &values, SourceLocation where) {
  CallSite site(where, "set_weights");
  std::vector<Variable> weights = this->weights(where);
  if (values.size() != weights.size())
    fail<ValueError>(
        absl::StrCat("set_weights: the number of values is ", values.size(), ", and that of weights ", weights.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string types = absl::StrCat("set_weights: weight ", i, ", '", weights[i].name(), "', is ",
                                     describe(weights[i].dtype(), weights[i].shape()), " and its value ",
                                     describe(values[i].dtype(), values[i].shape()));
    if (values[i].dtype() != weights[i].dtype() && !training::areIntegers(values[i].dtype(), weights[i].dtype()))
      fail<DTypeError>(types);
    if (!values[i].shape().is_compatible_with(weights[i].shape()))
      fail<ShapeError>(types);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    weights[i].assign(cast(values[i], weights[i].dtype()));
}

std::vector<std::pair<std::string, std::shared_ptr<Module>>> Module::children() const {
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> result;
  for (const Part &part : parts_)
    if (part.module)
      result.emplace_back(part.name, part.module);
  return result;
}

std::vector<std::shared_ptr<Module>> Module::submodules() const {
  std::vector<std::shared_ptr<Module>> result;
  absl::flat_hash_set<const Module *> seen;
  auto add = [&](auto &&self, const Module &module) -> void {
    for (const Part &part : module.parts_)
      if (part.module && seen.insert(part.module.get()).second) {
        result.push_back(part.module);
        self(self, *part.module);
      }
  };
  add(add, *this);
  return result;
}

void Module::set_name(std::string name, SourceLocation where) {
  if (name.find('/') != std::string::npos)
    fail<ValueError>(absl::StrCat("module: the name '", name, "' must have no '/'"), where);
  name_ = std::move(name);
  isNameByKind = false;
}

void Module::set_name_by_kind(const std::string &kind) {
  if (!name_.empty() || kind.empty())
    return;
  static std::mutex mutex;
  static auto &counts = *new absl::flat_hash_map<std::string, std::int64_t>; // layers may be made until the end
  std::lock_guard lock(mutex);
  const std::int64_t number = counts[kind]++;
  name_ = number == 0 ? kind : absl::StrCat(kind, "_", number);
  isNameByKind = true;
}

void Module::nameAsPart(const std::string &name) {
  if (has_given_name())
    return;
  // Its variables may be made already. Checkpoints know them by their paths, which these names are not.
  for (const Part &part : parts_)
    if (part.variable && part.variable->name() == absl::StrCat(name_, "/", part.name))
      detail::rename(*part.variable, absl::StrCat(name, "/", part.name));
  name_ = name;
  isNameByKind = false;
}

void Module::checkName(const std::string &name, SourceLocation where) const {
  if (name.empty() || name.find('/') != std::string::npos)
    fail<ValueError>(absl::StrCat("module: '", name, "' is no name of a part; it must not be empty and have no '/'"),
                     where);
  for (const Part &part : parts_)
    if (part.name == name)
      fail<ValueError>(absl::StrCat("module: there is a part '", name, "' already"), where);
}

Variable Module::variable(std::string name, const Operand &initial, bool trainable, const Constraint &constraint) {
  checkName(name, initial.where());
  before_variable();
  VariableOptions options{.name = name_.empty() ? name : absl::StrCat(name_, "/", name), .trainable = trainable};
  if (constraint)
    options.constraint = constraint;
  Variable made(initial, std::move(options));
  registerPart({std::move(name), made, nullptr});
  return made;
}

bool Module::contains(const Module &other) const {
  if (this == &other)
    return true;
  for (const Part &part : parts_)
    if (part.module && part.module->contains(other))
      return true;
  return false;
}

void Module::adopt(std::string name, const Variable &variable, SourceLocation where) {
  checkName(name, where);
  if (!variable.state())
    fail<StateError>(absl::StrCat("module: the part '", name, "' is empty"), where);
  registerPart({std::move(name), variable, nullptr});
}

void Module::adopt_state(std::string name, const Variable &variable, SourceLocation where) {
  adopt(std::move(name), variable, where);
  parts_.back().isState = true;
}

void Module::adopt_parts(const std::shared_ptr<Module> &module, SourceLocation where) {
  if (!module)
    detail::throwEmptyHandle("module", where);
  if (module->contains(*this))
    fail<ValueError>(absl::StrCat("module: the part '", module->name(), "' has this module as a part itself"), where);
  for (const Part &part : module->parts_)
    checkName(part.name, where);
  for (const Part &part : module->parts_)
    registerPart(part);
}

void Module::adopt(std::string name, std::shared_ptr<Module> module, SourceLocation where) {
  checkName(name, where);
  if (!module)
    fail<StateError>(absl::StrCat("module: the part '", name, "' is empty"), where);
  if (module->contains(*this))
    fail<ValueError>(absl::StrCat("module: the part '", name, "' has this module as a part itself"), where);
  module->nameAsPart(name);
  registerPart({std::move(name), std::nullopt, std::move(module)});
}

} // namespace calque
