// Lambdas that branch and loop on tensors in C++, as users write them.
#ifndef CALQUE_TEST_NATIVE_CORPUS_H
#define CALQUE_TEST_NATIVE_CORPUS_H

#include "calque/calque.h"

#include <functional>
#include <string>
#include <vector>

namespace calque::testing {

using Tensors = std::vector<Tensor>;

struct NativeCase {
  std::string name;
  std::function<Tensors(const Tensors &)> lambda;
  // Part of the message, where it is refused.
  std::string refused = "";
  bool hasGradient = true; // finite and continuous at the inputs
};

// Each takes four tensors, scalars or vectors of float64. A decision takes the first element of a vector.
std::vector<NativeCase> nativeCorpus();

} // namespace calque::testing
#endif
