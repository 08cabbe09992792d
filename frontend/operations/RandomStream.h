// What draws of random numbers share.
#ifndef CALQUE_FRONTEND_OPERATIONS_RANDOMSTREAM_H
#define CALQUE_FRONTEND_OPERATIONS_RANDOMSTREAM_H

#include "calque/tensor.h"

namespace calque::detail {

// Uniform numbers in [0, 1) of float32 or float64.
Tensor unitNumbers(const Shape &shape, const Tensor &state, DType dtype, SourceLocation where);
// The state after drawing as many numbers as `drawn` has, so many times.
Tensor stateAfter(const Tensor &state, const Tensor &drawn, std::int64_t times, SourceLocation where);
// The type of the numbers that are drawn for those of another: halves are rounded.
DType drawnType(DType dtype);
// The largest number of a floating-point type that is below `bound` and not below `least`.
double lastBelow(double bound, double least, DType dtype);

} // namespace calque::detail
#endif
