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
template <typename Next> void expectSteps(const std::function<optimizers::Optimizer()> &make, Next next) {
  for (DType dtype : {DType::Float64, DType::Float32})
    for (bool compile : {false, true}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + (compile ? " compiled" : " eager"));
      optimizers::Optimizer optimizer = make();
      Variable x(calque::testing::makeTensor(dtype, start, {3}), {.name = "x"});
      Tensor goal = calque::testing::makeTensor(dtype, target, {3}),
             scale = calque::testing::makeTensor(dtype, weight, {3});
      std::vector<Variable> variables = {x};
      auto step = function([&](int) {
        GradientTape tape;
        Tensor loss = sum(square(x - goal) * scale);
        optimizer.apply_gradients(tape.gradient(loss, variables), variables);
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
      EXPECT_EQ(optimizer.iterations().value().item<std::int64_t>(), 6);
    }
}

} // namespace

TEST(SGD, FollowsTheGradient) {
  expectSteps([] { return optimizers::SGD(0.1); },
              [](double x, double g, std::array<double, 2> &, int) { return x - 0.1 * g; });
}

TEST(SGD, GathersMomentum) {
  expectSteps([] { return optimizers::SGD(0.05, optimizers::SGDOptions{.momentum = 0.9}); },
              [](double x, double g, std::array<double, 2> &state, int) {
                state[0] = 0.9 * state[0] - 0.05 * g;
                return x + state[0];
              });
}

TEST(SGD, LooksAheadByNesterov) {
  expectSteps([] { return optimizers::SGD(0.05, optimizers::SGDOptions{.momentum = 0.9, .nesterov = true}); },
              [](double x, double g, std::array<double, 2> &state, int) {
                state[0] = 0.9 * state[0] - 0.05 * g;
                return x + 0.9 * state[0] - 0.05 * g;
              });
}

