// Numbers at the edges of their types, and elements that are not there. Expected values are those of NumPy 2.4, except
// where a comment says otherwise.
#include "test/arrays/Testing.h"

#include <calque/check_gradients.h>
#include <calque/linalg.h>
#include <calque/random.h>

#include <complex>
#include <sstream>

namespace calque::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename T, typename F> std::vector<T> both(F f, const Tensor &x) {
  const Tensor eager = f(x);
  expectSameBits(function([&](const Tensor &x) { return f(x); })(x), eager);
  return eager.to_vector<T>();
}
// With sizes that the program does not know.
template <typename F> Tensor openly(F f, const Tensor &x, const Tensor &y) {
  return function([&](const Tensor &x, const Tensor &y) { return f(x, y); },
                  {.input_signature = {TensorSpec<>(x.dtype(), {kDynamic}), TensorSpec<>(y.dtype(), {kDynamic})}})(x,
                                                                                                                   y);
}

TEST(ArraysEdges, NaNGoesOn) {
  auto f = [](const Tensor &x) { return logcumsumexp(x); };
  const std::vector<double> sums = both<double>(f, tensor<double>({1, kNaN, 2}));
  EXPECT_EQ(sums[0], 1);
  EXPECT_TRUE(std::isnan(sums[1]) && std::isnan(sums[2]));
  EXPECT_EQ(both<double>(f, tensor<double>({-kInfinity, -kInfinity, 1, kInfinity})),
            (std::vector<double>{-kInfinity, -kInfinity, 1, kInfinity}));
  using Number = std::complex<double>;
  const Tensor z = tensor<Number>({Number(kNaN, 0)});
  EXPECT_TRUE(array_equal(z, z, true).item<bool>());
  EXPECT_FALSE(array_equal(z, z).item<bool>());
}

TEST(ArraysEdges, UpdatesOfOnePlace) {
  const Tensor twice = tensor({0, 0});
  EXPECT_FLOAT_EQ(at(tensor({1e30f}), twice).divide(tensor({1e20f, 1e20f})).item<float>(), 1e-10f);
  EXPECT_FLOAT_EQ(at(tensor({1e-30f}), tensor({0, 0, 0})).multiply(tensor({1e30f, 1e30f, 1e-10f})).item<float>(),
                  1e20f);
  EXPECT_EQ(at(tensor<std::uint8_t>({200}), twice).divide(tensor<std::uint8_t>({20, 20})).item<std::uint8_t>(), 0);
  EXPECT_EQ(at(tensor<std::int8_t>({100}), twice).divide(tensor<std::int8_t>({16, 16})).item<std::int8_t>(), 0);
  EXPECT_EQ(at(tensor({-2000000000}), twice).divide(tensor({3, -7})).item<std::int32_t>(), 95238095); // truncated once
  errorOf<DivisionError>([&] { at(tensor({1, 2}), twice).divide(tensor({1, 0})); });
  EXPECT_EQ(at(tensor<float16>({float16(60000)}), twice)
                .divide(tensor<float16>({float16(300), float16(300)}))
                .item<float16>()
                .bits(),
            float16(0.66666667f).bits());
}

// By docs/element-types.md: of 16 bits they are computed in float32, and rounded once.
TEST(ArraysEdges, StatisticsOfHalves) {
  const Tensor many = full({100000}, 1, DType::Float16), large = full({100}, 1000, DType::Float16);
  auto number = [](const Tensor &x) { return float(x.item<float16>()); };
  EXPECT_EQ(number(nanmean(many)), 1);
  EXPECT_EQ(number(nanmean(large)), 1000);
  EXPECT_EQ(number(average(large, ones({100}, DType::Float16))), 1000);
  EXPECT_EQ(number(segment_mean(large, zeros({100}, DType::Int32), 1)), 1000);
  EXPECT_EQ(number(stddev(tensor<float16>({float16(-300), float16(300)}))), 300);
  EXPECT_EQ(number(nanvar(many)), 0);
  const Tensor pairs = cast(tensor({{-300.0f, 300.0f, 0.0f}, {1.0f, 2.0f, 3.0f}}), DType::Float16);
  const std::vector<float> found = cast(corrcoef(pairs), DType::Float32).to_vector<float>();
  EXPECT_NEAR(found[0], 1, 1e-3);
  EXPECT_NEAR(found[1], 0.5, 1e-3);
}

