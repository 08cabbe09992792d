// Made by polynomials.py: numbers of the functions of float32, and of those of float64, whose names end so.
// Coefficients have the constant first.
#ifndef CALQUE_CODEGEN_NATIVE_POLYNOMIALS_H
#define CALQUE_CODEGEN_NATIVE_POLYNOMIALS_H

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
    0x1.aab7be0000000p-12,
    -0x1.1d755a0000000p-9,
    0x1.64eb400000000p-8,
    -0x1.11c92e0000000p-7,
    0x1.1a609e0000000p-7,
    -0x1.8f9c400000000p-8,
    0x1.70f7a40000000p-9,
    -0x1.2e658e0000000p-11,
    -0x1.2a72da0000000p-12,
    0x1.27c0900000000p-12,
    -0x1.0534c80000000p-14,
    -0x1.6a6db40000000p-16,
    0x1.32369e0000000p-17};

// log(2) as a sum. The first part has 16 bits: times an exponent it is exact.
inline constexpr double kLn2[] = {
    0x1.62e4000000000p-1,
    0x1.7f7d1c0000000p-20};

// 1 / log(2) as a sum.
inline constexpr double kLog2e[] = {
    0x1.7154760000000p+0,
    0x1.4ae0c00000000p-26};

// 1 / log(10) as a sum.
inline constexpr double kLog10e[] = {
    0x1.bcb7b00000000p-2,
    0x1.526e500000000p-26};

// log10(2) as a sum. The first part has 16 bits.
inline constexpr double kLog10Of2[] = {
    0x1.3440000000000p-2,
    0x1.3509f80000000p-18};

// pi as a sum of parts of 24 bits.
inline constexpr double kPi[] = {
    0x1.921fb40000000p+1,
    0x1.4442d00000000p-23,
    0x1.84698a0000000p-47};

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.
inline constexpr double kExp64[] = {
    0x1.0000000000000p-1,
    0x1.5555555555557p-3,
    0x1.5555555555556p-5,
    0x1.11111111100dcp-7,
    0x1.6c16c16c162d4p-10,
    0x1.a01a01abe7fe1p-13,
    0x1.a01a01a6d889cp-16,
    0x1.71de0231960ebp-19,
    0x1.27e4db646b17ep-22,
    0x1.af4de97ca4194p-26,
    0x1.1f730349868cep-29};

// (log((1 + s) / (1 - s)) - 2 s) / s^3 of z = s^2, where (1 + s) / (1 - s) is between the roots of 1/2 and 2.
inline constexpr double kLog64[] = {
    0x1.5555555555558p-1,
    0x1.99999999951f5p-2,
    0x1.2492492e0b70cp-2,
    0x1.c71c62c42db89p-3,
    0x1.7462be245eae3p-3,
    0x1.39fd25d62ab23p-3,
    0x1.2b6776a1bf0b9p-3};

// The same less 2/3, divided by z.
inline constexpr double kLogRest64[] = {
    0x1.999999999999ap-2,
    0x1.2492492492524p-2,
    0x1.c71c71c6ea01fp-3,
    0x1.745d177b22bcfp-3,
    0x1.3b1395976d2f0p-3,
    0x1.1118d458653bcp-3,
    0x1.df7a2eafecf14p-4,
    0x1.e0499f72e39b9p-4};

// (sin(r) - r) / r^3 of t = r^2 for |r| <= pi / 4.
inline constexpr double kSinNear64[] = {
    -0x1.5555555555555p-3,
    0x1.1111111111110p-7,
    -0x1.a01a01a0197b6p-13,
    0x1.71de3a5432adep-19,
    -0x1.ae6453c4a3e65p-26,
    0x1.6121425bdd148p-33,
    -0x1.aaf4c3626bdd9p-41};

// (cos(r) - 1) / t of t = r^2 for |r| <= pi / 4.
inline constexpr double kCosNear64[] = {
    -0x1.0000000000000p-1,
    0x1.5555555555550p-5,
    -0x1.6c16c16c15a47p-10,
    0x1.a01a019d7fbbfp-16,
    -0x1.27e4f891b2aa6p-22,
    0x1.1eea3eba1aa9cp-29,
    -0x1.8fd49b5417a07p-37};

// erf(x) / x - 1 of t = x^2 for |x| <= 1.
inline constexpr double kErf64[] = {
    0x1.06eba8214db69p-3,
    -0x1.812746b0379e6p-2,
    0x1.ce2f21a042b30p-4,
    -0x1.b82ce31284e00p-6,
    0x1.565bcd0dbaa38p-8,
    -0x1.c02db3dac435fp-11,
    0x1.f9a321d5b8e1ep-14,
    -0x1.f4d1e3183f7aep-17,
    0x1.b9df224ca4b97p-20,
    -0x1.5f1ecb6f0764cp-23,
    0x1.f7b4bf3b13964p-27,
    -0x1.389d4f2641625p-30,
    0x1.05ffd737fb32ep-34};

