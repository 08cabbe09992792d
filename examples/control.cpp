// Control and chemistry: a cart that swings up its pole by iLQR, and the rates of Robertson's stiff reaction.
#include <calque/arrays.h>
#include <calque/calque.h>
#include <calque/solvers.h>

#include <iostream>

using namespace calque;

// The state after 0.04 s of a cart with a pole of 0.5 m and 0.2 kg that hangs at angle 0: position, angle, and their
// velocities.
Tensor move(const Tensor &s, const Tensor &force) {
  Tensor c = cos(s[1]), d = sin(s[1]), spin = 0.5 * square(s[3]), mass = 1 + 0.2 * square(d);
  Tensor push = (force[0] + 0.2 * d * (spin + 9.81 * c)) / mass;
  Tensor turn = (-force[0] * c - 0.2 * spin * c * d - 1.2 * 9.81 * d) / (0.5 * mass);
  Tensor velocity = slice(s, {2}, {4}) + 0.04 * stack({push, turn});
  return concat({slice(s, {0}, {2}) + 0.04 * velocity, velocity});
}

// A better sequence of forces [n, 1], and its cost. Tassa, Mansard and Todorov: Control-limited differential dynamic
// programming, 2014, without limits: a quadratic problem by a recursion backwards, and the best of six steps.
std::pair<Tensor, Tensor> improve(const Tensor &forces) {
  using Pair = std::pair<Tensor, Tensor>;
  const Tensor start = zeros({4}, DType::Float64), goal = tensor<double>({0, 3.141592653589793, 0, 0, 0});
  const Tensor weights = tensor<double>({0.01, 0.01, 0.001, 0.001, 0.002}); // of the state and the force
  auto unsettled = [&](const Tensor &z) { return weights * (z - goal); };
  auto [end, states] = scan([](const Tensor &s, const Tensor &u) { return Pair(move(s, u), s); }, start, forces);
  Tensor path = concat({states, forces}, 1);
  Tensor slopes = vmap(jacobian([](const Tensor &z) { return move(slice(z, {0}, {4}), slice(z, {4}, {5})); }))(path);
  auto back = [&](const Pair &value, const Pair &at) { // of the value and the motion: the curvature and the slope
    const auto &[curvature, slope] = value;
    const auto &[a, z] = at;
    Tensor h = matmul(transpose(a), matmul(curvature, a)) + diag(weights), g = matmul(slope, a) + unsettled(z);
    Tensor cross = slice(h[4], {0}, {4}), gain = -cross / h[4][4], change = -g[4] / h[4][4];
    Pair before(slice(h, {0, 0}, {4, 4}) + outer(cross, gain), slice(g, {0}, {4}) + cross * change);
    return std::pair(before, Pair(gain, change));
  };
  const Pair value(100 * eye(4, DType::Float64), 100 * (end - slice(goal, {0}, {4})));
  auto [gains, changes] = scan(back, value, Pair(slopes, path), {.reverse = true}).second;
  auto follow = [&](const Tensor &size) {
    auto step = [&](const Pair &run, const std::tuple<Tensor, Tensor, Tensor> &point) {
      const auto &[state, cost] = run;
      const auto &[at, gain, change] = point;
      Tensor u = slice(at, {4}, {5}) + size * change + sum(gain * (state - slice(at, {0}, {4}))),
             z = concat({state, u});
      return std::pair(Pair(move(state, u), cost + 0.5 * sum(unsettled(z) * (z - goal))), u);
    };
    auto [last, us] = scan(step, Pair(start, scalar<double>(0)), std::tuple(path, gains, changes));
    return Pair(last.second + 50 * sum(square(last.first - slice(goal, {0}, {4}))), us);
  };
  auto [costs, tries] = vmap(follow)(tensor<double>({1, 0.5, 0.25, 0.1, 0.02, 0}));
  return {min(costs), gather(tries, argmin(costs))};
}

// The concentrations at t = 40 by implicit Euler with steps that grow. Each step solves its equations by Newton's
// method, and has the derivatives of the solution.
Tensor reaction(const Tensor &rates) {
  auto change = [&](const Tensor &y) {
    Tensor a = rates[0] * y[0], b = rates[1] * y[1] * y[2], c = rates[2] * square(y[1]);
    return stack({b - a, a - b - c, c});
  };
  Tensor times = 40 * exp(-20 * (1 - iota({2001}, DType::Float64) / 2000.0));
  Tensor steps = concat({slice(times, {0}, {1}), diff(times)});
  auto step = [&](const Tensor &y, const Tensor &h) {
    return solvers::newton([&](const Tensor &z) { return z - y - h * change(z); }, y).x;
  };
  return fold(step, tensor<double>({1, 0, 0}), steps);
}

int main() {
  auto better = function(improve);
  Tensor forces = zeros({100, 1}, DType::Float64), cost;
  for (int i = 0; i < 100; ++i)
    std::tie(cost, forces) = better(forces);
  Tensor angle = fold(move, zeros({4}, DType::Float64), forces)[1];
  std::cout << "pole       at " << round(angle, 2) << ", cost " << round(cost, 2) << '\n';

  const Tensor rates = tensor<double>({0.04, 1e4, 3e7});
  auto end = function(reaction);
  std::cout << "reaction   " << round(end(rates) * tensor<double>({1, 1e6, 1}), 3) << '\n';
  // The elasticities of the first concentration.
  auto slopes = function(grad([](const Tensor &r) { return reaction(r)[0]; }));
  std::cout << "rates      " << round(slopes(rates) * rates, 3) << '\n';
}
