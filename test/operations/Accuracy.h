// How far results of elementwise functions are from the references, in units in the last place (ULP): the distance of
// neighbouring float32 or float64 numbers where the exact result lies.
#ifndef CALQUE_TEST_OPERATIONS_ACCURACY_H
#define CALQUE_TEST_OPERATIONS_ACCURACY_H

#include "test/operations/Testing.h"

#include <cstdint>
#include <string>
#include <vector>

namespace calque::testing {

// The elementwise operations whose operands and result may be float32, and so float64.
std::vector<ElementwiseCase> floatFunctions();

// How far off a result is. Infinite where no distance makes sense: NaN for a number, a zero of the wrong sign, a finite
// number for a pole. Below the normal range the distance is that of the smallest numbers; what overflows counts as
// 2^128, or 2^1024.
double ulpError(float result, Real exact);
double ulpError(double result, Real exact);

// The result that is furthest off.
struct Worst {
  double ulp = 0;
  std::vector<double> operands;
  double result = 0;
  Real exact = 0;
  std::uint64_t count = 0; // of results
  std::string str() const; // "3.5 ULP at 0x1p+3: 0x1.8p+3 instead of ..."
};

// On 2^20 inputs, or 2^`logOfCount`, the same number for every exponent and sign, and special values in all
// combinations. Of several operands and of float64, two thirds of the inputs have exponents from -7 to 8.
Worst worstOfSample(const ElementwiseCase &op, DType dtype, int logOfCount = 20);
// On all 2^32 inputs of float32 of a function with one operand. The references are those in double, whose own error is
// 2^-29 ULP.
Worst worstOfAll(const ElementwiseCase &op, int threads);

} // namespace calque::testing
#endif
