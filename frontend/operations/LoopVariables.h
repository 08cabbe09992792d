// What branches and iterations give, and what they must give: loop variables keep their types, but for sizes that vary.
#ifndef CALQUE_FRONTEND_OPERATIONS_LOOPVARIABLES_H
#define CALQUE_FRONTEND_OPERATIONS_LOOPVARIABLES_H

#include "calque/control_flow.h"
#include "frontend/core/TensorImpl.h"

namespace calque::detail {

// Whether two structures differ in what is no tensor.
bool differ(const Produced &a, const Produced &b);

// A bool scalar. ShapeError for any other.
void requireDecision(const char *operation, const char *what, const Tensor &x, SourceLocation where);

// The type of a tensor, and the line of what made it, for messages.
std::string describe(const Tensor &x);

// How messages speak of what goes from iteration to iteration, and of what makes the next.
struct Iterated {
  const char *operation;
  bool isScan;
  std::size_t before = 0; // tensors before the user's own
};

// Tensors that nothing else holds, as a trace has values of their own for what a branch or an iteration gives: a tape
// tells them from each other and from what they are the same as.
std::vector<Tensor> own(std::vector<Tensor> tensors, SourceLocation where);

// The loop variables whose sizes vary: the types of all in each iteration, and pairs of a variable and a dimension.
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

// kDynamic itself, and no size that a tensor leaves open.
inline bool mayVary(const Size &size) { return !size.is_known() && !size.origin(); }

// The type of a loop variable in all iterations; its sizes that vary are open.
schema::TensorType typeInLoop(const Tensor &initial, std::size_t i, const WhileOptions &options, const Iterated &what,
                              SourceLocation where);

// The tensors that a body gives, as those that its variables can take.
std::vector<Tensor> nextValues(const Iterated &what, const Produced &next, const Produced &initial,
                               const std::vector<Tensor> &variables, SourceLocation where, const Varying &varying = {});

} // namespace calque::detail
#endif
