#include "test/fuzz/Interpreter.h"

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <unordered_map>

namespace calque::fuzz {

namespace {

constexpr Real kUnknown = std::numeric_limits<Real>::infinity();
// Less than any number that a machine knows: "zero, of either sign".
constexpr Real kTiny = 1e-4000L;

bool same(Real a, Real b) { return a == b || (std::isnan(a) && std::isnan(b)); }
Real distance(Real a, Real b) {
  if (same(a, b))
    return 0;
  Real d = std::fabs(a - b);
  return std::isnan(d) ? kUnknown : d;
}
Real epsilonOf(DType dtype) { return dtype == DType::Float32 ? 0x1p-23L : dtype == DType::Float64 ? 0x1p-52L : 0; }
Real largestOf(DType dtype) {
  switch (dtype) {
  case DType::Float32:
    return std::numeric_limits<float>::max();
  case DType::Float64:
    return std::numeric_limits<double>::max();
  case DType::Int32:
    return INT32_MAX;
  case DType::Int64:
    return static_cast<Real>(INT64_MAX);
  case DType::Bool:
    break;
  }
  return 1;
}
// What the polynomials that stand for exp, sin and so on may be off by; test/operations holds them to the same.
Real approximation(DType dtype, Real value) {
  return dtype == DType::Float32 ? 2e-6L + 1e-6L * std::fabs(value) : 1e-14L + 1e-14L * std::fabs(value);
}

//===-- One operation's call --------------------------------------------------------------------===//

// `machine`: results are rounded as a machine does and bounds follow. Otherwise results are not rounded, bounds of operands are
// ignored and `off` is what the operation itself would add: what differences are taken of.
struct Call {
  const Step &step;
  std::vector<const Array *> x;
  Array &result;
  bool machine;

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

// An exact result with what its operands and the operation itself add to its bounds, as an element of the result's type.
Num seal(const Call &call, Real value, Real off, Real apart, Real own, Real ownApart) {
  DType dtype = call.dtype();
  if (!call.machine)
    return {value, own, 0};
  if (!is_floating(dtype)) {
    Real limit = std::fabs(value) + (std::isfinite(off) ? off : 0);
    if (off > 0 && limit > largestOf(dtype))
      off = kUnknown;
    if (!(std::fabs(value) < 0x1p64L))
      return {0, kUnknown, apart > 0 ? kUnknown : 0};
    return {roundTo(dtype, value), off, apart};
  }
  Real rounded = roundTo(dtype, value);
  if (!std::isfinite(value))
    return {rounded, off, apart};
  off += own;
  if (apart > 0)
    apart += own + ownApart + epsilonOf(dtype) * std::fabs(value);
  else
    apart = ownApart;
  // Near overflow either may happen.
  if (std::fabs(value) + off >= largestOf(dtype) && (off > 0))
    off = kUnknown;
  if (std::fabs(value) + apart >= largestOf(dtype) && (apart > 0))
    apart = kUnknown;
  return {rounded, off, apart};
}

//===-- Elementwise -----------------------------------------------------------------------------===//

struct Uncertain {
  Real value, bound;
  DType dtype;
};

// How far f(x) moves while each operand moves within its bound: at the corners, which is exact to first order; where a bound is so
// large that this means nothing, it is unknown unless the operand makes no difference at all.
Real deviation(const reference::Reference &f, std::span<const Uncertain> x, Real at) {
  std::vector<std::vector<Real>> points;
  bool any = false, wide = false;
  for (const Uncertain &operand : x) {
    points.push_back({operand.value});
    if (operand.bound == 0)
      continue;
    any = true;
    if (operand.dtype == DType::Bool) {
      points.back() = {0, 1};
    } else if (operand.bound > std::max<Real>(1, std::fabs(operand.value)) / 4 || std::isnan(operand.value)) {
      wide = true;
      points.back() = {operand.value, 0, 1, -1, 0.5L, -2.5L, 7};
      if (is_floating(operand.dtype))
        points.back().insert(points.back().end(), {kUnknown, -kUnknown, std::numeric_limits<Real>::quiet_NaN()});
    } else {
      points.back() = {operand.value - operand.bound, operand.value + operand.bound};
      if (std::fabs(operand.value) <= operand.bound)
        points.back().push_back(0);
    }
  }
  if (!any)
    return 0;
  Real most = 0;
  std::vector<std::size_t> index(x.size());
  std::array<Real, 8> corner{};
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < x.size(); ++i)
      corner[i] = points[i][index[i]];
    most = std::max(most, distance(f(corner.data()), at));
    more = false;
    for (std::size_t i = 0; i < x.size() && !more; ++i) {
      more = ++index[i] < points[i].size();
      if (!more)
        index[i] = 0;
    }
  }
  return wide && most > 0 ? kUnknown : most * 1.01L;
}

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

void elementwiseBy(const Call &call, const reference::Reference &f, int roundings) {
  std::vector<Broadcast> places;
  for (const Array *operand : call.x)
    places.emplace_back(operand->type.dims, call.shape());
  DType dtype = call.dtype();
  std::vector<Uncertain> x(call.x.size());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    std::array<Real, 8> values{};
    bool exactOperands = true, sameOperands = true;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Num &operand = call.in(k, places[k](i));
      values[k] = operand.value;
      exactOperands &= operand.off == 0;
      sameOperands &= operand.apart == 0;
    }
    Real value = f(values.data());
    if (is_integer(dtype))
      value = std::trunc(value);
    Real off = 0, apart = 0;
    auto deviate = [&](Real Num::*bound) {
      for (std::size_t k = 0; k < x.size(); ++k) {
        const Num &operand = call.in(k, places[k](i));
        x[k] = {operand.value, operand.*bound, call[k].type.dtype};
      }
      return deviation(f, x, value);
    };
    if (call.machine && !exactOperands)
      off = deviate(&Num::off);
    if (call.machine && !sameOperands)
      apart = deviate(&Num::apart);
    Real own = 0;
    if (is_floating(dtype) && std::isfinite(value)) {
      bool isExact = roundTo(dtype, value) == value;
      if (roundings < 0) {
        // As if the argument were off in its last bits, which is what most of such a function's error is where it is steep.
        own = approximation(dtype, value);
        for (std::size_t k = 0; k < x.size(); ++k)
          for (Real side : {-4, 4}) {
            std::array<Real, 8> near = values;
            near[k] *= 1 + side * epsilonOf(dtype);
            Real moved = distance(f(near.data()), value);
            own += std::isfinite(moved) ? moved : 0;
          }
      }
      else if (roundings > 0 && !(call.machine && (isExact || (roundings == 1 && dtype == DType::Float32)) && exactOperands))
        own = roundings * epsilonOf(dtype) * std::fabs(value);
      // The references don't promise the sign of a zero.
      if (value == 0)
        own = std::max(own, kTiny);
      own += roundings != 0 && std::fabs(value) < 1e-30L && value != 0 ? (dtype == DType::Float32 ? 1e-37L : 1e-307L) : 0;
    }
    call.out(i) = seal(call, value, off, apart, own, 0);
  }
}

