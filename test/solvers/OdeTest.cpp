#include "Testing.h"
#include "calque/saved_functions.h"

#include <cmath>
#include <cstdio>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

namespace {

using Pair = std::pair<Tensor, Tensor>;
struct Body2 {
  Tensor position, velocity;
};

const std::vector<OdeMethod> kAdaptive = {OdeMethod::BogackiShampine3, OdeMethod::DormandPrince5, OdeMethod::Tsitouras5,
                                          OdeMethod::DormandPrince8,   OdeMethod::Rodas5P,        OdeMethod::Bdf};

// y' = -y^2 sin t, whose solution is 1 / (1 / y0 + 1 - cos t).
Tensor bent(const Tensor &t, const Tensor &y) { return -(y * y) * sin(t); }
double bentAt(double t, double y0) { return 1 / (1 / y0 + 1 - std::cos(t)); }

Tensor timesTo(double end, int n) {
  std::vector<double> times;
  for (int i = 0; i < n; ++i)
    times.push_back(end * i / (n - 1));
  return tensor(times);
}

// The last state of a solution of `steps` equal steps, and how its error shrinks when there are twice as many.
double orderOf(OdeMethod method, std::int64_t steps) {
  double errors[2];
  for (int i : {0, 1}) {
    const Tensor y =
        odeint(bent, scalar<double>(1.0), tensor<double>({0, 2}), {.method = method, .steps = steps << i}).y;
    errors[i] = std::fabs(y[1].item<double>() - bentAt(2, 1));
  }
  return std::log2(errors[0] / errors[1]);
}

} // namespace

TEST(Odeint, MethodsOfAGivenStepHaveTheirOrders) {
  EXPECT_NEAR(orderOf(OdeMethod::Euler, 200), 1, 0.05);
  EXPECT_NEAR(orderOf(OdeMethod::Midpoint, 100), 2, 0.05);
  EXPECT_NEAR(orderOf(OdeMethod::RungeKutta4, 80), 4, 0.1);
}

// Steps of a given size by the options of adaptive methods: all are accepted.
TEST(Odeint, AdaptiveMethodsHaveTheirOrders) {
  for (auto [method, order, step] : {std::tuple(OdeMethod::BogackiShampine3, 3, 0.03125),
                                     {OdeMethod::DormandPrince5, 5, 0.0625},
                                     {OdeMethod::Tsitouras5, 5, 0.0625},
                                     {OdeMethod::DormandPrince8, 8, 0.25},
                                     {OdeMethod::Rodas5P, 5, 0.0625}}) {
    double errors[2];
    for (int i : {0, 1}) {
      const double h = i ? step / 2 : step;
      const auto found = odeint(bent, scalar<double>(1), tensor<double>({0, 2}),
                                {.method = method, .rtol = 1e6, .first_step = h, .max_step = h});
      EXPECT_EQ(found.statistics.accepted.item<std::int64_t>(), static_cast<std::int64_t>(2 / h));
      errors[i] = std::fabs(found.y[1].item<double>() - bentAt(2, 1));
    }
    const double found = std::log2(errors[0] / errors[1]);
    EXPECT_TRUE(found > order - 0.5 && found < order + 1) << static_cast<int>(method) << ": " << found;
  }
}

TEST(Odeint, StepsBetweenTimesAreEqual) {
  // Two steps of Euler for y' = y over [0, 1] and three over [1, 4]: (1 + 1/2)^2, and that times (1 + 1)^... by hand.
  auto f = [](const Tensor &, const Tensor &y) { return y; };
  const Tensor y =
      odeint(f, tensor<double>({1, 2}), tensor<double>({0, 1, 4}), {.method = OdeMethod::Euler, .steps = 2}).y;
  expectNear(y, {1, 2, 2.25, 4.5, 2.25 * 6.25, 4.5 * 6.25}, 1e-15);
}

