// Emits elementwise nests that read some operand across the direction in which they write. Squares of elements are
// transposed in registers, so that reads and writes are whole vectors.
#include "codegen/schedule/NestPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// The loop along which the elements of an access lie side by side; kNoLoop if there is none.
unsigned contiguousLoop(const Access &access, const Nest &nest) {
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (access.isBuffer && access.strides[loop] == 1)
      return loop;
  return kNoLoop;
}

bool isVectorised(Type element) { return element.getIntOrFloatBitWidth() % 8 == 0; }

// `count` iterations of a loop, from `start` on. The body does not ask for the loop's index.
Nest partOf(Nest nest, VectorBuilder &v, unsigned loop, const Number &start, const Number &count) {
  nest.extents[loop] = count.extent();
  if (start == 0)
    return nest;
  for (auto *accesses : {&nest.inputs, &nest.outputs})
    for (Access &access : *accesses) {
      if (!access.varies(loop))
        continue;
      Number offset = v.multiply(start, v.number(access.strides[loop]));
      if (offset.known)
        access.offset += *offset.known;
      else
        access.unknownOffset = v.valueOf(access.unknownOffset ? v.add(access.unknownOffset, offset) : offset);
    }
  return nest;
}

// Emits a nest whose two loops have multiples of the square's size.
void emitSquares(KernelContext &context, const Nest &nest, const SquaresPlan &square) {
  VectorBuilder v(context.builder, nest, square.along, square.size),
      w(context.builder, nest, square.across, square.size);
  Number along = v.number(nest.extents[square.along]), across = v.number(nest.extents[square.across]);
  SmallVector<unsigned> outer;
  Number count = v.ceilDivide(across, square.beside * square.size);
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (loop != square.across && loop != square.along) {
      outer.push_back(loop);
      count = v.multiply(count, v.number(nest.extents[loop]));
    }
  auto emitSquare = [&](Position at) {
    llvm::SmallDenseMap<unsigned, SmallVector<Value>> transposed;
    for (auto [number, access] : llvm::enumerate(nest.inputs)) {
      if (!access.isUsed || contiguousLoop(access, nest) != square.across)
        continue;
      SmallVector<Value> &rows = transposed[static_cast<unsigned>(number)];
      for (int64_t i = 0; i < square.size; ++i)
        rows.push_back(w.load(access, at.shifted(square.along, i), square.size));
      w.transpose(rows);
    }
    for (int64_t i = 0; i < square.size; ++i) {
      Position row = at.shifted(square.across, i);
      v.given.clear();
      for (auto &[number, rows] : transposed)
        v.given[number] = rows[static_cast<size_t>(i)];
      Value none = v.constant(v.b.getZeroAttr(nest.outputs[0].element));
      v.store(nest.outputs[0], row, v.body(row, {none}, square.size)[0], square.size);
    }
  };
  double cycles = square.cycles * static_cast<double>(square.beside * 2);
  v.parallel(count, cycles, along, [&](Value piece) {
    Position at(nest.numLoops());
    Value rest = piece;
    for (unsigned loop : llvm::reverse(outer)) {
      Value extent = v.valueOf(v.number(nest.extents[loop]));
      at.index[loop] = arith::RemUIOp::create(v.b, v.location, rest, extent);
      rest = arith::DivUIOp::create(v.b, v.location, rest, extent);
    }
    Value first = arith::MulIOp::create(v.b, v.location, rest, v.index(square.beside * square.size));
    Value last = v.valueOf(v.minimum(v.add(Number(first), square.beside * square.size), across));
    v.loop(along, square.size, {}, [&](Value i, ValueRange) {
      v.loop(first, last, square.size, {}, [&](Value j, ValueRange) {
        emitSquare(at.at(square.along, i).at(square.across, j));
        return SmallVector<Value>();
      });
      return SmallVector<Value>();
    });
  });
}

} // namespace

