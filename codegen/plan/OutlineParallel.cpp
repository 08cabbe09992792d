// Outlines parallel loops into functions, each of which runs a range of iterations on one of the runtime's threads.
//
// A kernel that is only one such loop becomes the function of a piece as a whole, so that its caller can run its pieces
// among those of other kernels.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_OUTLINEPARALLELLOOPS
#include "codegen/Passes.h.inc"

namespace {

// Copies constants and views, and casts between bools and bytes, into the loop, so that the loop captures only whole
// buffers and numbers.
void copyViewsInside(scf::ParallelOp loop) {
  for (bool changed = true; changed;) {
    changed = false;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(loop.getRegion(), captured);
    for (Value value : captured) {
      Operation *definition = value.getDefiningOp();
      if (!definition || !(isa<ViewLikeOpInterface, arith::ConstantOp, UnrealizedConversionCastOp>(definition)))
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
      replaceAllUsesInRegionWith(value, builder.clone(*definition)->getResult(0), loop.getRegion());
      changed = true;
    }
  }
}

void moveToFront(func::FuncOp function) {
  Block &front = function.getBody().front();
  SmallVector<memref::AllocaOp> buffers;
  function.walk([&](memref::AllocaOp buffer) { buffers.push_back(buffer); });
  for (memref::AllocaOp buffer : llvm::reverse(buffers))
    buffer->moveBefore(&front, front.begin());
}

void outline(scf::ParallelOp loop, unsigned number, ModuleOp module) {
  copyViewsInside(loop);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getRegion(), captured);
  Location location = loop.getLoc();
  OpBuilder builder(loop);
  Type index = builder.getIndexType();
  SmallVector<Type> types = llvm::map_to_vector(captured, [](Value value) { return value.getType(); });
  SmallVector<Type> pieceTypes{index, index};
  llvm::append_range(pieceTypes, types);

  OpBuilder outside = OpBuilder::atBlockEnd(module.getBody());
  auto piece = func::FuncOp::create(outside, location, "calque_piece_" + std::to_string(number),
                                    builder.getFunctionType(pieceTypes, {}));
  piece.setPrivate();
  // A number of iterations that is no constant becomes the call's first argument.
  SmallVector<Value> arguments(captured.getArrayRef());
  std::optional<int64_t> count = getConstantIntValue(loop.getUpperBound()[0]);
  if (!count)
    arguments.insert(arguments.begin(), loop.getUpperBound()[0]);
  auto call = func::FuncOp::create(outside, location, "calque_parallel_" + std::to_string(number),
                                   builder.getFunctionType(ValueRange(arguments).getTypes(), {}));
  call.setPrivate();
  SmallVector<NamedAttribute> attributes{builder.getNamedAttr("grain", loop->getAttrOfType<IntegerAttr>(kGrainAttr)),
                                         builder.getNamedAttr("piece", builder.getStringAttr(piece.getName()))};
  if (count)
    attributes.push_back(builder.getNamedAttr("count", builder.getI64IntegerAttr(*count)));
  call->setAttr(kParallelAttr, builder.getDictionaryAttr(attributes));
  func::CallOp::create(builder, location, call, arguments);

  Block *body = piece.addEntryBlock();
  for (auto [value, argument] : llvm::zip_equal(captured, body->getArguments().drop_front(2)))
    replaceAllUsesInRegionWith(value, argument, loop.getRegion());
  builder.setInsertionPointToEnd(body);
  Value one = arith::ConstantIndexOp::create(builder, location, 1);
  auto pieces = scf::ForOp::create(builder, location, body->getArgument(0), body->getArgument(1), one);
  func::ReturnOp::create(builder, location);
  loop.getInductionVars()[0].replaceAllUsesWith(pieces.getInductionVar());
  loop.getBody()->getTerminator()->erase();
  pieces.getBody()->getOperations().splice(pieces.getBody()->begin(), loop.getBody()->getOperations());
  loop.erase();
  moveToFront(piece);
}

// LLVM takes more than linear time for functions with more arguments, and a piece loads all of them.
constexpr unsigned kMostArguments = 64;

// Whether an operation reads a number that another kernel has made. Each piece may read it.
bool readsNumber(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && load.getMemRefType().getRank() == 0 && isa<BlockArgument>(load.getMemRef());
}