// exp(x^2) (1 - erf(x)) of q = (x - 4) / (x + 4) for 1 <= x <= 6.
inline constexpr double kErfc64[] = {
    0x1.18932bf08e154p-3,
    -0x1.094922737431ap-2,
    0x1.bff01a5f90863p-3,
    -0x1.506666f69e525p-3,
    0x1.be502c36581f9p-4,
    -0x1.027d5744b7583p-4,
    0x1.0066e104a987ep-5,
    -0x1.a4ded41275144p-7,
    0x1.0a17eb699b96dp-8,
    -0x1.a2f900cf4a8d8p-11,
    -0x1.6d19ed611f6a0p-16,
    0x1.4b4a2a412a383p-14,
    -0x1.7a4e14552c9a0p-16,
    -0x1.0022f61f1757ep-19,
    0x1.80fd7f52618f7p-19,
    -0x1.449f10d447815p-21,
    -0x1.1dc07a41c4126p-21,
    -0x1.f74b11e1589b7p-25};

// (atan(x) - x) / x^3 of t = x^2 for |x| <= 1.
inline constexpr double kAtan[] = {
    -0x1.5555500000000p-2,
    0x1.9997a00000000p-3,
    -0x1.24707e0000000p-3,
    0x1.c4ce160000000p-4,
    -0x1.6869200000000p-4,
    0x1.1312920000000p-4,
    -0x1.6b3b0a0000000p-5,
    0x1.6c95860000000p-6,
    -0x1.d6fd2a0000000p-8,
    0x1.1d45c20000000p-10};

// The same in float64.
inline constexpr double kAtan64[] = {
    -0x1.5555555555555p-2,
    0x1.99999999998f8p-3,
    -0x1.249249248c7bbp-3,
    0x1.c71c71c471b12p-4,
    -0x1.745d16f255565p-4,
    0x1.3b13aaf30b694p-4,
    -0x1.1110bfd78e8b5p-4,
    0x1.e1dc0c3dfc996p-5,
    -0x1.af00b6009250cp-5,
    0x1.854a5a84c7716p-5,
    -0x1.60eb5f4a46293p-5,
    0x1.3d3df7287c919p-5,
    -0x1.1478b2c853099p-5,
    0x1.c3a464eff2f85p-6,
    -0x1.4b8d5b36b4438p-6,
    0x1.a1eb7623a5d77p-7,
    -0x1.aed61f26b7ce1p-8,
    0x1.57af9ea47af7cp-9,
    -0x1.8a0592a7a7497p-11,
    0x1.1ee60bc55eb27p-13,
    -0x1.8ccc4c45e6a79p-17};

// (asin(x) - x) / x^3 of t = x^2 for |x| <= 1/2.
inline constexpr double kAsin[] = {
    0x1.55554c0000000p-3,
    0x1.33389a0000000p-4,
    0x1.6caba00000000p-5,
    0x1.04a60c0000000p-5,
    0x1.d82adc0000000p-7,
    0x1.339b940000000p-5};

// The same in float64.
inline constexpr double kAsin64[] = {
    0x1.555555555554fp-3,
    0x1.3333333336df1p-4,
    0x1.6db6db6844effp-5,
    0x1.f1c71f9893729p-6,
    0x1.6e8b2ac4e2b69p-6,
    0x1.1c5945b94f7fdp-6,
    0x1.c871802719808p-7,
    0x1.8529ff2c9d7d9p-7,
    0x1.ff173d5fcbafcp-8,
    0x1.06f2e84e31c1bp-6,
    -0x1.61041ccc64457p-7,
    0x1.cdd3a521b6ed7p-6};

// (2^r - 1) / r for |r| <= 1/2.
inline constexpr double kExp2[] = {
    0x1.62e4300000000p-1,
    0x1.ebfbe00000000p-3,
    0x1.c6b08e0000000p-5,
    0x1.3b2a1c0000000p-7,
    0x1.5d879e0000000p-10,
    0x1.4440020000000p-13,
    0x1.00a5840000000p-16};

