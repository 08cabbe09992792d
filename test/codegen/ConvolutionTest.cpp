// Convolutions and both their gradients against plain sums.
#include "test/codegen/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Convolution {
  std::int64_t images, height, width, channels, rows, columns, filters;
  Axes strides;
  bool same;
  Padding::Pairs pads = {}; // where not the same: rows, columns
};

void expectConvolution(const Convolution &c, DType dtype) {
  SCOPED_TRACE(std::string(name_of(dtype)) + ": " + text({c.images, c.height, c.width, c.channels}) + " by " +
               text({c.rows, c.columns, c.channels, c.filters}) + " strides " + text(c.strides) +
               (c.same           ? " same"
                : c.pads.empty() ? " valid"
                                 : " padded"));
  std::mt19937 random(4);
  Tensor x = operand(random, {c.images, c.height, c.width, c.channels}, dtype);
  Tensor w = operand(random, {c.rows, c.columns, c.channels, c.filters}, dtype);
  const Padding::Pairs pads = c.pads.empty() ? Padding::Pairs{{0, 0}, {0, 0}} : c.pads;
  auto extent = [&](std::int64_t size, std::int64_t window, std::size_t i) {
    return c.same ? (size + c.strides[i] - 1) / c.strides[i]
                  : (size + pads[i].first + pads[i].second - window) / c.strides[i] + 1;
  };
  std::int64_t outRows = extent(c.height, c.rows, 0), outColumns = extent(c.width, c.columns, 1);
  auto padding = [&](std::int64_t out, std::int64_t size, std::int64_t window, std::size_t i) {
    return c.same ? std::max<std::int64_t>((out - 1) * c.strides[i] + window - size, 0) / 2 : pads[i].first;
  };
  std::int64_t top = padding(outRows, c.height, c.rows, 0), left = padding(outColumns, c.width, c.columns, 1);
  Tensor g = operand(random, {c.images, outRows, outColumns, c.filters}, dtype);
  auto f = compile([&](const std::vector<Tensor> &in) {
    GradientTape tape;
    tape.watch(in[0]);
    tape.watch(in[1]);
    Tensor y = conv2d(in[0], in[1], c.strides, c.same ? "same" : Padding(pads));
    auto gradients = tape.gradient(sum(y * in[2]), std::vector<Tensor>{in[0], in[1]});
    return std::vector<Tensor>{y, *gradients[0], *gradients[1]};
  });
  std::vector<Tensor> found = f({x, w, g});

  Sums forward(g.shape()), ofImages(x.shape()), ofFilters(w.shape());
  std::vector<double> xs = valuesOf(x), ws = valuesOf(w), gs = valuesOf(g);
  for (std::int64_t n = 0; n < c.images; ++n)
    for (std::int64_t oh = 0; oh < outRows; ++oh)
      for (std::int64_t ow = 0; ow < outColumns; ++ow)
        for (std::int64_t kh = 0; kh < c.rows; ++kh)
          for (std::int64_t kw = 0; kw < c.columns; ++kw) {
            std::int64_t row = oh * c.strides[0] + kh - top, column = ow * c.strides[1] + kw - left;
            if (row < 0 || row >= c.height || column < 0 || column >= c.width)
              continue;
            for (std::int64_t channel = 0; channel < c.channels; ++channel)
              for (std::int64_t filter = 0; filter < c.filters; ++filter) {
                auto ofX = static_cast<std::size_t>(((n * c.height + row) * c.width + column) * c.channels + channel);
                auto ofW =
                    static_cast<std::size_t>(((kh * c.columns + kw) * c.channels + channel) * c.filters + filter);
                auto ofG = static_cast<std::size_t>(((n * outRows + oh) * outColumns + ow) * c.filters + filter);
                forward.add(ofG, static_cast<long double>(xs[ofX]) * ws[ofW]);
                ofImages.add(ofX, static_cast<long double>(gs[ofG]) * ws[ofW]);
                ofFilters.add(ofW, static_cast<long double>(gs[ofG]) * xs[ofX]);
              }
          }
  const Sums *expected[] = {&forward, &ofImages, &ofFilters};
  const char *names[] = {"forward", "gradient of the images", "gradient of the filters"};
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(names[i]);
    expectSums(found[i], *expected[i]);
  }
}

} // namespace

TEST(Convolution, OfOneOfEverything) {
  expectConvolution({1, 1, 1, 1, 1, 1, 1, {1, 1}, false}, DType::Float32);
  expectConvolution({1, 5, 5, 1, 3, 3, 1, {1, 1}, true}, DType::Float64);
  expectConvolution({2, 9, 7, 31, 5, 5, 1, {1, 1}, true}, DType::Float32);
  expectConvolution({1, 9, 9, 1, 3, 3, 17, {2, 2}, false}, DType::Float32);
}