TEST(Adam, IsThePapersWithEpsilonHat) {
  expectSteps(
      [] { return optimizers::Adam(0.1, optimizers::AdamOptions{.beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 1e-3}); },
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

TEST(Optimizer, TakesARateOfAnyType) {
  optimizers::SGD sgd(1);
  auto rate = [&] { return sgd.learning_rate().item<double>(); };
  sgd.set_learning_rate(0.25);
  EXPECT_EQ(rate(), 0.25);
  sgd.set_learning_rate(scalar(0.5f));
  EXPECT_EQ(rate(), 0.5);
  sgd.set_learning_rate(Variable(scalar<double>(0.125)));
  EXPECT_EQ(rate(), 0.125);
  function([&](const Tensor &x) { sgd.set_learning_rate(x * 2); })(1.5);
  EXPECT_EQ(rate(), 3);
  EXPECT_MISUSE(DTypeError, sgd.set_learning_rate(scalar(1)),
                "sgd: a learning rate is a floating-point scalar, not int32[]");
  EXPECT_MISUSE(ShapeError, sgd.set_learning_rate(ones({2})), "can't be assigned float64[2]");
  optimizers::SGD scheduled(schedules::ExponentialDecay(0.1, 10, 0.5));
  EXPECT_MISUSE(StateError, scheduled.set_learning_rate(0.5),
                "sgd: the learning rate follows a schedule, and can't be set");
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
  EXPECT_CONTAINS(errorOf<StateError>([&] { step(ones({3})); }), "'momentum/Variable_1' is made in a later trace");
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
  EXPECT_MISUSE(ValueError, optimizers::SGD(0.1, {.momentum = 1}), "sgd: momentum is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, optimizers::SGD(0.1, {.nesterov = true}), "nesterov looks ahead");
  EXPECT_MISUSE(ValueError, optimizers::Adam(0.1, {.beta_2 = 1}), "adam: beta_2 is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, optimizers::Adam(0.1, {.epsilon = -1}), "adam: epsilon is at least 0, unlike -1");
  expectValues(x.value(), {1, 1});
}

TEST(Optimizer, RefusesAVariableThatIsAnArgument) {
  optimizers::SGD sgd(0.1, {.momentum = 0.5});
  auto step = function([&](Variable &v) { sgd.apply_gradients({ones({2})}, {v}); });
  Variable x(ones({2}), {.name = "x"});
  EXPECT_CONTAINS(errorOf<StateError>([&] { step(x); }), "'x', is an argument of the function being traced");
}

TEST(Optimizer, RefusesComplexVariables) {
  optimizers::SGD sgd(0.1);
  Variable z(ones({2}, DType::Complex64), {.name = "z"});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { sgd.apply_gradients({ones({2}, DType::Complex64)}, {z}); }),
                  "and optimizers change real numbers; train its real and its imaginary part");
}

TEST(Optimizer, KeepsItsSlotsUnderTheVariablesNames) {
  optimizers::Adam adam;
  Variable kernel(ones({2, 3}), {.name = "dense/kernel"}), other(ones({2}), {.name = "dense/kernel"});
  adam.build({kernel});
  adam.build({{"head/dense/kernel", other}});
  std::vector<std::string> names;
  for (const auto &[name, variable] : adam.named_variables()) {
    names.push_back(name);
    if (name.find('/') != std::string::npos) {
      EXPECT_EQ(variable.name(), name);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"iterations", "learning_rate", "momentum/dense/kernel",
                                             "momentum/head/dense/kernel", "velocity/dense/kernel",
                                             "velocity/head/dense/kernel"}));
  optimizers::Adam same;
  same.build({kernel, other}); // names that are equal
  EXPECT_EQ(same.named_variables()[3].first, "momentum/dense/kernel_1");
}

TEST(Optimizer, HasANameAndHyperparameters) {
  EXPECT_EQ(optimizers::Optimizer("adam").str(), "adam(learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07)");
  EXPECT_EQ(optimizers::Optimizer("SGD").str(), "sgd(learning_rate=0.01, momentum=0)");
  EXPECT_EQ(optimizers::SGD(schedules::CosineDecay(0.1, 5), {}, {.name = "mine"}).str(),
            "mine(learning_rate=schedule, momentum=0)");
  for (const char *name : {"rmsprop", "adagrad", "adadelta", "adamw", "adamax", "nadam", "lion", "ftrl"})
    EXPECT_EQ(optimizers::Optimizer(name).name(), name);
  EXPECT_MISUSE(LookupError, optimizers::Optimizer("adams"),
                "optimizers: no optimizer has the name 'adams'; there are ");
}

// lr / (1 + decay * iterations), the iterations from 0 on.
TEST(Optimizer, DecaysTheRateAsOlderOnesDid) {
  optimizers::SGD sgd(1e-3, {}, {.decay = 1e-3});
  Variable x(0.0);
  std::vector<double> rates = {1e-3, 9.99001e-4, 9.98004e-4};
  double before = 0;
  Variable w(scalar<double>(0.0));
  for (double rate : rates) {
    sgd.apply_gradients({scalar<double>(1.0)}, {w});
    EXPECT_NEAR(before - w.value().item<double>(), rate, 1e-9);
    before = w.value().item<double>();
  }
}

TEST(Optimizer, LeavesOutOfWeightDecayWhatItIsTold) {
  optimizers::SGD sgd(1, {}, {.weight_decay = 0.5});
  Variable a(ones({2}), {.name = "kernel"}), b(ones({2}), {.name = "dense/bias"}), c(ones({2}), {.name = "gamma"});
  sgd.exclude_from_weight_decay({c}, {"bias"});
  sgd.apply_gradients({zeros({2}), zeros({2}), zeros({2})}, {a, b, c});
  expectValues(a.value(), {0.5, 0.5});
  expectValues(b.value(), {1, 1});
  expectValues(c.value(), {1, 1});
}

TEST(Optimizer, FinalizesByTheAverages) {
  optimizers::SGD sgd(1, {}, {.use_ema = true, .ema_momentum = 0.5});
  Variable x(scalar(10.0f));
  sgd.apply_gradients({scalar(2.0f)}, {x}); // 8, the average 8
  sgd.apply_gradients({scalar(2.0f)}, {x}); // 6, the average 7
  EXPECT_EQ(x.value().item<float>(), 6);
  sgd.finalize_variable_values({x});
  EXPECT_EQ(x.value().item<float>(), 7);
}

TEST(Optimizer, RefusesOptionsOutOfRange) {
  using namespace optimizers;
  EXPECT_MISUSE(ValueError, SGD(0.1, {}, {.clipnorm = 1, .clipvalue = 1}),
                "sgd: clips in one way, and clipvalue would be a second");
  EXPECT_MISUSE(ValueError, SGD(schedules::CosineDecay(0.1, 5), {}, {.decay = 0.1}),
                "sgd: the rate has a schedule, so it takes no decay");
  EXPECT_MISUSE(ValueError, Ftrl(0.1, {.learning_rate_power = 1}), "ftrl: learning_rate_power is at most 0, unlike 1");
  EXPECT_MISUSE(ValueError, schedules::ExponentialDecay(0.1, 0, 0.9),
                "exponential_decay: the number of steps is above 0, unlike 0");
  EXPECT_MISUSE(ValueError, schedules::PiecewiseConstantDecay({1}, {0.1}),
                "piecewise_constant_decay: there is one value more than boundaries, unlike 1 values and 1 boundaries");
}
