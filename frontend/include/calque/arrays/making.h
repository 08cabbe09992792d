// Arrays that are made by a rule: ranges, grids, and matrices of ones and zeros.
//
//   arange(5);                          // int32: 0 1 2 3 4
//   linspace(0, 1, 5);                  // 0, 1/4, 1/2, 3/4, 1
//   auto grid = meshgrid({x, y});       // grid[0] and grid[1] have shape [size of y, size of x]
#ifndef CALQUE_ARRAYS_MAKING_H
#define CALQUE_ARRAYS_MAKING_H

#include "calque/functions.h"

namespace calque {

// Tensors of the shape of x, which may be unknown while tracing. The element type is that of x, or the given one. A
// number becomes an element by the rule of number.h.
CALQUE_API Tensor full_like(const Operand &x, const Operand &value, std::optional<DType> dtype = {});
CALQUE_API Tensor zeros_like(const Operand &x, std::optional<DType> dtype = {});
CALQUE_API Tensor ones_like(const Operand &x, std::optional<DType> dtype = {});

namespace detail {
template <typename T>
concept HostNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
CALQUE_API Tensor makeRange(const Literal &start, const Literal &stop, const Literal &step, std::optional<DType> dtype,
                            SourceLocation where);
} // namespace detail

// The numbers start, start + step, ... before stop, as numpy.arange gives them; none if stop is not ahead. Without
// dtype, the element type follows the rule for literals: int32 for arange(5), int64 for arange(std::int64_t(5)).
// Elements of floats are computed in float64 and rounded once. As in NumPy, the rounding of (stop - start) / step
// decides whether a last element near stop is there: linspace has a number of elements. ValueError for a step of 0, for
// numbers that are NaN or infinite, and for elements that the type does not hold.
template <detail::HostNumber A, detail::HostNumber B, detail::HostNumber C = int>
Tensor arange(A start, B stop, C step = 1, std::optional<DType> dtype = {},
              SourceLocation where = SourceLocation::current()) {
  return detail::makeRange(start, stop, step, dtype, where);
}
template <detail::HostNumber T>
Tensor arange(T stop, std::optional<DType> dtype = {}, SourceLocation where = SourceLocation::current()) {
  return arange(T(0), stop, T(1), dtype, where);
}
// The numbers 0, 1, ... before a size, which may be unknown while tracing: arange(x.shape()[0]).
template <std::same_as<Size> S>
Tensor arange(const S &stop, DType dtype = DType::Int64, SourceLocation where = SourceLocation::current()) {
  return iota({stop}, dtype, 0, where);
}

struct LinspaceOptions {
  bool endpoint = true;            // whether the last number is `stop`
  std::int64_t axis = 0;           // the axis of the result along which the numbers lie
  std::optional<DType> dtype = {}; // a float type; left out, that of the tensors, or the default type
};
// `num` numbers at equal distances from start to stop, which may be tensors that broadcast: the result has an axis
// more. The first and the last number are start and stop exactly. Gradients pass to both. Of two C++ numbers, the
// elements are computed in float64 and rounded once. The number of elements may be an unknown size. DTypeError for
// types other than floats, ValueError for a negative number of elements.
CALQUE_API Tensor linspace(const Operand &start, const Operand &stop, const Size &num = 50,
                           LinspaceOptions options = {});
// base to the powers that linspace gives.
CALQUE_API Tensor logspace(const Operand &start, const Operand &stop, const Size &num = 50, const Operand &base = 10,
                           LinspaceOptions options = {});
// `num` numbers at equal ratios from start to stop, which have the same sign: the numbers are negative for negative
// ones, and NaN where the signs differ, as in NumPy. ValueError for a number that is 0; NaN or infinity for such
// elements of tensors. Otherwise as linspace.
CALQUE_API Tensor geomspace(const Operand &start, const Operand &stop, const Size &num = 50,
                            LinspaceOptions options = {});

struct MeshgridOptions {
  std::string indexing = "xy"; // the second tensor varies along axis 0, the first one along axis 1; or "ij": in order
  bool sparse = false;         // leaves sizes of 1 where a tensor does not vary
};
// For each of n vectors a tensor of n dimensions, along one of which it has the vector's elements. Scalars count as
// vectors of one element. ShapeError for tensors of rank 2 or more, ValueError for other words than "xy" and "ij".
CALQUE_API std::vector<Tensor> meshgrid(const std::vector<Tensor> &tensors, MeshgridOptions options = {},
                                        SourceLocation where = SourceLocation::current());

// n by m, with ones on diagonal k: k = 0 is the main diagonal, and a positive k is above it.
CALQUE_API Tensor eye(const Size &n, const Size &m, std::int64_t k = 0, DType dtype = default_dtype(),
                      SourceLocation where = SourceLocation::current());
// n by m, with ones on diagonal k and below it, else zeros.
CALQUE_API Tensor tri(const Size &n, const Size &m, std::int64_t k = 0, DType dtype = default_dtype(),
                      SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
