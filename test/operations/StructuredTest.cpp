// Reductions, contractions, convolutions, pooling and movement: values against plain loops, derivatives against central
// differences, many examples at once against one after the other.
#include "test/operations/Testing.h"

#include <numeric>

using namespace calque;
using namespace calque::testing;

namespace {

using Axes = std::vector<std::int64_t>;

// The operands in another type; those that are not float64 stay as they are.
std::vector<Tensor> as(DType dtype, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> operands;
  for (const Tensor &x : inputs)
    operands.push_back(x.dtype() == DType::Float64 ? cast(x, dtype) : x);
  return operands;
}

BatchedCall batched(const Body &f, const std::vector<Tensor> &inputs, bool exact) {
  return {[f](const std::vector<Tensor> &x) { return std::vector<Tensor>{f(x)}; }, inputs, exact};
}

// Derivatives of one example and, if asked, of many: one case of a family is enough for those.
void expectAllDerivatives(const Body &f, const std::vector<Tensor> &inputs, int order, bool manyExamples) {
  expectDerivatives(f, inputs, order);
  SCOPED_TRACE("derivatives of many examples");
  if (manyExamples)
    expectBatched({batchedDerivatives(f, inputs)});
}

// Eagerly and compiled, in float64 and float32, and for many examples.
void expectValues(const Body &f, const std::vector<Tensor> &inputs, const Shape &shape,
                  const std::vector<double> &expected, bool manyExamples = true) {
  for (DType dtype : {DType::Float64, DType::Float32}) {
    std::vector<Tensor> operands = as(dtype, inputs);
    double tolerance = dtype == DType::Float64 ? 1e-12 : 2e-5;
    auto compiled = function<Tensor(const std::vector<Tensor> &)>(f);
    for (bool compile : {false, true}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + (compile ? " compiled" : " eager"));
      Tensor result = compile ? compiled(operands) : f(operands);
      ASSERT_EQ(result.shape(), shape);
      std::vector<double> values = valuesOf(result);
      ASSERT_EQ(values.size(), expected.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isfinite(expected[i]))
          EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
        else
          EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
              << "element " << i << ": " << values[i];
      }
    }
  }
  SCOPED_TRACE("many examples");
  if (manyExamples && !inputs.empty())
    expectBatched({batched(f, inputs, false)});
}

// The elements that a function picks by the index in the result.
std::vector<double> generate(const Shape &shape, const std::function<double(const Shape &)> &element) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(element(unravel(i, shape)));
  return values;
}

//===-- Reductions ------------------------------------------------------------------------------===//
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
    reduced[axis < 0 ? axis + x.rank() : axis] = true;
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

TEST(Structured, Softmax) {
  std::mt19937 random(3);
  for (std::int64_t axis : {-1, 0, 1, -2}) {
    SCOPED_TRACE(axis);
    Tensor x = randomTensor(random, {3, 4, 5});
    std::vector<double> values = valuesOf(x);
    std::size_t dim = axis < 0 ? axis + 3 : axis;
    std::vector<double> expected = generate(x.shape(), [&](const Shape &index) {
      Shape other = index;
      double total = 0;
      for (other[dim] = 0; other[dim] < x.shape()[dim]; ++other[dim])
        total += std::exp(values[ravel(other, x.shape())]);
      return std::exp(values[ravel(index, x.shape())]) / total;
    });
    Body f = [axis](const std::vector<Tensor> &in) { return softmax(in[0], axis); };
    expectValues(f, {x}, x.shape(), expected);
    expectAllDerivatives(f, {randomTensor(random, {2, 3, 2})}, 2, axis == 0);
  }
}

