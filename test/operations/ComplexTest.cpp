// Complex numbers against those of the C library, and derivatives against differences of both parts.
#include "test/Errors.h"
#include "test/operations/Testing.h"

#include <calque/arrays.h>
#include <calque/debug.h>

#include <complex>
#include <sstream>

namespace calque::testing {
namespace {

using Exact = std::complex<long double>;

struct ComplexFunction {
  const char *name;
  Tensor (*function)(const Operand &);
  Exact (*reference)(const Exact &);
};
#define CALQUE_FUNCTION(name)                                                                                          \
  ComplexFunction {                                                                                                    \
    #name, [](const Operand &z) { return calque::name(z); }, [](const Exact &z) { return std::name(z); }               \
  }
// The series where the difference would lose its digits.
Exact expm1Of(const Exact &z) {
  Exact sum = 0, term = 1;
  for (int k = 1; k < 20; ++k)
    sum += term *= z / static_cast<long double>(k);
  return std::abs(z) < 0.1L ? sum : std::exp(z) - 1.0L;
}
Exact log1pOf(const Exact &z) {
  Exact sum = 0, power = -1;
  for (int k = 1; k < 40; ++k)
    sum += (power *= -z) / static_cast<long double>(k);
  return std::abs(z) < 0.1L ? sum : std::log(1.0L + z);
}
const ComplexFunction kFunctions[] = {
    CALQUE_FUNCTION(exp),
    CALQUE_FUNCTION(log),
    CALQUE_FUNCTION(sqrt),
    CALQUE_FUNCTION(sin),
    CALQUE_FUNCTION(cos),
    CALQUE_FUNCTION(tan),
    CALQUE_FUNCTION(sinh),
    CALQUE_FUNCTION(cosh),
    CALQUE_FUNCTION(tanh),
    CALQUE_FUNCTION(asin),
    CALQUE_FUNCTION(acos),
    CALQUE_FUNCTION(atan),
    CALQUE_FUNCTION(asinh),
    CALQUE_FUNCTION(acosh),
    CALQUE_FUNCTION(atanh),
    {"expm1", [](const Operand &z) { return expm1(z); }, expm1Of},
    {"log1p", [](const Operand &z) { return log1p(z); }, log1pOf},
    {"log10", [](const Operand &z) { return log10(z); }, [](const Exact &z) { return std::log10(z); }},
    {"log2", [](const Operand &z) { return log2(z); },
     [](const Exact &z) { return std::log(z) / 0.693147180559945309417232121458176568L; }},
    {"reciprocal", [](const Operand &z) { return reciprocal(z); }, [](const Exact &z) { return 1.0L / z; }},
    {"square", [](const Operand &z) { return square(z); }, [](const Exact &z) { return z * z; }},
    {"conj", [](const Operand &z) { return conj(z); }, [](const Exact &z) { return std::conj(z); }},
};

template <typename R> struct ComplexNumbers : ::testing::Test {
  using Number = std::complex<R>;
  static constexpr double kEpsilon = std::numeric_limits<R>::epsilon();

  // Numbers of many magnitudes, near the axes and near the unit circle.
  static std::vector<Number> numbers(std::mt19937 &random, int count) {
    std::uniform_real_distribution<double> unit(-1, 1), exponent(-10, 10);
    std::vector<Number> all;
    for (int i = 0; i < count; ++i) {
      const double spread = i % 3 ? 0.1 : 1;
      all.emplace_back(static_cast<R>(unit(random) * std::pow(10, spread * exponent(random))),
                       static_cast<R>(unit(random) * std::pow(10, spread * exponent(random))));
      const double angle = 3.2 * unit(random);
      if (i % 5 == 0)
        all.emplace_back(static_cast<R>(std::cos(angle)), static_cast<R>(std::sin(angle)));
    }
    return all;
  }
  static std::vector<Number> moderate(std::mt19937 &random, std::size_t count) {
    std::uniform_real_distribution<double> unit(-1.5, 1.5);
    std::vector<Number> all;
    while (all.size() < count)
      all.emplace_back(static_cast<R>(unit(random)), static_cast<R>(unit(random)));
    return all;
  }
};
using Parts = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexNumbers, Parts);

// By the distance from the exact number, in units of the last place of its magnitude.
TYPED_TEST(ComplexNumbers, HaveFunctionsToAFewUnits) {
  using Number = std::complex<TypeParam>;
  std::mt19937 random(1);
  const std::vector<Number> given = this->numbers(random, 1500);
  for (const ComplexFunction &each : kFunctions) {
    SCOPED_TRACE(each.name);
    const Tensor found = both([&](const Tensor &z) { return each.function(z); }, tensor(given));
    const std::vector<Number> values = found.template to_vector<Number>();
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Exact exact = each.reference(Exact(given[i]));
      const long double magnitude = std::abs(exact);
      if (magnitude > 0.2L * std::numeric_limits<TypeParam>::max() ||
          magnitude < 10 * std::numeric_limits<TypeParam>::min())
        continue;
      EXPECT_LE(std::abs(Exact(values[i]) - exact), 4 * this->kEpsilon * magnitude) << given[i] << ": " << values[i];
    }
  }
}

