// What the functions of ir/Numbers.td and their like promise beyond closeness to their references: neighbours bit for
// bit, edges, derivatives there, and public functions that are made of several operations.
#include "test/operations/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// NaN is like NaN.
void expectValues(const Tensor &found, const std::vector<double> &expected) {
  std::vector<double> values = valuesOf(found);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE((values[i] == expected[i] && std::signbit(values[i]) == std::signbit(expected[i])) ||
                (std::isnan(values[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << values[i] << " instead of " << expected[i];
}

template <typename T> class Neighbours : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Neighbours, FloatTypes);
} // namespace

TYPED_TEST(Neighbours, AreThoseOfTheCLibrary) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0, Limits::denorm_min(), Limits::min(), 1, T(1.5), 3, Limits::max(), Limits::infinity()};
  for (std::size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  std::vector<T> x, y;
  std::vector<double> expected;
  for (T a : values)
    for (T b : values) {
      x.push_back(a);
      y.push_back(b);
      expected.push_back(std::nextafter(a, b));
    }
  expectValues(both([](const Tensor &a, const Tensor &b) { return nextafter(a, b); }, tensor(x), tensor(y)), expected);
}

TEST(Numbers, HaveSignsAndKinds) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Tensor x = vectorOf(dtype, {0, -0.0, 1.5, -2.5, kInfinity, -kInfinity, kNan});
    auto f = [](const Tensor &a) { return std::vector<Tensor>{isinf(a), signbit(a), trunc(a), reciprocal(a)}; };
    std::vector<Tensor> results = both(f, x);
    EXPECT_EQ(results[0].to_vector<bool>(), (std::vector<bool>{false, false, false, false, true, true, false}));
    std::vector<bool> signs = results[1].to_vector<bool>();
    signs.pop_back(); // the sign of NaN is left open
    EXPECT_EQ(signs, (std::vector<bool>{false, true, false, true, false, true}));
    expectValues(results[2], {0, -0.0, 1, -2, kInfinity, -kInfinity, kNan});
    EXPECT_EQ(valuesOf(results[3])[4], 0);
    EXPECT_EQ(valuesOf(results[3])[1], -kInfinity);
    Tensor signs2 = both([](const Tensor &a, const Tensor &b) { return copysign(a, b); }, x, vectorOf(dtype, {-1}));
    expectValues(signs2, {-0.0, -0.0, -1.5, -2.5, -kInfinity, -kInfinity, kNan});
    EXPECT_EQ(
        slopes([&](const Tensor &a) { return copysign(a, vectorOf(dtype, {-0.0})); }, vectorOf(dtype, {2, -2, 0})),
        (std::vector<double>{-1, 1, 0}));
  }
}

TEST(Numbers, NanToNumReplacesWhatIsNotFinite) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double largest =
        dtype == DType::Float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    Tensor x = vectorOf(dtype, {1.5, kNan, kInfinity, -kInfinity, -0.0});
    expectValues(both([](const Tensor &a) { return nan_to_num(a); }, x), {1.5, 0, largest, -largest, -0.0});
    auto chosen = [](const Tensor &a) { return nan_to_num(a, {.nan = -7, .posinf = 2, .neginf = 0.5}); };
    expectValues(both(chosen, x), {1.5, -7, 2, 0.5, -0.0});
    EXPECT_EQ(slopes(chosen, x), (std::vector<double>{1, 0, 0, 0, 1}));
    expectBatched(
        {{[&](const std::vector<Tensor> &operands) { return std::vector<Tensor>{chosen(operands[0])}; }, {x}, true}});
  }
  EXPECT_THROW(nan_to_num(tensor({1, 2})), DTypeError);
}

