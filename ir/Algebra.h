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

// A value that equals the operation's result. It is the result itself if the operation was changed in place. Null if
// nothing was found.
mlir::Value foldByAlgebra(ElementwiseOpInterface op);

} // namespace calque::ir
#endif
