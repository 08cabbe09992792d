// Special functions: values of another implementation, edges, derivatives there. All inputs: AccuracyTest.cpp.
#include "test/operations/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

using Public = Tensor (*)(const Operand &);
struct Value {
  const char *name;
  Public function;
  double x, expected;
};
// By special_values.py.
const Value kValues[] = {
    {"erfc", erfc, -7.0, 2.0},
    {"erfc", erfc, -1.5, 1.9661051464753108},
    {"erfc", erfc, 0.25, 0.7236736098317631},
    {"erfc", erfc, 1.0, 0.15729920705028513},
    {"erfc", erfc, 5.0, 1.537459794428035e-12},
    {"erfc", erfc, 9.5, 3.7692144856548797e-41},
    {"erfc", erfc, 26.0, 5.663192408856143e-296},
    {"erfcx", erfcx, -5.0, 144009798674.66104},
    {"erfcx", erfcx, -0.5, 1.952360489182557},
    {"erfcx", erfcx, 0.0, 1.0},
    {"erfcx", erfcx, 0.75, 0.5069376502931449},
    {"erfcx", erfcx, 3.0, 0.17900115118138996},
    {"erfcx", erfcx, 50.0, 0.011281536265323773},
    {"erfcx", erfcx, 10000000000.0, 5.641895835477563e-11},
    {"ndtr", ndtr, -37.0, 5.725571222524577e-300},
    {"ndtr", ndtr, -12.0, 1.776482112077679e-33},
    {"ndtr", ndtr, -1.0, 0.15865525393145705},
    {"ndtr", ndtr, 0.0, 0.5},
    {"ndtr", ndtr, 0.5, 0.6914624612740131},
    {"ndtr", ndtr, 3.0, 0.9986501019683699},
    {"ndtr", ndtr, 9.0, 1.0},
    {"log_ndtr", log_ndtr, -1000.0, -500007.82669481216},
    {"log_ndtr", log_ndtr, -30.0, -454.3212439563432},
    {"log_ndtr", log_ndtr, -3.0, -6.607726221510349},
    {"log_ndtr", log_ndtr, 0.0, -0.6931471805599453},
    {"log_ndtr", log_ndtr, 2.0, -0.02301290932896349},
    {"log_ndtr", log_ndtr, 8.0, -6.220960574271786e-16},
    {"ndtri", ndtri, 1e-300, -37.0470962993612},
    {"ndtri", ndtri, 1e-30, -11.464024688443615},
    {"ndtri", ndtri, 0.0001, -3.7190164854556804},
    {"ndtri", ndtri, 0.05, -1.6448536269514726},
    {"ndtri", ndtri, 0.3, -0.5244005127080408},

    {"ndtri", ndtri, 0.75, 0.6744897501960817},
    {"ndtri", ndtri, 0.999, 3.090232306167813},
    {"erfinv", erfinv, -0.9999999, -3.7665625816384707},
    {"erfinv", erfinv, -0.5, -0.4769362762044699},
    {"erfinv", erfinv, 1e-20, 8.86226925452758e-21},
    {"erfinv", erfinv, 0.25, 0.2253120550121781},
    {"erfinv", erfinv, 0.8, 0.9061938024368233},
    {"erfinv", erfinv, 0.9375, 1.3171503349861307},
    {"i0", i0, 0.0, 1.0},
    {"i0", i0, 0.5, 1.0634833707413236},
    {"i0", i0, -3.0, 4.8807925858650245},
    {"i0", i0, 7.75, 338.5137537472759},
    {"i0", i0, 8.25, 540.325079074807},
    {"i0", i0, 80.0, 2.4751784043341704e+33},
    {"i1", i1, 1e-20, 5e-21},
    {"i1", i1, 0.5, 0.2578943053908963},
    {"i1", i1, -3.0, -3.9533702174026093},
    {"i1", i1, 7.75, 315.85248092400343},
    {"i1", i1, 8.25, 506.4338383076455},
    {"i1", i1, 80.0, 2.459659579567541e+33},
    {"i0e", i0e, 0.0, 1.0},
    {"i0e", i0e, 1.0, 0.46575960759364043},
    {"i0e", i0e, -5.0, 0.18354081260932836},
    {"i0e", i0e, 9.0, 0.134959524581723},
    {"i0e", i0e, 1000.0, 0.012617240455891257},
    {"i1e", i1e, 0.125, 0.05526385324160324},
    {"i1e", i1e, 1.0, 0.20791041534970844},
    {"i1e", i1e, -5.0, -0.16397226694454237},
    {"i1e", i1e, 9.0, 0.1272249839358912},
    {"i1e", i1e, 1000.0, 0.012610930256928629},
    {"lgamma", lgamma, 1e-20, 46.051701859880914},
    {"lgamma", lgamma, 0.25, 1.2880225246980774},
    {"lgamma", lgamma, 1.0009765625, -0.0005629031799912047},
    {"lgamma", lgamma, 1.5, -0.12078223763524522},
    {"lgamma", lgamma, 2.25, 0.1248717148923966},
    {"lgamma", lgamma, 3.0, 0.6931471805599453},
    {"lgamma", lgamma, 7.5, 7.534364236758733},
    {"lgamma", lgamma, 8.0, 8.525161361065415},
    {"lgamma", lgamma, 100.0, 359.1342053695754},
    {"lgamma", lgamma, 1e+20, 4.505170185988091e+21},
    {"lgamma", lgamma, -0.5, 1.2655121234846454},
    {"lgamma", lgamma, -1.25, 1.3664317612369763},
    {"lgamma", lgamma, -10.75, -15.403074503504817},
    {"lgamma", lgamma, -100.5, -364.90096830942736},
    {"digamma", digamma, 1e-10, -10000000000.577215},
    {"digamma", digamma, 0.25, -4.2274535333762655},
    {"digamma", digamma, 1.0, -0.5772156649015329},
    {"digamma", digamma, 2.0, 0.42278433509846713},
    {"digamma", digamma, 7.875, 1.9988595242685323},
    {"digamma", digamma, 8.0, 2.01564147795561},
    {"digamma", digamma, 1000000.0, 13.815510057964191},
    {"digamma", digamma, 1e+20, 46.051701859880914},
    {"digamma", digamma, -0.25, 2.9141391202135276},
    {"digamma", digamma, -3.5, 1.388870926359529},
    {"digamma", digamma, -20.125, 10.611077432912593},
    {"trigamma", trigamma, 1e-10, 1e+20},
    {"trigamma", trigamma, 0.25, 17.19732915450711},
    {"trigamma", trigamma, 1.0, 1.6449340668482264},
    {"trigamma", trigamma, 7.875, 0.13538679222109248},
    {"trigamma", trigamma, 8.0, 0.1331370146940314},
    {"trigamma", trigamma, 1000000.0, 1.0000005000001667e-06},
    {"trigamma", trigamma, -0.25, 18.541879647671607},
    {"trigamma", trigamma, -3.5, 9.620879298050347},
    {"trigamma", trigamma, -20.125, 67.34539904473097},
};