TEST(ArraysEdges, CorrelationsOfSmallAndLargeNumbers) {
  for (float scale : {1e-25f, 1.0f, 1e20f}) {
    const Tensor x = tensor<float>({{scale, -scale, 0}, {1, 2, 4}});
    const std::vector<float> found = corrcoef(x).to_vector<float>(),
                             compiled = function([](const Tensor &x) { return corrcoef(x); })(x).to_vector<float>();
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(compiled[i], found[i], 1e-6);
    EXPECT_NEAR(found[0], 1, 1e-6);
    EXPECT_NEAR(found[1], -0.32732684f, 1e-6);
  }
  EXPECT_EQ(cov(tensor<double>({{1, 2, 4}})).rank(), 0);
  EXPECT_TRUE(std::isnan(corrcoef(tensor<double>({{1, 1}, {1, 2}})).to_vector<double>()[0]));
}

TEST(ArraysEdges, MediansOfInfinity) {
  auto f = [](const Tensor &x) { return stack({median(x), nanmedian(x)}); };
  EXPECT_EQ(both<double>(f, tensor<double>({1, 2, kInfinity, kInfinity})), (std::vector<double>{kInfinity, kInfinity}));
  EXPECT_EQ(both<double>(f, tensor<double>({-kInfinity, 2, 3, 5})), (std::vector<double>{2.5, 2.5}));
  EXPECT_TRUE(std::isnan(median(tensor<double>({-kInfinity, kInfinity})).item<double>()));
}

TEST(ArraysEdges, CorrelatesAShortVectorFirst) {
  const Tensor a = tensor<double>({1, 2}), v = tensor<double>({1, 10, 100, 1000, 10000});
  auto of = [](const Tensor &a, const Tensor &v) { return correlate(a, v, "same").to_vector<double>(); };
  EXPECT_EQ(of(a, v), (std::vector<double>{21000, 2100, 210, 21, 2}));
  EXPECT_EQ(of(v, a), (std::vector<double>{2, 21, 210, 2100, 21000}));
  EXPECT_EQ(convolve(a, v, "same").to_vector<double>(), convolve(v, a, "same").to_vector<double>());
  using Number = std::complex<double>;
  EXPECT_EQ(vecmat(tensor<Number>({Number(0, 1)}), tensor<Number>({{Number(0, 1)}})).to_vector<Number>()[0], Number(1));
}

TEST(ArraysEdges, CountsBeyondFloat32) {
  const std::int64_t many = (1 << 24) + 1000;
  const Tensor places = zeros({many}, DType::Int32);
  EXPECT_EQ(bincount(places, {.weights = ones({many})}).to_vector<float>()[0], static_cast<float>(many));
}

TEST(ArraysEdges, IndicesBeyondInt64) {
  const Tensor last = tensor<std::uint64_t>({18446744073709551615ull});
  EXPECT_EQ(take(iota({10}, DType::Int32), last, {}, "wrap").to_vector<std::int32_t>()[0], 5);
  EXPECT_EQ(take(iota({10}, DType::Int32), last, {}, "clip").to_vector<std::int32_t>()[0], 9);
}

TEST(ArraysEdges, ShiftsBeyondInt64) {
  const Tensor x = arange(7), last = scalar<std::uint64_t>(18446744073709551615ull); // 1 more than a multiple of 7
  auto f = [](const Tensor &x, const Tensor &by) { return roll(x, by); };
  EXPECT_EQ(f(x, last).to_vector<std::int32_t>(), (std::vector<std::int32_t>{6, 0, 1, 2, 3, 4, 5}));
  expectSameBits(function(f)(x, last), f(x, last));
  EXPECT_EQ(roll(x, tensor<std::int8_t>({-128})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{2, 3, 4, 5, 6, 0, 1}));
}

void expectNumbers(const std::vector<double> &found, const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << found[i] << " and " << expected[i];
}

TEST(ArraysEdges, InterpolatesBetweenInfinities) {
  const std::vector<double> none;
  auto at = [](std::initializer_list<double> xp, std::initializer_list<double> fp, std::initializer_list<double> x) {
    const Tensor places = tensor<double>(xp), values = tensor<double>(fp);
    return both<double>([&](const Tensor &x) { return interp(x, places, values); }, tensor<double>(x));
  };
  expectNumbers(at({0, 1, 2, 3}, {-kInfinity, 0, kInfinity, kInfinity}, {0, 0.25, 1, 1.5, 2, 3}),
                {-kInfinity, -kInfinity, 0, kInfinity, kInfinity, kInfinity});
  expectNumbers(at({0, 1}, {-kInfinity, kInfinity}, {0.5, 0, 1}), {kNaN, -kInfinity, kInfinity});
  expectNumbers(at({-kInfinity, 1}, {2, 3}, {0.5, -kInfinity, kInfinity, 0}), {3, 2, 3, 3});
  expectNumbers(at({1, 2, 3}, {kInfinity, kInfinity, -kInfinity}, {1.5, 1, 2, 2.5}),
                {kInfinity, kInfinity, kInfinity, kNaN});
}

