// Derivatives of functions of one number, by quotients of central differences.
#ifndef CALQUE_TEST_FUZZ_QUOTIENTS_H
#define CALQUE_TEST_FUZZ_QUOTIENTS_H

#include "test/fuzz/Kernels.h"

namespace calque::fuzz {

struct Element {
  Real value = 0, doubt = 0; // `doubt`: what the differences themselves may be off by
};
using Elements = std::vector<std::vector<Element>>; // by result
using Numbers = std::vector<Real>;

// Whether differences say little: at a kink, a pole, or where the step is too large.
bool isDoubtful(const Element &element);

// The derivatives of some numbers at 0, or of their weighed sum.
std::vector<Element> derive(const std::function<Numbers(Real)> &f, Real h, const Numbers *weights, bool withDoubt);

// How far elements near a value are moved.
Real stepAt(Real value);

} // namespace calque::fuzz
#endif
