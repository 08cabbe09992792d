// Weights of 4 and 8 bits in blocks, against plain loops.
#include "test/Errors.h"
#include "test/operations/Testing.h"

#include <calque/quantized.h>

namespace calque::testing {
namespace {

using quantized::Weights;

std::vector<float> randomNumbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float &each : numbers)
    each = normal(random);
  return numbers;
}

// The weight in row `n` and column `k`, as the header says.
double weightOf(const Weights &weights, std::int64_t n, std::int64_t k) {
  const std::vector<std::uint8_t> codes = weights.codes.to_vector<std::uint8_t>();
  const std::vector<double> scales = valuesOf(weights.scales);
  const std::int64_t blocks = weights.codes.shape()[1], bytes = weights.codes.shape()[2],
                     block = bytes * 8 / weights.bits, at = n * blocks * block + k;
  const int byte = codes[static_cast<std::size_t>(weights.bits == 4 ? at / 2 : at)];
  const int code = weights.bits == 8 ? byte : at % 2 ? byte >> 4 : byte & 15;
  const std::int64_t ofBlock = n * blocks + k / block;
  double point = weights.bits == 4 ? 8 : 128;
  if (weights.zero_points)
    point = valuesOf(*weights.zero_points)[static_cast<std::size_t>(ofBlock)];
  return (code - point) * scales[static_cast<std::size_t>(ofBlock)];
}

TEST(Quantized, CodesAreTheNearest) {
  const std::int64_t rows = 5, columns = 75;
  const std::vector<float> numbers = randomNumbers(static_cast<std::size_t>(rows * columns), 1);
  const Tensor given = tensor(numbers, {rows, columns});
  for (std::int64_t bits : {4, 8})
    for (bool asymmetric : {false, true}) {
      const Weights weights = quantized::quantize(given, {.bits = bits, .block = 16, .asymmetric = asymmetric});
      EXPECT_EQ(weights.codes.shape(), (Shape{rows, 5, 2 * bits}));
      EXPECT_EQ(weights.zero_points.has_value(), asymmetric);
      const std::vector<double> found = valuesOf(quantized::dequantize(weights));
      const std::vector<double> scales = valuesOf(weights.scales);
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const std::int64_t n = i / columns, k = i % columns;
        EXPECT_FLOAT_EQ(static_cast<float>(found[static_cast<std::size_t>(i)]),
                        static_cast<float>(weightOf(weights, n, k)));
        // Half a step; where a code is beyond the last one, or a zero point is rounded, another half.
        EXPECT_LE(std::fabs(found[static_cast<std::size_t>(i)] - numbers[static_cast<std::size_t>(i)]),
                  1.01 * std::fabs(scales[static_cast<std::size_t>(n * 5 + k / 16)]));
      }
      expectSameBits(function([&](const Tensor &w) {
                       return quantized::dequantize(
                           quantized::quantize(w, {.bits = bits, .block = 16, .asymmetric = asymmetric}));
                     })(given),
                     quantized::dequantize(weights));
    }
  // A block of zeros stays one.
  EXPECT_EQ(valuesOf(quantized::dequantize(quantized::quantize(zeros({2, 32})))), std::vector<double>(64));
}

TEST(Quantized, ProductsAreThoseOfTheWeights) {
  const std::int64_t n = 7, k = 90;
  const Tensor w = tensor(randomNumbers(static_cast<std::size_t>(n * k), 2), {n, k});
  for (std::int64_t bits : {4, 8})
    for (bool asymmetric : {false, true}) {
      const Weights weights = quantized::quantize(w, {.bits = bits, .asymmetric = asymmetric});
      for (std::int64_t rows : {1, 3, 6}) { // few, and more
        const Tensor x = tensor(randomNumbers(static_cast<std::size_t>(rows * k), 3), {rows, k});
        auto product = [&](const Tensor &a) { return quantized::matmul(a, weights); };
        const std::vector<double> xs = valuesOf(x), eager = valuesOf(product(x)),
                                  compiled = valuesOf(function(product)(x));
        for (std::int64_t i = 0; i < rows * n; ++i) {
          double sum = 0, magnitude = 0;
          for (std::int64_t j = 0; j < k; ++j) {
            const double term = xs[static_cast<std::size_t>(i / n * k + j)] * weightOf(weights, i % n, j);
            sum += term;
            magnitude += std::fabs(term);
          }
          EXPECT_NEAR(eager[static_cast<std::size_t>(i)], sum, 2e-6 * magnitude);
          EXPECT_NEAR(compiled[static_cast<std::size_t>(i)], sum, 2e-6 * magnitude);
        }
        EXPECT_EQ(product(x).shape(), (Shape{rows, n}));
      }
      const Tensor vector = tensor(randomNumbers(static_cast<std::size_t>(k), 4));
      EXPECT_EQ(quantized::matmul(vector, weights).shape(), (Shape{n}));
      EXPECT_EQ(quantized::matmul(reshape(vector, {1, 1, k}), weights).shape(), (Shape{1, 1, n}));
      auto open = function([&](const Tensor &a) { return quantized::matmul(a, weights); },
                           {.input_signature = {TensorSpec<float>({kDynamic, k})}});
      EXPECT_LE(max(abs(open(reshape(vector, {1, k}))[0] - quantized::matmul(vector, weights))).item<float>(), 1e-4f);
    }
}

