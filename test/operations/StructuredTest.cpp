// Reductions, contractions, convolutions and pooling: values against plain loops, derivatives against central
// differences, many examples at once against one after the other.
#include "test/operations/Structured.h"

#include <numeric>

using namespace calque;
using namespace calque::testing;

//===-- Reductions ------------------------------------------------------------------------------===//
namespace {
using Reduction = Tensor (*)(const Operand &, Axes, bool);
using Fold = double (*)(const std::vector<double> &);

struct ReductionCase {
  std::string name;
  Reduction function;
  Fold fold;
  bool ofNone; // legal without elements
};

void PrintTo(const ReductionCase &op, std::ostream *os) { *os << op.name; }

std::vector<ReductionCase> reductions() {
  return {
      {"sum", sum, [](const std::vector<double> &x) { return std::accumulate(x.begin(), x.end(), 0.0); }, true},
      {"mean", mean,
       [](const std::vector<double> &x) {
         return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
       },
       true},
      {"max", max, [](const std::vector<double> &x) { return *std::max_element(x.begin(), x.end()); }, false},
      {"min", min, [](const std::vector<double> &x) { return *std::min_element(x.begin(), x.end()); }, false},
      {"logsumexp", logsumexp,
       [](const std::vector<double> &x) {
         double largest = *std::max_element(x.begin(), x.end()), total = 0;
         for (double value : x)
           total += std::exp(value - largest);
         return largest + std::log(total);
       },
       false},
  };
}

void expectReduction(const ReductionCase &op, const Tensor &x, const Axes &axes, bool keepdims) {
  SCOPED_TRACE(op.name + " of " + x.shape().str() + " over " + schema::shapeString(axes));
  std::vector<bool> reduced(x.shape().size(), axes.empty());
  for (std::int64_t axis : axes)
    reduced[dimensionOf(axis, x.rank())] = true;
  Shape kept, shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    kept.push_back(reduced[i] ? Size(1) : x.shape()[i]);
    if (keepdims || !reduced[i])
      shape.push_back(kept.back());
  }
  std::vector<std::vector<double>> groups(sizeOf(kept));
  std::vector<double> values = valuesOf(x), expected;
  for (std::int64_t i = 0; i < x.size(); ++i)
    groups[broadcastIndex(unravel(i, x.shape()), kept)].push_back(values[i]);
  for (const std::vector<double> &group : groups)
    expected.push_back(op.fold(group));
  expectValues([&](const std::vector<Tensor> &in) { return op.function(in[0], axes, keepdims); }, {x}, shape, expected);
}

class Reductions : public ::testing::TestWithParam<ReductionCase> {};

} // namespace

TEST_P(Reductions, FoldEachGroup) {
  std::mt19937 random(1);
  for (bool keepdims : {false, true}) {
    expectReduction(GetParam(), randomTensor(random, {}), {}, keepdims);
    expectReduction(GetParam(), randomTensor(random, {1}), {0}, keepdims);
    expectReduction(GetParam(), randomTensor(random, {37}), {-1}, keepdims);
    for (const Axes &axes : {Axes{}, Axes{0}, Axes{1}, Axes{-1}, Axes{0, -1}, Axes{1, 2}, Axes{-2, 0}})
      expectReduction(GetParam(), randomTensor(random, {2, 3, 5}), axes, keepdims);
  }
}

TEST_P(Reductions, OfNoElements) {
  if (!GetParam().ofNone) {
    EXPECT_THROW(GetParam().function(zeros({0, 3}), {0}, false), Error);
  }
}

