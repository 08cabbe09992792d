// Products of vectors, matrices and tensors. matmul, contract and einsum are in functions.h. Element types are those of
// contract: numbers of one type.
//
//   dot(a, b);              // of two vectors the sum of products
//   outer(a, b);            // all products
//   tensordot(a, b, 1);     // sums over the last axis of a and the first of b
#ifndef CALQUE_ARRAYS_PRODUCTS_H
#define CALQUE_ARRAYS_PRODUCTS_H

#include "calque/functions.h"

namespace calque {

// numpy.dot: of vectors the sum of products, of matrices the matrix product. With a scalar, the product of each
// element. Else the sum over the last axis of a and the last but one of b, or the only one; the result has the other
// axes of a, then those of b. ShapeError for sizes that differ.
CALQUE_API Tensor dot(const Operand &a, const Operand &b);
// The sum of the products of all elements, in row-major order; of complex numbers, those of a are conjugated.
// ShapeError for different numbers of elements.
CALQUE_API Tensor vdot(const Operand &a, const Operand &b);
// The sum of products over the last axis of both; with a scalar, the product of each element.
CALQUE_API Tensor inner(const Operand &a, const Operand &b);
// The products of each element of a with each element of b, both as vectors: [size of a, size of b].
CALQUE_API Tensor outer(const Operand &a, const Operand &b);
// Matrices [..., m, n] times vectors [..., n]. The other dimensions broadcast. ShapeError for a of rank below 2, for a
// scalar x, and for sizes that don't fit.
CALQUE_API Tensor matvec(const Operand &a, const Operand &x);
// Vectors [..., m] times matrices [..., m, n]; complex vectors are conjugated.
CALQUE_API Tensor vecmat(const Operand &x, const Operand &a);
// The Kronecker product: each element of a times all of b. The tensor of lower rank gets sizes of 1 in front.
CALQUE_API Tensor kron(const Operand &a, const Operand &b);
// Sums products over the last `axes` axes of a and the first ones of b, or over pairs of axes. ValueError for more axes
// than a tensor has, for lists of different lengths, and for an axis that is named twice. ShapeError for sizes that
// differ.
CALQUE_API Tensor tensordot(const Operand &a, const Operand &b, std::int64_t axes = 2);
CALQUE_API Tensor tensordot(const Operand &a, const Operand &b, const AxisList &a_axes, const AxisList &b_axes);
// The vector product of vectors of three elements along an axis; the other dimensions broadcast. ShapeError unless
// there are three.
CALQUE_API Tensor cross(const Operand &a, const Operand &b, std::int64_t axis = -1);

} // namespace calque
#endif
