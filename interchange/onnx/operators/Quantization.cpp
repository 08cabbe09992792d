// Integers that stand for floats: a scale and a zero point for a tensor, for each slice along an axis, or for blocks.
#include "onnx/Support.h"

#include <limits>

namespace calque::onnx {

namespace {

// The scale or zero point so that it broadcasts to x.
Tensor fitted(const Call &call, const Tensor &scale, const Tensor &x, std::int64_t axis, std::int64_t block) {
  if (scale.rank() == 0 || (scale.rank() == 1 && scale.size() == 1 && block == 0))
    return reshape(scale, {});
  axis = call.axis(axis, x.rank());
  if (block > 0) {
    if (scale.rank() != x.rank())
      call.refuse("a scale of rank " + std::to_string(scale.rank()) + " for blocks of a tensor of rank " +
                  std::to_string(x.rank()));
    const Tensor wide = repeat(scale, block, axis);
    return sliceAlong(wide, axis, 0, x.shape()[static_cast<std::size_t>(axis)]);
  }
  if (scale.rank() != 1)
    call.refuse("a scale of rank " + std::to_string(scale.rank()) + " without a block_size");
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      axes.push_back(i);
  return axes.empty() ? scale : expand_dims(scale, axes);
}

Tensor saturated(const Tensor &x, DType dtype) {
  // Casts saturate already; numbers of floats between the bounds of a narrow type are what it holds.
  return cast(x, dtype);
}

Results quantize(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  call.ignore({"saturate"}); // of floats of 8 bits
  const std::int64_t named = call.integer("output_dtype", 0);
  DType dtype = call.has(2) ? call.value(2).dtype() : named != 0 ? call.typeOf(named) : DType::UInt8;
  if (is_floating(dtype) || size_of(dtype) > 2)
    call.refuse("a result of " + std::string(name_of(dtype)));
  const std::int64_t precision = call.integer("precision", 0);
  const DType scaleType = call.value(1).dtype();
  const DType wide = precision != 0 ? call.typeOf(precision) : is_half(scaleType) ? DType::Float32 : scaleType;
  const Tensor scale = cast(fitted(call, call.tensor(1), x, axis, block), wide);
  Tensor y = round(cast(x, wide) / scale);
  if (call.has(2))
    y = y + cast(fitted(call, call.tensor(2), x, axis, block), wide);
  return saturated(y, dtype);
}

Results dequantize(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  const DType scaleType = call.value(1).dtype();
  const std::int64_t named = call.integer("output_dtype", 0);
  const Tensor scale = fitted(call, call.tensor(1), x, axis, block);
  const DType middle = is_half(scaleType) ? DType::Float32 : scaleType;
  Tensor y = cast(x, middle);
  if (call.has(2))
    y = y - cast(fitted(call, call.tensor(2), x, axis, block), middle);
  return back(y * cast(scale, middle), named != 0 ? call.typeOf(named) : scaleType);
}

Results dynamicQuantize(const Call &call) {
  const Tensor x = call.tensor(0);
  const Tensor zero = scalar(0.0f);
  const Tensor low = minimum(calque::min(Operand(x), AxisList()), zero),
               high = maximum(calque::max(Operand(x), AxisList()), zero);
  const Tensor span = (high - low) / 255.0f;
  const Tensor scale = where(span == 0.0f, scalar(1.0f), span);
  const Tensor point = cast(round(clip(0.0f - low / scale, 0.0f, 255.0f)), DType::UInt8);
  return {cast(round(x / scale) + cast(point, DType::Float32), DType::UInt8), scale, point};
}

constexpr Operator kTable[] = {
    {"DequantizeLinear", {10, 13, 19, 21, 23, 24, 25}, 2, 3, 0, dequantize},
    {"DynamicQuantizeLinear", {11}, 1, 1, 0, dynamicQuantize},
    {"QuantizeLinear", {10, 13, 19, 21, 23, 24, 25}, 2, 3, 0, quantize},
};

} // namespace

Table quantizationOperators() { return kTable; }

} // namespace calque::onnx
