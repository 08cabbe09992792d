// Parameters from data: a Gaussian process, a Kalman filter, and two of NIST's problems of nonlinear regression.
#include <calque/arrays.h>
#include <calque/calque.h>
#include <calque/solvers.h>

#include <cmath>
#include <iostream>

using namespace calque;

const double kLog2Pi = std::log(2 * std::acos(-1.0));

// -log N(y; 0, K) of a Gaussian process with a squared-exponential kernel and noise. Parameters are the logarithms of
// length, scale and noise.
Tensor process(const Tensor &parameters, const Tensor &x, const Tensor &y) {
  const auto n = static_cast<std::int64_t>(x.size());
  Tensor p = exp(parameters), distances = (expand_dims(x, {1}) - x) / p[0];
  Tensor covariance = square(p[1]) * exp(-0.5 * square(distances)) + square(p[2]) * eye(n, DType::Float64);
  Tensor l = linalg::cholesky(covariance), white = linalg::triangular_solve(l, y);
  return 0.5 * sum(square(white)) + sum(log(diag(l))) + 0.5 * static_cast<double>(n) * kLog2Pi;
}

// -log p(y) of a position with a velocity that drifts, which is measured with noise. The loop is compiled.
Tensor filter(const Tensor &parameters, const Tensor &measured) {
  Tensor drift = exp(2 * parameters[0]), noise = exp(2 * parameters[1]);
  Tensor move = tensor<double>({1, 1, 0, 1}, {2, 2}), see = tensor<double>({1, 0});
  Tensor process = drift * tensor<double>({1.0 / 3, 0.5, 0.5, 1}, {2, 2});
  Tensor mean = zeros({2}, DType::Float64), p = 100 * eye(2, DType::Float64), loss = scalar<double>(0);
  for (Tensor i : range(measured.shape()[0])) {
    mean = matmul(move, mean);
    p = matmul(matmul(move, p), transpose(move)) + process;
    Tensor seen = matmul(p, see), variance = seen[0] + noise, error = measured[i] - mean[0];
    loss = loss + 0.5 * (log(variance) + square(error) / variance + kLog2Pi);
    mean = mean + seen * error / variance;
    p = p - expand_dims(seen, {1}) * seen / variance;
  }
  return loss;
}

int main() {
  Tensor t = iota({100}, DType::Float64) / 10.0, y = sin(t) + 0.1 * cos(37 * t);
  auto fit = function([](const Tensor &x, const Tensor &y) {
    auto r = solvers::lbfgs([&](const Tensor &p) { return process(p, x, y); }, zeros({3}, DType::Float64));
    return std::pair(r.value, exp(r.x));
  });
  auto [loss, parameters] = fit(t, y);
  std::cout << "process    " << round(loss, 5) << ' ' << round(parameters, 4) << '\n';

  // Newton's method, whose Hessian goes through the loop twice.
  auto step = function([](const Tensor &p, const Tensor &y) {
    auto loss = [&](const Tensor &q) { return filter(q, y); };
    auto [value, slope] = value_and_grad(loss)(p);
    return std::tuple(value, slope, p - linalg::solve(hessian(loss)(p), slope));
  });
  Tensor logarithms = tensor<double>({-4.5, -3});
  auto [start, slope, next] = step(logarithms, y);
  for (int i = 0; i < 8; ++i)
    logarithms = std::get<2>(step(logarithms, y));
  std::cout << "filter     " << round(start, 4) << " by " << round(slope, 4) << ", then "
            << round(std::get<0>(step(logarithms, y)), 4) << " at " << round(exp(logarithms), 4) << '\n';

  // NIST, Statistical Reference Datasets: Misra1a and MGH09, from the first, distant start. The certified parameters
  // are 238.94212918 and 5.5015643181e-4, and 0.19280693458, 0.19128232873, 0.12305650693 and 0.13606233068.
  Tensor x1 =
      tensor<double>({77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760});
  Tensor y1 =
      tensor<double>({10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78});
  auto misra = [&](const Tensor &b) { return b[0] * (1 - exp(-b[1] * x1)) - y1; };
  Tensor x2 = tensor<double>({4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625});
  Tensor y2 = tensor<double>({0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246});
  auto enzyme = [&](const Tensor &b) { return b[0] * (x2 * x2 + x2 * b[1]) / (x2 * x2 + x2 * b[2] + b[3]) - y2; };
  const solvers::LeastSquaresOptions exact{.ftol = 1e-15, .xtol = 1e-12, .gtol = 0};
  auto certified = function([&] {
    return std::pair(solvers::least_squares(misra, tensor<double>({500, 0.0001}), exact).x,
                     solvers::least_squares(enzyme, tensor<double>({25, 39, 41.5, 39}), exact).x);
  });
  auto [a, b] = certified();
  std::cout << "Misra1a    " << round(a * tensor<double>({1, 1e6}), 5) << '\n' << "MGH09      " << round(b, 6) << '\n';
}