TEST(Odeint, AdaptiveMethodsMeetTheTolerance) {
  const Tensor y0 = tensor<double>({1, 0.5, 2}), times = timesTo(4, 5);
  for (OdeMethod method : kAdaptive) {
    SCOPED_TRACE(static_cast<int>(method));
    auto solve = [&](const Tensor &y, const Tensor &ts) {
      return odeint(bent, y, ts, {.method = method, .rtol = 1e-8, .atol = 1e-10}).y;
    };
    const Tensor y = eagerAndCompiled(solve, y0, times);
    std::vector<double> expected;
    for (double t : valuesOf(times))
      for (double first : valuesOf(y0))
        expected.push_back(bentAt(t, first));
    expectNear(y, expected, method == OdeMethod::BogackiShampine3 || method == OdeMethod::Bdf ? 2e-7 : 5e-8);
  }
}

TEST(Odeint, TimesWithinStepsDoNotChangeTheSteps) {
  const Tensor y0 = scalar<double>(1.0);
  for (OdeMethod method : kAdaptive) {
    SCOPED_TRACE(static_cast<int>(method));
    const OdeOptions options{.method = method, .rtol = 1e-7, .atol = 1e-9};
    const auto few = odeint(bent, y0, timesTo(4, 2), options), many = odeint(bent, y0, timesTo(4, 201), options);
    EXPECT_EQ(few.statistics.accepted.item<std::int64_t>(), many.statistics.accepted.item<std::int64_t>());
    EXPECT_EQ(few.y[1].item<double>(), many.y[-1].item<double>());
    const std::vector<double> values = valuesOf(many.y), times = valuesOf(timesTo(4, 201));
    for (std::size_t i = 0; i < times.size(); ++i)
      EXPECT_NEAR(values[i], bentAt(times[i], 1), 2e-6) << times[i];
  }
}

TEST(Odeint, Float32) {
  for (OdeMethod method : kAdaptive) {
    SCOPED_TRACE(static_cast<int>(method));
    auto solve = [&](const Tensor &y, const Tensor &ts) { return odeint(bent, y, ts, {.method = method}).y; };
    const Tensor y = eagerAndCompiled(solve, scalar(1.0f), tensor<float>({0, 1, 2, 3}));
    EXPECT_EQ(y.dtype(), DType::Float32);
    expectNear(y, {1, bentAt(1, 1), bentAt(2, 1), bentAt(3, 1)}, 5e-4);
  }
}

TEST(Odeint, BackwardInTime) {
  const double last = bentAt(3, 1);
  for (OdeMethod method : kAdaptive) {
    const Tensor y = odeint(bent, scalar<double>(last), tensor<double>({3, 2, 0.5, 0}),
                            {.method = method, .rtol = 1e-9, .atol = 1e-11})
                         .y;
    expectNear(y, {last, bentAt(2, 1), bentAt(0.5, 1), 1}, 1e-6);
  }
  expectNear(
      odeint(bent, scalar<double>(last), tensor<double>({3, 0}), {.method = OdeMethod::RungeKutta4, .steps = 100}).y,
      {last, 1}, 1e-7);
}

// The oscillator x'' = -x as a pair, as a struct and as a tensor with a shape.
TEST(Odeint, StructuresOfTensors) {
  const Tensor times = tensor<double>({0, 1, 2.5});
  auto solvePair = [&](const Tensor &x, const Tensor &v) {
    auto f = [](const Tensor &, const Pair &s) { return Pair(s.second, -s.first); };
    return odeint(f, Pair(x, v), times, {.rtol = 1e-9, .atol = 1e-11}).y;
  };
  const Tensor x = tensor<double>({{1}, {2}}), v = tensor<double>({{0}, {1}});
  const Pair y = eagerAndCompiled(solvePair, x, v);
  ASSERT_EQ(y.first.shape(), (Shape{3, 2, 1}));
  auto at = [](double t) { return std::vector{std::cos(t), 2 * std::cos(t) + std::sin(t)}; };
  for (int i = 0; i < 3; ++i)
    expectNear(y.first[i], at(times[i].item<double>()), 1e-8);
  auto g = [](const Tensor &, const Body2 &s) { return Body2{s.velocity, -s.position}; };
  const Body2 same = odeint(g, Body2{x, v}, times, {.rtol = 1e-9, .atol = 1e-11}).y;
  expectSameBits(same.position, y.first);
  expectSameBits(same.velocity, y.second);
}

