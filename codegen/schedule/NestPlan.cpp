#include "codegen/schedule/NestPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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

// Whether an elementwise nest computes only bools and the bytes that hold them.
static bool computesBytes(const Nest &nest) {
  auto isByte = [](Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 8; };
  return !nest.hasReduction() && llvm::all_of(nest.body->getArgumentTypes(), isByte) &&
         llvm::all_of(nest.body->without_terminator(), [&](Operation &op) {
           return llvm::all_of(op.getOperandTypes(), isByte) && llvm::all_of(op.getResultTypes(), isByte);
         });
}

int64_t KernelContext::lanesFor(const Nest &nest, const Target &target) {
  unsigned bits = computesBytes(nest) ? 8 : 32;
  for (const auto *accesses : {&nest.inputs, &nest.outputs})
    for (const Access &access : *accesses)
      if (access.isBuffer)
        bits = std::max(bits, access.element.getIntOrFloatBitWidth());
  return target.vectorBytes * 8 / bits;
}

namespace {

// In vectors of contiguous elements.
double costOf(const Extent &stride, int64_t lanes) {
  const int64_t loads = stride == 1 ? 1 : VectorBuilder::loadsOf(stride);
  return static_cast<double>(loads ? loads : lanes);
}

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
          cost += costOf(access.strides[loop], lanes);
    int64_t extent = nest.extents[loop].guess(), vectors = (extent + lanes - 1) / lanes;
    cost = (cost + 0.5) * static_cast<double>(vectors * lanes) / static_cast<double>(extent);
    if (cost < bestCost) {
      best = loop;
      bestCost = cost;
    }
  }
  return best;
}

// Whether the body is so short that registers hold two vectors at a time.
bool isSmall(const Nest &nest) { return std::distance(nest.body->begin(), nest.body->end()) <= 24; }

// Puts short loops beside each other whose iterations read the same elements, and differ in the places of their results
// and in the use of an index. The elements of a window to which a gradient belongs are an example. One block computes
// all these iterations, and what they share only once.
void takeBeside(const Nest &nest, VectorPlan &plan) {
  constexpr int64_t kMost = 8, kMostOperations = 1024;
  const int64_t operations = std::distance(nest.body->begin(), nest.body->end());
  int64_t count = 1;
  if (nest.hasReduction() || nest.readsBuffers())
    return;
  for (unsigned loop : SmallVector<unsigned>(plan.loops)) {
    auto isRead = [&](const Access &access) { return access.isUsed && access.varies(loop); };
    std::optional<int64_t> extent = nest.extents[loop].known();
    if (!extent || count * *extent > kMost || count * *extent * operations > kMostOperations || !nest.isIndexed(loop) ||
        llvm::any_of(nest.inputs, isRead))
      continue;
    count *= *extent;
    plan.beside.push_back(loop);
    llvm::erase(plan.loops, loop);
  }
}

// Sorts loops so that those with the largest strides come first.
void sortByStride(SmallVectorImpl<unsigned> &loops, ArrayRef<Access> accesses) {
  auto total = [&](unsigned loop) {
    int64_t sum = 0;
    for (const Access &access : accesses)
      sum += access.distance(loop);
    return sum;
  };
  llvm::stable_sort(loops, [&](unsigned a, unsigned b) { return total(a) > total(b); });
}

} // namespace

//===-- Vectors -----------------------------------------------------------------------------------===//

VectorPlan VectorPlan::of(const Nest &nest, const Target &target, bool combines, std::optional<SumOrder> order) {
  VectorPlan plan;
  int64_t lanes = KernelContext::lanesFor(nest, target);
  if (order && order->vectorLoop) {
    unsigned number = 0;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (nest.isReduction[loop] && number++ == *order->vectorLoop)
        plan.along = loop;
  } else {
    plan.along = chooseVectorLoop(nest, lanes, combines && !order);
  }
  if (plan.along == kNoLoop)
    lanes = 1;
  // What is not contiguous has code for each lane.
  auto isStrided = [&](const Access &access) {
    return access.varies(plan.along) && !(access.strides[plan.along] == 1);
  };
  if (plan.along != kNoLoop && (llvm::any_of(nest.inputs, isStrided) || llvm::any_of(nest.outputs, isStrided)))
    lanes = std::min<int64_t>(lanes, target.vectorBytes / 4);
  if (plan.along != kNoLoop)
    while (lanes > 2 && lanes / 2 >= nest.extents[plan.along].guess())
      lanes /= 2;
  plan.lanes = lanes;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (loop != plan.along)
      (nest.isReduction[loop] ? plan.terms : plan.loops).push_back(loop);
  takeBeside(nest, plan);
  sortByStride(plan.loops, nest.outputs);
  sortByStride(plan.terms, nest.inputs);
  // If the first of the outer loops is short, threads share the longest loop.
  if (plan.loops.size() > 1 && nest.extents[plan.loops[0]].guess() < 8) {
    auto longest = std::max_element(plan.loops.begin(), plan.loops.end(), [&](unsigned a, unsigned b) {
      return nest.extents[a].guess() < nest.extents[b].guess();
    });
    std::rotate(plan.loops.begin(), longest, longest + 1);
  }
  plan.vectors = nest.hasReduction() ? 4 : isSmall(nest) && plan.beside.empty() ? 2 : 1;
  plan.cycles = cyclesOfBody(nest, target) / static_cast<double>(lanes);
  return plan;
}

