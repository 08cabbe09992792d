// The 35 test problems of More, Garbow and Hillstrom (Testing unconstrained optimization software, ACM TOMS 7, 1981)
// from their standard starting points, by the solvers for least squares, minima and systems. It is not a test: it
// prints a table with the sums of squares that were reached and the evaluations that they took. `*` marks a sum that is
// none of the paper's minima. It returns 1 if least_squares misses a minimum.
#include <calque/calque.h>
#include <calque/solvers/least_squares.h>
#include <calque/solvers/minimize.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>

using namespace calque;

namespace {

using Values = std::vector<double>;

// The elements of x, the first of which is x(1), as in the paper.
struct Elements {
  const Tensor &x;
  Tensor operator()(std::int64_t i) const { return x[i - 1]; }
};
struct Problem {
  const char *name;
  Values start, minima; // the minima are those of the paper
  std::function<Tensor(const Tensor &)> residuals;
};

// 1, 2, ..., n as float64; `first` is the first number.
Tensor count(std::int64_t n, double first = 1) { return cast(iota({n}, DType::Int64), DType::Float64) + first; }
// The arc tangent, also of negative numbers. The slope at 0 is that of maximum, which is 1 at a tie.
Tensor arctan(const Tensor &x) {
  auto ofPositive = [](const Tensor &z) { return solvers::robust_loss(solvers::RobustLoss::Arctan, maximum(z, 0)); };
  return where(x < 0, -ofPositive(-x), ofPositive(x));
}
Values filled(std::size_t n, auto value) {
  Values x;
  for (std::size_t j = 1; j <= n; ++j)
    x.push_back(value(static_cast<double>(j), static_cast<double>(n)));
  return x;
}
Tensor cubes(const Tensor &x) { return x * x * x; }
Tensor vector(const std::vector<Tensor> &scalars) { return stack(scalars); }

// The problems whose residuals are written one by one.
std::vector<Problem> smallProblems() {
  using T = Tensor;
  auto of = [](auto f) { return [f](const T &x) { return f(Elements{x}); }; };
  return {
      {"1 Rosenbrock", {-1.2, 1}, {0}, of([](auto x) { return vector({10 * (x(2) - x(1) * x(1)), 1 - x(1)}); })},
      {"2 Freudenstein, Roth", {0.5, -2}, {0, 48.98425367924}, of([](auto x) {
         return vector({-13 + x(1) + ((5 - x(2)) * x(2) - 2) * x(2), -29 + x(1) + ((x(2) + 1) * x(2) - 14) * x(2)});
       })},
      {"3 Powell, badly scaled", {0, 1}, {0}, of([](auto x) {
         return vector({1e4 * x(1) * x(2) - 1, exp(-x(1)) + exp(-x(2)) - 1.0001});
       })},
      {"4 Brown, badly scaled", {1, 1}, {0}, of([](auto x) {
         return vector({x(1) - 1e6, x(2) - 2e-6, x(1) * x(2) - 2});
       })},
      {"5 Beale", {1, 1}, {0}, of([](auto x) {
         T y = x(2), y2 = y * y;
         return vector({1.5 - x(1) * (1 - y), 2.25 - x(1) * (1 - y2), 2.625 - x(1) * (1 - y2 * y)});
       })},
      {"6 Jennrich, Sampson", {0.3, 0.4}, {124.36218235561}, of([](auto x) {
         T i = count(10);
         return 2 + 2 * i - (exp(i * x(1)) + exp(i * x(2)));
       })},
      {"7 helical valley", {-1, 0, 0}, {0}, of([](auto x) {
         T angle = arctan(x(2) / x(1)) / (2 * std::numbers::pi) + where(x(1) < 0, full({}, 0.5, DType::Float64), 0);
         return vector({10 * (x(3) - 10 * angle), 10 * (sqrt(x(1) * x(1) + x(2) * x(2)) - 1), x(3)});
       })},
      {"8 Bard", {1, 1, 1}, {8.21487730657e-3, 17.4286933}, of([](auto x) {
         T y = tensor<double>({.14, .18, .22, .25, .29, .32, .35, .39, .37, .58, .73, .96, 1.34, 2.10, 4.39});
         T u = count(15), v = 16 - u;
         return y - (x(1) + u / (v * x(2) + minimum(u, v) * x(3)));
       })},
      {"9 Gaussian", {0.4, 1, 0}, {1.12793276961e-8}, of([](auto x) {
         T y = tensor<double>(
             {.0009, .0044, .0175, .0540, .1295, .2420, .3521, .3989, .3521, .2420, .1295, .0540, .0175, .0044, .0009});
         return x(1) * exp(-0.5 * x(2) * square((8 - count(15)) / 2 - x(3))) - y;
       })},
      {"10 Meyer", {0.02, 4000, 250}, {87.9458551710}, of([](auto x) {
         T y = tensor<double>(
             {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872});
         return x(1) * exp(x(2) / (45 + 5 * count(16) + x(3))) - y;
       })},
      {"11 Gulf research", {5, 2.5, 0.15}, {0, 0.038}, of([](auto x) {
         T t = count(99) / 100, y = 25 + pow(-50 * log(t), 2.0 / 3);
         return exp(-pow(abs(y - x(2)), x(3)) / x(1)) - t;
       })},
      {"12 Box, three-dimensional", {0, 10, 20}, {0}, of([](auto x) {
         T t = 0.1 * count(10);
         return exp(-t * x(1)) - exp(-t * x(2)) - x(3) * (exp(-t) - exp(-10 * t));
       })},
      {"13 Powell, singular", {3, -1, 0, 1}, {0}, of([](auto x) {
         return vector({x(1) + 10 * x(2), std::sqrt(5.0) * (x(3) - x(4)), square(x(2) - 2 * x(3)),
                        std::sqrt(10.0) * square(x(1) - x(4))});
       })},
      {"14 Wood", {-3, -1, -3, -1}, {0}, of([](auto x) {
         return vector({10 * (x(2) - x(1) * x(1)), 1 - x(1), std::sqrt(90.0) * (x(4) - x(3) * x(3)), 1 - x(3),
                        std::sqrt(10.0) * (x(2) + x(4) - 2), (x(2) - x(4)) / std::sqrt(10.0)});
       })},
      {"15 Kowalik, Osborne", {0.25, 0.39, 0.415, 0.39}, {3.07505603849e-4, 1.02734e-3}, of([](auto x) {
         T y = tensor<double>({.1957, .1947, .1735, .1600, .0844, .0627, .0456, .0342, .0323, .0235, .0246});
         T u = tensor<double>({4, 2, 1, .5, .25, .167, .125, .1, .0833, .0714, .0625});
         return y - x(1) * (u * u + u * x(2)) / (u * u + u * x(3) + x(4));
       })},
      {"16 Brown, Dennis", {25, 5, -5, -1}, {85822.2016263}, of([](auto x) {
         T t = count(20) / 5;
         return square(x(1) + t * x(2) - exp(t)) + square(x(3) + x(4) * sin(t) - cos(t));
       })},
      {"17 Osborne 1", {0.5, 1.5, -1, 0.01, 0.02}, {5.46489469748e-5}, of([](auto x) {
         T y = tensor<double>({.844, .908, .932, .936, .925, .908, .881, .850, .818, .784, .751,
                               .718, .685, .658, .628, .603, .580, .558, .538, .522, .506, .490,
                               .478, .467, .457, .448, .438, .431, .424, .420, .414, .411, .406});
         T t = 10 * count(33, 0);
         return y - (x(1) + x(2) * exp(-t * x(4)) + x(3) * exp(-t * x(5)));
       })},
      {"18 Biggs EXP6", {1, 2, 1, 1, 1, 1}, {0, 5.65564992e-3}, of([](auto x) {
         T t = 0.1 * count(13), y = exp(-t) - 5 * exp(-10 * t) + 3 * exp(-4 * t);
         return x(3) * exp(-t * x(1)) - x(4) * exp(-t * x(2)) + x(6) * exp(-t * x(5)) - y;
       })},
      {"19 Osborne 2", {1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5}, {4.01377362935e-2}, of([](auto x) {
         T y = tensor<double>({1.366, 1.191, 1.112, 1.013, .991, .885, .831, .847, .786, .725, .746, .679, .608,
                               .655,  .616,  .606,  .602,  .626, .651, .724, .649, .649, .694, .644, .624, .661,
                               .612,  .558,  .533,  .495,  .500, .423, .395, .375, .372, .391, .396, .405, .428,
                               .429,  .523,  .562,  .607,  .653, .672, .708, .633, .668, .645, .632, .591, .559,
                               .597,  .625,  .739,  .710,  .729, .720, .636, .581, .428, .292, .162, .098, .054});
         T t = count(65, 0) / 10;
         return y - (x(1) * exp(-t * x(5)) + x(2) * exp(-square(t - x(9)) * x(6)) +
                     x(3) * exp(-square(t - x(10)) * x(7)) + x(4) * exp(-square(t - x(11)) * x(8)));
       })},
  };
}

// Watson's function of n parameters.
Tensor watson(const Tensor &x) {
  const std::int64_t n = x.size();
  Tensor t = count(29) / 29, power = ones({29}, DType::Float64), value = zeros({29}, DType::Float64), slope = value;
  for (std::int64_t j = 0; j < n; ++j) {
    value = value + x[j] * power;
    if (j + 1 < n)
      slope = slope + static_cast<double>(j + 1) * x[j + 1] * power;
    power = power * t;
  }
  return concat({slope - square(value) - 1, stack({x[0], x[1] - square(x[0]) - 1})});
}

// The average of Chebyshev's polynomials minus their integrals.
Tensor chebyquad(const Tensor &x) {
  const std::int64_t n = x.size();
  std::vector<Tensor> residuals;
  Tensor z = 2 * x - 1, before = ones({n}, DType::Float64), now = z;
  for (std::int64_t i = 1; i <= n; ++i) {
    double integral = i % 2 ? 0 : -1.0 / (static_cast<double>(i * i) - 1);
    residuals.push_back(mean(now) - integral);
    Tensor next = 2 * z * now - before;
    before = now;
    now = next;
  }
  return stack(residuals);
}

Tensor shifted(const Tensor &x, std::int64_t by) { // x(i + by), and 0 beyond the ends
  const std::int64_t n = x.size();
  return by < 0 ? pad(slice(x, {0}, {n + by}), {-by}, {0}) : pad(slice(x, {by}, {n}), {0}, {by});
}

// The problems with a variable number of parameters.
std::vector<Problem> variableProblems() {
  using T = Tensor;
  const double a = std::sqrt(1e-5);
  auto pairs = [](const T &x, std::int64_t part, std::int64_t parts) {
    return gather(reshape(x, {-1, parts}), scalar(part), 1);
  };
  auto minusOne = [](double, double) { return -1.0; };
  auto one = [](double, double) { return 1.0; };
  auto half = [](double, double) { return 0.5; };
  auto interior = [](double j, double n) { return j / (n + 1) * (j / (n + 1) - 1); };
  return {
      {"20 Watson, n = 6", Values(6, 0), {2.28767005355e-3}, watson},
      {"20 Watson, n = 9", Values(9, 0), {1.39976013810e-6}, watson},
      {"20 Watson, n = 12", Values(12, 0), {4.72238e-10}, watson},
      {"21 extended Rosenbrock",
       filled(10, [](double j, double) { return int(j) % 2 ? -1.2 : 1; }),
       {0},
       [=](const T &x) {
         T u = pairs(x, 0, 2), v = pairs(x, 1, 2);
         return concat({10 * (v - u * u), 1 - u});
       }},
      {"22 extended Powell",
       filled(12, [](double j, double) { return Values{1, 3, -1, 0}[std::size_t(j) % 4]; }),
       {0},
       [=](const T &x) {
         T p = pairs(x, 0, 4), q = pairs(x, 1, 4), r = pairs(x, 2, 4), s = pairs(x, 3, 4);
         return concat({p + 10 * q, std::sqrt(5.0) * (r - s), square(q - 2 * r), std::sqrt(10.0) * square(p - s)});
       }},
      {"23 penalty I, n = 4",
       filled(4, [](double j, double) { return j; }),
       {2.24997750089e-5},
       [=](const T &x) { return concat({a * (x - 1), expand_dims(sum(square(x)) - 0.25, {0})}); }},
      {"23 penalty I, n = 10",
       filled(10, [](double j, double) { return j; }),
       {7.08765146709e-5},
       [=](const T &x) { return concat({a * (x - 1), expand_dims(sum(square(x)) - 0.25, {0})}); }},
      {"24 penalty II, n = 4",
       filled(4, half),
       {9.37629300735e-6},
       [=](const T &x) {
         T e = exp(x / 10), y = exp(count(3, 2) / 10) + exp(count(3) / 10);
         return concat({slice(x, {0}, {1}) - 0.2, a * (slice(e, {1}, {4}) + slice(e, {0}, {3}) - y),
                        a * (slice(e, {1}, {4}) - std::exp(-0.1)),
                        expand_dims(sum((5 - count(4)) * square(x)) - 1, {0})});
       }},
      {"25 variably dimensioned",
       filled(10, [](double j, double n) { return 1 - j / n; }),
       {0},
       [](const T &x) {
         T s = sum(count(10) * (x - 1));
         return concat({x - 1, stack({s, s * s})});
       }},
      {"26 trigonometric",
       filled(10, [](double, double n) { return 1 / n; }),
       {0, 2.79506e-5},
       [](const T &x) { return 10 - sum(cos(x)) + count(10) * (1 - cos(x)) - sin(x); }},
      {"27 Brown, almost linear",
       filled(10, half),
       {0, 1},
       [](const T &x) { return concat({slice(x, {0}, {9}) + sum(x) - 11, expand_dims(prod(x) - 1, {0})}); }},
      {"28 discrete boundary value",
       filled(10, interior),
       {0},
       [](const T &x) {
         const double h = 1.0 / 11;
         return 2 * x - shifted(x, -1) - shifted(x, 1) + h * h / 2 * cubes(x + h * count(10) + 1);
       }},
      {"29 discrete integral equation",
       filled(10, interior),
       {0},
       [](const T &x) {
         const double h = 1.0 / 11;
         T t = h * count(10), c = cubes(x + t + 1), before = cumsum(t * c), all = sum((1 - t) * c);
         return x + h / 2 * ((1 - t) * before + t * (all - cumsum((1 - t) * c)));
       }},
      {"30 Broyden, tridiagonal",
       filled(10, minusOne),
       {0},
       [](const T &x) { return (3 - 2 * x) * x - shifted(x, -1) - 2 * shifted(x, 1) + 1; }},
      {"31 Broyden, banded",
       filled(10, minusOne),
       {0},
       [](const T &x) {
         T y = x * (1 + x), band = shifted(y, 1);
         for (int by = 1; by <= 5; ++by)
           band = band + shifted(y, -by);
         return x * (2 + 5 * x * x) + 1 - band;
       }},
      {"32 linear, full rank",
       filled(10, one),
       {10},
       [](const T &x) { return pad(x, {0}, {10}) - 2.0 / 20 * sum(x) - 1; }},
      {"33 linear, rank 1",
       filled(10, one),
       {20.0 * 19 / (2 * 41)},
       [](const T &x) { return count(20) * sum(count(10) * x) - 1; }},
      {"34 linear, rank 1 with zeros",
       filled(10, one),
       {(400.0 + 60 - 6) / (2 * 37)},
       [](const T &x) {
         T weights = tensor<double>({0, 2, 3, 4, 5, 6, 7, 8, 9, 0});
         return where(count(20) < 20, count(20, 0), 0) * sum(weights * x) - 1;
       }},
      {"35 Chebyquad, n = 7", filled(7, [](double j, double n) { return j / (n + 1); }), {0}, chebyquad},
      {"35 Chebyquad, n = 8", filled(8, [](double j, double n) { return j / (n + 1); }), {3.51687372568e-3}, chebyquad},
      {"35 Chebyquad, n = 9", filled(9, [](double j, double n) { return j / (n + 1); }), {0}, chebyquad},
      {"35 Chebyquad, n = 10",
       filled(10, [](double j, double n) { return j / (n + 1); }),
       {6.50395480e-3, 4.7727139e-3},
       chebyquad},
  };
}

bool isMinimum(double value, const Values &minima) {
  for (double minimum : minima)
    if (std::abs(value - minimum) <= 1e-4 * minimum + 1e-9)
      return true;
  return false;
}

} // namespace

