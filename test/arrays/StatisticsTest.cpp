// calque/arrays/statistics.h, against NumPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

namespace {
const Checks constant{.derivatives = 0, .float32 = false};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
} // namespace

TEST(ArraysStatistics, Spread) {
  check("var", [](const Tensors &x) {
    return Tensors{var(x[0]), var(x[0], 1), var(x[0], {0, 2}, {.ddof = 1, .keepdims = true}), stddev(x[0], 0),
                   stddev(x[0], {}, {.ddof = 1.5})};
  });
  check("var shifted", [](const Tensors &x) { return var(x[0] + 1e8, 0); },
        {.derivatives = 0, .tolerance = 1e-8, .float32 = false});
  check("var one", [](const Tensors &x) { return Tensors{var(x[0], 0), var(x[0], 0, {.ddof = 1})}; }, constant);
  check("ptp", [](const Tensors &x) { return Tensors{ptp(x[0]), ptp(x[0], 0), ptp(x[0], -1, true)}; });
  check("average", [](const Tensors &x) {
    const Tensor w = abs(x[1]), v = abs(x[2]);
    return Tensors{average(x[0], w), average(x[0], w, 1), average(x[0], v, 1), average(x[0], w, 0, true)};
  });
  check("cov",
        [](const Tensors &x) {
          return Tensors{cov(x[0]), cov(x[0], {.rowvar = false}), cov(x[0], {.ddof = 0}), cov(x[0][0]), corrcoef(x[0])};
        },
        {.tolerance = 1e-13, .tolerance32 = 1e-5});
  EXPECT_EQ(corrcoef(tensor({1.0f, 2.0f})).item<float>(), 1);
  EXPECT_TRUE(std::isnan(var(zeros({0})).item<float>()));
  EXPECT_CONTAINS(errorOf<DTypeError>([] { stddev(tensor({1, 2})); }),
                  "stddev: takes floating-point and complex numbers, not int32[2]");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { average(ones({2, 3}), ones({3})); }),
                  "average: the weights float32[3] must have the shape of float32[2,3], or be a vector along one axis");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { cov(ones({2, 3, 4})); }),
                  "cov: takes samples of variables, [m,n], or of one, [n], not float32[2,3,4]");
}

TEST(ArraysStatistics, Quantiles) {
  check("median", [](const Tensors &x) {
    return Tensors{median(x[0]), median(x[0], 1), median(x[0], 0), median(x[0], {0, 2}, true)};
  });
  check("quantile", [](const Tensors &x) {
    return Tensors{quantile(x[0], 0.3, 0), quantile(x[0], 1, -1, {.keepdims = true}), quantile(x[0], 0.77)};
  });
  check("quantile q",
        [](const Tensors &x) {
          return Tensors{quantile(x[0], x[1], {0, 2}), quantile(x[0], x[1], 1, {.keepdims = true})};
        },
        {.vmap = false});
  for (const char *name : {"quantile methods", "quantile methods 6"})
    check(name,
          [](const Tensors &x) {
            Tensors all;
            for (const char *method : {"linear", "lower", "higher", "midpoint", "nearest"})
              all.push_back(quantile(x[0], x[1], x[0].rank() - 1, {.method = method}));
            return all;
          },
          {.derivatives = 0, .vmap = false, .float32 = false});
  check("percentile", [](const Tensors &x) { return Tensors{percentile(x[0], x[1], 0), percentile(x[0], 12.5, 1)}; },
        {.derivatives = 0, .vmap = false});
  check(
      "median nan",
      [](const Tensors &x) { return Tensors{median(x[0], 0), median(x[0], 1), median(x[0]), quantile(x[0], 0.0, 1)}; },
      {.derivatives = 0});
  check("quantile inf",
        [](const Tensors &x) { return Tensors{median(x[0], 1), quantile(x[0], 0, 1), quantile(x[0], 1, 1)}; },
        {.derivatives = 0});
  // Of equal elements, each has its part of the gradient.
  EXPECT_EQ(grad([](const Tensor &x) { return median(x); })(tensor({3.0f, 3.0f})).to_vector<float>(),
            (std::vector<float>{0.5, 0.5}));
  const Tensor x = ones({2, 3});
  EXPECT_EQ(median(zeros({0, 3}), 1).shape(), (Shape{0}));
  EXPECT_CONTAINS(errorOf<ShapeError>([] { median(zeros({0, 3}), 0); }),
                  "median: there are no elements along the axes of float32[0,3]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { quantile(x, 1.5); }),
                  "quantile: there is no quantile 1.5 outside of [0, 1]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { percentile(x, kNaN); }),
                  "percentile: there is no quantile nan outside of [0, 100]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { quantile(x, 0.5, {}, {.method = "hazen"}); }),
                  "quantile: the method is 'linear', 'lower', 'higher', 'midpoint' or 'nearest', not 'hazen'");
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { quantile(x, tensor({0.5f, -0.1f})); }),
                  "quantile: a quantile is outside of [0, 1]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { quantile(x, scalar<double>(0.5)); }),
                  "quantile: takes tensors of one type, not float32[2,3] and float64[]");
}

