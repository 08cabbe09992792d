// Functions of sequences along an axis: running extrema, partitions, differences and integrals, interpolation,
// convolution and polynomials. cumsum, cumprod, sort, argsort and top_k are in functions.h; trapezoid and simpson in
// solvers.h.
//
//   diff(x);                            // x[1] - x[0], x[2] - x[1], ...
//   gradient(y, x);                     // the slope of y, sampled at the places x
//   interp(t, x, y);                    // y at t, linearly between samples
#ifndef CALQUE_ARRAYS_SEQUENCES_H
#define CALQUE_ARRAYS_SEQUENCES_H

#include "calque/functions.h"

namespace calque {

// The largest, and the smallest, of the elements up to each one along an axis; NaN from the first NaN on. And
// log(cumsum(exp(x))), without overflow. Each takes log n steps over all n elements: time n log n.
CALQUE_API Tensor cummax(const Operand &x, std::int64_t axis = 0);
CALQUE_API Tensor cummin(const Operand &x, std::int64_t axis = 0);
CALQUE_API Tensor logcumsumexp(const Operand &x, std::int64_t axis = 0);

// The elements along an axis with the one at place kth where a sort has it: those before it are not larger, and those
// behind it not smaller. And the indices of such an order. All are in order, as numpy.partition may have them; top_k
// selects. ValueError for a place or an axis that x does not have.
CALQUE_API Tensor partition(const Operand &x, std::int64_t kth, std::int64_t axis = -1);
CALQUE_API Tensor argpartition(const Operand &x, std::int64_t kth, std::int64_t axis = -1);

// The differences of neighbours along an axis, n times one after the other. Of bools, whether they differ. ValueError
// for a negative n, and for an axis that x does not have.
CALQUE_API Tensor diff(const Operand &x, std::int64_t n = 1, std::int64_t axis = -1);

// The derivative along an axis by differences of second order, as numpy.gradient of one axis. `spacing` is the distance
// of samples, or a vector of their places. At both ends the differences are of order edge_order, 1 or 2. Samples are
// floats or complex numbers, whose places may be real. DTypeError for other types; ShapeError for fewer than
// edge_order + 1 samples and for places of another number; ValueError for another order.
CALQUE_API Tensor gradient(const Operand &y, const Operand &spacing = 1, std::int64_t axis = -1,
                           std::int64_t edge_order = 1);
// The integrals from the first sample to each of the others by the trapezoidal rule, as
// scipy.integrate.cumulative_trapezoid. With `initial`, 0 stands in front. `spacing` and errors are those of gradient.
CALQUE_API Tensor cumulative_trapezoid(const Operand &y, const Operand &spacing = 1, std::int64_t axis = -1,
                                       bool initial = false);

struct InterpOptions {
  std::optional<Number> left = {}, right = {}; // in front of the first place, and behind the last one; else fp there
};
// The piecewise linear function through the points (xp, fp) at x. xp must increase, which is not checked. Gradients
// pass to x, xp and fp. Takes time log n for each element of x, of n points. fp may be complex. ShapeError
// unless xp and fp are vectors of one size, which is not 0; DTypeError for types other than floats.
CALQUE_API Tensor interp(const Operand &x, const Operand &xp, const Operand &fp, InterpOptions options = {});

// The convolution of two vectors of floats or complex numbers: all sums of products ("full", n + m - 1), as many as the
// longer one has ("same"), or those of whole overlap ("valid"). Takes time n m, as numpy.convolve. ShapeError for other
// ranks and for no elements, ValueError for another mode; StateError for sizes that are unknown while tracing.
CALQUE_API Tensor convolve(const Operand &a, const Operand &v, const std::string &mode = "full");
// sum of a[i + k] conj(v[i]), for each k: convolve with the conjugate of v in the opposite order.
CALQUE_API Tensor correlate(const Operand &a, const Operand &v, const std::string &mode = "valid");

// The polynomial with these coefficients at x, by Horner's rule; the coefficient of the highest power is the first one.
// ShapeError unless the coefficients are a vector, StateError if their number is unknown while tracing.
CALQUE_API Tensor polyval(const Operand &coefficients, const Operand &x);

} // namespace calque
#endif
