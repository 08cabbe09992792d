// What the functions of ir/Functions.td promise beyond closeness to their references: exact results, derivatives at the
// edges of domains, sizes that are not known. All inputs and special values: AccuracyTest.cpp and ElementwiseTest.cpp.
#include "test/operations/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Unary = std::function<Tensor(const Tensor &)>;
using Binary = std::function<Tensor(const Tensor &, const Tensor &)>;

std::vector<std::vector<double>> slopesOfBoth(const Binary &f, const Tensor &x, const Tensor &y) {
  std::vector<std::vector<double>> found;
  found.push_back(slopes([&](const Tensor &at) { return f(at, y); }, x));
  found.push_back(slopes([&](const Tensor &at) { return f(x, at); }, y));
  return found;
}
} // namespace

TEST(Functions, PowersOfTheBaseHaveExactLogarithms) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const bool isFloat = dtype == DType::Float32;
    std::vector<double> twos, exponents, tens, decimals;
    for (int i = isFloat ? -149 : -1074; i <= (isFloat ? 127 : 1023); ++i) {
      twos.push_back(std::ldexp(1, i));
      exponents.push_back(i);
    }
    // The powers of 10 that the type has exactly.
    for (int i = 0; i <= (isFloat ? 10 : 22); ++i) {
      tens.push_back(std::pow(10.0, i));
      decimals.push_back(i);
    }
    Shape ofTwos{static_cast<std::int64_t>(twos.size())}, ofTens{static_cast<std::int64_t>(tens.size())};
    EXPECT_EQ(valuesOf(both([](const Tensor &x) { return log2(x); }, makeTensor(dtype, twos, ofTwos))), exponents);
    EXPECT_EQ(valuesOf(both([](const Tensor &x) { return exp2(x); }, makeTensor(dtype, exponents, ofTwos))), twos);
    EXPECT_EQ(valuesOf(both([](const Tensor &x) { return log10(x); }, makeTensor(dtype, tens, ofTens))), decimals);
  }
}

// The largest arguments whose results are finite, and the next ones.
TEST(Functions, OverflowWhereTheirResultsDo) {
  const float last = 0x1.65a9f8p+6f; // log(2 * largest), rounded down
  Tensor x = tensor({last, std::nextafter(last, 100.0f), -last, std::nextafter(-last, -100.0f)});
  const Unary functions[] = {[](const Tensor &at) { return cosh(at); }, [](const Tensor &at) { return sinh(at); }};
  for (const Unary &f : functions) {
    std::vector<double> found = valuesOf(both([&](const Tensor &at) { return f(at); }, x));
    EXPECT_NEAR(std::fabs(found[0]) / std::cosh(static_cast<double>(last)), 1, 3e-7);
    EXPECT_NEAR(std::fabs(found[2]) / std::cosh(static_cast<double>(last)), 1, 3e-7);
    EXPECT_EQ(std::fabs(found[1]), kInfinity);
    EXPECT_EQ(std::fabs(found[3]), kInfinity);
  }
  Tensor large = tensor({3e38f, 2e38f, 0x1p-149f, 3e-45f}), other = tensor({1e38f, 2e38f, 0.0f, 4e-45f});
  std::vector<double> lengths =
      valuesOf(both([](const Tensor &a, const Tensor &b) { return hypot(a, b); }, large, other));
  EXPECT_NEAR(lengths[0] / std::hypot(3e38, 1e38), 1, 1e-7);
  EXPECT_NEAR(lengths[1] / std::hypot(2e38, 2e38), 1, 1e-7);
  EXPECT_EQ(lengths[2], 0x1p-149);
  EXPECT_EQ(lengths[3], 0x1p-149 * 4); // hypot(2, 3) of the smallest, rounded
}

