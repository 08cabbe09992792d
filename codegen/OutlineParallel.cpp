// Outlines parallel loops into functions, each of which runs a range of iterations on one of the runtime's threads.
#include "codegen/Passes.h"
#include "codegen/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_OUTLINEPARALLELLOOPS
#include "codegen/Passes.h.inc"

namespace {

// Copies constants and views, also those of bools as bytes, into the loop, so that it captures whole buffers and
// numbers only.
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

struct OutlineParallelLoops : impl::OutlineParallelLoopsBase<OutlineParallelLoops> {
  void runOnOperation() override {
    SmallVector<scf::ParallelOp> loops;
    getOperation().walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
    for (auto [number, loop] : llvm::enumerate(loops))
      outline(loop, number, getOperation());
  }
};

} // namespace

} // namespace calque::codegen
