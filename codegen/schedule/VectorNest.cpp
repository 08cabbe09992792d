#include "codegen/schedule/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace calque::codegen {

std::optional<Combiner> Combiner::of(const Nest &nest) { return nest.hasReduction() ? ofBody(nest) : std::nullopt; }

std::optional<Combiner> Combiner::ofBody(const Nest &nest) {
  if (nest.outputs.size() != 1)
    return std::nullopt;
  BlockArgument result = nest.body->getArguments().back();
  Operation *operation = nest.body->getTerminator()->getOperand(0).getDefiningOp();
  if (!operation || operation->getBlock() != nest.body || operation->getNumOperands() != 2 || !result.hasOneUse() ||
      !llvm::is_contained(operation->getOperands(), result))
    return std::nullopt;
  std::optional<TypedAttr> identity = arith::getNeutralElement(operation);
  if (!identity)
    return std::nullopt;
  return Combiner{operation, *identity};
}

bool Combiner::isFloatSum() const { return isa<arith::AddFOp>(operation); }

// Whether an elementwise nest computes bools and bytes of such alone.
static bool computesBytes(const Nest &nest) {
  auto isByte = [](Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 8; };
  return !nest.hasReduction() && llvm::all_of(nest.body->getArgumentTypes(), isByte) &&
         llvm::all_of(nest.body->without_terminator(), [&](Operation &op) {
           return llvm::all_of(op.getOperandTypes(), isByte) && llvm::all_of(op.getResultTypes(), isByte);
         });
}

int64_t Schedule::lanesFor(const Nest &nest, const Target &target) {
  unsigned bits = computesBytes(nest) ? 8 : 32;
  for (const auto *accesses : {&nest.inputs, &nest.outputs})
    for (const Access &access : *accesses)
      if (access.isBuffer)
        bits = std::max(bits, access.element.getIntOrFloatBitWidth());
  return target.vectorBytes * 8 / bits;
}