TEST(Functions, HaveTheDerivativesOfTheEdgesOfTheirDomains) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    auto of = [&](const std::vector<double> &values) {
      return makeTensor(dtype, values, {static_cast<std::int64_t>(values.size())});
    };
    using Expected = std::vector<double>;
    EXPECT_EQ(slopes([](const Tensor &x) { return asin(x); }, of({1, -1, 0})), (Expected{kInfinity, kInfinity, 1}));
    EXPECT_EQ(slopes([](const Tensor &x) { return acos(x); }, of({1, -1, 0})), (Expected{-kInfinity, -kInfinity, -1}));
    EXPECT_EQ(slopes([](const Tensor &x) { return atanh(x); }, of({1, -1, 0})), (Expected{kInfinity, kInfinity, 1}));
    EXPECT_EQ(slopes([](const Tensor &x) { return acosh(x); }, of({1, kInfinity})), (Expected{kInfinity, 0}));
    EXPECT_EQ(slopes([](const Tensor &x) { return cbrt(x); }, of({0, -0.0, 1})),
              (Expected{kInfinity, kInfinity, slopes([](const Tensor &x) { return cbrt(x); }, of({-1}))[0]}));
    EXPECT_EQ(slopes([](const Tensor &x) { return atan(x); }, of({kInfinity, -kInfinity, 0})), (Expected{0, 0, 1}));
    EXPECT_EQ(slopes([](const Tensor &x) { return cosh(x); }, of({0})), (Expected{0}));
    // Squares of these operands overflow and vanish.
    const double large = dtype == DType::Float32 ? 0x1p100 : 0x1p1000;
    EXPECT_EQ(slopes([](const Tensor &x) { return asinh(x); }, of({large, -large})), (Expected{1 / large, 1 / large}));
    auto length = slopesOfBoth([](const Tensor &a, const Tensor &b) { return hypot(a, b); },
                               of({0, large, 3, 1 / large}), of({0, 0, 4, 0}));
    EXPECT_EQ(length[0], (Expected{0, 1, dtype == DType::Float32 ? 0.6f : 0.6, 1}));
    EXPECT_EQ(length[1], (Expected{0, 0, dtype == DType::Float32 ? 0.8f : 0.8, 0}));
    auto angle = slopesOfBoth([](const Tensor &y, const Tensor &x) { return atan2(y, x); }, of({0, 0, large, 0}),
                              of({large, 1 / large, 0, 0}));
    EXPECT_EQ(Expected(angle[0].begin(), angle[0].begin() + 3), (Expected{1 / large, large, 0}));
    EXPECT_EQ(Expected(angle[1].begin(), angle[1].begin() + 3), (Expected{0, 0, -1 / large}));
    EXPECT_TRUE(std::isnan(angle[0][3]) && std::isnan(angle[1][3])); // as documented
    Binary curvature = [&](const Tensor &a, const Tensor &b) {
      return grad([](const Tensor &x, const Tensor &y) { return sum(hypot(x, y)); })(a, b);
    };
    EXPECT_EQ(slopesOfBoth(curvature, of({0}), of({0})), (std::vector<Expected>{{0}, {0}}));
  }
}

// One body for all sizes computes what a body for the sizes does.
TEST(Functions, TakeUnknownSizes) {
  auto f = [](const Tensor &x, const Tensor &y) {
    return atan2(asinh(x), cosh(y)) + hypot(cbrt(x), log2(y)) - exp2(atan(x)) * sinh(y) + asin(y / 8) + acos(y / 8) +
           acosh(y + 1) + atanh(y / 8) + log10(y);
  };
  auto gradient = [&](const Tensor &x, const Tensor &y) {
    return grad([&](const Tensor &a, const Tensor &b) { return sum(f(a, b)); })(x, y);
  };
  for (DType dtype : {DType::Float32, DType::Float64}) {
    TensorSpec any(dtype, {kDynamic, kDynamic});
    auto open = function<Tensor(const Tensor &, const Tensor &)>(f, {.input_signature = {any, any}});
    auto openGradient = function<Tensor(const Tensor &, const Tensor &)>(gradient, {.input_signature = {any, any}});
    for (Shape shape : {Shape{1, 1}, Shape{3, 7}, Shape{0, 4}, Shape{5, 33}}) {
      std::mt19937 random(4);
      Tensor x = makeTensor(dtype, randomValues(random, sizeOf(shape), -3, 3), shape),
             y = makeTensor(dtype, randomValues(random, sizeOf(shape), 0.3, 3), shape);
      expectSameBits(open(x, y), f(x, y));
      expectSameBits(open(x, y), function<Tensor(const Tensor &, const Tensor &)>(f)(x, y));
      expectAlike(openGradient(x, y), gradient(x, y), false);
    }
  }
}
