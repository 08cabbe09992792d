#include "calque/module.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"
#include "calque/functions.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

namespace calque {

using training::describe;
using training::fail;

// Modules may be nested as deep as memory allows, so that nothing here calls itself for parts of parts. Only a path has
// the length of all names above it.

struct Module::Found {
  std::string path;
  Variable variable;
  bool trainable, isState;
};

struct Module::Collector {
  SourceLocation where;
  bool withPaths = false;
  std::vector<Found> found = {};
  std::unordered_map<const void *, std::size_t> positions = {}; // of variables among those found
  bool isArranged = false;                                      // whether a part has an order of its own
  std::vector<std::size_t> order = {};                          // of those found, where one has
  std::unordered_set<const void *> seen = {}, placed = {};      // modules, and variables in that order
};

struct Module::Names {
  std::unordered_set<std::string> names;
};

namespace {
// Goes through a module and what is below it, depth first, each part after those before it. `open(module)` gives the
// number of its entries, `enter(module, i)` the module that entry i is, which is gone through next, or null, and
// `leave(module)` is called behind the last one.
template <typename Open, typename Enter, typename Leave>
void goThrough(const Module &root, Open open, Enter enter, Leave leave) {
  struct Level {
    const Module *module;
    std::size_t next, count;
  };
  std::vector<Level> levels = {{&root, 0, open(root)}};
  while (!levels.empty()) {
    Level &level = levels.back();
    if (level.next == level.count) {
      leave(*level.module);
      levels.pop_back();
    } else if (const Module *below = enter(*level.module, level.next++)) {
      levels.push_back({below, 0, open(*below)});
    }
  }
}
} // namespace

Module::Module(std::string name, SourceLocation where) { set_name(std::move(name), where); }

// The parts of a part that ends with it wait for their own end here, so that a chain of any length takes no stack.
Module::~Module() {
  static constinit thread_local std::vector<std::shared_ptr<Module>> *waiting = nullptr;
  std::vector<std::shared_ptr<Module>> own;
  const bool isOutermost = !waiting;
  if (isOutermost)
    waiting = &own;
  try {
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part)
      if (part->module)
        waiting->push_back(std::move(part->module));
  } catch (const std::bad_alloc &) { // they end below, one in the other
  }
  if (!isOutermost)
    return;
  while (!own.empty()) {
    std::shared_ptr<Module> last = std::move(own.back());
    own.pop_back();
  }
  waiting = nullptr;
}

void Module::checkBuilt(SourceLocation) const {}
Module::Registration::~Registration() {
  if (kept)
    return;
  module.unmake([this](CheckpointVisitor &visitor) {
    for (std::size_t i = before; i < module.parts_.size(); ++i)
      visitPart(visitor, module.parts_[i]);
  });
  module.parts_.resize(before);
  module.names_.reset();
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
    if (names_)
      names_->names.insert(parts_.back().name);
  } catch (...) { // it is of another type than the checkpoint's
    parts_.pop_back();
    throw;
  }
  if (parts_.back().module)
    parts_.back().module->mayBePart_ = true;
}

void Module::collect(Collector &collector) const {
  std::string path;
  std::vector<std::size_t> lengths; // of the paths of the modules above
  auto open = [&](const Module &module) {
    module.checkBuilt(collector.where);
    collector.isArranged = collector.isArranged || !module.order_of_parts().empty();
    return module.parts_.size();
  };
  auto enter = [&](const Module &module, std::size_t i) -> const Module * {
    const Part &part = module.parts_[i];
    if (part.module) {
      if (!part.module->has_weights() || !collector.seen.insert(part.module.get()).second)
        return nullptr;
      lengths.push_back(path.size());
      if (collector.withPaths)
        absl::StrAppend(&path, part.name, "/");
      return part.module.get();
    }
    auto [at, isNew] = collector.positions.try_emplace(part.variable->state().get(), collector.found.size());
    if (isNew)
      collector.found.push_back({collector.withPaths ? absl::StrCat(path, part.name) : std::string(), *part.variable,
                                 module.trainable_ && part.variable->trainable(), part.isState});
    else if (!module.trainable_) // one of two modules that have it
      collector.found[at->second].trainable = false;
    return nullptr;
  };
  auto leave = [&](const Module &) {
    if (lengths.empty())
      return;
    path.resize(lengths.back());
    lengths.pop_back();
  };
  goThrough(*this, open, enter, leave);
}

// As variables() has them.
std::vector<const Module::Part *> Module::partsInOrder() const {
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
  return ordered;
}

// Where each variable comes first by the orders that parts have.
void Module::arrange(Collector &collector) const {
  std::vector<std::vector<const Part *>> orders; // of the modules above
  collector.seen.clear();
  auto open = [&](const Module &module) {
    orders.push_back(module.partsInOrder());
    return orders.back().size();
  };
  auto enter = [&](const Module &, std::size_t i) -> const Module * {
    const Part &part = *orders.back()[i];
    if (part.module)
      return part.module->has_weights() && collector.seen.insert(part.module.get()).second ? part.module.get()
                                                                                           : nullptr;
    if (const void *state = part.variable->state().get(); collector.placed.insert(state).second)
      collector.order.push_back(collector.positions.at(state));
    return nullptr;
  };
  goThrough(*this, open, enter, [&](const Module &) { orders.pop_back(); });
}

std::vector<Module::Found> Module::collected(SourceLocation where, bool withPaths) const {
  Collector collector{where, withPaths};
  collect(collector);
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
  for (Found &found : collected(where, true))
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
  for (const std::shared_ptr<Module> &below : submodules())
    below->trainable_ = trainable;
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
  std::unordered_set<const Module *> seen;
  auto enter = [&](const Module &module, std::size_t i) -> const Module * {
    const std::shared_ptr<Module> &below = module.parts_[i].module;
    if (!below || !seen.insert(below.get()).second)
      return nullptr;
    result.push_back(below);
    return below.get();
  };
  goThrough(*this, [](const Module &module) { return module.parts_.size(); }, enter, [](const Module &) {});
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
  static auto &counts = *new std::unordered_map<std::string, std::int64_t>; // layers may be made until the end
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
  constexpr std::size_t kMany = 32; // which are looked through as fast as a table is asked
  bool isThere = false;
  if (parts_.size() < kMany) {
    isThere = std::ranges::find(parts_, name, &Part::name) != parts_.end();
  } else {
    if (!names_) {
      auto all = std::make_shared<Names>();
      for (const Part &part : parts_)
        all->names.insert(part.name);
      names_ = std::move(all);
    }
    isThere = names_->names.contains(name);
  }
  if (isThere)
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

// Nothing is looked through for a module that is nobody's part, as one is that is being made.
void Module::requireNoPartOf(const Module &other, SourceLocation where, const std::string &name) const {
  const bool isBelow =
      this == &other ||
      (mayBePart_ && std::ranges::any_of(other.submodules(), [this](const auto &each) { return each.get() == this; }));
  if (isBelow)
    fail<ValueError>(absl::StrCat("module: the part '", name, "' has this module as a part itself"), where);
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
  requireNoPartOf(*module, where, module->name());
  for (const Part &part : module->parts_)
    checkName(part.name, where);
  for (const Part &part : module->parts_)
    registerPart(part);
}

void Module::adopt(std::string name, std::shared_ptr<Module> module, SourceLocation where) {
  checkName(name, where);
  if (!module)
    fail<StateError>(absl::StrCat("module: the part '", name, "' is empty"), where);
  requireNoPartOf(*module, where, name);
  module->nameAsPart(name);
  registerPart({std::move(name), std::nullopt, std::move(module)});
}

} // namespace calque
