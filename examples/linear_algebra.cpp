// Gaussian processes and Kalman filters: the logarithms of their likelihoods, and derivatives of these.
#include <calque/calque.h>

#include <cmath>
#include <iostream>

using namespace calque;

const double kLog2Pi = std::log(2 * std::acos(-1.0));

// log N(y; 0, L L^T)
Tensor log_density(const Tensor &l, const Tensor &y) {
  Tensor white = linalg::triangular_solve(l, y);
  Tensor diagonal = einsum("ii->i", {l});
  return -0.5 * sum(square(white)) - sum(log(diagonal)) - 0.5 * kLog2Pi * cast(size(y), DType::Float64);
}

// A Gaussian process with a squared-exponential kernel: parameters are the logarithms of length, scale and noise.
Tensor gaussian_process(const Tensor &parameters, const Tensor &x, const Tensor &y) {
  Tensor p = exp(parameters);
  Tensor distance = (expand_dims(x, {1}) - x) / p[0];
  Tensor covariance = square(p[1]) * exp(-0.5 * square(distance)) + square(p[2]) * eye(40, DType::Float64);
  return log_density(linalg::cholesky(covariance), y);
}

// A Kalman filter for a position that is measured with noise and a velocity that drifts.
Tensor kalman(const Tensor &drift, const Tensor &measured) {
  Tensor move = tensor<double>({1, 1, 0, 1}, {2, 2}), see = tensor<double>({1, 0}, {1, 2});
  Tensor process = square(drift) * eye(2, DType::Float64), noise = eye(1, DType::Float64);
  struct State {
    Tensor mean, covariance, likelihood;
  };
  State start{zeros({2, 1}, DType::Float64), 10 * eye(2, DType::Float64), scalar<double>(0)};
  auto step = [&](const State &at, const Tensor &y) {
    Tensor mean = matmul(move, at.mean);
    Tensor p = matmul(matmul(move, at.covariance), move, {.transpose_b = true}) + process;
    Tensor l = linalg::cholesky(matmul(matmul(see, p), see, {.transpose_b = true}) + noise);
    Tensor difference = reshape(y, {1}) - reshape(matmul(see, mean), {1});
    Tensor gain = transpose(linalg::cho_solve(l, matmul(see, p)));
    return State{mean + matmul(gain, expand_dims(difference, {1})), p - matmul(gain, matmul(see, p)),
                 at.likelihood + log_density(l, difference)};
  };
  return fold(step, start, measured).likelihood;
}

int main() {
  Tensor x = cast(iota({40}, DType::Int64), DType::Float64) / 4, y = sin(x) + 0.1 * cos(37 * x);
  Tensor parameters = zeros({3}, DType::Float64);
  auto climb = function([](const Tensor &p, const Tensor &x, const Tensor &y) {
    auto [value, gradient] = value_and_grad([&](const Tensor &q) { return gaussian_process(q, x, y); })(p);
    return std::pair(value, p + 0.003 * gradient);
  });
  for (int i = 0; i < 400; ++i)
    parameters = climb(parameters, x, y).second;
  std::cout << "process    " << climb(parameters, x, y).first << " at length, scale and noise " << exp(parameters)
            << '\n';

  auto filter = function(value_and_grad(kalman));
  auto [likelihood, slope] = filter(scalar<double>(0.3), 0.5 * x + sin(11 * x));
  std::cout << "filter     " << likelihood << ", its slope " << slope << '\n';

  // A batch: the eigenvalues of a thousand matrices, and the gradient of the largest of each.
  Tensor many = random::normal({1000, 3, 3}, {.dtype = DType::Float64});
  auto largest = function([](const Tensor &a) { return linalg::matrix_norm(a, linalg::MatrixNorm::Two); });
  Tensor norms = largest(many), slopes = grad([&](const Tensor &a) { return sum(largest(a)); })(many);
  std::cout << "norms      " << norms.shape() << ", of slopes of norm " << mean(linalg::matrix_norm(slopes)) << '\n';
}
