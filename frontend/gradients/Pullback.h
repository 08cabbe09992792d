// Differentiates what eager tapes have recorded, one operation at a time.
#ifndef CALQUE_FRONTEND_GRADIENTS_PULLBACK_H
#define CALQUE_FRONTEND_GRADIENTS_PULLBACK_H

#include "frontend/compiled/CalledProgram.h"
#include "frontend/core/TensorImpl.h"

#include <optional>

namespace calque::detail {

// One application of an operation, or the call of a function, and the cotangents of its results.
struct Applied {
  schema::OpId op;
  std::vector<schema::Attribute> attributes;
  const CalledProgram *called; // the function that was called; null for an operation
  schema::SourceLine line;
  std::vector<Tensor> operands, results;
  std::vector<Tensor> cotangents; // one for each result; an empty tensor if the result has none
  std::vector<bool> needed;       // the operands whose cotangents are asked for
};

// Computes the cotangents of the needed operands, in order. std::nullopt if no path leads to an operand. With
// `batched`, cotangents are stacked along axis 0. Native code is cached by operation and types, so that a new sequence
// of known operations compiles nothing. Tapes that record see one call.
std::vector<std::optional<Tensor>> pullBack(const Applied &applied, bool batched, SourceLocation where);

} // namespace calque::detail
#endif
