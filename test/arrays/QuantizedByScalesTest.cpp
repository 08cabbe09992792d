// quantize, dequantize and conv_integer of calque/quantized.h. Expected numbers are exact: halves, sums of powers of
// two, and those of loops over the definition of a convolution.
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

// Images and filters of a convolution, and where the window is.
struct Convolution {
  std::vector<std::int64_t> images, filters; // [N,...,C] and [...,C/groups,F]
  IntegerConvOptions options;
  std::int64_t input, filter; // zero points; of filters one more for each filter where `isForEach`
  bool isForEach;
};

// Bytes from the whole range of a type, both ends among them.
Tensor bytesOf(const std::vector<std::int64_t> &shape, DType dtype, std::int64_t seed) {
  std::int64_t count = 1;
  for (std::int64_t size : shape)
    count *= size;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t byte = (i * i * 37 + i * 101 + seed) % 259 % 256;
    values.push_back(static_cast<double>(dtype == DType::Int8 ? byte - 128 : byte));
  }
  return makeTensor(dtype, values, shape);
}

// The sums by the definition, in 64 bits.
std::vector<std::int32_t> byDefinition(const Convolution &c, const Tensor &images, const Tensor &filters) {
  const std::size_t rank = c.images.size() - 2;
  auto withRank = [&](std::vector<std::int64_t> numbers, std::int64_t filler) {
    numbers.insert(numbers.begin(), 3 - rank, filler);
    return numbers;
  };
  auto ones = [&](const std::vector<std::int64_t> &numbers) {
    return withRank(numbers.empty() ? std::vector<std::int64_t>(rank, 1) : numbers, 1);
  };
  const std::vector<std::int64_t> strides = ones(c.options.strides), dilations = ones(c.options.dilations);
  const std::vector<std::int64_t> sizes = withRank({c.images.begin() + 1, c.images.end() - 1}, 1),
                                  window = withRank({c.filters.begin(), c.filters.end() - 2}, 1);
  std::vector<std::int64_t> low(3, 0), places(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (window[i] - 1) * dilations[i] + 1;
    const std::vector<std::int64_t> &pads = c.options.padding.numbers();
    std::int64_t all = 0;
    if (c.options.padding.name() == "same") {
      all = std::max<std::int64_t>(((sizes[i] + strides[i] - 1) / strides[i] - 1) * strides[i] + reach - sizes[i], 0);
      low[i] = all / 2;
    } else if (!pads.empty() && i + rank >= 3) {
      low[i] = pads[2 * (i + rank - 3)];
      all = low[i] + pads[2 * (i + rank - 3) + 1];
    }
    places[i] = sizes[i] + all < reach ? 0 : (sizes[i] + all - reach) / strides[i] + 1;
  }
  const std::vector<double> x = valuesOf(images), w = valuesOf(filters);
  const std::int64_t channels = c.images.back(), some = c.filters[rank], results = c.filters.back(),
                     each = results / c.options.groups;
  std::vector<std::int32_t> y;
  for (std::int64_t n = 0; n < c.images[0]; ++n)
    for (std::int64_t place = 0; place < places[0] * places[1] * places[2]; ++place)
      for (std::int64_t f = 0; f < results; ++f) {
        const std::array<std::int64_t, 3> at{place / places[2] / places[1], place / places[2] % places[1],
                                             place % places[2]};
        std::int64_t sum = 0;
        for (std::int64_t tap = 0; tap < window[0] * window[1] * window[2]; ++tap) {
          const std::array<std::int64_t, 3> of{tap / window[2] / window[1], tap / window[2] % window[1],
                                               tap % window[2]};
          std::int64_t position = n;
          bool isInside = true;
          for (std::size_t i = 0; i < 3; ++i) {
            const std::int64_t p = at[i] * strides[i] + of[i] * dilations[i] - low[i];
            isInside = isInside && p >= 0 && p < sizes[i];
            position = position * sizes[i] + p;
          }
          for (std::int64_t channel = 0; isInside && channel < some; ++channel)
            sum +=
                (std::int64_t(x[static_cast<std::size_t>(position * channels + f / each * some + channel)]) - c.input) *
                (std::int64_t(w[static_cast<std::size_t>((tap * some + channel) * results + f)]) - c.filter -
                 (c.isForEach ? f % 3 : 0));
        }
        y.push_back(static_cast<std::int32_t>(sum));
      }
  return y;
}