// C99's annex G: infinities, zeros with signs, and which side of a cut a number is on. The sign of a zero or an
// infinity that the annex leaves open is not compared.
TYPED_TEST(ComplexNumbers, HaveTheSpecialValuesOfC) {
  using Number = std::complex<TypeParam>;
  std::vector<Number> given;
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity(), nan = std::nan("");
  for (TypeParam re : {TypeParam(0), TypeParam(-0.0), TypeParam(1), TypeParam(-1), TypeParam(2), TypeParam(-2),
                       TypeParam(0.5), infinity, -infinity})
    for (TypeParam im : {TypeParam(0), TypeParam(-0.0), TypeParam(1), TypeParam(-2), infinity, -infinity})
      given.emplace_back(re, im);
  const std::size_t numNumbers = given.size();
  given.emplace_back(nan, 0);
  given.emplace_back(nan, 1);
  auto agree = [&](TypeParam found, TypeParam exact, bool signs) {
    if (std::isnan(exact) || std::isnan(found))
      return std::isnan(exact) && std::isnan(found);
    if (std::isinf(exact))
      return std::isinf(found) && (!signs || found == exact);
    if (exact == 0)
      return found == 0 && (!signs || std::signbit(found) == std::signbit(exact));
    return std::fabs(found - exact) <= 8 * this->kEpsilon * std::fabs(exact);
  };
  for (std::size_t k = 0; k < 15; ++k) { // the C library's own
    const ComplexFunction &each = kFunctions[k];
    SCOPED_TRACE(each.name);
    const std::vector<Number> found = each.function(tensor(given)).template to_vector<Number>();
    const bool isArc = k >= 9; // of NaN these need not have a part
    for (std::size_t i = 0; i < (isArc ? numNumbers : given.size()); ++i) {
      const Number exact(each.reference(Exact(given[i])));
      const bool signs = std::isfinite(given[i].real()) && std::isfinite(given[i].imag());
      EXPECT_TRUE(agree(found[i].real(), exact.real(), signs) && agree(found[i].imag(), exact.imag(), signs))
          << given[i] << ": " << found[i] << " and " << exact;
    }
  }
}

TYPED_TEST(ComplexNumbers, AreExactNextToSingularities) {
  using Number = std::complex<TypeParam>;
  for (TypeParam distance : {TypeParam(1e-6), TypeParam(1e-12), TypeParam(1e-21), TypeParam(1e-30)}) {
    const Number at(1, distance), exact(std::atanh(Exact(at)));
    EXPECT_LE(std::abs(atanh(scalar<Number>(at)).template item<Number>() - exact),
              4 * this->kEpsilon * std::abs(exact));
    const Number turned(distance, 1), arc(std::atan(Exact(turned)));
    EXPECT_LE(std::abs(atan(scalar<Number>(turned)).template item<Number>() - arc), 4 * this->kEpsilon * std::abs(arc));
  }
}

