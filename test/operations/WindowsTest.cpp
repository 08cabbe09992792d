// Convolutions and pooling of one to three dimensions: values against plain loops over all windows, derivatives against
// central differences, many examples at once against one after the other, unknown sizes, and values of other
// frameworks.
#include "test/operations/Structured.h"

#include <algorithm>
#include <numeric>

using namespace calque;
using namespace calque::testing;

namespace {

using Ints = std::vector<std::int64_t>;

struct Case {
  Ints sizes, window;
  Ints strides = {}, dilations = {};
  Padding padding = "valid";
  std::int64_t groups = 1, channels = 2, filters = 3;

  std::size_t rank() const { return sizes.size(); }
  std::int64_t stride(std::size_t i) const { return strides.empty() ? 1 : strides[i]; }
  std::int64_t dilation(std::size_t i) const { return dilations.empty() ? 1 : dilations[i]; }
  // The number of windows along a dimension, and how many places of padding are before the image.
  std::pair<std::int64_t, std::int64_t> extent(std::size_t i) const {
    const std::int64_t reach = (window[i] - 1) * dilation(i) + 1, size = sizes[i];
    if (padding.name() == "same") {
      std::int64_t count = (size + stride(i) - 1) / stride(i);
      return {count, std::max<std::int64_t>((count - 1) * stride(i) + reach - size, 0) / 2};
    }
    const Ints &numbers = padding.numbers();
    std::int64_t before = numbers.empty() ? 0 : numbers[2 * i], behind = numbers.empty() ? 0 : numbers[2 * i + 1];
    std::int64_t room = size + before + behind - reach;
    return {room < 0 ? 0 : room / stride(i) + 1, before};
  }
  Shape images(std::int64_t count) const {
    Shape shape{count};
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    shape.push_back(channels);
    return shape;
  }
  Shape filterShape() const {
    Shape shape(window);
    shape.push_back(channels / groups);
    shape.push_back(filters);
    return shape;
  }
  Shape result(std::int64_t count, std::int64_t last) const {
    Shape shape{count};
    for (std::size_t i = 0; i < rank(); ++i)
      shape.push_back(extent(i).first);
    shape.push_back(last);
    return shape;
  }
  // Calls f with the place in the window, and the index in the images where it stands, for the window of an element of
  // the result, wherever that is inside of the images. The last index is left for f to set.
  template <typename F> void eachTap(const Shape &element, F f) const {
    Shape taps(window);
    for (std::int64_t t = 0; t < sizeOf(taps); ++t) {
      Shape tap = unravel(t, taps), at = element;
      bool isInside = true;
      for (std::size_t i = 0; i < rank(); ++i) {
        std::int64_t place = element[i + 1] * stride(i) + tap[i] * dilation(i) - extent(i).second;
        isInside &= place >= 0 && place < sizes[i];
        at[i + 1] = isInside ? place : 0;
      }
      if (isInside)
        f(tap, at);
    }
  }
  std::string name() const {
    return "images " + schema::shapeString(sizes) + " window " + schema::shapeString(window) + " strides " +
           schema::shapeString(strides) + " dilations " + schema::shapeString(dilations) + " padding " +
           padding.name() + schema::shapeString(padding.numbers()) + " groups " + std::to_string(groups);
  }
};

std::vector<double> convolved(const Case &c, const Tensor &x, const Tensor &w) {
  std::vector<double> xs = valuesOf(x), ws = valuesOf(w);
  const std::int64_t taken = c.channels / c.groups, each = c.filters / c.groups;
  return generate(c.result(x.shape()[0], c.filters), [&](const Shape &element) {
    double total = 0;
    const std::int64_t filter = element.back();
    c.eachTap(element, [&](Shape tap, Shape at) {
      for (std::int64_t k = 0; k < taken; ++k) {
        at.back() = filter / each * taken + k;
        Shape of = tap;
        of.push_back(k);
        of.push_back(filter);
        total += xs[ravel(at, x.shape())] * ws[ravel(of, w.shape())];
      }
    });
    return total;
  });
}

Body convolution(const Case &c) {
  return [c](const std::vector<Tensor> &in) {
    return conv(in[0], in[1],
                {.strides = c.strides, .padding = c.padding, .dilations = c.dilations, .groups = c.groups});
  };
}

// With all sizes open that may be, for these images and for others.
void expectOpen(const Body &f, const std::vector<std::vector<Tensor>> &calls, const std::vector<Shape> &shapes) {
  std::vector<TensorSpec<>> signature;
  for (const Shape &shape : shapes)
    signature.push_back(TensorSpec<>(DType::Float64, shape));
  auto both = [f](const std::vector<Tensor> &x) {
    std::vector<Tensor> results = gradients([&](const std::vector<Tensor> &y) { return sum(square(f(y))); }, x);
    results.push_back(f(x));
    return results;
  };
  auto open =
      function<std::vector<Tensor>(const std::vector<Tensor> &)>(ManyBody(both), {.input_signature = signature});
  for (const std::vector<Tensor> &inputs : calls) {
    std::vector<Tensor> found = open(inputs), expected = both(inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE("result " + std::to_string(i));
      expectAlike(found[i], expected[i], false);
    }
  }
}

const std::vector<Case> &convolutions() {
  static const std::vector<Case> cases = {
      {{7}, {3}},
      {{7}, {2}, {3}, {}, "same"},
      {{8}, {3}, {}, {2}},
      {{5}, {3}, {2}, {}, {{4, 5}}}, // windows that lie in the padding
      {{6}, {2}, {1}, {3}, "same", 2, 4, 6},
      {{9}, {3}, {2}, {3}, "same"},  // strides and dilations
      {{9}, {2}, {3}, {}, {{7, 8}}}, // and windows that lie in the padding
      {{6, 7}, {4, 3}, {3, 2}, {}, {{2, 3}, {1, 0}}, 2, 4, 6},
      {{7, 5}, {1, 2}, {2, 3}, {}, "same"}, // windows that leave elements out
      {{1}, {1}, {}, {}, {{0, 3}}},
      {{5, 4}, {3, 2}, {1, 2}, {}, {{1, 0}, {0, 2}}},
      {{5, 6}, {2, 3}, {2, 1}, {2, 1}, "same"},
      {{4, 4}, {3, 3}, {}, {}, "same", 4, 4, 8},
      {{5, 3}, {2, 2}, {}, {1, 2}, {{1, 2}, {3, 1}}, 2, 2, 2},
      {{2, 3}, {3, 5}, {}, {}, "same"}, // windows larger than the images
      {{3, 4, 3}, {2, 2, 2}},
      {{3, 2, 4}, {2, 1, 3}, {2, 1, 2}, {}, "same"},
      {{4, 3, 3}, {2, 2, 1}, {}, {2, 1, 1}, {{1, 0}, {0, 1}, {2, 0}}, 2, 4, 2},
  };
  return cases;
}

class Convolutions : public ::testing::TestWithParam<std::size_t> {};
} // namespace

