// Functions of several numbers: values of another implementation, edges, derivatives, what has none, and what consists
// of them. All inputs: AccuracyTest.cpp.
#include "test/Errors.h"
#include "test/operations/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct Value {
  const char *name;
  std::vector<double> at;
  double expected;
};
struct Slopes {
  const char *name;
  std::vector<double> at, expected;
};
// By incomplete_values.py.
const Value kValues[] = {
    {"gammainc", {0.25, 0.0625}, 0.5448539395619165},
    {"gammainc", {1.5, 0.5}, 0.1987480430987992},
    {"gammainc", {3.0, 20.0}, 0.9999995444850495},
    {"gammainc", {25.0, 20.0}, 0.15677262182623772},
    {"gammainc", {25.0, 30.0}, 0.8427579727616084},
    {"gammainc", {1000.0, 900.0}, 0.0005499022657117829},
    {"gammainc", {1000000.0, 1001000.0}, 0.8413447863683403},
    {"gammainc", {0.001, 1e-30}, 0.933792377658673},
    {"gammaincc", {0.25, 0.0625}, 0.4551460604380834},
    {"gammaincc", {1.5, 0.5}, 0.8012519569012008},
    {"gammaincc", {3.0, 20.0}, 4.555149505589213e-07},
    {"gammaincc", {25.0, 20.0}, 0.8432273781737623},
    {"gammaincc", {25.0, 30.0}, 0.1572420272383916},
    {"gammaincc", {1000.0, 1200.0}, 1.2881606086281433e-09},
    {"gammaincc", {1000000.0, 1005000.0}, 2.987490140114635e-07},
    {"gammaincc", {1e-10, 0.5}, 5.597735948054988e-11},
    {"beta", {0.25, 0.5}, 5.244115108584239},
    {"beta", {3.0, 4.0}, 0.016666666666666666},
    {"beta", {10.0, 20.5}, 4.0678845892347845e-09},
    {"beta", {100.0, 0.125}, 4.238967145853505},
    {"beta", {200.0, 300.0}, 1.6485491608664747e-147},
    {"beta", {1e-20, 5.0}, 1e+20},
    {"betaln", {0.25, 0.5}, 1.6571065161914822},
    {"betaln", {3.0, 4.0}, -4.0943445622221},
    {"betaln", {10.0, 20.5}, -19.32014272955714},
    {"betaln", {10000000000.0, 2.0}, -46.051701859980916},
    {"betaln", {10000000000.0, 1000000000.0}, -3350997080.2366586},
    {"betaln", {1e-20, 5.0}, 46.051701859880914},
    {"zeta", {2.0, 1.0}, 1.6449340668482264},
    {"zeta", {1.0009765625, 1.0}, 1024.5772867695046},
    {"zeta", {3.0, 0.25}, 64.66386996876847},
    {"zeta", {1.5, 100.0}, 0.2005012499817719},
    {"zeta", {20.0, 7.5}, 3.44379277381818e-18},
    {"zeta", {50.0, 60.0}, 2.21840771085429e-89},
    {"zeta", {4.0, 10000000000.0}, 3.3333333338333333e-31},
    {"betainc", {0.5, 0.5, 0.25}, 0.3333333333333333},
    {"betainc", {2.0, 3.0, 0.75}, 0.94921875},
    {"betainc", {20.0, 0.125, 0.875}, 0.0033149594302117453},
    {"betainc", {100.0, 200.0, 0.25}, 0.0006588924984657823},
    {"betainc", {5.0, 1000000.0, 1e-05}, 0.9707486360675424},
    {"betainc", {10000.0, 10000.0, 0.51}, 0.9976629406698898},
    {"betainc", {0.001, 30.0, 1e-09}, 0.9833772904257504},
};
const Slopes kSlopes[] = {
    {"gammainc", {0.25, 0.0625}, {-1.4083728442392178, 2.072838692730047}},
    {"gammainc", {1.5, 0.5}, {-0.2940986905382093, 0.4839414490382867}},
    {"gammainc", {3.0, 12.0}, {-0.0008623876548150612, 0.0004423832894396311}},
    {"gammainc", {25.0, 20.0}, {-0.0500794686563137, 0.05573456138533485}},
    {"gammainc", {25.0, 30.0}, {-0.04690876717713714, 0.04259611452411777}},
    {"gammainc", {400.0, 390.0}, {-0.01779294116729597, 0.01801258631387761}},
    {"betainc", {0.5, 0.5, 0.25}, {-0.6461318944389011, 0.4307545962926007, 0.7351051938957227}},
    {"betainc", {2.0, 3.0, 0.75}, {-0.044557592210088925, 0.05867901052561945, 0.5625}},
    {"betainc", {20.0, 30.0, 0.375}, {-0.06743416092816117, 0.04254285090698235, 5.4901728339968985}},
    {"betainc", {200.0, 100.0, 0.6875}, {-0.011898204497385873, 0.02497467695373028, 11.226372135223228}},
    {"zeta", {2.0, 1.0}, {-0.9375482543158438, -2.4041138063191885}},
    {"zeta", {3.5, 0.25}, {177.252075407184, -1793.4000614813845}},
    {"zeta", {1.5, 40.0}, {-1.8063097587922476, -0.004027734871719479}},
};