TEST_P(Reductions, HaveDerivatives) {
  std::mt19937 random(2);
  const ReductionCase &op = GetParam();
  for (const Axes &axes : {Axes{}, Axes{1}, Axes{-1, 0}})
    for (bool keepdims : {false, true}) {
      SCOPED_TRACE("over " + schema::shapeString(axes));
      expectAllDerivatives(
          [&op, axes, keepdims](const std::vector<Tensor> &x) { return op.function(x[0], axes, keepdims); },
          {distinctTensor(random, {2, 3, 2})}, 2, axes.size() == 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Structured, Reductions, ::testing::ValuesIn(reductions()),
                         [](const auto &info) { return info.param.name; });

TEST(Structured, IntegerReductions) {
  Tensor x = tensor<std::int64_t>({5, -1, 7, 2, 9, -4}, {2, 3});
  auto compiled = function([](const Tensor &a) { return std::vector<Tensor>{sum(a, {0}), max(a, {-1}), min(a)}; });
  std::vector<Tensor> results = compiled(x);
  EXPECT_EQ(results[0].to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 8, 3}));
  EXPECT_EQ(results[1].to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(results[2].to_vector<std::int64_t>(), (std::vector<std::int64_t>{-4}));
}

TEST(Structured, ReductionsOfSpecialValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Tensor x = tensor<double>({1, nan, 2, -infinity, 3, infinity, 1000, 1000, 1000}, {3, 3});
  Axes last = {1};
  expectValues([&](const std::vector<Tensor> &in) { return max(in[0], last); }, {x}, {3}, {nan, infinity, 1000});
  expectValues([&](const std::vector<Tensor> &in) { return min(in[0], last); }, {x}, {3}, {nan, -infinity, 1000});
  Tensor large = tensor<double>({1000, 1000, -1000, -1000}, {2, 2});
  expectValues([&](const std::vector<Tensor> &in) { return logsumexp(in[0], last); }, {large}, {2},
               {1000 + std::log(2.0), -1000 + std::log(2.0)});
  expectValues([&](const std::vector<Tensor> &in) { return softmax(in[0]); }, {large}, {2, 2}, {0.5, 0.5, 0.5, 0.5});
  expectValues([&](const std::vector<Tensor> &in) { return log_softmax(in[0]); }, {large}, {2, 2},
               std::vector<double>(4, -std::log(2.0)));
  // By the limits: a class that can't be takes no part, one that is infinitely likely leaves nothing to the others, and
  // the shares of several infinities are not defined.
  Tensor infinite = tensor<double>({0, -infinity, infinity, 1, -infinity, -infinity}, {3, 2});
  expectValues([&](const std::vector<Tensor> &in) { return logsumexp(in[0], last); }, {infinite}, {3},
               {0, infinity, -infinity});
  expectValues([&](const std::vector<Tensor> &in) { return softmax(in[0]); }, {infinite}, {3, 2},
               {1, 0, nan, 0, nan, nan});
  expectValues([&](const std::vector<Tensor> &in) { return log_softmax(in[0]); }, {infinite}, {3, 2},
               {0, -infinity, nan, -infinity, nan, nan});
}

// Expected values are shares of equals, and log(1 + exp(-d)) of two elements that are d apart.
TEST(Structured, ExponentialsOfLargeElementsAreExact) {
  auto row = [](std::vector<float> x) {
    auto size = static_cast<std::int64_t>(x.size());
    return tensor<float>(std::move(x), {size});
  };
  for (float magnitude : {0.f, 1e4f, 1e6f, -1e6f, 3e38f}) {
    SCOPED_TRACE(magnitude);
    Tensor pair = row({magnitude, magnitude}),
           four = reshape(row({magnitude, magnitude, magnitude, magnitude}), {2, 2});
    auto whole = [](const Tensor &x) { return logsumexp(x); };
    EXPECT_EQ(valuesOf(grad(whole)(pair)), (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(valuesOf(grad(whole)(four)), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
    EXPECT_EQ(valuesOf(jvp(whole, pair, tensor<float>({1, 0}, {2})).second), (std::vector<double>{0.5}));
    EXPECT_EQ(valuesOf(jvp(whole, four, tensor<float>({1, 0, 0, 0}, {2, 2})).second), (std::vector<double>{0.25}));
    EXPECT_EQ(valuesOf(grad([](const Tensor &x) { return slice(log_softmax(x), {0}, {1}); })(pair)),
              (std::vector<double>{0.5, -0.5}));
    auto curvature = hessian([](const Tensor &x) { return logsumexp(x); });
    EXPECT_EQ(valuesOf(curvature(pair)), (std::vector<double>{0.25, -0.25, -0.25, 0.25}));
  }
  std::vector<double> logs = valuesOf(log_softmax(row({10000, 10000.5f})));
  EXPECT_NEAR(logs[0], -0.97407698, 1e-6);
  EXPECT_NEAR(logs[1], -0.47407698, 1e-6);
  // Far below the largest element softmax is 0, and its logarithm still the distance.
  EXPECT_EQ(valuesOf(log_softmax(row({0, -500}))), (std::vector<double>{0, -500}));
}

TEST(Structured, TiesShareTheGradient) {
  Tensor x = tensor<double>({1, 3, 3, 0}, {4});
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return max(a); })(x)), (std::vector<double>{0, 0.5, 0.5, 0}));
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return min(a * -1); })(x)), (std::vector<double>{0, -0.5, -0.5, 0}));
}

