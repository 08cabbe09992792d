// conv_integer of calque/quantized.h.
#include "calque/quantized.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/moving.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/ArrayCalls.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <limits>

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

namespace {

using Ints = std::vector<std::int64_t>;

// A convolution whose sizes are known, of images along whose dimensions a window slides.
struct Sliding {
  Ints window, strides, dilations, low, high, places;
  std::int64_t channels = 0, groups = 1; // channels: of a group

  std::size_t rank() const { return window.size(); }
};

// The number of products in a sum; more than any float can add up where the filters' sizes are unknown.
std::int64_t termsOf(const Shape &filters) {
  std::int64_t terms = 1;
  for (std::size_t i = 0; i + 1 < filters.size(); ++i)
    if (!filters[i].is_known() || __builtin_mul_overflow(terms, std::int64_t(filters[i]), &terms))
      return std::numeric_limits<std::int64_t>::max();
  return terms;
}

// What is known of a convolution while tracing, or nothing where the operation itself has to look at its operands.
std::optional<Sliding> slidingOf(const Shape &images, const Shape &filters, const IntegerConvOptions &options) {
  const std::size_t rank = images.size() - 2;
  Sliding s;
  s.strides = options.strides;
  s.dilations = options.dilations.empty() ? Ints(rank, 1) : options.dilations;
  const Ints &padding = options.padding.numbers();
  const bool isSame = options.padding.name() == "same";
  auto isBelow = [](const Ints &numbers, std::int64_t least) {
    return std::ranges::any_of(numbers, [=](std::int64_t n) { return n < least; });
  };
  if (s.dilations.size() != rank || isBelow(s.strides, 1) || isBelow(s.dilations, 1) || isBelow(padding, 0) ||
      (!padding.empty() && padding.size() != 2 * rank) ||
      (padding.empty() && !isSame && options.padding.name() != "valid") || !filters.is_known() ||
      !images.back().is_known() || options.groups < 1)
    return {};
  s.groups = options.groups;
  s.channels = filters[rank];
  if (std::int64_t(images.back()) != s.channels * s.groups || std::int64_t(filters.back()) % s.groups != 0)
    return {};
  for (std::size_t i = 0; i < rank; ++i) {
    const Size size = images[i + 1];
    s.window.push_back(filters[i]);
    std::int64_t reach = 0;
    if (!size.is_known() || s.window[i] < 1 || __builtin_mul_overflow(s.window[i] - 1, s.dilations[i], &reach) ||
        reach >= std::numeric_limits<std::int32_t>::max())
      return {};
    const std::int64_t before = padding.empty() ? 0 : padding[2 * i], behind = padding.empty() ? 0 : padding[2 * i + 1];
    const schema::WindowExtent extent = schema::windowExtent(size, reach + 1, s.strides[i], isSame, before, behind);
    if (std::int64_t(size) == 0 || extent.output < 1)
      return {};
    s.low.push_back(extent.padLow);
    s.high.push_back(extent.padHigh);
    s.places.push_back(extent.output);
  }
  return s;
}

// Every `stride`-th entry of x along an axis, from `start` on, and `count` of them. The number of images may be
// unknown.
Tensor taken(const Tensor &x, std::size_t axis, std::int64_t start, std::int64_t stride, std::int64_t count) {
  const Shape shape = x.shape();
  const std::int64_t end = start + (count - 1) * stride + 1;
  if (stride == 1)
    return detail::rowsAlong(x, static_cast<std::int64_t>(axis), start, end);
  if (shape.is_known()) {
    Ints starts(shape.size(), 0), limits = shape, strides(shape.size(), 1);
    starts[axis] = start;
    limits[axis] = end;
    strides[axis] = stride;
    return slice(x, std::move(starts), std::move(limits), std::move(strides));
  }
  Ints indices;
  for (std::int64_t i = start; i < end; i += stride)
    indices.push_back(i);
  return gather(x, tensor<std::int64_t>(indices), static_cast<std::int64_t>(axis));
}

// The images with the padding, in which is the number that stands for 0. Bytes wrap, so that what is subtracted
// before and added behind is exact.
Tensor padded(const Tensor &images, const std::optional<Tensor> &zero, const Sliding &s) {
  auto isZero = [](std::int64_t n) { return n == 0; };
  if (std::ranges::all_of(s.low, isZero) && std::ranges::all_of(s.high, isZero))
    return images;
  Ints low{0}, high{0};
  low.insert(low.end(), s.low.begin(), s.low.end());
  high.insert(high.end(), s.high.begin(), s.high.end());
  low.push_back(0);
  high.push_back(0);
  return zero ? pad(images - *zero, low, high) + *zero : pad(images, low, high);
}

Tensor centred(const Tensor &x, const std::optional<Tensor> &zero, DType dtype) {
  return zero ? cast(x, dtype) - cast(*zero, dtype) : cast(x, dtype);
}

// One group by products of matrices, one for each row of the window, whose sums add up. The bytes that the places along
// the last dimension see are put beside one another once, so that images take no more than a row of the window as much.
Tensor byProducts(const Tensor &images, const Tensor &filters, const IntegerConvOptions &options, const Sliding &s) {
  const std::size_t rank = s.rank(), last = rank - 1;
  const Tensor around = padded(images, options.input_zero_point, s);
  std::vector<Tensor> columns;
  for (std::int64_t tap = 0; tap < s.window[last]; ++tap)
    columns.push_back(taken(around, rank, tap * s.dilations[last], s.strides[last], s.places[last]));
  const Tensor beside = columns.size() == 1 ? columns[0] : concat(columns, -1);
  const std::int64_t terms = s.window[last] * s.channels, results = filters.shape().back();
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < last; ++i)
    rows *= s.window[i];
  const Tensor matrices = reshape(filters, {rows, terms, results});
  std::optional<Tensor> sum;
  for (std::int64_t row = 0; row < rows; ++row) {
    Tensor seen = beside;
    for (std::size_t i = last, rest = static_cast<std::size_t>(row); i-- > 0;) {
      const auto window = static_cast<std::size_t>(s.window[i]);
      seen = taken(seen, i + 1, static_cast<std::int64_t>(rest % window) * s.dilations[i], s.strides[i], s.places[i]);
      rest /= window;
    }
    const Tensor matrix = reshape(slice(matrices, {row, 0, 0}, {row + 1, terms, results}), {terms, results});
    const Tensor part = matmul(centred(reshape(seen, {-1, terms}), options.input_zero_point, DType::Int32),
                               centred(matrix, options.filter_zero_point, DType::Int32));
    sum = sum ? *sum + part : part;
  }
  Shape shape = images.shape();
  for (std::size_t i = 0; i < rank; ++i)
    shape[i + 1] = s.places[i];
  shape.back() = results;
  return reshape(*sum, shape);
}