Tensor named(const std::string &name, const std::vector<Tensor> &x) {
  if (name == "betainc")
    return betainc(x[0], x[1], x[2]);
  using Binary = Tensor (*)(const Operand &, const Operand &);
  const std::pair<const char *, Binary> functions[] = {
      {"gammainc", gammainc}, {"gammaincc", gammaincc}, {"beta", beta}, {"betaln", betaln}, {"zeta", zeta}};
  for (const auto &[known, function] : functions)
    if (name == known)
      return function(x[0], x[1]);
  throw std::logic_error(name);
}

std::vector<Tensor> scalarsOf(DType dtype, const std::vector<double> &values) {
  std::vector<Tensor> x;
  for (double value : values)
    x.push_back(vectorOf(dtype, {value}));
  return x;
}
// Of each pair of operands.
std::vector<double> pairsOf(const char *name, DType dtype, const std::vector<std::pair<double, double>> &pairs) {
  std::vector<double> first, second;
  for (const auto &[a, b] : pairs) {
    first.push_back(a);
    second.push_back(b);
  }
  return valuesOf(named(name, {vectorOf(dtype, first), vectorOf(dtype, second)}));
}
void expectSame(const std::vector<double> &found, const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << found[i] << " instead of " << expected[i];
}
} // namespace

TEST(Incomplete, FunctionsHaveTheValuesOfAnotherImplementation) {
  for (const Value &value : kValues)
    for (DType dtype : {DType::Float32, DType::Float64}) {
      std::vector<Tensor> x = scalarsOf(dtype, value.at);
      bool isExact = dtype == DType::Float64 || std::fabs(value.expected) > 1e-37;
      for (std::size_t i = 0; i < x.size(); ++i)
        isExact &= valuesOf(x[i])[0] == value.at[i];
      if (!isExact) // no number of float32
        continue;
      double found = valuesOf(named(value.name, x))[0], eps = dtype == DType::Float32 ? 2e-7 : 2e-14;
      EXPECT_NEAR(found / value.expected, 1, eps)
          << value.name << " of " << value.at[0] << ", " << value.at[1] << ", " << dtype;
    }
}

TEST(Incomplete, FunctionsHaveSlopes) {
  for (const Slopes &slopes : kSlopes)
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const std::vector<Tensor> x = scalarsOf(dtype, slopes.at);
      GradientTape tape;
      for (const Tensor &operand : x)
        tape.watch(operand);
      const std::vector<std::optional<Tensor>> found = tape.gradient(sum(named(slopes.name, x)), x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double ratio = valuesOf(found.at(i).value())[0] / slopes.expected[i],
                     eps = dtype == DType::Float32 ? 1e-5 : 1e-11;
        EXPECT_NEAR(ratio, 1, eps) << slopes.name << " of " << slopes.at[0] << ", " << slopes.at[1] << " by operand "
                                   << i;
      }
    }
}

