#include "ir/Algebra.h"
#include "ir/ElementType.h"
#include "ir/Parts.h"
#include "ir/Values.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace calque::ir {

namespace {

// What all elements of a value are, which is a constant in some shape; null where they differ or are not known.
Attribute splatElement(Value value) {
  // Seeds of derivatives pass a few movements. Longer chains are not followed for each of their users.
  constexpr int most = 4;
  for (int i = 0; i < most; ++i)
    if (Operation *op = value.getDefiningOp();
        isa_and_nonnull<BroadcastToOp, BroadcastLikeOp, ReshapeOp, ReshapeLikeOp, ExpandDimsOp>(op))
      value = op->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return elements ? elements.getSplatValue<Attribute>() : Attribute();
}

bool isNeutral(Value value, const Algebra &algebra) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return splatElement(value) == elementAttr(*algebra.neutral, element);
}

// Unknown sizes are compared at the call, so an operand that has some is not dropped. Those that disagree are reported
// in the order of the operands, so these are not swapped.
bool hasKnownSizes(Value value) { return cast<RankedTensorType>(value.getType()).hasStaticShape(); }

// x of -x.
Value negated(Value value) {
  auto neg = value.getDefiningOp<NegOp>();
  return neg ? neg.getX() : Value();
}

// Whether two operands of a commutative operation stand so that equal operations look alike: arguments first, constants
// last. Results are put in order where equal operations are shared: patterns insert operations, after which MLIR counts
// a block's operations anew to tell which of two is first.
bool isInOrder(Value lhs, Value rhs) {
  auto a = dyn_cast<BlockArgument>(lhs), b = dyn_cast<BlockArgument>(rhs);
  if (a && b)
    return a.getArgNumber() <= b.getArgNumber();
  return a || !(b || (lhs.getDefiningOp<ConstantOp>() && !rhs.getDefiningOp<ConstantOp>()));
}

Value foldUnary(Operation *op, const Algebra &algebra) {
  Value x = op->getOperand(0);
  Operation *inner = x.getDefiningOp();
  if (inner && inner->getName() == op->getName()) {
    if (algebra.involution)
      return inner->getOperand(0);
    if (algebra.idempotent)
      return x;
  }
  if (Value of = negated(x); of && algebra.ignoresSign && !ElementType(x).isUnsigned()) { // whose -x is none
    op->setOperand(0, of);
    return op->getResult(0);
  }
  return {};
}

Value foldBinary(Operation *op, const Algebra &algebra) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  Type type = op->getResult(0).getType();
  bool isCommutative = op->hasTrait<OpTrait::IsCommutative>();
  if (algebra.idempotent && lhs == rhs)
    return lhs;
  if (algebra.neutral && lhs.getType() == type && hasKnownSizes(rhs) && isNeutral(rhs, algebra))
    return lhs;
  if (algebra.neutral && isCommutative && rhs.getType() == type && hasKnownSizes(lhs) && isNeutral(lhs, algebra))
    return rhs;
  if (!isCommutative || !hasKnownSizes(lhs) || !hasKnownSizes(rhs) || isInOrder(lhs, rhs))
    return {};
  op->setOperands({rhs, lhs});
  return op->getResult(0);
}

Value foldSelect(SelectOp select) {
  Value x = select.getX(), y = select.getY();
  Type type = select.getType();
  if (x == y && x.getType() == type && hasKnownSizes(select.getCondition()))
    return x;
  if (Attribute condition = splatElement(select.getCondition()); condition && hasKnownSizes(select.getCondition())) {
    bool holds = cast<BoolAttr>(condition).getValue();
    Value taken = holds ? x : y, other = holds ? y : x;
    if (taken.getType() == type && hasKnownSizes(other))
      return taken;
  }
  if (auto negation = select.getCondition().getDefiningOp<LogicalNotOp>()) {
    select->setOperands({negation.getX(), y, x});
    return select.getResult();
  }
  return {};
}

Value foldCast(CastOp op) {
  if (op.getX().getType() == op.getType())
    return op.getX();
  auto inner = op.getX().getDefiningOp<CastOp>();
  if (inner && inner.getX().getType() == op.getType() &&
      ElementType(op.getType()).isWithin(ElementType(inner.getType())))
    return inner.getX();
  return {};
}

// Moves signs towards sums, which take them in: -x * y becomes -(x * y), and z + -(x * y) becomes z - x * y.
struct PassSignOn : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    if (!op.algebra().passesSignOn || !isFloat(result))
      return failure();
    IRMapping withoutSign;
    bool isNegative = false, found = false;
    for (Value operand : op->getOperands())
      // The sign of fewer elements than the result has is not worth moving.
      if (Value of = negated(operand); of && operand.getType() == result.getType()) {
        withoutSign.map(operand, of);
        isNegative = !isNegative;
        found = true;
      }
    if (!found)
      return failure();
    Operation *bare = rewriter.clone(*op, withoutSign);
    if (isNegative)
      rewriter.replaceOpWithNewOp<NegOp>(op, bare->getResult(0));
    else
      rewriter.replaceOp(op, bare);
    return success();
  }
};

struct SubtractNegated : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    if (Value of = negated(op.getRhs()))
      rewriter.replaceOpWithNewOp<SubOp>(op, op.getLhs(), of);
    else if (Value of = negated(op.getLhs()); of && hasKnownSizes(of) && hasKnownSizes(op.getRhs()))
      rewriter.replaceOpWithNewOp<SubOp>(op, op.getRhs(), of);
    else
      return failure();
    return success();
  }
};

struct AddNegated : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubOp op, PatternRewriter &rewriter) const override {
    Value of = negated(op.getRhs());
    if (!of)
      return failure();
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getLhs(), of);
    return success();
  }
};

} // namespace

Value foldByAlgebra(ElementwiseOpInterface op) {
  if (auto select = dyn_cast<SelectOp>(*op))
    return foldSelect(select);
  if (auto conversion = dyn_cast<CastOp>(*op))
    return foldCast(conversion);
  return op->getNumOperands() == 1 ? foldUnary(op, op.algebra()) : foldBinary(op, op.algebra());
}

void CalqueDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<PassSignOn, SubtractNegated, AddNegated>(patterns.getContext());
  addPairsPatterns(patterns);
}

} // namespace calque::ir
