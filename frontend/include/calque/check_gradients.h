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
  double eps = 1e-6; // added to, and subtracted from, one element at a time
  double atol = 1e-5, rtol = 1e-3;
};

// Differentiates the sum of f's elements with respect to each element of each input, by a tape and by central
// differences (f(x + eps) - f(x - eps)) / 2 eps; f is called twice for each element. AssertionError names the first
// element at which |gradient - difference| > atol + rtol |difference| or one of them is NaN, and both values.
// DTypeError unless all inputs and the result are float64, which differences need; ValueError for an eps that is not
// above zero.
CALQUE_API void check_gradients(const std::function<Tensor(const std::vector<Tensor> &)> &f,
                                const std::vector<Tensor> &inputs, CheckGradientsOptions options = {},
                                SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
