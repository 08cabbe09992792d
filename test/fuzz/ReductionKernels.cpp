#include "test/fuzz/Kernels.h"

#include <algorithm>

namespace calque::fuzz {

namespace {

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

Num sumOf(const Call &call, const std::vector<std::int64_t> &positions) {
  Sum sum(call);
  for (std::int64_t position : positions)
    sum.add(call.in(0, position));
  return sum.finish();
}

void reduceSum(const Call &call) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call))
    call.out(i++) = sumOf(call, positions);
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
  reduceBy(
      call,
      [](std::vector<Real> x) {
        for (Real &value : x)
          value = -value;
        return -largestValue(x);
      },
      0);
}

// Products of which a part may overflow are unknown: in another order that part may be another.
void boundProduct(const Call &call, const std::vector<Num> &x, Num &product) {
  Real magnitude = 1, least = 1;
  for (const Num &each : x) {
    Real largest = std::fabs(each.value) + each.off;
    magnitude *= std::max<Real>(1, largest);
    least *= largest > 0 ? std::min<Real>(1, std::fabs(each.value)) : 1;
  }
  bool isFinite = std::all_of(x.begin(), x.end(), [](const Num &each) { return std::isfinite(each.value); });
  Real smallest = leastNormalOf(call.dtype());
  if (call.machine && isFinite && is_floating(call.dtype()) &&
      (!(magnitude < largestOf(call.dtype())) || least < smallest))
    product = {product.value, kUnknown, kUnknown};
}

Real productOfAll(const std::vector<Real> &x) {
  Real product = 1;
  for (Real value : x)
    product *= value;
  return product;
}

// Of integers, wrapped.
Num productOfElements(const Call &call, const std::vector<Num> &x) {
  if (is_floating(call.dtype())) {
    Num product = through(call, x, productOfAll, static_cast<Real>(x.size() + 4));
    // The factors are multiplied in any order.
    if (call.machine && std::isfinite(product.value) && x.size() > 2)
      product.apart = std::max(product.apart, product.off);
    boundProduct(call, x, product);
    return product;
  }
  std::uint64_t wrapped = 1;
  bool isOff = false, isApart = false;
  for (const Num &each : x) {
    wrapped *= std::fabs(each.value) < 0x1p64L ? static_cast<std::uint64_t>(static_cast<__int128>(each.value)) : 0;
    isOff |= each.off > 0;
    isApart |= each.apart > 0;
  }
  Real value = roundTo(call.dtype(), static_cast<Real>(static_cast<std::int64_t>(wrapped)));
  return {value, call.machine && isOff ? kUnknown : 0, call.machine && isApart ? kUnknown : 0};
}

void reduceProd(const Call &call) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call)) {
    std::vector<Num> elements;
    for (std::int64_t position : positions)
      elements.push_back(call.in(0, position));
    call.out(i++) = productOfElements(call, elements);
  }
}

// Whether an element is `decides`: one that is known to be makes the others irrelevant.
void reduceLogical(const Call &call, bool decides) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call)) {
    bool found = false;
    auto isOpen = [&](Real Num::*bound) {
      bool isKnown = false, any = false;
      for (std::int64_t position : positions) {
        const Num &each = call.in(0, position);
        isKnown |= (each.value != 0) == decides && each.*bound == 0;
        any |= each.*bound > 0;
      }
      return call.machine && any && !isKnown;
    };
    for (std::int64_t position : positions)
      found |= (call.in(0, position).value != 0) == decides;
    call.out(i++) = {static_cast<Real>(found == decides), isOpen(&Num::off) ? kUnknown : 0,
                     isOpen(&Num::apart) ? kUnknown : 0};
  }
}
void reduceAny(const Call &call) { reduceLogical(call, true); }
void reduceAll(const Call &call) { reduceLogical(call, false); }

void reduceMean(const Call &call) {
  std::int64_t i = 0;
  for (const auto &positions : reducedPositions(call)) {
    Num total = sumOf(call, positions);
    auto count = static_cast<Real>(positions.size());
    Real value = total.value / count, own = epsilonOf(call.dtype()) * std::fabs(value);
    call.out(i++) = seal(call, value, total.off / std::max<Real>(count, 1), total.apart / std::max<Real>(count, 1),
                         std::isfinite(own) ? own : 0, 0);
  }
  if (!call.machine)
    return;
  for (Num &element : call.result.elements)
    if (std::isnan(element.off))
      element.off = element.apart = kUnknown;
}

