// Functions of several numbers by series and fractions in long double, which take about a microsecond: differences and
// bounds ask for many numbers. What tests of accuracy compare with (test/operations/SpecialReferences.h) are integrals.
#include "test/fuzz/Kernels.h"

#include <iterator>

namespace calque::fuzz {

namespace {

constexpr int kMostSteps = 20000;

// The series of P below the mode, else the fraction of Q.
Real gammaTail(Real a, Real x, bool isUpper) {
  if (!(a > 0 && x > 0) || std::isinf(a) || std::isinf(x) || (a < 1 && x <= 1.5L))
    return isUpper ? reference::gammaincc_<Real>(a, x) : reference::gammainc_<Real>(a, x);
  const Real power = std::exp(reference::logGammaPower(a, x));
  if (x < a + 1) {
    Real sum = 1 / a, term = sum;
    for (int n = 1; n < kMostSteps && term > sum * 1e-21L; ++n)
      sum += term *= x / (a + n);
    return isUpper ? 1 - power * sum : power * sum;
  }
  Real below = x - a + 1, last = 1 / below, difference = last, sum = last;
  for (int n = 1; n < kMostSteps && std::fabs(difference) > sum * 1e-22L; ++n) {
    const Real byLast = n * (a - n) * last;
    below += 2;
    last = 1 / (below + byLast);
    difference *= -byLast * last;
    sum += difference;
  }
  return isUpper ? power * sum : 1 - power * sum;
}
Real lowerGamma(const Real *x) { return gammaTail(x[0], x[1], false); }
Real upperGamma(const Real *x) { return gammaTail(x[0], x[1], true); }

// The fraction of Digital Library of Mathematical Functions, 8.17.22, of the smaller tail.
Real betaTail(const Real *operands) {
  const Real a = operands[0], b = operands[1], x = operands[2], y = 1 - x;
  if (!(a > 0 && b > 0 && x > 0 && x < 1) || std::isinf(a) || std::isinf(b))
    return reference::betainc_<Real>(a, b, x);
  const bool isUpper = x * (a + b + 2) > a + 1;
  const Real p = isUpper ? b : a, q = isUpper ? a : b, z = isUpper ? y : x;
  Real last = 1, difference = 1, sum = 1;
  for (int n = 1; n < kMostSteps && std::fabs(difference) > std::fabs(sum) * 1e-22L; ++n) {
    const Real m = n / 2; // integers
    const Real above = n % 2 ? -(p + m) * (p + q + m) * z / ((p + 2 * m) * (p + 2 * m + 1))
                             : m * (q - m) * z / ((p + 2 * m - 1) * (p + 2 * m));
    const Real byLast = above * last;
    last = 1 / (1 + byLast);
    difference *= -byLast * last;
    sum += difference;
  }
  const Real tail = std::exp(reference::logBetaPower(a, b, x, y)) * sum / p;
  return isUpper ? 1 - tail : tail;
}

// Euler and Maclaurin: terms, the integral, and derivatives.
Real zetaSum(const Real *operands) {
  const Real s = operands[0], q = operands[1];
  if (!(s > 1 && q > 0) || std::isinf(s) || std::isinf(q))
    return reference::zeta_<Real>(s, q);
  Real sum = 0, w = q;
  for (; w < 20 + s; w += 1) {
    const Real term = std::pow(w, -s);
    sum += term;
    if (term < sum * 1e-22L)
      return sum;
  }
  // B_2j / (2j)!
  constexpr Real kFactors[] = {1 / 12.0L,          -1 / 720.0L,
                               1 / 30240.0L,       -1 / 1209600.0L,
                               1 / 47900160.0L,    -691 / 1307674368000.0L,
                               1 / 74724249600.0L, -3617 / 10670622842880000.0L};
  Real factor = s / w, rest = 0;
  for (std::size_t j = 0; j < std::size(kFactors); ++j) {
    rest += factor * kFactors[j];
    const Real order = s + 2 * static_cast<Real>(j);
    factor *= (order + 1) * (order + 2) / (w * w);
  }
  return sum + std::pow(w, -s) * (w / (s - 1) + 0.5L + rest);
}

template <Real (*f)(const Real *)> void specialBy(const Call &call) {
  const Facts &facts = factsOf(call.step.op);
  elementwiseBy(call, f, facts.roundings, facts.ulp, facts.digitsFrom);
}

} // namespace

const KernelTable &specialKernels() {
  static const auto *table = new KernelTable{
      {"gammainc", specialBy<lowerGamma>},
      {"gammaincc", specialBy<upperGamma>},
      {"betainc", specialBy<betaTail>},
      {"zeta", specialBy<zetaSum>},
  };
  return *table;
}

} // namespace calque::fuzz
