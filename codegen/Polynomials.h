// Made by polynomials.py: numbers of the functions of float32. Coefficients have the constant first.
#ifndef CALQUE_CODEGEN_POLYNOMIALS_H
#define CALQUE_CODEGEN_POLYNOMIALS_H

// clang-format off
namespace calque::codegen::polynomials {

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.
inline constexpr double kExp[] = {
    0x1.0000000000000p-1,
    0x1.5554dc0000000p-3,
    0x1.55551a0000000p-5,
    0x1.120b6e0000000p-7,
    0x1.6d110a0000000p-10};

// (exp(r) - 1) / r for |r| <= log(2) / 2, in float64.
inline constexpr double kExpm1[] = {
    0x1.0000002e4a949p+0,
    0x1.0000000b9129bp-1,
    0x1.55547c9c5a035p-3,
    0x1.5554e9063586ep-5,
    0x1.123d90f1a67d6p-7,
    0x1.6d43246b523b4p-10};

// (log(1 + f) - f) / f^2 for |f| <= 1/3.
inline constexpr double kLog[] = {
    -0x1.0000000000000p-1,
    0x1.55552c0000000p-2,
    -0x1.ffffb60000000p-3,
    0x1.99bf8a0000000p-3,
    -0x1.5578360000000p-3,
    0x1.1fdcac0000000p-3,
    -0x1.f758180000000p-4,
    0x1.1992560000000p-3,
    -0x1.fcd3280000000p-4};

// The same for -1/4 <= f <= 1/2.
inline constexpr double kLog1p[] = {
    -0x1.0000000000000p-1,
    0x1.5555560000000p-2,
    -0x1.0000660000000p-2,
    0x1.9999360000000p-3,
    -0x1.5520e60000000p-3,
    0x1.24424a0000000p-3,
    -0x1.0415000000000p-3,
    0x1.dfe5300000000p-4,
    -0x1.7c99a00000000p-4,
    0x1.431d7a0000000p-5};

// (sin(r) - r) / r^3 of t = r^2 for |r| <= pi / 2.
inline constexpr double kSin[] = {
    -0x1.5555560000000p-3,
    0x1.1111300000000p-7,
    -0x1.a021100000000p-13,
    0x1.7269620000000p-19,
    -0x1.aced2e0000000p-26};

// The same for |r| <= pi / 4.
inline constexpr double kSinNear[] = {
    -0x1.5555560000000p-3,
    0x1.1111620000000p-7,
    -0x1.a045920000000p-13,
    0x1.76fe080000000p-19};

// (cos(r) - 1) / t of t = r^2 for |r| <= pi / 4.
inline constexpr double kCosNear[] = {
    -0x1.0000000000000p-1,
    0x1.5555480000000p-5,
    -0x1.6c0b080000000p-10,
    0x1.999a460000000p-16};

// (tanh(x) - x) / x^3 of t = x^2 for |x| <= 1.
inline constexpr double kTanh[] = {
    -0x1.55553c0000000p-2,
    0x1.110bec0000000p-3,
    -0x1.b963780000000p-5,
    0x1.6012a60000000p-6,
    -0x1.047e580000000p-7,
    0x1.2e013a0000000p-9,
    -0x1.78bac00000000p-12};

// erf(x) / x - 1 of t = x^2 for |x| <= 1.
inline constexpr double kErf[] = {
    0x1.06eba80000000p-3,
    -0x1.8127400000000p-2,
    0x1.ce2d500000000p-4,
    -0x1.b7fe8e0000000p-6,
    0x1.542dee0000000p-8,
    -0x1.a5099e0000000p-11,
    0x1.4c2f4c0000000p-14};

// 1 - erf(2.5 + u) for |u| <= 1.5.
inline constexpr double kErfc[] = {
    0x1.aab85a0000000p-12,
    -0x1.1d76720000000p-9,
    0x1.64e9c20000000p-8,
    -0x1.11c6700000000p-7,
    0x1.1a65340000000p-7,
    -0x1.8fab680000000p-8,
    0x1.70cf680000000p-9,
    -0x1.2dde280000000p-11,
    -0x1.2939ba0000000p-12,
    0x1.273d800000000p-12,
    -0x1.075de80000000p-14,
    -0x1.68ff840000000p-16,
    0x1.350a860000000p-17};

// log(2) as a sum. The first part has 16 bits: times an exponent it is exact.
inline constexpr double kLn2[] = {
    0x1.62e4000000000p-1,
    0x1.7f7d1c0000000p-20};

// pi as a sum of parts of 24 bits.
inline constexpr double kPi[] = {
    0x1.921fb40000000p+1,
    0x1.4442d00000000p-23,
    0x1.84698a0000000p-47};

// For |x| in [2^16, 2^44), [2^44, 2^72), [2^72, 2^100) and [2^100, 2^128): a scale that makes x an integer, and the
// fractional part of 1 / (2 pi scale) as a sum. A product of 24 bits and one of the first three terms, which have 29, is
// exact.
struct TurnsOfBand {
  double scale, digits[4];
};
inline constexpr TurnsOfBand kTurns[] = {
    {0x1.0000000000000p+7, {0x1.45f3000000000p-10, 0x1.b727220000000p-32, 0x1.529fc24000000p-61, 0x1.abe8fa9a6ee07p-88}},
    {0x1.0000000000000p-21, {0x1.b727220000000p-4, 0x1.529fc20000000p-33, 0x1.d5f47d4000000p-59, 0x1.a6ee06db14acdp-88}},
    {0x1.0000000000000p-49, {0x1.529fc20000000p-5, 0x1.d5f47d4000000p-31, 0x1.a6ee06c000000p-60, 0x1.b14acc9e21c82p-88}},
    {0x1.0000000000000p-77, {0x1.d5f47d4000000p-3, 0x1.a6ee06c000000p-32, 0x1.b14acc8000000p-60, 0x1.e21c820ff28b2p-88}},
};

} // namespace calque::codegen::polynomials
#endif
