// Paths that no call takes, or that lack what others have.
#include "calque/training.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <cmath>
#include <memory>

using namespace calque;
using namespace calque::testing;

namespace {
void expectNear(const Tensor &x, const std::vector<double> &expected) {
  std::vector<double> values = valuesOf(x);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << "element " << i;
}
} // namespace

// A lambda that takes a gradient for granted must not meet a path without it.
TEST(NativePaths, WithoutIterationsHaveGradientsOfZero) {
  Variable w(tensor<double>({0.5, 2}), {.name = "w"});
  std::vector<Variable> ws = {w};
  auto rnn = [&](const Tensor &xs) {
    GradientTape tape;
    Tensor h = zeros({2}, DType::Float64), loss = scalar<double>(0.0);
    for (Tensor x : xs) {
      h = tanh(h * w.value() + x);
      loss = loss + sum(square(h));
    }
    return *tape.gradient(loss, ws)[0] * 1.0;
  };
  auto known = function(rnn), open = function(rnn, {.input_signature = {TensorSpec<double>({kDynamic, 2})}});
  for (std::int64_t rows : {0, 1, 4}) {
    Tensor xs = full({rows, 2}, 0.25, DType::Float64);
    if (rows > 0)
      expectNear(known(xs), valuesOf(rnn(xs)));
    expectNear(open(xs), rows == 0 ? std::vector<double>{0, 0} : valuesOf(rnn(xs)));
  }
  auto loop = [&](const Tensor &n) {
    GradientTape tape;
    Tensor i = scalar(0), y = scalar<double>(1.0);
    while (i < n) {
      y = y * sum(w.value());
      i = i + 1;
    }
    return *tape.gradient(y, ws)[0] * 1.0;
  };
  auto compiled = function(loop);
  expectNear(compiled(scalar(0)), {0, 0});
  for (int n : {1, 3})
    expectNear(compiled(scalar(n)), valuesOf(loop(scalar(n))));
  // Where `break` leaves, the first way through is another one.
  auto broken = [&](const Tensor &n) {
    GradientTape tape;
    Tensor i = scalar(0), y = scalar<double>(1.0);
    while (true) {
      if (i >= n)
        break;
      y = y * sum(w.value());
      i = i + 1;
    }
    return *tape.gradient(y, ws)[0] * 1.0;
  };
  auto left = function(broken);
  expectNear(left(scalar(0)), {0, 0});
  expectNear(left(scalar(3)), valuesOf(broken(scalar(3))));
}

TEST(NativePaths, TrainByWhatLossesOfTheirIterationsAddUpTo) {
  Variable eager(tensor<double>({0.5, 2})), compiled(tensor<double>({0.5, 2}));
  auto stepOf = [](Variable w) {
    return [w, sgd = std::make_shared<optimizers::SGD>(0.1)](const Tensor &xs) mutable {
      GradientTape tape;
      Tensor h = zeros({2}, DType::Float64), loss = scalar<double>(0.0);
      for (Tensor x : xs) {
        h = tanh(h * w.value() + x);
        loss = loss + sum(square(h));
      }
      std::vector<Variable> ws = {w};
      sgd->apply_gradients(tape.gradient(loss, ws), ws);
      return loss;
    };
  };
  auto step = stepOf(eager);
  auto traced = function(stepOf(compiled));
  for (int i = 0; i < 3; ++i) {
    Tensor xs = full({3, 2}, 0.25 * (i + 1), DType::Float64);
    step(xs);
    traced(xs);
  }
  expectNear(compiled.value(), valuesOf(eager.value()));
}

// A source that no path connects has no gradient on any.
TEST(NativePaths, LackGradientsThatNoneOfThemHas) {
  Variable w(scalar<double>(2.0)), unused(scalar<double>(3.0));
  auto f = function([&](const Tensor &x) {
    GradientTape tape({.persistent = true});
    Tensor y = w.value() * x;
    if (x > 0)
      y = y * x;
    auto by = tape.gradient(y, unused);
    return tape.gradient(y, w).value() + (by ? 1000 : 0);
  });
  EXPECT_EQ(f(scalar<double>(3.0)).item<double>(), 9);
  EXPECT_EQ(f(scalar<double>(-3.0)).item<double>(), -3);
}

TEST(NativePaths, BeginLoopsOfKnownRowsByTheFirst) {
  auto last = [](const Tensor &x) {
    Tensor row;
    for (Tensor each : x)
      row = each;
    return row;
  };
  Tensor x = tensor<double>({1, 2, 3, 4, 5, 6}, {3, 2});
  expectNear(function(last)(x), {5, 6});
  expectNear(function(last)(slice(x, {0, 0}, {1, 2})), {1, 2});
  EXPECT_CONTAINS(errorOf<StateError>([&] { function(last)(zeros({0, 2})); }), "never given a value");
  auto collected = function([](const Tensor &) {
    Tensor total;
    for (Tensor i : range(2, 9, 3))
      total = total.defined() ? total * 10 + i : i;
    return total;
  });
  EXPECT_EQ(collected(x).item<std::int64_t>(), 258);
  auto none = function([](const Tensor &given) {
    Tensor y = given;
    for (Tensor i : range(4, 4))
      y = y + i;
    return y;
  });
  EXPECT_EQ(none(scalar(7)).item<int>(), 7);
}
