// jacobian and hessian with the option of a pattern, or of one that is found.
#include "calque/arrays.h"
#include "calque/sparse.h"

#include "test/solvers/Testing.h"

#include <thread>

namespace calque::testing {
namespace {

using Vector = const Tensor &;

Tensor some(std::int64_t n, DType dtype = DType::Float64) { return 1.5 + sin(square(iota({n}, dtype)) + 0.5); }
// A tridiagonal Jacobian.
Tensor flow(Vector x) {
  const std::int64_t n = x.size();
  return (3 - 2 * x) * x - pad(slice(x, {0}, {n - 1}), {1}, {0}) * x - 2 * sin(pad(slice(x, {1}, {n}), {0}, {1}));
}
Tensor energy(Vector x) { return square(flow(x)); } // its sum is differentiated

} // namespace

TEST(SparseOption, ResultsAreThoseOfDenseOnes) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double tolerance = dtype == DType::Float32 ? 1e-5 : 1e-13;
    for (std::int64_t n : {1, 2, 40}) {
      const Tensor x = some(n, dtype);
      auto found = jacobian(flow, {.sparsity = sparse::detect});
      auto given = jacobian(flow, {.sparsity = sparse::Pattern::banded(n, 1, 1)});
      expectNear(found(x).to_dense(), valuesOf(jacobian(flow)(x)), tolerance);
      expectNear(given(x).to_dense(), valuesOf(jacobian(flow)(x)), tolerance);
      auto curved = hessian(energy, {.sparsity = sparse::detect});
      expectNear(curved(x).to_dense(), valuesOf(hessian(energy)(x)), 10 * tolerance);
      // Compiled, the pattern is found while the function is traced.
      auto fresh = function(jacobian(flow, {.sparsity = sparse::detect}));
      expectNear(fresh(x).to_dense(), valuesOf(jacobian(flow)(x)), tolerance);
      EXPECT_EQ(fresh(x).pattern().indices(), sparse::Pattern::banded(n, 1, 1).indices());
      expectNear(function(curved)(x).to_dense(), valuesOf(hessian(energy)(x)), 10 * tolerance);
    }
  }
}

TEST(SparseOption, APatternIsFoundOnceForEachType) {
  int traces = 0;
  auto counted = [&](Vector x) {
    ++traces;
    return flow(x);
  };
  auto slopes = jacobian(counted, {.sparsity = sparse::detect, .check = false});
  const sparse::Pattern first = slopes(some(5)).pattern();
  const int once = traces;
  EXPECT_TRUE(slopes(some(5) + 1).pattern() == first);
  EXPECT_EQ(traces - once, once - 1); // all but the detection
  EXPECT_TRUE(function(slopes)(some(5)).pattern() == first);
  auto copy = slopes;
  EXPECT_TRUE(copy(some(5)).pattern() == first);
  EXPECT_EQ(slopes(some(6)).pattern().rows(), 6);
  EXPECT_EQ(slopes(some(5, DType::Float32)).values().dtype(), DType::Float32);
  // Results have one pattern, so that a function of them has one trace.
  auto product = function([](const sparse::Csr &a, Vector x) { return a(x); });
  product(slopes(some(5)), some(5));
  product(copy(some(5) - 1), some(5));
  EXPECT_EQ(product.trace_count(), 1);
}

struct Walls {
  Tensor left, right;
};

TEST(SparseOption, TakesFurtherArguments) {
  auto f = [](Vector x, const Walls &walls, int power) {
    Tensor y = concat({walls.left, x, walls.right});
    const std::int64_t n = x.size();
    return x * (slice(y, {0}, {n}) + (power == 2 ? square(x) : slice(y, {2}, {n + 2})));
  };
  const Tensor x = some(7);
  const Walls walls{ones({1}, DType::Float64), 2 * ones({1}, DType::Float64)};
  auto slopes = jacobian(f, {.sparsity = sparse::detect});
  for (int power : {2, 3}) {
    const sparse::Csr made = slopes(x, walls, power);
    EXPECT_EQ(made.pattern().size(), power == 2 ? 13 : 19);
    expectNear(made.to_dense(), valuesOf(jacobian(f)(x, walls, power)), 1e-13);
    expectNear(function(slopes)(x, walls, power).to_dense(), valuesOf(made.to_dense()), 1e-13);
  }
  // Its elements are unknown ones: another call has the same pattern, and its own derivative.
  auto scaled = jacobian([](Vector x, Vector a) { return x * reverse(x) * a; }, {.sparsity = sparse::detect});
  EXPECT_EQ(scaled(x, zeros({7}, DType::Float64)).pattern().size(), 13);
  expectNear(scaled(x, some(7)).to_dense(),
             valuesOf(jacobian([&](Vector at) { return at * reverse(at) * some(7); })(x)), 1e-13);
  // A variable is read when the derivative is computed.
  Variable factor(scalar<double>(2));
  auto moving = hessian([&](Vector x) { return sum(factor * x * x * x); }, {.sparsity = sparse::detect});
  expectNear(moving(x).diagonal(), valuesOf(12 * x), 1e-12);
  factor.assign(scalar<double>(3));
  expectNear(moving(x).diagonal(), valuesOf(18 * x), 1e-12);
}

