#include "benchmarks/loops/ByHand.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace calque::benchmarks::hand {

std::vector<std::int32_t> letters(int step) {
  std::vector<std::int32_t> word(kWord);
  for (int i = 0; i < kWord; ++i)
    word[static_cast<std::size_t>(i)] = (i * i * step + i / 3) % 5;
  return word;
}

std::vector<double> wave(double frequency) {
  std::vector<double> values(kSeries);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(frequency * static_cast<double>(i));
  return values;
}

std::vector<double> observations() {
  std::vector<double> values(2 * kObservations);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(0.1 * static_cast<double>(i / 2) + static_cast<double>(i % 2)) +
                0.05 * std::cos(7.0 * static_cast<double>(i));
  return values;
}

std::vector<double> rod() {
  std::vector<double> cells(kCells);
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = std::sin(0.05 * static_cast<double>(i)) + (i % 7 == 0 ? 1 : 0);
  return cells;
}

std::vector<double> matrix() { return {0.5, 0.2, -0.1, 0.1, 0.6, 0.2, -0.3, 0.1, 0.4}; }

std::vector<double> grid(bool imaginary) {
  constexpr int kColumns = 200, kRows = kPoints / kColumns;
  std::vector<double> values;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      values.push_back(imaginary ? -1.2 + 2.4 * i / kRows : -2.0 + 2.6 * j / kColumns);
  return values;
}

namespace {

using Three = std::array<double, 3>;

Three lorenz(const Three &s) {
  return {10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3.0 * s[2]};
}
Three step(const Three &s, double length, const Three &k) {
  return {s[0] + length * k[0], s[1] + length * k[1], s[2] + length * k[2]};
}

// Keeps the compiler from computing a loop before the program runs.
template <typename T> T opaque(T value) {
  volatile T read = value;
  return read;
}

} // namespace

double rk4() {
  Three s{opaque(1.0), 2, 0.5};
  for (int i = 0; i < kSteps; ++i) {
    Three k1 = lorenz(s), k2 = lorenz(step(s, 0.005, k1)), k3 = lorenz(step(s, 0.005, k2)),
          k4 = lorenz(step(s, 0.01, k3));
    for (std::size_t j = 0; j < 3; ++j)
      s[j] += 0.01 / 6 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
  }
  return s[0] + s[1] + s[2];
}

double kepler() {
  double x = opaque(1.0), y = 0, u = 0, v = 1.1;
  for (int i = 0; i < kOrbitSteps; ++i) {
    x += 0.001 * u;
    y += 0.001 * v;
    const double square = x * x + y * y, pull = 0.002 / (square * std::sqrt(square));
    u -= pull * x;
    v -= pull * y;
    x += 0.001 * u;
    y += 0.001 * v;
  }
  return x + y + u + v;
}

double affineScan() {
  const std::vector<double> a = matrix();
  Three x{opaque(1.0), 1, 1};
  for (int i = 0; i < kScanSteps; ++i)
    x = {a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + 0.1, a[3] * x[0] + a[4] * x[1] + a[5] * x[2] + 0.1,
         a[6] * x[0] + a[7] * x[1] + a[8] * x[2] + 0.1};
  return x[0] + x[1] + x[2];
}

double kalman() {
  using Matrix = std::array<std::array<double, 4>, 4>;
  static const std::vector<double> seen = observations();
  const double process = opaque(0.01), noise = 0.1;
  Matrix p{};
  std::array<double, 4> x{};
  for (std::size_t i = 0; i < 4; ++i)
    p[i][i] = 1;
  double likelihood = 0;
  for (std::size_t t = 0; t < kObservations; ++t) {
    x[0] += 0.1 * x[2];
    x[1] += 0.1 * x[3];
    for (std::size_t j = 0; j < 4; ++j) // F P
      for (std::size_t i = 0; i < 2; ++i)
        p[i][j] += 0.1 * p[i + 2][j];
    for (std::size_t i = 0; i < 4; ++i) // (F P) F^T
      for (std::size_t j = 0; j < 2; ++j)
        p[i][j] += 0.1 * p[i][j + 2];
    for (std::size_t i = 0; i < 4; ++i)
      p[i][i] += process;
    const double a = p[0][0] + noise, b = p[0][1], c = p[1][0], d = p[1][1] + noise, det = a * d - b * c;
    const double e0 = seen[2 * t] - x[0], e1 = seen[2 * t + 1] - x[1];
    const double w0 = (d * e0 - b * e1) / det, w1 = (a * e1 - c * e0) / det;
    likelihood -= 0.5 * (std::log(det) + e0 * w0 + e1 * w1);
    Matrix next = p;
    for (std::size_t i = 0; i < 4; ++i) {
      const double k0 = (p[i][0] * d - p[i][1] * c) / det, k1 = (p[i][1] * a - p[i][0] * b) / det;
      x[i] += k0 * e0 + k1 * e1;
      for (std::size_t j = 0; j < 4; ++j)
        next[i][j] = p[i][j] - (k0 * p[j][0] + k1 * p[j][1]);
    }
    p = next;
  }
  return likelihood;
}