//===-- Sums ------------------------------------------------------------------------------------===//

// The exponent of the lowest bit of a number that is not zero.
int lowestBit(Real x) {
  int exponent = 0;
  Real mantissa = std::frexp(std::fabs(x), &exponent);
  return exponent - 64 + std::countr_zero(static_cast<std::uint64_t>(std::ldexp(mantissa, 64)));
}

// Terms or products, added up in any order: off by at most k eps sum|term|, and not at all when every partial sum is a number.
class Sum {
public:
  explicit Sum(const Call &call) : call(call) {}

  void add(const Num &a) {
    take(a.value, a.value != 0 && std::isfinite(a.value) ? lowestBit(a.value) : INT_MAX);
    off += a.off;
    apart += a.apart;
  }
  void add(const Num &a, const Num &b) {
    bool counts = a.value != 0 && b.value != 0 && std::isfinite(a.value) && std::isfinite(b.value);
    take(a.value * b.value, counts ? lowestBit(a.value) + lowestBit(b.value) : INT_MAX);
    products = true;
    off += bound(a, b, &Num::off);
    apart += bound(a, b, &Num::apart);
  }
  Num finish() const {
    DType dtype = call.dtype();
    if (!is_floating(dtype)) {
      if (!(magnitude < 0x1p63L))
        return {0, kUnknown, apart > 0 ? kUnknown : 0};
      return seal(call, total, off, apart, 0, 0);
    }
    if (!std::isfinite(total))
      return {total, off, apart};
    if (call.machine && magnitude > largestOf(dtype))
      return {total, kUnknown, kUnknown};
    int precision = dtype == DType::Float32 ? 24 : 53;
    bool exact = lowest == INT_MAX || (lowest > -140 && magnitude <= std::ldexp(Real(1), precision + lowest));
    Real own = exact && call.machine ? 0 : (static_cast<Real>(terms) + 2) * epsilonOf(dtype) * magnitude;
    if (!exact)
      own += static_cast<Real>(terms) * (dtype == DType::Float32 ? 0x1p-149L : 0x1p-1074L);
    bool orderMatters = !exact && (terms > 2 || (terms == 2 && products));
    // A sum may begin with +0 or with its first term.
    Real zero = total == 0 ? kTiny : 0;
    return seal(call, total, off, apart, std::max(own, zero), std::max(orderMatters ? 2 * own : 0, zero));
  }

private:
  void take(Real term, int bit) {
    total += term;
    magnitude += std::fabs(term);
    lowest = std::min(lowest, bit);
    ++terms;
  }
  static Real bound(const Num &a, const Num &b, Real Num::*which) {
    Real x = a.*which, y = b.*which;
    return (x > 0 ? x * (std::fabs(b.value) + y) : 0) + (y > 0 ? y * std::fabs(a.value) : 0) + 0;
  }
  const Call &call;
  Real total = 0, magnitude = 0, off = 0, apart = 0;
  std::int64_t terms = 0;
  int lowest = INT_MAX;
  bool products = false;
};

//===-- Indices ---------------------------------------------------------------------------------===//

Ints stridesOf(const Shape &shape) {
  Ints strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}
Shape unravel(std::int64_t flat, const Shape &shape) {
  Shape index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; flat /= shape[i])
    index[i] = flat % shape[i];
  return index;
}
std::int64_t ravel(const Shape &index, const Shape &shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    flat = flat * shape[i] + index[i];
  return flat;
}
std::int64_t productOf(const Shape &shape) {
  std::int64_t product = 1;
  for (std::int64_t size : shape)
    product *= size;
  return product;
}
std::int64_t normal(std::int64_t axis, std::size_t rank) { return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis; }

// Results that are elements of an operand: the position for each result.
void pick(const Call &call, std::size_t operand, const std::function<std::int64_t(const Shape &)> &place) {
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = call.in(operand, place(unravel(i, call.shape())));
  if (!call.machine)
    for (Num &element : call.result.elements)
      element.off = element.apart = 0;
}

// The elements of operand 0 that each result of a reduction comes from.
std::vector<std::vector<std::int64_t>> reducedPositions(const Call &call) {
  std::vector<bool> isReduced(call.shape(0).size(), call.ints(0).empty());
  for (std::int64_t axis : call.ints(0))
    isReduced[normal(axis, isReduced.size())] = true;
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(call.count()));
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i) {
    Shape index = unravel(i, call.shape(0));
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      if (!isReduced[d])
        at = at * call.shape(0)[d] + index[d];
    positions[at].push_back(i);
  }
  return positions;
}

// One result from several elements; bounds by moving one element at a time.
Num through(const Call &call, const std::vector<Num> &x, const std::function<Real(const std::vector<Real> &)> &f, Real ownFactor) {
  std::vector<Real> values;
  for (const Num &element : x)
    values.push_back(element.value);
  Real value = f(values);
  Real own = ownFactor * (is_floating(call.dtype()) && std::isfinite(value) ? approximation(call.dtype(), value) : 0);
  if (value == 0)
    own = std::max(own, kTiny);
  if (!call.machine)
    return {value, own, 0};
  auto deviate = [&](Real Num::*bound) {
    Real total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      Real b = x[i].*bound;
      if (b == 0)
        continue;
      if (b > std::max<Real>(1, std::fabs(x[i].value)) / 4 || std::isnan(x[i].value))
        return kUnknown;
      Real most = 0;
      for (Real side : {-1, 1}) {
        values[i] = x[i].value + side * b;
        most = std::max(most, distance(f(values), value));
      }
      values[i] = x[i].value;
      total += most * 1.5L;
    }
    return total;
  };
  return seal(call, value, deviate(&Num::off), deviate(&Num::apart), own, 0);
}