// The operation on floats whose sums are exact.
Tensor byFloats(const Tensor &images, const Tensor &filters, const IntegerConvOptions &options, DType dtype,
                const ArrayCall &call) {
  const Tensor operands[] = {centred(images, options.input_zero_point, dtype),
                             centred(filters, options.filter_zero_point, dtype)};
  const schema::Attribute attributes[] = {options.strides, options.padding.name(), options.padding.numbers(),
                                          options.dilations, options.groups};
  return cast(detail::apply(schema::OpId::Conv, operands, attributes, call.where), DType::Int32);
}

void requireByte(const Tensor &x, const char *what, const ArrayCall &call) {
  if (!is_integer(x.dtype()) || size_of(x.dtype()) != 1)
    throw DTypeError(absl::StrCat(call.function, ": takes ", what, " of int8 or uint8, not ", typeOf(x)), call.where);
}

// A zero point: a scalar of the type of x, or of filters also a vector with a number for each.
void requireZeroPoint(const std::optional<Tensor> &zero, const Tensor &x, bool isOfFilters, const ArrayCall &call) {
  if (!zero)
    return;
  if (zero->dtype() != x.dtype())
    throw DTypeError(absl::StrCat(call.function, ": the zero point of ", typeOf(x), " is ", typeOf(*zero),
                                  ", and must have its type"),
                     call.where);
  const Size number = x.shape().back();
  const bool isForEach = isOfFilters && zero->rank() == 1 &&
                         (!number.is_known() || !zero->shape()[0].is_known() || zero->shape()[0] == number);
  if (zero->rank() != 0 && !isForEach)
    throw ShapeError(absl::StrCat(call.function, ": the zero point of ", typeOf(x), " is a scalar",
                                  isOfFilters ? ", or a vector with a number for each filter" : "", ", not ",
                                  typeOf(*zero)),
                     call.where);
}

} // namespace

Tensor conv_integer(const Operand &input, const Operand &filter, IntegerConvOptions options) {
  ArrayCall call(input, "conv_integer");
  const Tensor images = input.toTensor(), filters = filter.toTensor();
  requireByte(images, "images", call);
  requireByte(filters, "filters", call);
  requireZeroPoint(options.input_zero_point, images, false, call);
  requireZeroPoint(options.filter_zero_point, filters, true, call);
  if (images.rank() < 3 || images.rank() > 5)
    throw ShapeError(absl::StrCat(call.function, ": images must have rank 3 to 5, [N,...,C], not ", typeOf(images)),
                     call.where);
  const std::size_t rank = static_cast<std::size_t>(images.rank()) - 2;
  if (options.strides.empty())
    options.strides.assign(rank, 1);
  if (options.strides.size() != rank)
    throw ValueError(absl::StrCat(call.function, ": strides must be a number for each of ",
                                  schema::counted(rank, "dimension"), ", not ", schema::listString(options.strides)),
                     call.where);
  // Sums of up to 258 products of 9 bits are exact in float32, and all others that memory holds are in float64.
  constexpr std::int64_t kMostTerms = (1 << 24) / (255 * 255);
  const bool isFew = termsOf(filters.shape()) <= kMostTerms;
  std::optional<Sliding> sliding;
  if (!isFew && filters.rank() == images.rank())
    sliding = slidingOf(images.shape(), filters.shape(), options);
  if (!sliding)
    return byFloats(images, filters, options, isFew ? DType::Float32 : DType::Float64, call);
  if (sliding->groups == 1)
    return byProducts(images, filters, options, *sliding);
  const std::vector<Tensor> parts = split(images, sliding->groups, -1), kinds = split(filters, sliding->groups, -1);
  const bool isForEach = options.filter_zero_point && options.filter_zero_point->rank() == 1;
  const std::vector<Tensor> zeros =
      isForEach ? split(*options.filter_zero_point, sliding->groups, 0) : std::vector<Tensor>();
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    IntegerConvOptions own = options;
    if (isForEach)
      own.filter_zero_point = zeros[i];
    results.push_back(byProducts(parts[i], kinds[i], own, *sliding));
  }
  return concat(results, -1);
}

} // namespace calque
