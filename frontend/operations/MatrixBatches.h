// The dimensions before the last two of matrices, which count them.
#ifndef CALQUE_FRONTEND_OPERATIONS_MATRIXBATCHES_H
#define CALQUE_FRONTEND_OPERATIONS_MATRIXBATCHES_H

#include "calque/tensor.h"

#include <string>

namespace calque::detail {

// Whether two sizes are known to differ. If one of them is unknown, the call compares them.
inline bool mayDiffer(const Size &a, const Size &b) { return a.is_known() && b.is_known() && a != b; }

// The sizes before the last two of two shapes, broadcast as in NumPy. ShapeError, in the name of a function, if they
// don't broadcast. `shapes` is what the error calls the two.
Shape mergeBatches(const Shape &a, const Shape &b, const char *function, const std::string &shapes,
                   SourceLocation where);

// The matrices repeated to these sizes before the last two.
Tensor broadcastBatch(const Tensor &x, const Shape &batch, SourceLocation where);

} // namespace calque::detail
#endif
