// The public functions on tensors. Those with a record in ir/ are generated; the others are declared here.
#ifndef CALQUE_FUNCTIONS_H
#define CALQUE_FUNCTIONS_H

#include "calque/tensor.h"

#include <string>

namespace calque {

#include "calque/functions.h.inc"

// This exact match makes `!x` unambiguous beside the conversion to bool.
CALQUE_API Tensor operator!(const Tensor &x);

struct MatmulOptions {
  bool transpose_a = false; // swap the last two dimensions of a
  bool transpose_b = false; // swap the last two dimensions of b
};
// The matrix product over the last two dimensions, of floats or integers. The other dimensions broadcast as in NumPy:
// [..., m, k] times [..., k, n] is [..., m, n]. ShapeError for rank below 2 or sizes that don't fit, DTypeError for
// different element types.
CALQUE_API Tensor matmul(const Operand &a, const Operand &b, MatmulOptions options = {});

// Prints the label and x on a line of standard output, in the order of the program, in compiled code at every call.
CALQUE_API void print(std::string label, const Operand &x);

// AssertionError with the message unless all elements of a bool tensor hold, in compiled code at every call. A call
// that fails leaves all variables as they were.
CALQUE_API void assert_true(const Operand &condition, std::string message);

} // namespace calque
#endif
