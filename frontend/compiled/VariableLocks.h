// The locks of the variables that a call of native code reads and assigns.
#ifndef CALQUE_FRONTEND_COMPILED_VARIABLELOCKS_H
#define CALQUE_FRONTEND_COMPILED_VARIABLELOCKS_H

#include "absl/container/fixed_array.h"
#include "frontend/core/TensorImpl.h"

#include <span>
#include <vector>

namespace calque::detail {

// The locks of a call's variables, taken in the order of their addresses: exclusive for assigned variables, else
// shared. A host call must not lock one of them again, so each thread notes which locks its calls in progress hold.
class VariableLocks {
public:
  // StateError for a variable that a call in progress on this thread has locked.
  VariableLocks(std::span<VariableState *const> variables, const std::vector<std::size_t> &assigned,
                SourceLocation where);
  ~VariableLocks();
  VariableLocks(const VariableLocks &) = delete;
  VariableLocks &operator=(const VariableLocks &) = delete;

  // Whether a call in progress on this thread has locked the variable.
  static bool holds(const VariableState &variable);

private:
  struct Entry {
    VariableState *variable = nullptr;
    bool exclusive = false;
  };
  absl::FixedArray<Entry, 8> entries;
  VariableLocks *outer;
  static inline constinit thread_local VariableLocks *held = nullptr;
};

// StateError for a variable that a call in progress on this thread has locked. Only a host call can get here with such
// a variable.
void refuseHeld(const VariableState &variable, SourceLocation where);

} // namespace calque::detail
#endif
