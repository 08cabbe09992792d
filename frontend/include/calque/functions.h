// The public functions on tensors. Those with a record in ir/ are generated; the others are declared here.
#ifndef CALQUE_FUNCTIONS_H
#define CALQUE_FUNCTIONS_H

#include "calque/tensor.h"

#include <string>

namespace calque {

#include "calque/functions.h.inc"

// These exact matches make `!x` unambiguous beside the conversion to bool.
CALQUE_API Tensor operator!(const Tensor &x);
CALQUE_API Tensor operator!(const Variable &x);

// Of bool tensors, for all elements: logical_and, logical_or and logical_not. DTypeError for others.
inline Tensor operator&(const Operand &x, const Operand &y) { return logical_and(x, y); }
inline Tensor operator|(const Operand &x, const Operand &y) { return logical_or(x, y); }
inline Tensor operator~(const Operand &x) { return logical_not(x); }

// x = x + y and so on, at the line of y: another tensor takes the place of x, whose elements others may share.
inline Tensor &operator+=(Tensor &x, const Operand &y) { return x = add(Operand(x, y.where()), y); }
inline Tensor &operator-=(Tensor &x, const Operand &y) { return x = sub(Operand(x, y.where()), y); }
inline Tensor &operator*=(Tensor &x, const Operand &y) { return x = mul(Operand(x, y.where()), y); }
inline Tensor &operator/=(Tensor &x, const Operand &y) { return x = div(Operand(x, y.where()), y); }
inline Tensor &operator%=(Tensor &x, const Operand &y) { return x = fmod(Operand(x, y.where()), y); }
inline Tensor &operator&=(Tensor &x, const Operand &y) { return x = logical_and(Operand(x, y.where()), y); }
inline Tensor &operator|=(Tensor &x, const Operand &y) { return x = logical_or(Operand(x, y.where()), y); }

struct MatmulOptions {
  bool transpose_a = false; // swap the last two dimensions of a
  bool transpose_b = false; // swap the last two dimensions of b
};
// The matrix product over the last two dimensions, of floats or integers. The other dimensions broadcast as in NumPy:
// [..., m, k] times [..., k, n] is [..., m, n]. ShapeError for rank below 2 or sizes that don't fit, DTypeError for
// different element types.
CALQUE_API Tensor matmul(const Operand &a, const Operand &b, MatmulOptions options = {});

// Tensors of one type and shape next to each other along a new axis of the result, which may count from its end.
// ValueError for no tensors and for an axis that the result does not have, ShapeError and DTypeError for tensors that
// differ.
CALQUE_API Tensor stack(const std::vector<Tensor> &tensors, std::int64_t axis = 0,
                        SourceLocation where = SourceLocation::current());
// The slices of x along an axis, which they lack. StateError where the size of the axis is not known while tracing.
CALQUE_API std::vector<Tensor> unstack(const Operand &x, std::int64_t axis = 0);
// x without dimensions of size 1: those of the axes, or all. ShapeError for an axis of another size, which is found at
// the call where it is not known before. StateError where axes are not named and a size is not known.
CALQUE_API Tensor squeeze(const Operand &x, std::vector<std::int64_t> axes = {});
// x repeated so often along each dimension, as numpy.tile: the shorter one of the shape and the list gets ones in
// front. ValueError for a negative number.
CALQUE_API Tensor tile(const Operand &x, std::vector<std::int64_t> repeats);
// x where it is within [low, high], else the nearer bound; high where low is larger, NaN for NaN. All three broadcast.
// The gradient passes to x where it is within the bounds or equal to one. Errors are those of maximum.
CALQUE_API Tensor clip(const Operand &x, const Operand &low, const Operand &high);

// The elements of x in order along an axis; NaN counts as largest. The gradient goes where the elements come from.
// ValueError for an axis that x does not have.
CALQUE_API Tensor sort(const Operand &x, std::int64_t axis = -1, bool descending = false);

struct TopK {
  Tensor values, indices; // the indices are int64
};
// The k largest elements along the last axis, the largest first, of equal ones the first first, and their indices; NaN
// counts as largest. ValueError for a negative k and for a scalar, ShapeError for more elements than there are.
CALQUE_API TopK top_k(const Operand &x, std::int64_t k);

// Einstein's sum of products, as numpy.einsum with letters: "bij,bjk->bik" is a batch of matrix products, "ii->" a
// trace, "ij->ji" a transpose. A letter that the result lacks is summed over; without an arrow the result has the
// letters that stand once, in the order of the alphabet. Of several tensors the first two are multiplied first.
// ValueError for subscripts that are none of these, ShapeError for tensors that they don't fit; StateError for a letter
// that stands twice in a tensor whose sizes are not known.
CALQUE_API Tensor einsum(const std::string &equation, const std::vector<Tensor> &tensors,
                         SourceLocation where = SourceLocation::current());

// Prints the label and x on a line of standard output, in the order of the program, in compiled code at every call.
CALQUE_API void print(std::string label, const Operand &x);

// AssertionError with the message unless all elements of a bool tensor hold, in compiled code at every call. A call
// that fails leaves all variables as they were.
CALQUE_API void assert_true(const Operand &condition, std::string message);

} // namespace calque
#endif