TEST(Numbers, LogaddexpIsThatOfNumPy) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double eps = dtype == DType::Float32 ? 2e-7 : 4e-16;
    const std::vector<double> xs = {0, 1, 1000, -1000, kInfinity, kInfinity, -kInfinity, -kInfinity, kNan, 1, 0.25, -3},
                              ys = {0, 2, 1000, 1000, kInfinity, -kInfinity, -kInfinity, 2, 1, kNan, -80, -3};
    // numpy.logaddexp of NumPy 2.
    const std::vector<double> expected = {0.6931471805599453,
                                          2.3132616875182228,
                                          1000.6931471805599453,
                                          1000,
                                          kInfinity,
                                          kInfinity,
                                          -kInfinity,
                                          2,
                                          kNan,
                                          kNan,
                                          0.25,
                                          -2.3068528194400546};
    auto f = [](const Tensor &a, const Tensor &b) { return logaddexp(a, b); };
    std::vector<double> found = valuesOf(both(f, vectorOf(dtype, xs), vectorOf(dtype, ys)));
    for (std::size_t i = 0; i < xs.size(); ++i)
      if (std::isfinite(expected[i]))
        EXPECT_NEAR(found[i], expected[i], eps * (1 + std::fabs(expected[i]))) << xs[i] << " and " << ys[i];
      else
        EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) << i;
    // At a tie both halves have a share, and no infinity makes NaN of the others' derivatives.
    EXPECT_EQ(slopes([&](const Tensor &a) { return logaddexp(a, vectorOf(dtype, {1, 1, 1, -kInfinity})); },
                     vectorOf(dtype, {1, 1000, -1000, 2})),
              (std::vector<double>{0.5, 1, 0, 1}));
  }
  std::mt19937 random(3);
  expectDerivatives([](const std::vector<Tensor> &x) { return logaddexp(x[0], x[1]); },
                    {randomTensor(random, {3, 1}), randomTensor(random, {4})}, 2);
  EXPECT_THROW(logaddexp(tensor({1, 2}), tensor({1, 2})), DTypeError);
  EXPECT_THROW(logaddexp(tensor({1.f, 2.f}), tensor({1.f, 2.f, 3.f})), ShapeError);
}

TEST(Numbers, HeavisideAndXlogyAreDefinedAtZero) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    auto heavy = [](const Tensor &a, const Tensor &b) { return heaviside(a, b); };
    expectValues(both(heavy, vectorOf(dtype, {-1, 0, -0.0, 2, kNan}), vectorOf(dtype, {0.5})), {0, 0.5, 0.5, 1, kNan});
    EXPECT_EQ(
        slopes([&](const Tensor &b) { return heaviside(vectorOf(dtype, {-1, 0, 2}), b); }, vectorOf(dtype, {3, 3, 3})),
        (std::vector<double>{0, 1, 0}));
    auto product = [](const Tensor &a, const Tensor &b) { return xlogy(a, b); };
    expectValues(both(product, vectorOf(dtype, {0, 0, 0, 0, 2, 2}), vectorOf(dtype, {0, kInfinity, -1, kNan, 0, -1})),
                 {0, 0, 0, kNan, -kInfinity, kNan});
    EXPECT_EQ(slopes([&](const Tensor &a) { return xlogy(a, vectorOf(dtype, {1, 0})); }, vectorOf(dtype, {0, 0})),
              (std::vector<double>{0, -kInfinity}));
    EXPECT_EQ(slopes([&](const Tensor &b) { return xlogy(vectorOf(dtype, {0, 0, 3}), b); }, vectorOf(dtype, {1, 0, 2})),
              (std::vector<double>{0, 0, 1.5}));
  }
  EXPECT_EQ(both([](const Tensor &a) { return heaviside(a, 7); }, tensor({-2, 0, 5})).to_vector<int>(),
            (std::vector<int>{0, 7, 1}));
}

// sinc'(x) = -pi^2 x / 3 and sinc''(x) = -pi^2 / 3 near 0.
TEST(Numbers, SincIsExactAtIntegersAndNearZero) {
  const double pi = 3.141592653589793;
  for (DType dtype : {DType::Float32, DType::Float64}) {
    std::vector<double> found =
        valuesOf(both([](const Tensor &a) { return sinc(a); }, vectorOf(dtype, {0, 1, -2, 1e6, 0.5, 1e30})));
    for (std::size_t i : {1, 2, 3, 5})
      EXPECT_EQ(found[i], 0);
    EXPECT_EQ(found[0], 1);
    EXPECT_NEAR(found[4], 2 / pi, 1e-7);
    auto slope = [](const Tensor &a) { return grad([](const Tensor &x) { return sum(sinc(x)); })(a); };
    const double tiny = dtype == DType::Float32 ? 1e-5 : 1e-9, eps = dtype == DType::Float32 ? 1e-6 : 1e-14;
    std::vector<double> first = valuesOf(both(slope, vectorOf(dtype, {0, tiny, -tiny, 1}))),
                        second = slopes(slope, vectorOf(dtype, {0, tiny, -tiny}));
    EXPECT_EQ(first[0], 0);
    EXPECT_NEAR(first[1] / (-pi * pi * tiny / 3), 1, eps);
    EXPECT_NEAR(first[2] / (pi * pi * tiny / 3), 1, eps);
    EXPECT_NEAR(first[3], -1, eps);
    for (double each : second)
      EXPECT_NEAR(each / (-pi * pi / 3), 1, 4 * eps);
  }
}