// The loop of a kernel that is one loop, with arithmetic before it. In an elementwise kernel, operations may also stand
// behind the loop: they compute other elements, so that they may run at any time.
scf::ParallelOp onlyLoopOf(func::FuncOp kernel) {
  if (!isKernel(kernel) || kernel.getNumArguments() > kMostArguments || !kernel.getBody().hasOneBlock())
    return {};
  scf::ParallelOp found;
  WalkResult walked = kernel.walk([&](scf::ParallelOp loop) {
    if (found || loop->getParentOp() != kernel)
      return WalkResult::interrupt();
    found = loop;
    return WalkResult::advance();
  });
  if (!found || walked.wasInterrupted())
    return {};
  bool isBefore = true;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (&op == found)
      isBefore = false;
    else if (!isMemoryEffectFree(&op) && (isBefore ? !readsNumber(&op) : !kernel->hasAttr(kElementwiseAttr)))
      return {};
  }
  return found;
}

// Moves the body of a kernel into the function of a piece: (begin, end, the kernel's arguments). The last piece also
// runs the operations behind the loop. The kernel itself then only returns the number of iterations.
void outlineWhole(func::FuncOp kernel, scf::ParallelOp loop, unsigned number, ModuleOp module) {
  Location location = loop.getLoc();
  OpBuilder builder(kernel);
  Type index = builder.getIndexType();
  SmallVector<Type> types{index, index};
  llvm::append_range(types, kernel.getArgumentTypes());
  OpBuilder outside = OpBuilder::atBlockEnd(module.getBody());
  auto piece = func::FuncOp::create(outside, location, "calque_piece_" + std::to_string(number),
                                    builder.getFunctionType(types, {}));
  piece.setPrivate();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
      piece.setArgAttrs(i + 2, attributes);

  Block &own = kernel.getBody().front(), *body = piece.addEntryBlock();
  Value count = loop.getUpperBound()[0];
  Operation *firstBehind = loop->getNextNode();
  bool hasRest = !isa<func::ReturnOp>(firstBehind);
  body->getOperations().splice(body->end(), own.getOperations());
  for (auto [before, after] : llvm::zip_equal(own.getArguments(), body->getArguments().drop_front(2)))
    before.replaceAllUsesWith(after);

  // The number of iterations, for the caller. The operations behind the loop need a piece, even if the loop has no
  // iterations.
  builder.setInsertionPoint(loop);
  bool isKnown = getConstantIntValue(count).has_value();
  Value one = arith::ConstantIndexOp::create(builder, location, 1);
  Value all = hasRest && !isKnown ? arith::MaxSIOp::create(builder, location, count, one).getResult() : count;
  OpBuilder inKernel = OpBuilder::atBlockEnd(&own);
  IRMapping mapping;
  for (auto [before, after] : llvm::zip_equal(own.getArguments(), body->getArguments().drop_front(2)))
    mapping.map(after, before);
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> wanted{all};
  while (!wanted.empty())
    if (Operation *made = wanted.pop_back_val().getDefiningOp(); made && slice.insert(made))
      llvm::append_range(wanted, made->getOperands());
  for (Operation &op : *body)
    if (slice.contains(&op))
      inKernel.clone(op, mapping);
  func::ReturnOp::create(inKernel, location, mapping.lookup(all));
  kernel.setFunctionType(builder.getFunctionType(kernel.getArgumentTypes(), {index}));
  kernel->setAttr(kParallelAttr, builder.getDictionaryAttr(
                                     {builder.getNamedAttr("grain", loop->getAttrOfType<IntegerAttr>(kGrainAttr)),
                                      builder.getNamedAttr("piece", builder.getStringAttr(piece.getName()))}));

  Value begin = body->getArgument(0), end = body->getArgument(1),
        last = all == count ? end : arith::MinSIOp::create(builder, location, end, count).getResult();
  auto pieces = scf::ForOp::create(builder, location, begin, last, one);
  loop.getInductionVars()[0].replaceAllUsesWith(pieces.getInductionVar());
  loop.getBody()->getTerminator()->erase();
  pieces.getBody()->getOperations().splice(pieces.getBody()->begin(), loop.getBody()->getOperations());
  loop.erase();
  if (hasRest) {
    builder.setInsertionPointAfter(pieces);
    Value isLast = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, end, all);
    auto rest = scf::IfOp::create(builder, location, isLast, false);
    rest.thenBlock()->getOperations().splice(rest.thenBlock()->begin(), body->getOperations(),
                                             firstBehind->getIterator(), std::prev(body->end()));
  }
  moveToFront(piece);
}

struct OutlineParallelLoops : impl::OutlineParallelLoopsBase<OutlineParallelLoops> {
  void runOnOperation() override {
    unsigned number = 0;
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (scf::ParallelOp loop = onlyLoopOf(kernel))
        outlineWhole(kernel, loop, number++, getOperation());
    SmallVector<scf::ParallelOp> loops;
    getOperation().walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
    for (scf::ParallelOp loop : loops)
      outline(loop, number++, getOperation());
  }
};

} // namespace

} // namespace calque::codegen