namespace {
// An operation along an axis whose elements follow from x there and the sum of the exponentials.
void expectAlongAxis(std::uint32_t seed, Tensor (*operation)(const Operand &, std::int64_t),
                     double (*element)(double x, double total)) {
  std::mt19937 random(seed);
  for (std::int64_t axis : {-1, 0, 1, -2}) {
    SCOPED_TRACE(axis);
    Tensor x = randomTensor(random, {3, 4, 5});
    std::vector<double> values = valuesOf(x);
    std::size_t dim = dimensionOf(axis, 3);
    std::vector<double> expected = generate(x.shape(), [&](const Shape &index) {
      Shape other = index;
      double total = 0;
      for (other[dim] = 0; other[dim] < x.shape()[dim]; ++other[dim])
        total += std::exp(values[ravel(other, x.shape())]);
      return element(values[ravel(index, x.shape())], total);
    });
    Body f = [operation, axis](const std::vector<Tensor> &in) { return operation(in[0], axis); };
    expectValues(f, {x}, x.shape(), expected);
    expectAllDerivatives(f, {randomTensor(random, {2, 3, 2})}, 2, axis == 0);
  }
}
} // namespace

TEST(Structured, Softmax) {
  expectAlongAxis(3, softmax, [](double x, double total) { return std::exp(x) / total; });
}

TEST(Structured, LogSoftmax) {
  expectAlongAxis(31, log_softmax, [](double x, double total) { return x - std::log(total); });
}

TEST(Structured, ArgMax) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = tensor<double>({1, 5, 5, 7, nan, 9, 0, 0, 0}, {3, 3});
  expectValues([](const std::vector<Tensor> &in) { return argmax(in[0]); }, {x}, {3}, {1, 1, 0});
  expectValues([](const std::vector<Tensor> &in) { return argmax(in[0], 0); }, {x}, {3}, {1, 1, 1});
  EXPECT_EQ(argmax(x).dtype(), DType::Int64);
  std::mt19937 random(4);
  Tensor y = distinctTensor(random, {3, 7, 2});
  std::vector<double> values = valuesOf(y), expected = generate({3, 2}, [&](const Shape &index) {
                                              std::int64_t best = 0;
                                              for (std::int64_t j = 1; j < 7; ++j)
                                                if (values[ravel({index[0], j, index[1]}, y.shape())] >
                                                    values[ravel({index[0], best, index[1]}, y.shape())])
                                                  best = j;
                                              return static_cast<double>(best);
                                            });
  expectValues([](const std::vector<Tensor> &in) { return argmax(in[0], 1); }, {y}, {3, 2}, expected);
}