// NaN is like NaN, and 0 is not -0.
void expectValues(Public f, DType dtype, const std::vector<double> &x, const std::vector<double> &expected) {
  std::vector<double> values = valuesOf(both([&](const Tensor &at) { return f(at); }, vectorOf(dtype, x)));
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE((values[i] == expected[i] && std::signbit(values[i]) == std::signbit(expected[i])) ||
                (std::isnan(values[i]) && std::isnan(expected[i])))
        << "of " << x[i] << ": " << values[i] << " instead of " << expected[i];
}
} // namespace

TEST(Special, FunctionsHaveTheValuesOfAnotherImplementation) {
  for (const Value &value : kValues)
    for (DType dtype : {DType::Float32, DType::Float64}) {
      Tensor x = vectorOf(dtype, {value.x});
      // Not of float32 where the argument or the result is no such number.
      if (valuesOf(x)[0] != value.x || (dtype == DType::Float32 && std::fabs(value.expected) < 1e-37))
        continue;
      double found = valuesOf(value.function(x))[0], eps = dtype == DType::Float32 ? 2e-7 : 3e-15;
      EXPECT_NEAR(found / value.expected, 1, eps) << value.name << " of " << value.x << ", " << dtype;
    }
}

TEST(Special, FunctionsHaveEdges) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    expectValues(erfc, dtype, {-kInfinity, kInfinity, 0, 1000, kNan}, {2, 0, 1, 0, kNan});
    expectValues(erfcx, dtype, {-kInfinity, kInfinity, 0, -1000, kNan}, {kInfinity, 0, 1, kInfinity, kNan});
    expectValues(ndtr, dtype, {-kInfinity, kInfinity, 0, 1000, kNan}, {0, 1, 0.5, 1, kNan});
    expectValues(log_ndtr, dtype, {-kInfinity, kInfinity, 1000, kNan}, {-kInfinity, -0.0, -0.0, kNan});
    expectValues(ndtri, dtype, {0, 1, 0.5, -0.1, 1.5, kNan}, {-kInfinity, kInfinity, 0, kNan, kNan, kNan});
    expectValues(erfinv, dtype, {0, -0.0, 1, -1, 2, kNan}, {0, -0.0, kInfinity, -kInfinity, kNan, kNan});
    expectValues(i0, dtype, {0, kInfinity, -kInfinity, 1e4, kNan}, {1, kInfinity, kInfinity, kInfinity, kNan});
    expectValues(i1, dtype, {0, -0.0, kInfinity, -kInfinity, kNan}, {0, -0.0, kInfinity, -kInfinity, kNan});
    expectValues(i0e, dtype, {0, kInfinity, -kInfinity, kNan}, {1, 0, 0, kNan});
    expectValues(i1e, dtype, {0, -0.0, kInfinity, -kInfinity, kNan}, {0, -0.0, 0, -0.0, kNan});
    expectValues(lgamma, dtype, {0, -0.0, 1, 2, -1, -1e10, kInfinity, -kInfinity, kNan},
                 {kInfinity, kInfinity, 0, 0, kInfinity, kInfinity, kInfinity, kInfinity, kNan});
    expectValues(digamma, dtype, {0, -0.0, -1, -1e10, kInfinity, -kInfinity, kNan},
                 {-kInfinity, kInfinity, kNan, kNan, kInfinity, kNan, kNan});
    expectValues(trigamma, dtype, {0, -0.0, -1, -1e10, kInfinity, -kInfinity, kNan},
                 {kInfinity, kInfinity, kInfinity, kInfinity, 0, kNan, kNan});
  }
  // The largest argument with a finite result, and the next.
  const double largest = 713.98690854396826;
  std::vector<double> found = valuesOf(i0(tensor<double>({largest - 1e-3, 714.0})));
  EXPECT_LT(found[0], kInfinity);
  EXPECT_EQ(found[1], kInfinity);
}

