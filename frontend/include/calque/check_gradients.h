// Compares the gradients of a tape with finite differences.
//
//   check_gradients([](const std::vector<Tensor> &x) { return sin(x[0]) * x[1]; }, {a, b}); // AssertionError where
//   they differ
#ifndef CALQUE_CHECK_GRADIENTS_H
#define CALQUE_CHECK_GRADIENTS_H

#include "calque/tensor.h"

#include <functional>

namespace calque {

struct CheckGradientsOptions {
  double eps = 1e-6; // added to one element at a time, and subtracted from it
  double atol = 1e-5, rtol = 1e-3;
};

// Differentiates the sum of f's elements with respect to each element of each input, by a tape and by central
// differences (f(x + eps) - f(x - eps)) / 2 eps; f is called twice for each element. AssertionError if |gradient -
// difference| > atol + rtol |difference| at an element, or if one of the two is NaN; the error names the first such
// element and both values. DTypeError unless all inputs and the result are float64, because differences of float32 are
// not precise enough. ValueError for an eps that is not above zero.
CALQUE_API void check_gradients(const std::function<Tensor(const std::vector<Tensor> &)> &f,
                                const std::vector<Tensor> &inputs, CheckGradientsOptions options = {},
                                SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
