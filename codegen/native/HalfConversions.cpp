#include "codegen/native/HalfConversions.h"
#include "codegen/native/FunctionEmitter.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class HalfEmitter : public FunctionEmitter {
public:
  HalfEmitter(OpBuilder &builder, Location location, Type type, bool fma)
      : FunctionEmitter(builder, location, type, fma, /*roundsOnce=*/true) {}

  Value widen(Value x) {
    Type wide = like(elementOf(x).isF32() ? b.getF64Type() : b.getF32Type());
    return arith::ExtFOp::create(b, location, wide, x);
  }

  // A bfloat16 is the upper half of a float32.
  Value bfloat16ToFloat32(Value x) {
    Value bits = arith::BitcastOp::create(b, location, like(b.getI16Type()), x);
    Value wide = arith::ExtUIOp::create(b, location, like(b.getI32Type()), bits);
    return arith::BitcastOp::create(b, location, like(b.getF32Type()), shiftLeft(wide, 16));
  }

  // To the nearest, ties to even: adding just less than half of a unit carries into what is kept. NaN stays one.
  Value float32ToBFloat16(Value x) {
    Value bits = arith::BitcastOp::create(b, location, like(b.getI32Type()), x);
    Value last = mask(shiftRight(bits, 16), 1), most = integer(0x7fff, bits);
    Value rounded = shiftRight(addInts(addInts(bits, most), last), 16);
    Value quiet = emit<arith::OrIOp>(shiftRight(bits, 16), integer(0x40, bits));
    Value isNaN = arith::CmpFOp::create(b, location, arith::CmpFPredicate::UNO, x, x);
    Value kept =
        arith::TruncIOp::create(b, location, like(b.getI16Type()), FunctionEmitter::select(isNaN, quiet, rounded));
    return arith::BitcastOp::create(b, location, like(b.getBF16Type()), kept);
  }

  // Of the two float32 around a float64 that is neither, the one whose last bit is set. So it can be rounded once more,
  // to fewer bits, as if it was the float64.
  Value float64ToOdd(Value x) {
    Value nearest = arith::TruncFOp::create(b, location, like(b.getF32Type()), x), back = widen(nearest);
    Value bits = arith::BitcastOp::create(b, location, like(b.getI32Type()), nearest);
    Value isInexact = arith::CmpFOp::create(b, location, arith::CmpFPredicate::ONE, back, x);
    Value isEven = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, mask(bits, 1), integer(0, bits));
    Value isBeyond = arith::CmpFOp::create(b, location, arith::CmpFPredicate::OGT, absolute(back), absolute(x));
    Value one = integer(1, bits), other = FunctionEmitter::select(isBeyond, subInts(bits, one), addInts(bits, one));
    Value moves = emit<arith::AndIOp>(isInexact, isEven);
    return arith::BitcastOp::create(b, location, like(b.getF32Type()), FunctionEmitter::select(moves, other, bits));
  }

  // Exact, for integers that float64 has.
  Value fromInteger(Value x, bool hasNoSign) {
    Type wide = like(ir::ElementType(x).bits() <= 16 ? Type(b.getF32Type()) : Type(b.getF64Type()));
    return hasNoSign ? arith::UIToFPOp::create(b, location, wide, x).getResult()
                     : arith::SIToFPOp::create(b, location, wide, x).getResult();
  }

  // The bits of a constant.
  Value constant(arith::ConstantOp op) {
    Attribute bits;
    auto bitsOf = [](const APFloat &number) { return number.bitcastToAPInt(); };
    if (auto elements = dyn_cast<DenseFPElementsAttr>(op.getValue()))
      bits = elements.mapValues(b.getI16Type(), bitsOf);
    else
      bits = b.getIntegerAttr(b.getI16Type(), bitsOf(cast<FloatAttr>(op.getValue()).getValue()));
    Value integer = arith::ConstantOp::create(b, location, cast<TypedAttr>(bits));
    return arith::BitcastOp::create(b, location, op.getType(), integer);
  }

private:
  Value shiftRight(Value x, unsigned by) { return emit<arith::ShRUIOp>(x, integer(by, x)); }
};

} // namespace

Value emitHalfConversion(OpBuilder &builder, Operation *op, bool fma) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && getElementTypeOrSelf(constant.getType()).isBF16())
    return HalfEmitter(builder, op->getLoc(), constant.getType(), fma).constant(constant);
  // MLIR makes one conversion of two that follow each other, and compares with a constant what has not been widened.
  if (isa<arith::FPToSIOp, arith::FPToUIOp, arith::CmpFOp>(op) &&
      getElementTypeOrSelf(op->getOperand(0).getType()).isBF16()) {
    HalfEmitter emitter(builder, op->getLoc(), op->getOperand(0).getType(), fma);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(emitter.bfloat16ToFloat32(operand.get()));
    return {};
  }
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return {};
  Value x = op->getOperand(0);
  Type from = getElementTypeOrSelf(x.getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  HalfEmitter emitter(builder, op->getLoc(), op->getResult(0).getType(), fma);
  if (from.isBF16()) {
    Value wide = emitter.bfloat16ToFloat32(x);
    return to.isF64() ? emitter.widen(wide) : wide;
  }
  if (from.isF16() && to.isF64()) // the processor goes by way of float32, too
    return emitter.widen(emitter.widen(x));
  if (!ir::ElementType(to).isHalf() || (from.isF32() && to.isF16()))
    return {};
  if (isa<IntegerType>(from))
    x = emitter.fromInteger(x, isa<arith::UIToFPOp>(op));
  if (getElementTypeOrSelf(x.getType()).isF64())
    x = emitter.float64ToOdd(x);
  return to.isBF16() ? emitter.float32ToBFloat16(x)
                     : arith::TruncFOp::create(builder, op->getLoc(), op->getResult(0).getType(), x).getResult();
}

} // namespace calque::codegen
