// Numbers at the edges of their types, and elements that are not there. Expected values are those of NumPy 2.4, except
// where a comment says otherwise.
#include "test/arrays/Testing.h"

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