TEST(Special, FunctionsHaveTheDerivativesOfTheirEdges) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double eps = dtype == DType::Float32 ? 1e-6 : 1e-14;
    EXPECT_EQ(slopes([](const Tensor &x) { return i0(x); }, vectorOf(dtype, {0}))[0], 0);
    EXPECT_EQ(slopes([](const Tensor &x) { return i1(x); }, vectorOf(dtype, {0}))[0], 0.5);
    EXPECT_EQ(slopes([](const Tensor &x) { return i1e(x); }, vectorOf(dtype, {0}))[0], 0.5);
    EXPECT_EQ(slopes([](const Tensor &x) { return erfinv(x); }, vectorOf(dtype, {1, -1})),
              (std::vector<double>{kInfinity, kInfinity}));
    EXPECT_EQ(slopes([](const Tensor &x) { return ndtri(x); }, vectorOf(dtype, {0, 1})),
              (std::vector<double>{kInfinity, kInfinity}));
    // exp(-x^2 / 2) / sqrt(2 pi) / ndtr(x) at -40, by mpmath in 40 digits; ndtr itself vanishes there in float32.
    std::vector<double> hazard = slopes([](const Tensor &x) { return log_ndtr(x); }, vectorOf(dtype, {-40, 40}));
    EXPECT_NEAR(hazard[0] / 40.02496884720726, 1, 4 * eps);
    EXPECT_LT(hazard[1], 1e-300);
    // Gamma's logarithm below 0, with the reflection's derivatives.
    auto second = [](const Tensor &x) { return grad([](const Tensor &at) { return sum(lgamma(at)); })(x); };
    Tensor below = vectorOf(dtype, {-0.5, -2.25, -7.75});
    std::vector<double> first = slopes([](const Tensor &x) { return lgamma(x); }, below),
                        curvature = slopes(second, below);
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_NEAR(first[i] / static_cast<double>(reference::digamma_<Real>(valuesOf(below)[i])), 1, 4 * eps);
      EXPECT_NEAR(curvature[i] / static_cast<double>(reference::trigamma_<Real>(valuesOf(below)[i])), 1, 4 * eps);
    }
  }
  // Central differences of trigamma, also below 0.
  expectDerivatives([](const std::vector<Tensor> &x) { return trigamma(x[0]); },
                    {tensor<double>({-2.3, -0.6, 0.7, 3.0, 12.0})}, 2);
}

