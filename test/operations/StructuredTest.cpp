// Reductions, contractions, convolutions and pooling: values against plain loops, derivatives against central
// differences, many examples at once against one after the other.
#include "test/operations/Structured.h"

#include <algorithm>
#include <numeric>

using namespace calque;
using namespace calque::testing;

//===-- Reductions ------------------------------------------------------------------------------===//
namespace {
using Reduction = Tensor (*)(const Operand &, AxisList, bool);
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
      {"prod", prod,
       [](const std::vector<double> &x) { return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>()); },
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
  const ReductionCase &op = GetParam();
  if (!op.ofNone) {
    EXPECT_THROW(op.function(zeros({0, 3}), {0}, false), ShapeError);
    return;
  }
  auto f = [&](const Tensor &x) { return std::vector<Tensor>{op.function(x, {0}, false), op.function(x, {1}, true)}; };
  std::vector<Tensor> results = both(f, zeros({0, 3}, DType::Float64));
  std::vector<double> found = valuesOf(results[0]), expected(3, op.fold({}));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])));
  EXPECT_EQ(results[1].shape(), (Shape{0, 1}));
  EXPECT_EQ(
      grad([&](const Tensor &x) { return sum(op.function(x, {0}, false)); })(zeros({0, 3}, DType::Float64)).shape(),
      (Shape{0, 3}));
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
  auto compiled =
      function([](const Tensor &a) { return std::vector<Tensor>{sum(a, {0}), max(a, {-1}), min(a), prod(a, {0})}; });
  std::vector<Tensor> results = compiled(x);
  EXPECT_EQ(results[0].to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 8, 3}));
  EXPECT_EQ(results[1].to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(results[2].to_vector<std::int64_t>(), (std::vector<std::int64_t>{-4}));
  EXPECT_EQ(results[3].to_vector<std::int64_t>(), (std::vector<std::int64_t>{10, -9, -28}));
}

TEST(Structured, ProductsOfIntegersWrap) {
  Tensor x = tensor<std::int32_t>({65536, 65537, 3}), y = cast(x, DType::Int64) * (std::int64_t(1) << 31);
  auto f = [](const Tensor &a) { return std::vector<Tensor>{prod(a), cumprod(a), cumsum(a * a * 32767)}; };
  std::vector<Tensor> results = both(f, x), wide = both(f, y);
  EXPECT_EQ(results[0].to_vector<std::int32_t>(), (std::vector<std::int32_t>{3 * 65536}));
  EXPECT_EQ(results[1].to_vector<std::int32_t>(), (std::vector<std::int32_t>{65536, 65536, 3 * 65536}));
  EXPECT_EQ(results[2].to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, static_cast<std::int32_t>(131073u * 32767u),
                                       static_cast<std::int32_t>((131073u + 9u) * 32767u)}));
  EXPECT_EQ(wide[0].to_vector<std::int64_t>(), (std::vector<std::int64_t>{0}));
}

