#include "codegen/lowering/Divisions.h"
#include "codegen/lowering/Constants.h"
#include "codegen/native/FunctionEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class DivisionEmitter : FunctionEmitter {
public:
  DivisionEmitter(OpBuilder &builder, Location location, Type type, bool fma)
      : FunctionEmitter(builder, location, type, fma, /*roundsOnce=*/!getElementTypeOrSelf(type).isF32()) {}

  Value remainder(arith::RemFOp op);
  Value ofInts(Operation *op);
  Value ofLongs(Operation *op);

private:
  // Of magnitudes with a quotient below 2^52.
  struct Division {
    Value quotient, rest;
  };
  Division divide(Value x, Value y, Value ratio);
  // `result`, or the operation itself, element by element, where the condition holds for any element.
  Value unlessAny(Value isOutside, Operation *op, llvm::function_ref<Value(DivisionEmitter &)> result);
  Value absoluteOf(Value x) { return select(isNegative(x), subInts(integer(0, x), x), x); }
  Value isNegative(Value x) { return arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, x, integer(0, x)); }
  // Numbers of 52 bits as floats and back.
  static constexpr uint64_t kBits = 0x4330000000000000; // of 2^52
  Value asFloat(Value x) { return sub(asNumber(emit<arith::OrIOp>(x, integer(kBits, x))), 0x1p52); }
  Value asInteger(Value x) {
    Value bits = asBits(add(x, 0x1p52));
    return subInts(bits, integer(kBits, bits));
  }
};

// The ratio is rounded, and the whole number below it may be off by one. The rest has no more digits than y, so that a
// product and sum which is rounded once is exact; of widened float32 the product is exact, too.
DivisionEmitter::Division DivisionEmitter::divide(Value x, Value y, Value ratio) {
  Value nearest = sub(add(ratio, 0x1p52), 0x1p52);
  Value isAbove = arith::CmpFOp::create(b, location, arith::CmpFPredicate::OGT, nearest, ratio);
  Value whole = select(isAbove, sub(nearest, 1), nearest), rest = mulAdd(neg(whole), y, x);
  Value tooMany = isLess(rest, 0);
  whole = select(tooMany, sub(whole, 1), whole);
  rest = select(tooMany, add(rest, y), rest);
  Value tooFew = arith::CmpFOp::create(b, location, arith::CmpFPredicate::OGE, rest, y);
  return {select(tooFew, add(whole, 1), whole), select(tooFew, sub(rest, y), rest)};
}

Value DivisionEmitter::unlessAny(Value isOutside, Operation *op, llvm::function_ref<Value(DivisionEmitter &)> result) {
  auto either = scf::IfOp::create(
      b, location, any(isOutside),
      [&](OpBuilder &builder, Location) { scf::YieldOp::create(builder, location, builder.clone(*op)->getResult(0)); },
      [&](OpBuilder &builder, Location) {
        DivisionEmitter inside(builder, location, shape, fma);
        scf::YieldOp::create(builder, location, result(inside));
      });
  return either.getResult(0);
}

// With the sign of x. Float32 is widened. What is large, infinite or NaN, and a divisor of 0, are the C library's.
Value DivisionEmitter::remainder(arith::RemFOp op) {
  Type narrow = op.getType();
  bool isNarrow = getElementTypeOrSelf(narrow).isF32();
  auto magnitude = [&](Value value) {
    value = absolute(value);
    return isNarrow ? arith::ExtFOp::create(b, location, like(b.getF64Type()), value).getResult() : value;
  };
  Value x = magnitude(op.getLhs()), y = magnitude(op.getRhs()), ratio = div(x, y);
  Value isInside = emit<arith::AndIOp>(isLess(ratio, isNarrow ? 0x1p29 : 0x1p52), isLess(y, kInfinity));
  Value isOutside = emit<arith::XOrIOp>(isInside, splat(isInside.getType(), b.getBoolAttr(true)));
  return unlessAny(isOutside, op, [&](DivisionEmitter &e) {
    Value rest = e.divide(x, y, ratio).rest;
    if (isNarrow)
      rest = arith::TruncFOp::create(e.b, location, narrow, rest);
    return e.withSignOf(rest, op.getLhs());
  });
}

// A quotient of 32 bits differs from a whole number by more than a float64 is rounded, one of 16 bits by more than a
// float32.
Value DivisionEmitter::ofInts(Operation *op) {
  const bool hasNoSign = isa<arith::DivUIOp, arith::RemUIOp>(op);
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type wide = like(ir::ElementType(x).bits() <= 16 ? Type(b.getF32Type()) : Type(b.getF64Type()));
  auto widened = [&](Value value) {
    return hasNoSign ? arith::UIToFPOp::create(b, location, wide, value).getResult()
                     : arith::SIToFPOp::create(b, location, wide, value).getResult();
  };
  Value ratio = div(widened(x), widened(y));
  Value quotient = hasNoSign ? arith::FPToUIOp::create(b, location, x.getType(), ratio).getResult()
                             : arith::FPToSIOp::create(b, location, x.getType(), ratio).getResult();
  return isa<arith::DivSIOp, arith::DivUIOp>(op) ? quotient : subInts(x, emit<arith::MulIOp>(quotient, y));
}

// Through float64 where all have fewer than 52 bits.
Value DivisionEmitter::ofLongs(Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1), ofX = absoluteOf(x), ofY = absoluteOf(y);
  Value all = emit<arith::OrIOp>(ofX, ofY);
  Value isOutside = arith::CmpIOp::create(b, location, arith::CmpIPredicate::uge, all, integer(uint64_t(1) << 51, all));
  return unlessAny(isOutside, op, [&](DivisionEmitter &e) {
    Value floatX = e.asFloat(ofX), floatY = e.asFloat(ofY);
    Division division = e.divide(floatX, floatY, e.div(floatX, floatY));
    bool isQuotient = isa<arith::DivSIOp>(op);
    Value result = e.asInteger(isQuotient ? division.quotient : division.rest);
    Value sign = isQuotient ? e.emit<arith::XOrIOp>(x, y) : x;
    return e.select(e.isNegative(sign), e.subInts(e.integer(0, result), result), result);
  });
}

} // namespace

Value emitDivision(OpBuilder &builder, Operation *op, bool fma) {
  if (!isa<arith::RemFOp, arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op))
    return {};
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  DivisionEmitter emitter(builder, op->getLoc(), type, fma);
  if (auto remainder = dyn_cast<arith::RemFOp>(op))
    return element.isF32() || element.isF64() ? emitter.remainder(remainder) : Value();
  // Of scalars the processor has instructions; constants become products.
  if (!isa<VectorType>(type) || isConstant(op->getOperand(1)))
    return {};
  if (ir::ElementType(element).bits() <= 32)
    return emitter.ofInts(op);
  return isa<arith::DivSIOp, arith::RemSIOp>(op) ? emitter.ofLongs(op) : Value();
}

} // namespace calque::codegen
