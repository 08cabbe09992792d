// Products of complex numbers along axes, and complex functions of sizes that are not known. Values that have a name
// are those of NumPy 2.4.6.
#include "test/operations/Testing.h"

#include <calque/arrays.h>

#include <complex>

namespace calque::testing {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

const Numbers kFactors = {Number(1, 2), Number(3, -1), Number(-0.5, 0.25), Number(0, 2), Number(-1, -1), Number(0.5)};

// Numbers of magnitude 1 or so, so that products neither grow nor vanish.
Tensor factorsOf(const Shape &shape, DType dtype = DType::Complex128) {
  std::mt19937 random(3);
  Numbers numbers;
  std::uniform_real_distribution<double> angle(-3, 3), magnitude(0.8, 1.25);
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    numbers.push_back(std::polar(magnitude(random), angle(random)));
  return cast(tensor(numbers, shape), dtype);
}

Numbers numbersOf(const Tensor &z) { return cast(z, DType::Complex128).to_vector<Number>(); }

void expectNear(const Tensor &found, const Numbers &expected, double within) {
  const Numbers numbers = numbersOf(found);
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(std::abs(numbers[i] - expected[i]), within * (1 + std::abs(expected[i])))
        << i << ": " << numbers[i] << " instead of " << expected[i];
}

TEST(ComplexProducts, AreThoseOfNumPy) {
  const Tensor z = tensor(kFactors), m = tensor(kFactors, {2, 3});
  auto expectSame = [](auto f, const Tensor &x, const Numbers &expected) {
    EXPECT_EQ(numbersOf(both(f, x)), expected);
    EXPECT_EQ(numbersOf(both(f, cast(x, DType::Complex64))), expected); // all of them are exact
  };
  expectSame([](const Tensor &x) { return prod(x); }, z, {Number(-5, 2.5)});
  expectSame([](const Tensor &x) { return prod(x); }, m, {Number(-5, 2.5)});
  expectSame([](const Tensor &x) { return prod(x, {0}); }, m, {Number(-4, 2), Number(-4, -2), Number(-0.25, 0.125)});
  expectSame([](const Tensor &x) { return prod(x, {-1}, true); }, m, {Number(-3.75, -1.25), Number(1, -1)});
  expectSame([](const Tensor &x) { return cumprod(x); }, z,
             {Number(1, 2), Number(5, 5), Number(-3.75, -1.25), Number(2.5, -7.5), Number(-10, 5), Number(-5, 2.5)});
  expectSame([](const Tensor &x) { return cumprod(x, 1); }, m,
             {Number(1, 2), Number(5, 5), Number(-3.75, -1.25), Number(0, 2), Number(2, -2), Number(1, -1)});
  EXPECT_EQ(prod(m, {1}, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(numbersOf(both([](const Tensor &x) { return prod(x, {0}); }, zeros({0, 2}, DType::Complex128))),
            (Numbers{1, 1}));
  EXPECT_EQ(prod(scalar<Number>(Number(1, 2))).item<Number>(), Number(1, 2));
  // A first infinity is not multiplied by 1, which would make its imaginary part NaN.
  const Numbers infinite = numbersOf(both([](const Tensor &x) { return cumprod(x); }, tensor<Number>({INFINITY, 2})));
  EXPECT_EQ(infinite[0], Number(INFINITY));
  EXPECT_TRUE(std::isinf(infinite[1].real()) && std::isnan(infinite[1].imag()));
  EXPECT_EQ(
      numbersOf(both([](const Tensor &x) { return nanprod(x); }, tensor<Number>({Number(1, 2), NAN, Number(3, -1)}))),
      (Numbers{Number(5, 5)}));
}

TEST(ComplexProducts, AreThoseOfLoops) {
  for (DType dtype : {DType::Complex64, DType::Complex128})
    for (const Shape &shape : {Shape{40}, Shape{3, 17}, Shape{5, 1, 9}, Shape{2, 3, 4}, Shape{0, 3}, Shape{70, 33}})
      for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis)
        for (bool exclusive : {false, true})
          for (bool reverse : {false, true}) {
            const Tensor x = factorsOf(shape, dtype);
            const Numbers given = numbersOf(x);
            Numbers expected(given.size());
            const std::int64_t size = shape[static_cast<std::size_t>(axis)];
            for (std::int64_t i = 0; i < sizeOf(shape); ++i) {
              Shape at = unravel(i, shape);
              if (at[static_cast<std::size_t>(axis)])
                continue;
              Number product = 1;
              for (std::int64_t k = 0; k < size; ++k) {
                at[static_cast<std::size_t>(axis)] = reverse ? size - 1 - k : k;
                const auto place = static_cast<std::size_t>(ravel(at, shape));
                const Number next = product * given[place];
                expected[place] = exclusive ? product : next;
                product = next;
              }
            }
            SCOPED_TRACE(::testing::Message() << x.shape() << " along " << axis);
            const Tensor found = both([=](const Tensor &z) { return cumprod(z, axis, exclusive, reverse); }, x);
            EXPECT_EQ(found.dtype(), dtype);
            expectNear(found, expected, dtype == DType::Complex64 ? 1e-6 : 1e-13);
          }
}

// d/dz[k] of a product is the product of the others, and the gradient of its real part the conjugate of that.
TEST(ComplexProducts, HaveDerivativesWhereFactorsAre0) {
  auto product = [](const Tensor &z) { return real(prod(z)); };
  auto moved = [](const Tensor &z, const Tensor &along) {
    return jvp([](const Tensor &x) { return cumprod(x); }, z, along).second;
  };
  auto compiled = function(moved, {.name = "tangents"});
  for (const Numbers &at : {Numbers{Number(1, 2), Number(3, -1), Number(0, 1)}, Numbers{Number(1, 2), 0, Number(0, 1)},
                            Numbers{0, Number(2, 1), 0}}) {
    const Tensor z = tensor(at);
    const Number d[] = {Number(0.5, 1), Number(-1, 0.25), Number(2, -1)};
    Numbers gradient, second;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      gradient.push_back(std::conj(at[i] * at[j]));
      second.push_back(std::conj(d[i] * at[j] + at[i] * d[j]));
    }
    expectNear(both(grad(product), z), gradient, 1e-15);
    const Tensor along = tensor(Numbers(std::begin(d), std::end(d)));
    expectNear(jvp(grad(product), z, along).second, second, 1e-14);
    // grad of grad: the Hessian of a real function is symmetric, as a form of both parts.
    auto change = [&](const Tensor &x) { return sum(real(conj(grad(product)(x)) * along)); };
    expectNear(both(grad(change), z), second, 1e-14);
    // The tangents of products up to each one.
    Numbers tangents{d[0], d[0] * at[1] + at[0] * d[1]};
    tangents.push_back(tangents[1] * at[2] + at[0] * at[1] * d[2]);
    expectNear(moved(z, along), tangents, 1e-14);
    expectNear(compiled(z, along), tangents, 1e-14);
    // Of the sum of the real parts of all of them.
    const Numbers sums{std::conj(1.0 + at[1] + at[1] * at[2]), std::conj(at[0] + at[0] * at[2]),
                       std::conj(at[0] * at[1])};
    expectNear(both(grad([](const Tensor &x) { return sum(real(cumprod(x))); }), z), sums, 1e-14);
  }
}

TEST(ComplexProducts, OfManyExamplesAreThoseOfEach) {
  const Tensor many = factorsOf({4, 3, 5});
  const std::vector<Tensor (*)(const Tensor &)> bodies = {
      [](const Tensor &z) { return prod(z); },
      [](const Tensor &z) { return prod(z, {1}); },
      [](const Tensor &z) { return cumprod(z, 0, true); },
      [](const Tensor &z) { return cumprod(z, -1, false, true); },
      [](const Tensor &z) { return grad([](const Tensor &x) { return real(prod(x * conj(x) + x)); })(z); },
      [](const Tensor &z) { return grad([](const Tensor &x) { return sum(imag(cumprod(x, 1))); })(z); },
  };
  for (auto *body : bodies) {
    auto compiled = function([body](const Tensor &x) { return vmap(body)(x); }, {.name = "many_examples"});
    const Tensor found = vmap(body)(many), again = compiled(many);
    for (std::int64_t i = 0; i < 4; ++i) {
      const Numbers alone = numbersOf(body(many[i]));
      expectNear(found[i], alone, 1e-14);
      expectNear(again[i], alone, 1e-14);
    }
  }
}

// The example of a batch is here what a derivative is taken of, and its parts are fresh values.
TEST(ComplexPrograms, MapGradientsOfLoops) {
  auto last = [](const Tensor &z) {
    return square(abs(scan([](const Tensor &sum, const Tensor &each) { return std::pair(sum * each + each, sum); },
                           scalar<Number>(Number(0.5, 1)), z)
                          .first));
  };
  const Tensor many = factorsOf({3, 4});
  auto slopes = [&](const Tensor &z) { return grad(last)(z); };
  auto taped = [&](const Tensor &z) {
    GradientTape tape;
    tape.watch(z);
    return *tape.gradient(last(z), z);
  };
  auto along = [&](const Tensor &z) { return jvp(last, z, conj(z)).second; };
  for (std::int64_t i = 0; i < 3; ++i) {
    expectNear(both([&](const Tensor &x) { return vmap(slopes)(x); }, many)[i], numbersOf(slopes(many[i])), 1e-13);
    expectNear(both([&](const Tensor &x) { return vmap(taped)(x); }, many)[i], numbersOf(slopes(many[i])), 1e-13);
    EXPECT_NEAR(vmap(along)(many)[i].item<double>(), along(many[i]).item<double>(), 1e-12);
  }
}

//===-- Other functions -------------------------------------------------------------------------===//

TEST(ComplexNumbersOf, RoundedParts) {
  auto rounded = [](const Tensor &z) { return round(z); };
  EXPECT_EQ(numbersOf(both(rounded, tensor<Number>({Number(0.5, -1.5), Number(2.5, 0.4), Number(-0.5, 2.5)}))),
            (Numbers{Number(0, -2), Number(2, 0), Number(0, 2)}));
}

using Exact = std::complex<long double>;

// Near 0 the series; else by the distance of the real part from the nearest integer.
Exact sincOf(const Exact &z) {
  constexpr long double kPi = 3.141592653589793238462643383279502884L;
  const Exact w = kPi * z;
  if (std::abs(w) < 0.1L)
    return 1.0L - w * w / 6.0L * (1.0L - w * w / 20.0L * (1.0L - w * w / 42.0L * (1.0L - w * w / 72.0L)));
  const long double whole = std::round(z.real());
  return (std::fmod(whole, 2) == 0 ? std::sin(kPi * (z - whole)) : -std::sin(kPi * (z - whole))) / w;
}

// The imaginary part times log(2) or pi, which is rounded, is the result's angle or the logarithm of its magnitude.
TEST(ComplexNumbersOf, PowersOf2AndCardinalSines) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> part(-8, 8);
  Numbers exponents{0, 3, -2, Number(1, 1), Number(0, 0.5), Number(1e-9, -1e-9), Number(0.2, 0.3), Number(5 + 1e-7)};
  for (int i = 0; i < 200; ++i)
    exponents.emplace_back(part(random), part(random));
  for (DType dtype : {DType::Complex64, DType::Complex128}) {
    const Tensor z = cast(tensor(exponents), dtype);
    const long double epsilon = dtype == DType::Complex64 ? 0x1p-23L : 0x1p-52L;
    const Numbers given = numbersOf(z), powers = numbersOf(both([](const Tensor &x) { return exp2(x); }, z)),
                  sines = numbersOf(both([](const Tensor &x) { return sinc(x); }, z));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Exact power = std::exp(Exact(given[i]) * 0.693147180559945309417232121458176568L), sine = sincOf(given[i]);
      EXPECT_LE(std::abs(Exact(powers[i]) - power), (4 + std::fabs(given[i].imag())) * epsilon * std::abs(power))
          << given[i] << ": " << powers[i];
      EXPECT_LE(std::abs(Exact(sines[i]) - sine), (5 + 4 * std::fabs(given[i].imag())) * epsilon * std::abs(sine))
          << given[i] << ": " << sines[i];
    }
    EXPECT_EQ(powers[1], Number(8));
    EXPECT_EQ(sines[1], Number(0));
  }
}