bool SquaresPlan::fits(const Nest &nest, unsigned along, unsigned across) {
  if (nest.hasReduction() || nest.outputs.size() != 1 || !nest.body->getOps<linalg::IndexOp>().empty() ||
      nest.readsBuffers() || !VectorBuilder::canVectorize(nest) || along == across ||
      contiguousLoop(nest.outputs[0], nest) != along || !isVectorised(nest.outputs[0].element))
    return false;
  bool hasAcross = false;
  for (const Access &access : nest.inputs) {
    unsigned loop = contiguousLoop(access, nest);
    if (!access.isUsed || loop == kNoLoop || loop == along || !access.varies(along))
      continue;
    if (loop != across || !isVectorised(access.element))
      return false;
    hasAcross = true;
  }
  return hasAcross;
}

// Larger squares of bytes would contain the body many times.
int64_t SquaresPlan::largestSize(const Nest &nest, const Target &target) {
  return std::min<int64_t>(KernelContext::lanesFor(nest, target), target.vectorBytes / 4);
}

std::optional<SquaresPlan> SquaresPlan::of(const Nest &nest, const Target &target) {
  if (nest.hasReduction() || nest.outputs.size() != 1)
    return std::nullopt;
  SquaresPlan plan;
  plan.size = largestSize(nest, target);
  plan.beside = 4;
  plan.along = contiguousLoop(nest.outputs[0], nest);
  if (plan.along == kNoLoop || plan.size < 4)
    return std::nullopt;
  for (const Access &access : nest.inputs)
    if (unsigned loop = contiguousLoop(access, nest);
        access.isUsed && loop != kNoLoop && loop != plan.along && access.varies(plan.along))
      plan.across = loop;
  if (plan.across == kNoLoop || !fits(nest, plan.along, plan.across))
    return std::nullopt;
  // A square has the body once for each of its rows, and LLVM takes more than linear time for long code.
  constexpr int64_t kLongestBodies = 512;
  if (plan.size * std::distance(nest.body->begin(), nest.body->end()) > kLongestBodies ||
      nest.extents[plan.across].guess() < plan.size || nest.extents[plan.along].guess() < plan.size)
    return std::nullopt;
  plan.cycles = cyclesOfBody(nest, target);
  auto planRest = [&](Nest rest, unsigned loop) -> std::optional<VectorPlan> {
    if (!plan.leavesRest(nest, loop))
      return std::nullopt;
    const Extent &extent = nest.extents[loop];
    rest.extents[loop] =
        extent.isKnown() ? Extent(*extent.known() % plan.size) : Extent(OpFoldResult(extent.unknown().front()));
    return VectorPlan::of(rest, target, false);
  };
  plan.restAcross = planRest(nest, plan.across);
  Nest below = nest;
  if (const Extent &extent = nest.extents[plan.across]; extent.isKnown())
    below.extents[plan.across] = *extent.known() / plan.size * plan.size;
  plan.restAlong = planRest(below, plan.along);
  return plan;
}

void emitTransposedNest(KernelContext &context, const Nest &nest, const SquaresPlan &plan,
                        function_ref<void(const Nest &, const VectorPlan &)> emitRest) {
  VectorBuilder v(context.builder, nest, kNoLoop, 1);
  // The iterations of a loop in whole squares, and those that are left.
  auto cut = [&](unsigned loop) {
    Number extent = v.number(nest.extents[loop]), rest = v.remainder(extent, plan.size);
    return std::pair(v.subtract(extent, rest), rest);
  };
  auto [wholeAcross, restAcross] = cut(plan.across);
  auto [wholeAlong, restAlong] = cut(plan.along);
  Nest belowRest = partOf(nest, v, plan.across, 0, wholeAcross);
  emitSquares(context, partOf(belowRest, v, plan.along, 0, wholeAlong), plan);
  if (plan.restAcross)
    emitRest(partOf(nest, v, plan.across, wholeAcross, restAcross), *plan.restAcross);
  if (plan.restAlong)
    emitRest(partOf(belowRest, v, plan.along, wholeAlong, restAlong), *plan.restAlong);
  if (context.plan)
    *context.plan = ("squares of " + Twine(plan.size) + ", transposed in registers").str();
}

} // namespace calque::codegen
