#include "Testing.h"

#include <cmath>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

// Stiff problems with the solutions at the end that Mazzia and Magherini publish: Test set for initial value problem
// solvers, release 2.4, 2008.
namespace {
struct Problem {
  const char *name;
  std::function<Tensor(const Tensor &, const Tensor &)> f;
  std::vector<double> y0;
  double end;
  std::vector<double> expected;
  double atol, tolerance; // relative to rtol
};

const std::vector<Problem> kProblems = {
    {"van der Pol, mu = 1000",
     [](const Tensor &, const Tensor &y) { return stack({y[1], 1000 * (1 - y[0] * y[0]) * y[1] - y[0]}); },
     {2, 0},
     2000,
     {1.706167732170469, -8.928097010248125e-4},
     1e-2,
     5},
    {"Robertson",
     [](const Tensor &, const Tensor &y) {
       Tensor a = 0.04 * y[0], b = 1e4 * y[1] * y[2], c = 3e7 * y[1] * y[1];
       return stack({b - a, a - b - c, c});
     },
     {1, 0, 0},
     1e11,
     {2.0833401497012e-8, 8.3333607703347e-14, 0.9999999791665},
     1e-6,
     10},
    {"Oregonator",
     [](const Tensor &, const Tensor &y) {
       return stack({77.27 * (y[1] + y[0] * (1 - 8.375e-6 * y[0] - y[1])), (y[2] - (1 + y[0]) * y[1]) / 77.27,
                     0.161 * (y[0] - y[2])});
     },
     {1, 2, 3},
     360,
     {1.000814870318523, 1228.178521549917, 132.0554942846706},
     1e-2,
     2},
};
} // namespace

TEST(OdeintStiff, PublishedSolutions) {
  for (const Problem &problem : kProblems)
    for (OdeMethod method : {OdeMethod::Rodas5P, OdeMethod::Bdf}) {
      SCOPED_TRACE(problem.name);
      const double rtol = 1e-6;
      // The global error of the multistep method is larger, as is that of SciPy's BDF.
      const double tolerance = (method == OdeMethod::Bdf ? 120 : problem.tolerance) * rtol;
      auto solve = function([&](const Tensor &y0) {
        const auto found = odeint(problem.f, y0, tensor<double>({0, problem.end}),
                                  {.method = method, .rtol = rtol, .atol = rtol * problem.atol});
        return std::pair(found.y[1], found.statistics.accepted);
      });
      auto [y, accepted] = solve(tensor(problem.y0));
      for (std::size_t i = 0; i < problem.expected.size(); ++i)
        EXPECT_NEAR(valuesOf(y)[i] / problem.expected[i], 1, tolerance) << "element " << i;
      EXPECT_LT(accepted.item<std::int64_t>(), 1500);
    }
}

// y' = -1e6 (y - cos t): steps are as long as the solution allows, and damp what is not on it.
TEST(OdeintStiff, DampsWhatIsNotOnTheSlowSolution) {
  auto f = [](const Tensor &t, const Tensor &y) { return -1e6 * (y - cos(t)); };
  const auto found = odeint(f, tensor<double>({0, 2}), tensor<double>({0, 1, 10}),
                            {.method = OdeMethod::Rodas5P, .rtol = 1e-7, .atol = 1e-9});
  expectNear(found.y[2], {std::cos(10), std::cos(10)}, 2e-6);
  // Within a long step the interpolant of so stiff an equation is less exact than the steps are.
  expectNear(found.y[1], {std::cos(1), std::cos(1)}, 3e-5);
  EXPECT_LT(found.statistics.accepted.item<std::int64_t>(), 300);
}

// y' = -rate (y - p cos t) follows p cos t: its derivative by p is cos t, and that by the rate is almost 0.
TEST(OdeintStiff, Gradients) {
  for (OdeMethod method : {OdeMethod::Rodas5P, OdeMethod::Bdf}) {
    auto last = [&](const Tensor &p, const Tensor &rate) {
      auto f = [&](const Tensor &t, const Tensor &y) { return -rate * (y - p * cos(t)); };
      return odeint(f, scalar<double>(2), tensor<double>({0, 1}), {.method = method, .rtol = 1e-6, .atol = 1e-8}).y[1];
    };
    const auto slopes = function(grad(last, {.argnums = {0, 1}}))(scalar<double>(2), scalar<double>(1e5));
    EXPECT_NEAR(slopes[0].item<double>(), std::cos(1), 1e-4) << static_cast<int>(method);
    EXPECT_NEAR(slopes[1].item<double>(), 0, 1e-8) << static_cast<int>(method);
    auto [y, change] = function([&](const Tensor &p) {
      return jvp([&](const Tensor &x) { return last(x, scalar<double>(1e5)); }, p, scalar<double>(1));
    })(scalar<double>(2));
    EXPECT_NEAR(change.item<double>(), std::cos(1), 1e-4) << static_cast<int>(method);
  }
}

