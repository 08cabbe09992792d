#include "frontend/compiled/VariableLocks.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <functional>

namespace calque::detail {

VariableLocks::VariableLocks(std::span<VariableState *const> variables, const std::vector<std::size_t> &assigned,
                             SourceLocation where)
    : entries(variables.size()), outer(held) {
  if (outer) [[unlikely]]
    for (VariableState *variable : variables)
      refuseHeld(*variable, where);
  for (std::size_t i = 0; i < variables.size(); ++i)
    entries[i] = {variables[i], std::binary_search(assigned.begin(), assigned.end(), i)};
  std::sort(entries.data(), entries.data() + entries.size(),
            [](const Entry &a, const Entry &b) { return std::less<>()(a.variable, b.variable); });
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i].exclusive ? entries[i].variable->mutex.lock() : entries[i].variable->mutex.lock_shared();
  held = this;
}

VariableLocks::~VariableLocks() {
  held = outer;
  for (std::size_t i = entries.size(); i-- > 0;)
    entries[i].exclusive ? entries[i].variable->mutex.unlock() : entries[i].variable->mutex.unlock_shared();
}

bool VariableLocks::holds(const VariableState &variable) {
  for (VariableLocks *locks = held; locks; locks = locks->outer)
    for (std::size_t i = 0; i < locks->entries.size(); ++i)
      if (locks->entries[i].variable == &variable)
        return true;
  return false;
}

void refuseHeld(const VariableState &variable, SourceLocation where) {
  if (VariableLocks::holds(variable))
    throw StateError(absl::StrCat("variable '", variable.name,
                                  "' is touched by a host call of a function that holds it; pass its value as an input "
                                  "of the host call, and assign what that gives"),
                     where);
}

} // namespace calque::detail