//===-- Contractions ----------------------------------------------------------------------------===//
TEST(Structured, Matmul) {
  struct Case {
    Shape a, b, batch;
    std::int64_t m, k, n;
  };
  std::mt19937 random(5);
  for (const Case &c :
       {Case{{}, {}, {}, 1, 1, 1}, Case{{}, {}, {}, 3, 4, 5}, Case{{}, {}, {}, 17, 33, 9}, Case{{2}, {2}, {2}, 3, 4, 2},
        Case{{2}, {}, {2}, 3, 5, 2}, Case{{}, {3}, {3}, 2, 3, 4}, Case{{2, 1}, {3}, {2, 3}, 2, 3, 2}})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true}) {
        auto shapeOf = [](Shape batch, std::int64_t rows, std::int64_t columns, bool swap) {
          batch.push_back(swap ? columns : rows);
          batch.push_back(swap ? rows : columns);
          return batch;
        };
        Shape a = shapeOf(c.a, c.m, c.k, transposeA), b = shapeOf(c.b, c.k, c.n, transposeB),
              result = shapeOf(c.batch, c.m, c.n, false);
        SCOPED_TRACE(a.str() + " times " + b.str());
        Tensor x = randomTensor(random, a), y = randomTensor(random, b);
        std::vector<double> xs = valuesOf(x), ys = valuesOf(y);
        std::vector<double> expected = generate(result, [&](Shape index) {
          std::int64_t column = index.back(), row = index[index.size() - 2];
          index.erase(index.end() - 2, index.end());
          double total = 0;
          for (std::int64_t k = 0; k < c.k; ++k) {
            auto at = [&](std::int64_t i, std::int64_t j, bool swap) {
              Shape full = index;
              full.push_back(swap ? j : i);
              full.push_back(swap ? i : j);
              return full;
            };
            total += xs[broadcastIndex(at(row, k, transposeA), a)] * ys[broadcastIndex(at(k, column, transposeB), b)];
          }
          return total;
        });
        Body f = [=](const std::vector<Tensor> &in) {
          return matmul(in[0], in[1], {.transpose_a = transposeA, .transpose_b = transposeB});
        };
        expectValues(f, {x, y}, result, expected);
        if (c.m < 10 && c.m * c.n > 1 && c.k)
          expectAllDerivatives(f, {x, y}, transposeA == transposeB ? 2 : 1,
                               transposeA && !transposeB && !c.batch.empty());
      }
}

//===-- Convolutions and pooling ----------------------------------------------------------------===//
namespace {
struct WindowCase {
  std::int64_t height, width, windowHeight, windowWidth, strideHeight, strideWidth;
  std::string padding;

  // The result's size along a dimension and the padding before it.
  std::pair<std::int64_t, std::int64_t> extent(std::int64_t size, std::int64_t window, std::int64_t stride) const {
    if (padding == "valid")
      return {(size - window) / stride + 1, 0};
    std::int64_t count = (size + stride - 1) / stride;
    return {count, std::max<std::int64_t>((count - 1) * stride + window - size, 0) / 2};
  }
  std::pair<std::int64_t, std::int64_t> rows() const { return extent(height, windowHeight, strideHeight); }
  std::pair<std::int64_t, std::int64_t> columns() const { return extent(width, windowWidth, strideWidth); }

