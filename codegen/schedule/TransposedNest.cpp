// Elementwise nests that read some operand across the direction in which they write: by squares that are transposed in
// registers, so that both sides are read and written in whole vectors.
#include "codegen/schedule/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// The loop along which an access has its elements side by side; kNoLoop where there is none.
unsigned contiguousLoop(const Access &access, const Nest &nest) {
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (access.isBuffer && access.strides[loop] == 1)
      return loop;
  return kNoLoop;
}

// What is written along `along`, and read along `across`.
struct Square {
  unsigned along = kNoLoop, across = kNoLoop;
  int64_t size = 0;
};

std::optional<Square> squareOf(const Nest &nest, const Target &target) {
  if (nest.hasReduction() || nest.outputs.size() != 1 || !nest.body->getOps<linalg::IndexOp>().empty() ||
      nest.readsBuffers() || !VectorBuilder::canVectorize(nest))
    return std::nullopt;
  Square square;
  // Squares of bytes would have the body many times.
  square.size = std::min<int64_t>(Schedule::lanesFor(nest, target), target.vectorBytes / 4);
  square.along = contiguousLoop(nest.outputs[0], nest);
  auto isVectorised = [](Type element) { return element.getIntOrFloatBitWidth() % 8 == 0; };
  if (square.along == kNoLoop || square.size < 4 || !isVectorised(nest.outputs[0].element))
    return std::nullopt;
  for (const Access &access : nest.inputs) {
    unsigned loop = contiguousLoop(access, nest);
    if (!access.isUsed || loop == kNoLoop || loop == square.along || !access.varies(square.along))
      continue;
    if ((square.across != kNoLoop && square.across != loop) || !isVectorised(access.element))
      return std::nullopt;
    square.across = loop;
  }
  // A square has the body once for each of its rows, and LLVM takes more than linear time for long code.
  constexpr int64_t kLongestBodies = 512;
  if (square.size * std::distance(nest.body->begin(), nest.body->end()) > kLongestBodies)
    return std::nullopt;
  if (square.across == kNoLoop || nest.extents[square.across].guess() < square.size ||
      nest.extents[square.along].guess() < square.size)
    return std::nullopt;
  return square;
}

// `count` iterations of a loop, from `start` on. The body has no index of it.
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

// A nest whose two loops are multiples of the square's size.
void emitSquares(Schedule &schedule, const Nest &nest, const Square &square) {
  // So many squares side by side are read from a page before the next one.
  constexpr int64_t kSquares = 4;
  VectorBuilder v(schedule.builder, nest, square.along, square.size),
      w(schedule.builder, nest, square.across, square.size);
  Number along = v.number(nest.extents[square.along]), across = v.number(nest.extents[square.across]);
  SmallVector<unsigned> outer;
  Number count = v.ceilDivide(across, kSquares * square.size);
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
  double cycles = cyclesOfBody(nest, schedule.target) * static_cast<double>(kSquares * 2);
  v.parallel(count, cycles, along, [&](Value piece) {
    Position at(nest.numLoops());
    Value rest = piece;
    for (unsigned loop : llvm::reverse(outer)) {
      Value extent = v.valueOf(v.number(nest.extents[loop]));
      at.index[loop] = arith::RemUIOp::create(v.b, v.location, rest, extent);
      rest = arith::DivUIOp::create(v.b, v.location, rest, extent);
    }
    Value first = arith::MulIOp::create(v.b, v.location, rest, v.index(kSquares * square.size));
    Value last = v.valueOf(v.minimum(v.add(Number(first), kSquares * square.size), across));
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

bool emitTransposedNest(Schedule &schedule, const Nest &nest, function_ref<void(const Nest &)> emitRest) {
  std::optional<Square> square = squareOf(nest, schedule.target);
  if (!square)
    return false;
  VectorBuilder v(schedule.builder, nest, kNoLoop, 1);
  // The whole squares along a loop, and what is left behind them.
  auto cut = [&](unsigned loop) {
    Number extent = v.number(nest.extents[loop]), rest = v.remainder(extent, square->size);
    return std::pair(v.subtract(extent, rest), rest);
  };
  auto [wholeAcross, restAcross] = cut(square->across);
  auto [wholeAlong, restAlong] = cut(square->along);
  Nest belowRest = partOf(nest, v, square->across, 0, wholeAcross);
  emitSquares(schedule, partOf(belowRest, v, square->along, 0, wholeAlong), *square);
  if (!(restAcross == 0))
    emitRest(partOf(nest, v, square->across, wholeAcross, restAcross));
  if (!(restAlong == 0))
    emitRest(partOf(belowRest, v, square->along, wholeAlong, restAlong));
  if (schedule.plan)
    *schedule.plan = ("squares of " + Twine(square->size) + ", transposed in registers").str();
  return true;
}

} // namespace calque::codegen