TEST_P(Convolutions, AreSumsOverWindows) {
  const Case c = convolutions()[GetParam()];
  SCOPED_TRACE(c.name());
  std::mt19937 random(51);
  Tensor x = randomTensor(random, c.images(2)), w = randomTensor(random, c.filterShape());
  expectValues(convolution(c), {x, w}, c.result(2, c.filters), convolved(c, x, w));
  expectAllDerivatives(convolution(c), {x, w}, 2, true);
  Shape open(c.rank() + 2, kDynamic), filters = c.filterShape();
  filters.back() = kDynamic;
  if (c.groups == 1)
    filters[c.rank()] = kDynamic;
  Case larger = c;
  for (std::int64_t &size : larger.sizes)
    size += 3;
  expectOpen(convolution(c), {{x, w}, {randomTensor(random, larger.images(1)), w}}, {open, filters});
}

INSTANTIATE_TEST_SUITE_P(Windows, Convolutions, ::testing::Range(std::size_t(0), convolutions().size()));

TEST(Windows, ConvolutionsOfNothing) {
  for (const auto &[images, filters, result] :
       std::vector<std::tuple<Shape, Shape, Shape>>{{{0, 5, 2}, {3, 2, 4}, {0, 3, 4}},
                                                    {{2, 5, 0}, {3, 0, 4}, {2, 3, 4}},
                                                    {{2, 5, 2}, {3, 2, 0}, {2, 3, 0}},
                                                    {{2, 2, 2}, {3, 2, 4}, {2, 0, 4}},
                                                    {{2, 0, 2}, {3, 2, 4}, {2, 0, 4}}}) {
    SCOPED_TRACE(images.str() + " with " + filters.str());
    auto f = [](const Tensor &x, const Tensor &w) { return conv(x, w); };
    Tensor x = ones(images, DType::Float64), w = ones(filters, DType::Float64), y = both(f, x, w);
    EXPECT_EQ(y.shape(), result);
    for (double value : valuesOf(y))
      EXPECT_EQ(value, 0);
    auto slopes = gradients([&](const std::vector<Tensor> &in) { return sum(f(in[0], in[1])); }, {x, w});
    EXPECT_EQ(valuesOf(slopes[0]), std::vector<double>(sizeOf(images), 0));
    EXPECT_EQ(valuesOf(slopes[1]), std::vector<double>(sizeOf(filters), 0));
  }
  // Padding around nothing is zeros.
  Tensor y = both([](const Tensor &x, const Tensor &w) { return conv(x, w, {.padding = {{2, 1}}}); }, ones({1, 0, 2}),
                  ones({2, 2, 3}));
  EXPECT_EQ(y.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(valuesOf(y), std::vector<double>(6, 0));
}

// A dilation may reach far: what it costs is the padded images, not the reach.
TEST(Windows, DilationsThatReachFar) {
  Tensor x = tensor<double>({1, 2, 3}, {1, 3, 1}), w = tensor<double>({1, 10}, {2, 1, 1});
  const std::int64_t far = std::int64_t(1) << 40;
  EXPECT_EQ(conv(x, w, {.dilations = {far}}).shape(), (Shape{1, 0, 1}));
  EXPECT_EQ(valuesOf(conv(x, w, {.padding = {{0, 1000}}, .dilations = {1000}})), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(valuesOf(conv(x, w, {.padding = {{1000, 0}}, .dilations = {1000}})), (std::vector<double>{10, 20, 30}));
}

TEST(Windows, DepthwiseConvolution) {
  std::mt19937 random(52);
  for (std::int64_t multiplier : {1, 3})
    for (const char *padding : {"valid", "same"}) {
      Case c{{5, 4}, {3, 2}, {2, 1}, {}, padding, 3, 3, 3 * multiplier};
      Tensor x = randomTensor(random, c.images(2)), w = randomTensor(random, {3, 2, 3, multiplier});
      Body f = [padding](const std::vector<Tensor> &in) {
        return depthwise_conv2d(in[0], in[1], {.strides = {2, 1}, .padding = padding});
      };
      std::vector<double> expected = convolved(c, x, reshape(w, {3, 2, 1, 3 * multiplier}));
      expectValues(f, {x, w}, c.result(2, 3 * multiplier), expected);
      expectAllDerivatives(f, {x, w}, 2, false);
      expectOpen(f, {{x, w}, {randomTensor(random, {1, 6, 7, 3}), w}},
                 {{kDynamic, kDynamic, kDynamic, 3}, {3, 2, 3, multiplier}});
    }
}

// Each element of the images adds the filter to the result: from its place times the stride, and for "same" as much
// earlier as a convolution of that result is padded.
TEST(Windows, TransposedConvolution) {
  std::mt19937 random(53);
  struct Transposed {
    Ints sizes, window, strides, added = {}, dilations = {};
  };
  for (const Transposed &c :
       {Transposed{{4}, {3}, {2}}, Transposed{{3}, {2}, {3}}, Transposed{{3, 4}, {3, 2}, {2, 1}},
        Transposed{{3, 2}, {1, 4}, {2, 3}}, Transposed{{2, 2, 3}, {2, 3, 1}, {1, 2, 2}}, Transposed{{4}, {3}, {2}, {0}},
        Transposed{{4}, {4}, {3}, {2}}, Transposed{{3}, {1}, {2}, {1}}, Transposed{{3, 2}, {2, 3}, {2, 2}, {1, 0}},
        Transposed{{4}, {3}, {1}, {}, {2}}, Transposed{{3}, {2}, {2}, {1}, {3}},
        Transposed{{2, 3}, {2, 3}, {3, 1}, {}, {1, 2}}, Transposed{{5}, {2}, {1}, {1}, {3}},
        Transposed{{3}, {3}, {1}, {1}, {2}}, Transposed{{2, 3}, {2, 4}, {1, 1}, {1, 2}, {2, 3}}})
    for (const char *padding : {"valid", "same"}) {
      SCOPED_TRACE(schema::shapeString(c.sizes) + " window " + schema::shapeString(c.window) + " " + padding);
      const bool same = padding == std::string("same");
      const std::int64_t channels = 2, filters = 3, rank = std::ssize(c.sizes);
      Shape images{2}, window(c.window), result{2};
      Ints before;
      for (std::int64_t i = 0; i < rank; ++i) {
        images.push_back(c.sizes[i]);
        const std::int64_t stride = c.strides[i], dilation = c.dilations.empty() ? 1 : c.dilations[i];
        const std::int64_t reach = (c.window[i] - 1) * dilation, window = reach + 1;
        if (c.added.empty()) {
          result.push_back(c.sizes[i] * stride + (same ? 0 : std::max<std::int64_t>(window - stride, 0)));
          before.push_back(same ? std::max<std::int64_t>(window - stride, 0) / 2 : 0);
        } else {
          // As Keras has it: what it pads the images with, of which half and a half's rest is in front.
          result.push_back((c.sizes[i] - 1) * stride + window - (same ? window / 2 * 2 : 0) + c.added[i]);
          const std::int64_t padding = window + window % 2 - 2 + c.added[i];
          before.push_back(same ? reach - std::min(padding / 2 + padding % 2, reach) : 0);
        }
      }
      images.push_back(channels);
      window.push_back(filters);
      window.push_back(channels);
      result.push_back(filters);
      Tensor x = randomTensor(random, images), w = randomTensor(random, window);
      std::vector<double> xs = valuesOf(x), ws = valuesOf(w), expected(static_cast<std::size_t>(sizeOf(result)));
      for (std::int64_t i = 0; i < sizeOf(images); ++i)
        for (std::int64_t k = 0; k < sizeOf(window); ++k) {
          Shape at = unravel(i, images), of = unravel(k, window);
          if (of.back() != at.back())
            continue;
          bool isInside = true;
          for (std::int64_t d = 0; d < rank; ++d) {
            const std::int64_t dilation = c.dilations.empty() ? 1 : c.dilations[d];
            std::int64_t place = at[d + 1] * c.strides[d] + of[d] * dilation - before[d];
            isInside &= place >= 0 && place < result[d + 1];
            at[d + 1] = isInside ? place : 0;
          }
          at.back() = of[rank];
          if (isInside)
            expected[ravel(at, result)] += xs[i] * ws[k];
        }
      Body f = [&](const std::vector<Tensor> &in) {
        return conv_transpose(
            in[0], in[1],
            {.strides = c.strides, .padding = padding, .output_padding = c.added, .dilations = c.dilations});
      };
      expectValues(f, {x, w}, result, expected);
      expectAllDerivatives(f, {x, w}, 2, rank == 1);
      Shape open(rank + 2, kDynamic), other = images;
      other[1] = 5;
      open.back() = channels;
      expectOpen(f, {{x, w}, {randomTensor(random, other), w}}, {open, window});
    }
}

// As PyTorch has it: what no window reaches is zero.
TEST(Windows, OutputPaddingMayReachTheDilation) {
  Tensor x = reshape(iota({6}, DType::Float64), {1, 3, 2}) + 1, w = reshape(iota({6}, DType::Float64), {3, 1, 2}) - 2;
  Body f = [](const std::vector<Tensor> &in) {
    return conv_transpose(in[0], in[1], {.output_padding = {2}, .dilations = {3}});
  };
  Tensor reached = conv_transpose(x, w, {.output_padding = {0}, .dilations = {3}});
  expectSameBits(f({x, w}), pad(reached, {0, 0, 0}, {0, 2, 0}));
  expectGradients([&](const std::vector<Tensor> &in) { return sum(square(f(in))); }, {x, w});
  try {
    conv_transpose(x, w, {.output_padding = {3}, .dilations = {3}});
    ADD_FAILURE() << "no error";
  } catch (const ValueError &error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("conv_transpose: output padding must not be negative, and less "
                                 "than the strides [1] or the dilations [3], unlike [3]"))
        << error.what();
  }
}

TEST(Windows, TransposedConvolutionsOfNothingAreEmpty) {
  for (std::int64_t window : {1, 2, 3, 4, 5})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t added = 0; added < stride; ++added)
        for (const char *padding : {"valid", "same"}) {
          Tensor y = conv_transpose(zeros({2, 0, 3}), ones({window, 4, 3}),
                                    {.strides = {stride}, .padding = padding, .output_padding = {added}});
          const std::int64_t around = std::string(padding) == "same" ? 2 * (window / 2) : 0;
          EXPECT_EQ(y.shape(), Shape({2, std::max<std::int64_t>(window - stride - around + added, 0), 4}))
              << window << stride << added << padding;
          EXPECT_EQ(sum(abs(y)).item<float>(), 0);
        }
}

