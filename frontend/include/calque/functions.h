// The public functions on tensors. The declarations of functions with a record in ir/ are generated; the others are in
// this file.
#ifndef CALQUE_FUNCTIONS_H
#define CALQUE_FUNCTIONS_H

#include "calque/assertions.h"
#include "calque/tensor.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace calque {

// Axes of a tensor: `sum(x, 1)`, `sum(x, {0, 2})`, `sum(x, axes)` of a std::vector. In most functions, the empty list
// `{}` means all axes.
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
  // An axis that no tensor has. An unsigned `rank - 2` of a vector is a huge number, and must not become -1.
  static constexpr std::int64_t kTooLarge = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> numbers_;
};

#include "calque/functions.h.inc"

// These exact matches make `!x` unambiguous beside the conversion to bool.
CALQUE_API Tensor operator!(const Tensor &x);
CALQUE_API Tensor operator!(const Variable &x);
// Whether there is no gradient. A template, because other types would convert to std::optional<Tensor>.
template <std::same_as<std::optional<Tensor>> T> bool operator!(const T &x) { return !x.has_value(); }

// Of bool tensors logical_and, logical_or, logical_xor and logical_not, of integers bitwise_and and so on, elementwise.
// DTypeError for floats.
CALQUE_API Tensor operator&(const Operand &x, const Operand &y);
CALQUE_API Tensor operator|(const Operand &x, const Operand &y);
CALQUE_API Tensor operator^(const Operand &x, const Operand &y);
CALQUE_API Tensor operator~(const Operand &x);

// max and min are reductions, as in NumPy. maximum and minimum choose the larger and the smaller of two. max(x, 0) may
// be meant either way, so the compiler warns. Write max(x, {0}) for the reduction along axis 0.
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
// left_shift and right_shift. Templates, so that no stream and no C++ number is taken for a tensor: left_shift(1, x).
template <detail::TensorOrVariable T> Tensor operator<<(const T &x, const Operand &count) {
  return left_shift(Operand(x, count.where()), count);
}
template <detail::TensorOrVariable T> Tensor operator>>(const T &x, const Operand &count) {
  return right_shift(Operand(x, count.where()), count);
}
// For axes in braces, C++ prefers these to the two overloads above and to the deleted overloads below.
template <detail::TensorOrVariable T>
Tensor max(const T &x, std::initializer_list<std::int64_t> axes, SourceLocation where = SourceLocation::current()) {
  return max(Operand(x, where), AxisList(axes));
}
template <detail::TensorOrVariable T>
Tensor min(const T &x, std::initializer_list<std::int64_t> axes, SourceLocation where = SourceLocation::current()) {
  return min(Operand(x, where), AxisList(axes));
}
// These are more constrained than std::max and std::min. Under `using namespace std`, std::max would compare two
// tensors and use the result as a condition.
template <detail::TensorOrVariable T> Tensor max(const T &x, const T &y) = delete; // the larger of two is maximum(x, y)
template <detail::TensorOrVariable T>
Tensor min(const T &x, const T &y) = delete;                                 // the smaller of two is minimum(x, y)
template <std::floating_point T> Tensor max(const Operand &x, T y) = delete; // the larger of two is maximum(x, y)
template <std::floating_point T> Tensor min(const Operand &x, T y) = delete; // the smaller of two is minimum(x, y)

// Rounds x to a number of decimals; a negative number rounds to tens, hundreds and so on. Halves are rounded to the
// even digit. The result is round(x * 10^decimals) / 10^decimals, as in NumPy, or x where that product is infinite. No
// gradient passes. DTypeError for types other than floats; ValueError for a power of ten that the type does not hold.
CALQUE_API Tensor round(const Operand &x, std::int64_t decimals);

