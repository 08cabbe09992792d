// Loops beside the same loops by hand: `./dev bench --loops`. Each case has two rows, NAME and NAME_by_hand, with the
// same check. What is by hand is compiled with -O3 for the machine's own CPU, one thread, and has no gradients.
#include "benchmarks/Harness.h"
#include "benchmarks/loops/ByHand.h"

#include "calque/arrays.h"
#include "calque/calque.h"
#include "calque/linalg.h"

using namespace calque;
using namespace calque::benchmarks;

namespace {

double elementOf(const Tensor &x) { return cast(x, DType::Float64).item<double>(); }

// A case of a compiled function and its arguments.
template <typename F, typename... Args> Case compiled(std::string name, F f, Args... args) {
  return {std::move(name), [=] {
            auto made = function<Tensor(const Args &...)>(f);
            return Work{[=]() mutable { return made(args...); }, elementOf};
          }};
}
// The gradient's elements are added, so that there is one number to check.
template <typename F, typename... Args> Case gradientOf(std::string name, F f, Args... args) {
  return compiled(std::move(name), [=](const auto &...x) { return sum(grad(f)(x...)); }, args...);
}
Case byHand(std::string name, double (*f)()) {
  return {name + "_by_hand", [=] { return Work{[=] { return scalar<double>(f()); }, elementOf}; }};
}

//===-- Small states ----------------------------------------------------------------------------===//

Tensor lorenz(const Tensor &s) {
  Tensor x = s[0], y = s[1], z = s[2];
  return stack({10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z});
}
Tensor rungeKutta(const Tensor &start) {
  Tensor s = start;
  for (Tensor i : range(hand::kSteps)) {
    Tensor k1 = lorenz(s), k2 = lorenz(s + 0.005 * k1), k3 = lorenz(s + 0.005 * k2), k4 = lorenz(s + 0.01 * k3);
    s = s + 0.01 / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return sum(s);
}

// A planet around a fixed sun, by leapfrog.
Tensor kepler(const Tensor &start) {
  Tensor position = start[0], speed = start[1];
  for (Tensor i : range(hand::kOrbitSteps)) {
    position = position + 0.001 * speed;
    Tensor square = sum(position * position);
    speed = speed - 0.002 * position / (square * sqrt(square));
    position = position + 0.001 * speed;
  }
  return sum(position) + sum(speed);
}

// The affine scan of jax#36799: 3 x 3 matrices.
Tensor affineScan(const Tensor &matrix) {
  Tensor x = ones({3}, DType::Float64);
  for (Tensor i : range(hand::kScanSteps))
    x = matmul(matrix, x) + 0.1;
  return sum(x);
}

// The log-likelihood of observations of two coordinates that move at a speed, as functions of both noises.
Tensor kalman(const Tensor &noise, const Tensor &observations) {
  const Tensor f = tensor<double>({1, 0, 0.1, 0, 0, 1, 0, 0.1, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4});
  const Tensor h = tensor<double>({1, 0, 0, 0, 0, 1, 0, 0}, {2, 4});
  const Tensor q = noise[0] * eye(4, DType::Float64), r = noise[1] * eye(2, DType::Float64);
  Tensor x = zeros({4}, DType::Float64), p = eye(4, DType::Float64), likelihood = zeros({}, DType::Float64);
  for (Tensor y : observations) {
    x = matmul(f, x);
    p = matmul(matmul(f, p), transpose(f)) + q;
    Tensor ph = matmul(p, transpose(h)), s = matmul(h, ph) + r;
    Tensor innovation = y - matmul(h, x), k = transpose(linalg::solve(s, transpose(ph)));
    likelihood = likelihood - 0.5 * (log(linalg::det(s)) + sum(innovation * linalg::solve(s, innovation)));
    x = x + matmul(k, innovation);
    p = p - matmul(k, transpose(ph));
  }
  return likelihood;
}

Tensor xorshift(const Tensor &seed) {
  Tensor x = seed;
  const Tensor a = tensor<std::uint64_t>({13})[0], b = tensor<std::uint64_t>({7})[0],
               c = tensor<std::uint64_t>({17})[0];
  for (Tensor i : range(hand::kDraws)) {
    x = x ^ (x << a);
    x = x ^ (x >> b);
    x = x ^ (x << c);
  }
  return x >> tensor<std::uint64_t>({12})[0];
}

//===-- Elements of arrays ----------------------------------------------------------------------===//

Tensor editDistance(const Tensor &a, const Tensor &b) {
  const std::int64_t n = b.shape()[0];
  Tensor row = iota({n + 1}, DType::Int32);
  for (Tensor i : range(a.shape()[0])) {
    Tensor diagonal = row[0];
    at(row, 0) = cast(i + 1, DType::Int32);
    for (Tensor j : range(n)) {
      Tensor above = row[j + 1];
      at(row, j + 1) = minimum(minimum(above, row[j]) + 1, diagonal + cast(a[i] != b[j], DType::Int32));
      diagonal = above;
    }
  }
  return row[n];
}
Tensor editDistanceByTable(const Tensor &a, const Tensor &b) {
  const std::int64_t m = a.shape()[0], n = b.shape()[0];
  Tensor table = zeros({m + 1, n + 1}, DType::Int32);
  for (Tensor i : range(m + 1))
    at(table, i, 0) = cast(i, DType::Int32);
  for (Tensor j : range(n + 1))
    at(table, 0, j) = cast(j, DType::Int32);
  for (Tensor i : range(m))
    for (Tensor j : range(n)) {
      Tensor differs = cast(a[i] != b[j], DType::Int32);
      at(table, i + 1, j + 1) = minimum(minimum(table[i][j + 1], table[i + 1][j]) + 1, table[i][j] + differs);
    }
  return table[m][n];
}

Tensor sieve(const Tensor &first) {
  Tensor isPrime = ones({hand::kSieve}, DType::Bool);
  for (Tensor i : range(first, 317))
    if (isPrime[i]) {
      Tensor j = i * i;
      while (j < hand::kSieve) {
        at(isPrime, j) = false;
        j = j + i;
      }
    }
  return sum(cast(isPrime, DType::Int64));
}

// Soft dynamic time warping (Cuturi and Blondel, 2017).
Tensor softAlignment(const Tensor &a, const Tensor &b) {
  const std::int64_t n = b.shape()[0];
  Tensor row = full({n + 1}, 1e3, DType::Float64);
  at(row, 0) = 0.0;
  for (Tensor i : range(a.shape()[0])) {
    Tensor diagonal = row[0];
    at(row, 0) = 1e3;
    for (Tensor j : range(n)) {
      Tensor above = row[j + 1], left = row[j], least = minimum(minimum(above, left), diagonal);
      Tensor soft = least - log(exp(least - above) + exp(least - left) + exp(least - diagonal));
      at(row, j + 1) = soft + square(a[i] - b[j]);
      diagonal = above;
    }
  }
  return row[n];
}

//===-- Grids -----------------------------------------------------------------------------------===//

Tensor heat(const Tensor &start) {
  Tensor u = start;
  for (Tensor i : range(hand::kHeatSteps))
    u = u + 0.25 * (roll(u, 1, 0) - 2.0 * u + roll(u, -1, 0));
  return sum(u * u);
}

// How many points of a grid stay bounded, each for itself.
Tensor mandelbrot(const Tensor &re, const Tensor &im) {
  auto steps = [](const Tensor &a, const Tensor &b) {
    Tensor x = zeros({}, DType::Float64), y = zeros({}, DType::Float64), n = scalar<std::int64_t>(0);
    while (n < hand::kMostSteps && x * x + y * y < 4.0) {
      Tensor next = x * x - y * y + a;
      y = 2.0 * x * y + b;
      x = next;
      n = n + 1;
    }
    return n;
  };
  return sum(vmap(steps)(re, im));
}

Tensor asTensor(const std::vector<double> &values, Shape shape) { return tensor(values, std::move(shape)); }

} // namespace

int main(int argc, char **argv) {
  const std::int64_t letters = static_cast<std::int64_t>(hand::kWord);
  const Tensor start = tensor<double>({1, 2, 0.5}), planet = tensor<double>({1, 0, 0, 1.1}, {2, 2});
  const Tensor a = tensor(hand::letters(1), {letters}), b = tensor(hand::letters(2), {letters});
  const Tensor x = asTensor(hand::wave(0.7), {hand::kSeries}), y = asTensor(hand::wave(0.9), {hand::kSeries});
  const Tensor noise = tensor<double>({0.01, 0.1}), seen = asTensor(hand::observations(), {hand::kObservations, 2});
  const Tensor rod = asTensor(hand::rod(), {hand::kCells});
  const Tensor matrix = asTensor(hand::matrix(), {3, 3});
  const Tensor re = asTensor(hand::grid(false), {hand::kPoints}), im = asTensor(hand::grid(true), {hand::kPoints});
  const Tensor seed = tensor<std::uint64_t>({hand::kSeed})[0], two = scalar<std::int64_t>(2);
  return runCases({compiled("rk4", rungeKutta, start),
                   byHand("rk4", hand::rk4),
                   gradientOf("rk4_gradient", rungeKutta, start),
                   compiled("kepler", kepler, planet),
                   byHand("kepler", hand::kepler),
                   gradientOf("kepler_gradient", kepler, planet),
                   compiled("affine_scan", affineScan, matrix),
                   byHand("affine_scan", hand::affineScan),
                   gradientOf("affine_scan_gradient", affineScan, matrix),
                   compiled("kalman", kalman, noise, seen),
                   byHand("kalman", hand::kalman),
                   gradientOf("kalman_gradient", kalman, noise, seen),
                   compiled("xorshift", xorshift, seed),
                   byHand("xorshift", hand::xorshift),
                   compiled("edit_distance", editDistance, a, b),
                   byHand("edit_distance", hand::editDistance),
                   compiled("edit_distance_by_table", editDistanceByTable, a, b),
                   byHand("edit_distance_by_table", hand::editDistanceByTable),
                   compiled("sieve", sieve, two),
                   byHand("sieve", hand::sieve),
                   compiled("soft_alignment", softAlignment, x, y),
                   byHand("soft_alignment", hand::softAlignment),
                   gradientOf("soft_alignment_gradient", softAlignment, x, y),
                   compiled("heat", heat, rod),
                   byHand("heat", hand::heat),
                   gradientOf("heat_gradient", heat, rod),
                   compiled("mandelbrot", mandelbrot, re, im),
                   byHand("mandelbrot", hand::mandelbrot)},
                  {}, argc, argv);
}
