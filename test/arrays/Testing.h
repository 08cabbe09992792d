// Compares functions of calque/arrays.h with NumPy's results, and all ways to run a function with each other.
#ifndef CALQUE_TEST_ARRAYS_TESTING_H
#define CALQUE_TEST_ARRAYS_TESTING_H

#include "test/Errors.h"
#include "test/Tensors.h"

#include "calque/arrays.h"

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace calque::testing {

// What NumPy gives for the case of this name in expected.json.
struct Expected {
  std::vector<Tensor> inputs, outputs;
};
const Expected &expected(const std::string &name);

struct Checks {
  int derivatives = 2;      // to which order; 0 if no gradient passes
  bool unknownSizes = true; // in a trace whose sizes are all unknown
  bool vmap = true;
  double tolerance = 1e-14; // of float64, relative to the largest element
  double tolerance32 = 2e-6;
  bool float32 = true;
  bool compiled = true;
};

// Runs f on the inputs of a case, eagerly, compiled, with unknown sizes, and under vmap, and compares the results with
// NumPy's. Compares the derivatives of the results with finite differences.
void check(const std::string &name, const ManyBody &f, Checks checks = {});
inline void check(const std::string &name, const Body &f, Checks checks = {}) {
  check(name, ManyBody([f](const std::vector<Tensor> &x) { return std::vector<Tensor>{f(x)}; }), checks);
}

// Numbers within a tolerance relative to the largest one; integers and bools are equal.
void expectClose(const Tensor &found, const Tensor &expected, double tolerance);

} // namespace calque::testing
#endif