TEST(Odeint, NumbersAndVariablesAreStates) {
  auto f = [](const Tensor &, const Tensor &y) { return -y; };
  expectNear(odeint(f, 1.0f, tensor<float>({0, 1})).y, {1, std::exp(-1)}, 1e-4);
  Variable y0(scalar<double>(2));
  expectNear(odeint(f, y0, tensor<double>({0, 1})).y, {2, 2 * std::exp(-1)}, 1e-6);
}

TEST(Odeint, UnknownNumberOfTimesAndOfElements) {
  auto solve = function([](const Tensor &y, const Tensor &ts) { return odeint(bent, y, ts, {.rtol = 1e-8}).y; },
                        {.input_signature = {TensorSpec<double>({kDynamic}), TensorSpec<double>({kDynamic})}});
  for (int n : {2, 3, 40}) {
    const Tensor y = solve(tensor<double>({1, 2}), timesTo(2, n));
    ASSERT_EQ(y.shape(), (Shape{n, 2}));
    expectNear(y[-1], {bentAt(2, 1), bentAt(2, 2)}, 1e-6);
  }
}

TEST(Odeint, ManyTimesOfALargeState) {
  // 40 elements are more than stay in registers, and 61 times of 40 elements are an array.
  const Tensor y0 = tensor(std::vector<double>(40, 0.75)), times = timesTo(3, 61);
  auto solve = [&](const Tensor &y) { return odeint(bent, y, times, {.rtol = 1e-8, .atol = 1e-10}).y; };
  const Tensor y = eagerAndCompiled(solve, y0);
  for (int i = 0; i < 61; ++i)
    EXPECT_NEAR(y[i][39].item<double>(), bentAt(valuesOf(times)[static_cast<std::size_t>(i)], 0.75), 1e-7);
}

TEST(Odeint, OptionsOfSteps) {
  const Tensor y0 = scalar<double>(1), times = tensor<double>({0, 4});
  const auto small = odeint(bent, y0, times, {.max_step = 0.01});
  EXPECT_GE(small.statistics.accepted.item<std::int64_t>(), 400);
  const auto begun = odeint(bent, y0, times, {.first_step = 1e-7});
  EXPECT_GT(begun.statistics.accepted.item<std::int64_t>(),
            odeint(bent, y0, times).statistics.accepted.item<std::int64_t>());
  // A tolerance for each element: the first one asks for nothing.
  const Tensor loose = odeint(bent, tensor<double>({1, 1}), times, {.rtol = 0, .atol = tensor<double>({1, 1})}).y;
  EXPECT_GT(std::fabs(loose[1][0].item<double>() - bentAt(4, 1)), 1e-6);
}

