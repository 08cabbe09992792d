// Functions of calque/quantized.h.
#include "calque/quantized.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "frontend/operations/ArrayCalls.h"

namespace calque::quantized {

using detail::ArrayCall;
using detail::typeOf;

namespace {

constexpr std::int64_t kFewRows = 4;

void requireBytes(const Tensor &x, const ArrayCall &call) {
  if (x.dtype() != DType::UInt8)
    throw DTypeError(absl::StrCat(call.function, ": codes are uint8, not ", typeOf(x)), call.where);
  if (x.rank() == 0)
    throw ShapeError(absl::StrCat(call.function, ": codes are along a dimension, and ", typeOf(x), " has none"),
                     call.where);
}

// The codes in the lower and in the upper halves of bytes.
std::array<Tensor, 2> halvesOf(const Tensor &bytes) { return {bitwise_and(bytes, 15), right_shift(bytes, 4)}; }

// [..., 2 m] of two [..., m], in turn.
Tensor interleaved(const std::array<Tensor, 2> &parts) {
  const Tensor pairs = concat({expand_dims(parts[0], -1), expand_dims(parts[1], -1)}, -1);
  return detail::mergeDims(pairs, pairs.rank() - 2);
}

// Weights whose parts fit each other.
struct Given {
  Given(const Weights &weights, const ArrayCall &call) : weights(weights) {
    auto refuse = [&](const char *what) {
      throw ShapeError(absl::StrCat(call.function, ": ", what, ": the codes are ", typeOf(weights.codes),
                                    ", the scales ", typeOf(weights.scales)),
                       call.where);
    };
    requireBits(weights.bits, call);
    requireBytes(weights.codes, call);
    if (!is_floating(weights.scales.dtype()))
      throw DTypeError(absl::StrCat(call.function, ": scales are floats, not ", typeOf(weights.scales)), call.where);
    const Shape codes = weights.codes.shape(), scales = weights.scales.shape();
    if (codes.size() != 3 || scales.size() != 2)
      refuse("codes have the shape [n, blocks, bytes] and scales [n, blocks]");
    if (!codes[1].is_known() || !codes[2].is_known())
      refuse("the number and the size of blocks must be known while tracing");
    if (!scales.is_compatible_with(Shape{codes[0], codes[1]}))
      refuse("each block has a scale");
    blocks = codes[1];
    block = std::int64_t(codes[2]) * 8 / weights.bits;
    columns = weights.columns ? weights.columns : blocks * block;
    if (columns <= (blocks - 1) * block || columns > blocks * block)
      throw ValueError(absl::StrCat(call.function, ": ", columns, " columns don't fit ", blocks, " blocks of ", block),
                       call.where);
    wide = is_half(weights.scales.dtype()) ? DType::Float32 : weights.scales.dtype();
    zero = full({}, weights.bits == 4 ? 8 : 128, wide);
    if (weights.zero_points) {
      const Tensor &points = *weights.zero_points;
      if (points.dtype() != DType::UInt8 && points.dtype() != weights.scales.dtype())
        throw DTypeError(
            absl::StrCat(call.function, ": zero points are uint8 or of the scales' type, not ", typeOf(points)),
            call.where);
      if (!points.shape().is_compatible_with(scales))
        throw ShapeError(absl::StrCat(call.function, ": each block has a zero point: the scales are ",
                                      typeOf(weights.scales), ", the zero points ", typeOf(points)),
                         call.where);
      zero = expand_dims(cast(points, wide), -1);
    }
  }

  static void requireBits(std::int64_t bits, const ArrayCall &call) {
    if (bits != 4 && bits != 8)
      throw ValueError(absl::StrCat(call.function, ": weights have 4 or 8 bits, not ", bits), call.where);
  }

  // What codes mean, but for the scale.
  Tensor valueOf(const Tensor &codes) const { return cast(codes, wide) - zero; }
  Tensor scales() const { return cast(weights.scales, wide); }

  Tensor all() const {
    const Tensor codes = weights.bits == 4 ? interleaved(halvesOf(weights.codes)) : weights.codes;
    const Tensor rows = detail::mergeDims(valueOf(codes) * expand_dims(scales(), -1), 1);
    return columns == blocks * block ? rows : detail::rowsAlong(rows, 1, 0, columns);
  }

  // [n] of a row [k]. The elements that meet the lower halves of bytes, and the upper ones, are gathered of x, which is
  // small, so that codes stay where they are.
  Tensor ofRow(const Tensor &x) const {
    const Tensor padded = columns == blocks * block ? x : pad(x, {0}, {blocks * block - columns});
    const std::int64_t bytes = block * weights.bits / 8;
    Tensor terms;
    if (weights.bits == 8) {
      terms = valueOf(weights.codes) * reshape(padded, {blocks, bytes});
    } else {
      const std::array<Tensor, 2> codes = halvesOf(weights.codes);
      const Tensor pairs = reshape(padded, {blocks, bytes, 2});
      terms = valueOf(codes[0]) * gather(pairs, 0, -1) + valueOf(codes[1]) * gather(pairs, 1, -1);
    }
    return sum(terms * expand_dims(scales(), -1), {-2, -1});
  }