// The sum of the exponentials of what the elements are above the shift.
Real sumOfExponentials(const std::vector<Real> &x, Real shift) {
  Real sum = 0;
  for (Real value : x)
    sum += std::exp(value - shift);
  return sum;
}

Real logOfSum(const std::vector<Real> &x) {
  Real largest = largestValue(x);
  return std::isfinite(largest) ? largest + std::log(sumOfExponentials(x, largest)) : largest;
}
void logSumExp(const Call &call) {
  reduceBy(call, logOfSum, 2);
  // The sum of exponentials is taken in any order.
  if (call.machine)
    for (Num &element : call.result.elements)
      if (std::isfinite(element.value))
        element.apart = std::max(element.apart, element.off);
}

// Each element by f of all along the axis and its own place there. Beside `own` relative ones it has roundings of
// numbers of the magnitude that `scale` gives.
using AlongAxis = Real (*)(const std::vector<Real> &x, std::size_t own);
void alongAxis(const Call &call, AlongAxis f, AlongAxis scale) {
  const Shape &shape = call.shape();
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), shape.size());
  std::int64_t stride = stridesOf(shape)[axis], size = shape[axis];
  for (std::int64_t i = 0; i < call.count(); ++i) {
    std::int64_t own = i / stride % size, first = i - own * stride;
    std::vector<Num> elements;
    std::vector<Real> values;
    for (std::int64_t k = 0; k < size; ++k) {
      elements.push_back(call.in(0, first + k * stride));
      values.push_back(elements.back().value);
    }
    Num &out = call.out(i);
    auto place = static_cast<std::size_t>(own);
    out = through(call, elements, [&](const std::vector<Real> &x) { return f(x, place); }, static_cast<Real>(size + 4));
    if (std::isfinite(out.value))
      out.off += static_cast<Real>(size + 4) * epsilonOf(call.dtype()) * scale(values, place);
    if (call.machine && std::isfinite(out.value))
      out.apart = std::max(out.apart, out.off);
  }
}

void softmax(const Call &call) {
  alongAxis(
      call,
      [](const std::vector<Real> &x, std::size_t own) {
        Real shift = largestValue(x); // an infinite one makes all NaN
        return std::exp(x[own] - shift) / sumOfExponentials(x, shift);
      },
      [](const std::vector<Real> &, std::size_t) -> Real { return 0; });
}

void logSoftmax(const Call &call) {
  alongAxis(
      call,
      [](const std::vector<Real> &x, std::size_t own) {
        Real shift = largestValue(x); // an infinite one makes all NaN
        return x[own] - shift - std::log(sumOfExponentials(x, shift));
      },
      // x - max, and the logarithm of a sum of 1 or more, which is as far off as the sum.
      [](const std::vector<Real> &x, std::size_t own) { return std::fabs(x[own] - largestValue(x)) + 1; });
}

void argExtreme(const Call &call, int sign) {
  const Shape &shape = call.shape(0);
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), shape.size());
  std::int64_t stride = stridesOf(shape)[axis], size = shape[axis];
  for (std::int64_t i = 0; i < call.count(); ++i) {
    std::vector<Num> elements;
    for (std::int64_t k = 0; k < size; ++k) {
      elements.push_back(call.in(0, i / stride * stride * size + i % stride + k * stride));
      elements.back().value *= static_cast<Real>(sign);
    }
    Largest largest = firstLargest(elements);
    call.out(i) = {static_cast<Real>(largest.position), call.machine && largest.offOpen ? kUnknown : 0,
                   call.machine && largest.apartOpen ? kUnknown : 0};
  }
}
void argMax(const Call &call) { argExtreme(call, 1); }
void argMin(const Call &call) { argExtreme(call, -1); }

// The positions along an axis, in the order in which one follows from the other; once for each row.
void alongEach(const Call &call, std::int64_t axis, bool reverse,
               const std::function<void(const std::vector<std::int64_t> &)> &row) {
  const Shape &shape = call.shape();
  std::int64_t stride = stridesOf(shape)[axis], size = shape[axis];
  for (std::int64_t i = 0; i < call.count(); ++i) {
    if (i / stride % size != 0)
      continue;
    std::vector<std::int64_t> positions;
    for (std::int64_t k = 0; k < size; ++k)
      positions.push_back(i + (reverse ? size - 1 - k : k) * stride);
    row(positions);
  }
}