TEST(Odeint, OptionsThatAreTensorsAreCheckedByTheCall) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor y0 = scalar<double>(1), times = tensor<double>({0, 1});
  for (double bad : {-1.0, nan, infinity}) {
    const Tensor x = scalar<double>(bad);
    EXPECT_MISUSE(AssertionError, odeint(bent, y0, times, {.rtol = x}), ".rtol is finite and not negative");
    EXPECT_MISUSE(AssertionError, odeint(bent, y0, times, {.atol = x}), ".atol is finite and not negative");
  }
  for (double bad : {-1.0, 0.0, nan, infinity}) {
    const Tensor x = scalar<double>(bad);
    EXPECT_MISUSE(AssertionError, odeint(bent, y0, times, {.first_step = x}), ".first_step is finite and above 0");
    EXPECT_MISUSE(AssertionError, odeint(bent, y0, times, {.max_step = x}), ".max_step is finite and above 0");
    auto compiled = function([&](const Tensor &limit) { return odeint(bent, y0, times, {.max_step = limit}).y; });
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { compiled(x); }), ".max_step is finite and above 0");
  }
  const Tensor zero = scalar<double>(0);
  EXPECT_MISUSE(AssertionError, odeint(bent, y0, times, {.rtol = zero, .atol = 0}), ".rtol and .atol are both 0");
  EXPECT_NEAR(odeint(bent, y0, times, {.rtol = zero, .first_step = scalar(1)}).y[1].item<double>(), bentAt(1, 1), 1e-6);
}

TEST(Odeint, StatisticsCountEvaluations) {
  int calls = 0;
  auto counted = [&](const Tensor &t, const Tensor &y) {
    ++calls;
    return bent(t, y);
  };
  for (OdeMethod method :
       {OdeMethod::BogackiShampine3, OdeMethod::DormandPrince5, OdeMethod::DormandPrince8, OdeMethod::RungeKutta4}) {
    calls = 0;
    const auto solution = odeint(counted, scalar<double>(1), timesTo(4, 9), {.method = method});
    EXPECT_EQ(solution.statistics.evaluations.item<std::int64_t>(), calls) << static_cast<int>(method);
    EXPECT_EQ(solution.statistics.status.item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::Success));
  }
}

TEST(Odeint, Vmap) {
  const Tensor y0 = tensor<double>({0.5, 1, 2}), times = timesTo(3, 4);
  for (OdeMethod method : {OdeMethod::DormandPrince5, OdeMethod::Bdf, OdeMethod::RungeKutta4}) {
    const OdeOptions options = method == OdeMethod::RungeKutta4
                                   ? OdeOptions{.method = method, .steps = 20}
                                   : OdeOptions{.method = method, .rtol = 1e-8, .atol = 1e-10};
    auto one = [&](const Tensor &y) { return odeint(bent, y, times, options).y; };
    const Tensor all = function(vmap(one))(y0);
    ASSERT_EQ(all.shape(), (Shape{3, 4}));
    // Each example takes its own steps.
    for (int i = 0; i < 3; ++i)
      expectNear(all[i], valuesOf(one(y0[i])), 1e-13);
  }
}

TEST(Odeint, FailuresAreErrorsOrAStatus) {
  const Tensor y0 = scalar<double>(1), times = tensor<double>({0, 0.5, 2, 3});
  // y = 1 / (1 - t) ends at 1.
  auto explode = [](const Tensor &, const Tensor &y) { return y * y; };
  EXPECT_MISUSE(AssertionError, odeint(explode, y0, times), "odeint: the step size fell below .min_step");
  EXPECT_MISUSE(AssertionError, odeint(bent, y0, times, {.max_steps = 3}), ".max_steps = 3");
  auto compiled = function([&](const Tensor &y) { return odeint(explode, y, times).y; });
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { compiled(y0); }), "odeint: the step size fell below .min_step");

  auto report = [&](const Tensor &y) { return odeint(explode, y, times, {.on_failure = OnFailure::Report}); };
  for (const auto &solution : {report(y0), function(report)(y0)}) {
    EXPECT_EQ(solution.statistics.status.item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::StepTooSmall));
    const std::vector<double> y = valuesOf(solution.y);
    EXPECT_NEAR(y[1], 2, 1e-5);
    EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
  }
  const auto few = odeint(bent, y0, tensor<double>({0, 2}), {.max_steps = 3, .on_failure = OnFailure::Report});
  EXPECT_EQ(few.statistics.status.item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::TooManySteps));
  EXPECT_TRUE(std::isnan(few.y[1].item<double>()));
}