TEST(Convolution, OfOddSizesAndStrides) {
  expectConvolution({2, 7, 9, 3, 3, 3, 5, {2, 1}, false}, DType::Float32);
  expectConvolution({3, 13, 11, 17, 3, 5, 33, {2, 3}, true}, DType::Float32);
  expectConvolution({4, 6, 5, 2, 2, 2, 3, {3, 3}, false}, DType::Float64);
  expectConvolution({1, 8, 8, 16, 1, 1, 65, {1, 1}, false}, DType::Float32);
  expectConvolution({2, 8, 9, 5, 1, 1, 9, {2, 2}, true}, DType::Float64);
  expectConvolution({1, 10, 3, 4, 7, 2, 15, {1, 2}, true}, DType::Float32);
}

TEST(Convolution, OfFiltersLargerThanImages) { expectConvolution({1, 2, 3, 2, 5, 5, 3, {1, 1}, true}, DType::Float32); }

// A strided window that fits nowhere: no results, and no gradients but zeros.
TEST(Convolution, OfNoWindows) { expectConvolution({1, 4, 1, 1, 2, 3, 2, {1, 2}, false}, DType::Float32); }

// Kernels leave out rows of zeros: here some places have no other ones, and the borders differ.
TEST(Convolution, OfImagesWithWideBorders) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    expectConvolution({3, 7, 7, 16, 3, 3, 32, {1, 1}, false, {{4, 5}, {1, 1}}}, dtype);
    expectConvolution({2, 3, 5, 8, 7, 3, 16, {1, 1}, true}, dtype);
    expectConvolution({2, 1, 9, 24, 3, 3, 40, {1, 1}, true}, dtype);
    expectConvolution({5, 6, 4, 17, 4, 2, 33, {1, 1}, false, {{0, 3}, {2, 0}}}, dtype);
    expectConvolution({2, 9, 8, 16, 3, 3, 32, {2, 1}, false, {{2, 1}, {1, 2}}}, dtype);
    expectConvolution({70, 5, 5, 5, 3, 3, 4, {1, 1}, true}, dtype);
    // Rows of one or two tiles, with the zeros beside them.
    expectConvolution({3, 7, 7, 32, 3, 3, 64, {1, 1}, true}, dtype);
    expectConvolution({2, 3, 9, 48, 2, 3, 40, {1, 1}, false, {{1, 0}, {2, 1}}}, dtype);
    expectConvolution({2, 4, 6, 32, 3, 3, 32, {1, 1}, false, {{1, 1}, {4, 3}}}, dtype);
    expectConvolution({2, 5, 14, 64, 1, 2, 33, {1, 1}, true}, dtype);
    expectConvolution({2, 3, 7, 96, 3, 3, 32, {1, 1}, true}, dtype);
    expectConvolution({1, 3, 7, 128, 3, 3, 64, {1, 1}, true}, dtype);
    // Terms of gradients of filters: rows of images, less the zeros that all rows of a tile have beside them.
    expectConvolution({9, 5, 12, 24, 3, 5, 32, {1, 1}, true}, dtype);
    expectConvolution({8, 7, 8, 7, 3, 3, 48, {1, 1}, false, {{1, 1}, {0, 2}}}, dtype);
    expectConvolution({5, 6, 9, 16, 2, 4, 33, {1, 1}, false, {{0, 1}, {3, 1}}}, dtype);
    expectConvolution({4, 7, 6, 48, 3, 3, 20, {1, 1}, false, {{2, 2}, {5, 4}}}, dtype);
    // The same where rows or columns are one loop with the channels, so that a tile packs the panel on its way.
    expectConvolution({64, 5, 1, 16, 3, 3, 32, {1, 1}, true}, dtype);
    expectConvolution({40, 1, 12, 16, 1, 6, 32, {1, 1}, true}, dtype);
    expectConvolution({33, 2, 9, 17, 1, 5, 33, {1, 1}, true}, dtype);
    expectConvolution({24, 1, 4, 16, 1, 4, 16, {1, 1}, false, {{0, 0}, {4, 4}}}, dtype);
    // One row of results, whose first tile packs the panel.
    expectConvolution({1, 3, 9, 64, 3, 3, 512, {1, 1}, false, {{0, 0}, {1, 1}}}, dtype);
    expectConvolution({1, 3, 7, 64, 3, 3, 200, {1, 1}, false, {{0, 0}, {8, 0}}}, dtype);
  }
}