// x += y is x = x + y, and so on. Errors name the line of y. The handle x gets another tensor; the elements of the old
// one don't change, because other handles may share them.
inline Tensor &operator+=(Tensor &x, const Operand &y) { return x = add(Operand(x, y.where()), y); }
inline Tensor &operator-=(Tensor &x, const Operand &y) { return x = sub(Operand(x, y.where()), y); }
inline Tensor &operator*=(Tensor &x, const Operand &y) { return x = mul(Operand(x, y.where()), y); }
inline Tensor &operator/=(Tensor &x, const Operand &y) { return x = div(Operand(x, y.where()), y); }
inline Tensor &operator%=(Tensor &x, const Operand &y) { return x = fmod(Operand(x, y.where()), y); }
inline Tensor &operator&=(Tensor &x, const Operand &y) { return x = Operand(x, y.where()) & y; }
inline Tensor &operator|=(Tensor &x, const Operand &y) { return x = Operand(x, y.where()) | y; }
inline Tensor &operator^=(Tensor &x, const Operand &y) { return x = Operand(x, y.where()) ^ y; }
inline Tensor &operator<<=(Tensor &x, const Operand &y) { return x = left_shift(Operand(x, y.where()), y); }
inline Tensor &operator>>=(Tensor &x, const Operand &y) { return x = right_shift(Operand(x, y.where()), y); }
// x[0] += y would change a temporary. It does not compile, like x[0] = y.
template <std::same_as<Tensor> T> void operator+=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator-=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator*=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator/=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator%=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator&=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator|=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator^=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator<<=(T &&x, const Operand &y) { std::move(x) = y; }
template <std::same_as<Tensor> T> void operator>>=(T &&x, const Operand &y) { std::move(x) = y; }

// one_hot with the default element type: one_hot(labels, 10).
inline Tensor one_hot(const Operand &indices, const Size &depth) { return one_hot(indices, depth, default_dtype()); }

struct MatmulOptions {
  bool transpose_a = false; // swap the last two dimensions of a
  bool transpose_b = false; // swap the last two dimensions of b
};
// The matrix product over the last two dimensions, of floats or integers: [..., m, k] times [..., k, n] is [..., m, n].
// The other dimensions broadcast as in NumPy. A vector on the left counts as a row, and one on the right as a column;
// the result lacks that dimension: [m, k] times [k] is [m], and [k] times [k] a scalar. ShapeError for scalars, for
// sizes that don't fit, and for a vector that is to be transposed. DTypeError for different element types.
CALQUE_API Tensor matmul(const Operand &a, const Operand &b, MatmulOptions options = {});

// size(x, axis) is the size of x along an axis, size(x) the number of its elements. Both are int64 scalars. In a traced
// function each call computes them. ValueError for an axis that x does not have.
CALQUE_API Tensor size(const Operand &x, std::int64_t axis);
CALQUE_API Tensor size(const Operand &x);

// Stacks tensors of one type and shape along a new axis of the result. A negative axis counts from the end of the
// result's axes. ValueError for no tensors and for an axis that the result does not have. ShapeError or DTypeError for
// tensors that differ.
CALQUE_API Tensor stack(const std::vector<Tensor> &tensors, std::int64_t axis = 0,
                        SourceLocation where = SourceLocation::current());
namespace detail {
CALQUE_API std::vector<Tensor> splitEvenly(const Operand &x, std::int64_t parts, std::int64_t axis);
}
// Splits x into a number of equal parts along an axis: split(x, 3). ValueError for a number below 1, and for a number
// that does not divide the size of the axis. If that size is unknown while tracing, the call throws a ShapeError
// instead. A list in braces has the sizes of the parts: split(x, {3}).
template <typename N>
  requires(std::integral<N> && !std::same_as<N, bool>)