int main() {
  std::printf("%-30s %2s %3s %22s %22s %22s %18s\n", "problem", "n", "m", "least_squares (J)", "lbfgs (f)",
              "trust_region (steps)", "newton (J)");
  int missed = 0, problems = 0;
  auto run = [&](const Problem &p) {
    const Tensor x0 = tensor(p.start);
    const std::int64_t m = p.residuals(x0).size();
    std::printf("%-30s %2d %3d", p.name, int(p.start.size()), int(m));
    auto squares = [&](const Tensor &x) { return sum(square(p.residuals(x))); };
    auto report = [&](double value, std::int64_t count) {
      std::printf(" %14.6g%c%6d", value, isMinimum(value, p.minima) ? ' ' : '*', int(count));
      return isMinimum(value, p.minima);
    };
    auto fit = function([&](const Tensor &x0) {
      return solvers::least_squares(
          p.residuals, x0,
          {.ftol = 1e-12, .xtol = 1e-12, .gtol = 1e-14, .max_iterations = 2000, .require_convergence = false});
    })(x0);
    missed += !report(2 * fit.cost.item<double>(), fit.evaluations.item<std::int64_t>());
    auto limited = function([&](const Tensor &x0) {
      return solvers::lbfgs(squares, x0,
                            {.gtol = 1e-8, .ftol = 0, .max_iterations = 3000, .require_convergence = false});
    })(x0);
    report(limited.value.item<double>(), limited.evaluations.item<std::int64_t>());
    auto newton = function([&](const Tensor &x0) {
      return solvers::trust_region(squares, x0, {.gtol = 1e-8, .max_iterations = 2000, .require_convergence = false});
    })(x0);
    report(newton.value.item<double>(), newton.iterations.item<std::int64_t>());
    if (m == static_cast<std::int64_t>(p.start.size())) {
      auto root = function(
          [&](const Tensor &x0) { return solvers::newton(p.residuals, x0, {.require_convergence = false}); })(x0);
      double value = sum(square(root.residual)).item<double>();
      std::printf(" %10.2g%c%6d", value, root.converged.item<bool>() ? ' ' : '*',
                  int(root.iterations.item<std::int64_t>()));
    }
    std::printf("\n");
    ++problems;
  };
  for (const Problem &p : smallProblems())
    run(p);
  for (const Problem &p : variableProblems())
    run(p);
  std::printf("least_squares finds a minimum of %d of %d problems\n", problems - missed, problems);
  return missed > 0;
}