TEST(Structured, AnyAndAll) {
  std::mt19937 random(6);
  for (const Shape &shape : {Shape{}, Shape{1}, Shape{37}, Shape{2, 3, 5}, Shape{4, 33}, Shape{3, 0}, Shape{0, 3}})
    for (int density : {0, 1, 5, 9, 10}) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < sizeOf(shape); ++i)
        values.push_back(static_cast<int>(random() % 10) < density);
      Tensor x = makeTensor(DType::Bool, values, shape);
      std::vector<Axes> sets{{}};
      for (std::int64_t axis = 0; axis < x.rank(); ++axis)
        sets.push_back({axis == 1 ? axis - x.rank() : axis});
      for (const Axes &axes : sets)
        for (bool keepdims : {false, true}) {
          SCOPED_TRACE(shape.str() + " over " + schema::shapeString(axes));
          // As many as hold, counted by the sum.
          auto f = [&](const Tensor &a) { return std::vector<Tensor>{any(a, axes, keepdims), all(a, axes, keepdims)}; };
          Tensor counts = sum(cast(x, DType::Int32), axes, keepdims),
                 most = sum(ones(shape, DType::Int32), axes, keepdims);
          std::vector<Tensor> found = both(f, x);
          expectSameBits(found[0], counts > 0);
          expectSameBits(found[1], counts == most);
        }
    }
  Tensor x = tensor<bool>({true, false, false, false, true, true}, {2, 3});
  expectBatched({{[](const std::vector<Tensor> &in) {
                    return std::vector<Tensor>{any(in[0]), all(in[0]), any(in[0], {1}), all(in[0], {-2}, true)};
                  },
                  {x},
                  true}});
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
  // A class that can't be takes no part. Beside one that is infinitely likely, or where none can be, no share is
  // defined: NaN, as in NumPy, JAX and TensorFlow.
  Tensor infinite = tensor<double>({0, -infinity, infinity, 1, -infinity, -infinity}, {3, 2});
  expectValues([&](const std::vector<Tensor> &in) { return logsumexp(in[0], last); }, {infinite}, {3},
               {0, infinity, -infinity});
  expectValues([&](const std::vector<Tensor> &in) { return softmax(in[0]); }, {infinite}, {3, 2},
               {1, 0, nan, nan, nan, nan});
  expectValues([&](const std::vector<Tensor> &in) { return log_softmax(in[0]); }, {infinite}, {3, 2},
               {0, -infinity, nan, nan, nan, nan});
  // Gradients are those of the shares, over one axis and over several.
  auto gradientsOf = [&](const std::function<Tensor(const Tensor &)> &f) {
    return [=](const std::vector<Tensor> &in) { return grad(function(f))(in[0]); };
  };
  expectValues(gradientsOf([&](const Tensor &t) { return sum(logsumexp(t, last)); }), {infinite}, {3, 2},
               {1, 0, nan, nan, nan, nan});
  expectValues(gradientsOf([](const Tensor &t) { return logsumexp(slice(t, {0, 0}, {1, 2})); }), {infinite}, {3, 2},
               {1, 0, 0, 0, 0, 0});
  expectValues(gradientsOf([](const Tensor &t) { return logsumexp(slice(t, {1, 0}, {3, 2})); }), {infinite}, {3, 2},
               {0, 0, nan, nan, nan, nan});
}

// Long rows, and many, whose kernels are vector code that does a row at a time, of all that follows a softmax.
TEST(Structured, InfiniteRowsOfAGroupAreNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values(64 * 100);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 7);
  values[3 * 100 + 57] = infinity;  // row 3
  values[5 * 100 + 99] = -infinity; // row 5 has a class that can't be
  std::fill_n(values.begin() + 700, 100, -infinity);
  Tensor x = tensor(values, {64, 100});
  auto f = function([](const Tensor &x) { return std::vector{softmax(x), log_softmax(x), softmax(x) * 2 + 1}; });
  const std::vector<Tensor> compiled = f(x), eager = f.eager(x);
  for (std::size_t r = 0; r < 3; ++r) {
    const std::vector<float> a = compiled[r].to_vector<float>(), b = eager[r].to_vector<float>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t row = i / 100;
      ASSERT_EQ(std::isnan(a[i]), row == 3 || row == 7) << "result " << r << ", element " << i;
      ASSERT_EQ(std::isnan(b[i]), row == 3 || row == 7) << "result " << r << ", element " << i;
    }
    EXPECT_EQ(a[599], r == 0 ? 0 : r == 1 ? -infinity : 1);
  }
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
  Tensor negated = -x;
  expectValues([](const std::vector<Tensor> &in) { return argmin(in[0]); }, {negated}, {3}, {1, 1, 0});
  expectValues([](const std::vector<Tensor> &in) { return argmin(in[0], 0); }, {negated}, {3}, {1, 1, 1});
  EXPECT_EQ(argmax(x).dtype(), DType::Int64);
  EXPECT_EQ(argmin(x).dtype(), DType::Int64);
  EXPECT_EQ(argmin(tensor<int>({3, -7, 5, -7}, {4})).item<std::int64_t>(), 1);
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
  expectValues([](const std::vector<Tensor> &in) { return argmin(-in[0], 1); }, {y}, {3, 2}, expected);
}