// Values of mpmath 1.4.1 with 40 digits: far out terms of the usual formulas cancel, or overflow.
TEST(Special, DerivativesFarOut) {
  struct Point {
    double x, first, second;
  };
  auto expectDerivatives = [](Public f, const std::vector<Point> &points, double tolerance, double toleranceOfSecond) {
    std::vector<double> x;
    for (const Point &point : points)
      x.push_back(point.x);
    const Tensor at = vectorOf(DType::Float64, x);
    auto value = [f](const Tensor &in) { return f(in); };
    auto slope = [&](const Tensor &in) { return grad([&](const Tensor &y) { return sum(value(y)); })(in); };
    const std::vector<double> first = slopes(value, at), second = slopes(slope, at);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(first[i], points[i].first, tolerance * std::fabs(points[i].first)) << x[i];
      EXPECT_NEAR(second[i], points[i].second, toleranceOfSecond * std::fabs(points[i].second)) << x[i];
    }
  };
  expectDerivatives(erfcx,
                    {{-2, -436.8919967270074, 1965.4497956879856},
                     {5, -0.02133278976482631, 0.0080813778178741508},
                     {20, -0.0014052174534598012, 0.00013999934371059263},
                     {100, -5.6410497625993185e-5, 1.1280407802288336e-6},
                     {1e4, -5.6418957508491275e-9, 1.1283791332441388e-12}},
                    1e-12, 1e-10);
  expectDerivatives(log_ndtr,
                    {{-5, 5.1865039671258421, -0.96730356538288777},
                     {-0.5, 1.1410777703680645, -0.73151959284412105},
                     {0.5, 0.50916043383703349, -0.5138245643036329},
                     {10, 7.6945986267064193e-23, -7.6945986267064193e-22},
                     {15, 5.5307095498444162e-50, -8.2960643247666242e-49}},
                    1e-12, 1e-11);
  EXPECT_EQ(slopes([](const Tensor &x) { return log_ndtr(x); }, vectorOf(DType::Float32, {40, 100})),
            (std::vector<double>{0, 0}));
  EXPECT_NEAR(slopes([](const Tensor &x) { return i1(x); }, vectorOf(DType::Float64, {0.5}))[0], 0.54769475995953089,
              1e-15);
  EXPECT_EQ(slopes([](const Tensor &x) { return i1(x); }, vectorOf(DType::Float32, {95}))[0], kInfinity);
}

// It would be that of another operation, and so on without end. NaN is no number that somebody could take for it.
TEST(Special, TheThirdDerivativeOfTrigammaIsNaN) {
  using F = std::function<Tensor(const Tensor &)>;
  auto derivative = [](const F &f) -> F {
    return [f](const Tensor &x) { return grad([&](const Tensor &y) { return sum(f(y)); })(x); };
  };
  const F second = derivative(derivative([](const Tensor &x) { return trigamma(x); })), third = derivative(second);
  EXPECT_NEAR(second(tensor<double>({1.0})).item<double>(), 6.493939402266829, 1e-13); // pi^4 / 15
  EXPECT_TRUE(std::isnan(third(tensor<double>({1.0})).item<double>()));
  EXPECT_TRUE(std::isnan(function<Tensor(const Tensor &)>(third)(tensor<double>({1.0})).item<double>()));
}

TEST(Special, FunctionsTakeUnknownSizes) {
  auto f = [](const Tensor &x) {
    Tensor p = sigmoid(x);
    return erfc(x) + erfcx(x) * ndtr(x) - log_ndtr(x) + ndtri(p) * erfinv(p) + i0(x) - i1(x) + i0e(x) * i1e(x) +
           lgamma(p) * digamma(p + 1) + trigamma(p);
  };
  auto gradient = [&](const Tensor &x) { return grad([&](const Tensor &at) { return sum(f(at)); })(x); };
  for (DType dtype : {DType::Float32, DType::Float64}) {
    TensorSpec any(dtype, {kDynamic, kDynamic});
    auto open = function<Tensor(const Tensor &)>(f, {.input_signature = {any}});
    auto openGradient = function<Tensor(const Tensor &)>(gradient, {.input_signature = {any}});
    for (Shape shape : {Shape{1, 1}, Shape{3, 7}, Shape{0, 4}, Shape{5, 33}}) {
      std::mt19937 random(4);
      Tensor x = makeTensor(dtype, randomValues(random, sizeOf(shape), -3, 3), shape);
      expectSameBits(open(x), f(x));
      expectSameBits(open(x), function<Tensor(const Tensor &)>(f)(x));
      expectAlike(openGradient(x), gradient(x), false);
    }
  }
}

TEST(Special, FunctionsRefuseIntegers) {
  const Public functions[] = {erfc, ndtri, i0, lgamma, digamma};
  for (Public f : functions)
    EXPECT_THROW(f(tensor({1, 2})), DTypeError);
}