// The position of the first largest of some elements, NaN being larger than all; whether the bounds leave that open.
struct Largest {
  std::size_t position = 0;
  bool offOpen = false, apartOpen = false;
};
Largest firstLargest(const std::vector<Num> &x) {
  Largest result;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[result.position].value < x[i].value || (std::isnan(x[i].value) && !std::isnan(x[result.position].value)))
      result.position = i;
  const Num &best = x[result.position];
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto open = [&](Real Num::*bound) {
      return x[i].*bound + best.*bound > 0 && (i == result.position ? !std::isfinite(best.*bound) && x.size() > 1
                                                                    : !(x[i].value + x[i].*bound < best.value - best.*bound));
    };
    result.offOpen |= open(&Num::off);
    result.apartOpen |= open(&Num::apart);
  }
  return result;
}

Real largestValue(const std::vector<Real> &x) {
  Real best = -kUnknown;
  for (Real value : x)
    if (std::isnan(value))
      return value;
    else
      best = std::max(best, value);
  return best;
}

//===-- Structured operations, one function each ------------------------------------------------===//

void reduceSum(const Call &call) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call)) {
    Sum sum(call);
    for (std::int64_t position : positions)
      sum.add(call.in(0, position));
    call.out(i++) = sum.finish();
  }
}

void reduceBy(const Call &call, const std::function<Real(const std::vector<Real> &)> &f, Real ownFactor) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call)) {
    std::vector<Num> elements;
    for (std::int64_t position : positions)
      elements.push_back(call.in(0, position));
    call.out(i++) = through(call, elements, f, ownFactor * static_cast<Real>(elements.size() + 4));
  }
}

void reduceMax(const Call &call) { reduceBy(call, largestValue, 0); }
void reduceMin(const Call &call) {
  reduceBy(call, [](std::vector<Real> x) {
    for (Real &value : x)
      value = -value;
    return -largestValue(x);
  }, 0);
}

void reduceMean(const Call &call) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call)) {
    Sum sum(call);
    for (std::int64_t position : positions)
      sum.add(call.in(0, position));
    Num total = sum.finish();
    auto count = static_cast<Real>(positions.size());
    Real value = total.value / count, own = epsilonOf(call.dtype()) * std::fabs(value);
    call.out(i++) = seal(call, value, total.off / std::max<Real>(count, 1),
                        total.apart / std::max<Real>(count, 1), std::isfinite(own) ? own : 0, 0);
  }
  if (!call.machine)
    return;
  for (Num &element : call.result.elements)
    if (std::isnan(element.off))
      element.off = element.apart = kUnknown;
}

Real logOfSum(const std::vector<Real> &x) {
  Real largest = largestValue(x), sum = 0;
  if (!std::isfinite(largest))
    return largest;
  for (Real value : x)
    sum += std::exp(value - largest);
  return largest + std::log(sum);
}
void logSumExp(const Call &call) {
  reduceBy(call, logOfSum, 2);
  // The sum of exponentials is taken in any order.
  if (call.machine)
    for (Num &element : call.result.elements)
      if (std::isfinite(element.value))
        element.apart = std::max(element.apart, element.off);
}

void softmax(const Call &call) {
  const Shape &shape = call.shape();
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), shape.size());
  std::int64_t stride = stridesOf(shape)[axis], size = shape[axis];
  for (std::int64_t i = 0; i < call.count(); ++i) {
    std::int64_t own = i / stride % size, first = i - own * stride;
    std::vector<Num> elements;
    for (std::int64_t k = 0; k < size; ++k)
      elements.push_back(call.in(0, first + k * stride));
    Num &out = call.out(i);
    out = through(call, elements, [&](const std::vector<Real> &x) {
      Real largest = largestValue(x), sum = 0;
      for (Real value : x)
        sum += std::exp(value - largest);
      return std::exp(x[own] - largest) / sum;
    }, static_cast<Real>(size + 4));
    if (call.machine && std::isfinite(out.value))
      out.apart = std::max(out.apart, out.off);
  }
}

void argMax(const Call &call) {
  const Shape &shape = call.shape(0);
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), shape.size());
  std::int64_t stride = stridesOf(shape)[axis], size = shape[axis];
  for (std::int64_t i = 0; i < call.count(); ++i) {
    std::vector<Num> elements;
    for (std::int64_t k = 0; k < size; ++k)
      elements.push_back(call.in(0, i / stride * stride * size + i % stride + k * stride));
    Largest largest = firstLargest(elements);
    call.out(i) = {static_cast<Real>(largest.position), call.machine && largest.offOpen ? kUnknown : 0,
                   call.machine && largest.apartOpen ? kUnknown : 0};
  }
}

void axisSize(const Call &call) {
  const Shape &shape = call.shape(0);
  Real count = 1;
  if (call.ints(0).empty())
    count = static_cast<Real>(productOf(shape));
  for (std::int64_t axis : call.ints(0))
    count *= static_cast<Real>(shape[normal(axis, shape.size())]);
  call.out(0) = {roundTo(call.dtype(), count), 0, 0};
}

void sumLike(const Call &call) {
  Broadcast place(call.shape(), call.shape(0));
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i)
    sums[place(i)].add(call.in(0, i));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
  // Where nothing is summed, elements are themselves.
  if (productOf(call.shape(0)) == call.count())
    pick(call, 0, [&](const Shape &index) { return ravel(index, call.shape()); });
}

