// Makes the operations of a graph: its branches become `cond`, its loops `while`.
#ifndef CALQUE_FRONTEND_NATIVE_EMISSION_H
#define CALQUE_FRONTEND_NATIVE_EMISSION_H

#include "frontend/core/TensorImpl.h"
#include "frontend/native/Operands.h"

namespace calque::detail::native {

// Separates the types of the results in the text of an end that returns.
inline constexpr char kTypesOfEnd[] = "\x1f";

// Translates the numbers of paths into operations and tensors.
class Vocabulary {
public:
  virtual ~Vocabulary() = default;
  // Appends the operation to the current trace.
  virtual std::vector<Tensor> apply(Kind step, const std::vector<Tensor> &operands) const = 0;
  virtual bool hasEffect(Kind step) const = 0;
  // Null where the step has no such result.
  virtual const schema::TensorType *typeOf(Kind step, std::size_t result) const = 0;
  virtual Tensor outside(Value value) const = 0;
  virtual const schema::TensorType &typeOfOutside(Value value) const = 0;
  // The types of the results for operands of other types; none where these don't fit.
  virtual std::vector<schema::TensorType> resultsFor(Kind step, std::span<const schema::TensorType> operands) const = 0;
  // What an end that throws says. That of one that returns has the types of its results behind kTypesOfEnd.
  virtual const std::string &messageOf(Kind end) const = 0;
};

// Appends the operations of the graph to the current trace, and returns the results. NotCaptured if the graph can't be
// expressed by `cond` and `while`. `counts`: a loop that needs more iterations than were followed fails the call.
std::vector<Tensor> emit(const Graph &graph, const std::vector<std::vector<Sample>> &samples,
                         const Vocabulary &vocabulary, bool counts);

} // namespace calque::detail::native
#endif
