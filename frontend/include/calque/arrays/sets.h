// Elements that fulfil a condition, different elements, and searches in sorted ones. The number of results depends on
// the elements, so that a traced call names it, as in JAX: unique(x, {.size = 10}).
#ifndef CALQUE_ARRAYS_SETS_H
#define CALQUE_ARRAYS_SETS_H

#include "calque/functions.h"

namespace calque {

// The number of results. Eagerly, it is found by itself; in a trace it must be given, else the call is a StateError.
// Further results are left out. If there are fewer, `fill_value` fills up.
struct SizeOptions {
  std::optional<std::int64_t> size = {};
  std::optional<Number> fill_value = {}; // left out, see the function
};

// The number of elements that are not zero, as int64. NaN counts. ValueError for an axis that x does not have.
CALQUE_API Tensor count_nonzero(const Operand &x, AxisList axes = {}, bool keepdims = false);
// The indices of the elements that are not zero, in row-major order: for each dimension of x a vector of int64.
// fill_value is 0. ShapeError for a scalar.
CALQUE_API std::vector<Tensor> nonzero(const Operand &x, SizeOptions options = {});
// The same of x as a vector.
CALQUE_API Tensor flatnonzero(const Operand &x, SizeOptions options = {});
// The same as rows: [number, rank].
CALQUE_API Tensor argwhere(const Operand &x, SizeOptions options = {});
// The entries of x along an axis, or of the vector of all elements, for which the vector `condition` holds. If the
// condition is shorter than the axis, the entries behind it are left out. fill_value is 0. DTypeError for a condition
// that is not bool, ShapeError for one that is no vector or too long.
CALQUE_API Tensor compress(const Operand &condition, const Operand &x, std::optional<std::int64_t> axis = {},
                           SizeOptions options = {});

// The different elements of x, in order. NaN counts as the largest element, and all NaN as one. fill_value is the
// smallest element. Takes time n log n of n elements.
CALQUE_API Tensor unique(const Operand &x, SizeOptions options = {});
struct UniqueCounts {
  Tensor values, counts;
};
struct UniqueInverse {
  Tensor values, inverse;
};
struct UniqueAll {
  Tensor values, indices, inverse, counts;
};
// Besides the values: the places where each stands first in the vector of all elements, for each element of x the place
// of its value, and how often each value stands in x. All are int64. What fills up has index and count 0.
CALQUE_API UniqueCounts unique_counts(const Operand &x, SizeOptions options = {});
CALQUE_API UniqueInverse unique_inverse(const Operand &x, SizeOptions options = {});
CALQUE_API UniqueAll unique_all(const Operand &x, SizeOptions options = {});

// Whether each element of x is one of the elements of `values`. NaN is none. Time (n + m) log m for m values.
CALQUE_API Tensor isin(const Operand &x, const Operand &values);
// The different elements that are in both tensors, and in one of them at least, and in a but not in b, in order.
// fill_value is the smallest of these, or of all elements.
CALQUE_API Tensor intersect1d(const Operand &a, const Operand &b, SizeOptions options = {});
CALQUE_API Tensor union1d(const Operand &a, const Operand &b, SizeOptions options = {});
CALQUE_API Tensor setdiff1d(const Operand &a, const Operand &b, SizeOptions options = {});

// For each element of v the place, as int64, where it would be inserted into the sorted vector `sorted` to keep the
// order: with side "left" in front of equal elements, with "right" behind them. NaN counts as largest. Takes time log n
// for each element, of n sorted ones. ShapeError unless `sorted` is a vector, ValueError for another side, DTypeError
// for different types.
CALQUE_API Tensor searchsorted(const Operand &sorted, const Operand &v, const std::string &side = "left");
// For each element of x the number of its bin: i if bins[i-1] <= x < bins[i], or with `right` bins[i-1] < x <= bins[i].
// The bins must increase. Unlike NumPy, refuses decreasing ones at run time.
CALQUE_API Tensor digitize(const Operand &x, const Operand &bins, bool right = false);

} // namespace calque
#endif
