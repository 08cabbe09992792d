// Functions of several operations of linear algebra, as programs have them: their values are NumPy's and SciPy's
// (linalg_programs.py), and their gradients those of differences.
#include "calque/arrays.h"
#include "calque/check_gradients.h"
#include "test/operations/Linalg.h"

#include <cmath>

namespace calque::testing {
namespace {

// The value, eagerly and compiled, of one example and of two, and the gradient in both modes. numpy 2.4.6,
// scipy 1.17.1.
void expectProgram(const std::function<Tensor(const Tensor &)> &f, const std::vector<double> &at, double expected) {
  const Tensor x = tensor(at);
  const double tolerance = 1e-10 * std::abs(expected);
  EXPECT_NEAR(f(x).item<double>(), expected, tolerance);
  auto compiled = function([f](const Tensor &x) { return f(x); });
  EXPECT_NEAR(compiled(x).item<double>(), expected, tolerance);
  const Tensor two = function(vmap([f](const Tensor &x) { return f(x); }))(stack({x, 1.01 * x}));
  EXPECT_NEAR(two[0].item<double>(), expected, tolerance);
  EXPECT_NEAR(two[1].item<double>(), f(1.01 * x).item<double>(), tolerance);
  check_gradients([f](const std::vector<Tensor> &in) { return f(in[0]); }, {x});
  check_gradients([compiled](const std::vector<Tensor> &in) mutable { return compiled(in[0]); }, {x});
  const Tensor direction = cos(iota({x.size()}, DType::Float64));
  const Tensor slope = function(grad([f](const Tensor &x) { return f(x); }))(x);
  EXPECT_NEAR(jvp([f](const Tensor &x) { return f(x); }, x, direction).second.item<double>(),
              sum(slope * direction).item<double>(), 1e-8 * std::abs(expected));
}

Tensor series() {
  const Tensor t = iota({12}, DType::Float64);
  return sin(t) + 0.1 * cos(37 * t);
}

TEST(LinalgPrograms, LogarithmOfADeterminant) {
  std::vector<double> m;
  for (int i = 0; i < 25; ++i)
    m.push_back(std::cos(i));
  expectProgram(
      [](const Tensor &x) {
        const Tensor m = reshape(x, {5, 5});
        return linalg::slogdet(matmul(m, transpose(m)) + eye(5, DType::Float64)).logarithm;
      },
      m, 3.921414562749393);
}

TEST(LinalgPrograms, MarginalLikelihoodOfAGaussianProcess) {
  expectProgram(
      [](const Tensor &x) {
        const Tensor t = iota({12}, DType::Float64), distances = (expand_dims(t, {1}) - t) / x[0];
        const Tensor l =
            linalg::cholesky(square(x[1]) * exp(-0.5 * square(distances)) + square(x[2]) * eye(12, DType::Float64));
        return 0.5 * sum(square(linalg::triangular_solve(l, series()))) + sum(log(diag(l))) +
               6 * std::log(2 * std::acos(-1.0));
      },
      {1.3, 0.8, 0.3}, 9.269112107182734);
}

// The recursion, where SciPy has the density of all measurements together.
TEST(LinalgPrograms, KalmanFilter) {
  expectProgram(
      [](const Tensor &x) {
        const Tensor move = tensor<double>({1, 1, 0, 1}, {2, 2}), see = tensor<double>({1, 0}, {1, 2}), y = series();
        const Tensor q = x[0] * tensor<double>({1.0 / 3, 0.5, 0.5, 1}, {2, 2});
        Tensor mean = zeros({2}, DType::Float64), p = 100 * eye(2, DType::Float64), loss = scalar<double>(0);
        for (Tensor i : range(12)) {
          mean = matmul(move, mean);
          p = matmul(matmul(move, p), transpose(move)) + q;
          const Tensor variance = matmul(matmul(see, p), transpose(see)) + x[1], error = y[i] - matmul(see, mean);
          const Tensor gain = transpose(linalg::solve(variance, matmul(see, p)));
          loss = loss + 0.5 * (linalg::slogdet(variance).logarithm + sum(error * linalg::solve(variance, error)) +
                               std::log(2 * std::acos(-1.0)));
          mean = mean + matmul(gain, error);
          p = p - matmul(gain, matmul(see, p));
        }
        return loss;
      },
      {0.2, 0.05}, 20.676612883291625);
}

// The cost of a linear regulator. The equation of Riccati is solved by doubling: E. K.-W. Chu and others, A
// structure-preserving doubling algorithm for periodic discrete-time algebraic Riccati equations, 2004.
TEST(LinalgPrograms, RegulatorByRiccatisEquation) {
  expectProgram(
      [](const Tensor &x) {
        Tensor a = reshape(x, {2, 2}), h = tensor<double>({1, 0, 0, 0.5}, {2, 2});
        const Tensor b = tensor<double>({0, 0.2}, {2, 1}), one = eye(2, DType::Float64);
        Tensor g = matmul(b, transpose(b)) / 0.3;
        for (Tensor i : range(7)) {
          const Tensor w = one + matmul(g, h), aw = linalg::solve(w, a), gw = linalg::solve(w, g);
          g = g + matmul(matmul(a, gw), transpose(a));
          h = h + matmul(matmul(transpose(a), h), aw);
          a = matmul(a, aw);
        }
        const Tensor start = tensor<double>({1, -2});
        return sum(start * matmul(h, start));
      },
      {1, 0.1, 0.3, 0.9}, 8.328155031882032);
}

// The lowest frequency of a chain of masses, by the springs' stiffness: its gradient is the square of how long the
// vector of the lowest vibration stretches each spring.
TEST(LinalgPrograms, FrequencyOfSprings) {
  auto stiffness = [](const Tensor &s) {
    const Tensor near = slice(s, {0}, {8}), far = slice(s, {1}, {9}), middle = slice(s, {1}, {8});
    return diag(near + far) - diag(middle, 1) - diag(middle, -1);
  };
  std::vector<double> springs;
  for (int i = 0; i < 9; ++i)
    springs.push_back(1 + 0.25 * i);
  expectProgram([&](const Tensor &s) { return linalg::eigvalsh(stiffness(s))[0]; }, springs, 0.21862870781225505);
  const Tensor s = tensor(springs), mode = reshape(slice(linalg::eigh(stiffness(s)).vectors, {0, 0}, {8, 1}), {-1});
  const Tensor padded = pad(mode, {1}, {1}, 0), stretched = slice(padded, {1}, {10}) - slice(padded, {0}, {9});
  const Tensor slope = grad([&](const Tensor &s) { return linalg::eigvalsh(stiffness(s))[0]; })(s);
  EXPECT_LT(max(abs(slope - square(stretched))).item<double>(), 1e-12);
}

} // namespace
} // namespace calque::testing
