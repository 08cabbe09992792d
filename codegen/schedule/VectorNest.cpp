#include "codegen/schedule/NestPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace calque::codegen {

namespace {

// Emits the kernel of a nest for one choice of the vector loop.
class VectorNest {
public:
  VectorNest(KernelContext &context, const Nest &nest, const VectorPlan &plan, std::optional<Combiner> combiner)
      : context(context), nest(nest), v(context.builder, nest, plan.along, plan.lanes),
        scalars(context.builder, nest, VectorBuilder::kNoLoop, 1), combiner(combiner), parallels(plan.loops),
        reductions(plan.terms), shared(plan.beside), most(plan.vectors), cycles(plan.cycles) {
    int64_t distance = -1;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      int64_t own = 0;
      for (const Access &output : nest.outputs)
        own += output.distance(loop);
      if (llvm::is_contained(parallels, loop) && own > distance) {
        farthest = loop;
        distance = own;
      }
    }
  }

  void emit() {
    Position origin(nest.numLoops());
    if (v.vectorLoop != VectorBuilder::kNoLoop && nest.isReduction[v.vectorLoop])
      return outer(0, origin, [&](Position at) { rows(at); });
    outer(0, origin, [&](Position at) { columns(at); });
  }

private:
  bool isVectorized() const { return v.vectorLoop != VectorBuilder::kNoLoop; }
  Extent vectorExtent() const { return isVectorized() ? nest.extents[v.vectorLoop] : Extent(1); }
  // The number of iterations of all loops except `loop`.
  Number iterationsBeside(unsigned loop) {
    Extent count(1);
    for (unsigned other = 0; other < nest.numLoops(); ++other)
      count = other == loop ? count : count * nest.extents[other];
    return v.number(count);
  }

  // Emits the parallel loops from the `depth`-th on.
  void outer(size_t depth, Position at, function_ref<void(Position)> body) {
    if (depth == parallels.size())
      return body(at);
    unsigned loop = parallels[depth];
    auto inside = [&](Value i) { outer(depth + 1, at.at(loop, i), body); };
    if (depth == 0) {
      Number extent = v.number(nest.extents[loop]), times = iterationsBeside(loop);
      v.parallel(extent, cycles, times, inside);
    } else {
      v.loop(v.number(nest.extents[loop]), 1, {}, [&](Value i, ValueRange) {
        inside(i);
        return SmallVector<Value>();
      });
    }
  }

  // Emits the reduction loops from the `depth`-th on, unrolled if they are short.
  SmallVector<Value> reduce(size_t depth, Position at, ValueRange carried,
                            function_ref<SmallVector<Value>(Position, ValueRange)> body) {
    if (depth == reductions.size())
      return body(at, carried);
    unsigned loop = reductions[depth];
    Extent rest(1);
    for (size_t i = depth; i < reductions.size(); ++i)
      rest = rest * nest.extents[reductions[i]];
    if (rest.isKnown() && *rest.known() <= 9) {
      SmallVector<Value> values(carried);
      for (int64_t i = 0; i < *nest.extents[loop].known(); ++i)
        values = reduce(depth + 1, at.shifted(loop, i), values, body);
      return values;
    }
    return v.loop(v.number(nest.extents[loop]), 1, carried,
                  [&](Value i, ValueRange inner) { return reduce(depth + 1, at.at(loop, i), inner, body); });
  }

  //===-- Runs of sums ----------------------------------------------------------------------------===//

  // Whether an accumulator adds up few terms in all, if the body of the reduction loops adds `chain` terms to it.
  bool isShortSum(int64_t chain) const {
    if (context.isExact)
      return false;
    int64_t count = chain;
    for (unsigned loop : reductions) {
      std::optional<int64_t> known = nest.extents[loop].known();
      if (!known || *known > kShortSum)
        return false;
      count = std::min(count, kShortSum + 1) * *known;
    }
    return count <= kShortSum;
  }

