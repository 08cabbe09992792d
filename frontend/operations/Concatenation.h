// Concatenation of many tensors.
#ifndef CALQUE_FRONTEND_OPERATIONS_CONCATENATION_H
#define CALQUE_FRONTEND_OPERATIONS_CONCATENATION_H

#include "calque/tensor.h"

#include <vector>

namespace calque::detail {

// One after the other along an axis. Where an eager tape records it, in blocks: the gradient of an operand looks at all
// operands, so that those of all take the square of their number.
Tensor concatenated(std::vector<Tensor> parts, std::int64_t axis, SourceLocation where);

} // namespace calque::detail
#endif
