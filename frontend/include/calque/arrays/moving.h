// Functions that move, repeat or leave out elements. reverse, transpose, reshape, squeeze, expand_dims, concat, stack,
// split and tile are in functions.h.
//
//   roll(x, 1);                  // all elements one further, and the last one in front
//   moveaxis(x, 0, -1);          // the first axis becomes the last one
//   diagonal(x);                 // the elements of the main diagonal
#ifndef CALQUE_ARRAYS_MOVING_H
#define CALQUE_ARRAYS_MOVING_H

#include "calque/functions.h"

namespace calque {

namespace detail {
CALQUE_API Tensor rollBy(const Operand &x, const Operand &shift, const AxisList &axes);
}
// Moves elements by `shifts` places along the axes; those that leave at one end come in at the other. No axes mean the
// elements in row-major order. One number serves all axes, else each axis has its own. Shifts may be negative and
// larger than the axis. ValueError for another number of shifts, and for an axis that x does not have.
CALQUE_API Tensor roll(const Operand &x, const AxisList &shifts, const AxisList &axes = {});
// The same by an integer tensor, whose values may be known at the call only: a scalar, or a vector with an element for
// each axis.
template <typename T>
  requires(detail::TensorOrVariable<T> || std::same_as<T, Size>)
Tensor roll(const Operand &x, const T &shifts, const AxisList &axes = {}) {
  return detail::rollBy(x, Operand(shifts, x.where()), axes);
}

// Turns x by k quarters in the plane of two axes, from the first one towards the second. ValueError unless there are
// two different axes.
CALQUE_API Tensor rot90(const Operand &x, std::int64_t k = 1, const AxisList &axes = {0, 1});

// Moves axes to other places; the others keep their order. moveaxis(x, {0, 1}, {-1, -2}) moves two. ValueError for
// lists of different lengths, and for axes that x does not have or that are given twice.
CALQUE_API Tensor moveaxis(const Operand &x, const AxisList &source, const AxisList &destination);
CALQUE_API Tensor swapaxes(const Operand &x, std::int64_t axis1, std::int64_t axis2);

// The elements as a vector, in row-major order.
CALQUE_API Tensor ravel(const Operand &x);

// Repeats each entry of x along an axis, or each element of the vector of all elements. `repeats` is a number, or an
// integer tensor with a number for each entry. In a trace the sum of such numbers is unknown, and the result has
// `total_repeat_length` entries, as in JAX: further ones are left out, and the last entry of x fills up. ValueError for
// a negative number; AssertionError for one in a tensor. StateError if the length is needed and not given.
CALQUE_API Tensor repeat(const Operand &x, const Operand &repeats, std::optional<std::int64_t> axis = {},
                         std::optional<std::int64_t> total_repeat_length = {});

// Of a vector, the square matrix that has it on diagonal k and zeros elsewhere. Of a matrix, its diagonal k. ShapeError
// for other ranks.
CALQUE_API Tensor diag(const Operand &x, std::int64_t k = 0);
// The elements of diagonal `offset` of the matrices along two axes. The result has the other axes, and the diagonal as
// the last one. Takes time for the result alone. ValueError for an axis that x does not have, and for two equal ones.
// StateError for unknown sizes of these axes, but for the main diagonals of square matrices.
CALQUE_API Tensor diagonal(const Operand &x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
// The sums of these diagonals. Sizes may be unknown.
CALQUE_API Tensor trace(const Operand &x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
// The matrices along the last two axes, with zeros above diagonal k; and with zeros below it. ShapeError for a rank
// below 2.
CALQUE_API Tensor tril(const Operand &x, std::int64_t k = 0);
CALQUE_API Tensor triu(const Operand &x, std::int64_t k = 0);

} // namespace calque
#endif
