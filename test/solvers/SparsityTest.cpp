// Patterns of derivatives that are found: each has a place for each element that is not 0, and for few others.
#include "calque/arrays.h"
#include "calque/linalg.h"
#include "calque/sparse.h"

#include "test/solvers/Testing.h"

#include <random>

namespace calque::testing {
namespace {

using Vector = const Tensor &;
using F = std::function<Tensor(Vector)>;

Tensor some(std::int64_t n) { return 1.5 + sin(square(iota({n}, DType::Float64)) + 0.5); }
Tensor after(Vector x) { // each element's neighbour, and 0
  const std::int64_t n = x.size();
  return pad(slice(x, {1}, {n}), {0}, {1});
}
// The places as a matrix of ones.
Tensor placesOf(const sparse::Pattern &p) { return sparse::Csr(ones({p.size()}, DType::Float64), p).to_dense(); }
// Whether the pattern has all elements of the Jacobian at some points.
void expectEnough(const F &f, const sparse::Pattern &p, std::int64_t n) {
  const Tensor isPlace = placesOf(p) != 0;
  for (const Tensor &x : {some(n), -some(n)}) {
    const Tensor dense = function(jacobian(f))(x);
    EXPECT_FALSE(any((dense != 0) & !isPlace).item<bool>());
    expectNear(sparse::jacobian(f, p)(x).to_dense(), valuesOf(dense), 1e-12);
  }
}
void expectPlaces(const char *name, const F &f, std::int64_t places, std::int64_t n = 6) {
  SCOPED_TRACE(name);
  const sparse::Pattern p = sparse::jacobian_pattern(f, some(n));
  EXPECT_EQ(p.size(), places);
  expectEnough(f, p, n);
}

} // namespace

TEST(SparsityPatterns, OfOperationsThatMoveElements) {
  const Tensor turned = tensor<int>({5, 4, 3, 2, 1, 0});
  expectPlaces("neighbours", [](Vector x) { return 3 * x - sin(after(x)) * x; }, 11);
  expectPlaces("gather", [&](Vector x) { return gather(x, turned) * gather(x, tensor<int>({0, 0, 1, 1, 2, 2})); }, 12);
  expectPlaces("scatter", [&](Vector x) { return scatter_add(zeros({6}, DType::Float64), turned, square(x)); }, 6);
  expectPlaces(
      "scatter_nd_set", [](Vector x) { return scatter_nd_set(x, tensor<int>({1, 4}, {2, 1}), slice(x, {0}, {2})); }, 8);
  expectPlaces("transpose", [](Vector x) { return reshape(transpose(reshape(x, {2, 3})), {6}) * x; }, 10);
  expectPlaces("reverse", [](Vector x) { return reverse(x) * concat({slice(x, {3}, {6}), slice(x, {0}, {3})}); }, 10);
  expectPlaces("split", [](Vector x) { return split(x, {2, 4})[1] * split(x, {2, 4})[0][0]; }, 8);
  expectPlaces("strides", [](Vector x) { return exp(slice(x, {1}, {6}, {2})); }, 3);
  expectPlaces("broadcast", [](Vector x) { return reshape(expand_dims(slice(x, {0}, {2}), {1}) * x, {12}); }, 22);
  expectPlaces(
      "take_along_axis",
      [](Vector x) { return reshape(take_along_axis(reshape(x, {2, 3}), tensor<int>({0, 2}, {2, 1}), 1), {2}); }, 2);
}

TEST(SparsityPatterns, OfProductsSumsAndChoices) {
  const Tensor matrix = tensor<double>({1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0}, {2, 6});
  expectPlaces("a constant matrix", [&](Vector x) { return matmul(matrix, x); }, 3);
  expectPlaces(
      "a matrix in the program",
      [](Vector x) { return matmul(tensor<double>({1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {2, 6}), sin(x)); }, 4);
  expectPlaces(
      "a matrix of the vector", [](Vector x) { return reshape(matmul(reshape(x, {2, 3}), reshape(x, {3, 2})), {4}); },
      18);
  expectPlaces(
      "a sparse matrix",
      [](Vector x) { return sparse::csr({ones({3}, DType::Float64), {0, 0, 1}, {0, 2, 1}, {2, 6}})(square(x)); }, 3);
  expectPlaces("sum", [](Vector x) { return sum(reshape(square(x), {2, 3}), {1}); }, 6);
  expectPlaces("max", [](Vector x) { return max(reshape(square(x), {2, 3}), {1}); }, 6);
  expectPlaces("cumsum", [](Vector x) { return cumsum(x * x); }, 21);
  expectPlaces("cumprod", [](Vector x) { return cumprod(x); }, 21);
  // Both sides of a choice.
  expectPlaces("where", [](Vector x) { return where(x > 1, x, reverse(x)); }, 12);
  expectPlaces(
      "cond", [](Vector x) { return cond(sum(x) > 0, [&] { return sin(x); }, [&] { return reverse(x); }); }, 12);
  // Neither what has no derivative, nor what is multiplied by 0.
  expectPlaces("stop_gradient", [](Vector x) { return x * stop_gradient(reverse(x)); }, 6);
  expectPlaces("floor", [](Vector x) { return floor(x) + 0 * sum(x); }, 0);
  // A derivative of the user's own, which is not that of the value.
  expectPlaces("custom_gradient", custom_gradient([](Vector x) {
                 return std::pair(round(x), [](Vector g) { return reverse(g); });
               }) /* no element of the value moves */,
               6);
}

TEST(SparsityPatterns, OfLoops) {
  expectPlaces(
      "of known length",
      [](Vector x) { return for_range(0, 2, x, [](Vector, Vector y) { return y + sin(after(y)); }); }, 15);
  expectPlaces(
      "that index",
      [](Vector x) { return for_range(0, 3, x, [](Vector i, Vector y) { return y + sin(gather(y, i)); }); }, 21);
  // Until the sets of an unknown number of iterations do not grow.
  expectPlaces(
      "of unknown length",
      [](Vector x) {
        return while_loop([](Vector y) { return sum(square(y)) < 500; },
                          [](Vector y) { return 1.5 * y + concat({slice(y, {1}, {3}), zeros({4}, DType::Float64)}); },
                          x);
      },
      9);
  expectPlaces(
      "of unknown length that mix all",
      [](Vector x) {
        return while_loop([](Vector y) { return sum(square(y)) < 500; },
                          [](Vector y) { return 1.5 * y + 0.1 * concat({slice(y, {1}, {6}), slice(y, {0}, {1})}); }, x);
      },
      36);
}

TEST(SparsityPatterns, AreDenseWhereAnOperationIsNotUnderstood) {
  expectPlaces("sort", [](Vector x) { return sort(x); }, 36);
  expectPlaces(
      "a factorisation",
      [](Vector x) {
        return linalg::solve(reshape(concat({x, ones({3}, DType::Float64)}), {3, 3}) + 3 * eye(3, DType::Float64),
                             ones({3}, DType::Float64));
      },
      18);
  // Its own elements alone.
  expectPlaces(
      "a transform of two", [](Vector x) { return concat({x, fft::irfft(fft::rfft(slice(x, {0}, {2})))}); }, 10);
}

TEST(SparsityPatterns, OfHessians) {
  auto chain = [](Vector x) { // Rosenbrock's
    const std::int64_t n = x.size();
    Tensor first = slice(x, {0}, {n - 1}), second = slice(x, {1}, {n});
    return sum(100 * square(second - square(first)) + square(1 - first));
  };
  const sparse::Pattern p = sparse::hessian_pattern(chain, some(8));
  EXPECT_EQ(p.indices(), sparse::Pattern::banded(8, 1, 1).indices());
  expectNear(sparse::hessian(chain, p)(some(8)).to_dense(), valuesOf(hessian(chain)(some(8))), 1e-10);
  EXPECT_EQ(sparse::hessian_pattern([](Vector x) { return sum(exp(x)); }, some(5)).size(), 5);
  EXPECT_EQ(sparse::hessian_pattern([](Vector x) { return sum(3 * x); }, some(5)).size(), 0);
  EXPECT_EQ(sparse::hessian_pattern([](Vector x) { return square(sum(x)); }, some(5)).size(), 25);
}

TEST(SparsityPatterns, OfLargeStencilsAreFoundInProportion) {
  const std::int64_t n = 100000;
  auto flow = [](Vector x) { return square(x) - exp(after(x)); };
  const sparse::Pattern p = sparse::jacobian_pattern(flow, zeros({n}));
  EXPECT_EQ(p.size(), 2 * n - 1);
  EXPECT_EQ(sparse::count_colours(p), 2);
}

// Random programs miss no element.
TEST(SparsityPatterns, OfRandomProgramsMissNothing) {
  const std::int64_t n = 6;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    auto f = [seed](Vector x) {
      std::mt19937 random(seed);
      std::vector<Tensor> made{x};
      auto any = [&] { return made[random() % made.size()]; };
      for (int step = 0; step < 8; ++step) {
        const Tensor a = any(), b = any();
        switch (random() % 14) {
        case 0:
          made.push_back(a * b);
          break;
        case 1:
          made.push_back(a + sin(b));
          break;
        case 2:
          made.push_back(where(a > b, a, after(b)));
          break;
        case 3:
          made.push_back(reverse(a));
          break;
        case 4:
          made.push_back(after(a));
          break;
        case 5:
          made.push_back(gather(a, tensor<int>({0, 2, 2, 4, 5, 1})));
          break;
        case 6:
          made.push_back(scatter_add(b, tensor<int>({1, 1, 3}), slice(a, {0}, {3})));
          break;
        case 7:
          made.push_back(a / (1 + square(sum(reshape(b, {2, 3}), {1}))[static_cast<std::int64_t>(random() % 2)]));
          break;
        case 8:
          made.push_back(reshape(transpose(reshape(a, {3, 2})), {6}));
          break;
        case 9:
          made.push_back(cumsum(a) / 10);
          break;
        case 10:
          made.push_back(reshape(matmul(reshape(a, {2, 3}), tensor<double>({1, 0, 0, 0, 0, 2, 0, 1, 0}, {3, 3})), {6}));
          break;
        case 11:
          made.push_back(for_range(0, 2, a, [&](Vector i, Vector y) { return y + 0.1 * gather(b, i) * after(y); }));
          break;
        case 12:
          made.push_back(cond(a[0] > b[1], [&] { return a * 0.5; }, [&] { return after(b); }));
          break;
        default:
          made.push_back(maximum(a, reverse(b)));
          break;
        }
      }
      return made.back();
    };
    expectEnough(f, sparse::jacobian_pattern(f, some(n)), n);
  }
}

TEST(SparsityPatterns, MisuseIsRefusedWithTheUsersLine) {
  const F twice = [](Vector x) { return 2 * x; };
  EXPECT_MISUSE(ShapeError, sparse::jacobian_pattern(twice, ones({2, 2})),
                "sparse::jacobian_pattern: x is float32[2,2], and must be a vector of known size");
  EXPECT_MISUSE(DTypeError, sparse::jacobian_pattern(twice, iota({3}, DType::Int64)),
                "sparse::jacobian_pattern: x is float32 or float64, not int64[3]");
  EXPECT_MISUSE(StateError, sparse::jacobian_pattern(F(), ones({3})),
                "sparse::jacobian_pattern: the function is an empty std::function");
  EXPECT_MISUSE(ValueError, sparse::jacobian_pattern([](Vector x) { return sort(x); }, ones({100000})),
                "the pattern that is found has more than 100 million places; give one of your own");
  EXPECT_MISUSE(ShapeError, sparse::jacobian_pattern([](Vector x) { return sum(x); }, ones({3})),
                "sparse::jacobian_pattern: the function returns float32[], and must return a vector of known size");
}

} // namespace calque::testing
