#include "ir/ElementType.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace calque {
#define GEN_PASS_DEF_WIDENELEMENTS
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;

namespace {

using calque::ir::ElementType;

bool isHalf(Type type) { return isa<RankedTensorType>(type) && ElementType(type).isHalf(); }

// The type in which it is computed.
Type widened(Type type) {
  Builder builder(type.getContext());
  if (isHalf(type))
    return cast<RankedTensorType>(type).clone(builder.getF32Type());
  return isa<FloatType>(type) && ElementType(type).isHalf() ? Type(builder.getF32Type()) : type;
}

void widen(Operation *op) {
  OpBuilder builder(op);
  Location location = op->getLoc();
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = operand.get().getType(); isHalf(type))
      operand.set(calque::ir::CastOp::create(builder, location, operand.get(), TypeAttr::get(builder.getF32Type())));
  // Which attributes say an element type, a record knows: iota, and what else makes elements of nothing.
  for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue()))
      op->setAttr(attribute.getName(), TypeAttr::get(widened(type.getValue())));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isHalf(type))
      continue;
    result.setType(widened(type));
    auto narrow = calque::ir::CastOp::create(builder, location, result, TypeAttr::get(getElementTypeOrSelf(type)));
    result.replaceAllUsesExcept(narrow, narrow);
  }
}

// Integers that are summed in a wider type.
void castToResult(Operation *op) {
  OpBuilder builder(op);
  op->setOperand(0, calque::ir::CastOp::create(builder, op->getLoc(), op->getOperand(0),
                                               TypeAttr::get(getElementTypeOrSelf(op->getResult(0)))));
}

struct WidenElements : calque::impl::WidenElementsBase<WidenElements> {
  void runOnOperation() override {
    SmallVector<Operation *> halves, sums;
    getOperation().walk([&](Operation *op) {
      if (op->hasTrait<calque::ir::Computes>() &&
          (llvm::any_of(op->getOperandTypes(), isHalf) || llvm::any_of(op->getResultTypes(), isHalf)))
        halves.push_back(op);
      else if (op->hasTrait<calque::ir::Accumulates>() &&
               getElementTypeOrSelf(op->getOperand(0)) != getElementTypeOrSelf(op->getResult(0)))
        sums.push_back(op);
    });
    llvm::for_each(halves, widen);
    llvm::for_each(sums, castToResult);
  }
};

} // namespace
