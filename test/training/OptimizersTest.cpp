#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

const std::vector<double> start = {1, -2, 0.5};
// The gradient of sum((x - target)^2 * weight), which a rule is followed along in plain doubles.
const std::vector<double> target = {0.25, 1, -3}, weight = {1, 0.5, 2};
double gradientAt(std::size_t i, double x) { return 2 * (x - target[i]) * weight[i]; }

// Runs steps of an optimiser eagerly and compiled and compares each with `next`, which changes one element; `state` is
// its own.
template <typename Next>
void expectSteps(const std::function<std::unique_ptr<optimizers::Optimizer>()> &make, Next next) {
  for (DType dtype : {DType::Float64, DType::Float32})
    for (bool compile : {false, true}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + (compile ? " compiled" : " eager"));
      std::unique_ptr<optimizers::Optimizer> optimizer = make();
      Variable x(calque::testing::makeTensor(dtype, start, {3}), {.name = "x"});
      Tensor goal = calque::testing::makeTensor(dtype, target, {3}),
             scale = calque::testing::makeTensor(dtype, weight, {3});
      std::vector<Variable> variables = {x};
      auto step = function([&](int) {
        GradientTape tape;
        Tensor loss = sum(square(x - goal) * scale);
        optimizer->apply_gradients(tape.gradient(loss, variables), variables);
        return loss;
      });
      std::vector<double> expected = start;
      std::vector<std::array<double, 2>> state(3, {0, 0});
      for (int t = 1; t <= 6; ++t) {
        compile ? step(0) : step.eager(0);
        for (std::size_t i = 0; i < 3; ++i)
          expected[i] = next(expected[i], gradientAt(i, expected[i]), state[i], t);
        expectNear(x.value(), expected, dtype == DType::Float64 ? 1e-12 : 1e-5);
      }
      EXPECT_EQ(optimizer->iterations().value().item<std::int64_t>(), 6);
    }
}

} // namespace

TEST(SGD, FollowsTheGradient) {
  expectSteps([] { return std::make_unique<optimizers::SGD>(0.1); },
              [](double x, double g, std::array<double, 2> &, int) { return x - 0.1 * g; });
}

TEST(SGD, GathersMomentum) {
  expectSteps([] { return std::make_unique<optimizers::SGD>(0.05, optimizers::SGDOptions{.momentum = 0.9}); },
              [](double x, double g, std::array<double, 2> &state, int) {
                state[0] = 0.9 * state[0] - 0.05 * g;
                return x + state[0];
              });
}

TEST(SGD, LooksAheadByNesterov) {
  expectSteps(
      [] { return std::make_unique<optimizers::SGD>(0.05, optimizers::SGDOptions{.momentum = 0.9, .nesterov = true}); },
      [](double x, double g, std::array<double, 2> &state, int) {
        state[0] = 0.9 * state[0] - 0.05 * g;
        return x + 0.9 * state[0] - 0.05 * g;
      });
}

TEST(Adam, IsThePapersWithEpsilonHat) {
  expectSteps(
      [] {
        return std::make_unique<optimizers::Adam>(
            0.1, optimizers::AdamOptions{.beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 1e-3});
      },
      [](double x, double g, std::array<double, 2> &state, int t) {
        state[0] = 0.8 * state[0] + 0.2 * g;
        state[1] = 0.95 * state[1] + 0.05 * g * g;
        double rate = 0.1 * std::sqrt(1 - std::pow(0.95, t)) / (1 - std::pow(0.8, t));
        return x - rate * state[0] / (std::sqrt(state[1]) + 1e-3);
      });
}

TEST(Adam, ItsFirstStepIsTheRate) {
  optimizers::Adam adam;
  Variable x(tensor<double>({1, 1}));
  adam.apply_gradients({tensor<double>({1e3, -1e3})}, {x});
  expectNear(x.value(), {1 - 1e-3, 1 + 1e-3}, 1e-9);
}

