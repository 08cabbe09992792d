// Floats as integers of few bits, and weights of products of 4 or 8 bits, in blocks with a scale each: a quarter or an
// eighth of the memory that float32 takes, which is what a product with few rows waits for. docs/quantized.md is the
// page.
//
//   #include <calque/quantized.h>
//
//   Tensor q = quantize(x, 0.02), y = dequantize(q, 0.02);   // int8
//   quantized::Weights small = quantized::quantize(weights); // of [n, k], a row for each output: 4 bits, blocks of 32
//   Tensor z = quantized::matmul(x, small);                  // [..., n] of [..., k]: about matmul(x, weights^T)
//
// A weight is (code - zero point) * scale. The functions run eagerly and in traced functions, and consist of the
// operations of functions.h. Derivatives pass to x, to the scales, and to zero points that are floats.
#ifndef CALQUE_QUANTIZED_H
#define CALQUE_QUANTIZED_H

#include "calque/functions.h"

namespace calque {

//===-- Numbers by scales -----------------------------------------------------------------------===//

// Integers of few bits that stand for floats: x is about (q - zero_point) * scale, as ONNX's QuantizeLinear and
// DequantizeLinear have it. `scale` and `zero_point` are scalars, vectors with a number for each entry along `axis`,
// or, with a `block`, tensors of the rank of x with a number for each block of so many entries along the axis, of which
// the last may have fewer.
struct QuantizeOptions {
  std::optional<Tensor> zero_point = {}; // of the type of the result; left out: 0
  std::int64_t axis = -1;
  std::int64_t block = 0;    // 0: no blocks
  DType dtype = DType::Int8; // of the result, without a zero point
};
// round(x / scale) + zero_point, as an integer of 8 or 16 bits: ties go to the even one, and what is beyond the type
// becomes its smallest or largest number. Gradients are 0, as those of round. DTypeError for x and scales that are no
// floats and for other types of results; ShapeError for scales that don't fit x; ValueError for a negative block and
// for an axis that x does not have.
CALQUE_API Tensor quantize(const Operand &x, const Operand &scale, QuantizeOptions options = {});

struct DequantizeOptions {
  std::optional<Tensor> zero_point = {}; // of the type of q; left out: 0
  std::int64_t axis = -1;
  std::int64_t block = 0;
};
// (q - zero_point) * scale, in the type of the scales. The gradient passes to the scales. Errors are those of quantize.
CALQUE_API Tensor dequantize(const Operand &q, const Operand &scale, DequantizeOptions options = {});

//===-- Convolutions ----------------------------------------------------------------------------===//

struct IntegerConvOptions {
  std::vector<std::int64_t> strides = {}; // these four as in ConvOptions
  Padding padding = "valid";
  std::vector<std::int64_t> dilations = {};
  std::int64_t groups = 1;
  std::optional<Tensor> input_zero_point = {};  // a scalar, of the images' type; left out: 0
  std::optional<Tensor> filter_zero_point = {}; // of the filters' type, a scalar or [F]; left out: 0
};
// The convolution of images less their zero point with filters less theirs, int8 or uint8 each, as ONNX's ConvInteger
// has it: int32 sums, which wrap. The padding has the images' zero point. Images and filters are in the order of conv,
// [N,...,C] and [...,C/groups,F]. By the machine's dot products of bytes, where the sizes other than N are known while
// tracing. DTypeError for other types, and for a zero point of another type than what it belongs to; ShapeError for a
// zero point of another shape; otherwise errors are those of conv.
CALQUE_API Tensor conv_integer(const Operand &input, const Operand &filter, IntegerConvOptions options = {});

} // namespace calque

//===-- Weights of products ---------------------------------------------------------------------===//

namespace calque::quantized {

// The form is that of MatMulNBits of ONNX Runtime.
struct Weights {
  // uint8 [n, blocks, block * bits / 8]. Of 4 bits, two codes in a byte, the first one in its lower half.
  Tensor codes;
  // Floats [n, blocks].
  Tensor scales;
  // [n, blocks], uint8 or of the scales' type. Left out: 8 of 4 bits, 128 of 8 bits.
  std::optional<Tensor> zero_points = {};
  // k; what is beyond in the last block of a row is not used. 0: all elements of the blocks.
  std::int64_t columns = 0;
  std::int64_t bits = 4;
};

struct Options {
  std::int64_t bits = 4;   // 4 or 8
  std::int64_t block = 32; // neighbours in a row that share a scale
  // Whether each block has a zero point of its own, so that its least and its largest weight, and 0, are exact up to
  // the rounding of the scale. Else the weight with the largest magnitude is.
  bool asymmetric = false;
};

// The codes nearest to weights, floats [n, k]. A block of zeros has the scale 0. DTypeError for other types, ShapeError
// for another rank and for an unknown k, ValueError for other numbers of bits and for a block that is not a positive
// even number.
CALQUE_API Weights quantize(const Operand &weights, Options options = {});

// The weights, [n, k], in the scales' type. DTypeError, ShapeError or ValueError where the parts don't fit.
CALQUE_API Tensor dequantize(const Weights &weights);

// The products of the rows of x, [..., k], and those of the weights: [..., n], in the type of x, which is that of the
// scales. Up to 4 rows are multiplied by the codes as they are read; of more rows the weights are made once for all.
// Halves are multiplied and added up in float32. Errors are those of dequantize, and ShapeError for another k.
CALQUE_API Tensor matmul(const Operand &x, const Weights &weights);

// The codes of 4 bits in bytes: [..., 2 m] of uint8 [..., m], the lower half of each byte first. And bytes of them, of
// which the lower 4 bits count. DTypeError for other types, ShapeError for an odd or unknown size and for a scalar.
CALQUE_API Tensor unpack_4bit(const Operand &bytes);
CALQUE_API Tensor pack_4bit(const Operand &codes);

} // namespace calque::quantized
#endif