TYPED_TEST(ComplexNumbers, HaveArithmetic) {
  using Number = std::complex<TypeParam>;
  std::mt19937 random(2);
  const std::vector<Number> a = this->moderate(random, 60), b = this->moderate(random, 60);
  const Tensor x = tensor(a, {4, 15}), y = tensor(b, {4, 15});
  struct Case {
    Tensor (*function)(const Tensor &, const Tensor &);
    Exact (*reference)(const Exact &, const Exact &);
    double units;
  };
  const Case cases[] = {
      {[](const Tensor &p, const Tensor &q) { return p + q; }, [](const Exact &p, const Exact &q) { return p + q; }, 1},
      {[](const Tensor &p, const Tensor &q) { return p - q; }, [](const Exact &p, const Exact &q) { return p - q; }, 1},
      {[](const Tensor &p, const Tensor &q) { return p * q; }, [](const Exact &p, const Exact &q) { return p * q; }, 3},
      {[](const Tensor &p, const Tensor &q) { return p / q; }, [](const Exact &p, const Exact &q) { return p / q; }, 4},
      {[](const Tensor &p, const Tensor &q) { return pow(p, q); },
       [](const Exact &p, const Exact &q) { return std::pow(p, q); }, 24},
      {[](const Tensor &p, const Tensor &q) { return -p + 2 * conj(q) - Number(0, 1); },
       [](const Exact &p, const Exact &q) { return -p + 2.0L * std::conj(q) - Exact(0, 1); }, 8},
  };
  for (const Case &each : cases) {
    const std::vector<Number> found = both(each.function, x, y).template to_vector<Number>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Exact exact = each.reference(Exact(a[i]), Exact(b[i]));
      EXPECT_LE(std::abs(Exact(found[i]) - exact), each.units * this->kEpsilon * (1 + std::abs(exact)));
    }
  }
  // What would overflow or vanish on the way.
  const TypeParam large = std::numeric_limits<TypeParam>::max() / 4, small = std::numeric_limits<TypeParam>::min() * 4;
  const Number quotient = (tensor<Number>({Number(large, large), Number(small, small)}) /
                           tensor<Number>({Number(large, large), Number(small, small)}))
                              .template to_vector<Number>()[1];
  EXPECT_EQ(quotient, Number(1, 0));
  EXPECT_EQ(abs(scalar<Number>(Number(large, large))).template item<TypeParam>(), std::abs(Number(large, large)));
  EXPECT_EQ(pow(scalar<Number>(0), scalar<Number>(0)).template item<Number>(), Number(1, 0));
  EXPECT_EQ(pow(scalar<Number>(0), scalar<Number>(Number(2, 1))).template item<Number>(), Number(0, 0));
  EXPECT_EQ((scalar<Number>(1) / scalar<Number>(0)).template item<Number>().real(), INFINITY);
}

TYPED_TEST(ComplexNumbers, HaveParts) {
  using Number = std::complex<TypeParam>;
  std::mt19937 random(3);
  const std::vector<Number> given = this->moderate(random, 21);
  const Tensor z = tensor(given, {3, 7});
  const DType part = dtype_of<TypeParam>;
  for (auto f : {+[](const Operand &x) { return real(x); }, +[](const Operand &x) { return imag(x); },
                 +[](const Operand &x) { return abs(x); }, +[](const Operand &x) { return angle(x); }})
    EXPECT_EQ(both([&](const Tensor &x) { return f(x); }, z).dtype(), part);
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(real(z).template to_vector<TypeParam>()[i], given[i].real());
    EXPECT_EQ(imag(z).template to_vector<TypeParam>()[i], given[i].imag());
    EXPECT_NEAR(angle(z).template to_vector<TypeParam>()[i], std::arg(given[i]), 4 * this->kEpsilon);
  }
  expectSameBits(both([](const Tensor &x) { return complex(real(x), imag(x)); }, z), z);
  const Tensor broadcast = both([](const Tensor &x, const Tensor &y) { return complex(x, y); }, real(z), imag(z)[0]);
  EXPECT_EQ(broadcast.shape(), z.shape());
  expectSameBits(broadcast[2], complex(real(z)[2], imag(z)[0]));
  const Tensor negative = tensor<TypeParam>({-2, -0.0, 0, 3});
  expectSameBits(real(negative), negative);
  expectSameBits(imag(negative), zeros({4}, part));
  EXPECT_EQ(angle(negative).template to_vector<TypeParam>()[0], static_cast<TypeParam>(std::acos(-1.0)));
  EXPECT_EQ(angle(negative).template to_vector<TypeParam>()[3], 0);
}