void contract(const Call &call) {
  Ints batch[2], contracting[2], freeStrides[2], freeSizes[2];
  for (std::size_t side : {0, 1}) {
    std::size_t rank = call.shape(side).size();
    for (std::int64_t axis : call.ints(side))
      batch[side].push_back(normal(axis, rank));
    for (std::int64_t axis : call.ints(side + 2))
      contracting[side].push_back(normal(axis, rank));
  }
  // Positions in an operand of all index combinations of some of its dimensions.
  auto offsets = [&](std::size_t side, const Ints &axes) {
    Ints strides = stridesOf(call.shape(side)), result{0};
    for (std::int64_t axis : axes) {
      Ints next;
      for (std::int64_t offset : result)
        for (std::int64_t i = 0; i < call.shape(side)[axis]; ++i)
          next.push_back(offset + i * strides[axis]);
      result = std::move(next);
    }
    return result;
  };
  Ints free[2];
  for (std::size_t side : {0, 1})
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(call.shape(side).size()); ++axis)
      if (std::find(batch[side].begin(), batch[side].end(), axis) == batch[side].end() &&
          std::find(contracting[side].begin(), contracting[side].end(), axis) == contracting[side].end())
        free[side].push_back(axis);
  Ints lhsBatch = offsets(0, batch[0]), rhsBatch = offsets(1, batch[1]), lhsFree = offsets(0, free[0]), rhsFree = offsets(1, free[1]);
  Ints lhsTerms = offsets(0, contracting[0]), rhsTerms = offsets(1, contracting[1]);
  std::int64_t at = 0;
  for (std::size_t b = 0; b < lhsBatch.size(); ++b)
    for (std::int64_t l : lhsFree)
      for (std::int64_t r : rhsFree) {
        Sum sum(call);
        for (std::size_t k = 0; k < lhsTerms.size(); ++k)
          sum.add(call.in(0, lhsBatch[b] + l + lhsTerms[k]), call.in(1, rhsBatch[b] + r + rhsTerms[k]));
        call.out(at++) = sum.finish();
      }
}

//===-- Windows ---------------------------------------------------------------------------------===//

// How many rows or columns of padding stand before the image.
std::int64_t padBefore(std::int64_t input, std::int64_t window, std::int64_t stride, const std::string &padding) {
  if (padding != "same" || input == 0)
    return 0;
  std::int64_t windows = (input + stride - 1) / stride;
  return std::max<std::int64_t>((windows - 1) * stride + window - input, 0) / 2;
}

// For each image n, result row and column, and window row and column inside of the image: the image's row and column.
template <typename F>
void eachWindow(const Shape &image, const Shape &result, std::int64_t height, std::int64_t width,
                const Ints &strides, const std::string &padding, F f) {
  std::int64_t top = padBefore(image[1], height, strides[0], padding), left = padBefore(image[2], width, strides[1], padding);
  for (std::int64_t n = 0; n < result[0]; ++n)
    for (std::int64_t oh = 0; oh < result[1]; ++oh)
      for (std::int64_t ow = 0; ow < result[2]; ++ow)
        for (std::int64_t kh = 0; kh < height; ++kh)
          for (std::int64_t kw = 0; kw < width; ++kw) {
            std::int64_t h = oh * strides[0] + kh - top, w = ow * strides[1] + kw - left;
            if (h >= 0 && h < image[1] && w >= 0 && w < image[2])
              f(n, oh, ow, kh, kw, h, w);
          }
}

// result[n,oh,ow,f] += image[n,h,w,c] filter[kh,kw,c,f], of which the image, the filter or the result is asked for.
void convolution(const Call &call, const Shape &image, const Shape &filter, const Shape &output, int asked) {
  const Ints &strides = call.ints(0);
  const std::string &padding = call.attribute<std::string>(1);
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  eachWindow(image, output, filter[0], filter[1], strides, padding, [&](auto n, auto oh, auto ow, auto kh, auto kw, auto h, auto w) {
    for (std::int64_t c = 0; c < filter[2]; ++c)
      for (std::int64_t f = 0; f < filter[3]; ++f) {
        std::int64_t in = ravel({n, h, w, c}, image), k = ravel({kh, kw, c, f}, filter), out = ravel({n, oh, ow, f}, output);
        if (asked == 0)
          sums[out].add(call.in(0, in), call.in(1, k));
        else if (asked == 1)
          sums[in].add(call.in(0, out), call.in(1, k));
        else
          sums[k].add(call.in(0, in), call.in(1, out));
      }
  });
  // Whether padding times infinity counts is not promised.
  bool finite = true;
  for (const Array *operand : {call.x[0], call.x[1]})
    for (const Num &element : operand->elements)
      finite &= std::isfinite(element.value) && std::isfinite(element.off);
  for (std::int64_t i = 0; i < call.count(); ++i) {
    call.out(i) = sums[i].finish();
    if (!finite)
      call.out(i).off = call.out(i).apart = kUnknown;
  }
}
void conv(const Call &call) { convolution(call, call.shape(0), call.shape(1), call.shape(), 0); }
void convInputGrad(const Call &call) { convolution(call, call.shape(), call.shape(1), call.shape(0), 1); }
void convFilterGrad(const Call &call) { convolution(call, call.shape(0), call.shape(), call.shape(1), 2); }

// The positions in the images that each window sees, by position of the result.
std::vector<std::vector<std::int64_t>> windowPositions(const Call &call, const Shape &output) {
  const Shape &image = call.shape(0);
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(productOf(output)));
  eachWindow(image, output, call.ints(0)[0], call.ints(0)[1], call.ints(1), call.attribute<std::string>(2),
             [&](auto n, auto oh, auto ow, auto, auto, auto h, auto w) {
               for (std::int64_t c = 0; c < image[3]; ++c)
                 positions[ravel({n, oh, ow, c}, output)].push_back(ravel({n, h, w, c}, image));
             });
  return positions;
}
std::vector<Num> elementsAt(const Call &call, std::size_t operand, const std::vector<std::int64_t> &positions) {
  std::vector<Num> elements;
  for (std::int64_t position : positions)
    elements.push_back(call.in(operand, position));
  return elements;
}

void maxPool(const Call &call) {
  auto positions = windowPositions(call, call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = through(call, elementsAt(call, 0, positions[i]), largestValue, 0);
}

void maxPoolGrad(const Call &call) {
  auto positions = windowPositions(call, call.shape(1));
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  std::vector<std::int64_t> offOpen, apartOpen;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i].empty())
      continue;
    Largest largest = firstLargest(elementsAt(call, 0, positions[i]));
    sums[positions[i][largest.position]].add(call.in(1, static_cast<std::int64_t>(i)));
    if (largest.offOpen)
      offOpen.insert(offOpen.end(), positions[i].begin(), positions[i].end());
    if (largest.apartOpen)
      apartOpen.insert(apartOpen.end(), positions[i].begin(), positions[i].end());
  }
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
  if (!call.machine)
    return;
  for (std::int64_t position : offOpen)
    call.out(position).off = kUnknown;
  for (std::int64_t position : apartOpen)
    call.out(position).apart = kUnknown;
}

