// Linear algebra in branches of loops, under vmap: an example that does not take a branch neither fails in it nor
// changes a derivative. Values and derivatives of all examples together are compared with those of each one alone.
#include "calque/control_flow.h"
#include "test/operations/Linalg.h"

#include <functional>

using namespace calque;
using namespace calque::testing;

namespace {

using Step = std::function<Tensor(const Tensor &a, const Tensor &v)>; // of a matrix and a vector, to a vector
struct Branch {
  const char *name;
  Step step;
  bool fails = false; // for a matrix of zeros; else it has derivatives there that are not finite
};

Tensor symmetric(const Tensor &a) { return 0.5 * (a + transpose(a)); }
Tensor complexOf(const Tensor &a) { return complex(a, 0.3 * transpose(a)); }
Tensor bandsOf(const Tensor &a, bool isSymmetric) {
  const Tensor diagonal = sum(a * eye(4, DType::Float64), {1}), off = 0.1 * diagonal;
  return isSymmetric ? stack({off, diagonal}) : stack({off, diagonal, -off});
}

std::vector<Branch> branches() {
  using namespace linalg;
  return {
      {"solve", [](auto &a, auto &v) { return solve(a, v); }, true},
      {"solve, matrices", [](auto &a, auto &v) { return sum(solve(a, expand_dims(v, {1}) * a), {1}); }, true},
      {"solve, complex", [](auto &a, auto &v) { return real(solve(complexOf(a), complex(v, 2 * v))); }, true},
      {"lu_solve", [](auto &a, auto &v) { return lu_solve(lu_factor(a), v); }, true},
      {"lu_solve, transposed", [](auto &a, auto &v) { return lu_solve(lu_factor(a), v, {.transpose = true}); }, true},
      {"inv", [](auto &a, auto &v) { return matmul(inv(a), v); }, true},
      {"det", [](auto &a, auto &v) { return v * det(0.2 * a); }},
      {"slogdet", [](auto &a, auto &v) { return v * slogdet(a).logarithm; }, true},
      {"cholesky", [](auto &a, auto &v) { return matmul(cholesky(symmetric(a)), v); }, true},
      {"cholesky, complex",
       [](auto &a, auto &v) { return abs(matmul(cholesky(complex(symmetric(a), a - transpose(a))), complex(v, v))); },
       true},
      {"triangular_solve", [](auto &a, auto &v) { return triangular_solve(a, v); }},
      {"qr", [](auto &a, auto &v) { return matmul(qr(a).r, v); }},
      {"lstsq", [](auto &a, auto &v) { return lstsq(a, v); }},
      {"pinv", [](auto &a, auto &v) { return matmul(pinv(a), v); }},
      {"svd", [](auto &a, auto &v) { return svdvals(a) * v; }},
      {"eigh", [](auto &a, auto &v) { return eigh(symmetric(a)).values * v; }},
      {"eig", [](auto &a, auto &v) { return abs(eigvals(a)) * v; }},
      {"expm", [](auto &a, auto &v) { return matmul(expm(0.1 * a), v); }},
      {"sqrtm", [](auto &a, auto &v) { return matmul(sqrtm(symmetric(a)), v); }, true},
      {"solve_sylvester", [](auto &a, auto &v) { return matmul(solve_sylvester(a, transpose(a), a), v); }, true},
      {"solve_banded", [](auto &a, auto &v) { return solve_banded(1, 1, bandsOf(a, false), v); }, true},
      {"solveh_banded", [](auto &a, auto &v) { return solveh_banded(bandsOf(a, true), v); }, true},
      // A loop over columns, whose indices are those of any example.
      {"cholesky_banded",
       [](auto &a, auto &v) { return cho_solve_banded(cholesky_banded(bandsOf(a, true)), v, {}) + v; }},
      {"solve_toeplitz", [](auto &a, auto &v) { return solve_toeplitz(a[0], a[0], v); }, true},
  };
}

// Iterates as often as `limit` says, and takes the branch from the second time on, unless x is 0.
Tensor iterated(const Branch &branch, const Tensor &x, const Tensor &limit) {
  const Tensor isZero = all(x == 0, AxisList());
  const Tensor diagonal = branch.fails ? 5 * cast(!isZero, DType::Float64) : full({}, 5, DType::Float64);
  const Tensor a = x + diagonal * eye(4, DType::Float64);
  auto goesOn = [&](const Tensor &i, const Tensor &v) { return (i < limit) & (sum(v) < 1e6); };
  auto iterate = [&](const Tensor &i, const Tensor &given) {
    const Tensor v = 0.1 * matmul(a, given) + 0.1;
    return std::tuple(i + 1, cond((i > 0) & !isZero, [&] { return branch.step(a, v); }, [&] { return v; }));
  };
  auto [i, v] = while_loop(goesOn, iterate, std::tuple(zeros({}, DType::Int64), ones({4}, DType::Float64)));
  return sum(v * tensor<double>({1, -2, 3, 0.5}));
}

TEST(LinalgBranches, ExamplesTogetherHaveTheDerivativesOfEachOne) {
  // The last example never takes the branch.
  constexpr std::int64_t kExamples = 5;
  const Tensor x = reshape(sin(cast(iota({kExamples * 16}, DType::Int64), DType::Float64) * 2.3), {kExamples, 4, 4}) *
                   expand_dims(tensor<double>({1, 1, 1, 1, 0}), {1, 2});
  const Tensor limits = tensor<std::int64_t>({3, 1, 4, 2, 3}), directions = cos(3 * x);
  for (const Branch &branch : branches()) {
    SCOPED_TRACE(branch.name);
    auto one = [&](const Tensor &x, const Tensor &limit) { return iterated(branch, x, limit); };
    auto all = [&](const Tensor &xs) { return vmap(one)(xs, limits); };
    auto together = [&](const Tensor &xs) { return sum(all(xs) * tensor<double>({1, 2, 3, 4, 5})); };
    const Tensor values = function(all)(x), gradients = function(grad(together))(x);
    const Tensor slopes = function([&](const Tensor &xs) { return jvp(all, xs, directions).second; })(x);
    auto alone = function([&](const Tensor &x, const Tensor &limit, const Tensor &direction) {
      auto ofX = [&](const Tensor &at) { return one(at, limit); };
      return std::tuple(ofX(x), grad(ofX)(x), jvp(ofX, x, direction).second);
    });
    ASSERT_EQ(gradients.shape(), x.shape());
    for (std::int64_t i = 0; i < kExamples; ++i) {
      const auto [value, gradient, slope] = alone(x[i], limits[i], directions[i]);
      SCOPED_TRACE(i);
      expectRealNumbers(values[i], valuesOf(value), 1e-12);
      expectRealNumbers(gradients[i], valuesOf(static_cast<double>(i + 1) * gradient), 1e-10);
      expectRealNumbers(slopes[i], valuesOf(slope), 1e-10);
    }
  }
}

} // namespace