TYPED_TEST(ComplexNumbers, AreMovedSummedAndMultiplied) {
  using Number = std::complex<TypeParam>;
  std::mt19937 random(4);
  const std::vector<Number> given = this->moderate(random, 24), other = this->moderate(random, 20);
  const Tensor z = tensor(given, {4, 6}), w = tensor(other, {4, 5});
  auto check = [&](auto f, const Tensor &x, const Tensor &y) {
    const Tensor found = both(f, x, y);
    EXPECT_TRUE(is_complex(found.dtype()));
    return found.template to_vector<Number>();
  };
  auto at = [&](std::size_t i, std::size_t j) { return given[i * 6 + j]; };
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return transpose(x); }, z, w)[1], at(1, 0));
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return concat({x, x}, 1); }, z, w)[12], at(1, 0));
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return reshape(slice(x, {1, 2}, {3, 6}), {8}); }, z, w)[5],
            at(2, 3));
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return gather(x, tensor({3, 1}), 0); }, z, w)[6], at(1, 0));
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return pad(x, {1, 0}, {0, 1}, 2.5); }, z, w)[0], Number(2.5));
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return where(abs(x) > 100, x, conj(x)); }, z, w)[3],
            std::conj(at(0, 3)));
  EXPECT_EQ(check([](const Tensor &x, const Tensor &) { return roll(reverse(x, {1}), 1, 0); }, z, w)[6], at(0, 5));
  Number sum = 0;
  for (Number each : given)
    sum += each;
  EXPECT_LE(std::abs(check([](const Tensor &x, const Tensor &) { return calque::sum(x); }, z, w)[0] - sum),
            30 * this->kEpsilon);
  EXPECT_LE(std::abs(check([](const Tensor &x, const Tensor &) { return mean(x); }, z, w)[0] - sum / TypeParam(24)),
            30 * this->kEpsilon);
  EXPECT_LE(std::abs(check([](const Tensor &x, const Tensor &) { return cumsum(reshape(x, {24})); }, z, w)[23] - sum),
            30 * this->kEpsilon);
  const std::vector<Number> product =
      check([](const Tensor &x, const Tensor &y) { return matmul(conj(transpose(x)), y); }, z, w);
  Number first = 0;
  for (std::size_t k = 0; k < 4; ++k)
    first += std::conj(at(k, 2)) * other[k * 5 + 3];
  EXPECT_LE(std::abs(product[2 * 5 + 3] - first), 30 * this->kEpsilon);
  const std::vector<Number> sums =
      check([](const Tensor &x, const Tensor &y) { return einsum("ki,kj->ij", {conj(x), y}); }, z, w);
  EXPECT_LE(std::abs(sums[2 * 5 + 3] - product[2 * 5 + 3]), 30 * this->kEpsilon);
  // Of an image with complex filters.
  const Tensor image = reshape(z, {1, 4, 6, 1}), filter = reshape(slice(w, {0, 0}, {2, 2}), {2, 2, 1, 1});
  const std::vector<Number> windows =
      check([](const Tensor &x, const Tensor &y) { return conv2d(x, y); }, image, filter);
  const Number window = at(0, 0) * other[0] + at(0, 1) * other[1] + at(1, 0) * other[5] + at(1, 1) * other[6];
  EXPECT_LE(std::abs(windows[0] - window), 30 * this->kEpsilon);
}