TEST(SparseOption, DifferentiatesAndIsMapped) {
  auto norm = [](Vector x) { return sum(square(jacobian(flow, {.sparsity = sparse::detect})(x).values())); };
  auto dense = [](Vector x) { return sum(square(jacobian(flow)(x))); };
  expectNear(function(grad(norm))(some(9)), valuesOf(function(grad(dense))(some(9))), 1e-11);
  expectNear(grad(norm)(some(9)), valuesOf(function(grad(dense))(some(9))), 1e-11);
  const Tensor many = stack({some(9), -some(9), 2 * some(9)});
  expectNear(vmap(norm)(many), valuesOf(vmap(dense)(many)), 1e-11);
  // Newton's steps in one function: a sparse system in each.
  auto root = function([](Vector x) {
    auto slopes = jacobian([](Vector y) { return flow(y) + 1; }, {.sparsity = sparse::detect});
    return for_range(0, 8, x, [&](Vector, Vector y) { return y - sparse::solve(slopes(y), flow(y) + 1); });
  });
  expectNear(flow(root(full({100}, -1, DType::Float64))), std::vector<double>(100, -1), 1e-13);
}

TEST(SparseOption, ManyThreadsFindOnePattern) {
  auto slopes = jacobian(flow, {.sparsity = sparse::detect});
  std::vector<std::optional<sparse::Csr>> made(4);
  std::vector<std::thread> threads;
  for (std::optional<sparse::Csr> &each : made)
    threads.emplace_back([&] { each = slopes(some(12)); });
  for (std::thread &each : threads)
    each.join();
  for (const std::optional<sparse::Csr> &each : made) {
    ASSERT_TRUE(each);
    EXPECT_TRUE(each->pattern() == made[0]->pattern());
    expectNear(each->to_dense(), valuesOf(jacobian(flow)(some(12))), 1e-13);
  }
}

TEST(SparseOption, MisuseIsRefusedWithTheUsersLine) {
  const Tensor x = some(6);
  auto found = jacobian(flow, {.sparsity = sparse::detect});
  EXPECT_MISUSE(ShapeError, found(ones({2, 2})), "jacobian: x is float32[2,2], and must be a vector of known size");
  EXPECT_MISUSE(DTypeError, found(iota({3}, DType::Int64)), "jacobian: x is float32 or float64, not int64[3]");
  EXPECT_MISUSE(ShapeError, jacobian([](Vector y) { return sum(y); }, {.sparsity = sparse::detect})(x),
                "jacobian: the function returns float64[], and must return a vector of known size");
  EXPECT_MISUSE(ShapeError, jacobian(flow, {.sparsity = sparse::Pattern::banded(5, 1, 1)})(x),
                "jacobian: x is float64[6], and the pattern that of a matrix [5,5]");
  EXPECT_MISUSE(AssertionError, jacobian(flow, {.sparsity = sparse::Pattern::banded(6, 0, 0)})(x),
                "jacobian: the pattern lacks a place of an element that is not 0");
  EXPECT_NO_THROW(jacobian(flow, {.sparsity = sparse::Pattern::banded(6, 0, 0), .check = false})(x));
  EXPECT_MISUSE(ValueError, hessian(flow, {.sparsity = sparse::Pattern::banded(6, 1, 0)}),
                "hessian: the pattern of a Hessian is symmetric, and this one is not");
  auto capturing = function([](Vector y, Vector a) {
    return jacobian([&](Vector z) { return a * z; }, {.sparsity = sparse::detect})(y).values();
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { capturing(x, x); }),
                  "jacobian: no pattern is found, for the function captures a tensor of the function that is being "
                  "traced; take the tensor as a further argument, or give a pattern");
  auto taking = function([](Vector y, Vector a) {
    return jacobian([](Vector z, Vector b) { return b * z; }, {.sparsity = sparse::detect})(y, a).values();
  });
  expectNear(taking(x, 2 * x), valuesOf(2 * x), 1e-15);
  auto open =
      function([&](Vector y) { return found(y).values(); }, {.input_signature = {TensorSpec<double>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open(x); }),
                  "jacobian: x is float64[?], and must be a vector of known size");
}

} // namespace calque::testing
