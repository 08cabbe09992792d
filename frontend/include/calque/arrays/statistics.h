// Statistics: spread, quantiles, counts, and sums over groups of elements. mean, max, argmax and histogram(x, bins) are
// in functions.h.
//
//   var(x, 0, {.ddof = 1});                 // the sample's variance along axis 0
//   quantile(x, tensor({0.25f, 0.75f}), 1); // [2, rows]
//   segment_sum(x, ids, 10);                // the sums of the entries with id 0, 1, ..., 9
#ifndef CALQUE_ARRAYS_STATISTICS_H
#define CALQUE_ARRAYS_STATISTICS_H

#include "calque/functions.h"

namespace calque {

//===-- Spread ----------------------------------------------------------------------------------===//
// Of floats; all but ptp also of complex numbers. Axes are those of sum(): the empty list means all.

struct VarOptions {
  double ddof = 0; // the sum of squares is divided by n - ddof; 1 makes the estimate from a sample unbiased
  bool keepdims = false;
};
// The mean of the squares of the distances from the mean. The squares are of the differences, so that no digits are
// lost where the mean is large; of complex numbers, those of the distances' magnitudes. NaN or infinity if n - ddof is
// not above 0.
CALQUE_API Tensor var(const Operand &x, AxisList axes = {}, VarOptions options = {});
// The standard deviation, the square root of var(). NumPy's name is std. The gradient is NaN where the result is 0.
CALQUE_API Tensor stddev(const Operand &x, AxisList axes = {}, VarOptions options = {});
// The largest element minus the smallest one.
CALQUE_API Tensor ptp(const Operand &x, AxisList axes = {}, bool keepdims = false);
// sum(x * weights) / sum(weights). The weights have the shape of x, or are a vector along the only axis. ShapeError for
// other weights.
CALQUE_API Tensor average(const Operand &x, const Operand &weights, AxisList axes = {}, bool keepdims = false);

struct CovOptions {
  bool rowvar = true; // variables are rows and samples are columns, or the other way around
  double ddof = 1;
};
// The covariances of variables, [m, m] of m variables; a scalar of one. Of complex numbers, the second one of two is
// conjugated. corrcoef divides them by the standard deviations. ShapeError for a rank above 2.
CALQUE_API Tensor cov(const Operand &x, CovOptions options = {});
CALQUE_API Tensor corrcoef(const Operand &x, bool rowvar = true);

//===-- Quantiles -------------------------------------------------------------------------------===//

struct QuantileOptions {
  // What is taken if the place is between two elements: their linear interpolation "linear", "lower", "higher",
  // "midpoint", or "nearest", of equally near ones that of the even index.
  std::string method = "linear";
  bool keepdims = false;
};
// The element of each slice at the place q (n - 1) of its n elements in order, for q in [0, 1]: a number or a float
// tensor, whose dimensions come first in the result. NaN if one of the elements is NaN. Gradients pass to the elements
// and to q. Sorts the slices: time n log n. DTypeError for types other than floats; ValueError for another method, and
// for a number outside of [0, 1]; AssertionError, at run time, for a tensor with such elements. ShapeError for slices
// without elements, or IndexError at run time.
CALQUE_API Tensor quantile(const Operand &x, const Operand &q, AxisList axes = {}, QuantileOptions options = {});
// quantile for q / 100.
CALQUE_API Tensor percentile(const Operand &x, const Operand &q, AxisList axes = {}, QuantileOptions options = {});
// quantile for 1/2.
CALQUE_API Tensor median(const Operand &x, AxisList axes = {}, bool keepdims = false);

//===-- Without NaN -----------------------------------------------------------------------------===//
// The statistics of the elements that are not NaN. Where all are, the sum is 0, the product 1, and the others NaN.
// Sums, products, means and spreads are also of complex numbers, which are NaN where a part is.

CALQUE_API Tensor nansum(const Operand &x, AxisList axes = {}, bool keepdims = false);
CALQUE_API Tensor nanprod(const Operand &x, AxisList axes = {}, bool keepdims = false);
CALQUE_API Tensor nanmax(const Operand &x, AxisList axes = {}, bool keepdims = false);
CALQUE_API Tensor nanmin(const Operand &x, AxisList axes = {}, bool keepdims = false);
CALQUE_API Tensor nanmean(const Operand &x, AxisList axes = {}, bool keepdims = false);
CALQUE_API Tensor nanvar(const Operand &x, AxisList axes = {}, VarOptions options = {});
CALQUE_API Tensor nanstd(const Operand &x, AxisList axes = {}, VarOptions options = {});
CALQUE_API Tensor nanquantile(const Operand &x, const Operand &q, AxisList axes = {}, QuantileOptions options = {});
CALQUE_API Tensor nanmedian(const Operand &x, AxisList axes = {}, bool keepdims = false);

//===-- Counts and groups -----------------------------------------------------------------------===//

struct BincountOptions {
  std::optional<Tensor> weights = {};      // added up in place of ones
  std::int64_t minlength = 0;              // the result has at least so many elements
  std::optional<std::int64_t> length = {}; // or just so many; larger numbers are left out
};
// How often each of the numbers 0, 1, ... is in a vector of integers, as int64. Eagerly the result ends with the
// largest number; in a trace `length` must be given, else the call is a StateError. DTypeError for other types,
// ShapeError for other ranks and for weights of another shape; AssertionError, at run time, for negative numbers.
CALQUE_API Tensor bincount(const Operand &x, BincountOptions options = {});

struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {}; // for a number of bins
  std::optional<Tensor> weights = {};                  // of the shape of x, added up in place of ones
  bool density = false;                                // the counts divided by their sum and the widths of the bins
};
// The histogram with bins between edges, which increase. A bin contains its first edge; the last one contains both. NaN
// and what is outside is not counted. With weights or density, `counts` has their or the edges' type. Takes time log b
// of b bins for each element. ShapeError for edges that are no vector; ValueError for fewer than two edges, and for a
// range; AssertionError, at run time, for edges that decrease.
CALQUE_API Histogram histogram(const Operand &x, const Tensor &edges, HistogramOptions options = {});
// The histogram with a number of equal bins in the range, or between the smallest and the largest element.
CALQUE_API Histogram histogram(const Operand &x, std::int64_t bins, HistogramOptions options);

