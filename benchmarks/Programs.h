// Programs of any size, for compile times and how they grow.
#ifndef CALQUE_BENCHMARKS_PROGRAMS_H
#define CALQUE_BENCHMARKS_PROGRAMS_H

#include "calque/training.h"

#include <functional>
#include <string>
#include <vector>

namespace calque::benchmarks {

// Traces, compiles and runs.
using FirstCall = std::function<void()>;

struct Program {
  std::string name;
  int size;                           // measured at this size and at ten times of it
  std::function<FirstCall(int)> make; // inputs are made here, outside of the measured time
};

std::vector<Program> compilePrograms();

} // namespace calque::benchmarks
#endif