//===-- Pooling ---------------------------------------------------------------------------------===//
namespace {
const std::vector<Case> &pools() {
  static const std::vector<Case> cases = {
      {{7}, {3}, {3}},
      {{7}, {3}, {1}, {}, "same"},
      {{6}, {2}, {2}},
      {{5}, {3}, {2}, {}, {{2, 1}}},
      {{1}, {1}, {1}},
      {{8}, {4}, {2}},
      {{9}, {6}, {3}, {}, {{5, 4}}},
      {{7, 6}, {4, 2}, {2, 2}, {}, {{3, 1}, {1, 0}}},
      {{5, 4}, {2, 3}, {1, 2}, {}, "same"},
      {{4, 4}, {2, 2}, {2, 2}},
      {{4, 6}, {5, 4}, {5, 4}}, // one window in each row at most
      {{5, 3}, {3, 2}, {2, 1}, {}, {{1, 2}, {0, 1}}},
      {{2, 3}, {5, 7}, {1, 1}, {}, "same"},  // windows larger than the images
      {{9, 10}, {8, 9}, {1, 1}, {}, "same"}, // of more elements than are written out
      {{3, 4, 4}, {2, 2, 2}, {2, 2, 2}},
      {{4, 4, 4}, {2, 2, 2}, {2, 2, 2}},
      {{3, 2, 5}, {2, 1, 3}, {1, 1, 2}, {}, "same"},
      {{3, 3, 2}, {2, 3, 2}, {2, 1, 1}, {}, {{1, 0}, {0, 2}, {1, 1}}},
  };
  return cases;
}

// What a function makes of the elements of each window, in order.
std::vector<double> pooled(const Case &c, const Tensor &x,
                           const std::function<double(const std::vector<double> &)> &reduce) {
  std::vector<double> xs = valuesOf(x);
  return generate(c.result(x.shape()[0], c.channels), [&](const Shape &element) {
    std::vector<double> elements;
    c.eachTap(element, [&](const Shape &, Shape at) {
      at.back() = element.back();
      elements.push_back(xs[ravel(at, x.shape())]);
    });
    return reduce(elements);
  });
}

class Pools : public ::testing::TestWithParam<std::size_t> {};
} // namespace