//===-- Sums and products along an axis ---------------------------------------------------------===//
namespace {
struct CumulativeCase {
  std::string name;
  Tensor (*function)(const Operand &, std::int64_t, bool, bool);
  double start;
  double (*combine)(double, double);
};
void PrintTo(const CumulativeCase &op, std::ostream *os) { *os << op.name; }

std::vector<double> cumulated(const CumulativeCase &op, const std::vector<double> &x, const Shape &shape,
                              std::size_t axis, bool exclusive, bool reverse) {
  return generate(shape, [&](const Shape &index) {
    double result = op.start;
    Shape at = index;
    auto take = [&](std::int64_t i) {
      at[axis] = i;
      result = op.combine(result, x[static_cast<std::size_t>(ravel(at, shape))]);
    };
    std::int64_t own = index[axis];
    if (reverse)
      for (std::int64_t i = shape[axis] - 1; i >= own + exclusive; --i)
        take(i);
    else
      for (std::int64_t i = 0; i <= own - exclusive; ++i)
        take(i);
    return result;
  });
}

class Cumulative : public ::testing::TestWithParam<CumulativeCase> {};
} // namespace

TEST_P(Cumulative, FollowTheElementsBefore) {
  const CumulativeCase &op = GetParam();
  std::mt19937 random(41);
  for (const Shape &shape :
       {Shape{1}, Shape{37}, Shape{3, 5}, Shape{5, 1}, Shape{1, 4}, Shape{2, 3, 5}, Shape{3, 2, 17}})
    for (std::int64_t axis = -1; axis < static_cast<std::int64_t>(shape.size()); ++axis)
      for (bool exclusive : {false, true})
        for (bool reverse : {false, true}) {
          SCOPED_TRACE(shape.str() + " along " + std::to_string(axis) + (exclusive ? " exclusive" : "") +
                       (reverse ? " reverse" : ""));
          Tensor x = randomTensor(random, shape, 0.5, 1.5);
          expectValues([&](const std::vector<Tensor> &in) { return op.function(in[0], axis, exclusive, reverse); }, {x},
                       shape, cumulated(op, valuesOf(x), shape, dimensionOf(axis, shape.size()), exclusive, reverse),
                       shape.size() == 3);
        }
}

TEST_P(Cumulative, AlongNoElements) {
  const CumulativeCase &op = GetParam();
  for (const Shape &shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 3}})
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
      auto f = [&](const Tensor &x) { return op.function(x, axis, true, true); };
      EXPECT_EQ(both(f, zeros(shape)).shape(), shape);
      EXPECT_EQ(grad([&](const Tensor &x) { return sum(f(x)); })(zeros(shape)).shape(), shape);
      auto open = function(f, {.input_signature = {TensorSpec<float>(Shape(shape.size(), kDynamic))}});
      EXPECT_EQ(open(zeros(shape)).shape(), shape);
    }
}

TEST_P(Cumulative, HaveDerivatives) {
  const CumulativeCase &op = GetParam();
  std::mt19937 random(43);
  for (std::int64_t axis : {0, 1})
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true}) {
        SCOPED_TRACE("along " + std::to_string(axis) + (exclusive ? " exclusive" : "") + (reverse ? " reverse" : ""));
        expectAllDerivatives([&](const std::vector<Tensor> &x) { return op.function(x[0], axis, exclusive, reverse); },
                             {randomTensor(random, {3, 4})}, 2, exclusive != reverse);
      }
}