TEST(Optimizer, LeavesVariablesWithoutAGradientAlone) {
  optimizers::Adam adam(0.5);
  Variable a(ones({2})), b(ones({3}));
  adam.apply_gradients({std::nullopt, ones({3})}, {a, b});
  expectValues(a.value(), {1, 1});
  EXPECT_LT(b.value().to_vector<float>()[0], 1);
  // The rate, the number of steps, and two slots of b.
  EXPECT_EQ(adam.variables().size(), 4u);
  adam.apply_gradients({ones({2}), std::nullopt}, {a, b});
  EXPECT_EQ(adam.variables().size(), 6u);
  EXPECT_TRUE(adam.trainable_variables().empty());
}

TEST(Optimizer, TheLearningRateStaysLive) {
  optimizers::SGD sgd(1);
  Variable x(10.0f);
  auto step = function([&](const Tensor &g) { sgd.apply_gradients({g}, {x}); });
  step(scalar(1.0f));
  EXPECT_EQ(x.value().item<float>(), 9);
  sgd.learning_rate().assign(0.5);
  step(scalar(1.0f));
  EXPECT_EQ(x.value().item<float>(), 8.5);
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(Optimizer, ServesTwoFunctions) {
  optimizers::Adam adam;
  Variable x(1.0f);
  auto first = function([&](const Tensor &g) { adam.apply_gradients({g}, {x}); });
  auto second = function([&](const Tensor &g) { adam.apply_gradients({g * 2}, {x}); });
  first(scalar(1.0f));
  second(scalar(1.0f));
  EXPECT_EQ(adam.iterations().value().item<std::int64_t>(), 2);
  EXPECT_EQ(adam.variables().size(), 4u);
}

TEST(Optimizer, MakesItsSlotsInAFirstTraceOnly) {
  optimizers::Adam adam;
  Variable a(ones({2})), b(ones({3}));
  auto step = function([&](const Tensor &g) { adam.apply_gradients({g}, {g.shape()[0] == 2 ? a : b}); });
  step(ones({2}));
  EXPECT_CONTAINS(errorOf<StateError>([&] { step(ones({3})); }), "'adam/1/momentum' is made in a later trace");
}

TEST(Optimizer, MisuseNamesTheLine) {
  optimizers::SGD sgd;
  Variable x(ones({2}), {.name = "x"}), n(tensor<int>({1, 2}), {.name = "n"});
  EXPECT_MISUSE(ValueError, sgd.apply_gradients({ones({2})}, {}),
                "sgd: the number of gradients is 1, and that of variables 0");
  EXPECT_MISUSE(ValueError, sgd.apply_gradients({std::nullopt}, {x}), "sgd: no variable has a gradient");
  EXPECT_MISUSE(ValueError, sgd.apply_gradients({ones({2}), ones({2})}, {x, x}), "'x', is given twice");
  EXPECT_MISUSE(ShapeError, sgd.apply_gradients({ones({3})}, {x}), "'x', is float32[2] and its gradient float32[3]");
  EXPECT_MISUSE(DTypeError, sgd.apply_gradients({ones({2}, DType::Float64)}, {x}),
                "is float32[2] and its gradient float64[2]");
  EXPECT_MISUSE(DTypeError, sgd.apply_gradients({n.value()}, {n}), "'n', is int32[2]");
  EXPECT_MISUSE(ValueError, optimizers::SGD(-1), "sgd: the learning rate is finite and not below 0, unlike -1");
  EXPECT_MISUSE(ValueError, optimizers::SGD(0.1, {.momentum = 1}), "the momentum is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, optimizers::SGD(0.1, {.nesterov = true}), "nesterov looks ahead");
  EXPECT_MISUSE(ValueError, optimizers::Adam(0.1, {.beta_2 = 1}), "the betas are in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, optimizers::Adam(0.1, {.epsilon = -1}), "epsilon is not below 0");
  expectValues(x.value(), {1, 1});
}

TEST(Optimizer, RefusesAVariableThatIsAnArgument) {
  optimizers::SGD sgd(0.1, {.momentum = 0.5});
  auto step = function([&](Variable &v) { sgd.apply_gradients({ones({2})}, {v}); });
  Variable x(ones({2}), {.name = "x"});
  EXPECT_CONTAINS(errorOf<StateError>([&] { step(x); }), "'x', is an argument of the function being traced");
}