// Each result by f of the elements that it follows from.
void cumulate(const Call &call, const std::function<Num(const std::vector<Num> &)> &f) {
  bool exclusive = call.attribute<bool>(1);
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape().size());
  alongEach(call, axis, call.attribute<bool>(2), [&](const std::vector<std::int64_t> &positions) {
    std::vector<Num> elements;
    for (std::int64_t position : positions) {
      if (exclusive)
        call.out(position) = f(elements);
      elements.push_back(call.in(0, position));
      if (!exclusive)
        call.out(position) = f(elements);
    }
  });
}

void cumSum(const Call &call) {
  cumulate(call, [&](const std::vector<Num> &elements) {
    Sum sum(call);
    for (const Num &element : elements)
      sum.add(element);
    return sum.finish();
  });
}
void cumProd(const Call &call) {
  cumulate(call, [&](const std::vector<Num> &elements) { return productOfElements(call, elements); });
}

void linearRecurrence(const Call &call) {
  DType dtype = call.dtype();
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape().size());
  alongEach(call, axis, call.attribute<bool>(1), [&](const std::vector<std::int64_t> &positions) {
    Real h = 0, off = 0, apart = 0, own = 0;
    std::uint64_t wrapped = 0;
    bool isLost = false; // a number that was none of the type's
    for (std::int64_t position : positions) {
      const Num &factor = call.in(0, position), &term = call.in(1, position);
      auto moved = [&](Real before, Real Num::*bound) {
        Real of = factor.*bound;
        return (before > 0 ? before * (std::fabs(factor.value) + of) : 0) + (of > 0 ? of * std::fabs(h) : 0) +
               term.*bound;
      };
      off = moved(off, &Num::off);
      apart = moved(apart, &Num::apart);
      Real scaled = factor.value * h;
      own = (own > 0 ? own * std::fabs(factor.value) : 0) +
            2 * epsilonOf(dtype) * (std::fabs(scaled) + std::fabs(term.value));
      h = scaled + term.value;
      Num &out = call.out(position);
      if (!is_floating(dtype)) {
        auto whole = [](Real value) {
          return std::fabs(value) < 0x1p64L ? static_cast<std::uint64_t>(static_cast<__int128>(value)) : 0;
        };
        wrapped = whole(factor.value) * wrapped + whole(term.value);
        h = roundTo(dtype, static_cast<Real>(static_cast<std::int64_t>(wrapped)));
        out = {h, call.machine && !(off == 0) ? kUnknown : 0, call.machine && !(apart == 0) ? kUnknown : 0};
        continue;
      }
      isLost |= std::isfinite(h) && !(std::fabs(h) + own + off < largestOf(dtype));
      bool isUnknown = call.machine && (isLost || std::isnan(off + own + apart));
      out = isUnknown ? Num{h, kUnknown, kUnknown}
                      : seal(call, h, off, apart, std::max(std::isfinite(own) ? own : 0, h == 0 ? kTiny : 0), 0);
    }
  });
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
  // Where nothing is summed, elements are themselves. A dimension of size 1 may be summed, as may one that comes
  // before: 0 + -0 is 0.
  if (call.shape(0) == call.shape() && std::find(call.shape().begin(), call.shape().end(), 1) == call.shape().end())
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
  Ints lhsBatch = offsets(0, batch[0]), rhsBatch = offsets(1, batch[1]), lhsFree = offsets(0, free[0]),
       rhsFree = offsets(1, free[1]);
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

} // namespace

const KernelTable &reductionKernels() {
  static const auto *table = new KernelTable{
      {"reduce_sum", reduceSum},
      {"reduce_max", reduceMax},
      {"reduce_min", reduceMin},
      {"reduce_prod", reduceProd},
      {"reduce_any", reduceAny},
      {"reduce_all", reduceAll},
      {"reduce_mean", reduceMean},
      {"logsumexp", logSumExp},
      {"softmax", softmax},
      {"log_softmax", logSoftmax},
      {"argmax", argMax},
      {"argmin", argMin},
      {"axis_size", axisSize},
      {"sum_like", sumLike},
      {"cumsum", cumSum},
      {"cumprod", cumProd},
      {"linear_recurrence", linearRecurrence},
      {"contract", contract},
  };
  return *table;
}

} // namespace calque::fuzz