void maxPoolPick(const Call &call) {
  auto positions = windowPositions(call, call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    Largest largest = firstLargest(elementsAt(call, 0, positions[i]));
    Num &out = call.out(i);
    out = call.in(1, positions[i][largest.position]);
    if (!call.machine)
      out.off = out.apart = 0;
    else if (largest.offOpen)
      out.off = kUnknown;
    if (call.machine && largest.apartOpen)
      out.apart = kUnknown;
  }
}

//===-- Sources and movements -------------------------------------------------------------------===//

void constant(const Call &call) {
  const schema::ConstantData &data = *call.attribute<schema::ConstantRef>(0);
  std::size_t size = size_of(call.dtype());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    const void *at = data.bytes.data() + (data.splat ? 0 : static_cast<std::size_t>(i) * size);
    switch (call.dtype()) {
    case DType::Bool:
      call.out(i).value = *static_cast<const unsigned char *>(at) != 0;
      break;
    case DType::Int32:
      call.out(i).value = *static_cast<const std::int32_t *>(at);
      break;
    case DType::Int64:
      call.out(i).value = *static_cast<const std::int64_t *>(at);
      break;
    case DType::Float32:
      call.out(i).value = *static_cast<const float *>(at);
      break;
    case DType::Float64:
      call.out(i).value = *static_cast<const double *>(at);
      break;
    }
  }
}

void iota(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(2), call.shape().size());
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i).value = roundTo(call.dtype(), static_cast<Real>(unravel(i, call.shape())[axis]));
}

void sameElements(const Call &call) {
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = call.in(0, i);
  if (!call.machine)
    for (Num &element : call.result.elements)
      element.off = element.apart = 0;
}

void broadcast(const Call &call) {
  Broadcast place(call.shape(0), call.shape());
  pick(call, 0, [&](const Shape &index) { return place(ravel(index, call.shape())); });
}

void transpose(const Call &call) {
  std::size_t rank = call.shape().size();
  pick(call, 0, [&](const Shape &index) {
    Shape from(rank);
    for (std::size_t i = 0; i < rank; ++i)
      from[call.ints(0).empty() ? rank - 1 - i : static_cast<std::size_t>(normal(call.ints(0)[i], rank))] = index[i];
    return ravel(from, call.shape(0));
  });
}

void concat(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape().size());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    Shape index = unravel(i, call.shape());
    std::size_t tensor = 0;
    while (index[axis] >= call.shape(tensor)[axis])
      index[axis] -= call.shape(tensor++)[axis];
    call.out(i) = call.in(tensor, ravel(index, call.shape(tensor)));
    if (!call.machine)
      call.out(i).off = call.out(i).apart = 0;
  }
}

void concatPart(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape().size()), start = 0;
  for (std::int64_t i = 0; i < call.attribute<std::int64_t>(1); ++i)
    start += call.shape(static_cast<std::size_t>(i) + 1)[axis];
  pick(call, 0, [&](Shape index) {
    index[axis] += start;
    return ravel(index, call.shape(0));
  });
}

void sliceAt(const Call &call, const Ints &starts, const Ints &strides) {
  pick(call, 0, [&](Shape index) {
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = starts[i] + index[i] * (strides.empty() ? 1 : strides[i]);
    return ravel(index, call.shape(0));
  });
}
void slice(const Call &call) { sliceAt(call, call.ints(0), call.ints(2)); }
void sliceLike(const Call &call) { sliceAt(call, call.ints(0), call.ints(1)); }

void put(const Call &call, const Ints &starts, const Ints &strides) {
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i) {
    Shape index = unravel(i, call.shape(0));
    for (std::size_t d = 0; d < index.size(); ++d)
      index[d] = starts[d] + index[d] * (strides.empty() ? 1 : strides[d]);
    Num &out = call.out(ravel(index, call.shape()));
    out = call.in(0, i);
    if (!call.machine)
      out.off = out.apart = 0;
  }
}
void slicePut(const Call &call) { put(call, call.ints(0), call.ints(1)); }
void pad(const Call &call) {
  for (Num &element : call.result.elements)
    element.value = roundTo(call.dtype(), call.attribute<double>(2));
  put(call, call.ints(0), {});
}

//===-- Indices ---------------------------------------------------------------------------------===//

// Fails for the first index that is not within the axis.
void checkIndices(const Call &call, std::size_t operand, std::int64_t size) {
  for (const Num &index : call[operand].elements) {
    if (index.off > 0 || index.apart > 0)
      throw Undecided("an index is not known exactly");
    if (index.value < 0 || index.value >= static_cast<Real>(size))
      throw Failure{"IndexError", std::string(schema::schemaOf(call.step.op).mnemonic) + ": index " +
                                      std::to_string(static_cast<std::int64_t>(index.value)) +
                                      " is out of range [0, " + std::to_string(size) + ")"};
  }
}

// Where in x the element at an index of the slices stands.
std::int64_t gatheredFrom(const Call &call, const Shape &index, std::size_t indices, const Shape &x, std::int64_t axis) {
  std::size_t indexRank = call.shape(indices).size();
  Shape at(index.begin() + axis, index.begin() + axis + static_cast<std::ptrdiff_t>(indexRank)), from(index.begin(), index.begin() + axis);
  from.push_back(static_cast<std::int64_t>(call.in(indices, ravel(at, call.shape(indices))).value));
  from.insert(from.end(), index.begin() + axis + static_cast<std::ptrdiff_t>(indexRank), index.end());
  return ravel(from, x);
}

void gather(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape(0).size());
  checkIndices(call, 1, call.shape(0)[axis]);
  pick(call, 0, [&](const Shape &index) { return gatheredFrom(call, index, 1, call.shape(0), axis); });
}

