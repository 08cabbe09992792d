// Functions with C++ loops and branches on tensors, given to solvers inside of functions. A solver calls them in
// several places of its own loops: each is captured by itself.
#include "calque/sparse.h"
#include "calque/user_calls.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

using Vector = const Tensor &;

// The root of each element, by Newton's method until the largest step is small.
Tensor rootOf(Vector a) {
  Tensor y = 0.5 * (1 + a);
  for (int i = 0; i < 40; ++i) {
    const Tensor step = 0.5 * (y - a / y);
    y = y - step;
    if (max(abs(step)) < 1e-12)
      break;
  }
  return y;
}
// Its sum has a minimum where the elements are the root of 3.
Tensor bowl(Vector x) { return sum(square(rootOf(1 + square(x)) - 2) + 0.25 * square(square(x) - 3)); }
// A tridiagonal Jacobian.
Tensor chain(Vector x) {
  const std::int64_t n = x.size();
  return rootOf(1 + square(x)) + 0.1 * pad(slice(x, {0}, {n - 1}), {1}, {0}) - 0.2 * pad(slice(x, {1}, {n}), {0}, {1});
}

const Tensor &start() {
  static const Tensor x = tensor<double>({1.0, 2.5, 1.5});
  return x;
}

} // namespace

TEST(CppLoops, OfObjectives) {
  const double root = std::sqrt(3.0);
  using Solve = std::function<Tensor(Vector)>;
  for (const Solve &solve : {Solve([](Vector x) { return solvers::lbfgs(bowl, x).x; }),
                             Solve([](Vector x) { return solvers::bfgs(bowl, x).x; }),
                             Solve([](Vector x) { return solvers::newton_cg(bowl, x).x; }),
                             Solve([](Vector x) { return solvers::trust_region(bowl, x).x; }),
                             Solve([](Vector x) { return solvers::nelder_mead(bowl, x).x; })})
    expectNear(eagerAndCompiled(solve, start()), {root, root, root}, 1e-4);
}

TEST(CppLoops, OfSystems) {
  auto equations = [](Vector x) { return rootOf(1 + square(x)) - 2; };
  const double root = std::sqrt(3.0);
  using Solve = std::function<Tensor(Vector)>;
  for (const Solve &solve :
       {Solve([&](Vector x) { return solvers::newton(equations, x).x; }),
        Solve([&](Vector x) { return solvers::broyden(equations, x).x; }),
        Solve([&](Vector x) { return solvers::brent(equations, 0 * x, 2 * x).x; }),
        Solve([&](Vector x) { return solvers::fixed_point([&](Vector y) { return y - 0.3 * equations(y); }, x).x; }),
        Solve([&](Vector x) { return solvers::least_squares(equations, x).x; })})
    expectNear(eagerAndCompiled(solve, start()), {root, root, root}, 1e-5);
  // The derivative of the root by the right-hand side, x / sqrt(1 + x^2) to the power of -1.
  auto solved = [](Vector b) {
    return sum(solvers::newton([&](Vector x) { return rootOf(1 + square(x)) - b; }, start()).x);
  };
  expectNear(function(grad(solved))(full({3}, 2, DType::Float64)), std::vector<double>(3, 2 / root), 1e-9);
  auto product = [](Vector v) {
    Tensor y = 2 * v;
    for (Tensor i : range(3))
      y = y + 0.1 * cast(i, DType::Float64) * (v - reverse(v));
    return y;
  };
  expectNear(
      product(eagerAndCompiled([&](Vector b) { return solvers::gmres(product, b, {.rtol = 1e-12}).x; }, start())),
      valuesOf(start()), 1e-9);
}

// What a trace costs counts, and an iterative solver's loops make one step of hundreds of operations.
TEST(CppLoops, AroundSolversAreTracedLessOften) {
  std::size_t products = 0;
  auto product = [&](Vector v) {
    ++products;
    return 4 * v;
  };
  auto solve = [&](Vector b) { return solvers::gmres(product, b, {.restart = 3}).x; };
  function(solve)(start());
  const std::size_t ofOne = std::exchange(products, 0);
  auto often = function([&](Vector b) {
    Tensor x = b;
    for (Tensor i : range(3))
      x = solve(x);
    return x;
  });
  expectNear(often(start()), valuesOf(start() / 64), 1e-4);
  EXPECT_LT(products, 600 * ofOne);
}

TEST(CppLoops, OfIntegrands) {
  auto f = [](Vector, Vector y) { return sum(y) > 1 ? -y : -0.5 * y; };
  const Tensor times = tensor<double>({0, 1, 2});
  eagerAndCompiled([&](Vector y) { return solvers::odeint(f, y, times).y; }, start());
  auto area = [](Vector b) { return solvers::quad([](Vector x) { return rootOf(1 + x); }, 0, b).value; };
  const Tensor end = scalar<double>(3.0);
  expectNear(eagerAndCompiled(area, end), {14.0 / 3}, 1e-9);
  expectNear(function(grad(area))(end), {2}, 1e-9);
}

