#include "codegen/Passes.h"
#include "codegen/buffers/Bufferize.h"
#include "codegen/plan/ProgramAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_PASSPOINTERS
#include "codegen/Passes.h.inc"

namespace {

// A bare pointer can't have the strides of an empty memref. No element of it is ever accessed, so that any buffer can
// take its place inside of the function.
void replaceEmpty(BlockArgument argument, OpBuilder &front) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 0 || type.getRank() == 1)
    return;
  argument.replaceAllUsesWith(
      memref::AllocOp::create(front, argument.getLoc(), MemRefType::get(type.getShape(), type.getElementType())));
  argument.setType(MemRefType::get({0}, type.getElementType()));
}

// Replaces a buffer of unknown sizes. `sizeOf` returns null for a size that is not known; that is an error.
LogicalResult replaceUnknown(func::FuncOp program, BlockArgument argument, StringRef attribute, OpBuilder &front,
                             function_ref<Value(size_t dimension)> sizeOf) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || type.hasStaticShape())
    return success();
  SizeList sizes;
  for (auto [dimension, known] : llvm::enumerate(type.getShape())) {
    Size size = front.getIndexAttr(known);
    if (ShapedType::isDynamic(known)) {
      Value value = sizeOf(dimension);
      if (!value)
        return refuseAttribute(program, attribute, program->getAttr(attribute));
      size = value;
    }
    sizes.push_back(size);
  }
  // The convention for bare pointers needs known sizes; nothing reads these.
  argument.setType(MemRefType::get({1}, type.getElementType()));
  SmallVector<OpOperand *> uses = llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
  Value view = contiguous(front, argument, type, sizes);
  for (OpOperand *use : uses)
    use->set(view);
  return success();
}

struct PassPointers : impl::PassPointersBase<PassPointers> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    func::FuncOp function = program->function;
    Block &body = function.getBody().front();
    OpBuilder front = OpBuilder::atBlockBegin(&body);
    for (BlockArgument argument : body.getArguments())
      replaceEmpty(argument, front);
    if (!program->sizes.areKnown() && failed(replaceUnknown(function, program->sizes, front)))
      return signalPassFailure();
    body.getTerminator()->setOperands({});
    function.setType(FunctionType::get(&getContext(), body.getArgumentTypes(), {}));
  }

private:
  static LogicalResult replaceUnknown(func::FuncOp program, const ProgramSizes &sizes, OpBuilder &front) {
    Block &body = program.getBody().front();
    Operation *terminator = body.getTerminator();
    if (terminator->getNumOperands() != sizes.outputs.size())
      return refuseAttribute(program, kUnknownOutputsAttr, program->getAttr(kUnknownOutputsAttr));
    IRMapping mapping;
    for (BlockArgument size : body.getArguments().slice(sizes.firstSize(), sizes.inputs.size()))
      mapping.map(size, size);
    for (BlockArgument argument : body.getArguments().slice(1, sizes.numInputs)) {
      auto sizeOf = [&](size_t dimension) {
        return sizes.sizeOf(program, argument.getArgNumber() - 1, dimension, front);
      };
      if (failed(codegen::replaceUnknown(program, argument, kUnknownInputsAttr, front, sizeOf)))
        return failure();
    }
    for (BlockArgument argument : body.getArguments().drop_front(sizes.firstOutput())) {
      auto sizeOf = [&](size_t dimension) -> Value {
        for (auto [unknown, size] : llvm::zip_equal(sizes.outputs, terminator->getOperands()))
          if (unknown.index == argument.getArgNumber() - sizes.firstOutput() && unknown.dimension == dimension)
            return cloneSize(front, size, mapping);
        return {};
      };
      if (failed(codegen::replaceUnknown(program, argument, kUnknownOutputsAttr, front, sizeOf)))
        return failure();
    }
    return success();
  }
};

} // namespace
} // namespace calque::codegen