  // The first of the reduction loops that lie completely within a run, if their body adds `chain` terms to an
  // accumulator one after the other. 0: all terms are one run.
  size_t firstInRun(int64_t chain, int64_t &length) const {
    size_t first = reductions.size();
    for (length = chain; first > 0; --first) {
      std::optional<int64_t> extent = nest.extents[reductions[first - 1]].known();
      if (!extent || length * *extent > runLength())
        break;
      length *= *extent;
    }
    return first;
  }

  // Emits the reduction loops, cut into runs. `body` adds to the accumulators of a run. `sums` has the sums so far.
  using ExactSum = VectorBuilder::ExactSum;
  SmallVector<ExactSum> reduceInRuns(Position at, ArrayRef<ExactSum> sums, int64_t chain,
                                     function_ref<SmallVector<Value>(Position, ValueRange)> body) {
    int64_t length = 1;
    size_t first = firstInRun(chain, length);
    SmallVector<Value> starts(sums.size(), v.constant(combiner->identity));
    auto runs = [&](size_t depth, Position place, ValueRange carried, auto &self) -> SmallVector<Value> {
      if (depth == first)
        return close(carried, reduce(first, place, starts, body));
      unsigned loop = reductions[depth];
      Number extent = v.number(nest.extents[loop]);
      int64_t count = depth + 1 == first ? runLength() / length : 1;
      if (count <= 1)
        return v.loop(extent, 1, carried,
                      [&](Value i, ValueRange inner) { return self(depth + 1, place.at(loop, i), inner, self); });
      return v.loop(extent, count, carried, [&](Value i, ValueRange inner) {
        Number last = v.minimum(v.add(Number(i), count), extent);
        return close(inner, v.loop(i, v.valueOf(last), 1, starts, [&](Value j, ValueRange run) {
          return reduce(first, place.at(loop, j), run, body);
        }));
      });
    };
    return parted(runs(0, at, flat(sums), runs));
  }

  // Sums as values that a loop carries, and back.
  static SmallVector<Value> flat(ArrayRef<ExactSum> sums) {
    SmallVector<Value> values;
    for (const ExactSum &sum : sums)
      values.append({sum.sum, sum.error});
    return values;
  }
  static SmallVector<ExactSum> parted(ValueRange values) {
    SmallVector<ExactSum> sums;
    for (size_t i = 0; i < values.size(); i += 2)
      sums.push_back({values[i], values[i + 1]});
    return sums;
  }
  // Adds the sums of a run.
  SmallVector<Value> close(ValueRange carried, ValueRange run) {
    SmallVector<ExactSum> sums = parted(carried);
    for (auto [sum, term] : llvm::zip_equal(sums, run))
      sum = v.add(sum, term);
    return flat(sums);
  }
  bool isFloatSum() const { return combiner && combiner->isFloatSum(); }
  int64_t runLength() const { return context.isExact ? 1 : kRunLength; }

  //===-- Vectors of results ----------------------------------------------------------------------===//

  void columns(Position at) {
    if (!vectorExtent().isKnown())
      return columnsOfUnknown(at);
    int64_t extent = *vectorExtent().known(), vectors = extent / v.lanes;
    int64_t unroll = std::clamp<int64_t>(vectors, 1, most);
    int64_t steps = vectors / unroll;
    auto block = [&](Position from, int64_t count, int64_t tail) {
      SmallVector<Position> points;
      SmallVector<Number> valid;
      for (int64_t i = 0; i < count + (tail ? 1 : 0); ++i) {
        points.push_back(isVectorized() ? from.shifted(v.vectorLoop, i * v.lanes) : from);
        valid.push_back(i < count ? v.lanes : tail);
      }
      results(points, valid);
    };
    if (parallels.empty() && steps > 1) {
      // All loops except the vector loop are reduction loops.
      double vectorCycles = cycles * static_cast<double>(extent) / static_cast<double>(steps);
      v.parallel(steps, vectorCycles, iterationsBeside(v.vectorLoop), [&](Value i) {
        Value start = arith::MulIOp::create(v.b, v.location, i, v.index(unroll * v.lanes));
        block(at.at(v.vectorLoop, start), unroll, 0);
      });
    } else {
      v.loop(steps * unroll * v.lanes, unroll * v.lanes, {}, [&](Value i, ValueRange) {
        block(isVectorized() ? at.at(v.vectorLoop, i) : at, unroll, 0);
        return SmallVector<Value>();
      });
    }
    int64_t done = steps * unroll * v.lanes, left = extent - done;
    if (left > 0)
      block(isVectorized() ? at.shifted(v.vectorLoop, done) : at, left / v.lanes, left % v.lanes);
  }