TEST_P(Pools, ReduceWindows) {
  const Case c = pools()[GetParam()];
  SCOPED_TRACE(c.name());
  std::mt19937 random(54);
  Tensor x = randomTensor(random, c.images(2), -3, -1);
  auto largest = [](const std::vector<double> &e) { return *std::max_element(e.begin(), e.end()); };
  auto sumOf = [](const std::vector<double> &e) { return std::accumulate(e.begin(), e.end(), 0.0); };
  auto mean = [&](const std::vector<double> &e) { return sumOf(e) / static_cast<double>(e.size()); };
  auto by = [&](WindowReduction reduction) -> Body {
    return [&c, reduction](const std::vector<Tensor> &in) {
      return reduce_window(in[0], reduction, c.window, {.strides = c.strides, .padding = c.padding});
    };
  };
  const Shape result = c.result(2, c.channels), open(c.rank() + 2, kDynamic);
  Case larger = c;
  for (std::int64_t &size : larger.sizes)
    size += 2;
  Tensor distinct = distinctTensor(random, c.images(1)), other = distinctTensor(random, larger.images(1));
  expectValues(by(WindowReduction::Max), {x}, result, pooled(c, x, largest));
  Body cubed = [&](const std::vector<Tensor> &in) {
    return square(by(WindowReduction::Max)({in[0] * in[0] * in[0] / 10}));
  };
  expectAllDerivatives(by(WindowReduction::Max), {distinct}, 1, true); // its second derivative is zero
  expectAllDerivatives(cubed, {distinct}, 2, false);
  expectOpen(by(WindowReduction::Max), {{distinct}, {other}}, {open});
  expectValues(by(WindowReduction::Sum), {x}, result, pooled(c, x, sumOf));
  expectAllDerivatives([&](const std::vector<Tensor> &in) { return square(by(WindowReduction::Sum)(in)); }, {x}, 2,
                       true);
  expectOpen(by(WindowReduction::Sum), {{x}, {other}}, {open});
  expectValues(by(WindowReduction::Mean), {x}, result, pooled(c, x, mean));
  expectAllDerivatives(by(WindowReduction::Mean), {x}, 1, false);
  expectOpen(by(WindowReduction::Mean), {{x}, {other}}, {open});
}