TEST(Structured, LogSoftmax) {
  std::mt19937 random(31);
  for (std::int64_t axis : {-1, 0, 1, -2}) {
    SCOPED_TRACE(axis);
    Tensor x = randomTensor(random, {3, 4, 5});
    std::vector<double> values = valuesOf(x);
    std::size_t dim = axis < 0 ? axis + 3 : axis;
    std::vector<double> expected = generate(x.shape(), [&](const Shape &index) {
      Shape other = index;
      double total = 0;
      for (other[dim] = 0; other[dim] < x.shape()[dim]; ++other[dim])
        total += std::exp(values[ravel(other, x.shape())]);
      return values[ravel(index, x.shape())] - std::log(total);
    });
    Body f = [axis](const std::vector<Tensor> &in) { return log_softmax(in[0], axis); };
    expectValues(f, {x}, x.shape(), expected);
    expectAllDerivatives(f, {randomTensor(random, {2, 3, 2})}, 2, axis == 0);
  }
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

//===-- Movement --------------------------------------------------------------------------------===//
namespace {
// A movement's values and gradients. It is linear: only the square has a second derivative, and its first is a first
// one of the movement, too. It moves bits, of any type.
void expectMovement(const Body &f, const std::vector<Tensor> &inputs, const Shape &shape,
                    const std::vector<double> &expected, DType other = DType::Int32) {
  expectValues(f, inputs, shape, expected, false);
  expectBatched({batched(f, inputs, true), batched(f, as(other, inputs), true)});
  expectAllDerivatives([f](const std::vector<Tensor> &in) { return square(f(in)); }, inputs, 2, true);
}
} // namespace

TEST(Movement, Reshape) {
  std::mt19937 random(8);
  Tensor x = randomTensor(random, {2, 6});
  for (const auto &[asked, shape] : std::vector<std::pair<Shape, Shape>>{
           {{3, 4}, {3, 4}}, {{-1}, {12}}, {{2, -1, 3}, {2, 2, 3}}, {{1, 12, 1}, {1, 12, 1}}})
    expectMovement([asked](const std::vector<Tensor> &in) { return reshape(in[0], asked); }, {x}, shape, valuesOf(x));
  expectMovement([](const std::vector<Tensor> &in) { return reshape(in[0], {}); }, {tensor<double>({2}, {1, 1})}, {},
                 {2});
}

TEST(Movement, ExpandDims) {
  std::mt19937 random(8);
  Tensor x = randomTensor(random, {2, 3});
  for (const auto &[axes, shape] : std::vector<std::pair<Axes, Shape>>{
           {{0}, {1, 2, 3}}, {{-1}, {2, 3, 1}}, {{1, 3}, {2, 1, 3, 1}}, {{0, -2}, {1, 2, 1, 3}}})
    expectMovement([axes](const std::vector<Tensor> &in) { return expand_dims(in[0], axes); }, {x}, shape, valuesOf(x));
}

TEST(Movement, BroadcastTo) {
  std::mt19937 random(9);
  for (const auto &[from, to] :
       std::vector<std::pair<Shape, Shape>>{{{}, {2, 3}}, {{3}, {2, 3}}, {{2, 1}, {2, 3}}, {{2, 1, 3}, {2, 2, 4, 3}}}) {
    Tensor x = randomTensor(random, from);
    std::vector<double> values = valuesOf(x);
    expectMovement([to](const std::vector<Tensor> &in) { return broadcast_to(in[0], to); }, {x}, to,
                   generate(to, [&](const Shape &index) { return values[broadcastIndex(index, from)]; }));
  }
}

TEST(Movement, Transpose) {
  std::mt19937 random(10);
  Tensor x = randomTensor(random, {2, 3, 4});
  std::vector<double> values = valuesOf(x);
  for (const Axes &permutation : {Axes{}, Axes{0, 1, 2}, Axes{1, 2, 0}, Axes{0, 2, 1}, Axes{2, 0, 1}}) {
    Axes actual = permutation.empty() ? Axes{2, 1, 0} : permutation;
    Shape shape;
    for (std::int64_t from : actual)
      shape.push_back(x.shape()[from]);
    expectMovement([permutation](const std::vector<Tensor> &in) { return transpose(in[0], permutation); }, {x}, shape,
                   generate(shape, [&](const Shape &index) {
                     Shape own(3);
                     for (std::size_t i = 0; i < 3; ++i)
                       own[actual[i]] = index[i];
                     return values[ravel(own, x.shape())];
                   }));
  }
}

TEST(Movement, Concat) {
  std::mt19937 random(11);
  for (std::int64_t axis : {0, 1, -1, -3}) {
    std::size_t dim = axis < 0 ? axis + 3 : axis;
    std::vector<Tensor> parts;
    Shape shape = {2, 3, 2};
    shape[dim] = 0;
    for (std::int64_t size : {1, 3, 2}) {
      Shape part = {2, 3, 2};
      part[dim] = size;
      shape[dim] += size;
      parts.push_back(randomTensor(random, part));
    }
    std::vector<double> expected = generate(shape, [&](Shape index) {
      std::size_t part = 0;
      for (; index[dim] >= parts[part].shape()[dim]; ++part)
        index[dim] -= parts[part].shape()[dim];
      return valuesOf(parts[part])[ravel(index, parts[part].shape())];
    });
    expectMovement([axis](const std::vector<Tensor> &in) { return concat(in, axis); }, parts, shape, expected);
  }
}

TEST(Movement, Slice) {
  struct Case {
    Axes starts, limits, strides;
    Shape shape;
  };
  std::mt19937 random(12);
  Tensor x = randomTensor(random, {4, 7});
  std::vector<double> values = valuesOf(x);
  for (const Case &c :
       {Case{{0, 0}, {4, 7}, {}, {4, 7}}, Case{{1, 2}, {3, 6}, {}, {2, 4}}, Case{{0, 1}, {4, 7}, {3, 2}, {2, 3}},
        Case{{1, 0}, {4, 7}, {2, 4}, {2, 2}}, Case{{4, 1}, {4, 7}, {}, {0, 6}}})
    expectMovement([c](const std::vector<Tensor> &in) { return slice(in[0], c.starts, c.limits, c.strides); }, {x},
                   c.shape, generate(c.shape, [&](Shape index) {
                     for (std::size_t i = 0; i < 2; ++i)
                       index[i] = c.starts[i] + index[i] * (c.strides.empty() ? 1 : c.strides[i]);
                     return values[ravel(index, x.shape())];
                   }));
}

TEST(Movement, Pad) {
  std::mt19937 random(13);
  Tensor x = randomTensor(random, {2, 3});
  std::vector<double> values = valuesOf(x);
  for (const auto &[low, high] :
       std::vector<std::pair<Axes, Axes>>{{{0, 0}, {0, 0}}, {{1, 0}, {0, 2}}, {{2, 1}, {1, 3}}})
    for (double value : {0.0, -1.5}) {
      Shape shape = {2 + low[0] + high[0], 3 + low[1] + high[1]};
      expectMovement(
          [low = low, high = high, value](const std::vector<Tensor> &in) {
            return value == 0 ? pad(in[0], low, high) : pad(in[0], low, high, value);
          },
          {x}, shape,
          generate(shape,
                   [&, low = low](const Shape &index) {
                     Shape own = {index[0] - low[0], index[1] - low[1]};
                     bool inside = own[0] >= 0 && own[0] < 2 && own[1] >= 0 && own[1] < 3;
                     return inside ? values[ravel(own, x.shape())] : value;
                   }),
          value ? DType::Float32 : DType::Bool);
    }
}

TEST(Movement, PadOfBoolTakesABool) {
  Tensor x = tensor<bool>({false}, {1});
  auto compiled = function([](const Tensor &a) { return concat({pad(a, {1}, {0}, true), pad(a, {0}, {1}, false)}); });
  for (const Tensor &result : {compiled(x), compiled.eager(x)})
    EXPECT_EQ(result.to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
}

TEST(Movement, Gather) {
  std::mt19937 random(14);
  Tensor x = randomTensor(random, {4, 3, 2});
  std::vector<double> values = valuesOf(x);
  for (DType dtype : {DType::Int32, DType::Int64})
    for (const Shape &indexShape : {Shape{}, Shape{5}, Shape{2, 3}})
      for (std::int64_t axis : {0, 1, -1}) {
        SCOPED_TRACE("indices " + indexShape.str() + " along " + std::to_string(axis));
        std::size_t dim = axis < 0 ? axis + 3 : axis;
        std::vector<std::int64_t> picks;
        for (std::int64_t i = 0; i < sizeOf(indexShape); ++i)
          picks.push_back(static_cast<std::int64_t>(random() % x.shape()[dim]));
        const Shape from = x.shape();
        Shape shape(from.begin(), from.begin() + dim);
        shape.insert(shape.end(), indexShape.begin(), indexShape.end());
        shape.insert(shape.end(), from.begin() + dim + 1, from.end());
        std::vector<double> expected = generate(shape, [&](const Shape &index) {
          Shape own(index.begin(), index.begin() + dim);
          own.push_back(picks[ravel(Shape(index.begin() + dim, index.begin() + dim + indexShape.size()), indexShape)]);
          own.insert(own.end(), index.begin() + dim + indexShape.size(), index.end());
          return values[ravel(own, x.shape())];
        });
        Body f = [axis](const std::vector<Tensor> &in) { return gather(in[0], in[1], axis); };
        std::vector<Tensor> inputs = {x, makeTensor(dtype, picks, indexShape)};
        if (dtype == DType::Int64)
          expectMovement(f, inputs, shape, expected);
        else
          expectValues(f, inputs, shape, expected);
      }
  auto compiled = function([](const Tensor &a, const Tensor &i) { return gather(a, i); });
  for (std::int64_t outside : {4, -1}) {
    EXPECT_THROW(gather(x, tensor<std::int64_t>({0, outside})), Error);
    EXPECT_THROW(compiled(x, tensor<std::int64_t>({0, outside})), Error);
  }
}

TEST(Movement, OneHotAndIota) {
  Tensor indices = tensor<std::int64_t>({0, 2, 3, -1}, {2, 2});
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64}) {
    SCOPED_TRACE(name_of(dtype));
    expectValues([dtype](const std::vector<Tensor> &in) { return one_hot(in[0], 3, dtype); }, {indices}, {2, 2, 3},
                 {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(one_hot(indices, 3, dtype).dtype(), dtype);
    expectValues([dtype](const std::vector<Tensor> &in) { return one_hot(in[0], 3, dtype); }, {scalar<std::int64_t>(1)},
                 {3}, {0, 1, 0});
    expectValues([dtype](const std::vector<Tensor> &in) { return iota({2, 3}, dtype, 0); }, {}, {2, 3},
                 {0, 0, 0, 1, 1, 1});
    expectValues([dtype](const std::vector<Tensor> &in) { return iota({2, 3}, dtype, 1); }, {}, {2, 3},
                 {0, 1, 2, 0, 1, 2});
  }
}
