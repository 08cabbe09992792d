// Simplifications of elementwise operations, by identities that hold bit for bit, so that compiled code computes what
// eager code does.
#ifndef CALQUE_IR_ALGEBRA_H
#define CALQUE_IR_ALGEBRA_H

#include "ir/Dialect.h"

#include <optional>

namespace calque::ir {

// The facts of an elementwise operation's record, which ir/Base.td explains.
struct Algebra {
  std::optional<schema::Scalar> neutral;
  bool involution, idempotent, ignoresSign, passesSignOn;
};

// The value that the operation is equal to, its own result after a change in place, or null.
mlir::Value foldByAlgebra(ElementwiseOpInterface op);

} // namespace calque::ir
#endif
