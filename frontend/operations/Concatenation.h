// Concatenation of many tensors.
#ifndef CALQUE_FRONTEND_OPERATIONS_CONCATENATION_H
#define CALQUE_FRONTEND_OPERATIONS_CONCATENATION_H

#include "calque/tensor.h"

#include <vector>

namespace calque::detail {

// Concatenates the parts along an axis. If an eager tape records, the parts are concatenated in blocks. The gradient of
// each operand looks at all operands, so that without blocks the gradients would take time that grows with the square
// of their number.
Tensor concatenated(std::vector<Tensor> parts, std::int64_t axis, SourceLocation where);

} // namespace calque::detail
#endif