struct Histogram2d {
  Tensor counts, x_edges, y_edges; // [x bins, y bins]
};
struct Histogram2dOptions {
  std::optional<Tensor> weights = {}; // of the shape of x, added up in place of ones
  bool density = false;               // the counts divided by their sum and the areas of the bins
};
// The histogram of pairs of numbers, of one shape and type, with bins between edges. Errors are those of histogram.
CALQUE_API Histogram2d histogram2d(const Operand &x, const Operand &y, const Tensor &x_edges, const Tensor &y_edges,
                                   Histogram2dOptions options = {});

// The sums, largest and smallest elements, and means of the entries of x with the same id, for the ids 0, 1,
// ... before num_segments. `ids` are integers, whose shape is that of the first axes of x. Ids may be in any order. A
// sum of no entries is 0, a mean NaN, and the largest and the smallest of none are the ends of the type. Eagerly
// num_segments may be left out, and is the largest id plus 1; in a trace this is a StateError. IndexError, at run time,
// for ids outside.
CALQUE_API Tensor segment_sum(const Operand &x, const Operand &ids, std::optional<std::int64_t> num_segments = {});
CALQUE_API Tensor segment_max(const Operand &x, const Operand &ids, std::optional<std::int64_t> num_segments = {});
CALQUE_API Tensor segment_min(const Operand &x, const Operand &ids, std::optional<std::int64_t> num_segments = {});
CALQUE_API Tensor segment_mean(const Operand &x, const Operand &ids, std::optional<std::int64_t> num_segments = {});

//===-- Comparisons -----------------------------------------------------------------------------===//

struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
// Whether |a - b| <= atol + rtol |b|, of each element and of all. Infinities are close if they are equal. Integers are
// compared in float64.
CALQUE_API Tensor isclose(const Operand &a, const Operand &b, CloseOptions options = {});
CALQUE_API Tensor allclose(const Operand &a, const Operand &b, CloseOptions options = {});
// Whether two tensors have one shape and equal elements, as a bool scalar. StateError for sizes that are unknown while
// tracing, unless the shapes differ in other sizes.
CALQUE_API Tensor array_equal(const Operand &a, const Operand &b, bool equal_nan = false);

} // namespace calque
#endif