void gatherPut(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape(1).size());
  checkIndices(call, 2, call.shape(1)[axis]);
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i)
    sums[gatheredFrom(call, unravel(i, call.shape(0)), 2, call.shape(), axis)].add(call.in(0, i));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
}

void oneHot(const Call &call) {
  std::int64_t depth = call.attribute<std::int64_t>(0);
  for (std::int64_t i = 0; i < call.count(); ++i) {
    const Num &index = call.in(0, i / depth);
    call.out(i) = {static_cast<Real>(index.value == static_cast<Real>(i % depth)), index.off > 0 ? kUnknown : 0,
                     index.apart > 0 ? kUnknown : 0};
  }
}

//===-- Others ----------------------------------------------------------------------------------===//

void castTo(const Call &call) {
  DType to = call.dtype();
  elementwiseBy(call, [to](const Real *x) -> Real {
    if (to == DType::Bool)
      return x[0] != 0;
    if (is_floating(to))
      return x[0];
    if (std::isnan(x[0]))
      return 0;
    // Integers wrap, floats saturate; both are told apart by the caller.
    return std::trunc(x[0]);
  }, is_floating(to) ? 1 : 0);
  if (!is_integer(to) || !is_floating(call[0].type.dtype))
    return;
  Real high = largestOf(to), low = -high - 1;
  for (std::int64_t i = 0; i < call.count(); ++i)
    if (Real value = call.in(0, i).value; value >= high || value <= low)
      call.out(i) = {value > 0 ? high : low, call.out(i).off, call.out(i).apart};
}

// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011).
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1,
         static_cast<std::uint32_t>(a)};
  }
  return c;
}
void randomUniform(const Call &call) {
  for (std::int64_t i : {0, 1})
    if (call.in(0, i).off > 0 || call.in(0, i).apart > 0)
      throw Undecided("a random state is not known exactly");
  auto word = [&](std::int64_t i) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(call.in(0, i).value)); };
  bool isDouble = call.dtype() == DType::Float64;
  for (std::int64_t i = 0; i < call.count(); ++i) {
    auto position = static_cast<std::uint64_t>(i);
    std::array<std::uint32_t, 4> words = philox(word(0), word(1) + position / (isDouble ? 2 : 4));
    if (isDouble) {
      std::uint64_t bits = static_cast<std::uint64_t>(words[position % 2 * 2 + 1]) << 32 | words[position % 2 * 2];
      call.out(i).value = static_cast<Real>(bits >> 11) * 0x1p-53L;
    } else {
      call.out(i).value = static_cast<Real>(words[position % 4] >> 8) * 0x1p-24L;
    }
  }
}

using Kernel = void (*)(const Call &);
const std::unordered_map<std::string_view, Kernel> &kernels() {
  static const auto *table = new std::unordered_map<std::string_view, Kernel>{
      {"reduce_sum", reduceSum}, {"reduce_max", reduceMax}, {"reduce_min", reduceMin}, {"reduce_mean", reduceMean},
      {"logsumexp", logSumExp}, {"softmax", softmax}, {"argmax", argMax}, {"axis_size", axisSize},
      {"sum_like", sumLike}, {"contract", contract}, {"conv2d", conv}, {"conv2d_input_grad", convInputGrad},
      {"conv2d_filter_grad", convFilterGrad}, {"max_pool2d", maxPool}, {"max_pool2d_grad", maxPoolGrad}, {"max_pool2d_pick", maxPoolPick},
      {"constant", constant}, {"iota", iota}, {"reshape", sameElements}, {"reshape_like", sameElements},
      {"expand_dims", sameElements}, {"stop_gradient", sameElements}, {"identity", sameElements}, {"barrier", sameElements}, {"broadcast_to", broadcast}, {"broadcast_like", broadcast},
      {"transpose", transpose}, {"concat", concat}, {"concat_part", concatPart}, {"slice", slice},
      {"slice_like", sliceLike}, {"slice_put", slicePut}, {"pad", pad}, {"gather", gather},
      {"gather_put", gatherPut}, {"one_hot", oneHot}, {"cast", castTo}, {"random_uniform", randomUniform},
  };
  return *table;
}

void evaluate(const Call &call) {
  const schema::OperationSchema &schema = schema::schemaOf(call.step.op);
  auto found = kernels().find(schema.mnemonic);
  if (found != kernels().end())
    return found->second(call);
  const Facts &facts = factsOf(call.step.op);
  if (!facts.reference)
    throw std::logic_error("no reference for " + std::string(schema.mnemonic));
  if (call.step.op == OpId::Div && is_integer(call.dtype()) && call.count() > 0)
    for (const Num &divisor : call[1].elements) {
      if (std::fabs(divisor.value) <= divisor.off && divisor.off > 0)
        throw Undecided("a divisor may be zero");
      if (divisor.value == 0)
        throw Failure{"DivisionError", "div: an integer is divided by zero"};
    }
  elementwiseBy(call, facts.reference, facts.roundings);
}

} // namespace

ArrayRef arrayOf(const Data &data) {
  auto array = std::make_shared<Array>();
  array->type = data.type;
  for (Real value : data.values)
    array->elements.push_back({value, 0, 0});
  return array;
}

namespace {

//===-- Gradients -------------------------------------------------------------------------------===//

// Derivatives by differences of the program itself in long double, unrounded: they share neither rules nor direction with the
// compiler's. A tape's view is kept by what is computed anew when a source moves: the steps that it saw, but not what hides where a
// value came from. Second order is differences of differences.
//
// What a machine's derivative is off by is estimated by computing with every step's rounding replaced by a random multiple of it, fixed
// for a run, so that the function stays smooth: the spread of the runs' derivatives is what rounding can do to them. Kinks and steps too
// large show as differences that depend on their step, and widen the bound.
class Differences {
public:
  using Environment = std::vector<ArrayRef>;
  Differences(const Program &program, const Environment &machine, unsigned run) : program(program), machine(machine), run(run) {}

  // The environment with the steps [begin, end) computed without rounding.
  Environment smooth(int begin, int end) const {
    Environment environment = machine;
    for (int i = begin; i < end; ++i)
      advance(environment, environment, i);
    return environment;
  }