  // The same for an unknown number of vectors: blocks of several vectors, then single vectors, then a masked one.
  void columnsOfUnknown(Position at) {
    Number extent = v.number(vectorExtent());
    int64_t unroll = most, width = unroll * v.lanes;
    auto block = [&](Position from, int64_t count, const Number &valid) {
      SmallVector<Position> points;
      for (int64_t i = 0; i < count; ++i)
        points.push_back(from.shifted(v.vectorLoop, i * v.lanes));
      results(points, SmallVector<Number>(count, valid));
    };
    Number blocks = v.divide(extent, width), afterBlocks = v.multiply(blocks, width);
    if (parallels.empty()) {
      Number times = v.multiply(iterationsBeside(v.vectorLoop), width);
      v.parallel(blocks, cycles, times, [&](Value i) {
        block(at.at(v.vectorLoop, v.valueOf(v.multiply(Number(i), width))), unroll, v.lanes);
      });
    } else {
      v.loop(v.index(0), v.valueOf(afterBlocks), width, {}, [&](Value i, ValueRange) {
        block(at.at(v.vectorLoop, i), unroll, v.lanes);
        return SmallVector<Value>();
      });
    }
    Number rest = v.remainder(extent, v.lanes), afterVectors = v.subtract(extent, rest);
    if (unroll > 1)
      v.loop(v.valueOf(afterBlocks), v.valueOf(afterVectors), v.lanes, {}, [&](Value i, ValueRange) {
        block(at.at(v.vectorLoop, i), 1, v.lanes);
        return SmallVector<Value>();
      });
    if (v.lanes > 1)
      v.onlyIf(v.less(0, rest), [&] { block(at.at(v.vectorLoop, v.valueOf(afterVectors)), 1, rest); });
  }

  // Prefetches what the next rows of windows will read, because the processor does not foresee reads that go from one
  // row of an image to the next and back.
  void fetchAhead(ArrayRef<Position> points) {
    if (farthest == VectorBuilder::kNoLoop)
      return;
    constexpr int64_t kFew = 8; // rows of a group's block
    std::optional<int64_t> extent = nest.extents[farthest].known();
    int64_t by = extent && *extent <= kFew ? *extent : 1;
    for (const Position &point : points)
      for (const Access &input : nest.inputs)
        if (input.isUsed && input.varies(farthest))
          v.prefetch(input, point.shifted(farthest, by));
  }