TYPED_TEST(ComplexNumbers, AreComparedForEquality) {
  using Number = std::complex<TypeParam>;
  const TypeParam nan = std::nan("");
  const Tensor x = tensor({Number(1, 2), Number(1, 3), Number(nan, 0), Number(0, INFINITY)}),
               y = tensor({Number(1, 2), Number(1, 2), Number(nan, 0), Number(0, INFINITY)});
  EXPECT_EQ(valuesOf<int>(both([](const Tensor &p, const Tensor &q) { return equal(p, q); }, x, y)),
            (std::vector<int>{1, 0, 0, 1}));
  EXPECT_EQ(valuesOf<int>(not_equal(x, y)), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(valuesOf<int>(isnan(x)), (std::vector<int>{0, 0, 1, 0}));
  EXPECT_EQ(valuesOf<int>(isinf(x)), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(valuesOf<int>(isfinite(x)), (std::vector<int>{1, 1, 0, 0}));
}

// The derivatives of a real function by both parts of its arguments, as central differences. In float64 alone, because
// float32 has too few digits for differences.
void expectGradient(const std::function<Tensor(const Tensor &)> &f, const std::vector<std::complex<double>> &at,
                    const Shape &shape) {
  using Number = std::complex<double>;
  const Tensor z = tensor(at, shape);
  const Tensor found = function(grad([&](const Tensor &x) { return f(x); }))(z);
  ASSERT_EQ(found.dtype(), DType::Complex128);
  ASSERT_EQ(found.shape(), shape);
  const std::vector<Number> gradient = found.to_vector<Number>();
  GradientTape tape;
  tape.watch(z);
  const Tensor value = f(z);
  const std::vector<Number> taped = tape.gradient(value, z).value().to_vector<Number>();
  const double h = 1e-6;
  for (std::size_t i = 0; i < at.size(); ++i) {
    auto moved = [&](Number by) {
      std::vector<Number> there = at;
      there[i] += by;
      return f(tensor(there, shape)).item<double>();
    };
    const Number expected((moved(h) - moved(-h)) / (2 * h), (moved(Number(0, h)) - moved(Number(0, -h))) / (2 * h));
    EXPECT_LE(std::abs(gradient[i] - expected), 1e-7 * (1 + std::abs(expected))) << at[i] << ": " << gradient[i];
    EXPECT_LE(std::abs(gradient[i] - taped[i]), 1e-13 * (1 + std::abs(expected))) << at[i] << ": " << taped[i];
  }
  // Along a direction d, the change is the real part of conj(gradient) d.
  const Number direction(0.3, -0.7);
  const double change =
      jvp([&](const Tensor &x) { return f(x); }, z, full(shape, direction, DType::Complex128)).second.item<double>();
  double expected = 0;
  for (Number each : gradient)
    expected += (std::conj(each) * direction).real();
  EXPECT_NEAR(change, expected, 1e-9 * (1 + std::fabs(expected)));
}

TEST(ComplexGradients, AreThoseByBothParts) {
  std::mt19937 random(5);
  const std::vector<std::complex<double>> at = ComplexNumbers<double>::moderate(random, 6);
  for (const ComplexFunction &each : kFunctions) {
    SCOPED_TRACE(each.name);
    expectGradient([&](const Tensor &z) { return sum(square(abs(each.function(z) + std::complex(0.3, 0.1)))); }, at,
                   {2, 3});
  }
  expectGradient([](const Tensor &z) { return sum(abs(z) * angle(z) + real(z) * square(imag(z))); }, at, {6});
  expectGradient([](const Tensor &z) { return sum(square(abs(exp2(z) + sinc(z)))) + sum(imag(prod(z, {0}))); }, at,
                 {2, 3});
  expectGradient([](const Tensor &z) { return sum(abs(cumprod(z, 1, false, true) + 2)) + real(prod(z)); }, at, {2, 3});
  expectGradient([](const Tensor &z) { return real(sum(z * conj(z[0]) / (z + 2) - pow(z, z))); }, at, {2, 3});
  expectGradient([](const Tensor &z) { return abs(sum(matmul(conj(transpose(z)), z * z))); }, at, {2, 3});
  expectGradient([](const Tensor &z) { return sum(imag(exp(complex(real(z), 2 * real(z))))); }, at, {6});
  // A complex result counts as its real part.
  auto square = [](const Tensor &w) { return sum(w * w); };
  expectSameBits(grad(square)(tensor(at)), grad([&](const Tensor &w) { return real(square(w)); })(tensor(at)));
  // real(z) and z share a part, with respect to each alone.
  const Tensor z = tensor(at);
  GradientTape tape({.persistent = true});
  tape.watch(z);
  const Tensor x = real(z), y = sum(x * real(z) + abs(z));
  expectSameBits(*tape.gradient(y, x), real(z));
}

// On the axes, where a part is 0: the derivatives of abs and of a maximum would be 0 there.
TEST(ComplexGradients, OfNumbersOnTheAxes) {
  using Number = std::complex<double>;
  struct Case {
    const char *name;
    Tensor (*function)(const Operand &);
    Number at, derivative; // by the rules of analytic functions
  };
  const Number i(0, 1);
  const Case cases[] = {
      {"sqrt", [](const Operand &z) { return sqrt(z); }, Number(0, 4), 0.5 / std::sqrt(Number(0, 4))},
      {"sqrt", [](const Operand &z) { return sqrt(z); }, Number(-4, 0), 0.5 / std::sqrt(Number(-4, 0))},
      {"sqrt", [](const Operand &z) { return sqrt(z); }, Number(0, -4), 0.5 / std::sqrt(Number(0, -4))},
      {"asin", [](const Operand &z) { return asin(z); }, Number(4, 0), i / std::sqrt(15.0)},
      {"asin", [](const Operand &z) { return asin(z); }, Number(0, 2), 1 / std::sqrt(5.0)},
      {"acos", [](const Operand &z) { return acos(z); }, Number(0, 2), -1 / std::sqrt(5.0)},
      {"acosh", [](const Operand &z) { return acosh(z); }, Number(0.25, 0), 1.0 / (i * std::sqrt(1 - 0.0625))},
      {"asinh", [](const Operand &z) { return asinh(z); }, Number(3, 0), 1 / std::sqrt(10.0)},
      {"asinh", [](const Operand &z) { return asinh(z); }, Number(0, 0.5), 1 / std::sqrt(0.75)},
      {"atan", [](const Operand &z) { return atan(z); }, Number(0.25, 0), 1 / 1.0625},
      {"atan", [](const Operand &z) { return atan(z); }, Number(-4, 0), 1 / 17.0},
      {"atanh", [](const Operand &z) { return atanh(z); }, Number(0, 0.25), 1 / 1.0625},
      {"atanh", [](const Operand &z) { return atanh(z); }, Number(0, 0), 1},
      {"atanh", [](const Operand &z) { return atanh(z); }, Number(1e-170, 1e-170), 1},
      {"log", [](const Operand &z) { return log(z); }, Number(-4, 0), -0.25},
      {"tanh", [](const Operand &z) { return tanh(z); }, Number(0, 0.5), 1 / std::pow(std::cos(0.5), 2)},
  };
  for (const Case &each : cases) {
    SCOPED_TRACE(each.name);
    const Tensor z = scalar<Number>(each.at);
    const Number tangent =
        jvp([&](const Tensor &x) { return each.function(x); }, z, scalar<Number>(1)).second.item<Number>();
    EXPECT_LE(std::abs(tangent - each.derivative), 1e-14) << each.at << ": " << tangent;
    const Number gradient = grad([&](const Tensor &x) { return imag(each.function(x)); })(z).item<Number>();
    EXPECT_LE(std::abs(gradient - i * std::conj(each.derivative)), 1e-14) << each.at << ": " << gradient;
  }
}

TEST(ComplexGradients, OfSecondOrderAndMapped) {
  using Number = std::complex<double>;
  auto f = [](const Tensor &z) { return sum(square(abs(sin(z) * z))); };
  const Tensor z = scalar<Number>(Number(0.4, -0.8));
  // d/dx of the gradient's imaginary part is d/dy of its real part.
  auto slope = [&](const Tensor &x) { return grad(f)(x); };
  const Number byX = jvp(slope, z, scalar<Number>(1)).second.item<Number>(),
               byY = jvp(slope, z, scalar<Number>(Number(0, 1))).second.item<Number>();
  EXPECT_NEAR(byX.imag(), byY.real(), 1e-12);
  const double h = 1e-5;
  const Number difference = (slope(z + h).item<Number>() - slope(z - h).item<Number>()) / (2 * h);
  EXPECT_LE(std::abs(byX - difference), 1e-8);
  const Tensor many = tensor<Number>({Number(1, 2), Number(-0.5, 0.25), Number(0, 1)});
  const Tensor mapped = both([&](const Tensor &x) { return vmap(slope)(x); }, many);
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_LE(std::abs(mapped[i].item<Number>() - slope(many[i]).item<Number>()), 1e-14);
  // A step against the gradient goes down.
  Tensor at = z;
  for (int i = 0; i < 50; ++i)
    at = at - 0.1 * slope(at);
  EXPECT_LT(f(at).item<double>(), 1e-2 * f(z).item<double>());
}

TEST(ComplexPrograms, HaveLoopsBranchesVariablesAndEffects) {
  using Number = std::complex<float>;
  // The Mandelbrot set: how long z stays within a circle.
  auto steps = [](const Tensor &c) {
    Tensor z = zeros({}, DType::Complex64), count = scalar(0);
    while (abs(z) < 2 && count < 50) {
      z = z * z + c;
      count = count + 1;
    }
    return count;
  };
  for (auto [c, expected] : {std::pair(Number(0, 0), 50), {Number(1, 1), 2}, {Number(-0.75f, 0.1f), 33}})
    EXPECT_EQ(both(steps, scalar(c)).item<std::int32_t>(), expected);
  auto scanned = [](const Tensor &x) {
    return scan([](const Tensor &sum, const Tensor &each) { return std::pair(sum * Number(0, 1) + each, sum); },
                scalar(Number(1, 0)), x)
        .first;
  };
  const Tensor x = tensor({Number(1, 2), Number(3, -1), Number(0, 1)});
  EXPECT_EQ(both(scanned, x).item<Number>(), Number(1, 2) * Number(0, 1) * Number(0, 1) + Number(3, -1) * Number(0, 1) +
                                                 Number(0, 1) + Number(0, 1) * Number(0, 1) * Number(0, 1));
  auto lossOf = [&](const Tensor &given) { return square(abs(scanned(given))); };
  EXPECT_EQ(both(grad(lossOf), x).dtype(), DType::Complex64);
  EXPECT_LE(std::abs(grad(lossOf)(x)[2].item<Number>() - 2.0f * scanned(x).item<Number>()), 1e-5);
  auto chosen = [](const Tensor &z) { return cond(real(z) > 0, [&] { return z * z; }, [&] { return conj(z); }); };
  EXPECT_EQ(both(chosen, scalar(Number(-1, 2))).item<Number>(), Number(-1, -2));

  Variable v(tensor({Number(1, 1), Number(0, 2)}));
  auto step = function([&](const Tensor &rate) {
    GradientTape tape;
    const Tensor loss = sum(square(abs(v.value() - Number(3, -1))));
    v.assign_sub(cast(rate, DType::Complex64) * tape.gradient(loss, v).value());
    return loss;
  });
  for (int i = 0; i < 60; ++i)
    step(scalar(0.25f));
  for (Number each : v.value().to_vector<Number>())
    EXPECT_LE(std::abs(each - Number(3, -1)), 1e-5);

  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  function([](const Tensor &z) {
    print("z", z, sum(z));
    return z;
  })(x);
  const std::string printed = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("z [1.+2.j 3.-1.j 0.+1.j] (4+2j)"), std::string::npos) << printed;

  auto called = [](const Tensor &z) {
    return host_call([](const Tensor &given) { return given * 2; }, {z}, {TensorSpec<Number>({3})});
  };
  expectSameBits(both(called, x), x * 2);
}

TEST(ComplexPrograms, AreVerified) {
  const Tensor z = tensor({std::complex(1.0f, 2.0f), std::complex(0.5f, -1.0f)});
  expectSameBits(debug::verify([](const Tensor &x) { return exp(x) * conj(x); }, z), exp(z) * conj(z));
}

TEST(ComplexPrograms, ServeOpenSizes) {
  using Number = std::complex<float>;
  auto f = function([](const Tensor &z) { return sum(z * conj(z) + z, {0}); },
                    {.input_signature = {TensorSpec<Number>({kDynamic, 2})}});
  for (std::int64_t rows : {1, 4, 7}) {
    const Tensor z = complex(ones({rows, 2}), full({rows, 2}, 2));
    expectSameBits(f(z),
                   full({2}, Number(6 * static_cast<float>(rows), 2 * static_cast<float>(rows)), DType::Complex64));
  }
  EXPECT_EQ(f(zeros({0, 2}, DType::Complex64)).to_vector<Number>(), std::vector<Number>(2));
}

TEST(ComplexNumbersAs, TextAndLiterals) {
  using Number = std::complex<double>;
  auto textOf = [](const Tensor &x) {
    std::ostringstream text;
    text << x;
    return text.str();
  };
  // str() of arrays in NumPy 2.1.
  EXPECT_EQ(textOf(tensor({Number(1, 2), Number(-3.5, -0.25)})), "[ 1. +2.j   -3.5-0.25j]");
  EXPECT_EQ(textOf(tensor({Number(NAN, INFINITY), Number(1, -1)})), "[nan+infj  1. -1.j]");
  EXPECT_EQ(textOf(tensor({Number(1e10, 1)})), "[1.e+10+1.j]");
  EXPECT_EQ(textOf(scalar(Number(1, 2))), "(1+2j)");
  EXPECT_EQ(textOf(scalar(Number(0, -2.5))), "-2.5j");
  EXPECT_EQ(tensor({std::complex(1.0f, 2.0f)}).dtype(), DType::Complex64);
  EXPECT_EQ(tensor({std::complex(1.0, 2.0)}).dtype(), DType::Complex64); // as a double is float32
  EXPECT_EQ(tensor<Number>({1, Number(0, 1)}).dtype(), DType::Complex128);
  EXPECT_EQ(tensor(std::vector<Number>{1}).dtype(), DType::Complex128);
  EXPECT_EQ((scalar<Number>(1.0) + 1 + 0.5 + Number(0, 1)).item<Number>(), Number(2.5, 1));
  EXPECT_EQ(dtype_of<std::complex<float>>, DType::Complex64);
  // numpy.promote_types
  EXPECT_EQ(promote(DType::Complex64, DType::Float64), DType::Complex128);
  EXPECT_EQ(promote(DType::Complex64, DType::Int16), DType::Complex64);
  EXPECT_EQ(promote(DType::Int32, DType::Complex64), DType::Complex128);
  EXPECT_EQ(promote(DType::Complex64, DType::Float16), DType::Complex64);
  EXPECT_EQ(promote(DType::Bool, DType::Complex64), DType::Complex64);
}

// Values by NumPy 2.4.
TEST(ComplexNumbersAs, Arrays) {
  using Number = std::complex<double>;
  const Tensor x = tensor<Number>({Number(1, 2), Number(3, 4)}), v = tensor<Number>({Number(0, 2), 1});
  const Tensor three = tensor<Number>({Number(1, 2), Number(3, 4), Number(5, -1)});
  using Numbers = std::vector<Number>;
  EXPECT_EQ(vdot(x, v).item<Number>(), Number(7, -2));
  EXPECT_EQ(convolve(x, v).to_vector<Number>(), (Numbers{Number(-4, 2), Number(-7, 8), Number(3, 4)}));
  EXPECT_EQ(correlate(x, v, "full").to_vector<Number>(), (Numbers{Number(1, 2), Number(7, 2), Number(8, -6)}));
  EXPECT_EQ(correlate(v, three, "full").to_vector<Number>(),
            (Numbers{Number(-2, 10), Number(13, 7), Number(7, -2), Number(1, -2)}));
  EXPECT_EQ(var(x).dtype(), DType::Float64);
  EXPECT_DOUBLE_EQ(var(x).item<double>(), 2);
  EXPECT_DOUBLE_EQ(var(x, 0, {.ddof = 1}).item<double>(), 4);
  EXPECT_DOUBLE_EQ(stddev(x).item<double>(), std::sqrt(2.0));
  EXPECT_TRUE(allclose(x, x + 1e-12));
  EXPECT_FALSE(allclose(x, x + Number(0, 1e-3)));
  EXPECT_EQ(full({2}, Number(1, 2)).dtype(), DType::Complex64);
  EXPECT_EQ(full({2}, Number(1, 2), DType::Complex128).to_vector<Number>(), (Numbers{Number(1, 2), Number(1, 2)}));
  ::testing::internal::CaptureStdout();
  print("z", Number(1, 2));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "z (1+2j)\n");
}