// y' = M (y - cos t) - sin t with y = cos t. M couples elements of the two halves by 1e10, so that the matrix of a long
// step needs pivots far from its diagonal: in registers, by columns, and by blocks.
TEST(OdeintStiff, MatricesThatNeedPivots) {
  for (std::int64_t n : {2, 20, 70}) {
    SCOPED_TRACE(n);
    auto f = [n](const Tensor &t, const Tensor &y) {
      const std::vector<Tensor> halves = split(y - cos(t), {n / 2, n - n / 2});
      return concat({-halves[0] - 1e10 * halves[1], 1e10 * halves[0] - halves[1]}) - sin(t);
    };
    for (OdeMethod method : {OdeMethod::Rodas5P, OdeMethod::Bdf}) {
      auto solve = function([&](const Tensor &y0) {
        const auto found = odeint(f, y0, tensor<double>({0, 2}), {.method = method, .rtol = 1e-6, .atol = 1e-8});
        return std::pair(found.y[1], found.statistics.accepted);
      });
      auto [y, accepted] = solve(ones({n}, DType::Float64));
      expectNear(y, std::vector<double>(static_cast<std::size_t>(n), std::cos(2)), 1e-5);
      EXPECT_LT(accepted.item<std::int64_t>(), 300) << static_cast<int>(method);
    }
  }
}

// Heat in a rod of 20 points, beside its closed form: a matrix of more elements than stay in registers, as a structure.
TEST(OdeintStiff, LargerMatricesAndStructures) {
  constexpr int kPoints = 20;
  using Halves = std::pair<Tensor, Tensor>;
  auto heat = [](const Tensor &, const Halves &y) {
    const Tensor x = concat({y.first, y.second}), padded = pad(x, {1}, {1});
    const Tensor change = split(padded, {kPoints, 2})[0] - 2 * x + split(padded, {2, kPoints})[1];
    const std::vector<Tensor> parts = split(441 * change, {7, 13});
    return Halves(parts[0], parts[1]);
  };
  std::vector<double> wave, expected;
  const double pi = 3.14159265358979323846, rate = -4 * 441 * std::pow(std::sin(pi / 42), 2);
  for (int i = 1; i <= kPoints; ++i) {
    wave.push_back(std::sin(pi * i / 21));
    expected.push_back(wave.back() * std::exp(rate * 0.2));
  }
  const std::vector<Tensor> parts = split(tensor(wave), {7, 13});
  auto solve = [&](const Tensor &first, const Tensor &second) {
    return odeint(heat, Halves(first, second), tensor<double>({0, 0.1, 0.2}),
                  {.method = OdeMethod::Rodas5P, .rtol = 1e-8, .atol = 1e-10})
        .y;
  };
  const Halves y = function(solve)(parts[0], parts[1]);
  expectNear(concat({y.first[2], y.second[2]}), expected, 1e-7);
  auto loss = [&](const Tensor &first) { return sum(solve(first, parts[1]).second[2]); };
  const Tensor slope = function(grad(loss))(parts[0]);
  // The solution is linear in the first half, so a difference is exact.
  const Tensor difference = loss(parts[0] + 1) - loss(parts[0]);
  EXPECT_NEAR(sum(slope).item<double>(), difference.item<double>(), 1e-6);
}

TEST(OdeintStiff, NeedsKnownSizes) {
  auto solve = function(
      [](const Tensor &y) {
        return odeint([](const Tensor &, const Tensor &x) { return -x; }, y, tensor<double>({0, 1}),
                      {.method = OdeMethod::Rodas5P})
            .y;
      },
      {.input_signature = {TensorSpec<double>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { solve(tensor<double>({1, 2})); }),
                  "odeint: an implicit method makes a matrix");
}
