#include "calque/module.h"

#include "Support.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace calque {

using training::fail;

struct Module::Collector {
  std::vector<std::pair<std::string, Variable>> found;
  absl::flat_hash_set<const void *> seen;
  SourceLocation where;
};

Module::~Module() = default;
void Module::checkBuilt(SourceLocation) const {}

void Module::collect(const std::string &path, Collector &collector) const {
  checkBuilt(collector.where);
  for (const Part &part : parts_) {
    if (part.module)
      part.module->collect(absl::StrCat(path, part.name, "/"), collector);
    else if (collector.seen.insert(part.variable->state().get()).second)
      collector.found.emplace_back(path + part.name, *part.variable);
  }
}

std::vector<std::pair<std::string, Variable>> Module::named_variables(SourceLocation where) const {
  Collector collector{{}, {}, where};
  collect("", collector);
  return std::move(collector.found);
}

std::vector<Variable> Module::variables(SourceLocation where) const {
  std::vector<Variable> result;
  for (auto &[name, variable] : named_variables(where))
    result.push_back(std::move(variable));
  return result;
}

std::vector<Variable> Module::trainable_variables(SourceLocation where) const {
  std::vector<Variable> result = variables(where);
  std::erase_if(result, [](const Variable &variable) { return !variable.trainable(); });
  return result;
}

void Module::checkName(const std::string &name, SourceLocation where) const {
  if (name.empty() || name.find('/') != std::string::npos)
    fail<ValueError>(absl::StrCat("module: '", name, "' is no name of a part; it must not be empty and have no '/'"),
                     where);
  for (const Part &part : parts_)
    if (part.name == name)
      fail<ValueError>(absl::StrCat("module: there is a part '", name, "' already"), where);
}

Variable Module::variable(std::string name, const Operand &initial, bool trainable) {
  checkName(name, initial.where());
  Variable made(initial, {.name = name_.empty() ? name : absl::StrCat(name_, "/", name), .trainable = trainable});
  parts_.push_back({std::move(name), made, nullptr});
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
  parts_.push_back({std::move(name), variable, nullptr});
}

void Module::adopt(std::string name, std::shared_ptr<Module> module, SourceLocation where) {
  checkName(name, where);
  if (!module)
    fail<StateError>(absl::StrCat("module: the part '", name, "' is empty"), where);
  if (module->contains(*this))
    fail<ValueError>(absl::StrCat("module: the part '", name, "' has this module as a part itself"), where);
  if (module->name_.empty())
    module->name_ = name;
  parts_.push_back({std::move(name), std::nullopt, std::move(module)});
}

} // namespace calque
