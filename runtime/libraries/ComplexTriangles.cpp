#include "runtime/libraries/ComplexTriangles.h"

#include <array>
#include <cmath>
#include <utility>

namespace calque::runtime {

namespace {

using Complex = ComplexMatrix::Number;

// The operator's function looks for NaN, and takes most of the time of a sum of products.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The principal square root of a triangle, by columns. `turned` is memory for its transposed one.
void rootInto(const ComplexMatrix &t, ComplexMatrix &root, ComplexMatrix &turned) {
  for (int64_t j = 0; j < t.n; ++j) {
    root(j, j) = turned(j, j) = std::sqrt(t(j, j));
    for (int64_t i = j; i-- > 0;) {
      Complex rest = t(i, j);
      for (int64_t k = i + 1; k < j; ++k)
        rest -= times(root(i, k), turned(j, k));
      const Complex sum = root(i, i) + root(j, j);
      // Two eigenvalues of 0 have a root where nothing is above the diagonal.
      root(i, j) = turned(j, i) = rest == Complex() ? Complex() : rest / sum;
    }
  }
}

// exp(z) - 1
Complex expm1(Complex z) {
  const double half = std::sin(z.imag() / 2), factor = std::exp(z.real());
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, factor * std::sin(z.imag())};
}

} // namespace

ComplexMatrix rootOfTriangle(const ComplexMatrix &t) {
  ComplexMatrix root(t.n), turned(t.n);
  rootInto(t, root, turned);
  return root;
}

// The logarithm of a triangle whose eigenvalues are not 0, by square roots until it is near to one, and the
// approximant of Pade with 7 poles, in the form of a sum over the points of Gauss and Legendre between 0 and 1.
ComplexMatrix logarithmOfTriangle(const ComplexMatrix &t) {
  constexpr double kNear = 2.64e-1; // Higham, table 11.1
  constexpr std::array<std::pair<double, double>, 7> kPoints = {{{0.025446043828620738, 0.06474248308443485},
                                                                 {0.12923440720030278, 0.13985269574463832},
                                                                 {0.29707742431130142, 0.19091502525255947},
                                                                 {0.5, 0.20897959183673469},
                                                                 {0.70292257568869858, 0.19091502525255947},
                                                                 {0.87076559279969722, 0.13985269574463832},
                                                                 {0.97455395617137926, 0.06474248308443485}}};
  constexpr int kMostRoots = 1100; // more than the range of exponents has
  const int64_t n = t.n;
  ComplexMatrix near = t, root(n), turned(n);
  auto distance = [&] {
    double largest = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i <= j; ++i)
        sum += std::abs(near(i, j) - (i == j ? 1.0 : 0.0));
      largest = sum <= largest ? largest : sum;
    }
    return largest;
  };
  int roots = 0;
  for (; roots < kMostRoots && distance() > kNear; ++roots) {
    rootInto(near, root, turned);
    std::swap(near, root);
  }
  // near - 1, whose diagonal would lose its digits.
  const double scale = std::ldexp(1, roots);
  for (int64_t i = 0; i < n; ++i)
    near(i, i) = expm1(std::log(t(i, i)) / scale);
  ComplexMatrix sum(n), column(n);
  for (const auto &[x, weight] : kPoints)
    for (int64_t j = 0; j < n; ++j) // of (1 + x N)^-1 N
      for (int64_t i = j + 1; i-- > 0;) {
        Complex rest = near(i, j);
        for (int64_t k = i + 1; k <= j; ++k)
          rest -= x * times(near(i, k), column(j, k)); // which is transposed
        column(j, i) = rest / (1.0 + x * near(i, i));
        sum(i, j) += weight * column(j, i);
      }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j)
      sum(i, j) *= scale;
  // What is known better.
  for (int64_t i = 0; i < n; ++i)
    sum(i, i) = std::log(t(i, i));
  for (int64_t i = 0; i + 1 < n; ++i) {
    const Complex a = t(i, i), b = t(i + 1, i + 1), difference = b - a;
    Complex quotient = 1.0 / a;
    if (difference != Complex()) {
      const Complex logarithms = sum(i + 1, i + 1) - sum(i, i), ratio = difference / (b + a), whole = b / a;
      constexpr double kPi = 3.14159265358979323846, kFar = 1e100;
      const Complex turns(0, 2 * kPi * std::ceil((logarithms.imag() - kPi) / (2 * kPi)));
      const bool isNear = std::abs(ratio) < 0.9, isFar = !(std::abs(whole) < kFar && std::abs(whole) > 1 / kFar);
      // The logarithms themselves lose digits where they are large and alike.
      quotient = (isNear ? 2.0 * std::atanh(ratio) + turns : isFar ? logarithms : std::log(whole) + turns) / difference;
    }
    sum(i, i + 1) = t(i, i + 1) * quotient;
  }
  return sum;
}

} // namespace calque::runtime
