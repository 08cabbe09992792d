// What each operation means: plain loops in long double that share no kernel with Calque, and the bounds that follow. A
// family of operations has a file; operations that the records have a reference for need none.
#ifndef CALQUE_TEST_FUZZ_KERNELS_H
#define CALQUE_TEST_FUZZ_KERNELS_H

#include "test/fuzz/Array.h"

#include <algorithm>
#include <climits>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>

namespace calque::fuzz {

constexpr Real kUnknown = std::numeric_limits<Real>::infinity();
// Less than any number that a machine knows: "zero, of either sign".
constexpr Real kTiny = 1e-4000L;

// 0 for equal ones, which NaNs are; unknown where there is no number for it.
Real distance(Real a, Real b);
Real epsilonOf(DType dtype);
// The smallest number above 0 that has all digits, and the smallest one.
Real leastNormalOf(DType dtype);
Real leastPositiveOf(DType dtype);
Real largestOf(DType dtype);
Real leastOf(DType dtype);
// What the polynomials that stand for exp, sin and so on may be off by; test/operations holds them to the same.
Real approximation(DType dtype, Real value);

//===-- One operation's call --------------------------------------------------------------------===//

// `machine`: results are rounded as a machine does and bounds follow. Otherwise results are not rounded, bounds of
// operands are ignored and `off` is what the operation itself would add: what differences are taken of.
struct Call {
  const Step &step;
  std::vector<const Array *> x;
  Array &result;
  bool machine;
  std::size_t index = 0; // which of the results

  const Array &operator[](std::size_t i) const { return *x[i]; }
  template <typename T> const T &attribute(std::size_t i) const { return std::get<T>(step.attributes[i]); }
  const Ints &ints(std::size_t i) const { return attribute<Ints>(i); }
  DType dtype() const { return result.type.dtype; }
  Num &out(std::int64_t i) const { return result.elements[static_cast<std::size_t>(i)]; }
  const Num &in(std::size_t operand, std::int64_t i) const { return x[operand]->elements[static_cast<std::size_t>(i)]; }
  const Shape &shape() const { return result.type.dims; }
  const Shape &shape(std::size_t operand) const { return x[operand]->type.dims; }
  std::int64_t count() const { return static_cast<std::int64_t>(result.elements.size()); }
};

// Computes a step's operation. Failure, Undecided.
void evaluate(const Call &call);
// Whether the interpreter knows a meaning of the operation.
bool hasReference(OpId op);

using Kernel = void (*)(const Call &);
using KernelTable = std::unordered_map<std::string_view, Kernel>; // by mnemonic
const KernelTable &elementwiseKernels();
const KernelTable &bitKernels();
const KernelTable &reductionKernels();
const KernelTable &windowKernels();
const KernelTable &movementKernels();
const KernelTable &sourceKernels();
const KernelTable &specialKernels();
// Of complex numbers, whose parts alternate in an array's elements.
void evaluateComplex(const Call &call);
bool hasComplexReference(OpId op);

//===-- Bounds ----------------------------------------------------------------------------------===//

// An exact result with what its operands and the operation itself add to its bounds, as an element of the result's
// type.
Num seal(const Call &call, Real value, Real off, Real apart, Real own, Real ownApart);

// The call's elements by f, which rounds so often; with -1 its results are off by up to `ulp` units in the last place.
void elementwiseBy(const Call &call, const std::function<Real(const Real *)> &f, int roundings, int ulp = 0,
                   double digitsFrom = 0);

// Remainders repeat themselves, so that what an operand's bounds give at their ends says nothing of what lies between:
// those of operands that are off by a part of the divisor are unknown.
void openRemainders(const Call &call);

// Terms or products, added up in any order: off by at most k eps sum|term|, and not at all when every partial sum is a
// number.
class Sum {
public:
  explicit Sum(const Call &call) : call(&call) {}
  void add(const Num &a);
  void add(const Num &a, const Num &b);
  Num finish() const;

private:
  void take(Real term, int bit);
  const Call *call;
  Real total = 0, magnitude = 0, off = 0, apart = 0;
  std::uint64_t wrapped = 0; // the total of integers
  std::int64_t terms = 0;
  int lowest = INT_MAX;
  bool products = false;
};

// One result from several elements; bounds by moving one element at a time.
Num through(const Call &call, const std::vector<Num> &x, const std::function<Real(const std::vector<Real> &)> &f,
            Real ownFactor);

// The position of the first largest of some elements, NaN being larger than all; whether the bounds leave that open.
struct Largest {
  std::size_t position = 0;
  bool offOpen = false, apartOpen = false;
};
Largest firstLargest(const std::vector<Num> &x);
// NaN if there is one.
Real largestValue(const std::vector<Real> &x);

//===-- Positions -------------------------------------------------------------------------------===//

// The position in an operand of what stands at a position of the result that it is broadcast to.
class Broadcast {
public:
  Broadcast(const Shape &from, const Shape &to) : to(to), strides(to.size()) {
    std::int64_t stride = 1;
    for (std::size_t i = from.size(); i-- > 0; stride *= from[i])
      strides[to.size() - from.size() + i] = from[i] == 1 ? 0 : stride;
  }
  std::int64_t operator()(std::int64_t flat) const {
    std::int64_t at = 0;
    for (std::size_t i = to.size(); i-- > 0; flat /= to[i])
      at += flat % to[i] * strides[i];
    return at;
  }

private:
  Shape to;
  Ints strides;
};

Ints stridesOf(const Shape &shape);
Shape unravel(std::int64_t flat, const Shape &shape);
std::int64_t ravel(const Shape &index, const Shape &shape);
std::int64_t productOf(const Shape &shape);
std::int64_t normal(std::int64_t axis, std::size_t rank);
// Results that are elements of an operand: the position for each result.
void pick(const Call &call, std::size_t operand, const std::function<std::int64_t(const Shape &)> &place);

} // namespace calque::fuzz
#endif
