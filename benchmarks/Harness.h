// Times cases and prints a line of JSON for each, in the form in which other systems are measured too:
//
//   {"peer": "calque", "threads": 2, "case": "softmax", "ms": 1.4, "first_ms": 90.1, "runs": 2142, "check": 4096.0}
//
// ms        the median of the wall milliseconds of one call, after warm-up
// first_ms  the first call: trace, compile and run
// check     a number that all systems agree on
//
// or, for the compile times of programs, which are measured at two sizes or, behind --compile PROGRAM=N, at size N,
//
//   {"peer": "calque", "threads": 2, "program": "chain", "n": 60, "compile_ms": 80.2, "peak_mb": 12.3}
//
// compile_ms  the first call of a function: trace, compile and run
// peak_mb     by how many MiB (2^20 bytes) the process's memory grew meanwhile, at most
//
// The environment says how long and on how many threads: BENCH_SECONDS for each case, OMP_NUM_THREADS.
#ifndef CALQUE_BENCHMARKS_HARNESS_H
#define CALQUE_BENCHMARKS_HARNESS_H

#include "benchmarks/Programs.h"

#include <functional>
#include <string>
#include <vector>

namespace calque::benchmarks {

// What a case does: one unit of work, whose result the check is computed from.
struct Work {
  std::function<Tensor()> call;
  std::function<double(const Tensor &)> check;
};

struct Case {
  std::string name;
  std::function<Work()> make; // inputs and models are made when the case is run, outside of the measured time
};

// The sum of float32 elements, in double.
double sumOf(const Tensor &x);

// Runs the cases that the arguments name, or all of them; behind --compile, the programs. Exit code 1 and one line on
// stderr for a name or setting that makes no sense; a case that throws is a row with its error.
int runCases(const std::vector<Case> &cases, const std::vector<Program> &programs, int argc, char **argv);

} // namespace calque::benchmarks
#endif