TEST(CppLoops, OfFunctionsWhosePatternIsFound) {
  const Tensor x = 1 + 0.1 * cast(iota({8}, DType::Int64), DType::Float64);
  const std::vector<double> expected = valuesOf(jacobian(chain)(x));
  auto inside = [](Vector at) { return jacobian(chain, {.sparsity = sparse::detect})(at).to_dense(); };
  expectNear(eagerAndCompiled(inside, x), expected, 1e-10);
  expectNear(function(jacobian(chain, {.sparsity = sparse::detect}))(x).to_dense(), expected, 1e-10);
  EXPECT_EQ(function(jacobian(chain, {.sparsity = sparse::detect}))(x).pattern().size(), 22);
  auto curved = [](Vector at) { return hessian(bowl, {.sparsity = sparse::detect})(at).to_dense(); };
  expectNear(eagerAndCompiled(curved, x), valuesOf(hessian(bowl)(x)), 1e-7);
}

TEST(CppLoops, AroundFunctionsWhosePatternIsFound) {
  const Tensor x = 1 + 0.1 * cast(iota({5}, DType::Int64), DType::Float64);
  auto slopes = jacobian([](Vector y, Vector right) { return chain(y) - right; }, {.sparsity = sparse::detect});
  auto next = [&](Vector y, Vector b) {
    return y - sparse::solve(slopes(y, b), call_user([&] { return chain(y) - b; }));
  };
  auto solve = [&](Vector b) { return for_range(0, 12, 0 * b + 2, [&](Vector, Vector y) { return next(y, b); }); };
  expectNear(chain(eagerAndCompiled(solve, 1 + x)), valuesOf(1 + x), 1e-8);
  // In a C++ loop the loops of the function are a part of it, and a derivative can't go through a part.
  auto refused = function([&](Vector b) {
    Tensor y = 0 * b + 2;
    while (max(abs(y - b)) > 1)
      y = next(y, b);
    return y;
  });
  const std::string text = errorOf<StateError>([&] { refused(1 + x); });
  EXPECT_CONTAINS(text, "a derivative is asked for inside of a branch or a loop");
  EXPECT_CONTAINS(text, "CppLoopsTest.cpp:");
}

// A derivative that is made in each iteration of a C++ loop is refused before that takes minutes.
TEST(CppLoops, ThatMakeADerivativeInEachIteration) {
  auto solve = function([](Vector b) {
    Tensor y = b;
    while (max(abs(y)) > 1e-3)
      y = y - 0.1 * jacobian([](Vector x) { return square(x); }, {.sparsity = sparse::detect})(y)(y);
    return y;
  });
  const std::string text = errorOf<StateError>([&] { solve(start()); });
  EXPECT_CONTAINS(text, "jacobian: the pattern is looked for more than 300 times while C++ loops are captured");
  EXPECT_CONTAINS(text, "CppLoopsTest.cpp:");
}

// What the code does before its first decision is not done twice.
TEST(CppLoops, WithEffectsBeforeThem) {
  Variable calls(scalar<std::int64_t>(0));
  auto f = [&](Vector x) {
    calls.assign_add(std::int64_t(1));
    return rootOf(1 + square(x)) - 2;
  };
  auto evaluated =
      function([&](Vector x) { return call_user([&] { return f(x); }) + call_user([&] { return rootOf(x); }); });
  const Tensor x = tensor<double>({1.0, 2.0});
  expectNear(evaluated(x), valuesOf(rootOf(1 + square(x)) - 2 + rootOf(x)), 1e-12);
  EXPECT_EQ(calls.value().item<std::int64_t>(), 1);
  // A variable that the code assigns after it.
  Variable last(scalar<double>(0));
  auto noted = function([&](Vector a) {
    return call_user([&] {
      Tensor y = rootOf(a);
      last.assign(sum(y));
      return y;
    });
  });
  expectNear(noted(x), valuesOf(sqrt(x)), 1e-12);
  EXPECT_NEAR(last.value().item<double>(), 1 + std::sqrt(2.0), 1e-12);
}

TEST(CppLoops, ErrorsHaveTheUsersLine) {
  auto grows = [](Vector x) {
    Tensor y = x;
    std::vector<Tensor> all;
    while (max(y) > 1) {
      all.push_back(y);
      y = 0.5 * y;
    }
    return sum(stack(all));
  };
  const std::string text =
      errorOf<Error>([&] { function([&](Vector x) { return solvers::lbfgs(grows, x).x; })(start()); });
  EXPECT_CONTAINS(text, "CppLoopsTest.cpp:");
}

} // namespace calque::testing