// As wide as the window: its rows, columns and channels are one loop, and so long that runs are more than one group.
TEST(Convolution, OfThreeDimensions) {
  std::mt19937 random(9);
  for (const auto &[size, channels] :
       {std::pair<Shape, std::int64_t>{{2, 2, 1}, 32}, {{3, 4, 1}, 36}, {{2, 5, 3}, 48}}) {
    const std::int64_t filters = 33, depth = size[0], height = size[1], width = size[2];
    Tensor x = operand(random, {2, depth, height, width, channels}, DType::Float32),
           w = operand(random, {3, 3, 3, channels, filters}, DType::Float32);
    Tensor y = compile([](const std::vector<Tensor> &in) {
      return std::vector<Tensor>{conv(in[0], in[1], {.padding = "same"})};
    })({x, w})[0];
    Sums expected(y.shape());
    std::vector<double> xs = valuesOf(x), ws = valuesOf(w);
    const Shape images{2, depth, height, width}, taps{3, 3, 3};
    for (std::int64_t i = 0; i < 2 * depth * height * width; ++i)
      for (std::int64_t k = 0; k < 27; ++k) {
        Shape at = unravel(i, images), tap = unravel(k, taps);
        Shape from{at[0], at[1] + tap[0] - 1, at[2] + tap[1] - 1, at[3] + tap[2] - 1};
        if (from[1] < 0 || from[1] >= depth || from[2] < 0 || from[2] >= height || from[3] < 0 || from[3] >= width)
          continue;
        const std::int64_t pixel = ravel(from, images);
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t f = 0; f < filters; ++f)
            expected.add(static_cast<std::size_t>(i * filters + f),
                         static_cast<long double>(xs[static_cast<std::size_t>(pixel * channels + c)]) *
                             ws[static_cast<std::size_t>((k * channels + c) * filters + f)]);
      }
    expectSums(y, expected);
  }
}

TEST(Convolution, OfTheCnnsLayers) {
  expectConvolution({3, 28, 28, 1, 3, 3, 16, {1, 1}, true}, DType::Float32);
  expectConvolution({5, 14, 14, 16, 3, 3, 32, {1, 1}, true}, DType::Float32);
  expectConvolution({65, 7, 7, 3, 3, 3, 8, {1, 1}, true}, DType::Float32);
}

// Where the rows of one image are more than a panel may hold.
// Vectors along the channels of a window, with rows of results that fill no tile.
TEST(Convolution, OfFewFilters) {
  expectConvolution({2, 11, 13, 64, 3, 3, 1, {1, 1}, true}, DType::Float32);
  expectConvolution({2, 11, 13, 100, 3, 3, 4, {1, 1}, false}, DType::Float32);
  expectConvolution({1, 9, 7, 33, 5, 2, 3, {2, 1}, true}, DType::Float64);
  expectConvolution({1, 6, 40, 700, 2, 3, 2, {1, 2}, false}, DType::Float32);
}

// The last filters would fill no vector.
TEST(Convolution, OfFiltersThatFillNoVector) {
  expectConvolution({1, 20, 23, 100, 3, 3, 100, {1, 1}, true}, DType::Float32);
  expectConvolution({2, 11, 13, 64, 3, 3, 34, {2, 1}, false}, DType::Float32);
  expectConvolution({2, 9, 7, 33, 3, 2, 17, {1, 1}, true}, DType::Float64);
}
TEST(Convolution, OfLargeImages) { expectConvolution({1, 200, 160, 3, 3, 3, 16, {1, 1}, true}, DType::Float32); }
TEST(Convolution, OfLargeImagesWithManyChannels) {
  expectConvolution({1, 120, 120, 32, 3, 3, 16, {1, 1}, true}, DType::Float32);
}

// Images whose number is known when the function is called, or not even whose sizes are. Whole numbers, so that sums
// are exact in any order: with one image threads share nothing, with many they share the terms of the filters'
// gradients.
TEST(Convolution, OfOpenSizesAsOfKnownOnes) {
  std::mt19937 random(8);
  auto body = [](const Tensor &x, const Tensor &w) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    Tensor y = conv2d(x, w, {1, 1}, "same");
    auto gradients = tape.gradient(sum(y * y), std::vector<Tensor>{x, w});
    return std::vector<Tensor>{y, *gradients[0], *gradients[1]};
  };
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const Shape &filter : {Shape{3, 3, 8, 32}, Shape{3, 5, 3, 10}})
      for (bool areSizesOpen : {false, true}) {
        Shape open = areSizesOpen ? Shape{kDynamic, kDynamic, kDynamic, filter[2]} : Shape{kDynamic, 14, 13, filter[2]};
        TensorSpec<> images(dtype, open), filters(dtype, filter);
        auto f = function(body, {.input_signature = {images, filters}});
        Tensor w = wholes(random, filter, dtype);
        for (std::int64_t count : {0, 1, 2, 5, 17, 64, 65}) {
          Tensor x = wholes(random, {count, 14, 13, filter[2]}, dtype);
          std::vector<Tensor> expected = function(body)(x, w), found = f(x, w);
          for (std::size_t i = 0; i < 3; ++i) {
            SCOPED_TRACE(std::to_string(count) + " images, result " + std::to_string(i));
            expectElements(found[i], expected[i].shape(), valuesOf(expected[i]));
          }
        }
      }
}
