#include "passes/Passes.h"
#include "schema/Cotangents.h"
#include "schema/Moves.h"

#include "mlir/IR/Builders.h"

namespace calque {
#define GEN_PASS_DEF_CHECKNUMERICS
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

// Whether all elements of all floating-point values are finite. Null if there are none.
Value areFinite(OpBuilder &builder, Location location, ValueRange values) {
  Value all;
  auto scalar = RankedTensorType::get({}, builder.getI1Type());
  for (Value value : values) {
    if (!isFloatTensor(value))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    Value finite = IsFiniteOp::create(builder, location, type.clone(builder.getI1Type()), value);
    if (type.getRank() != 0)
      finite = AllOp::create(builder, location, scalar, finite, ArrayRef<int64_t>(), false);
    all = all ? LogicalAndOp::create(builder, location, scalar, all, finite).getResult() : finite;
  }
  return all;
}

// The floating-point operands whose elements the operation may read. Of those that receive no cotangent it takes sizes
// alone, and there need not be more of them.
SmallVector<Value> readBy(Operation *op) {
  const calque::schema::OperationSchema *schema =
      calque::schema::findOperation(std::string_view(op->getName().stripDialect()));
  SmallVector<Value> operands;
  if (calque::schema::moveRuleOf(schema->id)) // makes no numbers
    return operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (isFloatTensor(operand) && calque::schema::receivesCotangent(schema->id, i))
      operands.push_back(operand);
  return operands;
}

struct CheckNumerics : calque::impl::CheckNumericsBase<CheckNumerics> {
  void runOnOperation() override {
    SmallVector<Operation *> checked;
    // A region's operations are checked themselves, and a composite's as one.
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<SchemaOpInterface>(op) && op->getNumRegions() == 0 && !readBy(op).empty() &&
          llvm::any_of(op->getResults(), isFloat))
        checked.push_back(op);
      return isa<CompositeOpInterface>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (Operation *op : checked) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      // The failure is called as the operation.
      Location location = op->getLoc();
      if (!isa<NameLoc>(location))
        location = NameLoc::get(builder.getStringAttr(op->getName().stripDialect()), location);
      Value operands = areFinite(builder, location, readBy(op));
      auto scalar = RankedTensorType::get({}, builder.getI1Type());
      Value broken = LogicalNotOp::create(builder, location, scalar, operands);
      for (Value result : op->getResults()) {
        if (!isFloatTensor(result))
          continue;
        // Of each element, so that the failure can say which.
        auto type = cast<RankedTensorType>(result.getType()).clone(builder.getI1Type());
        Value finite = IsFiniteOp::create(builder, location, type, result);
        Value holds = LogicalOrOp::create(builder, location, type, finite, broken);
        auto assertion = AssertOp::create(builder, location, holds, result, builder.getStringAttr(""));
        assertion->setAttr(calque::kChecksNumerics, builder.getUnitAttr());
      }
      numChecks += 1;
    }
  }
};

} // namespace
