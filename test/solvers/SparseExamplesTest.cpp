// Sparse systems under vmap: what is mapped, the values, the right-hand side, both or neither, with derivatives.
// Expected are the results of the examples one by one.
#include "calque/arrays.h"
#include "calque/sparse.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

const sparse::Pattern &pattern() {
  static const sparse::Pattern made =
      sparse::csr(zeros({13}, DType::Float64), {0, 1, 3, 0, 1, 1, 2, 4, 0, 3, 2, 3, 4}, {0, 3, 5, 8, 10, 13}, {5, 5})
          .pattern();
  return made;
}
// Numbers of [-1, 1] and, on the diagonal, of [2, 4].
Tensor valuesOfExamples(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t e = 0; e < count; ++e)
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t p = pattern().indptr()[static_cast<std::size_t>(i)];
           p < pattern().indptr()[static_cast<std::size_t>(i) + 1]; ++p)
        values.push_back(std::sin(static_cast<double>(7 * e + 3 * p)) +
                         (pattern().indices()[static_cast<std::size_t>(p)] == i ? 3 : 0));
  return tensor<double>(values, {count, 13});
}
Tensor waves(const Shape &shape) {
  std::int64_t count = 1;
  for (const Size &size : shape)
    count *= std::int64_t(size);
  return reshape(sin(iota({count}, DType::Float64) + 1), shape);
}

using Solve = std::function<Tensor(const sparse::Csr &, const Tensor &)>;
using Case = std::pair<const char *, Solve>;
const std::vector<Case> &cases() {
  static const std::vector<Case> all{
      {"lower", [](const sparse::Csr &a, const Tensor &b) { return sparse::triangular_solve(a, b); }},
      {"upper, transposed",
       [](const sparse::Csr &a, const Tensor &b) {
         return sparse::triangular_solve(a, b, {.lower = false, .transpose = true, .unit_diagonal = true});
       }},
      {"incomplete LU", [](const sparse::Csr &a, const Tensor &b) { return sparse::incomplete_lu(a)(b); }},
      {"incomplete Cholesky",
       [](const sparse::Csr &a, const Tensor &b) {
         return sparse::incomplete_cholesky((a + a.transposed()) * 0.5)(b);
       }},
      {"direct", [](const sparse::Csr &a, const Tensor &b) { return sparse::solve(a, b); }},
      {"direct, symmetric", [](const sparse::Csr &a, const Tensor &b) {
         return sparse::solve((a + a.transposed()) * 0.5, b, {.symmetric = true});
       }}};
  return all;
}
bool isThere(const Solve &solve) {
  try {
    solve(sparse::Csr(valuesOfExamples(1)[0], pattern()), waves({5}));
    return true;
  } catch (const StateError &) { // without Eigen
    return false;
  }
}

// What a function of values and a right-hand side gives for each example, in the ways that vmap may map it.
void expectMapped(const std::function<Tensor(const Tensor &, const Tensor &)> &f, const Tensor &values,
                  const Tensor &rights, double tolerance) {
  const std::int64_t count = values.shape()[0];
  auto expectRows = [&](const Tensor &found, const std::function<Tensor(std::int64_t)> &expected) {
    ASSERT_EQ(found.shape()[0], count);
    for (std::int64_t e = 0; e < count; ++e)
      expectNear(found[e], valuesOf(expected(e)), tolerance);
  };
  auto one = function(f);
  {
    SCOPED_TRACE("both");
    expectRows(function(vmap(f))(values, rights), [&](std::int64_t e) { return one(values[e], rights[e]); });
  }
  {
    SCOPED_TRACE("values");
    const Tensor right = rights[0];
    expectRows(function(vmap([&](const Tensor &v) { return f(v, right); }))(values),
               [&](std::int64_t e) { return one(values[e], right); });
  }
  {
    SCOPED_TRACE("right-hand sides");
    const Tensor same = values[1];
    expectRows(function(vmap([&](const Tensor &b) { return f(same, b); }))(rights),
               [&](std::int64_t e) { return one(same, rights[e]); });
  }
  SCOPED_TRACE("twice");
  const Tensor found = function([&](const Tensor &v, const Tensor &b) {
    return vmap([&](const Tensor &each) { return vmap([&](const Tensor &w) { return f(w, each); })(v); })(b);
  })(values, rights);
  for (std::int64_t e = 0; e < count; ++e)
    expectRows(found[e], [&](std::int64_t i) { return one(values[i], rights[e]); });
}

} // namespace

