// The derivatives of what eager tapes have recorded, one operation at a time.
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
  const CalledProgram *called; // null: the operation itself
  schema::SourceLine line;
  std::vector<Tensor> operands, results;
  std::vector<Tensor> cotangents; // one for each result; empty tensors where there is none
  std::vector<bool> needed;       // the operands whose cotangents are asked for
};

// The cotangents of the operands, one for each that is needed; none where no path leads to it. With `batched`,
// cotangents are stacked along axis 0. Native code is cached by operation and types, so that no sequence of operations
// is compiled anew; tapes that record see one call.
std::vector<std::optional<Tensor>> pullBack(const Applied &applied, bool batched, SourceLocation where);

} // namespace calque::detail
#endif
