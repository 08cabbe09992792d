// How a contraction sums its terms: in runs, and runs in groups, so that rounding errors do not add up.
#include "codegen/schedule/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

SmallVector<Value> Contraction::sumInRuns(Position at, Value from, Value to, size_t count, SumBody body) {
  SmallVector<Value> zeros(count, v.constant(v.b.getZeroAttr(result.element)));
  if (!plan.isExact)
    return termsFrom(0, 0, at, from, to, zeros, body);
  SmallVector<Value> both = zeros;
  llvm::append_range(both, zeros);
  both = termsFrom(0, 0, at, from, to, both, body);
  SmallVector<Value> sums;
  for (size_t i = 0; i < count; ++i)
    sums.push_back(VectorBuilder::ExactSum{both[i], both[count + i]}.total(v));
  return sums;
}

SmallVector<Value> Contraction::termsFrom(size_t depth, size_t level, Position at, Value from, Value to,
                                          ValueRange carried, SumBody body) {
  if (level < plan.starts.size() && plan.starts[level] == depth) {
    bool exact = level == 0 && plan.isExact;
    size_t count = exact ? carried.size() / 2 : carried.size();
    SmallVector<Value> zeros(count, v.constant(v.b.getZeroAttr(result.element))), sums(carried);
    if (level + 1 == plan.starts.size())
      fetchAhead(at);
    SmallVector<Value> run = termsFrom(depth, level + 1, at, from, to, zeros, body);
    for (size_t i = 0; i < count; ++i) {
      VectorBuilder::ExactSum sum{sums[i], exact ? sums[count + i] : Value()};
      if (exact) {
        sum = v.add(sum, run[i]);
        sums[count + i] = sum.error;
      } else {
        sum.sum = arith::AddFOp::create(v.b, v.location, sum.sum, run[i]);
      }
      sums[i] = sum.sum;
    }
    return sums;
  }
  if (depth == plan.termLoops.size())
    return body(at, carried);
  const TermLoop &own = plan.termLoops[depth];
  unsigned loop = own.loop;
  if (plan.besideTerms && depth + 1 == plan.termLoops.size())
    return besideTerms(depth, level, at, from, to, carried, body);
  auto rest = llvm::ArrayRef(plan.termLoops).drop_front(depth);
  int64_t most = 1;
  for (const TermLoop &each : rest)
    most *= each.count;
  bool isWhole =
      llvm::all_of(rest, [&](const TermLoop &each) { return !each.within && each.step == 1 && each.loop != terms[0]; });
  if (most <= 9 && isWhole) {
    SmallVector<Value> values(carried);
    for (int64_t i = 0; i < own.count; ++i)
      values = termsFrom(depth + 1, level, at.shifted(loop, i), from, to, values, body);
    return values;
  }
  Value first = own.within ? at.index[loop] : loop == terms[0] ? from : v.index(0);
  Number extent = v.number(nest.extents[loop]), last = loop == terms[0] ? Number(to) : extent;
  if (own.within) {
    Number end = v.add(Number(first), own.within);
    bool divides = loop != terms[0] && *extent.known % own.within == 0;
    last = divides ? end : v.minimum(end, last);
  }
  if (plan.besideRows && plan.besideRows->terms == loop && !own.within)
    return besideRows(depth, level, at, from, to, carried, body);
  // Of several loops over the same terms the innermost one leaves some out, so that runs remain the same.
  if (llvm::none_of(rest.drop_front(), [&](const TermLoop &each) { return each.loop == loop; }))
    for (const Border &border : plan.leftOut)
      if (border.terms == loop) {
        Number place(at.index[border.results]);
        Number reached = v.subtract(v.add(extent, v.number(nest.extents[border.results])), border.high + 1);
        Number begin = v.maximum(Number(first), v.subtract(border.low, place));
        last = v.maximum(begin, v.minimum(last, v.subtract(reached, place)));
        first = v.valueOf(begin);
      }
  auto some = [&](Value begin, const Number &end, int64_t terms, ValueRange sums) {
    return v.loop(begin, v.valueOf(end), terms * own.step, sums, [&](Value i, ValueRange inner) {
      SmallVector<Value> values(inner);
      for (int64_t term = 0; term < terms; ++term)
        values = termsFrom(depth + 1, level, at.at(loop, i).shifted(loop, term * own.step), from, to, values, body);
      return values;
    });
  };
  if (depth + 1 < plan.termLoops.size())
    return some(first, last, 1, carried);
  // A loop that a run takes whole is short, and a branch that is predicted wrongly at its end costs as much as two of
  // its terms: it takes as many at a time as divide it.
  if (!own.within) {
    constexpr int64_t kMostAtOnce = 8;
    int64_t terms = 1;
    if (own.loop != this->terms[0] && extent.known)
      for (int64_t number = 2; number <= kMostAtOnce; ++number)
        if (*extent.known % number == 0)
          terms = number;
    return some(first, last, terms, carried);
  }
  // A run takes two terms at a time, so that counting them does not compete with the products.
  if (hasPairs(own))
    return some(first, last, 2, carried);
  Value odd = arith::AndIOp::create(v.b, v.location, v.valueOf(v.subtract(last, Number(first))), v.index(1));
  Number pairs = v.subtract(last, Number(odd));
  return some(v.valueOf(pairs), last, 1, some(first, pairs, 2, carried));
}