  const Weights &weights;
  std::int64_t blocks = 0, block = 0, columns = 0;
  DType wide;
  Tensor zero;
};

} // namespace

Tensor unpack_4bit(const Operand &bytes) {
  ArrayCall call(bytes, "quantized::unpack_4bit");
  const Tensor value = bytes.toTensor();
  requireBytes(value, call);
  return interleaved(halvesOf(value));
}

Tensor pack_4bit(const Operand &codes) {
  ArrayCall call(codes, "quantized::pack_4bit");
  const Tensor value = codes.toTensor();
  requireBytes(value, call);
  Shape shape = value.shape();
  if (!shape.back().is_known() || std::int64_t(shape.back()) % 2)
    throw ShapeError(
        absl::StrCat("quantized::pack_4bit: two codes become a byte, so that their number must be even and "
                     "known while tracing: the codes are ",
                     typeOf(value)),
        call.where);
  shape.back() = std::int64_t(shape.back()) / 2;
  shape.push_back(2);
  const Tensor pairs = reshape(value, shape);
  return bitwise_or(bitwise_and(gather(pairs, 0, -1), 15), left_shift(gather(pairs, 1, -1), 4));
}

Weights quantize(const Operand &weights, Options options) {
  ArrayCall call(weights, "quantized::quantize");
  const Tensor given = detail::floatsOf(weights, call);
  const Shape shape = given.shape();
  if (shape.size() != 2 || !shape[1].is_known() || shape[1] == 0)
    throw ShapeError(absl::StrCat("quantized::quantize: weights are [n, k], where k is not 0 and known while tracing, "
                                  "not ",
                                  typeOf(given)),
                     call.where);
  Given::requireBits(options.bits, call);
  if (options.block < 2 || options.block % 2)
    throw ValueError(
        absl::StrCat("quantized::quantize: a block is a positive even number of weights, not ", options.block),
        call.where);
  const std::int64_t columns = shape[1], blocks = (columns + options.block - 1) / options.block;
  const double largest = options.bits == 4 ? 15 : 255, middle = options.bits == 4 ? 8 : 128;
  Tensor x = is_half(given.dtype()) ? cast(given, DType::Float32) : given;
  x = reshape(pad(x, {0, 0}, {0, blocks * options.block - columns}), {shape[0], blocks, options.block});
  const Tensor high = maximum(max(x, AxisList(-1), true), 0), low = minimum(min(x, AxisList(-1), true), 0);
  // Of the largest magnitude the code is 0 or, of the other sign, as far from the middle.
  Tensor scale = options.asymmetric ? (high - low) / largest : where(high > -low, high, low) / -middle;
  scale = cast(cast(scale, given.dtype()), x.dtype()); // as it is kept
  const Tensor divisor = where(scale == 0, 1, scale);
  const Tensor point = options.asymmetric ? round(-low / divisor) : full({}, middle, x.dtype());
  const Tensor codes = cast(minimum(maximum(round(x / divisor) + point, 0), largest), DType::UInt8);
  Weights result{.codes = options.bits == 4 ? pack_4bit(codes) : codes,
                 .scales = cast(squeeze(scale, {-1}), given.dtype()),
                 .columns = columns,
                 .bits = options.bits};
  if (options.asymmetric)
    result.zero_points = cast(squeeze(point, {-1}), DType::UInt8);
  return result;
}

Tensor dequantize(const Weights &weights) {
  ArrayCall call(weights.codes, "quantized::dequantize");
  return cast(Given(weights, call).all(), weights.scales.dtype());
}

Tensor matmul(const Operand &x, const Weights &weights) {
  ArrayCall call(x, "quantized::matmul");
  const Tensor value = detail::floatsOf(x, call);
  const Given given(weights, call);
  if (value.dtype() != weights.scales.dtype())
    throw DTypeError(absl::StrCat("quantized::matmul: x and the scales have one type, not ", typeOf(value), " and ",
                                  typeOf(weights.scales), "; there is no implicit conversion, use cast"),
                     call.where);
  Shape shape = value.shape();
  if (shape.empty() || !Shape{shape.back()}.is_compatible_with(Shape{Size(given.columns)}))
    throw ShapeError(
        absl::StrCat("quantized::matmul: the rows of x have ", given.columns, " elements, not ", typeOf(value)),
        call.where);
  const Tensor wide = cast(value, given.wide);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size() && rows > 0; ++i)
    rows = shape[i].is_known() ? rows * std::int64_t(shape[i]) : -1;
  if (rows < 1 || rows > kFewRows)
    return cast(contract(wide, given.all(), {}, {}, {wide.rank() - 1}, {1}), value.dtype());
  std::vector<Tensor> results;
  for (const Tensor &row : unstack(reshape(wide, {rows, given.columns})))
    results.push_back(given.ofRow(row));
  shape.back() = weights.codes.shape()[0];
  return cast(reshape(stack(results), shape), value.dtype());
}

} // namespace calque::quantized
