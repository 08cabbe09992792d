// Roots, least squares and minima, and the derivatives of solutions.
#include <calque/calque.h>
#include <calque/solvers.h>

#include <iostream>

using namespace calque;

// Kepler's equation: the eccentric anomaly of an orbit, by its mean anomaly and its eccentricity.
Tensor anomaly(const Tensor &mean, const Tensor &eccentricity) {
  return solvers::newton([&](const Tensor &x) { return x - eccentricity * sin(x) - mean; }, mean).x;
}

// A decay with an outlier among the measurements.
Tensor decay(const Tensor &p, const Tensor &t) { return p[0] * exp(-p[1] * t); }

// The lowest point of a chain of 20 springs between two walls of one height, which is loaded with weights.
Tensor sag(const Tensor &weights) {
  const std::int64_t n = 19;
  auto energy = [&](const Tensor &y) {
    Tensor left = pad(y, {1}, {0}), right = pad(y, {0}, {1}); // the walls are at 0
    Tensor stretch = sqrt(1 + square(left - right)) - 1;
    return 50 * sum(square(stretch)) + sum(weights * y);
  };
  return -min(solvers::lbfgs(energy, full({n}, -0.1, DType::Float64), {.gtol = 1e-9}).x, {0});
}

int main() {
  // One system, and a thousand at once, each with an iteration of its own.
  Tensor x = anomaly(scalar<double>(1.0), scalar<double>(0.5));
  std::cout << "anomaly    " << x << '\n';
  auto orbit = function(vmap(anomaly, {.in_axes = {0, std::nullopt}}));
  Tensor means = 3 * cast(iota({1000}, DType::Int64), DType::Float64) / 1000;
  std::cout << "of many    " << orbit(means, scalar<double>(0.5))[333] << '\n';
  // The derivative of the solution, by the implicit function theorem: 1 / (1 - e cos(x)).
  std::cout << "slope      " << function(grad(anomaly))(scalar<double>(1.0), scalar<double>(0.5)) << ' '
            << 1 / (1 - 0.5 * cos(x)) << '\n';

  // A robust fit, and how its parameters change with a measurement.
  Tensor t = tensor<double>({0, 1, 2, 3, 4, 5}), y = tensor<double>({4, 2.42, 1.47, 3.5, 0.54, 0.33});
  auto fit = [&](const Tensor &y) {
    auto residuals = [&](const Tensor &p) { return decay(p, t) - y; };
    return solvers::least_squares(residuals, tensor<double>({1, 1}),
                                  {.loss = solvers::RobustLoss::Cauchy, .f_scale = 0.1})
        .x;
  };
  std::cout << "fit        " << round(fit(y), 2) << '\n';
  Tensor influence = jacobian(fit)(y); // [2, 6]: the fourth measurement is the outlier
  std::cout << "influence  " << round(influence[0], 2) << '\n';

  // A minimum, and its derivative by 19 weights.
  Tensor weights = full({19}, 1, DType::Float64);
  auto [low, slopes] = function(value_and_grad(sag))(weights);
  std::cout << "sag        " << round(low, 3) << ", by the weights " << round(slopes.rows(0, 3), 3) << '\n';

  // Brackets of many elements.
  Tensor a = tensor<double>({0.5, 1, 2});
  std::cout << "brackets   "
            << solvers::brent([&](const Tensor &x) { return cos(x) - a * x; }, zeros({3}, DType::Float64), 2.0).x
            << '\n';

  // Parameters in a structure.
  struct Line {
    Tensor slope, offset;
  };
  const Line start{scalar<double>(0.0), scalar<double>(0.0)};
  auto loss = [&](const Tensor &v) {
    Line line = solvers::unravel(start, v);
    return mean(square(line.slope * t + line.offset - (2 * t + 1)));
  };
  Line line = solvers::unravel(start, solvers::bfgs(loss, solvers::ravel(start)).x);
  std::cout << "line       " << round(line.slope, 4) << ' ' << round(line.offset, 4) << '\n';
}