std::string VectorPlan::text(const Nest &nest) const {
  if (along == kNoLoop)
    return "one element after the other";
  return ("vectors of " + Twine(lanes) + " along " + (nest.isReduction[along] ? "terms" : "results")).str();
}

//===-- Pieces ------------------------------------------------------------------------------------===//

// The number of pieces depends on sizes alone.
TermPieces TermPieces::of(const Nest &nest) {
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
  // With enough rows there is nothing to gain. A sum of a row reads the row once from end to end; pieces of rows would
  // not.
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

Nest pieceOf(Nest nest, unsigned loop, int64_t count) {
  int64_t size = *nest.extents[loop].known() / count;
  nest.extents[loop] = size * count;
  unsigned piece = nest.split(loop, size);
  nest.isReduction[piece] = false;
  return nest;
}

Nest restOf(Nest nest, unsigned loop, int64_t count) {
  int64_t extent = *nest.extents[loop].known(), whole = extent / count * count;
  nest.slice(loop, whole, extent - whole);
  return nest;
}

Gathering::Gathering(const Nest &of, const Combiner &combiner, const Access &partial, ArrayRef<unsigned> loops,
                     const Extent &results, const Extent &count)
    : nest(of) {
  Location location = of.location();
  nest.extents.clear();
  nest.isReduction.clear();
  nest.borders.clear();
  Access from = partial, into = of.outputs[0];
  from.strides.clear();
  into.strides.clear();
  for (unsigned loop : loops) {
    nest.extents.push_back(of.extents[loop]);
    nest.isReduction.push_back(false);
    from.strides.push_back(partial.strides[loop]);
    into.strides.push_back(of.outputs[0].strides[loop]);
  }
  nest.extents.push_back(count);
  nest.isReduction.push_back(true);
  from.strides.push_back(results);
  into.strides.push_back(0);
  from.isUsed = true;
  nest.inputs = {from};
  nest.outputs = {into};
  body.addArguments({from.element, into.element}, {location, location});
  OpBuilder b(location.getContext());
  b.setInsertionPointToEnd(&body);
  OperationState state(location, combiner.operation->getName());
  state.operands = {body.getArgument(1), body.getArgument(0)};
  state.types.push_back(into.element);
  state.attributes = combiner.operation->getAttrs();
  linalg::YieldOp::create(b, location, b.create(state)->getResult(0));
  nest.body = &body;
}

std::optional<PiecesPlan> PiecesPlan::of(const Nest &nest, const Target &target) {
  auto [loop, count] = TermPieces::of(nest);
  std::optional<Combiner> combiner = Combiner::of(nest);
  if (!count || !combiner)
    return std::nullopt;
  PiecesPlan plan;
  plan.loop = loop;
  plan.count = count;
  SmallVector<unsigned> loops;
  Access partial = PartialResults::accessOf(nest, loops);
  Extent results = nest.iterations(false);
  Nest cut = nest;
  cut.outputs = {partial};
  Nest each = pieceOf(cut, loop, count);
  each.outputs[0].strides.back() = results;
  plan.each = VectorPlan::of(each, target, true);
  const bool leavesRest = PiecesPlan::leavesRest(nest, loop, count);
  if (leavesRest)
    plan.rest = VectorPlan::of(restOf(cut, loop, count), target, true);
  Gathering sums(nest, *combiner, partial, loops, results, Extent(count + leavesRest));
  plan.sums = VectorPlan::of(sums.nest, target, true);
  return plan;
}

SumOrder SumOrder::of(const Nest &nest, const Target &target) {
  unsigned loop = chooseVectorLoop(nest, KernelContext::lanesFor(nest, target), Combiner::of(nest).has_value());
  if (loop == VectorBuilder::kNoLoop || !nest.isReduction[loop])
    return {};
  return {static_cast<unsigned>(llvm::count(ArrayRef(nest.isReduction).take_front(loop), true))};
}

//===-- All ---------------------------------------------------------------------------------------===//

NestPlan chooseNestPlan(const Nest &nest, const Target &target, std::optional<SumOrder> order, bool goesOn) {
  // A sum that continues another one may have one term, and then has no loop over terms.
  const bool combines = (goesOn ? Combiner::ofBody(nest) : Combiner::of(nest)).has_value();
  if (!combines) {
    if (std::optional<SquaresPlan> squares = SquaresPlan::of(nest, target))
      return *squares;
  } else if (!order) {
    if (std::optional<PiecesPlan> pieces = PiecesPlan::of(nest, target))
      return *pieces;
  }
  return VectorPlan::of(nest, target, combines, order);
}

} // namespace calque::codegen