namespace {

// Emits the kernel of a nest for one choice of the vector loop.
class VectorNest {
public:
  VectorNest(Schedule &schedule, const Nest &nest, unsigned vectorLoop, int64_t lanes, std::optional<Combiner> combiner)
      : schedule(schedule), nest(nest), v(schedule.builder, nest, vectorLoop, lanes),
        scalars(schedule.builder, nest, VectorBuilder::kNoLoop, 1), combiner(combiner) {
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (loop != vectorLoop)
        (nest.isReduction[loop] ? reductions : parallels).push_back(loop);
    takeShared();
    auto byStride = [&](const auto &accesses) {
      return [&](unsigned a, unsigned b) {
        auto total = [&](unsigned loop) {
          int64_t sum = 0;
          for (const Access &access : accesses)
            sum += access.distance(loop);
          return sum;
        };
        return total(a) > total(b);
      };
    };
    llvm::stable_sort(parallels, byStride(nest.outputs));
    llvm::stable_sort(reductions, byStride(nest.inputs));
    if (!parallels.empty())
      farthest = parallels[0];
    // Where the first of the outer loops is short, threads share the longest.
    if (parallels.size() > 1 && nest.extents[parallels[0]].guess() < 8) {
      auto longest = std::max_element(parallels.begin(), parallels.end(), [&](unsigned a, unsigned b) {
        return nest.extents[a].guess() < nest.extents[b].guess();
      });
      std::rotate(parallels.begin(), longest, longest + 1);
    }
    cycles = cyclesOfBody(nest, schedule.target) / static_cast<double>(lanes);
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
  // The number of iterations of all loops but `loop`.
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

  // Emits the reduction loops from the `depth`-th on, unrolled where they are short.
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

  // Whether an accumulator adds up few terms in all, if the body of the loops over what is combined adds `chain`.
  bool isShortSum(int64_t chain) const {
    if (schedule.isExact)
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

  // The first of the loops over what is combined that belong to a run altogether, if their body adds `chain` terms to
  // an accumulator one after the other. 0: there is no more than one run.
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

  // The loops over what is combined, cut into runs: `body` goes on with the accumulators of one. `sums` has those of
  // all before.
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
  // Adds what a run has summed up.
  SmallVector<Value> close(ValueRange carried, ValueRange run) {
    SmallVector<ExactSum> sums = parted(carried);
    for (auto [sum, term] : llvm::zip_equal(sums, run))
      sum = v.add(sum, term);
    return flat(sums);
  }
  bool isFloatSum() const { return combiner && combiner->isFloatSum(); }
  int64_t runLength() const { return schedule.isExact ? 1 : kRunLength; }

  //===-- Vectors of results ----------------------------------------------------------------------===//

  void columns(Position at) {
    if (!vectorExtent().isKnown())
      return columnsOfUnknown(at);
    int64_t extent = *vectorExtent().known(), vectors = extent / v.lanes;
    int64_t unroll = std::clamp<int64_t>(vectors, 1, nest.hasReduction() ? 4 : isSmall() && shared.empty() ? 2 : 1);
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
      // All other loops are reduction loops.
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
    int64_t unroll = nest.hasReduction() ? 4 : isSmall() && shared.empty() ? 2 : 1, width = unroll * v.lanes;
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

  bool isSmall() const { return std::distance(nest.body->begin(), nest.body->end()) <= 24; }

  // Short loops whose iterations read the same and differ in the places of their results and in what they make of an
  // index, such as the elements of a window that a gradient is for: one block does them all, with what they share once.
  void takeShared() {
    constexpr int64_t kMost = 8, kMostOperations = 1024;
    const int64_t operations = std::distance(nest.body->begin(), nest.body->end());
    int64_t count = 1;
    if (nest.hasReduction() || nest.readsBuffers())
      return;
    for (unsigned loop : SmallVector<unsigned>(parallels)) {
      auto isRead = [&](const Access &access) { return access.isUsed && access.varies(loop); };
      std::optional<int64_t> extent = nest.extents[loop].known();
      if (!extent || count * *extent > kMost || count * *extent * operations > kMostOperations ||
          !nest.isIndexed(loop) || llvm::any_of(nest.inputs, isRead))
        continue;
      count *= *extent;
      shared.push_back(loop);
      llvm::erase(parallels, loop);
    }
  }

  // Asks for what the next rows of windows will read: the processor does not foresee reads that go from one row of an
  // image to the next and back.
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
    if (schedule.errors) {
      SmallVector<ExactSum> sums;
      for (size_t i = 0; i < points.size(); ++i)
        sums.push_back({values[i], v.load(*schedule.errors, points[i], valid[i])});
      sums = reduceInRuns(origin, sums, 1, body);
      for (size_t i = 0; i < points.size(); ++i) {
        values[i] = sums[i].sum;
        v.store(*schedule.errors, points[i], sums[i].error, valid[i]);
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
    return schedule.initial ? v.splat(schedule.initial) : v.load(output, point, lanes);
  }

  //===-- Vectors of contributions ----------------------------------------------------------------===//

  void rows(Position at) {
    const Access &output = nest.outputs[0];
    Row row = measureRow();
    Value identity = v.constant(combiner->identity), sum;
    // What a row adds to one accumulator, where that is known.
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
    Value start = schedule.initial ? schedule.initial : scalars.loadScalar(output, at);
    scalars.store(output, at, scalars.apply(combiner->operation, start, sum), 1);
  }

  // How a row is passed: steps of several vectors, single vectors, and a part of one.
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
    row.unroll = row.isKnown ? std::clamp<int64_t>(row.extent / v.lanes, 1, 4) : 4;
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

  Schedule &schedule;
  const Nest &nest;
  VectorBuilder v, scalars;
  std::optional<Combiner> combiner;
  SmallVector<unsigned> parallels, reductions, shared;
  unsigned farthest = VectorBuilder::kNoLoop; // the loop with the largest strides of results
  double cycles;
};

// Chooses the vector loop: the one along which most operands are contiguous. kNoLoop for a nest without loops.
unsigned chooseVectorLoop(const Nest &nest, int64_t lanes, bool canReduce) {
  unsigned best = VectorBuilder::kNoLoop;
  double bestCost = std::numeric_limits<double>::infinity();
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    if (nest.isReduction[loop] && !canReduce)
      continue;
    double cost = nest.isReduction[loop] ? 0.1 : 0;
    for (const auto *accesses : {&nest.inputs, &nest.outputs})
      for (const Access &access : *accesses)
        if (access.varies(loop))
          cost += access.strides[loop] == 1 ? 1 : static_cast<double>(lanes);
    int64_t extent = nest.extents[loop].guess(), vectors = (extent + lanes - 1) / lanes;
    cost = (cost + 0.5) * static_cast<double>(vectors * lanes) / static_cast<double>(extent);
    if (cost < bestCost) {
      best = loop;
      bestCost = cost;
    }
  }
  return best;
}

void emitNest(Schedule &schedule, const Nest &nest, const std::optional<Combiner> &combiner);

} // namespace

// The number of pieces depends on sizes alone.
Pieces Pieces::of(const Nest &nest) {
  constexpr int64_t kFewResults = 4096, kPieceTerms = Target::kPieceTerms;
  if (!nest.isKnown())
    return {};
  int64_t results = *nest.iterations(false).known(), terms = *nest.iterations(true).known();
  bool hasIndex = !nest.body->getOps<linalg::IndexOp>().empty();
  if (hasIndex || results > kFewResults || results * terms < 4 * kPieceTerms)
    return {};
  unsigned split = VectorBuilder::kNoLoop;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (nest.isReduction[loop] &&
        (split == VectorBuilder::kNoLoop || *nest.extents[loop].known() > *nest.extents[split].known()))
      split = loop;
  // With enough rows there is nothing to gain. A sum of a row reads it once from end to end; pieces of rows would not.
  auto isRow = [&](unsigned loop) {
    return llvm::all_of(nest.inputs, [&](const Access &access) {
      return !access.varies(split) || !access.varies(loop) || access.distance(loop) > access.distance(split);
    });
  };
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    int64_t extent = *nest.extents[loop].known();
    if (!nest.isReduction[loop] &&
        ((extent >= 64 && isRow(loop)) || (extent >= 16 && !(nest.outputs[0].strides[loop] == 1))))
      return {};
  }
  int64_t extent = *nest.extents[split].known(),
          pieces = std::min({Target::kMostPiecesOfSums, results * terms / kPieceTerms, extent});
  if (pieces < 2)
    return {};
  // A number that divides all terms leaves no rest. Powers of two often divide the number of images, too: then a piece
  // has whole ones, and a group can take it image by image.
  int64_t power = int64_t(1) << llvm::Log2_64(static_cast<uint64_t>(pieces));
  return {split, extent % power ? pieces : power};
}

namespace {

// Splits reductions with few results and many terms into pieces of the terms, which threads share.
bool emitInPieces(Schedule &schedule, Nest &nest, const Combiner &combiner) {
  auto [split, pieces] = Pieces::of(nest);
  if (!pieces)
    return false;
  int64_t extent = *nest.extents[split].known(), results = *nest.iterations(false).known();
  int64_t size = extent / pieces, rest = extent - size * pieces;
  PartialResults partial(schedule, nest, combiner, pieces + (rest ? 1 : 0));
  Value identity = arith::ConstantOp::create(schedule.builder, nest.location(), combiner.identity);
  Schedule inner{schedule.builder, schedule.target, identity};
  Nest main = nest;
  main.outputs = {partial.access};
  if (rest) {
    Nest tail = main;
    tail.slice(split, size * pieces, rest);
    tail.outputs[0].offset = pieces * results;
    emitNest(inner, tail, combiner);
  }
  main.extents[split] = size * pieces;
  unsigned piece = main.split(split, size);
  main.isReduction[piece] = false;
  main.outputs[0].strides[piece] = results;
  inner.plan = schedule.plan;
  emitNest(inner, main, combiner);
  if (schedule.plan)
    *schedule.plan += ", " + std::to_string(pieces + (rest ? 1 : 0)) + " pieces of terms";
  partial.combine(schedule);
  return true;
}

void emitNest(Schedule &schedule, const Nest &nest, const std::optional<Combiner> &combiner) {
  int64_t lanes = schedule.lanesFor(nest);
  unsigned vectorLoop = VectorBuilder::kNoLoop;
  if (schedule.order && schedule.order->vectorLoop) {
    unsigned number = 0;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (nest.isReduction[loop] && number++ == *schedule.order->vectorLoop)
        vectorLoop = loop;
  } else {
    vectorLoop = chooseVectorLoop(nest, lanes, combiner && !schedule.order);
  }
  // What is not contiguous has code for each lane.
  auto isStrided = [&](const Access &access) {
    return access.varies(vectorLoop) && !(access.strides[vectorLoop] == 1);
  };
  if (vectorLoop == VectorBuilder::kNoLoop)
    lanes = 1;
  else if (llvm::any_of(nest.inputs, isStrided) || llvm::any_of(nest.outputs, isStrided))
    lanes = std::min<int64_t>(lanes, schedule.target.vectorBytes / 4);
  if (vectorLoop != VectorBuilder::kNoLoop)
    while (lanes > 2 && lanes / 2 >= nest.extents[vectorLoop].guess())
      lanes /= 2;
  if (schedule.plan) {
    llvm::raw_string_ostream stream(*schedule.plan);
    if (vectorLoop == VectorBuilder::kNoLoop)
      stream << "one element after the other";
    else
      stream << "vectors of " << lanes << " along " << (nest.isReduction[vectorLoop] ? "terms" : "results");
  }
  VectorNest(schedule, nest, vectorLoop, lanes, combiner).emit();
}

} // namespace

PartialResults::PartialResults(Schedule &schedule, const Nest &nest, Combiner combiner, int64_t pieces)
    : access(nest.outputs[0]), results(nest.iterations(false)), nest(nest), combiner(combiner), pieces(pieces) {
  OpBuilder &b = schedule.builder;
  if (std::optional<int64_t> known = results.known()) {
    access.value = memref::AllocOp::create(b, nest.location(), MemRefType::get({pieces * *known}, access.element));
  } else {
    Value size = (results * Extent(pieces)).emit(b, nest.location());
    auto type = MemRefType::get({ShapedType::kDynamic}, access.element);
    access.value = memref::AllocOp::create(b, nest.location(), type, ValueRange{size});
  }
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
}

void PartialResults::combine(Schedule whole, const Extent &count) const {
  Schedule schedule = whole;
  schedule.plan = nullptr;
  schedule.isExact = combiner.isFloatSum();
  OpBuilder &b = schedule.builder;
  Location location = nest.location();
  Nest gather = nest;
  gather.extents.clear();
  gather.isReduction.clear();
  Access from = access, into = nest.outputs[0];
  from.strides.clear();
  into.strides.clear();
  for (unsigned loop : loops) {
    gather.extents.push_back(nest.extents[loop]);
    gather.isReduction.push_back(false);
    from.strides.push_back(access.strides[loop]);
    into.strides.push_back(nest.outputs[0].strides[loop]);
  }
  gather.extents.push_back(count);
  gather.isReduction.push_back(true);
  from.strides.push_back(results);
  into.strides.push_back(0);
  from.isUsed = true;
  gather.inputs = {from};
  gather.outputs = {into};
  // A body that consists of the combining operation alone.
  Block body;
  body.addArguments({from.element, into.element}, {location, location});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&body);
    OperationState state(location, combiner.operation->getName());
    state.operands = {body.getArgument(1), body.getArgument(0)};
    state.types.push_back(into.element);
    state.attributes = combiner.operation->getAttrs();
    linalg::YieldOp::create(b, location, b.create(state)->getResult(0));
  }
  gather.body = &body;
  emitNest(schedule, gather, Combiner::of(gather));
}