std::vector<Tensor> split(const Operand &x, N parts, std::int64_t axis = 0) {
  return detail::splitEvenly(x, static_cast<std::int64_t>(parts), axis);
}
// The slices of x along an axis, without that axis. StateError if the size of the axis is unknown while tracing.
CALQUE_API std::vector<Tensor> unstack(const Operand &x, std::int64_t axis = 0);
// Removes dimensions of size 1: the given axes, or all such dimensions if no axes are given. ShapeError for an axis of
// another size; if the size is unknown while tracing, the call throws the error. StateError if no axes are given and a
// size is unknown.
CALQUE_API Tensor squeeze(const Operand &x, const AxisList &axes = {});
// Repeats x along each dimension, as numpy.tile does. If the shape and the list of numbers have different lengths, the
// shorter one gets ones in front. ValueError for a negative number.
CALQUE_API Tensor tile(const Operand &x, std::vector<std::int64_t> repeats);
// The number of zeros before the highest bit of x that is 1: all bits of the type for 0, none for negative numbers. It
// is the number of bits less bit_length(x). DTypeError for types other than integers.
CALQUE_API Tensor count_leading_zeros(const Operand &x);

// The parts of complex numbers, of the type of the parts, and their angles in radians from -pi to pi, with the cut
// along the negative numbers. A real number is its own real part; its imaginary part is 0, and its angle 0 or pi.
// Gradients pass but for the angle of real numbers. DTypeError for integers and bool. complex(real, imag) is the
// inverse.
CALQUE_API Tensor real(const Operand &x);
CALQUE_API Tensor imag(const Operand &x);
CALQUE_API Tensor angle(const Operand &x);
// The complex conjugate: the imaginary part negated. A real number is its own. DTypeError for integers and bool.
CALQUE_API Tensor conj(const Operand &x);

// log(exp(x) + exp(y)), which does not overflow: the larger operand plus softplus(-|x - y|). Infinite operands and NaN
// as in NumPy. Both operands broadcast. DTypeError for types other than floats.
CALQUE_API Tensor logaddexp(const Operand &x, const Operand &y);

// The derivative of order n of digamma: (-1)^(n + 1) n! zeta(n + 1, x), digamma for n = 0 and trigamma for n = 1. For n
// above 1 it is infinite at 0 and at negative integers, and NaN at other negative numbers. Its derivative is the next
// order, up to the last one. ValueError for n below 0, and for n whose factorial the type of x does not have: above 34,
// of float64 above 170 and of float16 above 8. DTypeError for types other than floats.
CALQUE_API Tensor polygamma(std::int64_t n, const Operand &x);

// x is significand * 2^exponent, where the magnitude of the significand is in [0.5, 1); 0, infinities and NaN are
// significands with the exponent 0. The exponents are int32. The gradient passes to the significand. DTypeError for
// types other than floats.
struct Frexp {
  Tensor significand, exponent;
};
CALQUE_API Frexp frexp(const Operand &x);
// x * 2^exponent, rounded once, where x may be subnormal and 2^exponent no number of the type. Both broadcast. The
// gradient passes to x. DTypeError for x of other types than floats and for exponents that are no integers.
CALQUE_API Tensor ldexp(const Operand &x, const Operand &exponent);

struct NanToNumOptions {
  double nan = 0;                       // what NaN becomes
  std::optional<double> posinf, neginf; // what infinities become; nothing: the largest and smallest number of the type
};
// x without NaN and infinities, as numpy.nan_to_num makes it. The gradient passes where x is finite. DTypeError for
// types other than floats.
CALQUE_API Tensor nan_to_num(const Operand &x, NanToNumOptions options = {});

// x where x is within [low, high], else the nearer bound. Where low is larger than high, the result is high. NaN stays
// NaN. All three operands broadcast. The gradient passes to x where x is within the bounds or equal to one of them.
// Errors are those of maximum.
CALQUE_API Tensor clip(const Operand &x, const Operand &low, const Operand &high);

// Sorts the elements of x along an axis. NaN counts as the largest element. The gradient of each element passes to the
// place in x that the element comes from. ValueError for an axis that x does not have.
CALQUE_API Tensor sort(const Operand &x, std::int64_t axis = -1, bool descending = false);