TEST(Odeint, WithoutFiniteNumbersNoStepIsTaken) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  auto decay = [](const Tensor &, const Tensor &y) { return -y; };
  auto undefined = [](const Tensor &, const Tensor &y) { return y * std::numeric_limits<double>::quiet_NaN(); };
  const char *expected = "odeint: the times, the initial state or its derivative there are not finite";
  const Tensor times = tensor<double>({0, 1, 2}), one = scalar<double>(1);
  EXPECT_MISUSE(AssertionError, odeint(decay, scalar<double>(nan), times), expected);
  EXPECT_MISUSE(AssertionError, odeint(undefined, one, times), expected);
  EXPECT_MISUSE(AssertionError, odeint(decay, one, tensor<double>({0, infinity})), expected);
  EXPECT_MISUSE(AssertionError, odeint(decay, one, tensor<double>({0, 1, infinity}), {.first_step = 1}), expected);
  for (OdeMethod method : {OdeMethod::DormandPrince8, OdeMethod::Rodas5P, OdeMethod::Bdf}) {
    auto solve = [&](const Tensor &y) {
      return odeint(decay, y, times, {.method = method, .on_failure = OnFailure::Report});
    };
    const auto together = function(vmap(solve))(tensor<double>({1, nan}));
    EXPECT_EQ(together.statistics.status[0].item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::Success));
    EXPECT_EQ(together.statistics.status[1].item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::NotFinite));
    EXPECT_EQ(together.statistics.rejected[1].item<std::int64_t>(), 0);
    EXPECT_NEAR(together.y[0][2].item<double>(), std::exp(-2), 1e-4);
    EXPECT_TRUE(std::isnan(together.y[1][2].item<double>()));
  }
}

TEST(Odeint, LoopsOfSmallStatesAreOneKernel) {
  const Tensor y0 = tensor<double>({1, 1, 1}), times = timesTo(2, 50);
  auto lorenz = [](const Tensor &, const Tensor &s) {
    return stack({10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3 * s[2]});
  };
  for (OdeMethod method : {OdeMethod::DormandPrince5, OdeMethod::DormandPrince8, OdeMethod::Rodas5P, OdeMethod::Bdf}) {
    auto solve = [=](const Tensor &y) { return odeint(lorenz, y, times, {.method = method}).y; };
    auto loss = [=](const Tensor &y) { return sum(solve(y)); };
    EXPECT_EQ(function(solve).ir("outlined", y0).find("calque_rt_while"), std::string::npos);
    // The gradient of Newton's iterations is an ordinary loop.
    if (method != OdeMethod::Bdf) {
      EXPECT_EQ(function(grad(loss)).ir("outlined", y0).find("calque_rt_while"), std::string::npos);
    }
  }
}

TEST(Odeint, IsSavedInAFunction) {
  const std::string path = ::testing::TempDir() + "calque-solvers-odeint.calque";
  const Tensor y0 = tensor<double>({1, 2}), times = timesTo(2, 4);
  auto solve = function([&](const Tensor &y) { return odeint(bent, y, times, {.rtol = 1e-8}).y; });
  const Tensor expected = solve(y0);
  save_functions(path, {{"solve", solve}});
  const SavedFunctions loaded = load_functions(path);
  auto same = loaded.function<Tensor(const Tensor &)>("solve");
  expectSameBits(same(y0), expected);
  auto loss = [](auto f) { return grad([f](const Tensor &y) { return sum(f(y)); }); };
  expectNear(loss(same)(y0), valuesOf(loss(solve)(y0)), 1e-14);
  std::remove(path.c_str());
}

