// Differential equations and integrals: solved, differentiated, and fitted to data.
#include <calque/solvers.h>

#include <cmath>
#include <iostream>
#include <utility>

using namespace calque;
using namespace calque::solvers;

// Volterra's prey and predators, with four rates.
Tensor hunt(const Tensor &y, const Tensor &rates) {
  return stack({rates[0] * y[0] - rates[1] * y[0] * y[1], rates[2] * y[0] * y[1] - rates[3] * y[1]});
}

// Robertson's chemical reaction: rates from 0.04 to 3e7.
Tensor react(const Tensor &, const Tensor &y) {
  Tensor first = 0.04 * y[0], second = 1e4 * y[1] * y[2], third = 3e7 * y[1] * y[1];
  return stack({second - first, first - second - third, third});
}

Tensor rounded(const Tensor &x) { return round(x, 4); }

int main() {
  // Learns the rates from states at some times: a gradient through the solver.
  const Tensor times = cast(iota({21}, DType::Int64), DType::Float64) * 0.5, start = tensor<double>({2, 1});
  auto animals = [&](const Tensor &rates) {
    return odeint([&](const Tensor &, const Tensor &y) { return hunt(y, rates); }, start, times).y;
  };
  const Tensor seen = function(animals)(tensor<double>({1.1, 0.4, 0.1, 0.4}));
  Variable rates(tensor<double>({1, 0.5, 0.15, 0.3}));
  auto learn = function([&] {
    GradientTape tape;
    Tensor loss = mean(square(log(animals(rates)) - log(seen)));
    rates.assign_sub(0.01 * tape.gradient(loss, rates).value());
    return loss;
  });
  for (int i = 0; i < 2000; ++i)
    learn();
  std::cout << "rates      " << rounded(rates) << '\n';

  // A stiff equation: 40 million time units in some 200 steps.
  auto reaction = function([](const Tensor &y0) {
    auto solution =
        odeint(react, y0, tensor<double>({0, 4e7}), {.method = OdeMethod::Rodas5P, .rtol = 1e-5, .atol = 1e-12});
    return std::pair(solution.y[1], solution.statistics.accepted);
  });
  auto [amounts, steps] = reaction(tensor<double>({1, 0, 0}));
  std::cout << "reaction   " << rounded(amounts[2]) << (steps.item<std::int64_t>() < 300 ? "" : " slowly") << '\n';

  // When a ball that is thrown up comes down, and how that depends on its speed.
  using Ball = std::pair<Tensor, Tensor>; // height and speed
  auto lands = [](const Tensor &speed) {
    auto fall = [](const Tensor &, const Ball &b) { return Ball(b.second, -9.81 - 0.1 * b.second); };
    const Event<Ball> floor{.g = [](const Tensor &, const Ball &b) { return b.first; }, .direction = -1};
    return odeint_events(fall, Ball(scalar<double>(1), speed), tensor<double>({0, 100}), {floor}).t;
  };
  auto [when, slope] = function(value_and_grad(lands))(scalar<double>(5));
  std::cout << "lands      " << rounded(when) << ' ' << rounded(slope) << '\n';

  // A thousand paths of a stock, and the price of an option on it.
  auto price = function([](const Tensor &volatility) {
    const Tensor one = ones({1000}, DType::Float64);
    const Tensor ends =
        sdeint([](const Tensor &, const Tensor &s) { return 0.05 * s; },
               [&](const Tensor &, const Tensor &s) { return volatility * s; }, one, tensor<double>({0, 1}),
               random::state(7, 0), {.method = SdeMethod::Milstein, .steps = 20})
            .y[1];
    return std::exp(-0.05) * mean(maximum(ends - 1, 0));
  });
  const double paid = price(scalar<double>(0.2)).item<double>();
  std::cout << "option     " << (paid > 0.08 && paid < 0.13 ? "near 0.1045" : "far") << '\n';

  // An integral to infinity, and its derivatives by a limit and by a parameter.
  auto tail = [](const Tensor &from, const Tensor &width) {
    return quad([&](const Tensor &x) { return exp(-width * x * x); }, from, kInfinity).value;
  };
  const Tensor from = scalar<double>(0.5), width = scalar<double>(2);
  std::cout << "integral   " << rounded(function(tail)(from, width));
  for (const Tensor &slopeOf : function(grad(tail, {.argnums = {0, 1}}))(from, width))
    std::cout << ' ' << rounded(slopeOf);
  std::cout << '\n';
}