TEST(ArraysStatistics, WithoutNaN) {
  check("nan",
        [](const Tensors &t) {
          const Tensor &x = t[0];
          return Tensors{nansum(x, 1),
                         nansum(x),
                         nanprod(x, 0),
                         nanmax(x, 1),
                         nanmin(x, 0),
                         nanmean(x, 1),
                         nanmean(x, 0, true),
                         nanvar(x, 1),
                         nanvar(x, 0, {.ddof = 1}),
                         nanstd(x, 1, {.keepdims = true}),
                         nanmedian(x, 1),
                         nanmedian(x, 0),
                         nanmedian(x),
                         nanquantile(x, 0.3, 1)};
        },
        {.derivatives = 0});
  check("nanquantile q", [](const Tensors &x) { return nanquantile(x[0], x[1], 1); },
        {.derivatives = 0, .vmap = false});
  check("nan none", [](const Tensors &t) {
    const Tensor &x = t[0];
    return Tensors{nansum(x, 1), nanmean(x, 1), nanvar(x, 1), nanmax(x, 0), nanquantile(x, 0.3, 1)};
  });
  // No NaN comes into gradients.
  const Tensor x = tensor({1.0, kNaN, 3.0}), all = function(grad([](const Tensor &x) {
                                               return nansum(x) + nanmean(x) + nanvar(x) + nanmax(x) + nanmedian(x);
                                             }))(x);
  const std::vector<float> slopes = all.to_vector<float>();
  EXPECT_FLOAT_EQ(slopes[0], 1 + 0.5f - 1 + 0 + 0.5f);
  EXPECT_FLOAT_EQ(slopes[2], 1 + 0.5f + 1 + 1 + 0.5f);
  EXPECT_EQ(slopes[1], 0);
}

TEST(ArraysStatistics, Counts) {
  check(
      "bincount",
      [](const Tensors &x) {
        return Tensors{bincount(x[0], {.length = 6}), bincount(x[0], {.length = 9}), bincount(x[0], {.length = 6})};
      },
      constant);
  check("bincount weights", [](const Tensors &x) { return bincount(x[0], {.weights = x[1], .length = 6}); });
  const Tensor x = tensor({3, 0, 3});
  auto values = [](const Tensor &t) { return t.to_vector<std::int64_t>(); };
  EXPECT_EQ(values(bincount(x)), (std::vector<std::int64_t>{1, 0, 0, 2}));
  EXPECT_EQ(values(bincount(x, {.minlength = 5})), (std::vector<std::int64_t>{1, 0, 0, 2, 0}));
  EXPECT_EQ(values(bincount(x, {.length = 2})), (std::vector<std::int64_t>{1, 0})) << "larger numbers are left out";
  EXPECT_EQ(bincount(zeros({0}, DType::Int32)).shape(), (Shape{0}));
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { bincount(tensor({-1})); }), "bincount: a number is negative");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { bincount(ones({1, 1}, DType::Int32)); }),
                  "bincount: takes a vector, not int32[1,1]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { bincount(ones({1})); }),
                  "bincount: counts and groups by integers, not float32[1]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { bincount(x, {.length = -1}); }),
                  "bincount: the length must not be negative: -1");
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { function([](const Tensor &x) { return bincount(x); })(x); }),
      "bincount: the largest number is known at the call only; give the size of the result as {.length = ...}");
}