// Where NumPy has NaN and infinity: its length of the range overflows.
TEST(ArraysEdges, RangesOfOverflowingLength) {
  auto f = [](const Tensor &ends) { return linspace(ends[0], ends[1], 5); };
  expectNumbers(both<double>(f, tensor<double>({-1e308, 1e308})), {-1e308, -5e307, 0, 5e307, 1e308});
  const std::vector<float> floats = f(tensor({-3e38f, 3e38f})).to_vector<float>();
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_FLOAT_EQ(floats[i], 3e38f * (static_cast<float>(i) / 2 - 1));
  expectNumbers(linspace(-1e308, 1e308, 3, {.dtype = DType::Float64}).to_vector<double>(), {-1e308, 0, 1e308});
  auto three = [](const Tensor &ends) { return linspace(ends[0], ends[1], 3); };
  expectNumbers(both<double>(three, tensor<double>({0, kInfinity})), {kNaN, kInfinity, kInfinity}); // as in NumPy
  expectNumbers(both<double>(three, tensor<double>({-kInfinity, 0})), {kNaN, kNaN, 0});
  EXPECT_CONTAINS(errorOf<ValueError>([] { linspace(0, 1, INT64_MAX); }), "linspace: no memory has place for");
}

TEST(ArraysEdges, RatiosOfTwoSigns) {
  auto f = [](const Tensor &ends) { return geomspace(ends[0], ends[1], 3); };
  expectNumbers(both<double>(f, tensor<double>({-1, 4})), {-1, kNaN, 4});
  expectNumbers(geomspace(1, -4, 3, {.dtype = DType::Float64}).to_vector<double>(), {1, kNaN, -4});
}

TEST(ArraysEdges, SumsOfSegmentsBeyondFloat32) {
  const std::int64_t many = (1 << 24) + 1000;
  const Tensor sums = segment_sum(ones({many}), zeros({many}, DType::Int32), 1);
  EXPECT_EQ(sums.item<float>(), static_cast<float>(many));
  using Number = std::complex<float>;
  const Tensor z = tensor<Number>({Number(0, 1), Number(16777216, 2), Number(1, 0), Number(1, 0)});
  EXPECT_EQ(segment_sum(z, tensor({1, 0, 0, 0}), 2).to_vector<Number>(),
            (std::vector<Number>{Number(16777218, 2), Number(0, 1)}));
}

TEST(ArraysEdges, NormsOfLargeNumbersAndOfNone) {
  for (double order : {1.5, 2.0, 3.0, 8.0}) {
    const Tensor x = full({3}, 3, DType::Float16);
    const double expected = 3 * std::pow(3.0, 1 / order);
    auto norm = [&](const Tensor &x) { return linalg::vector_norm(x, {}, {.order = order}); };
    EXPECT_EQ(norm(x).item<float16>().bits(), float16(static_cast<float>(expected)).bits());
    const float large = float(norm(full({2}, 60000, DType::Float16)).template item<float16>());
    EXPECT_EQ(large, float(float16(60000 * std::pow(2.0, 1 / order))));
    EXPECT_NEAR(norm(tensor<double>({3e200, 0, -4e200})).item<double>() / 1e200,
                std::pow(std::pow(3, order) + std::pow(4, order), 1 / order), 1e-14);
    EXPECT_EQ(norm(zeros({0})).item<float>(), 0);
    auto open = [&](const Tensor &x, const Tensor &) { return norm(x); };
    EXPECT_EQ(openly(open, zeros({0}), zeros({0})).item<float>(), 0);
    EXPECT_NEAR(openly(open, tensor({3.0f, 4.0f}), zeros({0})).item<float>(),
                std::pow(std::pow(3, order) + std::pow(4, order), 1 / order), 1e-6);
    EXPECT_EQ(grad(norm)(zeros({2})).to_vector<float>(), (std::vector<float>{0, 0}));
  }
  auto cubic = [](const std::vector<Tensor> &x) { return linalg::vector_norm(x[0], {}, {.order = 3}); };
  check_gradients(cubic, {tensor<double>({1, -2, 3})});
  EXPECT_TRUE(std::isnan(linalg::vector_norm(tensor<double>({1, kNaN}), {}, {.order = 3}).item<double>()));
  EXPECT_EQ(linalg::vector_norm(tensor<double>({1, kInfinity}), {}, {.order = 3}).item<double>(), kInfinity);
}