TEST(Incomplete, FunctionsHaveEdges) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const std::vector<std::pair<double, double>> gammas = {
        {0, 2},  {0, 0},  {2, 0},    {2, kInfinity}, {kInfinity, 2}, {kInfinity, kInfinity},
        {-1, 2}, {2, -1}, {kNan, 2}, {2, kNan}};
    expectSame(pairsOf("gammainc", dtype, gammas), {1, kNan, 0, 1, 0, kNan, kNan, kNan, kNan, kNan});
    expectSame(pairsOf("gammaincc", dtype, gammas), {0, kNan, 1, 0, 1, kNan, kNan, kNan, kNan, kNan});
    expectSame(pairsOf("beta", dtype, {{0, 1}, {2, kInfinity}, {-0.5, 2}, {0, kInfinity}, {1, 1}}),
               {kInfinity, 0, kNan, kNan, 1});
    expectSame(pairsOf("zeta", dtype,
                       {{1, 1}, {0.5, 1}, {2, 0}, {2, -3}, {2, -0.5}, {kInfinity, 2}, {3, kInfinity}, {kNan, 1}}),
               {kInfinity, kNan, kInfinity, kInfinity, kNan, 0, 0, kNan});
    const Tensor a = vectorOf(dtype, {2, 2, 2, 2, 0, -1, 2}), b = vectorOf(dtype, {3, 3, 3, 3, 3, 3, kInfinity});
    expectSame(valuesOf(betainc(a, b, vectorOf(dtype, {0, 1, -0.5, 1.5, 0.5, 0.5, 0.5}))),
               {0, 1, kNan, kNan, kNan, kNan, kNan});
    // The densities at the ends are the slopes there.
    const Tensor shapes = vectorOf(dtype, {0.5, 1, 2});
    expectSame(slopes([&](const Tensor &x) { return gammainc(shapes, x); }, vectorOf(dtype, {0, 0, 0})),
               {kInfinity, 1, 0});
  }
}

TEST(Incomplete, SecondDerivativesByShapesAreNaN) {
  auto second = [](auto f, double at) {
    return grad([&](const Tensor &x) { return sum(grad([&](const Tensor &y) { return sum(f(y)); })(x)); })(
        tensor<double>({at}));
  };
  EXPECT_TRUE(std::isnan(valuesOf(second([](const Tensor &a) { return gammainc(a, 2.0); }, 1.5))[0]));
  EXPECT_TRUE(std::isnan(valuesOf(second([](const Tensor &a) { return betainc(a, 2.0, 0.5); }, 1.5))[0]));
  EXPECT_TRUE(std::isnan(valuesOf(second([](const Tensor &s) { return zeta(s, 2.0); }, 1.5))[0]));
  // By x they are there: that of the density x exp(-x) is (1 - x) exp(-x).
  EXPECT_NEAR(valuesOf(second([](const Tensor &x) { return gammainc(2.0, x); }, 1.5))[0], -0.5 * std::exp(-1.5), 1e-14);
}

TEST(Incomplete, PolygammaIsZetasWithAFactor) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double eps = dtype == DType::Float32 ? 1e-6 : 1e-13;
    const Tensor x = vectorOf(dtype, {0.25, 1, 7.5});
    // mpmath 1.4.1: polygamma(3, 0.25), polygamma(3, 1), polygamma(3, 7.5), then of order 6.
    const std::vector<std::vector<double>> expected = {
        {1538.7821440091884, 6.493939402266829, 0.005772436656578694},
        {-11796633.687743692, -726.0114797149845, -0.0009850308217563826}};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<double> found = valuesOf(both([&](const Tensor &at) { return polygamma(i ? 6 : 3, at); }, x));
      for (std::size_t k = 0; k < found.size(); ++k)
        EXPECT_NEAR(found[k] / expected[i][k], 1, eps);
    }
    expectSame(valuesOf(polygamma(0, x)), valuesOf(digamma(x)));
    expectSame(valuesOf(polygamma(1, x)), valuesOf(trigamma(x)));
  }
  expectDerivatives([](const std::vector<Tensor> &x) { return polygamma(2, x[0]); }, {tensor<double>({0.7, 3.0, 12.0})},
                    2);
  const Tensor one = tensor({1.0f});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { polygamma(-1, one); }),
                  "polygamma: the order of float32 is from 0 to 34, not -1");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { polygamma(35, one); }),
                  "polygamma: the order of float32 is from 0 to 34, not 35");
  EXPECT_TRUE(std::isfinite(polygamma(170, tensor<double>({1.0})).item<double>()));
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { polygamma(2, tensor({1})); }), "polygamma: takes");
}

