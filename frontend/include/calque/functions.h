// The public functions on tensors. Those with a record in ir/ are generated; the others are declared here.
#ifndef CALQUE_FUNCTIONS_H
#define CALQUE_FUNCTIONS_H

#include "calque/assertions.h"
#include "calque/tensor.h"

#include <limits>
#include <string>
#include <utility>

namespace calque {

// Axes of a tensor: `sum(x, 1)`, `sum(x, {0, 2})`, `sum(x, axes)` of a std::vector. None, `{}`, mostly mean all.
class AxisList {
public:
  AxisList() = default;
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  AxisList(T axis) : numbers_{std::in_range<std::int64_t>(axis) ? static_cast<std::int64_t>(axis) : kTooLarge} {}
  AxisList(std::initializer_list<std::int64_t> axes) : numbers_(axes) {}
  AxisList(std::vector<std::int64_t> axes) : numbers_(std::move(axes)) {}

  const std::vector<std::int64_t> &numbers() const { return numbers_; }

private:
  // An axis that no tensor has: `rank() - 2` of a vector is no -1.
  static constexpr std::int64_t kTooLarge = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> numbers_;
};

#include "calque/functions.h.inc"

// These exact matches make `!x` unambiguous beside the conversion to bool.
CALQUE_API Tensor operator!(const Tensor &x);
CALQUE_API Tensor operator!(const Variable &x);
// Whether there is no gradient. Of this type alone: other optional values would convert to it.
template <std::same_as<std::optional<Tensor>> T> bool operator!(const T &x) { return !x.has_value(); }

// Of bool tensors, for all elements: logical_and, logical_or and logical_not. DTypeError for others.
inline Tensor operator&(const Operand &x, const Operand &y) { return logical_and(x, y); }
inline Tensor operator|(const Operand &x, const Operand &y) { return logical_or(x, y); }
inline Tensor operator~(const Operand &x) { return logical_not(x); }

// max and min are reductions, as in NumPy; the larger and the smaller of two are maximum and minimum. A plain 0 behind
// x may mean either, so that the compiler warns of it: max(x, {0}) is the reduction along axis 0.
[[deprecated(
    "max(x, 0) is the largest element along axis 0: write max(x, {0}) for it, and maximum(x, 0) for the larger "
    "of each element and 0")]]
inline Tensor max(const Operand &x, std::nullptr_t) {
  return max(x, AxisList(0));
}
[[deprecated("min(x, 0) is the smallest element along axis 0: write min(x, {0}) for it, and minimum(x, 0) for the "
             "smaller of each element and 0")]]
inline Tensor min(const Operand &x, std::nullptr_t) {
  return min(x, AxisList(0));
}
namespace detail {
template <typename T>
concept TensorOrVariable = std::same_as<T, Tensor> || std::same_as<T, Variable>;
} // namespace detail
// Before the two above where axes are in braces, and before the two below.
template <detail::TensorOrVariable T>
Tensor max(const T &x, std::initializer_list<std::int64_t> axes, SourceLocation where = SourceLocation::current()) {
  return max(Operand(x, where), AxisList(axes));
}
template <detail::TensorOrVariable T>
Tensor min(const T &x, std::initializer_list<std::int64_t> axes, SourceLocation where = SourceLocation::current()) {
  return min(Operand(x, where), AxisList(axes));
}
// More constrained than std::max and std::min, which under `using namespace std` compare two tensors as a condition.
template <detail::TensorOrVariable T> Tensor max(const T &x, const T &y) = delete; // the larger of two is maximum(x, y)
template <detail::TensorOrVariable T>
Tensor min(const T &x, const T &y) = delete;                                 // the smaller of two is minimum(x, y)
template <std::floating_point T> Tensor max(const Operand &x, T y) = delete; // the larger of two is maximum(x, y)
template <std::floating_point T> Tensor min(const Operand &x, T y) = delete; // the smaller of two is minimum(x, y)

// x rounded to so many decimals, and for a negative number to tens, hundreds and so on; halves go to the even digit. It
// is round(x * 10^decimals) / 10^decimals, as in NumPy, and x itself where that product is infinite. No gradient
// passes. DTypeError for other types than floats; ValueError for a power of ten that the type does not hold.
CALQUE_API Tensor round(const Operand &x, std::int64_t decimals);

// x = x + y and so on, at the line of y: another tensor takes the place of x, whose elements others may share.
inline Tensor &operator+=(Tensor &x, const Operand &y) { return x = add(Operand(x, y.where()), y); }
inline Tensor &operator-=(Tensor &x, const Operand &y) { return x = sub(Operand(x, y.where()), y); }
inline Tensor &operator*=(Tensor &x, const Operand &y) { return x = mul(Operand(x, y.where()), y); }
inline Tensor &operator/=(Tensor &x, const Operand &y) { return x = div(Operand(x, y.where()), y); }
inline Tensor &operator%=(Tensor &x, const Operand &y) { return x = fmod(Operand(x, y.where()), y); }
inline Tensor &operator&=(Tensor &x, const Operand &y) { return x = logical_and(Operand(x, y.where()), y); }
inline Tensor &operator|=(Tensor &x, const Operand &y) { return x = logical_or(Operand(x, y.where()), y); }
// x[0] += y would change a temporary: refused as x[0] = y is.
template <std::same_as<Tensor> T> void operator+=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator-=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator*=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator/=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator%=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator&=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator|=(T &&x, const Operand &y) { std::move(x) = y; }

// Of the default element type: one_hot(labels, 10).
inline Tensor one_hot(const Operand &indices, const Size &depth) { return one_hot(indices, depth, default_dtype()); }

struct MatmulOptions {
  bool transpose_a = false; // swap the last two dimensions of a
  bool transpose_b = false; // swap the last two dimensions of b
};
// The matrix product over the last two dimensions, of floats or integers. The other dimensions broadcast as in NumPy:
// [..., m, k] times [..., k, n] is [..., m, n]. ShapeError for rank below 2 or sizes that don't fit, DTypeError for
// different element types.
CALQUE_API Tensor matmul(const Operand &a, const Operand &b, MatmulOptions options = {});

// The size of x along an axis, and the number of its elements, as an int64 scalar; in a function each call computes it.
// ValueError for an axis that x does not have.
CALQUE_API Tensor size(const Operand &x, std::int64_t axis);
CALQUE_API Tensor size(const Operand &x);

// Tensors of one type and shape next to each other along a new axis of the result, which may count from its end.
// ValueError for no tensors and for an axis that the result does not have, ShapeError and DTypeError for tensors that
// differ.
CALQUE_API Tensor stack(const std::vector<Tensor> &tensors, std::int64_t axis = 0,
                        SourceLocation where = SourceLocation::current());
namespace detail {
CALQUE_API std::vector<Tensor> splitEvenly(const Operand &x, std::int64_t parts, std::int64_t axis);
}
// Splits x into a number of equal parts along an axis: split(x, 3). ValueError for less than one part, and if the
// number does not divide the size of the axis; if that size is unknown while tracing, the call throws a ShapeError.
// Sizes in braces are those of the parts: split(x, {3}).
template <typename N>
  requires(std::integral<N> && !std::same_as<N, bool>)
std::vector<Tensor> split(const Operand &x, N parts, std::int64_t axis = 0) {
  return detail::splitEvenly(x, static_cast<std::int64_t>(parts), axis);
}
// The slices of x along an axis, without that axis. StateError if the size of the axis is unknown while tracing.
CALQUE_API std::vector<Tensor> unstack(const Operand &x, std::int64_t axis = 0);
// x without dimensions of size 1: the given axes, or all such dimensions. ShapeError for an axis of another size; the
// call throws it if the size is unknown while tracing. StateError if no axes are given and a size is unknown.
CALQUE_API Tensor squeeze(const Operand &x, const AxisList &axes = {});
// x repeated along each dimension, as numpy.tile: the shorter one of the shape and the list of numbers gets ones in
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

struct Histogram {
  Tensor counts, edges; // the counts are int64, the edges of the type of x
};
// How many elements of x are in each of `bins` intervals of one length, as numpy.histogram: from the smallest element
// to the largest one, from 0 to 1 if there are none, and half a unit around them if all are equal. The last interval
// has both its edges, the others the first alone. No gradient passes. DTypeError for other types than floats,
// ValueError for no bins; AssertionError, at run time, for NaN and infinity.
CALQUE_API Histogram histogram(const Operand &x, std::int64_t bins);

// Einstein's sum of products, as numpy.einsum with letters: "bij,bjk->bik" is a batch of matrix products, "ii->" a
// trace, "ij->ji" a transpose. A letter that the result lacks is summed over; without an arrow the result has the
// letters that stand once, in the order of the alphabet. "..." stands for the other dimensions of a tensor, which
// broadcast as in NumPy: "...ij,...jk->...ik"; without an arrow they come first. Of several tensors the first two are
// multiplied first.
// ValueError for subscripts that are none of these, ShapeError for tensors that they don't fit; StateError for a letter
// that stands twice in a tensor whose sizes are not known.
CALQUE_API Tensor einsum(const std::string &equation, const std::vector<Tensor> &tensors,
                         SourceLocation where = SourceLocation::current());

//===-- Indices ---------------------------------------------------------------------------------===//
// The functions below write slices as `gather` reads them: the updates are shaped like gather(x, indices, axis). They
// go one after the other, so that the result does not depend on threads. IndexError, at run time, for an index outside
// of [0, size of the axis); ShapeError and DTypeError for updates of another shape or type than gather gives;
// ValueError for an axis that x does not have. scatter_nd_set, scatter_nd_add and scatter_nd_max write as gather_nd
// reads.

// x with the updates in place of the slices at the indices; of equal indices the last one counts, also for the
// gradient.
CALQUE_API Tensor scatter_set(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis = 0);
// x with the updates added to the slices at the indices, in their order. DTypeError for bool, too.
CALQUE_API Tensor scatter_add(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis = 0);
// x with the larger of each element and the updates in the slices at the indices; NaN if one is. Equal ones share the
// gradient. DTypeError for bool, too.
CALQUE_API Tensor scatter_max(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis = 0);

//===-- Windows ---------------------------------------------------------------------------------===//
// Windows slide over images, whose channels are the last dimension: [N,W,C], [N,H,W,C] or [N,D,H,W,C].

// Padding around images. "valid" is none. With "same", the result has the sizes of the images divided by the strides,
// rounded up; an odd number of places has one more at the end. {{1, 2}, {0, 3}} gives a number before and a number
// behind the images in each dimension. A convolution reads zeros in the padding, and pooling ignores it.
class CALQUE_API Padding {
public:
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Padding(const char *name) : name_(name) {}
  Padding(std::string name) : name_(std::move(name)) {}
  Padding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : Padding(Pairs(pairs)) {}
  Padding(const Pairs &pairs);