TEST(ConvInteger, HasTheSumsOfTheDefinition) {
  const Convolution cases[] = {
      {{2, 9, 5}, {3, 5, 4}, {}, 0, 0, false}, // few terms, which float32 adds up
      {{2, 9, 6}, {3, 3, 4}, {.strides = {2}, .padding = "same", .groups = 2}, 3, 1, true},
      {{1, 6, 7, 5}, {2, 3, 5, 3}, {.padding = "same"}, 5, 2, false},
      {{2, 9, 90}, {3, 90, 4}, {}, 0, 0, false}, // and many
      {{2, 9, 90}, {3, 90, 4}, {.strides = {2}, .padding = {{1, 3}}}, 7, 0, false},
      {{2, 6, 7, 65}, {2, 3, 65, 5}, {.padding = "same"}, 9, 4, true},
      {{2, 6, 7, 65}, {2, 3, 65, 5}, {.strides = {1, 2}, .padding = "same"}, 127, 100, false},
      {{1, 8, 9, 65}, {3, 2, 65, 6}, {.padding = {{2, 0}, {0, 1}}, .dilations = {2, 3}}, 1, 0, false},
      {{1, 8, 9, 140}, {2, 2, 70, 6}, {.strides = {3, 1}, .groups = 2}, 11, 3, true},
      {{2, 5, 4, 6, 30}, {2, 3, 2, 30, 3}, {.strides = {2, 1, 3}, .padding = "same"}, 2, 1, true},
      {{1, 4, 4, 300}, {1, 1, 300, 7}, {}, 0, 6, false},
      {{0, 4, 4, 300}, {1, 1, 300, 7}, {}, 0, 6, false},
      {{1, 4, 4, 100}, {3, 1, 100, 7}, {.dilations = {2, 1}}, 0, 6, false}, // which reaches beyond the images
  };
  for (const Convolution &c : cases)
    for (const auto &[ofImages, ofFilters] :
         {std::pair(DType::UInt8, DType::Int8), std::pair(DType::Int8, DType::UInt8),
          std::pair(DType::UInt8, DType::UInt8)}) {
      SCOPED_TRACE(Shape(c.images).str() + " " + Shape(c.filters).str() + " " + name_of(ofImages));
      const Tensor images = bytesOf(c.images, ofImages, 3), filters = bytesOf(c.filters, ofFilters, 5);
      IntegerConvOptions options = c.options;
      if (c.input != 0)
        options.input_zero_point = cast(scalar(c.input), ofImages);
      if (c.filter != 0 || c.isForEach) {
        options.filter_zero_point = cast(scalar(c.filter), ofFilters);
        if (c.isForEach)
          options.filter_zero_point =
              *options.filter_zero_point + cast(arange(c.filters.back()) % scalar<std::int64_t>(3), ofFilters);
      }
      const std::vector<std::int32_t> expected = byDefinition(c, images, filters);
      auto sums = [&](const Tensor &x, const Tensor &w) { return conv_integer(x, w, options); };
      EXPECT_EQ(sums(images, filters).to_vector<std::int32_t>(), expected);
      EXPECT_EQ(function(sums)(images, filters).to_vector<std::int32_t>(), expected);
      if (ofImages == ofFilters)
        continue;
      Shape open = images.shape();
      open[0] = kDynamic;
      auto ofAny =
          function(sums, {.input_signature = {TensorSpec(ofImages, open), TensorSpec(ofFilters, filters.shape())}});
      EXPECT_EQ(ofAny(images, filters).to_vector<std::int32_t>(), expected);
      // Each image alone, and images of sizes that are known when the function runs.
      auto alone = [&](const Tensor &x) { return sums(expand_dims(x, {0}), filters); };
      EXPECT_EQ(function(vmap(alone))(images).to_vector<std::int32_t>(), expected);
      Shape any = open;
      for (std::size_t i = 0; i + 1 < any.size(); ++i)
        any[i] = kDynamic;
      auto ofSizes =
          function(sums, {.input_signature = {TensorSpec(ofImages, any), TensorSpec(ofFilters, filters.shape())}});
      EXPECT_EQ(ofSizes(images, filters).to_vector<std::int32_t>(), expected);
    }
}