double xorshift() {
  std::uint64_t x = opaque(kSeed);
  for (int i = 0; i < kDraws; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return static_cast<double>(x >> 12);
}

double editDistance() {
  static const std::vector<std::int32_t> a = letters(1), b = letters(2);
  std::vector<std::int32_t> row(kWord + 1);
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<std::int32_t>(j);
  for (std::size_t i = 0; i < kWord; ++i) {
    std::int32_t diagonal = row[0];
    row[0] = static_cast<std::int32_t>(i) + 1;
    for (std::size_t j = 0; j < kWord; ++j) {
      const std::int32_t above = row[j + 1];
      row[j + 1] = std::min(std::min(above, row[j]) + 1, diagonal + (a[i] != b[j]));
      diagonal = above;
    }
  }
  return row[kWord];
}

double editDistanceByTable() {
  static const std::vector<std::int32_t> a = letters(1), b = letters(2);
  constexpr std::size_t kWidth = kWord + 1;
  std::vector<std::int32_t> table(kWidth * kWidth);
  for (std::size_t i = 0; i < kWidth; ++i)
    table[i * kWidth] = table[i] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < kWord; ++i)
    for (std::size_t j = 0; j < kWord; ++j)
      table[(i + 1) * kWidth + j + 1] = std::min(std::min(table[i * kWidth + j + 1], table[(i + 1) * kWidth + j]) + 1,
                                                 table[i * kWidth + j] + (a[i] != b[j]));
  return table.back();
}

double sieve() {
  std::vector<unsigned char> isPrime(kSieve, 1);
  for (int i = opaque(2); i < 317; ++i)
    if (isPrime[static_cast<std::size_t>(i)])
      for (int j = i * i; j < kSieve; j += i)
        isPrime[static_cast<std::size_t>(j)] = 0;
  double count = 0;
  for (unsigned char each : isPrime)
    count += each;
  return count;
}

double softAlignment() {
  static const std::vector<double> a = wave(0.7), b = wave(0.9);
  std::vector<double> row(kSeries + 1, 1e3);
  row[0] = 0;
  for (std::size_t i = 0; i < kSeries; ++i) {
    double diagonal = row[0];
    row[0] = 1e3;
    for (std::size_t j = 0; j < kSeries; ++j) {
      const double above = row[j + 1], left = row[j], least = std::min(std::min(above, left), diagonal);
      const double soft =
          least - std::log(std::exp(least - above) + std::exp(least - left) + std::exp(least - diagonal));
      row[j + 1] = soft + (a[i] - b[j]) * (a[i] - b[j]);
      diagonal = above;
    }
  }
  return row[kSeries];
}

double heat() {
  std::vector<double> u = rod(), next(kCells);
  for (int t = 0; t < kHeatSteps; ++t) {
    next[0] = u[0] + 0.25 * (u[kCells - 1] - 2.0 * u[0] + u[1]);
    for (std::size_t i = 1; i + 1 < kCells; ++i)
      next[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    next[kCells - 1] = u[kCells - 1] + 0.25 * (u[kCells - 2] - 2.0 * u[kCells - 1] + u[0]);
    u.swap(next);
  }
  double sum = 0;
  for (double each : u)
    sum += each * each;
  return sum;
}

double mandelbrot() {
  static const std::vector<double> re = grid(false), im = grid(true);
  double count = 0;
  for (std::size_t i = 0; i < kPoints; ++i) {
    double x = 0, y = 0;
    int n = 0;
    for (; n < kMostSteps && x * x + y * y < 4; ++n) {
      const double next = x * x - y * y + re[i];
      y = 2.0 * x * y + im[i];
      x = next;
    }
    count += n;
  }
  return count;
}

} // namespace calque::benchmarks::hand