void emitVectorNest(Schedule schedule, Nest nest) {
  // A copy of bools is one of bytes.
  if (auto from = dyn_cast<BlockArgument>(nest.body->getTerminator()->getOperand(0));
      from && llvm::hasSingleElement(*nest.body) && nest.outputs.size() == 1 && !nest.hasReduction() &&
      from.getArgNumber() < nest.inputs.size() && nest.inputs[from.getArgNumber()].isBuffer)
    for (auto *accesses : {&nest.inputs, &nest.outputs})
      for (Access &access : *accesses)
        access = access.ofBytes(schedule.builder, nest.location());
  // One row of a sum that goes on has no loop over terms.
  std::optional<Combiner> combiner = schedule.errors ? Combiner::ofBody(nest) : Combiner::of(nest);
  if (!combiner && emitTransposedNest(schedule, nest, [&](const Nest &rest) { emitNest(schedule, rest, combiner); }))
    return;
  if (schedule.order || !combiner || !emitInPieces(schedule, nest, *combiner))
    emitNest(schedule, nest, combiner);
}

SumOrder SumOrder::of(const Nest &nest, const Target &target) {
  unsigned loop = chooseVectorLoop(nest, Schedule::lanesFor(nest, target), Combiner::of(nest).has_value());
  if (loop == VectorBuilder::kNoLoop || !nest.isReduction[loop])
    return {};
  return {static_cast<unsigned>(llvm::count(ArrayRef(nest.isReduction).take_front(loop), true))};
}

} // namespace calque::codegen
