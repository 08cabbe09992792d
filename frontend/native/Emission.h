// Makes the operations of a graph: its branches become `cond`, its loops `while`.
#ifndef CALQUE_FRONTEND_NATIVE_EMISSION_H
#define CALQUE_FRONTEND_NATIVE_EMISSION_H

#include "frontend/core/TensorImpl.h"
#include "frontend/native/Operands.h"
#include "frontend/native/Vocabulary.h"

namespace calque::detail::native {

// Separates the types of the results in the text of an end that returns.
inline constexpr char kTypesOfEnd[] = "\x1f";

// Appends the operations of the graph to the current trace, and returns the results. NotCaptured if the graph can't be
// expressed by `cond` and `while`. `counts`: a loop that needs more iterations than were followed fails the call.
std::vector<Tensor> emit(const Graph &graph, const std::vector<std::vector<Sample>> &samples,
                         const Vocabulary &vocabulary, bool counts);

} // namespace calque::detail::native
#endif