TEST(Incomplete, SignificandsAndExponentsMakeTheirNumber) {
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    const double tiny = dtype == DType::Float64   ? 0x1p-1074
                        : dtype == DType::Float32 ? 0x1p-149
                        : dtype == DType::Float16 ? 0x1p-24
                                                  : 0x1p-133;
    const Tensor x = vectorOf(dtype, {0, -0.0, 1, -3, 0.375, tiny, kInfinity, -kInfinity, kNan});
    auto parts = both(
        [](const Tensor &at) {
          Frexp f = frexp(at);
          return std::vector<Tensor>{f.significand, f.exponent, ldexp(f.significand, f.exponent)};
        },
        x);
    std::vector<double> expected, exponents;
    for (double value : valuesOf(x)) {
      int exponent = 0;
      expected.push_back(std::frexp(value, &exponent));
      exponents.push_back(std::isfinite(value) ? exponent : 0);
    }
    expectSame(valuesOf(parts[0]), expected);
    EXPECT_EQ(parts[1].dtype(), DType::Int32);
    expectSame(valuesOf(parts[1]), exponents);
    expectSame(valuesOf(parts[2]), valuesOf(x));
  }
  // Rounded once, also where the power of two is no number of the type.
  expectSame(valuesOf(ldexp(tensor<double>({0x1.8p1000, 0x1.8p-1000, 0x1.8000000000001p0, 1, -1, 0}),
                            tensor({-2060, 2000, -1074, 5000, -5000, 5000}))),
             {0x1.8p-1060, 0x1.8p1000, 0x1p-1073, kInfinity, -0.0, 0});
  expectSame(valuesOf(ldexp(tensor({1.5f, 1.0f}), tensor<std::int64_t>({-149, INT64_MAX}))), {0x1p-148, kInfinity});
  expectSame(slopes([](const Tensor &x) { return ldexp(x, 3); }, tensor<double>({1.0})), {8});
  expectSame(slopes([](const Tensor &x) { return frexp(x).significand; }, tensor<double>({12.0})), {0x1p-4});
  EXPECT_CONTAINS(errorOf<DTypeError>([] { ldexp(tensor({1.0f}), tensor({1.0f})); }),
                  "ldexp: exponents are integers, not float32[1]");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { ldexp(tensor({1}), tensor({1})); }), "ldexp");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { frexp(tensor({1})); }), "frexp");
}

TEST(Incomplete, FunctionsTakeUnknownSizes) {
  auto f = [](const Tensor &x) {
    const Tensor p = sigmoid(x), a = exp(x);
    return gammaincc(p, a) * betainc(a, p, p) + zeta(a + 1, p);
  };
  for (DType dtype : {DType::Float32, DType::Float64}) {
    auto open = function<Tensor(const Tensor &)>(f, {.input_signature = {TensorSpec(dtype, {kDynamic, kDynamic})}});
    for (Shape shape : {Shape{1, 1}, Shape{3, 7}, Shape{0, 4}, Shape{5, 33}}) {
      std::mt19937 random(4);
      Tensor x = makeTensor(dtype, randomValues(random, sizeOf(shape), -3, 3), shape);
      expectSameBits(open(x), f(x));
    }
  }
}
