// float16 and bfloat16: each operation computes in float32 and is rounded.
#include "test/operations/Testing.h"

#include <limits>
#include <sstream>

namespace calque::testing {
namespace {

struct Halves : ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, Halves, ::testing::Values(DType::Float16, DType::BFloat16),
                         [](const auto &info) { return std::string(name_of(info.param)); });

// An operation on halves is that on float32, rounded: for every record but that of the neighbours, which are those of
// the type (test/arrays/EdgesTest.cpp).
TEST_P(Halves, RoundEachOperation) {
  std::mt19937 random(4);
  for (const ElementwiseCase &op : elementwiseCases()) {
    SCOPED_TRACE(op.name());
    if (op.id == schema::OpId::NextAfter)
      continue;
    std::vector<DType> signature(op.schema().numOperands, GetParam());
    for (DType first : {GetParam(), DType::Bool}) {
      signature[0] = first;
      std::vector<schema::TensorType> types;
      for (DType each : signature)
        types.push_back({each, {2}});
      if (schema::inferTypes(op.id, types, {}).fault)
        continue;
      std::vector<Tensor> halves, wide;
      for (DType each : signature) {
        std::vector<double> values = randomValues(random, 40, op.low, op.high);
        for (double special : {0.0, -0.0, 1.0, 65504.0, 1e-7, double(INFINITY), double(NAN)})
          values.push_back(special);
        std::shuffle(values.begin(), values.end(), random);
        halves.push_back(makeTensor(each, values, {47}));
        wide.push_back(each == DType::Bool ? halves.back() : cast(halves.back(), DType::Float32));
      }
      const Tensor found = both([&](const std::vector<Tensor> &in) { return op.function(in); }, halves);
      const Tensor expected = op.function(wide);
      expectSameBits(found, is_floating(expected.dtype()) ? cast(expected, GetParam()) : expected);
    }
  }
}

TEST_P(Halves, AreRoundedInChainsToo) {
  std::mt19937 random(5);
  const Tensor x = cast(randomTensor(random, {5, 67}), GetParam()), y = cast(randomTensor(random, {67}), GetParam());
  both([](const Tensor &a, const Tensor &b) { return (a * 1.1 + b) * a / 3 - exp(b) * sqrt(abs(a)); }, x, y);
  both([](const Tensor &a, const Tensor &b) { return softmax(a * b, 1) + logsumexp(a, {1}, true) - mean(a, {0}); }, x,
       y);
  both([](const Tensor &a, const Tensor &b) { return concat({sum(a, {1}), b, cumsum(b, 0)}, 0); }, x, y);
  both([](const Tensor &a, const Tensor &b) { return where(a > b, a, b * 2); }, x, y);
  auto loop = [](const Tensor &a, const Tensor &b) {
    Tensor sum = a;
    for (Tensor i : range(9))
      sum = sum * 0.7 + b * cast(i, b.dtype());
    return sum;
  };
  both(loop, x, y);
  both(loop, x[0][0], y[0]);
}

TEST_P(Halves, AccumulateInFloat32) {
  const Tensor ones_ = ones({5000}, GetParam()), large = full({4000}, 60, GetParam());
  const Tensor total = both([](const Tensor &x) { return sum(x); }, ones_);
  EXPECT_EQ(total.dtype(), GetParam());
  EXPECT_EQ(valuesOf(total)[0], valuesOf(cast(scalar(5000.0f), GetParam()))[0]);
  EXPECT_EQ(valuesOf(both([](const Tensor &x) { return mean(x); }, large))[0], 60) << "its sum is beyond float16";
  std::mt19937 random(6);
  const Tensor a = cast(randomTensor(random, {33, 257}), GetParam()),
               b = cast(randomTensor(random, {257, 19}), GetParam());
  auto product = [](const Tensor &x, const Tensor &y) { return matmul(x, y); };
  const std::vector<double> exact = valuesOf(matmul(cast(a, DType::Float32), cast(b, DType::Float32)));
  const double epsilon = GetParam() == DType::Float16 ? 0x1p-10 : 0x1p-7;
  // Rounded once, from a sum in any order: eager calls may add up in another one than compiled code.
  for (const Tensor &found : {product(a, b), function(product)(a, b)})
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_NEAR(valuesOf(found)[i], exact[i], 0.51 * epsilon * std::fabs(exact[i]) + 1e-6);
}

// The iterations of a small loop are kept on a stack.
TEST_P(Halves, HaveGradientsOfSmallLoops) {
  auto f = [](const Tensor &x, const Tensor &n) {
    return grad(
        [&](const Tensor &x) { return for_range(0, n, x, [](const Tensor &, const Tensor &x) { return x * x; }); })(x);
  };
  const Tensor x = cast(scalar(1.5f), GetParam()), n = scalar<std::int64_t>(2);
  EXPECT_EQ(valuesOf(both(f, x, n)), (std::vector<double>{13.5}));
}

TEST_P(Halves, HaveGradients) {
  std::mt19937 random(8);
  const Tensor x = cast(randomTensor(random, {4, 6}, 0.5, 2), GetParam()),
               w = cast(randomTensor(random, {6, 3}), GetParam());
  auto loss = [](const Tensor &a, const Tensor &b) { return mean(square(tanh(matmul(a, b)) + log(a[0][0]))); };
  const GradOptions all{.argnums = {0, 1}};
  const std::vector<Tensor> found = both(grad(loss, all), x, w),
                            exact = grad(loss, all)(cast(x, DType::Float32), cast(w, DType::Float32));
  const double unit = GetParam() == DType::Float16 ? 0x1p-9 : 0x1p-6;
  for (std::size_t k : {0, 1}) {
    EXPECT_EQ(found[k].dtype(), GetParam());
    for (std::size_t i = 0; i < valuesOf(found[k]).size(); ++i)
      EXPECT_NEAR(valuesOf(found[k])[i], valuesOf(exact[k])[i], 4 * unit);
  }
  const Tensor tangent = jvp([](const Tensor &a) { return exp(a); }, x, ones(x.shape(), GetParam())).second;
  EXPECT_EQ(tangent.dtype(), GetParam());
  const Tensor rowsOf = vmap([](const Tensor &row) { return sum(row * row); })(x);
  EXPECT_EQ(rowsOf.dtype(), GetParam());
}

TEST(HalvesAsText, PrintWithTheFewestDigits) {
  auto textOf = [](const Tensor &x) {
    std::ostringstream text;
    text << x;
    return text.str();
  };
  // numpy.array([...], numpy.float16) of NumPy 2.1.
  EXPECT_EQ(textOf(tensor<float16>({float16(0.1), float16(1.5), float16(100.0)})), "[  0.1   1.5 100. ]");
  EXPECT_EQ(textOf(tensor<float16>({float16(0.1)})[0]), "0.1");
  EXPECT_EQ(textOf(tensor<float16>({float16(65504.0)})), "[6.55e+04]");
  EXPECT_EQ(textOf(tensor<std::uint8_t>({200, 7})), "[200   7]");
  EXPECT_EQ(textOf(tensor<std::uint64_t>({18446744073709551615ULL})), "[18446744073709551615]");
}

} // namespace
} // namespace calque::testing