INSTANTIATE_TEST_SUITE_P(Windows, Pools, ::testing::Range(std::size_t(0), pools().size()));

TEST(Windows, PoolsBySteps) {
  Tensor x = tensor<double>({1, 5, 2, 4, 3, 6, 0}, {1, 7, 1});
  // Without strides the windows stand next to each other.
  EXPECT_EQ(valuesOf(max_pool(x, {2})), (std::vector<double>{5, 4, 6}));
  EXPECT_EQ(valuesOf(average_pool(x, {2})), (std::vector<double>{3, 3, 4.5}));
  EXPECT_EQ(valuesOf(average_pool(x, {2}, {.padding = "same"})), (std::vector<double>{3, 3, 4.5, 0}));
  EXPECT_EQ(valuesOf(average_pool(x, {3}, {.strides = {3}, .padding = {{1, 1}}})), (std::vector<double>{3, 3, 3}));
  EXPECT_EQ(valuesOf(max_pool(x, {7}, {.strides = {1}, .padding = "same"})),
            (std::vector<double>{5, 5, 6, 6, 6, 6, 6}));
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Tensor special = tensor<double>({1, nan, -infinity, -infinity, infinity, 2}, {1, 6, 1});
  expectValues([](const std::vector<Tensor> &in) { return max_pool(in[0], {2}); }, {special}, {1, 3, 1},
               {nan, -infinity, infinity});
  expectValues([](const std::vector<Tensor> &in) { return average_pool(in[0], {2}); }, {special}, {1, 3, 1},
               {nan, -infinity, infinity});
  // Of equal elements the first takes the gradient, and so does NaN.
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return sum(max_pool(a, {3}, {.strides = {1}})); })(
                tensor<double>({2, 2, 2, 2, 1}, {1, 5, 1}))),
            (std::vector<double>{1, 1, 1, 0, 0}));
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return sum(max_pool(a, {2})); })(special)),
            (std::vector<double>{0, 1, 1, 0, 1, 0}));
}

