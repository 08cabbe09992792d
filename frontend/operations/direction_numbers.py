"""Prints the table of frontend/operations/SobolNumbers.h: direction_numbers.py > SobolNumbers.h

Needs SciPy (1.17.1 made the file), which carries the polynomials and initial numbers that Joe and Kuo published as new-joe-kuo-6.21201.
Column k of the generator matrix of a dimension, as a number of 32 bits of which the first is the highest.
"""
import importlib.resources

import numpy as np

DIMENSIONS, BITS = 40, 32
with importlib.resources.files("scipy.stats").joinpath("_sobol_direction_numbers.npz").open("rb") as file:
    data = np.load(file)
    polynomials, initial = data["poly"], data["vinit"]

print("""// Made by direction_numbers.py: the direction numbers of Joe and Kuo (Constructing Sobol sequences with better
// two-dimensional projections, SIAM Journal on Scientific Computing 30, 2008), a row for each dimension.
#ifndef CALQUE_FRONTEND_OPERATIONS_SOBOLNUMBERS_H
#define CALQUE_FRONTEND_OPERATIONS_SOBOLNUMBERS_H

#include <cstdint>

namespace calque::random {

// clang-format off""")
print(f"inline constexpr std::int64_t kSobolDimensions = {DIMENSIONS}, kSobolBits = {BITS};")
print("inline constexpr std::uint32_t kSobolNumbers[kSobolDimensions][kSobolBits] = {")
for d in range(DIMENSIONS):
    if d == 0:
        m = [1] * BITS
    else:
        polynomial = int(polynomials[d])
        degree = polynomial.bit_length() - 1
        m = [int(x) for x in initial[d][:degree]]
        for k in range(degree, BITS):
            value = m[k - degree] ^ (m[k - degree] << degree)
            for i in range(1, degree):
                if polynomial >> (degree - i) & 1:
                    value ^= m[k - i] << i
            m.append(value)
    numbers = [m[k] << (BITS - 1 - k) for k in range(BITS)]
    print("    {" + ", ".join(f"{n:#x}" for n in numbers) + "},")
print("""};
// clang-format on

} // namespace calque::random
#endif""")