TEST(ComplexNumbersAs, MisuseIsRefused) {
  using Number = std::complex<float>;
  const Tensor z = tensor({Number(1, 2), Number(3, 4)}), x = ones({2});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { z < z; }), "less: takes no complex numbers, as complex64[2] has them");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { max(z); }), "takes no complex numbers");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { z + x; }), "the operands' types differ: complex64[2] and float32[2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { cast(z, DType::Float32); }),
                  "a complex number does not become float32; take real(x), imag(x) or abs(x)");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { x + Number(0, 1); }), "the complex number (0,1) can't become float32");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { complex(x, ones({2}, DType::Float64)); }), "the operands' types differ");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { complex(tensor({1}), tensor({2})); }),
                  "the parts must be float32 or float64");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { real(tensor({1, 2})); }), "floating-point and complex numbers");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { iota({3}, DType::Complex64); }), "makes no complex numbers");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { z.item<float>(); }), "complex64");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { jacobian([](const Tensor &w) { return w * w; })(z); }),
                  "takes real numbers, not complex64[2]; jvp and gradients are of complex numbers, too");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { hessian([](const Tensor &w) { return sum(abs(w)); })(z); }),
                  "hessian: takes real numbers, not complex64[2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { jacobian([](const Tensor &w) { return complex(w, w); })(x); }),
                  "jacobian: takes real numbers, not complex64[2]");
  for (auto *ofFloats :
       {+[](const Tensor &z) { return median(z); }, +[](const Tensor &z) { return histogram(z, 2).counts; }})
    EXPECT_CONTAINS(errorOf<DTypeError>([&] { ofFloats(z); }), "not complex64[2]; take real(x), imag(x) or abs(x)");
}

} // namespace
} // namespace calque::testing