struct TopK {
  Tensor values, indices; // the indices are int64
};
// The k largest elements along an axis, and their indices. The largest element is first. Equal elements keep their
// order. NaN counts as the largest element. ValueError for a negative k and for an axis that x does not have,
// ShapeError if k is larger than the axis.
CALQUE_API TopK top_k(const Operand &x, std::int64_t k, std::int64_t axis = -1);

struct Histogram {
  Tensor counts, edges; // the counts are int64, the edges of the type of x
};
// Counts the elements of x in each of `bins` intervals of equal length, as numpy.histogram does. The intervals reach
// from the smallest element to the largest. If x has no elements, they reach from 0 to 1. If all elements are equal,
// they reach half a unit to both sides. The last interval contains both its edges, the others contain the first edge
// alone. No gradient passes. DTypeError for types other than floats, ValueError for no bins. AssertionError, at run
// time, for NaN and infinity.
CALQUE_API Histogram histogram(const Operand &x, std::int64_t bins);

// Einstein's sum of products, as numpy.einsum with letters: "bij,bjk->bik" is a batch of matrix products, "ii->" a
// trace, "ij->ji" a transpose. A letter that the result lacks is summed over. Without an arrow, the result has the
// letters that occur once, in alphabetical order. "..." stands for the other dimensions of a tensor, which broadcast as
// in NumPy: "...ij,...jk->...ik". Without an arrow these dimensions come first. Several tensors are multiplied two at a
// time, in the order that takes the fewest multiplications of up to 8 tensors, and few of more; an unknown size counts
// as 64.
// ValueError for other subscripts. ShapeError for tensors that the subscripts don't fit. StateError for a letter that
// occurs twice in a tensor of unknown sizes.
CALQUE_API Tensor einsum(const std::string &equation, const std::vector<Tensor> &tensors,
                         SourceLocation where = SourceLocation::current());

//===-- Indices ---------------------------------------------------------------------------------===//
// The functions below write the slices that `gather` reads: the updates have the shape of gather(x, indices, axis). The
// updates are written one after the other, so that the result does not depend on threads. IndexError, at run time, for
// an index outside of [0, size of the axis). ShapeError and DTypeError for updates that do not have the shape and type
// of gather's result. ValueError for an axis that x does not have. scatter_nd_set, scatter_nd_add and scatter_nd_max
// write the slices that gather_nd reads.

// Replaces the slices of x at the indices by the updates. Of equal indices the last one counts, also for the gradient.
CALQUE_API Tensor scatter_set(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis = 0);
// Adds the updates to the slices of x at the indices, in order. DTypeError for bool, too.
CALQUE_API Tensor scatter_add(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis = 0);
// Replaces each element of the slices of x at the indices by the largest of itself and its updates, or by NaN if one of
// these is NaN. Equal largest values share the gradient. DTypeError for bool, too.
CALQUE_API Tensor scatter_max(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis = 0);

//===-- Windows ---------------------------------------------------------------------------------===//
// Windows slide over images. The channels of the images are the last dimension: [N,W,C], [N,H,W,C] or [N,D,H,W,C].

// Padding around images. "valid" is no padding. With "same", the result has the sizes of the images divided by the
// strides, rounded up; if the padding of a dimension is odd, one more place is at its end. {{1, 2}, {0, 3}} is a pair
// for each dimension: the padding before and the padding behind the images. A convolution reads zeros in the padding,
// and pooling ignores it.
class CALQUE_API Padding {
public:
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Padding(const char *name) : name_(name) {}
  Padding(std::string name) : name_(std::move(name)) {}
  Padding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : Padding(Pairs(pairs)) {}
  Padding(const Pairs &pairs);

  const std::string &name() const { return name_; }
  // The padding before and behind each dimension, one number after the other. Empty for "same" and "valid".
  const std::vector<std::int64_t> &numbers() const { return numbers_; }

private:
  std::string name_ = "valid";
  std::vector<std::int64_t> numbers_;
};