SmallVector<Value> Contraction::besideRows(size_t depth, size_t level, Position at, Value from, Value to,
                                           ValueRange carried, SumBody body) {
  const Border &border = *plan.besideRows;
  const TermLoop &own = plan.termLoops[depth];
  const int64_t units = *nest.extents[border.terms].known() / border.unit,
                places = *nest.extents[border.results].known() + units - 1 - border.high;
  Value row = at.index[rowLoop];
  std::optional<int64_t> first = row ? getConstantIntValue(row) : 0;
  const Rows all = summed;
  auto rowsOf = [&](int64_t unit) {
    if (!first)
      return all;
    int64_t place = *first + at.shift[rowLoop] + unit, begin = std::max(all.begin, border.low - place);
    return Rows{begin, std::max(begin, std::min(all.end, places - place))};
  };
  SmallVector<Value> sums(carried);
  for (int64_t unit = 0, end; unit < units; unit = end) {
    summed = rowsOf(unit);
    for (end = unit + 1; end < units && rowsOf(end) == summed;)
      ++end;
    if (summed.begin == summed.end)
      continue;
    sums =
        v.loop(v.index(unit * border.unit), v.index(end * border.unit), own.step, sums, [&](Value i, ValueRange inner) {
          return termsFrom(depth + 1, level, at.at(border.terms, i), from, to, inner, body);
        });
  }
  summed = all;
  return sums;
}

SmallVector<Value> Contraction::besideTerms(size_t depth, size_t level, Position at, Value from, Value to,
                                            ValueRange carried, SumBody body) {
  const Border &border = *plan.besideTerms;
  const int64_t extent = *nest.extents[border.terms].known(),
                places = *nest.extents[border.results].known() / border.unitOfResults,
                reached = extent + places - 1 - border.high;
  auto placeOf = [&](int64_t row) {
    Number index =
        at.index[rowLoop] ? v.add(Number(at.index[rowLoop]), at.shift[rowLoop] + row) : at.shift[rowLoop] + row;
    return v.divide(index, border.unitOfResults);
  };
  // All terms that any of the rows has.
  Number first = v.maximum(0, v.subtract(border.low, placeOf(summed.end - 1))),
         last = v.minimum(extent, v.subtract(reached, placeOf(0)));
  auto term = [&](Value i, int64_t shift, ValueRange sums) {
    return termsFrom(depth + 1, level, at.at(border.terms, i).shifted(border.terms, shift), from, to, sums, body);
  };
  constexpr int64_t kMostAtOnce = 8;
  int64_t atOnce = 1, many = 0;
  for (int64_t number = 1; number <= std::min(plan.leastTerms, kMostAtOnce); ++number)
    if (int64_t whole = plan.leastTerms / number * number; whole >= many) {
      atOnce = number;
      many = whole;
    }
  SmallVector<Value> sums(carried);
  auto some = [&](Value i, ValueRange inner) {
    SmallVector<Value> values(inner);
    for (int64_t shift = 0; shift < atOnce; ++shift)
      values = term(i, shift, values);
    return values;
  };
  Value begin = v.valueOf(first), rest = v.valueOf(v.add(first, many));
  sums = many == atOnce ? some(begin, sums) : v.loop(begin, rest, atOnce, sums, some);
  return v.loop(rest, v.valueOf(last), 1, sums, [&](Value i, ValueRange inner) { return term(i, 0, inner); });
}

void Contraction::fetchAhead(const Position &at) {
  if (plan.linesOfA == 0 && plan.linesOfB == 0)
    return;
  Number run = 0;
  for (const TermLoop &each : plan.countedRuns()) {
    Number index = at.index[each.loop] ? v.add(Number(at.index[each.loop]), at.shift[each.loop]) : at.shift[each.loop];
    run = v.add(v.multiply(run, each.count), v.remainder(v.divide(index, each.step), each.count));
  }
  auto ask = [&](Access access, int64_t lines) {
    const int64_t elements = context.target.lineBytes / elementBytes();
    Number offset = v.multiply(run, lines * elements);
    if (access.unknownOffset)
      offset = v.add(offset, access.unknownOffset);
    access.unknownOffset = v.valueOf(offset);
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (loop != terms[0])
        access.strides[loop] = 0;
    for (int64_t line = 0; line < lines; ++line, access.offset += elements)
      v.prefetch(access, at.shifted(terms[0], *plan.termBlock));
  };
  ask(a, plan.linesOfA);
  ask(b, plan.linesOfB);
}

// Whether all runs of the innermost loop have an even number of terms.
bool Contraction::hasPairs(const TermLoop &run) const {
  std::optional<int64_t> extent = nest.extents[run.loop].known();
  bool blocksAre = run.loop != terms[0] || (termBlock.known && *termBlock.known % 2 == 0);
  return extent && *extent % 2 == 0 && run.within % 2 == 0 && blocksAre;
}

} // namespace calque::codegen
