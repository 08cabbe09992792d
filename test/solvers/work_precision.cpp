// The DETEST problems of Hull, Enright, Fellen and Sedgwick: Comparing numerical methods for ordinary differential
// equations, 1972. Prints the error at t = 20 against DOP853 with a tolerance of 1e-13, the steps, the evaluations and
// the time for each method and tolerance. work_precision.py does the same with SciPy. Neither is a test.
#include "calque/solvers.h"

#include <chrono>
#include <cmath>
#include <cstdio>

using namespace calque;
using namespace calque::solvers;

namespace {

using F = std::function<Tensor(const Tensor &t, const Tensor &y)>;
struct Problem {
  const char *name;
  std::vector<double> y0;
  F f;
};

Tensor chain(const Tensor &rates, const Tensor &y) {
  const std::int64_t n = y.size();
  const Tensor flow = rates * split(y, {n - 1, 1})[0];
  return pad(flow, {1}, {0}) - pad(flow, {0}, {1});
}
std::vector<double> firstOf(std::size_t n) {
  std::vector<double> y(n, 0);
  y[0] = 1;
  return y;
}
Problem orbit(const char *name, double e) {
  return {name, {1 - e, 0, 0, std::sqrt((1 + e) / (1 - e))}, [](const Tensor &, const Tensor &y) {
            const Tensor r3 = pow(y[0] * y[0] + y[1] * y[1], 1.5);
            return stack({y[2], y[3], -y[0] / r3, -y[1] / r3});
          }};
}

std::vector<Problem> problems() {
  const Tensor ramp = cast(iota({9}, DType::Int64), DType::Float64) + 1;
  return {
      {"A1", {1}, [](const Tensor &, const Tensor &y) { return -y; }},
      {"A2", {1}, [](const Tensor &, const Tensor &y) { return -0.5 * y * y * y; }},
      {"A3", {1}, [](const Tensor &t, const Tensor &y) { return y * cos(t); }},
      {"A4", {1}, [](const Tensor &, const Tensor &y) { return y * 0.25 * (1 - y / 20); }},
      {"A5", {4}, [](const Tensor &t, const Tensor &y) { return (y - t) / (y + t); }},
      {"B1",
       {1, 3},
       [](const Tensor &, const Tensor &y) { return stack({2 * (y[0] - y[0] * y[1]), -(y[1] - y[0] * y[1])}); }},
      {"B2",
       {2, 0, 1},
       [](const Tensor &, const Tensor &y) { return stack({-y[0] + y[1], y[0] - 2 * y[1] + y[2], y[1] - y[2]}); }},
      {"B3",
       {1, 0, 0},
       [](const Tensor &, const Tensor &y) { return stack({-y[0], y[0] - y[1] * y[1], y[1] * y[1]}); }},
      {"B4",
       {3, 0, 0},
       [](const Tensor &, const Tensor &y) {
         const Tensor r = sqrt(y[0] * y[0] + y[1] * y[1]);
         return stack({-y[1] - y[0] * y[2] / r, y[0] - y[1] * y[2] / r, y[0] / r});
       }},
      {"B5",
       {0, 1, 1},
       [](const Tensor &, const Tensor &y) { return stack({y[1] * y[2], -y[0] * y[2], -0.51 * y[0] * y[1]}); }},
      {"C1", firstOf(10), [](const Tensor &, const Tensor &y) { return chain(ones({9}, DType::Float64), y); }},
      {"C2", firstOf(10), [ramp](const Tensor &, const Tensor &y) { return chain(ramp, y); }},
      {"C4", firstOf(51),
       [](const Tensor &, const Tensor &y) {
         return pad(split(y, {50, 1})[0], {1}, {0}) - 2 * y + pad(split(y, {1, 50})[1], {0}, {1});
       }},
      orbit("D1", 0.1),
      orbit("D3", 0.5),
      orbit("D5", 0.9),
      {"E1",
       {0.6713967071418030, 0.09540051444747446},
       [](const Tensor &t, const Tensor &y) {
         return stack({y[1], -(y[1] / (t + 1) + (1 - 0.25 / ((t + 1) * (t + 1))) * y[0])});
       }},
      {"E2", {2, 0}, [](const Tensor &, const Tensor &y) { return stack({y[1], (1 - y[0] * y[0]) * y[1] - y[0]}); }},
      {"E3",
       {0, 0},
       [](const Tensor &t, const Tensor &y) {
         return stack({y[1], y[0] * y[0] * y[0] / 6 - y[0] + 2 * sin(2.78535 * t)});
       }},
  };
}

double timeOf(const std::function<void()> &run) {
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best * 1e6;
}

} // namespace

int main() {
  const Tensor times = tensor<double>({0, 20});
  for (const Problem &problem : problems()) {
    const Tensor y0 = tensor(problem.y0);
    auto solver = [&](OdeMethod method, double tolerance) {
      return function([=, f = problem.f](const Tensor &y, const Tensor &ts) {
        const auto found = odeint(f, y, ts, {.method = method, .rtol = tolerance, .atol = tolerance});
        return std::tuple(found.y[1], found.statistics);
      });
    };
    const Tensor exact = std::get<0>(solver(OdeMethod::DormandPrince8, 1e-13)(y0, times));
    for (auto [name, method] : {std::pair("BS3", OdeMethod::BogackiShampine3),
                                {"DP5", OdeMethod::DormandPrince5},
                                {"TS5", OdeMethod::Tsitouras5},
                                {"DP8", OdeMethod::DormandPrince8}})
      for (double tolerance : {1e-3, 1e-6, 1e-9}) {
        auto solve = solver(method, tolerance);
        const auto [y, statistics] = solve(y0, times);
        std::printf("%s %s %.0e error %.1e steps %lld evaluations %lld us %.1f\n", problem.name, name, tolerance,
                    max(abs(y - exact)).item<double>(),
                    static_cast<long long>((statistics.accepted + statistics.rejected).item<std::int64_t>()),
                    static_cast<long long>(statistics.evaluations.item<std::int64_t>()),
                    timeOf([&] { solve(y0, times); }));
      }
  }
}