TEST(Quantized, HalvesAndDerivatives) {
  const Tensor w = tensor(randomNumbers(3 * 32, 5), {3, 32}), x = tensor(randomNumbers(2 * 32, 6), {2, 32});
  const Weights half = quantized::quantize(cast(w, DType::BFloat16));
  EXPECT_EQ(half.scales.dtype(), DType::BFloat16);
  EXPECT_EQ(quantized::matmul(cast(x, DType::BFloat16), half).dtype(), DType::BFloat16);
  const Weights weights = quantized::quantize(w);
  const Tensor slope = grad([&](const Tensor &a) { return sum(quantized::matmul(a, weights)); })(x);
  const Tensor expected = sum(quantized::dequantize(weights), {0});
  for (std::int64_t row : {0, 1})
    EXPECT_LE(max(abs(slope[row] - expected)).item<float>(), 1e-5f);
  // Scales are trained.
  const Tensor ofScales = grad([&](const Tensor &scales) {
    return sum(quantized::matmul(x, Weights{.codes = weights.codes, .scales = scales}));
  })(weights.scales);
  EXPECT_EQ(ofScales.shape(), weights.scales.shape());
  const Tensor mapped = vmap([&](const Tensor &row) { return quantized::matmul(row, weights); })(x);
  EXPECT_LE(max(abs(mapped - quantized::matmul(x, weights))).item<float>(), 1e-5f);
}

TEST(Quantized, CodesArePacked) {
  const Tensor codes = tensor<std::uint8_t>({1, 2, 15, 0, 7, 8});
  const Tensor bytes = both([](const Tensor &c) { return quantized::pack_4bit(c); }, codes);
  expectSameBits(bytes, tensor<std::uint8_t>({0x21, 0x0f, 0x87}));
  expectSameBits(both([](const Tensor &b) { return quantized::unpack_4bit(b); }, bytes), codes);
  expectSameBits(quantized::unpack_4bit(reshape(bytes, {3, 1})), reshape(codes, {3, 2}));
}

TEST(Quantized, MisuseIsRefused) {
  const Tensor w = ones({2, 32});
  const Weights weights = quantized::quantize(w);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { quantized::unpack_4bit(w); }), "codes are uint8, not float32[2,32]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { quantized::unpack_4bit(scalar<std::uint8_t>(1)); }),
                  "codes are along a dimension, and uint8[] has none");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { quantized::pack_4bit(tensor<std::uint8_t>({1, 2, 3})); }),
                  "their number must be even");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { quantized::quantize(tensor<int>({{1, 2}})); }), "takes floating-point");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { quantized::quantize(ones({4})); }), "weights are [n, k]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { quantized::quantize(w, {.bits = 5}); }), "4 or 8 bits, not 5");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { quantized::quantize(w, {.block = 7}); }), "positive even number");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { quantized::matmul(ones({3, 31}), weights); }), "the rows of x have 32");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { quantized::matmul(ones({32}, DType::Float64), weights); }),
                  "x and the scales have one type");
  auto with = [&](auto change) {
    Weights changed = weights;
    change(changed);
    return [changed] { quantized::dequantize(changed); };
  };
  EXPECT_CONTAINS(errorOf<ShapeError>(with([](Weights &x) { x.scales = ones({2, 2}); })),
                  "each block has a scale: the codes are uint8[2,1,16], the scales float32[2,2]");
  EXPECT_CONTAINS(errorOf<ShapeError>(with([](Weights &x) { x.scales = ones({2}); })), "[n, blocks, bytes]");
  EXPECT_CONTAINS(errorOf<DTypeError>(with([](Weights &x) { x.scales = ones({2, 1}, DType::Int32); })),
                  "scales are floats");
  EXPECT_CONTAINS(errorOf<ShapeError>(with([](Weights &x) { x.zero_points = ones({2, 3}); })),
                  "each block has a zero point");
  EXPECT_CONTAINS(errorOf<DTypeError>(with([](Weights &x) { x.zero_points = ones({2, 1}, DType::Int32); })),
                  "zero points are uint8 or of the scales' type");
  EXPECT_CONTAINS(errorOf<ValueError>(with([](Weights &x) { x.columns = 33; })), "33 columns don't fit 1 blocks of 32");
  auto open = function(
      [&](const Tensor &codes) { return quantized::dequantize(Weights{.codes = codes, .scales = weights.scales}); },
      {.input_signature = {TensorSpec<std::uint8_t>({2, kDynamic, 16})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open(weights.codes); }), "must be known while tracing");
}

} // namespace
} // namespace calque::testing