TEST(ArraysStatistics, Histograms) {
  check("histogram edges",
        [](const Tensors &x) {
          return Tensors{histogram(x[0], x[1]).counts, histogram(x[0], x[1], {.weights = x[2]}).counts,
                         histogram(x[0], x[1], {.density = true}).counts};
        },
        {.derivatives = 0, .unknownSizes = false, .vmap = false, .float32 = false});
  check(
      "histogram range",
      [](const Tensors &x) {
        const Histogram found = histogram(x[0], 4, {.range = {{0, 1}}});
        return Tensors{found.counts, found.edges, histogram(x[0], 3, {.density = true}).counts};
      },
      constant);
  const Tensor x = tensor({0.5f, static_cast<float>(kNaN), 7.0f});
  check("histogram 2d",
        [](const Tensors &x) {
          return Tensors{histogram2d(x[0], x[1], x[2], x[3]).counts,
                         histogram2d(x[0], x[1], x[2], x[3], {.weights = x[4]}).counts,
                         histogram2d(x[0], x[1], x[2], x[3], {.density = true}).counts};
        },
        {.derivatives = 0, .unknownSizes = false, .vmap = false, .float32 = false});
  const Tensor edge = arange(2.0f);
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { histogram2d(ones({3}), ones({2}), edge, edge); }),
                  "histogram2d: x and y must have one shape, not float32[3] and float32[2]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { histogram2d(ones({3}), ones({3}), edge, ones({1, 2})); }),
                  "histogram2d: the edges must be a vector, not float32[1,2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { histogram2d(ones({3}), ones({3}, DType::Float64), edge, arange(2.0)); }),
                  "histogram2d: takes tensors of one type, not float32[3] and float64[3]; there is no implicit "
                  "conversion, use cast");
  // Bins of equal width: numbers at and next to each edge.
  for (double high : {1.0, 3.0, 1e-3}) {
    const Tensor edges = histogram(zeros({1}), 37, {.range = {{0.1 * high, high}}}).edges;
    const Tensor around = concat({edges, nextafter(edges, -1.0f), nextafter(edges, 9.0f), edges * 0.99f}, 0);
    const Tensor equal = histogram(around, 37, {.range = {{0.1 * high, high}}}).counts;
    EXPECT_EQ(equal.to_vector<std::int64_t>(), histogram(around, edges).counts.to_vector<std::int64_t>());
  }
  EXPECT_EQ(histogram(x, tensor({0.0f, 1.0f})).counts.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1}));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { histogram(x, ones({1, 2})); }),
                  "histogram: the edges must be a vector, not float32[1,2]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { histogram(x, ones({1})); }), "histogram: there must be two edges at least");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { histogram(x, ones({2}), {.range = {{0, 1}}}); }),
                  "histogram: edges have a range of their own");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { histogram(x, 3, {.range = {{1, 1}}}); }),
                  "histogram: there are no 3 bins from 1 to 1");
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { histogram(x, tensor({1.0f, 0.0f})); }),
                  "histogram: the edges must increase");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x) { return histogram(x, x).counts; },
                             {.input_signature = {TensorSpec<float>({kDynamic})}})(ones({3}));
                  }),
                  "histogram: the number of edges must be known while tracing");
}

TEST(ArraysStatistics, Segments) {
  check("segments",
        [](const Tensors &x) {
          return Tensors{segment_sum(x[0], x[1], 4), segment_max(x[0], x[1], 4), segment_min(x[0], x[1], 4),
                         segment_mean(x[0], x[1], 4)};
        },
        {.derivatives = 0});
  const Tensor ids = tensor({1, 0, 1});
  expectDerivatives(
      [ids](const Tensors &x) {
        return concat({segment_sum(x[0], ids, 2), segment_max(x[0], ids, 2), segment_min(x[0], ids, 2),
                       segment_mean(x[0], ids, 2)});
      },
      {tensor<double>({0.5, -1.5, 2.0, 0.25, 1.0, -0.5}, Shape{3, 2})}, 2);
  EXPECT_EQ(segment_sum(tensor({1, 2, 3}), ids).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(segment_min(tensor({1, 2, 3}), ids, 3).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{2, 1, std::numeric_limits<std::int32_t>::max()}));
  EXPECT_EQ(segment_max(tensor({1, 2, 3}), ids, 3).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{2, 3, std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(segment_sum(ones({2, 2, 3}), tensor({{0, 1}, {1, 1}}), 2).to_vector<float>(),
            (std::vector<float>{1, 1, 1, 3, 3, 3}));
  errorOf<IndexError>([&] { segment_sum(ones({3}), ids, 1); });
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { segment_sum(scalar(1), ids); }),
                  "segment_sum: the ids int32[3] must have the shape of the first axes of int32[]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { segment_max(ids, ids, -1); }),
                  "segment_max: the number of segments must not be negative: -1");
  EXPECT_CONTAINS(errorOf<StateError>([&] { function([](const Tensor &x) { return segment_sum(x, x); })(ids); }),
                  "segment_sum: the largest id is known at the call only; give the number of segments");
  errorOf<ShapeError>([&] { segment_sum(ones({2}), ids); });
}

TEST(ArraysStatistics, Comparisons) {
  check(
      "isclose",
      [](const Tensors &x) {
        return Tensors{isclose(x[0], x[1]), isclose(x[0], x[1], {.equal_nan = true}),
                       isclose(x[0], x[1], {.rtol = 0, .atol = 2}), allclose(x[0], x[1]),
                       allclose(split(x[0], {2, -1})[0], split(x[1], {2, -1})[0])};
      },
      constant);
  check("array_equal",
        [](const Tensors &x) {
          return Tensors{array_equal(x[0], x[0]), array_equal(x[0], x[0], true), array_equal(x[0], x[1]),
                         array_equal(x[0], split(x[1], {1, -1})[1])};
        },
        {.derivatives = 0, .unknownSizes = false, .float32 = false});
  constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(bool(allclose(tensor({large}), tensor({-large}))));
  EXPECT_TRUE(bool(array_equal(zeros({0}), zeros({0}))));
  EXPECT_FALSE(bool(array_equal(zeros({0}), zeros({0, 1}))));
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x, const Tensor &y) { return array_equal(x, y); },
                             {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}})(
                        ones({3}), ones({3}));
                  }),
                  "array_equal: the sizes of float32[?] and float32[?] must be known while tracing");
}