template <typename T> void expectNeighboursOfHalves() {
  // The neighbours of all numbers of 16 bits, on both sides, by their bits.
  std::vector<T> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = T::from_bits(static_cast<std::uint16_t>(i));
  const Tensor x = tensor(all);
  for (float side : {-kInfinity, 0.0, kInfinity}) {
    auto f = [&](const Tensor &x) { return nextafter(x, T(side)); };
    const std::vector<T> found = f(x).template to_vector<T>();
    expectSameBits(function(f)(x), f(x));
    int faults = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto from = float(all[i]);
      if (std::isnan(from)) {
        faults += !std::isnan(float(found[i]));
        continue;
      }
      std::uint16_t expected = all[i].bits();
      if (from == side)
        expected = T(side).bits();
      else if (from == 0)
        expected = side > 0 ? 1 : 0x8001;
      else
        expected += (side > from) == (from > 0) ? 1 : -1;
      faults += found[i].bits() != expected;
    }
    EXPECT_EQ(faults, 0) << "towards " << side;
  }
  EXPECT_TRUE(std::isnan(float(nextafter(scalar<T>(T(1)), T(kNaN)).template item<T>())));
}
TEST(ArraysEdges, NeighboursOfHalves) {
  expectNeighboursOfHalves<float16>();
  expectNeighboursOfHalves<bfloat16>();
}

// C99's annex G, 6.2.6, also where the real part is so large that the imaginary part of other numbers hardly counts.
TEST(ArraysEdges, HyperbolicTangentsOfInfiniteImaginaryParts) {
  using Number = std::complex<double>;
  auto f = [](const Tensor &z) { return tanh(z); };
  const Tensor z = tensor<Number>({Number(30, kInfinity), Number(-30, -kInfinity), Number(2, kInfinity)});
  for (const Number &found : both<Number>(f, z))
    EXPECT_TRUE(std::isnan(found.real()) && std::isnan(found.imag())) << found;
  const std::vector<Number> ends =
      both<Number>(f, tensor<Number>({Number(kInfinity, kInfinity), Number(-kInfinity, 1)}));
  EXPECT_EQ(ends[0], Number(1, 0));
  EXPECT_EQ(ends[1], Number(-1, 0));
}

TEST(ArraysEdges, EmptySetsOfUnknownSize) {
  const Tensor none = zeros({0}), two = ones({2});
  EXPECT_EQ(openly([](const Tensor &x, const Tensor &v) { return isin(x, v); }, two, none).to_vector<bool>(),
            (std::vector<bool>{false, false}));
  auto all = [](const Tensor &x, const Tensor &y) {
    return concat({unique(x, {.size = 2, .fill_value = -1}), setdiff1d(x, y, {.size = 1, .fill_value = -2}),
                   union1d(x, y, {.size = 2, .fill_value = -3}), intersect1d(x, y, {.size = 1, .fill_value = -4})});
  };
  EXPECT_EQ(openly(all, none, none).to_vector<float>(), (std::vector<float>{-1, -1, -2, -3, -3, -4}));
  EXPECT_EQ(openly(all, none, two).to_vector<float>(), (std::vector<float>{-1, -1, -2, 1, -3, -4}));
  EXPECT_EQ(openly(all, two, two).to_vector<float>(), (std::vector<float>{1, -1, -2, 1, -3, 1}));
}

TEST(ArraysEdges, ConditionsOfSingularMatrices) {
  using linalg::MatrixNorm;
  const Tensor two = stack({tensor<double>({{1, 2}, {2, 4}}), tensor<double>({{2, 0}, {0, 1}})});
  for (MatrixNorm order : {MatrixNorm::One, MatrixNorm::MinusOne, MatrixNorm::Frobenius, MatrixNorm::Nuclear,
                           MatrixNorm::Infinity, MatrixNorm::MinusInfinity}) {
    const std::vector<double> found = both<double>([&](const Tensor &x) { return linalg::cond(x, order); }, two);
    EXPECT_EQ(found[0], kInfinity);
    EXPECT_TRUE(std::isfinite(found[1]));
  }
  EXPECT_DOUBLE_EQ(linalg::cond(two, MatrixNorm::One).to_vector<double>()[1], 2);
}

TEST(ArraysEdges, ComplexNumbersHaveNoOrder) {
  const Tensor z = complex(ones({2}), ones({2}));
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { segment_max(z, tensor({0, 1})); }), "EdgesTest.cpp");
  for (auto draw : {+[] { return random::normal({3}, {.dtype = DType::Complex64}); },
                    +[] { return random::uniform({3}, {.dtype = DType::Complex64}); }})
    EXPECT_CONTAINS(errorOf<DTypeError>([&] { draw(); }), "EdgesTest.cpp");
}

TEST(ArraysEdges, PrintsSubnormalNumbers) {
  auto text = [](const Tensor &x) {
    std::ostringstream os;
    os << x;
    return os.str();
  };
  EXPECT_EQ(text(tensor({1.1210388e-44f, 2.6444125e-14f, 2.8025969e-45f})),
            "[1.1210388e-44 2.6444125e-14 2.8025969e-45]");
}

} // namespace
} // namespace calque::testing