  void results(ArrayRef<Position> first, ArrayRef<Number> validOfFirst) {
    if (!shared.empty())
      fetchAhead(first);
    SmallVector<Position> points(first);
    SmallVector<Number> valid(validOfFirst);
    for (unsigned loop : shared)
      for (size_t i = 0, count = points.size(); i < count; ++i)
        for (int64_t other = 1; other < *nest.extents[loop].known(); ++other) {
          points.push_back(points[i].shifted(loop, other));
          valid.push_back(valid[i]);
        }
    SmallVector<Value> values;
    size_t each = nest.outputs.size();
    for (size_t i = 0; i < points.size(); ++i)
      for (const Access &output : nest.outputs)
        values.push_back(initial(output, points[i], valid[i]));
    auto body = [&](Position reduced, ValueRange carried) {
      SmallVector<Value> next;
      for (size_t i = 0; i < points.size(); ++i) {
        Position at = points[i];
        for (unsigned loop : reductions) {
          at.index[loop] = reduced.index[loop];
          at.shift[loop] = reduced.shift[loop];
        }
        llvm::append_range(next, v.body(at, carried.slice(i * each, each), valid[i]));
      }
      return next;
    };
    Position origin(nest.numLoops());
    if (context.errors) {
      SmallVector<ExactSum> sums;
      for (size_t i = 0; i < points.size(); ++i)
        sums.push_back({values[i], v.load(*context.errors, points[i], valid[i])});
      sums = reduceInRuns(origin, sums, 1, body);
      for (size_t i = 0; i < points.size(); ++i) {
        values[i] = sums[i].sum;
        v.store(*context.errors, points[i], sums[i].error, valid[i]);
      }
    } else if (isFloatSum() && !isShortSum(1)) {
      Value zero = v.constant(v.b.getZeroAttr(nest.outputs[0].element));
      SmallVector<ExactSum> sums;
      for (Value value : values)
        sums.push_back({value, zero});
      for (auto [value, sum] : llvm::zip_equal(values, reduceInRuns(origin, sums, 1, body)))
        value = sum.total(v);
    } else {
      values = reduce(0, origin, values, body);
    }
    for (size_t i = 0; i < points.size(); ++i)
      for (size_t j = 0; j < each; ++j)
        v.store(nest.outputs[j], points[i], values[i * each + j], valid[i]);
  }

  Value initial(const Access &output, const Position &point, const Number &lanes) {
    if (!output.isUsed)
      return v.constant(v.b.getZeroAttr(output.element));
    return context.initial ? v.splat(context.initial) : v.load(output, point, lanes);
  }

  //===-- Vectors of contributions ----------------------------------------------------------------===//

  void rows(Position at) {
    const Access &output = nest.outputs[0];
    Row row = measureRow();
    Value identity = v.constant(combiner->identity), sum;
    // How many terms a row adds to one accumulator, if that is known.
    int64_t chain = row.isKnown ? row.steps + row.vectorsLeft() : kShortSum + 1;
    if (!isFloatSum() || isShortSum(chain)) {
      sum = reduce(0, at, {identity}, [&](Position point, ValueRange carried) -> SmallVector<Value> {
        return {restOfRow(row, point, stepsOfRow(row, point, v.index(0), row.afterSteps, carried[0]))};
      })[0];
    } else {
      ExactSum start{identity, v.constant(v.b.getZeroAttr(output.element))};
      if (chain <= kRunLength) {
        sum = reduceInRuns(at, {start}, chain,
                           [&](Position point, ValueRange run) -> SmallVector<Value> {
                             return {restOfRow(row, point, stepsOfRow(row, point, v.index(0), row.afterSteps, run[0]))};
                           })[0]
                  .total(v);
      } else {
        SmallVector<Value> sums = reduce(0, at, flat({start}), [&](Position point, ValueRange carried) {
          SmallVector<Value> all =
              v.loop(row.afterSteps, kRunLength * row.step, carried, [&](Value first, ValueRange inner) {
                Number last = v.minimum(v.add(Number(first), kRunLength * row.step), row.afterSteps);
                return close(inner, stepsOfRow(row, point, first, last, identity));
              });
          return row.isKnown && !row.vectorsLeft() ? all : close(all, restOfRow(row, point, identity));
        });
        sum = parted(sums)[0].total(v);
      }
    }
    sum = v.horizontal(combiner->operation, sum);
    Value start = context.initial ? context.initial : scalars.loadScalar(output, at);
    scalars.store(output, at, scalars.apply(combiner->operation, start, sum), 1);
  }

  // How a row is cut: into steps of several vectors, single vectors, and a part of a vector.
  struct Row {
    bool isKnown;
    int64_t unroll, step, steps = 0, extent = 0;
    Number afterSteps, afterVectors, rest;
    int64_t vectorsLeft() const { return (extent - *afterSteps.known + step / unroll - 1) / (step / unroll); }
  };