TEST(Windows, PoolsOfNothing) {
  for (WindowReduction reduction : {WindowReduction::Max, WindowReduction::Sum, WindowReduction::Mean})
    for (const auto &[images, result] : std::vector<std::pair<Shape, Shape>>{
             {{0, 5, 2}, {0, 2, 2}}, {{2, 5, 0}, {2, 2, 0}}, {{2, 1, 3}, {2, 0, 3}}, {{2, 0, 3}, {2, 0, 3}}}) {
      auto f = [&](const Tensor &x) { return reduce_window(x, reduction, {2}); };
      EXPECT_EQ(both(f, ones(images)).shape(), result);
      Tensor slope = grad([&](const Tensor &x) { return sum(f(x)); })(ones(images));
      EXPECT_EQ(valuesOf(slope), std::vector<double>(sizeOf(images), 0));
    }
  Tensor none = ones({1, 0, 1});
  EXPECT_THROW(max_pool(none, {3}, {.padding = {{1, 2}}}), ShapeError);
  EXPECT_EQ(valuesOf(reduce_window(none, WindowReduction::Sum, {3}, {.padding = {{1, 2}}})), std::vector<double>{0});
  EXPECT_TRUE(std::isnan(valuesOf(average_pool(none, {3}, {.padding = {{1, 2}}}))[0]));
  auto open = function([](const Tensor &x) { return max_pool(x, {3}, {.padding = {{1, 2}}}); },
                       {.input_signature = {TensorSpec<float>({1, kDynamic, 1})}});
  EXPECT_EQ(open(ones({1, 1, 1})).shape(), (Shape{1, 1, 1}));
  EXPECT_THROW(open(none), ShapeError);
}