// The same in float64.
inline constexpr double kExp2Of64[] = {
    0x1.62e42fefa39efp-1,
    0x1.ebfbdff82c58fp-3,
    0x1.c6b08d704a0c0p-5,
    0x1.3b2ab6fba4e7bp-7,
    0x1.5d87fe78a6732p-10,
    0x1.430912f86ac5ap-13,
    0x1.ffcbfc5889cb0p-17,
    0x1.62c0224601d28p-20,
    0x1.b5253d41fa5b4p-24,
    0x1.e4cf03b929126p-28,
    0x1.e8ca8dd338e62p-32,
    0x1.c4b5b2d6aa429p-36,
    0x1.8219235aa2dd5p-40};

// sin(pi r) / r of t = r^2 for |r| <= 1/2.
inline constexpr double kSinPi[] = {
    0x1.921fb60000000p+1,
    -0x1.4abbec0000000p+2,
    0x1.4670f80000000p+1,
    -0x1.33906e0000000p-1,
    0x1.6804ce0000000p-4,
    -0x1.fd284e0000000p-7};

// The same in float64.
inline constexpr double kSinPi64[] = {
    0x1.921fb54442d18p+1,
    -0x1.4abbce625be53p+2,
    0x1.466bc6775aae2p+1,
    -0x1.32d2cce62bd57p-1,
    0x1.50783487ec182p-4,
    -0x1.e3074fdc50edbp-8,
    0x1.e8f4338d80615p-12,
    -0x1.6fad4865b619cp-16,
    0x1.aabbd9b3a94ffp-21,
    -0x1.7ed3a64429de8p-26};

// cos(pi r) of t = r^2 for |r| <= 1/2.
inline constexpr double kCosPi[] = {
    0x1.0000000000000p+0,
    -0x1.3bd3cc0000000p+2,
    0x1.03c1d80000000p+2,
    -0x1.55ce5c0000000p+0,
    0x1.e0dbde0000000p-3,
    -0x1.8c0b500000000p-6};

// The same in float64.
inline constexpr double kCosPi64[] = {
    0x1.0000000000000p+0,
    -0x1.3bd3cc9be45dep+2,
    0x1.03c1f081b5ac3p+2,
    -0x1.55d3c7e3cbf5ep+0,
    0x1.e1f5068913c05p-3,
    -0x1.a6d1f29e525a4p-6,
    0x1.f9d3881d6f166p-10,
    -0x1.b6e191e5c252ep-14,
    0x1.209dd8c602b45p-18,
    -0x1.2083e747d8e86p-23};

// (cos(pi r) - sin(pi r) / (pi r)) / r^2 of t = r^2 for |r| <= 1/2.
inline constexpr double kSincSlope[] = {
    -0x1.a51a660000000p+1,
    0x1.9f9ca80000000p+1,
    -0x1.24fc880000000p+0,
    0x1.abc9aa0000000p-3,
    -0x1.6c51040000000p-6,
    -0x1.a3082a0000000p-15};

// The same in float64.
inline constexpr double kSincSlope64[] = {
    -0x1.a51a6625307d3p+1,
    0x1.9f9cb402bc46cp+1,
    -0x1.24feab558a48dp+0,
    0x1.ac6805cf3508dp-3,
    -0x1.8061c54d774cap-6,
    0x1.d2eaa6f6d6b50p-10,
    -0x1.99a0050702ae0p-14,
    0x1.0fc954db1c9c1p-18,
    -0x1.1a4215e1a87d2p-23,
    0x1.cb574767746afp-29};

// The cube root from 1/3 to 3, to some thousandths.
inline constexpr double kCbrt[] = {
    0x1.d526a40000000p-2,
    0x1.ac22920000000p-1,
    -0x1.9502880000000p-2,
    0x1.db0da20000000p-4,
    -0x1.bd60ce0000000p-7};

// log(2) as a sum.
inline constexpr double kLn2Of64[] = {
    0x1.62e42fefa39efp-1,
    0x1.abc9e3b39803fp-56};

// The same. The first part has 32 bits: times an exponent it is exact.
inline constexpr double kShortLn2Of64[] = {
    0x1.62e42fee00000p-1,
    0x1.a39ef35793c76p-33};

// 1 / log(2) as a sum.
inline constexpr double kLog2eOf64[] = {
    0x1.71547652b82fep+0,
    0x1.777d0ffda0d23p-56};

// 1 / log(10) as a sum.
inline constexpr double kLog10eOf64[] = {
    0x1.bcb7b1526e50ep-2,
    0x1.95355baaafad3p-57};

// 2/3 as a sum.
inline constexpr double kTwoThirds64[] = {
    0x1.5555555555555p-1,
    0x1.5555555555555p-55};

// pi as a sum.
inline constexpr double kPi64[] = {
    0x1.921fb54442d18p+1,
    0x1.1a62633145c06p-53,
    0x1.c1cd129024e08p-106};

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
