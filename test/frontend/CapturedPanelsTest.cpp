// Products with matrices that a lambda captures, which are laid out in panels once, against those with arguments.
#include "Misuse.h"
#include "calque/debug.h"
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

namespace {

Tensor matrix(Shape shape, DType dtype = DType::Float32, unsigned seed = 7) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> some(-8, 8); // integers sum up exactly
  std::vector<double> values(static_cast<std::size_t>(sizeOf(shape)));
  for (double &value : values)
    value = some(random) * (is_floating(dtype) ? 0.37 : 1);
  return makeTensor(dtype, values, shape);
}

// The order in which terms are added differs between the two.
void expectClose(const Tensor &found, const Tensor &expected) {
  ASSERT_EQ(found.dtype(), expected.dtype());
  ASSERT_EQ(found.shape(), expected.shape());
  std::vector<double> x = valuesOf(found), y = valuesOf(expected);
  double most = 0, eps = is_floating(found.dtype()) ? found.dtype() == DType::Float64 ? 1e-14 : 1e-5 : 0;
  for (double value : y)
    most = std::max(most, std::fabs(value));
  for (std::size_t i = 0; i < x.size() && !::testing::Test::HasFailure(); ++i)
    EXPECT_NEAR(x[i], y[i], eps * most) << "element " << i;
}

template <typename F> void expectAsWithArguments(F body, const Tensor &x, const Tensor &w) {
  expectClose(function([=](const Tensor &a) { return body(a, w); })(x), function(body)(x, w));
}

Tensor dense(const Tensor &x, const Tensor &w) { return tanh(matmul(x, w) * 0.1) + 1; }
Tensor turned(const Tensor &x, const Tensor &w) { return matmul(x, w, {.transpose_b = true}); }

} // namespace

TEST(CapturedPanels, GiveWhatArgumentsGive) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64})
    for (std::int64_t rows : {1, 3, 4, 33})
      for (auto [terms, columns] : {std::pair<std::int64_t, std::int64_t>{64, 64}, {129, 96}, {300, 32}, {65, 100}}) {
        Tensor x = matrix({rows, terms}, dtype, 3);
        expectAsWithArguments([](const Tensor &a, const Tensor &w) { return matmul(a, w); }, x,
                              matrix({terms, columns}, dtype));
        expectAsWithArguments(turned, x, matrix({columns, terms}, dtype));
      }
  expectAsWithArguments(dense, matrix({2, 3, 5, 129}), matrix({129, 64}));
  expectAsWithArguments(dense, matrix({0, 129}), matrix({129, 64}));
  // Other products are left as they are.
  expectAsWithArguments([](const Tensor &a, const Tensor &w) { return matmul(w, a); }, matrix({129, 64}),
                        matrix({64, 129}));
  expectAsWithArguments([](const Tensor &a, const Tensor &w) { return matmul(a, w); }, matrix({2, 8, 65}),
                        matrix({2, 65, 64}));
  expectAsWithArguments([](const Tensor &a, const Tensor &w) { return contract(a, w, {}, {}, {1, 2}, {0, 1}); },
                        matrix({8, 64, 5}), matrix({64, 5, 64}));
}

// The trace is as it was; the code takes panels of 32 columns, or columns where there is a rest.
TEST(CapturedPanels, AreWhatCodeIsMadeFor) {
  Tensor w = matrix({64, 96}), v = matrix({100, 96}), x = matrix({9, 64});
  auto f = function([=](const Tensor &x) { return turned(matmul(x, w), v); });
  auto has = [&](const char *stage, const char *type) { return f.ir(stage, x).find(type) != std::string::npos; };
  EXPECT_TRUE(has("traced", "tensor<64x96xf32>") && has("traced", "tensor<100x96xf32>"));
  EXPECT_TRUE(has("linalg", "tensor<3x64x32xf32>") && has("linalg", "tensor<96x100xf32>"));
  EXPECT_FALSE(has("linalg", "tensor<64x96xf32>") || has("linalg", "tensor<100x96xf32>"));
}

TEST(CapturedPanels, OfOpenSizes) {
  Tensor w = matrix({96, 128}), v = matrix({64, 128});
  auto f = function([=](const Tensor &x) { return turned(tanh(matmul(x, w)), v); },
                    {.input_signature = {TensorSpec<float>({kDynamic, 96})}});
  for (std::int64_t rows : {0, 1, 5, 200}) {
    Tensor x = matrix({rows, 96}, DType::Float32, 5);
    expectClose(f(x), turned(tanh(matmul(x, w)), v));
  }
}