TEST(Odeint, RefusesMisuse) {
  const Tensor y0 = tensor<double>({1, 2}), times = tensor<double>({0, 1});
  auto f = [](const Tensor &, const Tensor &y) { return -y; };
  EXPECT_MISUSE(DTypeError, odeint(f, tensor({1, 2}), times), "int32[2]");
  EXPECT_MISUSE(DTypeError, odeint(f, y0, tensor<float>({0, 1})), "the times are float32[2], and the state is float64");
  EXPECT_MISUSE(ShapeError, odeint(f, y0, tensor<double>({{0, 1}})),
                "odeint: the times are float64[1,2]; they are a vector that begins with the initial time");
  EXPECT_MISUSE(ShapeError, odeint(f, y0, tensor<double>({0})),
                "odeint: the times are float64[1]; there are at least two, the initial time and another one");
  EXPECT_MISUSE(AssertionError, odeint(f, y0, tensor<double>({0, 2, 1})), "neither increase nor decrease");
  EXPECT_MISUSE(AssertionError, odeint(f, y0, tensor<double>({1, 1})), "neither increase nor decrease");
  auto wrongShape = [](const Tensor &, const Tensor &y) { return sum(y); };
  EXPECT_MISUSE(ShapeError, odeint(wrongShape, y0, times),
                "returned float64[] for a state that is float64[2]: the derivative has the state's shape");
  auto wrongType = [](const Tensor &, const Tensor &y) { return cast(y, DType::Float32); };
  EXPECT_MISUSE(DTypeError, odeint(wrongType, y0, times),
                "odeint: the right-hand side returned float32[2] for a state that is float64[2]");
  const std::vector<Tensor> none, two = {y0, y0};
  auto first = [](const Tensor &, const std::vector<Tensor> &s) { return std::vector<Tensor>(1, s[0]); };
  EXPECT_MISUSE(ShapeError, odeint(first, two, times),
                "odeint: the right-hand side returned 1 tensors for a state of 2");
  EXPECT_MISUSE(ValueError, odeint(first, none, times), "odeint: the state has no tensors");
  auto mixed = [](const Tensor &, const Pair &s) { return s; };
  EXPECT_MISUSE(DTypeError, odeint(mixed, Pair(y0, scalar(1.0f)), times),
                "odeint: the tensors of a state have one element type, and these are float64[2] and float32[]");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.rtol = -1e-3}),
                "odeint: .rtol = -0.001; it is finite and not negative");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.rtol = 0, .atol = 0}), ".rtol and .atol are both 0");
  EXPECT_MISUSE(ShapeError, odeint(f, y0, times, {.atol = tensor<double>({1, 2, 3})}),
                "odeint: .atol is float64[3], which does not broadcast to the state's tensor of float64[2]");
  EXPECT_MISUSE(DTypeError, odeint(f, y0, times, {.atol = tensor<float>({1, 2})}),
                "odeint: .atol is float32[2], and the state is float64");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.first_step = 0}),
                "odeint: .first_step = 0; it is finite and above 0");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.max_step = -1}), ".max_step = -1");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.max_steps = 0}),
                "odeint: .max_steps = 0; at least one step is needed");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.steps = 10}), ".steps = 10 is for methods of a given step size");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.method = OdeMethod::Euler, .steps = 0}),
                "odeint: .steps = 0; at least one step is needed");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.method = OdeMethod::Euler, .rtol = 1e-3}), ".rtol is for methods");
  EXPECT_MISUSE(ValueError, odeint(f, y0, times, {.adjoint = Adjoint::Backsolve}),
                "gives gradients to parameters and not to captures");
  using Rates = std::pair<Variable, Tensor>;
  auto withRates = [](const Tensor &, const Tensor &y, const Rates &rates) { return rates.first * y; };
  const Rates rates(Variable(scalar<double>(1)), y0);
  EXPECT_MISUSE(ValueError, odeint(withRates, y0, times, rates, {.adjoint = Adjoint::Backsolve}),
                "a variable among the parameters would get no gradient");
  EXPECT_EQ(odeint(withRates, y0, times, rates).y.shape(), (Shape{2, 2}));
  std::function<Tensor(const Tensor &, const Tensor &)> empty;
  EXPECT_MISUSE(StateError, odeint(empty, y0, times), "odeint");
}