  struct Element {
    Real value = 0, doubt = 0; // `doubt`: what the differences themselves may be off by
  };
  // The derivatives of a gradient step in an environment.
  std::vector<std::vector<Element>> gradient(const Environment &base, int index, bool withDoubt) const {
    const Step &step = program.steps[index];
    std::size_t first = static_cast<std::size_t>(step.tape->numTargets) * (step.tape->seeded ? 2 : 1);
    std::vector<std::vector<Element>> result;
    for (std::size_t r = 0; r < step.types.size(); ++r) {
      std::vector<int> moved;
      if (first + r < step.operands.size()) {
        moved = {step.operands[first + r]};
      } else {
        int variable = step.tape->variableSources[first + r - step.operands.size()];
        if (program.variables[variable].trainable)
          moved = readsIn(step.tape->begin, index, variable);
      }
      std::vector<bool> affected = affectedBy(moved, index);
      result.emplace_back(static_cast<std::size_t>(countOf(step.types[r])));
      bool reaches = false;
      for (int t = 0; t < step.tape->numTargets; ++t)
        reaches |= affected[step.operands[t]];
      if (!reaches)
        continue;
      for (std::size_t e = 0; e < result.back().size(); ++e)
        result.back()[e] = element(base, index, moved, affected, e, withDoubt);
    }
    return result;
  }

private:
  std::vector<int> readsIn(int begin, int end, int variable) const {
    std::vector<int> reads;
    for (int i = begin; i < end; ++i)
      if (program.steps[i].op == OpId::VariableRead && std::get<std::int64_t>(program.steps[i].attributes[0]) == variable)
        reads.push_back(program.steps[i].firstResult);
    return reads;
  }

  // Whether a step passes a derivative on: what is hidden keeps its value while sources move.
  bool passes(const Step &step, int result) const {
    return !step.types.empty() && step.op != OpId::VariableRead && schema::schemaOf(step.op).differentiable &&
           is_floating(step.types[static_cast<std::size_t>(result)].dtype);
  }

  // The values that move with some others, as the tape that the gradient asks sees it.
  std::vector<bool> affectedBy(const std::vector<int> &moved, int gradient) const {
    std::vector<bool> affected(static_cast<std::size_t>(program.numValues()));
    for (int value : moved)
      affected[value] = true;
    for (int i = program.steps[gradient].tape->begin; i < gradient; ++i) {
      const Step &step = program.steps[i];
      bool any = false;
      for (int operand : step.operands)
        any |= affected[operand];
      for (std::size_t r = 0; r < step.types.size(); ++r)
        if (any && passes(step, static_cast<int>(r)))
          affected[step.firstResult + r] = true;
    }
    return affected;
  }

  // Computes a step of an environment; what is hidden comes from another.
  void advance(Environment &environment, const Environment &hidden, int index) const {
    const Step &step = program.steps[index];
    if (step.tape) {
      Differences inner(program, machine, run);
      std::vector<std::vector<Element>> derivatives = inner.gradient(environment, index, false);
      for (std::size_t r = 0; r < step.types.size(); ++r) {
        auto array = std::make_shared<Array>();
        array->type = step.types[r];
        for (const Element &element : derivatives[r])
          array->elements.push_back({element.value, 0, 0});
        environment[step.firstResult + r] = std::move(array);
      }
      return;
    }
    if (step.types.empty())
      return;
    // No gradient passes through either.
    if (step.op == OpId::VariableRead || step.op == OpId::HostCall) {
      environment[step.firstResult] = hidden[step.firstResult];
      return;
    }
    auto array = std::make_shared<Array>();
    array->type = step.types[0];
    array->elements.resize(static_cast<std::size_t>(countOf(array->type)));
    Call call{step, {}, *array, false};
    for (int operand : step.operands)
      call.x.push_back(environment[operand].get());
    try {
      evaluate(call);
    } catch (const Failure &) {
      throw Undecided("a step fails on unrounded values");
    }
    for (std::size_t e = 0; e < array->elements.size(); ++e) {
      Num &element = array->elements[e];
      if (run && element.off > kTiny)
        element.value += noise(step.firstResult, e) * element.off;
      element.off = element.apart = 0;
    }
    environment[step.firstResult] = std::move(array);
  }

  // In [-1, 1], the same for the same element of a run.
  Real noise(int value, std::size_t element) const {
    std::uint64_t x = (static_cast<std::uint64_t>(run) << 40) ^ (static_cast<std::uint64_t>(value) << 24) ^ element;
    x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 29) * 0x94d049bb133111ebull;
    return static_cast<Real>(static_cast<std::int64_t>(x ^ x >> 32)) * 0x1p-63L;
  }

  Element element(const Environment &base, int index, const std::vector<int> &moved, const std::vector<bool> &affected,
                  std::size_t e, bool withDoubt) const {
    const Step &step = program.steps[index];
    int targets = step.tape->numTargets;
    auto targetsAt = [&](Real by) {
      Environment environment = base;
      auto move = [&](int value) {
        auto array = std::make_shared<Array>(*environment[value]);
        array->elements[e].value += by;
        environment[value] = std::move(array);
      };
      auto isMoved = [&](int value) { return std::find(moved.begin(), moved.end(), value) != moved.end(); };
      for (int value : moved)
        if (program.stepOf(value) < step.tape->begin)
          move(value);
      for (int i = step.tape->begin; i < index; ++i) {
        const Step &inner = program.steps[i];
        bool any = false;
        for (std::size_t r = 0; r < inner.types.size(); ++r)
          any |= affected[inner.firstResult + r];
        bool isSource = false;
        for (std::size_t r = 0; r < inner.types.size(); ++r)
          isSource |= isMoved(inner.firstResult + static_cast<int>(r));
        bool computes = false;
        for (int operand : inner.operands)
          computes |= affected[operand];
        if (any && computes && inner.op != OpId::VariableRead)
          advance(environment, base, i);
        if (isSource)
          for (std::size_t r = 0; r < inner.types.size(); ++r)
            if (isMoved(inner.firstResult + static_cast<int>(r)))
              move(inner.firstResult + static_cast<int>(r));
      }
      std::vector<ArrayRef> values;
      for (int t = 0; t < targets; ++t)
        values.push_back(environment[step.operands[t]]);
      return values;
    };
    auto difference = [&](const std::vector<ArrayRef> &a, const std::vector<ArrayRef> &b) {
      Real sum = 0;
      for (int t = 0; t < targets; ++t)
        for (std::size_t i = 0; i < a[t]->elements.size(); ++i) {
          Real weight = step.tape->seeded ? base[step.operands[targets + t]]->elements[i].value : 1;
          Real d = a[t]->elements[i].value - b[t]->elements[i].value;
          if (d != 0)
            sum += weight * d;
        }
      return sum;
    };
    const Real h = std::ldexp(std::max<Real>(1, std::fabs(base[moved[0]]->elements[e].value)), -11);
    auto plus1 = targetsAt(h), minus1 = targetsAt(-h), plus2 = targetsAt(2 * h), minus2 = targetsAt(-2 * h);
    Element result;
    result.value = (8 * difference(plus1, minus1) - difference(plus2, minus2)) / (12 * h);
    if (!withDoubt)
      return result;
    auto plusHalf = targetsAt(h / 2), minusHalf = targetsAt(-h / 2), here = targetsAt(0);
    Real finer = (8 * difference(plusHalf, minusHalf) - difference(plus1, minus1)) / (6 * h);
    auto bend = [&](const std::vector<ArrayRef> &above, const std::vector<ArrayRef> &below, Real by) {
      return (difference(above, here) - difference(here, below)) / by;
    };
    // Of a smooth function the bend halves with the step; at a kink it stays.
    Real kink = 2 * bend(plusHalf, minusHalf, h / 2) - bend(plus1, minus1, h);
    result.doubt = 8 * std::fabs(result.value - finer) + 4 * std::fabs(kink);
    result.value = finer;
    return result;
  }

