// Integers that stand for floats: a scale and a zero point for a tensor, for each slice along an axis, or for blocks.
#include "onnx/Support.h"

#include "calque/quantized.h"

#include <limits>

namespace calque::onnx {

namespace {

// A scale or zero point. A vector of one number is one for all.
Tensor numbersOf(const Tensor &scale, std::int64_t block) {
  return scale.rank() == 1 && scale.size() == 1 && block == 0 ? reshape(scale, {}) : scale;
}

Results quantize(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t block = call.integer("block_size", 0);
  call.ignore({"saturate"}); // of floats of 8 bits
  const std::int64_t named = call.integer("output_dtype", 0), precision = call.integer("precision", 0);
  const DType scaleType = call.value(1).dtype();
  const DType wide = precision != 0 ? call.typeOf(precision) : is_half(scaleType) ? DType::Float32 : scaleType;
  QuantizeOptions options{
      .axis = call.integer("axis", 1), .block = block, .dtype = named != 0 ? call.typeOf(named) : DType::UInt8};
  if (call.has(2))
    options.zero_point = numbersOf(call.tensor(2), block);
  return {calque::quantize(cast(x, wide), cast(numbersOf(call.tensor(1), block), wide), options)};
}

Results dequantize(const Call &call) {
  const std::int64_t named = call.integer("output_dtype", 0), block = call.integer("block_size", 0);
  const Tensor scale = numbersOf(call.tensor(1), block);
  DequantizeOptions options{.axis = call.integer("axis", 1), .block = block};
  if (call.has(2))
    options.zero_point = numbersOf(call.tensor(2), block);
  // A product that is rounded once.
  const DType type = named != 0 ? call.typeOf(named) : scale.dtype();
  const Tensor x =
      calque::dequantize(call.tensor(0), cast(scale, is_half(scale.dtype()) ? DType::Float32 : scale.dtype()), options);
  return back(x, type);
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

// Of ONNX Runtime: y = x w^T + bias for weights [N,K] of 4 or 8 bits, in blocks along K.
Results matMulNBits(const Call &call) {
  const std::int64_t n = call.integer("N", 0), k = call.integer("K", 0), bits = call.integer("bits", 4),
                     block = call.integer("block_size", 0);
  call.ignore({"accuracy_level"}); // the least precision of the products
  if ((bits != 4 && bits != 8) || block < 16 || block % 2 || n < 1 || k < 1)
    call.refuse("N = " + std::to_string(n) + ", K = " + std::to_string(k) + ", bits = " + std::to_string(bits) +
                ", block_size = " + std::to_string(block));
  if (call.has(4))
    call.refuse("a g_idx");
  const std::int64_t blocks = (k + block - 1) / block;
  quantized::Weights weights{.codes = reshape(call.tensor(1), {n, blocks, block * bits / 8}),
                             .scales = reshape(call.tensor(2), {n, blocks}),
                             .columns = k,
                             .bits = bits};
  if (call.has(3)) {
    Tensor points = call.tensor(3);
    if (points.dtype() == DType::UInt8 && bits == 4) // two in a byte; of an odd number the last one has a byte
      points = sliceAlong(quantized::unpack_4bit(reshape(points, {n, (blocks + 1) / 2})), 1, 0, blocks);
    weights.zero_points = reshape(points, {n, blocks});
  }
  const Tensor y = quantized::matmul(call.tensor(0), weights);
  return call.has(5) ? y + call.tensor(5) : y;
}

constexpr Operator kTable[] = {
    {"DequantizeLinear", {10, 13, 19, 21, 23, 24, 25}, 2, 3, 0, dequantize},
    {"DynamicQuantizeLinear", {11}, 1, 1, 0, dynamicQuantize},
    {"MatMulNBits", {1}, 3, 6, 0, matMulNBits, {}, "com.microsoft"},
    {"QuantizeLinear", {10, 13, 19, 21, 23, 24, 25}, 2, 3, 0, quantize},
};

} // namespace

Table quantizationOperators() { return kTable; }

} // namespace calque::onnx