TEST_P(Cumulative, OfOpenSizes) {
  const CumulativeCase &op = GetParam();
  std::mt19937 random(44);
  for (std::int64_t axis : {0, 1, 2})
    for (bool reverse : {false, true}) {
      auto f = [&](const Tensor &x) {
        return std::pair(op.function(x, axis, reverse, reverse),
                         grad([&](const Tensor &y) { return sum(op.function(y, axis, reverse, reverse) * y); })(x));
      };
      auto open = function(f, {.input_signature = {TensorSpec<double>({kDynamic, kDynamic, kDynamic})}});
      for (const Shape &shape : {Shape{2, 3, 4}, Shape{1, 1, 1}, Shape{4, 1, 9}, Shape{1, 17, 2}}) {
        Tensor x = randomTensor(random, shape);
        auto [value, slope] = f(x);
        auto [openValue, openSlope] = open(x);
        expectSameBits(openValue, value);
        expectSameBits(openSlope, slope);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Structured, Cumulative,
    ::testing::Values(CumulativeCase{"cumsum", cumsum, 0, [](double a, double b) { return a + b; }},
                      CumulativeCase{"cumprod", cumprod, 1, [](double a, double b) { return a * b; }}),
    [](const auto &info) { return info.param.name; });

TEST(Structured, CumulativeOfSpecialValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Tensor x = tensor<double>({1, infinity, 2, -infinity, 3});
  auto sums = [](const std::vector<Tensor> &in) { return cumsum(in[0]); };
  auto products = [](const std::vector<Tensor> &in) { return cumprod(in[0]); };
  expectValues(sums, {x}, {5}, {1, infinity, infinity, nan, nan});
  expectValues(products, {x}, {5}, {1, infinity, infinity, -infinity, -infinity});
  expectValues(sums, {tensor<double>({1, nan, 2})}, {3}, {1, nan, nan});
  expectValues(products, {tensor<double>({0, nan, infinity, 2})}, {4}, {0, nan, nan, nan});
  expectValues(products, {tensor<double>({2, 0, infinity})}, {3}, {2, 0, nan});
  // Sums and products of float32 that overflow on the way are those of their elements again further on.
  EXPECT_EQ(valuesOf(cumsum(tensor<float>({3e38f, 3e38f, -3e38f}))), (std::vector<double>{3e38f, infinity, 3e38f}));
  EXPECT_EQ(valuesOf(cumprod(tensor<float>({1e30f, 1e30f, 1e-30f}))), (std::vector<double>{1e30f, infinity, 1e30f}));
}

// Zeros among the factors: derivatives divide by none, of first order and of second.
TEST(Structured, ProductsWithZerosHaveDerivatives) {
  for (std::vector<double> values : {std::vector<double>{2, 0, 3, -1}, {2, 0, 3, 0}, {0, 0, 0, 5}, {0, 0, 0, 0}}) {
    Tensor x = tensor(values, {2, 2}), row = tensor(values, {4});
    expectDerivatives([](const std::vector<Tensor> &in) { return prod(in[0]); }, {x}, 2);
    expectDerivatives([](const std::vector<Tensor> &in) { return prod(in[0], {0}); }, {x}, 2);
    expectDerivatives([](const std::vector<Tensor> &in) { return cumprod(in[0]); }, {row}, 2);
    expectDerivatives([](const std::vector<Tensor> &in) { return cumprod(in[0], 0, true, true); }, {row}, 2);
  }
  Tensor x = tensor<double>({2, 0, 3, 5});
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return prod(a); })(x)), (std::vector<double>{0, 30, 0, 0}));
  EXPECT_EQ(valuesOf(grad([](const Tensor &a) { return sum(cumprod(a)); })(x)), (std::vector<double>{1, 38, 0, 0}));
  EXPECT_EQ(valuesOf(jvp([](const Tensor &a) { return prod(a); }, x, ones({4}, DType::Float64)).second),
            (std::vector<double>{30}));
  EXPECT_EQ(valuesOf(jvp([](const Tensor &a) { return cumprod(a); }, x, ones({4}, DType::Float64)).second),
            (std::vector<double>{1, 2, 6, 30}));
  EXPECT_EQ(grad([](const Tensor &a) { return prod(a) * 3; })(tensor<double>({0}, {})).item<double>(), 3);
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