  const Program &program;
  const Environment &machine;
  unsigned run;
};

std::vector<ArrayRef> gradientOf(const Program &program, const std::vector<ArrayRef> &values, int index) {
  const Step &step = program.steps[index];
  Real epsilon = 0;
  for (int i = step.tape->begin; i <= index; ++i)
    for (const TensorType &type : program.steps[i].types)
      epsilon = std::max(epsilon, epsilonOf(type.dtype));
  constexpr unsigned kRuns = 4; // the first without noise
  std::vector<std::vector<std::vector<Differences::Element>>> runs;
  std::vector<ArrayRef> padded = values;
  padded.resize(static_cast<std::size_t>(program.numValues()));
  for (unsigned run = 0; run < kRuns; ++run) {
    Differences differences(program, padded, run);
    runs.push_back(differences.gradient(differences.smooth(step.tape->begin, index), index, run == 0));
  }
  std::vector<ArrayRef> results;
  for (std::size_t r = 0; r < step.types.size(); ++r) {
    auto array = std::make_shared<Array>();
    array->type = step.types[r];
    Real most = 0, largest = 1;
    std::vector<Real> spreads;
    for (std::size_t e = 0; e < runs[0][r].size(); ++e) {
      Real spread = 0;
      for (unsigned run = 1; run < kRuns; ++run)
        spread = std::max(spread, distance(runs[run][r][e].value, runs[0][r][e].value));
      spreads.push_back(spread);
      most = std::max(most, spread);
      largest = std::max(largest, std::fabs(runs[0][r][e].value));
    }
    for (std::size_t e = 0; e < runs[0][r].size(); ++e) {
      const auto &[value, doubt] = runs[0][r][e];
      // A rule such as s (1 - s) loses what is small beside 1: hence a bound that does not shrink with the derivative.
      Real rounding = 32 * spreads[e] + 4 * most + 256 * epsilon * largest;
      bool known = std::isfinite(value) && std::isfinite(doubt) && std::fabs(value) < largestOf(step.types[r].dtype);
      array->elements.push_back(known ? Num{value, rounding + doubt, 2 * rounding} : Num{0, kUnknown, kUnknown});
    }
    results.push_back(std::move(array));
  }
  return results;
}

} // namespace

bool hasReference(OpId op) {
  return kernels().contains(schema::schemaOf(op).mnemonic) || factsOf(op).reference;
}

//===-- Programs --------------------------------------------------------------------------------===//

void Interpreter::run() {
  while (meaning.values.size() < program.inputs.size())
    meaning.values.push_back(arrayOf(program.inputs[meaning.values.size()].data));
  while (meaning.variables.size() < program.variables.size())
    meaning.variables.push_back(arrayOf(program.variables[meaning.variables.size()].data));
  for (; done < program.steps.size() && !meaning.failure; ++done) {
    try {
      step(static_cast<int>(done));
    } catch (Failure &failure) {
      failure.step = static_cast<int>(done);
      meaning.failure = std::move(failure);
      beforeFailure = meaning.variables;
      for (std::size_t i = 0; i < meaning.variables.size(); ++i)
        meaning.variables[i] = arrayOf(program.variables[i].data);
    }
  }
}

void Interpreter::step(int index) {
  const Step &step = program.steps[index];
  auto variable = [&]() -> ArrayRef & { return meaning.variables[std::get<std::int64_t>(step.attributes[0])]; };
  if (step.tape) {
    for (ArrayRef &result : gradientOf(program, meaning.values, index))
      meaning.values.push_back(std::move(result));
    return;
  }
  switch (step.op) {
  case OpId::HostCall: // of the identity
    meaning.values.push_back(meaning.values[step.operands[0]]);
    return;
  case OpId::VariableRead:
    meaning.values.push_back(variable());
    return;
  case OpId::VariableAssign:
    variable() = meaning.values[step.operands[0]];
    return;
  case OpId::Print:
    return;
  case OpId::Assert:
    for (const Num &element : meaning.values[step.operands[0]]->elements) {
      if (element.off > 0 || element.apart > 0)
        throw Undecided("an assertion is not known exactly");
      if (element.value == 0)
        throw Failure{"AssertionError", std::get<std::string>(step.attributes[0])};
    }
    return;
  default:
    break;
  }
  auto result = std::make_shared<Array>();
  result->type = step.types.at(0);
  result->elements.resize(static_cast<std::size_t>(countOf(result->type)));
  Call call{step, {}, *result, true};
  for (int operand : step.operands)
    call.x.push_back(meaning.values[operand].get());
  evaluate(call);
  meaning.values.push_back(std::move(result));
}

} // namespace calque::fuzz
