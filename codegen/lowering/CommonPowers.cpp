#include "codegen/lowering/CommonPowers.h"

#include "ir/Opaque.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// The steps from the base to a power. Each power is within 2 ULP of the exact one, also where squares overflow or lose
// digits: it is infinite or zero then.
struct CommonPower {
  double exponent;
  bool isRoot, isInverse;
  int factors;
};
constexpr CommonPower kCommonPowers[] = {
    {1, false, false, 1}, {2, false, false, 2}, {3, false, false, 3},  {4, false, false, 4},
    {-1, false, true, 1}, {-2, false, true, 2}, {0.5, true, false, 1}, {-0.5, true, true, 1},
};

// Emits for scalars and vectors alike.
class PowerEmitter {
public:
  PowerEmitter(OpBuilder &builder, Location location, Type type) : builder(builder), location(location), type(type) {}

  Value constant(double value) {
    TypedAttr element = builder.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      element = DenseElementsAttr::get(vector, Attribute(element));
    return arith::ConstantOp::create(builder, location, element);
  }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, location, a, b); }
  Value inverse(Value x) { return arith::DivFOp::create(builder, location, constant(1), x); }
  Value equal(Value a, Value b) { return arith::CmpFOp::create(builder, location, arith::CmpFPredicate::OEQ, a, b); }
  Value either(Value a, Value b) { return arith::OrIOp::create(builder, location, a, b); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, location, condition, a, b);
  }
  // pow(-0, 0.5) is 0 and pow(-infinity, 0.5) infinity, unlike sqrt.
  Value root(Value x) {
    double infinity = std::numeric_limits<double>::infinity();
    Value sum = arith::AddFOp::create(builder, location, x, constant(0));
    return math::SqrtOp::create(builder, location, select(equal(x, constant(-infinity)), constant(infinity), sum));
  }
  // Elements for which the condition does not hold become 1, so that no step raises an exception for them. LLVM must
  // not see this select: under the same condition it would replace it, and fold steps of known exponents.
  Value operandWhere(Value condition, Value x) {
    return ir::makeOpaque(builder, location, select(condition, x, constant(1)));
  }
  Value power(const CommonPower &power, Value x) {
    if (power.isRoot)
      x = root(x);
    if (power.isInverse)
      x = inverse(x);
    if (power.factors == 1)
      return x;
    Value square = mul(x, x);
    return power.factors == 2 ? square : mul(square, power.factors == 3 ? x : square);
  }

private:
  OpBuilder &builder;
  Location location;
  Type type;
};

std::optional<double> constantElement(Value value) {
  if (Operation *op = value.getDefiningOp(); op && ir::isOpaque(op))
    value = op->getOperand(0);
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return std::nullopt;
  Attribute element = constant.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(element))
    element = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValueAsDouble();
  return std::nullopt;
}

} // namespace

void emitCommonPowers(math::PowFOp op) {
  OpBuilder builder(op);
  Location location = op.getLoc();
  PowerEmitter e(builder, location, op.getType());
  Value x = op.getLhs(), exponent = op.getRhs();
  if (std::optional<double> known = constantElement(exponent)) {
    const auto *power = llvm::find_if(kCommonPowers, [&](const CommonPower &each) { return each.exponent == *known; });
    if (power == std::end(kCommonPowers))
      return;
    op.replaceAllUsesWith(e.power(*power, x));
    op.erase();
    return;
  }

  Value isThis[std::size(kCommonPowers)];
  for (auto [power, is] : llvm::zip_equal(kCommonPowers, isThis))
    is = e.equal(exponent, e.constant(power.exponent));
  auto isAny = [&](auto predicate) {
    Value any;
    for (auto [power, is] : llvm::zip_equal(kCommonPowers, isThis))
      if (predicate(power))
        any = any ? e.either(any, is) : is;
    return any;
  };
  Value isCommon = isAny([](const CommonPower &) { return true; });
  // Of the elements with a common exponent. Each step is taken by those that need it.
  auto common = [&] {
    Value isRoot = isAny([](const CommonPower &power) { return power.isRoot; });
    Value rooted = e.select(isRoot, e.root(e.operandWhere(isRoot, x)), x);
    Value isInverse = isAny([](const CommonPower &power) { return power.isInverse; });
    Value inverted = e.select(isInverse, e.inverse(e.operandWhere(isInverse, rooted)), rooted);
    Value isProduct = isAny([](const CommonPower &power) { return power.factors > 1; });
    Value factor = e.operandWhere(isProduct, inverted), square = e.mul(factor, factor);
    Value isCube = isAny([](const CommonPower &power) { return power.factors == 3; });
    Value isFourth = isAny([](const CommonPower &power) { return power.factors == 4; });
    Value rest = e.select(isCube, factor, e.select(isFourth, square, e.constant(1)));
    return e.select(isProduct, e.mul(square, rest), inverted);
  };

  Value areAllCommon = isCommon;
  auto vector = dyn_cast<VectorType>(op.getType());
  if (vector && vector.getRank() == 1)
    areAllCommon = vector::ReductionOp::create(builder, location, vector::CombiningKind::AND, isCommon);
  else if (vector)
    areAllCommon = arith::ConstantIntOp::create(builder, location, 0, 1);
  auto branch = scf::IfOp::create(builder, location, op.getType(), areAllCommon, /*withElseRegion=*/true);
  op.replaceAllUsesWith(branch.getResult(0));
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, location, common());
  builder.setInsertionPointToStart(branch.elseBlock());
  op->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
  Value power = op.getResult();
  if (vector) {
    builder.setInsertionPoint(op);
    op.getLhsMutable().assign(ir::makeOpaque(builder, location, e.select(isCommon, e.constant(1), x)));
  }
  builder.setInsertionPointToEnd(branch.elseBlock());
  if (vector)
    power = e.select(isCommon, common(), power);
  scf::YieldOp::create(builder, location, power);
}

} // namespace calque::codegen
