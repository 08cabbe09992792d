// quantize and dequantize of calque/quantized.h. Expected numbers are exact: halves, and sums of powers of two.
#include "calque/arrays/making.h"
#include "calque/quantized.h"
#include "calque/transforms.h"
#include "test/Errors.h"
#include "test/Tensors.h"

namespace calque::testing {
namespace {

using Ints = std::vector<std::int8_t>;
using Floats = std::vector<float>;

TEST(QuantizedByScales, RoundsToEvenAndSaturates) {
  const Tensor x = tensor({-1000.0f, -0.75f, -0.25f, 0.25f, 0.75f, 1.25f, 1000.0f});
  EXPECT_EQ(quantize(x, 0.5f).to_vector<std::int8_t>(), (Ints{-128, -2, 0, 0, 2, 2, 127}));
  EXPECT_EQ(quantize(x, 0.5f, {.zero_point = scalar<std::uint8_t>(10)}).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{0, 8, 10, 10, 12, 12, 255}));
  EXPECT_EQ(quantize(x, 0.5f, {.dtype = DType::UInt16}).to_vector<std::uint16_t>()[6], 2000);
  EXPECT_EQ(dequantize(tensor<std::int8_t>({-3, 0, 4}), 0.5f).to_vector<float>(), (Floats{-1.5, 0, 2}));
  EXPECT_EQ(dequantize(tensor<std::uint8_t>({7, 10}), 0.5, {.zero_point = scalar<std::uint8_t>(10)}).to_vector<float>(),
            (Floats{-1.5, 0}));
  EXPECT_EQ(quantize(cast(x, DType::BFloat16), cast(scalar(0.5f), DType::BFloat16)).to_vector<std::int8_t>()[5], 2);
  EXPECT_EQ(dequantize(tensor<std::int8_t>({3}), cast(scalar(0.5f), DType::Float16)).dtype(), DType::Float16);
  EXPECT_EQ(quantize(scalar(3.0f), 2.0f).item<std::int8_t>(), 2);
}

TEST(QuantizedByScales, ScalesOfAxesAndBlocks) {
  const Tensor x = reshape(arange(12.0f), {3, 4});
  const Tensor rows = tensor({1.0f, 2.0f, 4.0f}), columns = tensor({1.0f, 2.0f, 4.0f, 8.0f});
  EXPECT_EQ(quantize(x, rows, {.axis = 0}).to_vector<std::int8_t>(), (Ints{0, 1, 2, 3, 2, 2, 3, 4, 2, 2, 2, 3}));
  EXPECT_EQ(quantize(x, columns).to_vector<std::int8_t>(), (Ints{0, 0, 0, 0, 4, 2, 2, 1, 8, 4, 2, 1}));
  // Blocks of two along the rows, and blocks of which the last one is short.
  const Tensor blocks = reshape(columns, {1, 4}) * tensor({1.0f, 0.5f}, {2, 1});
  for (bool compiled : {false, true}) {
    auto there = [&](const Tensor &x) { return quantize(x, blocks, {.axis = 0, .block = 2}); };
    const Tensor q = compiled ? function(there)(x) : there(x);
    EXPECT_EQ(q.to_vector<std::int8_t>(), (Ints{0, 0, 0, 0, 4, 2, 2, 1, 16, 9, 5, 3}));
    auto back = [&](const Tensor &q) { return dequantize(q, blocks, {.axis = 0, .block = 2}); };
    const Tensor y = compiled ? function(back)(q) : back(q);
    EXPECT_EQ(y.to_vector<float>(), (Floats{0, 0, 0, 0, 4, 4, 8, 8, 8, 9, 10, 12}));
  }
  const Tensor halves = tensor({1.0f, 2.0f, 4.0f, 8.0f, 1.0f, 2.0f}, {3, 2});
  EXPECT_EQ(quantize(x, halves, {.block = 2}).to_vector<std::int8_t>(), (Ints{0, 1, 1, 2, 1, 1, 1, 1, 8, 9, 5, 6}));
  // The gradient of a scale is the sum of its numbers.
  EXPECT_EQ(grad([&](const Tensor &s) { return sum(dequantize(tensor<std::int8_t>({1, 2, 3, 4}, {2, 2}), s)); })(
                tensor({1.0f, 1.0f}))
                .to_vector<float>(),
            (Floats{4, 6}));
  auto open = function([&](const Tensor &x) { return quantize(x, rows, {.axis = 0}); },
                       {.input_signature = {TensorSpec<float>({3, kDynamic})}});
  EXPECT_EQ(open(x).to_vector<std::int8_t>(), quantize(x, rows, {.axis = 0}).to_vector<std::int8_t>());
}

TEST(QuantizedByScales, Misuse) {
  const Tensor x = ones({2, 6}), q = cast(x, DType::Int8);
  EXPECT_CONTAINS(
      errorOf<ShapeError>([&] { quantize(x, ones({3})); }),
      "quantize: scales and zero points of float32[2,6] are a scalar, or a vector with a number for each entry "
      "along axis 1, not float32[3]");
  EXPECT_CONTAINS(
      errorOf<ShapeError>([&] { dequantize(q, ones({2, 2}), {.block = 2}); }),
      "dequantize: scales and zero points of int8[2,6] are a tensor with a number for each block of 2 along "
      "axis 1, not float32[2,2]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { quantize(x, ones({6}), {.block = -1}); }),
                  "quantize: the block must not be negative: -1");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { quantize(x, ones({6}), {.axis = 2}); }),
                  "quantize: axis 2 is out of range");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { quantize(x, 1.0f, {.dtype = DType::Int32}); }),
                  "quantize: the result is an integer of 8 or 16 bits, not int32");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { quantize(x, q); }), "quantize: scales are floats, not int8[2,6]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { dequantize(q, q); }), "dequantize: scales are floats, not int8[2,6]");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x) { return quantize(x, ones({2, 3}), {.block = 2}); },
                             {.input_signature = {TensorSpec<float>({2, kDynamic})}})(ones({2, 6}));
                  }),
                  "quantize: the size of axis 1 must be known while tracing, unlike that of float32[2,?]");
  errorOf<DTypeError>([&] { quantize(q, 1.0f); });
  errorOf<DTypeError>([&] { dequantize(x, 1.0f); });
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { dequantize(q, 1.0f, {.zero_point = scalar<std::int32_t>(1)}); }),
                  "dequantize: a zero point has the type of the numbers, and not int32[] beside int8[2,6]");
}

} // namespace
} // namespace calque::testing