TEST(SparseExamples, SolutionsAndDerivativesAreThoseOfEach) {
  const Tensor values = valuesOfExamples(3);
  for (const auto &[name, solve] : cases())
    for (const Tensor &rights : {waves({3, 5}), waves({3, 5, 2})}) {
      if (!isThere(solve))
        continue;
      SCOPED_TRACE(name);
      auto solution = [&](const Tensor &v, const Tensor &b) { return solve(sparse::Csr(v, pattern()), b); };
      auto cost = [&](const Tensor &v, const Tensor &b) { return sum(sin(solution(v, b))); };
      expectMapped(solution, values, rights, 1e-13);
      SCOPED_TRACE("gradients");
      expectMapped(
          [&](const Tensor &v, const Tensor &b) { return grad([&](const Tensor &w) { return cost(w, b); })(v); },
          values, rights, 1e-12);
      expectMapped(
          [&](const Tensor &v, const Tensor &b) { return grad([&](const Tensor &c) { return cost(v, c); })(b); },
          values, rights, 1e-12);
      SCOPED_TRACE("forward");
      expectMapped(
          [&](const Tensor &v, const Tensor &b) {
            return jvp([&](const Tensor &w) { return solution(w, b); }, v, cos(v)).second;
          },
          values, rights, 1e-12);
    }
}

TEST(SparseExamples, SecondDerivativesAreThoseOfEach) {
  const Tensor values = valuesOfExamples(2), rights = waves({2, 5});
  for (const auto &[name, solve] : cases()) {
    if (!isThere(solve))
      continue;
    SCOPED_TRACE(name);
    expectMapped(
        [&](const Tensor &v, const Tensor &b) {
          auto cost = [&](const Tensor &w) { return sum(sin(solve(sparse::Csr(w, pattern()), b))); };
          return grad([&](const Tensor &w) { return sum(grad(cost)(w) * cos(w)); })(v);
        },
        values, rights, 1e-10);
  }
}

// One call for all examples: their number does not make the program longer.
TEST(SparseExamples, MayBeMany) {
  const std::int64_t count = 3000;
  const Tensor values = valuesOfExamples(count), rights = waves({count, 5});
  for (const auto &[name, solve] : cases()) {
    if (!isThere(solve))
      continue;
    SCOPED_TRACE(name);
    auto slope = [&](const Tensor &v, const Tensor &b) {
      return grad([&](const Tensor &w) { return sum(sin(solve(sparse::Csr(w, pattern()), b))); })(v);
    };
    const Tensor found = function(vmap(slope))(values, rights);
    for (std::int64_t e : {std::int64_t(0), std::int64_t(1777), count - 1})
      expectNear(found[e], valuesOf(slope(values[e], rights[e])), 1e-11);
  }
}

TEST(SparseExamples, AFaultInOneIsAnError) {
  const Tensor values = valuesOfExamples(3), rights = waves({3, 5});
  const Tensor none = values * tensor<double>({1, 1, 0}, {3, 1});
  auto direct =
      function(vmap([&](const Tensor &v, const Tensor &b) { return sparse::solve(sparse::Csr(v, pattern()), b); }));
  auto factored = function(
      vmap([&](const Tensor &v, const Tensor &b) { return sparse::incomplete_lu(sparse::Csr(v, pattern()))(b); }));
  if (isThere(cases()[4].second))
    EXPECT_CONTAINS(errorOf<ValueError>([&] { direct(none, rights); }), "sparse::solve: the matrix is singular");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { factored(none, rights); }), "incomplete_lu: a pivot is 0");
}

} // namespace calque::testing