  std::string name() const {
    auto size = [](std::int64_t a, std::int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
    return padding + "_" + size(height, width) + "_window_" + size(windowHeight, windowWidth) + "_strides_" +
           size(strideHeight, strideWidth);
  }
};
void PrintTo(const WindowCase &c, std::ostream *os) { *os << c.name(); }

std::vector<WindowCase> windowCases() {
  std::vector<WindowCase> cases;
  for (const char *padding : {"valid", "same"})
    for (const WindowCase &c :
         {WindowCase{5, 7, 3, 3, 1, 1, ""}, WindowCase{5, 7, 3, 3, 2, 2, ""}, WindowCase{6, 5, 2, 3, 2, 1, ""},
          WindowCase{7, 4, 1, 2, 2, 2, ""}, WindowCase{4, 4, 2, 2, 2, 2, ""}, WindowCase{3, 4, 3, 4, 1, 1, ""}}) {
      cases.push_back(c);
      cases.back().padding = padding;
    }
  return cases;
}

class Windows : public ::testing::TestWithParam<WindowCase> {};
} // namespace

TEST_P(Windows, Convolution) {
  const WindowCase c = GetParam();
  std::mt19937 random(6);
  const std::int64_t images = 2, channels = 3, filters = 2;
  Tensor x = randomTensor(random, {images, c.height, c.width, channels});
  Tensor w = randomTensor(random, {c.windowHeight, c.windowWidth, channels, filters});
  std::vector<double> xs = valuesOf(x), ws = valuesOf(w);
  Shape result = {images, c.rows().first, c.columns().first, filters};
  std::vector<double> expected = generate(result, [&](const Shape &index) {
    double total = 0;
    for (std::int64_t i = 0; i < c.windowHeight; ++i)
      for (std::int64_t j = 0; j < c.windowWidth; ++j) {
        std::int64_t row = index[1] * c.strideHeight + i - c.rows().second,
                     column = index[2] * c.strideWidth + j - c.columns().second;
        if (row >= 0 && row < c.height && column >= 0 && column < c.width)
          for (std::int64_t k = 0; k < channels; ++k)
            total += xs[ravel({index[0], row, column, k}, x.shape())] * ws[ravel({i, j, k, index[3]}, w.shape())];
      }
    return total;
  });
  Body f = [c](const std::vector<Tensor> &in) {
    return conv2d(in[0], in[1], {c.strideHeight, c.strideWidth}, c.padding);
  };
  expectValues(f, {x, w}, result, expected);
  expectAllDerivatives(
      f, {randomTensor(random, {1, c.height, c.width, 2}), randomTensor(random, {c.windowHeight, c.windowWidth, 2, 2})},
      2, c.strideHeight != c.strideWidth);
}

TEST_P(Windows, MaxPool) {
  const WindowCase c = GetParam();
  std::mt19937 random(7);
  const std::int64_t images = 2, channels = 3;
  Tensor x = randomTensor(random, {images, c.height, c.width, channels}, -3, -1);
  std::vector<double> xs = valuesOf(x);
  Shape result = {images, c.rows().first, c.columns().first, channels};
  std::vector<double> expected = generate(result, [&](const Shape &index) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < c.windowHeight; ++i)
      for (std::int64_t j = 0; j < c.windowWidth; ++j) {
        std::int64_t row = index[1] * c.strideHeight + i - c.rows().second,
                     column = index[2] * c.strideWidth + j - c.columns().second;
        if (row >= 0 && row < c.height && column >= 0 && column < c.width)
          largest = std::max(largest, xs[ravel({index[0], row, column, index[3]}, x.shape())]);
      }
    return largest;
  });
  Body f = [c](const std::vector<Tensor> &in) {
    return max_pool2d(in[0], {c.windowHeight, c.windowWidth}, {c.strideHeight, c.strideWidth}, c.padding);
  };
  expectValues(f, {x}, result, expected);
  Body squared = [f](const std::vector<Tensor> &in) { return square(f({in[0] * in[0] * in[0] / 10})); };
  Tensor y = distinctTensor(random, {1, c.height, c.width, 2});
  expectAllDerivatives(f, {y}, 1, c.strideHeight != c.strideWidth); // its second derivative is zero
  expectAllDerivatives(squared, {y}, 2, false);
}

INSTANTIATE_TEST_SUITE_P(Structured, Windows, ::testing::ValuesIn(windowCases()),
                         [](const auto &info) { return info.param.name(); });