// One matrix in both directions, beside what needs it as it is, and as a result.
TEST(CapturedPanels, OfOneMatrixInSeveralPlaces) {
  Tensor w = matrix({128, 96}), x = matrix({20, 128}), y = matrix({20, 96});
  auto body = [](const Tensor &x, const Tensor &y, const Tensor &w) {
    return std::vector<Tensor>{matmul(x, w), turned(y, w), matmul(x, w) * 2, w + 1, w, matmul(w, transpose(y))};
  };
  auto f = function([=](const Tensor &x, const Tensor &y) { return body(x, y, w); });
  for (int call = 0; call < 2; ++call) {
    std::vector<Tensor> found = f(x, y), expected = body(x, y, w);
    for (std::size_t i = 0; i < found.size(); ++i)
      expectClose(found[i], expected[i]);
    expectSameBits(found[4], w);
  }
}

// A tape around a call sees the matrices, and transforms take the function as it was traced.
TEST(CapturedPanels, HaveDerivatives) {
  Tensor w = matrix({64, 96}, DType::Float64), x = matrix({9, 64}, DType::Float64, 4);
  auto f = function([=](const Tensor &x) { return dense(x, w); });
  std::vector<Tensor> gradients[2];
  for (int captured : {0, 1}) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    Tensor y = captured ? f(x) : dense(x, w);
    for (const auto &each : tape.gradient(sum(y * y), std::vector<Tensor>{x, w}))
      gradients[captured].push_back(*each);
  }
  for (int i : {0, 1})
    expectClose(gradients[1][i], gradients[0][i]);
  auto loss = [=](const Tensor &x) { return sum(square(dense(x, w))); };
  expectClose(grad(f)(x), grad([&](const Tensor &x) { return dense(x, w); })(x));
  expectClose(function(grad(loss))(x), gradients[0][0]);
  expectClose(jvp(f, x, x * 0.5).second, jvp([&](const Tensor &x) { return dense(x, w); }, x, x * 0.5).second);
  Tensor many = stack({x, x * 2});
  expectClose(vmap(f)(many), stack({dense(x, w), dense(x * 2, w)}));
  expectClose(
      function([=](const Tensor &all) { return vmap([=](const Tensor &one) { return dense(one, w); })(all); })(many),
      stack({dense(x, w), dense(x * 2, w)}));
}

// A failure behind such a product names its own operation and line.
TEST(CapturedPanels, KeepLines) {
  Tensor w = matrix({64, 96}), x = matrix({9, 64});
  auto f = function([=](const Tensor &x, const Tensor &i) {
    Tensor y = matmul(x, w);
    Tensor z = matmul(x, w * 2);
    return gather(y + z, i);
  });
  const int line = __LINE__ - 2;
  expectClose(f(x, tensor<std::int64_t>({8})), gather(matmul(x, w) * 3, tensor<std::int64_t>({8})));
  std::string error;
  try {
    f(x, tensor<std::int64_t>({9}));
  } catch (const IndexError &e) {
    error = e.what();
  }
  EXPECT_NE(error.find("gather: index 9 "), std::string::npos) << error;
  EXPECT_NE(error.find("CapturedPanelsTest.cpp:" + std::to_string(line)), std::string::npos) << error;
}

TEST(CapturedPanels, WithVariablesAndChecks) {
  Tensor w = matrix({64, 96}), x = matrix({9, 64});
  Variable count(scalar(0.f)), bias(matrix({96}, DType::Float32, 9));
  auto f = function([=](const Tensor &x) mutable {
    count.assign_add(1);
    bias.assign(bias * 0.5);
    return matmul(x, w) + bias;
  });
  for (int call = 1; call <= 3; ++call) {
    Tensor half = bias * 0.5;
    expectClose(f(x), matmul(x, w) + half);
    EXPECT_EQ(count.value().item<float>(), static_cast<float>(call));
  }
  debug::enable_check_numerics(true);
  Tensor half = bias * 0.5, checked = f(x);
  debug::enable_check_numerics(false);
  expectClose(checked, matmul(x, w) + half);
}

TEST(CapturedPanels, AreOneOnEachNumberOfThreads) {
  Tensor w = matrix({500, 640}), x = matrix({100, 500});
  auto f = function([=](const Tensor &x) { return matmul(x, w); });
  set_num_threads(1);
  Tensor one = f(x);
  for (int threads : {2, 3, 7}) {
    set_num_threads(threads);
    expectSameBits(f(x), one);
  }
  set_num_threads(0);
}
