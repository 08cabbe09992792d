// What NumPy's functions of arrays give of complex numbers. Values are those of NumPy 2.4.6.
#include "test/Errors.h"
#include "test/operations/Testing.h"

#include <calque/arrays.h>

#include <complex>

namespace calque::testing {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

const Numbers kNumbers = {Number(1, 2), Number(3, -1), Number(-0.5, 0.25), Number(0, 2), Number(-1, -1), Number(0.5)};

Tensor given(Shape shape) { return tensor(kNumbers, std::move(shape)); }

void expectNear(const Tensor &found, const Numbers &expected, double within) {
  ASSERT_EQ(found.dtype(), DType::Complex128);
  const Numbers numbers = found.to_vector<Number>();
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto agree = [&](double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= within; };
    EXPECT_TRUE(agree(numbers[i].real(), expected[i].real()) && agree(numbers[i].imag(), expected[i].imag()))
        << i << ": " << numbers[i] << " instead of " << expected[i];
  }
}
template <typename F> void expectNumbers(F f, const Tensor &x, const Numbers &expected, double within = 0) {
  expectNear(both(f, x), expected, within);
}
// Of products, which compiled code may add in another order.
template <typename F> void expectProducts(F f, const Tensor &x, const Numbers &expected, double within) {
  expectNear(f(x), expected, within);
  expectNear(function(f)(x), expected, within);
}

TEST(ComplexNumbersOf, FunctionsOfArrays) {
  const Tensor z = given({6}), m = given({2, 3}), places = tensor<double>({0, 1, 3, 4, 6, 7});
  const double few = 1e-15;
  expectNumbers([](const Tensor &x) { return round(x, 1); }, tensor<Number>({Number(1.25, -2.75), Number(-0.5, 1.5)}),
                {Number(1.2, -2.8), Number(-0.5, 1.5)});
  expectProducts([](const Tensor &x) { return cov(x); }, m,
                 {5.354166666666667, Number(0.9583333333333331, 1.75), Number(0.9583333333333331, -1.7500000000000002),
                  2.9166666666666665},
                 4 * few);
  expectProducts(
      [](const Tensor &x) { return corrcoef(x); }, m,
      {1, Number(0.2425086601549292, 0.44284190115247946), Number(0.24250866015492917, -0.4428419011524795), 1}, few);
  expectNumbers([](const Tensor &x) { return gradient(x); }, z,
                {Number(2, -3), Number(-0.75, -0.875), Number(-1.5, 1.5), Number(-0.25, -0.625), Number(0.25, -1),
                 Number(1.5, 1)});
  expectNumbers([&](const Tensor &x) { return gradient(x, places, -1, 2); }, z,
                {Number(3.25, -4.208333333333333), Number(0.75, -1.7916666666666665), Number(-0.25, 1.375),
                 Number(0.16666666666666666, 0.6666666666666667), Number(0.8333333333333333, 0.16666666666666669),
                 Number(2.1666666666666665, 1.8333333333333333)},
                2 * few);
  expectNumbers([](const Tensor &x) { return diff(x); }, z,
                {Number(2, -3), Number(-3.5, 1.25), Number(0.5, 1.75), Number(-1, -3), Number(1.5, 1)});
  expectNumbers([](const Tensor &x) { return polyval(x[0], x[1]); }, m,
                {Number(-2.5, -1.75), Number(-8.5, 0.25), Number(1.25, 0.25)});
  expectNumbers([&](const Tensor &x) { return gather(cumulative_trapezoid(x, places), 4); }, z, {Number(3, 1.375)});
  const Tensor at = tensor<double>({0.5, -1, 2.25, 9, NAN});
  expectNumbers([&](const Tensor &f) { return interp(at, tensor<double>({0, 1, 3}), f, {.left = 7}); },
                tensor<Number>({Number(1, 2), Number(3, -1), Number(0, 1)}),
                {Number(2, 0.5), 7, Number(1.125, 0.25), Number(0, 1), Number(NAN, 0)});
  expectNumbers([](const Tensor &x) { return kron(slice(x, {0}, {2}), slice(x, {2}, {4})); }, z,
                {Number(-1, -0.75), Number(-4, 2), Number(-1.25, 1.25), Number(2, 6)});
  expectNumbers([](const Tensor &x) { return outer(slice(x, {0}, {2}), slice(x, {2}, {4})); }, z,
                {Number(-1, -0.75), Number(-4, 2), Number(-1.25, 1.25), Number(2, 6)});
  expectNumbers([](const Tensor &x) { return cross(x[0], x[1]); }, m,
                {Number(0.75, -0.75), Number(-1, -2), Number(-1, -9)});
  expectNumbers([](const Tensor &x) { return inner(x[0], x[1]); }, m, {Number(-8.25, 0.125)});
  expectNumbers([](const Tensor &x) { return trace(reshape(slice(x, {0}, {4}), {2, 2})); }, z, {Number(1, 4)});
  expectNumbers([](const Tensor &x) { return average(x, tensor<Number>({1, 2, 1, 0.5, 1, 1})); }, z,
                {Number(0.9230769230769231, 0.038461538461538464)}, few);
}

TEST(ComplexNumbersOf, FunctionsWithoutNaN) {
  Numbers elements = kNumbers;
  elements[1] = Number(NAN, 1);
  elements[4] = Number(2, NAN);
  const Tensor z = tensor(elements);
  expectNumbers([](const Tensor &x) { return nansum(x); }, z, {Number(1, 4.25)});
  expectNumbers([](const Tensor &x) { return nanmean(x); }, z, {Number(0.25, 1.0625)});
  EXPECT_DOUBLE_EQ(nanvar(z).item<double>(), 1.19921875);
  EXPECT_DOUBLE_EQ(nanstd(z, {}, {.ddof = 1}).item<double>(), 1.2644992421244599);
  const Tensor odd = tensor<Number>({Number(NAN, INFINITY), Number(-INFINITY, 2)});
  expectNumbers([](const Tensor &x) { return nan_to_num(x, {.nan = 3, .posinf = 5, .neginf = -6}); }, odd,
                {Number(3, 5), Number(-6, 2)});
}

TEST(ComplexNumbersOf, FunctionsThatAreRefused) {
  const Tensor z = given({6});
  using Function = Tensor (*)(const Tensor &);
  const Function refused[] = {
      [](const Tensor &x) { return sort(x); },       [](const Tensor &x) { return clip(x, 0, 1); },
      [](const Tensor &x) { return sign(x); },       [](const Tensor &x) { return floor(x); },
      [](const Tensor &x) { return cummax(x); },     [](const Tensor &x) { return median(x); },
      [](const Tensor &x) { return logsumexp(x); },  [](const Tensor &x) { return maximum(x, x); },
      [](const Tensor &x) { return argmax(x); },     [](const Tensor &x) { return trunc(x); },
      [](const Tensor &x) { return relu(x); },       [](const Tensor &x) { return x % x; },
      [](const Tensor &x) { return ptp(x); },        [](const Tensor &x) { return nanmax(x); },
      [](const Tensor &x) { return softmax(x, 0); },
  };
  for (Function f : refused)
    EXPECT_CONTAINS(errorOf<DTypeError>([&] { f(z); }), "complex128[");
}

} // namespace
} // namespace calque::testing