//===-- Sizes that are not known ----------------------------------------------------------------===//

// One trace serves all sizes. Of a dimension of size 1 a slice of pairs must not take another one for the parts.
TEST(ComplexPrograms, ServeOpenSizesOfNoneOneAndMore) {
  using Function = Tensor (*)(const Tensor &, const Tensor &);
  const Function bodies[] = {
      [](const Tensor &z, const Tensor &w) { return z * w + conj(z); },
      [](const Tensor &z, const Tensor &w) { return z / (w + 3) - exp(z) * sin(w); },
      [](const Tensor &z, const Tensor &w) { return complex(abs(z), angle(w)); },
      [](const Tensor &z, const Tensor &w) { return where(real(z) > 0, z, w); },
      [](const Tensor &z, const Tensor &) { return sum(z, {0}, true); },
      [](const Tensor &z, const Tensor &) { return sum(z, {1}, true); },
      [](const Tensor &z, const Tensor &) { return z - sum(z, {0}, true); },
      [](const Tensor &z, const Tensor &) { return z * sum(z, {1}, true); },
      [](const Tensor &z, const Tensor &) { return sum(z); },
      // The branches' sizes differ as far as tracing can tell, so that the call finds those of the result.
      [](const Tensor &z, const Tensor &w) {
        return cond(sum(real(z)) < 1e9, [&] { return z * w; }, [&] { return sum(z, {0}, true) * w; });
      },
      [](const Tensor &z, const Tensor &) { return transpose(z); },
      [](const Tensor &z, const Tensor &w) { return matmul(z, conj(transpose(w))); },
      [](const Tensor &z, const Tensor &w) { return matmul(transpose(z), w); },
      [](const Tensor &z, const Tensor &w) { return concat({z, w}, 0); },
      [](const Tensor &z, const Tensor &w) { return stack({z, w}, 1); },
      [](const Tensor &z, const Tensor &) { return expand_dims(z, {0, 2}); },
      [](const Tensor &z, const Tensor &) { return expand_dims(sum(z, {1}), {0}); },
      [](const Tensor &z, const Tensor &) { return pad(z, {0, 1}, {1, 0}); },
      [](const Tensor &z, const Tensor &) { return reshape(z, {-1}); },
      [](const Tensor &z, const Tensor &) { return reverse(z, {1}); },
      [](const Tensor &z, const Tensor &) { return prod(z, {0}); },
      [](const Tensor &z, const Tensor &) { return prod(z, {1}, true); },
      [](const Tensor &z, const Tensor &) { return prod(z); },
      [](const Tensor &z, const Tensor &) { return cumprod(z, 0); },
      [](const Tensor &z, const Tensor &) { return cumprod(z, 1, true, true); },
      [](const Tensor &z, const Tensor &) { return cumsum(z, 1); },
      [](const Tensor &z, const Tensor &w) {
        return grad([&](const Tensor &x) { return sum(abs(x * w) + real(x)); })(z);
      },
      [](const Tensor &z, const Tensor &) { return grad([](const Tensor &x) { return real(sum(prod(x, {0}))); })(z); },
  };
  const Shape shapes[] = {{2, 3}, {1, 3}, {3, 1}, {1, 1}, {0, 2}, {2, 0}, {0, 0}, {1, 0}, {4, 5}};
  for (std::size_t i = 0; i < std::size(bodies); ++i)
    for (DType dtype : {DType::Complex64, DType::Complex128}) {
      SCOPED_TRACE("body " + std::to_string(i));
      const TensorSpec<> any(dtype, {kDynamic, kDynamic});
      auto open =
          function([&](const Tensor &z, const Tensor &w) { return bodies[i](z, w); }, {.input_signature = {any, any}});
      for (const Shape &shape : shapes) {
        const Tensor z = factorsOf(shape, dtype), w = conj(z * z);
        SCOPED_TRACE(::testing::Message() << z.shape());
        // Sums and derivatives may add in another order.
        const Tensor found = open(z, w), expected = bodies[i](z, w);
        EXPECT_EQ(found.shape(), expected.shape());
        EXPECT_EQ(found.dtype(), expected.dtype());
        expectNear(found, numbersOf(expected), dtype == DType::Complex64 ? 1e-6 : 1e-14);
      }
      EXPECT_EQ(open.trace_count(), 1);
    }
}

} // namespace
} // namespace calque::testing
