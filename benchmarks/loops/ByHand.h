// The loops of calque-loops-bench in plain C++, on the same numbers.
#ifndef CALQUE_BENCHMARKS_LOOPS_BYHAND_H
#define CALQUE_BENCHMARKS_LOOPS_BYHAND_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace calque::benchmarks::hand {

inline constexpr int kSteps = 1000, kOrbitSteps = 10000, kScanSteps = 10000, kDraws = 1000000, kSieve = 100000,
                     kWord = 500, kSeries = 200, kObservations = 200, kCells = 1000, kHeatSteps = 1000, kPoints = 20000,
                     kMostSteps = 100;
inline constexpr std::uint64_t kSeed = 88172645463325252u;

// The inputs.
std::vector<std::int32_t> letters(int step);
std::vector<double> wave(double frequency), observations(), rod(), matrix(), grid(bool imaginary);

// Each gives the number that the case checks.
double rk4(), kepler(), affineScan(), kalman(), xorshift(), editDistance(), editDistanceByTable(), sieve(),
    softAlignment(), heat(), mandelbrot();

} // namespace calque::benchmarks::hand
#endif