  const std::string &name() const { return name_; }
  // The numbers before and behind each dimension, one after the other; none of "same" and "valid".
  const std::vector<std::int64_t> &numbers() const { return numbers_; }

private:
  std::string name_ = "valid";
  std::vector<std::int64_t> numbers_;
};

struct ConvOptions {
  std::vector<std::int64_t> strides = {}; // a number for each dimension; none mean 1
  Padding padding = "valid";
  std::vector<std::int64_t> dilations = {}; // how far apart the elements of a window lie; none mean 1
  std::int64_t groups = 1;                  // filter f sees the channels of group f / (F / groups) alone
};
// The convolution of images with filters [W,C/groups,F], [H,W,C/groups,F] or [D,H,W,C/groups,F], of floats. ShapeError
// for operands of another rank, for filters whose window is empty, and for channels or filters that don't fit the
// groups; DTypeError for other types and for operands of different types; ValueError for strides, dilations or padding
// of another number than the dimensions of the window, for strides, dilations and groups that are not positive, for
// negative padding and for padding of another name.
CALQUE_API Tensor conv(const Operand &input, const Operand &filter, ConvOptions options = {});
// The convolution of images [N,H,W,C] with filters [KH,KW,C,F]. Errors are those of conv.
CALQUE_API Tensor conv2d(const Operand &input, const Operand &filter, std::vector<std::int64_t> strides = {1, 1},
                         Padding padding = "valid");

struct DepthwiseOptions {
  std::vector<std::int64_t> strides = {};
  Padding padding = "valid";
  std::vector<std::int64_t> dilations = {};
};
// Each channel of images [N,H,W,C] with its own M filters of [KH,KW,C,M], whose results stand next to each other in the
// C M channels of the result, as in Keras. Errors are those of conv.
CALQUE_API Tensor depthwise_conv2d(const Operand &input, const Operand &filter, DepthwiseOptions options = {});

struct ConvTransposeOptions {
  std::vector<std::int64_t> strides = {};
  std::string padding = "valid"; // or "same"
  // Added to the sizes of the result; less than the stride or the dilation. Without it the sizes are those below.
  std::vector<std::int64_t> output_padding = {};
  std::vector<std::int64_t> dilations = {};
};
// The transpose of a convolution, as in Keras: images [N,...,C] and filters [...,F,C] give [N,...,F]. For "same" the
// sizes are multiplied by the strides; for "valid" the result is larger by as much as a window is larger than its
// stride. With output_padding they are (size - 1) stride + window - 2 pad + output_padding, where pad is 0 for "valid"
// and window / 2, rounded down, for "same", and a window has (taps - 1) dilation + 1 elements. Errors are those of
// conv, and ValueError for output padding that is negative, or not less than the stride or the
// dilation.
CALQUE_API Tensor conv_transpose(const Operand &input, const Operand &filter, ConvTransposeOptions options = {});

struct PoolOptions {
  std::vector<std::int64_t> strides = {}; // none mean the window's sizes
  Padding padding = "valid";
};
enum class WindowReduction : std::uint8_t { Max, Sum, Mean };
// The largest element, the sum or the mean of each window of images, of floats, with one size of the window for each
// dimension between N and C. Padding is left out: a mean is that of the elements of the images in the window. The
// gradient of Max goes to the first largest element, and NaN counts as largest. ShapeError for images of another rank
// than the window's and two; DTypeError for other types; ValueError for a window or strides that are not one to three
// positive numbers, and for padding as in conv, and that is not less than the window.
CALQUE_API Tensor reduce_window(const Operand &input, WindowReduction reduction, std::vector<std::int64_t> window,
                                PoolOptions options = {});
// reduce_window with Max and with Mean.
CALQUE_API Tensor max_pool(const Operand &input, std::vector<std::int64_t> window, PoolOptions options = {});
CALQUE_API Tensor average_pool(const Operand &input, std::vector<std::int64_t> window, PoolOptions options = {});
// max_pool of images [N,H,W,C].
CALQUE_API Tensor max_pool2d(const Operand &input, std::vector<std::int64_t> window, std::vector<std::int64_t> strides,
                             Padding padding = "valid");

} // namespace calque
#endif