TEST(ConvInteger, SumsOfTheLargestProducts) {
  // 255 * 255 in each of 258 terms is the most that float32 has; one term more, and others.
  for (const std::int64_t channels : {258, 259, 4096}) {
    const Tensor x = full({1, 2, channels}, 255, DType::UInt8), w = full({1, channels, 2}, 255, DType::UInt8);
    const auto all = static_cast<std::int32_t>(channels * 255 * 255);
    EXPECT_EQ(conv_integer(x, w).to_vector<std::int32_t>(), std::vector<std::int32_t>(4, all));
    const Tensor low = full({1, 2, channels}, -128, DType::Int8);
    const IntegerConvOptions options{.input_zero_point = scalar<std::int8_t>(127)};
    EXPECT_EQ(function([&](const Tensor &x, const Tensor &w) { return conv_integer(x, w, options); })(low, w)
                  .to_vector<std::int32_t>(),
              std::vector<std::int32_t>(4, -all));
  }
}

TEST(ConvInteger, Misuse) {
  const Tensor x = ones({1, 5, 5, 4}, DType::Int8), w = ones({3, 3, 4, 2}, DType::UInt8);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { conv_integer(cast(x, DType::Int32), w); }),
                  "conv_integer: takes images of int8 or uint8, not int32[1,5,5,4]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { conv_integer(x, cast(w, DType::Float32)); }),
                  "conv_integer: takes filters of int8 or uint8, not float32[3,3,4,2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { conv_integer(x, w, {.input_zero_point = scalar<std::uint8_t>(1)}); }),
                  "conv_integer: the zero point of int8[1,5,5,4] is uint8[], and must have its type");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { conv_integer(x, w, {.input_zero_point = ones({4}, DType::Int8)}); }),
                  "conv_integer: the zero point of int8[1,5,5,4] is a scalar, not int8[4]");
  EXPECT_CONTAINS(
      errorOf<ShapeError>([&] { conv_integer(x, w, {.filter_zero_point = ones({4}, DType::UInt8)}); }),
      "conv_integer: the zero point of uint8[3,3,4,2] is a scalar, or a vector with a number for each filter, not "
      "uint8[4]");
  // The others are those of conv, for few terms and for many.
  for (const std::int64_t channels : {4, 40}) {
    const Tensor x = ones({1, 5, 5, channels}, DType::Int8), w = ones({3, 3, channels, 2}, DType::UInt8);
    for (const IntegerConvOptions &options :
         {IntegerConvOptions{.strides = {0, 1}}, IntegerConvOptions{.strides = {1}},
          IntegerConvOptions{.dilations = {1, -1}}, IntegerConvOptions{.groups = 0},
          IntegerConvOptions{.padding = "full"}, IntegerConvOptions{.padding = {{1, 1}}},
          IntegerConvOptions{.padding = {{1, -1}, {0, 0}}}})
      EXPECT_CONTAINS(errorOf<ValueError>([&] { conv_integer(x, w, options); }), "conv_integer: ");
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { conv_integer(x, ones({3, 3, channels + 1, 2}, DType::UInt8)); }),
                    "conv_integer: ");
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { conv_integer(ones({5, channels}, DType::Int8), w); }), "conv_integer: ");
  }
}

} // namespace
} // namespace calque::testing
