// Checks the results of branches and iterations. Loop variables keep their types, except for sizes that vary.
#ifndef CALQUE_FRONTEND_OPERATIONS_LOOPVARIABLES_H
#define CALQUE_FRONTEND_OPERATIONS_LOOPVARIABLES_H

#include "calque/control_flow.h"
#include "frontend/core/TensorImpl.h"

namespace calque::detail {

// Whether two structures differ in host values, texts, variables, or the number of tensors.
bool differ(const Produced &a, const Produced &b);

// ShapeError unless the tensor is a bool scalar.
void requireDecision(const char *operation, const char *what, const Tensor &x, SourceLocation where);

// The type of a tensor, and the line that made it, for messages.
std::string describe(const Tensor &x);

// A loop or scan, as messages name it and number its variables.
struct Iterated {
  const char *operation;
  bool isScan;
  std::size_t before = 0; // tensors before the user's own
};

// Returns the tensors, with an alias in place of each tensor that something else holds too. So a tape tells the results
// of a branch or an iteration from each other, and from the tensors whose elements they share. In a trace, such results
// are values of their own as well.
std::vector<Tensor> own(std::vector<Tensor> tensors, SourceLocation where);

// The sizes of loop variables that vary. `types` has the type of each variable in all iterations. `pairs` has the
// numbers of a variable and of a dimension for each size that varies.
struct Varying {
  std::vector<schema::TensorType> types = {};
  std::vector<std::int64_t> pairs = {};

  bool of(std::size_t variable, std::optional<std::size_t> dimension = {}) const {
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] == static_cast<std::int64_t>(variable) &&
          (!dimension || pairs[i + 1] == static_cast<std::int64_t>(*dimension)))
        return true;
    return false;
  }
};

// Whether a size is kDynamic itself, and not the unknown size of a tensor.
inline bool mayVary(const Size &size) { return !size.is_known() && !size.origin(); }

// The type of a loop variable in all iterations. Sizes that vary are unknown in it. ShapeError if the variable does not
// fit its shape invariant.
schema::TensorType typeInLoop(const Tensor &initial, std::size_t i, const WhileOptions &options, const Iterated &what,
                              SourceLocation where);

// Returns the tensors that a body gives, with the types that the loop variables take. ValueError if the body gives
// other host values, ShapeError or DTypeError if it gives other types.
std::vector<Tensor> nextValues(const Iterated &what, const Produced &next, const Produced &initial,
                               const std::vector<Tensor> &variables, SourceLocation where, const Varying &varying = {});

} // namespace calque::detail
#endif