struct ConvOptions {
  std::vector<std::int64_t> strides = {}; // one for each dimension; empty: 1
  Padding padding = "valid";
  std::vector<std::int64_t> dilations = {}; // the distances of a window's elements; empty: 1
  std::int64_t groups = 1;                  // filter f sees the channels of group f / (F / groups) alone
};
// The convolution of images with filters [W,C/groups,F], [H,W,C/groups,F] or [D,H,W,C/groups,F], of floats. ShapeError
// for operands of another rank, for filters whose window is empty, and for channels or filters that don't fit the
// groups. DTypeError for types other than floats and for operands of different types. ValueError if the number of
// strides, dilations or paddings is not the number of the window's dimensions, for strides, dilations and groups that
// are not positive, for negative padding, and for padding of another name.
CALQUE_API Tensor conv(const Operand &input, const Operand &filter, ConvOptions options = {});
// The convolution of images [N,H,W,C] with filters [KH,KW,C,F]. Errors are those of conv.
CALQUE_API Tensor conv2d(const Operand &input, const Operand &filter, std::vector<std::int64_t> strides = {1, 1},
                         Padding padding = "valid");

struct DepthwiseOptions {
  std::vector<std::int64_t> strides = {};
  Padding padding = "valid";
  std::vector<std::int64_t> dilations = {};
};
// Convolves each channel of images [N,H,W,C] with M filters of its own, of [KH,KW,C,M]. The M results of a channel are
// next to each other in the C M channels of the result, as in Keras. Errors are those of conv.
CALQUE_API Tensor depthwise_conv2d(const Operand &input, const Operand &filter, DepthwiseOptions options = {});

struct ConvTransposeOptions {
  std::vector<std::int64_t> strides = {};
  std::string padding = "valid"; // or "same"
  // Added to the sizes of the result, by the formula below. Must be less than the stride or the dilation. Empty: the
  // sizes depend on `padding` alone.
  std::vector<std::int64_t> output_padding = {};
  std::vector<std::int64_t> dilations = {};
};
// The transpose of a convolution, as in Keras: images [N,...,C] and filters [...,F,C] give [N,...,F]. With "same", the
// sizes of the result are those of the images times the strides. With "valid", each size is also increased by the
// window minus the stride, if the window is larger. With output_padding, each size is (size - 1) stride + window - 2
// pad + output_padding. There pad is 0 for "valid", and window / 2, rounded down, for "same"; window is (taps - 1)
// dilation + 1. Errors are those of conv, and ValueError for output padding that is negative, or not less than the
// stride or the dilation.
CALQUE_API Tensor conv_transpose(const Operand &input, const Operand &filter, ConvTransposeOptions options = {});

struct PoolOptions {
  std::vector<std::int64_t> strides = {}; // empty: the window's sizes
  Padding padding = "valid";
};
enum class WindowReduction : std::uint8_t { Max, Sum, Mean };
// Computes the largest element, the sum or the mean of each window of images, of floats. The window has one size for
// each dimension between N and C. Padding is ignored: a mean is taken over those elements of the window that are in the
// images. The gradient of Max passes to the first of the largest elements. NaN counts as largest. ShapeError if the
// rank of the images is not the number of the window's sizes plus two. DTypeError for types other than floats.
// ValueError for a window or strides that are not one to three positive numbers, for padding that conv refuses, and for
// padding that is not less than the window.
CALQUE_API Tensor reduce_window(const Operand &input, WindowReduction reduction, std::vector<std::int64_t> window,
                                PoolOptions options = {});
// reduce_window with Max, and with Mean.
CALQUE_API Tensor max_pool(const Operand &input, std::vector<std::int64_t> window, PoolOptions options = {});
CALQUE_API Tensor average_pool(const Operand &input, std::vector<std::int64_t> window, PoolOptions options = {});
// max_pool of images [N,H,W,C].
CALQUE_API Tensor max_pool2d(const Operand &input, std::vector<std::int64_t> window, std::vector<std::int64_t> strides,
                             Padding padding = "valid");

} // namespace calque
#endif