  Row measureRow() {
    Row row;
    row.isKnown = vectorExtent().isKnown();
    row.extent = vectorExtent().known().value_or(0);
    row.unroll = row.isKnown ? std::clamp<int64_t>(row.extent / v.lanes, 1, most) : most;
    row.step = row.unroll * v.lanes;
    row.steps = row.extent / row.step;
    Number extent = v.number(vectorExtent());
    row.afterSteps = v.multiply(v.divide(extent, row.step), row.step);
    row.rest = v.remainder(extent, v.lanes);
    row.afterVectors = v.subtract(extent, row.rest);
    return row;
  }

  // The vectors of a step are combined in a tree, so that an accumulator waits once for all of them.
  Value stepsOfRow(const Row &row, Position point, Value first, const Number &last, Value sum) {
    auto step = [&](Value i, ValueRange carried) -> SmallVector<Value> {
      SmallVector<Value> tree;
      for (int64_t u = 0; u < row.unroll; ++u)
        tree.push_back(
            v.contribution(point.at(v.vectorLoop, i).shifted(v.vectorLoop, u * v.lanes), combiner->operation, v.lanes));
      for (size_t width = tree.size(); width > 1; width = (width + 1) / 2)
        for (size_t i = 0; i < width / 2; ++i)
          tree[i] = v.apply(combiner->operation, tree[i], tree[i + (width + 1) / 2]);
      return {v.apply(combiner->operation, carried[0], tree[0])};
    };
    if (getConstantIntValue(first) == 0)
      return v.loop(last, row.step, {sum}, step)[0];
    return v.loop(first, v.valueOf(last), row.step, {sum}, step)[0];
  }

  Value restOfRow(const Row &row, Position point, Value sum) {
    auto part = [&](Position place, const Number &valid, Value before) -> Value {
      Value next = v.body(place, before, valid)[0];
      return arith::SelectOp::create(v.b, v.location, v.mask(valid), next, before);
    };
    if (row.isKnown) {
      for (int64_t done = *row.afterSteps.known; done < row.extent; done += v.lanes)
        sum = row.extent - done < v.lanes ? part(point.shifted(v.vectorLoop, done), row.extent - done, sum)
                                          : v.body(point.shifted(v.vectorLoop, done), sum, v.lanes)[0];
      return sum;
    }
    sum = v.loop(v.valueOf(row.afterSteps), v.valueOf(row.afterVectors), v.lanes, {sum},
                 [&](Value i, ValueRange inner) { return v.body(point.at(v.vectorLoop, i), inner, v.lanes); })[0];
    return v.onlyIf(v.less(0, row.rest), {sum}, [&](ValueRange inner) -> SmallVector<Value> {
      return {part(point.at(v.vectorLoop, v.valueOf(row.afterVectors)), row.rest, inner[0])};
    })[0];
  }

  KernelContext &context;
  const Nest &nest;
  VectorBuilder v, scalars;
  std::optional<Combiner> combiner;
  SmallVector<unsigned> parallels, reductions, shared;
  int64_t most;                               // vectors at a time
  unsigned farthest = VectorBuilder::kNoLoop; // the loop with the largest strides of results
  double cycles;
};

void emit(KernelContext &context, const Nest &nest, const VectorPlan &plan, const std::optional<Combiner> &combiner) {
  if (context.plan)
    *context.plan += plan.text(nest);
  VectorNest(context, nest, plan, combiner).emit();
}

