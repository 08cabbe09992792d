#include "test/fuzz/Quotients.h"

namespace calque::fuzz {

bool isDoubtful(const Element &element) { return !(element.doubt <= std::max<Real>(1, std::fabs(element.value)) / 64); }

std::vector<Element> derive(const std::function<Numbers(Real)> &f, Real h, const Numbers *weights, bool withDoubt) {
  Numbers plus1 = f(h), minus1 = f(-h), plus2 = f(2 * h), minus2 = f(-2 * h), plusHalf, minusHalf, here;
  if (withDoubt) {
    plusHalf = f(h / 2);
    minusHalf = f(-h / 2);
    here = f(0);
  }
  // What is small is lost in a number that is large beside the step: a number that moves with a larger one is off by
  // its own rounding, in proportion to the step.
  Real largest = 0;
  for (Real number : here)
    if (std::isfinite(number))
      largest = std::max(largest, std::fabs(number));
  Numbers far;
  if (std::ldexp(largest, -33) > h)
    far = f(std::ldexp(largest, -11));
  auto lost = [&](std::size_t i) {
    return !far.empty() && std::isfinite(here[i]) && far[i] != here[i] ? std::ldexp(std::fabs(here[i]), -61) / h : 0;
  };
  auto at = [&](std::size_t first, std::size_t last, const Numbers *weights) {
    auto difference = [&](const Numbers &a, const Numbers &b) {
      Real sum = 0;
      for (std::size_t i = first; i < last; ++i)
        if (Real d = a[i] - b[i]; d != 0)
          sum += weights ? (*weights)[i] * d : d;
      return sum;
    };
    Element result;
    result.value = (8 * difference(plus1, minus1) - difference(plus2, minus2)) / (12 * h);
    if (!withDoubt)
      return result;
    Real finer = (8 * difference(plusHalf, minusHalf) - difference(plus1, minus1)) / (6 * h);
    auto bend = [&](const Numbers &above, const Numbers &below, Real by) {
      return (difference(above, here) - difference(here, below)) / by;
    };
    // Of a smooth function the bend halves with the step; at a kink it stays.
    Real kink = 2 * bend(plusHalf, minusHalf, h / 2) - bend(plus1, minus1, h);
    result.doubt = 8 * std::fabs(result.value - finer) + 4 * std::fabs(kink);
    for (std::size_t i = first; i < last; ++i)
      result.doubt += weights ? std::fabs((*weights)[i]) * lost(i) : lost(i);
    result.value = finer;
    return result;
  };
  std::vector<Element> elements;
  if (!weights) {
    for (std::size_t i = 0; i < plus1.size(); ++i)
      elements.push_back(at(i, i + 1, nullptr));
    return elements;
  }
  elements.push_back(at(0, plus1.size(), weights));
  // A weight of zero does not hide a derivative that is infinite.
  for (std::size_t i = 0; withDoubt && i < plus1.size(); ++i)
    if ((*weights)[i] == 0 && isDoubtful(at(i, i + 1, nullptr)))
      elements[0].doubt = kUnknown;
  return elements;
}

Real stepAt(Real value) { return std::ldexp(std::max<Real>(1, std::fabs(value)), -11); }

} // namespace calque::fuzz
