#include "test/fuzz/Kernels.h"

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

// What x is less for its exponentials: 0 where the largest element is infinite.
Real shiftOf(const std::vector<Real> &x) {
  Real largest = largestValue(x);
  return std::isfinite(largest) ? largest : 0;
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
        Real shift = shiftOf(x);
        return std::exp(x[own] - shift) / sumOfExponentials(x, shift);
      },
      [](const std::vector<Real> &, std::size_t) -> Real { return 0; });
}

void logSoftmax(const Call &call) {
  alongAxis(
      call,
      [](const std::vector<Real> &x, std::size_t own) {
        Real shift = shiftOf(x);
        return x[own] - shift - std::log(sumOfExponentials(x, shift));
      },
      // x - max, and the logarithm of a sum of 1 or more, which is as far off as the sum.
      [](const std::vector<Real> &x, std::size_t own) { return std::fabs(x[own] - shiftOf(x)) + 1; });
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
      {"reduce_sum", reduceSum}, {"reduce_max", reduceMax}, {"reduce_min", reduceMin},   {"reduce_mean", reduceMean},
      {"logsumexp", logSumExp},  {"softmax", softmax},      {"log_softmax", logSoftmax}, {"argmax", argMax},
      {"axis_size", axisSize},   {"sum_like", sumLike},     {"contract", contract},
  };
  return *table;
}

} // namespace calque::fuzz