// Splits reductions with few results and many terms into pieces of the terms, which threads share.
void emit(KernelContext &context, const Nest &nest, const PiecesPlan &plan) {
  Combiner combiner = *Combiner::of(nest);
  const int64_t count = plan.count + (plan.rest ? 1 : 0);
  PartialResults partial(context, nest, combiner, count);
  Value identity = arith::ConstantOp::create(context.builder, nest.location(), combiner.identity);
  KernelContext inner{context.builder, context.target, identity};
  Nest cut = nest;
  cut.outputs = {partial.access};
  if (plan.rest) {
    Nest rest = restOf(cut, plan.loop, plan.count);
    rest.outputs[0].offset = plan.count * *partial.results.known();
    emit(inner, rest, *plan.rest, combiner);
  }
  Nest each = pieceOf(cut, plan.loop, plan.count);
  each.outputs[0].strides.back() = partial.results;
  inner.plan = context.plan;
  emit(inner, each, plan.each, combiner);
  if (context.plan)
    *context.plan += ", " + std::to_string(count) + " pieces of terms";
  partial.combine(context, Extent(count), plan.sums);
}

} // namespace

PartialResults::PartialResults(KernelContext &context, const Nest &nest, Combiner combiner, int64_t pieces)
    : access(accessOf(nest, loops)), results(nest.iterations(false)), nest(nest), combiner(combiner), pieces(pieces) {
  OpBuilder &b = context.builder;
  if (std::optional<int64_t> known = results.known()) {
    access.value = memref::AllocOp::create(b, nest.location(), MemRefType::get({pieces * *known}, access.element));
  } else {
    Value size = (results * Extent(pieces)).emit(b, nest.location());
    auto type = MemRefType::get({ShapedType::kDynamic}, access.element);
    access.value = memref::AllocOp::create(b, nest.location(), type, ValueRange{size});
  }
}

Access PartialResults::accessOf(const Nest &nest, SmallVectorImpl<unsigned> &loops) {
  Access access = nest.outputs[0];
  access.offset = 0;
  access.unknownOffset = {};
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (!nest.isReduction[loop])
      loops.push_back(loop);
  llvm::stable_sort(loops, [&](unsigned x, unsigned y) {
    return nest.outputs[0].strides[x].guess() < nest.outputs[0].strides[y].guess();
  });
  Extent stride(1);
  for (unsigned loop : loops) {
    access.strides[loop] = stride;
    stride = stride * nest.extents[loop];
  }
  return access;
}

void PartialResults::combine(KernelContext whole, const Extent &count, const VectorPlan &plan) const {
  whole.plan = nullptr;
  whole.isExact = combiner.isFloatSum();
  Gathering sums(nest, combiner, access, loops, results, count);
  emit(whole, sums.nest, plan, Combiner::of(sums.nest));
}

void PartialResults::combine(KernelContext whole, const Extent &count) const {
  Gathering sums(nest, combiner, access, loops, results, count);
  combine(whole, count, VectorPlan::of(sums.nest, whole.target, true));
}

void emitNest(KernelContext context, Nest nest, const NestPlan &plan) {
  if (const auto *squares = std::get_if<SquaresPlan>(&plan))
    return emitTransposedNest(context, nest, *squares,
                              [&](const Nest &rest, const VectorPlan &own) { emit(context, rest, own, std::nullopt); });
  if (const auto *pieces = std::get_if<PiecesPlan>(&plan))
    return emit(context, nest, *pieces);
  emit(context, nest, std::get<VectorPlan>(plan), context.errors ? Combiner::ofBody(nest) : Combiner::of(nest));
}

void copyAsBytes(Nest &nest, OpBuilder &builder) {
  if (auto from = dyn_cast<BlockArgument>(nest.body->getTerminator()->getOperand(0));
      from && llvm::hasSingleElement(*nest.body) && nest.outputs.size() == 1 && !nest.hasReduction() &&
      from.getArgNumber() < nest.inputs.size() && nest.inputs[from.getArgNumber()].isBuffer)
    for (auto *accesses : {&nest.inputs, &nest.outputs})
      for (Access &access : *accesses)
        access = access.ofBytes(builder, nest.location());
}

void emitPart(KernelContext context, Nest nest) {
  copyAsBytes(nest, context.builder);
  emitNest(context, nest, chooseNestPlan(nest, context.target, context.order, context.errors.has_value()));
}

} // namespace calque::codegen
