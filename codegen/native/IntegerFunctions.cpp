#include "codegen/native/IntegerFunctions.h"

#include "codegen/native/Target.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/Dialect.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

namespace {

class IntegerEmitter {
public:
  IntegerEmitter(OpBuilder &builder, Location location, Type shape) : b(builder), location(location), shape(shape) {}

  // Stein's: of two odd numbers the smaller one and their difference, which is even, have the same divisors. No
  // division takes place, and each step takes a bit from one of them. Numbers are taken as unsigned, so that the
  // magnitude of the smallest integer is one.
  Value gcd(Value x, Value y) {
    Value zero = constant(0), isXZero = isEqual(x, zero), isYZero = isEqual(y, zero);
    Value commonShift = trailingZeros(emit<arith::OrIOp>(x, y));
    // 0 has no trailing bit; it takes the place of the other number, whose divisors all divide 0.
    Value first = select(isXZero, y, x), second = select(isYZero, x, y);
    first = odd(first);
    auto loop = scf::WhileOp::create(
        b, location, TypeRange{shape, shape}, ValueRange{first, second},
        [&](OpBuilder &builder, Location, ValueRange state) {
          IntegerEmitter inside(builder, location, shape);
          Value isLeft =
              arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, state[1], inside.constant(0));
          scf::ConditionOp::create(builder, location, inside.any(isLeft), state);
        },
        [&](OpBuilder &builder, Location, ValueRange state) {
          IntegerEmitter inside(builder, location, shape);
          Value isDone = inside.isEqual(state[1], inside.constant(0));
          Value other = inside.select(isDone, state[0], inside.odd(state[1]));
          Value smaller = inside.emit<arith::MinUIOp>(state[0], other);
          Value larger = inside.emit<arith::MaxUIOp>(state[0], other);
          scf::YieldOp::create(builder, location, ValueRange{smaller, inside.emit<arith::SubIOp>(larger, smaller)});
        });
    // Of two zeros the shift is by the number of bits, which is none.
    Value areZeros = emit<arith::AndIOp>(isXZero, isYZero);
    Value result = emit<arith::ShLIOp>(loop.getResult(0), select(areZeros, zero, commonShift));
    return select(areZeros, zero, result);
  }

  // x86-64 has an instruction for whole registers. Its sum of two products wraps: it differs from the exact one only if
  // all four numbers are the smallest, where both have the same 32 bits.
  Value dotOfPairs(Value x, Value y, const Target &target) {
    if (StringRef instruction = ofPairs(target); !instruction.empty())
      return call(instruction, {as(b.getI16Type(), x), as(b.getI16Type(), y)});
    auto upper = [&](Value word) { return emit<arith::ShRSIOp>(word, constant(16)); };
    auto lower = [&](Value word) { return upper(emit<arith::ShLIOp>(word, constant(16))); };
    Value lowerX = lower(x), lowerY = lower(y), upperX = upper(x), upperY = upper(y);
    Value ofLower = emit<arith::MulIOp>(lowerX, lowerY), ofUpper = emit<arith::MulIOp>(upperX, upperY);
    return emit<arith::AddIOp>(ofLower, ofUpper);
  }

  // Adds the four products to `sum`. The instruction does not saturate.
  Value dotOfBytes(Value sum, Value x, Value y, const Target &target) {
    if (target.dotsOfBytes && bytes() == target.vectorBytes)
      return call("llvm.x86.avx512.vpdpbusd.512", {sum, as(b.getI8Type(), x), as(b.getI8Type(), y)});
    // Those at even places and those at odd ones, as pairs.
    Value even = emit<arith::AndIOp>(x, constant(0x00ff00ff)),
          odd = emit<arith::AndIOp>(emit<arith::ShRUIOp>(x, constant(8)), constant(0x00ff00ff));
    Value ofEven = dotOfPairs(even, upperBytes(emit<arith::ShLIOp>(y, constant(8))), target),
          ofOdd = dotOfPairs(odd, upperBytes(y), target);
    Value all = emit<arith::AddIOp>(ofEven, ofOdd);
    return emit<arith::AddIOp>(sum, all);
  }

  Value constant(int64_t value) {
    TypedAttr element = b.getIntegerAttr(getElementTypeOrSelf(shape), value);
    if (auto vector = dyn_cast<VectorType>(shape))
      return arith::ConstantOp::create(b, location, DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(b, location, element);
  }

private:
  // The bytes of a vector of words; 0 for a single word.
  int64_t bytes() const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector && vector.getRank() == 1 ? 4 * vector.getNumElements() : 0;
  }
  StringRef ofPairs(const Target &target) const {
    if (runtime::infoOf(target.cpu).set != runtime::InstructionSet::X86_64 || bytes() > target.vectorBytes)
      return {};
    return bytes() == 64   ? "llvm.x86.avx512.pmaddw.d.512"
           : bytes() == 32 ? "llvm.x86.avx2.pmadd.wd"
           : bytes() == 16 ? "llvm.x86.sse2.pmadd.wd"
                           : "";
  }
  // A vector of words as a vector of their parts.
  Value as(Type element, Value words) {
    auto parts = VectorType::get({8 * bytes() / static_cast<int64_t>(ir::ElementType(element).bits())}, element);
    return vector::BitCastOp::create(b, location, parts, words);
  }
  Value call(StringRef instruction, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, location, shape, b.getStringAttr(instruction), operands).getResult(0);
  }
  // The upper byte of each half of a word, with its sign, as a pair.
  Value upperBytes(Value x) {
    if (bytes()) {
      Value halves = as(b.getI16Type(), x);
      TypedAttr eight = DenseElementsAttr::get(cast<ShapedType>(halves.getType()), b.getI16IntegerAttr(8));
      halves = arith::ShRSIOp::create(b, location, halves, arith::ConstantOp::create(b, location, eight));
      return vector::BitCastOp::create(b, location, shape, halves);
    }
    Value lower = emit<arith::ShRSIOp>(emit<arith::ShLIOp>(x, constant(16)), constant(24)),
          upper = emit<arith::ShRSIOp>(x, constant(24));
    lower = emit<arith::AndIOp>(lower, constant(0xffff));
    upper = emit<arith::ShLIOp>(upper, constant(16));
    return emit<arith::OrIOp>(lower, upper);
  }
  template <typename Op> Value emit(Value x, Value y) { return Op::create(b, location, x, y); }
  Value isEqual(Value x, Value y) { return arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, x, y); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, location, condition, x, y); }
  Value trailingZeros(Value x) { return math::CountTrailingZerosOp::create(b, location, x); }
  // A number without its trailing zeros; 0 stays.
  Value odd(Value x) {
    Value zero = constant(0), count = select(isEqual(x, zero), zero, trailingZeros(x));
    return emit<arith::ShRUIOp>(x, count);
  }
  Value any(Value condition) {
    auto vector = dyn_cast<VectorType>(condition.getType());
    if (!vector)
      return condition;
    if (vector.getRank() != 1)
      condition = vector::ShapeCastOp::create(b, location, VectorType::get({vector.getNumElements()}, b.getI1Type()),
                                              condition);
    return vector::ReductionOp::create(b, location, vector::CombiningKind::OR, condition);
  }

  OpBuilder &b;
  Location location;
  Type shape;
};

} // namespace

// The instruction adds to a sum, so that it takes the place of the addition that follows, too.
static Value emitDotOfBytes(OpBuilder &builder, Operation *op) {
  IntegerEmitter emitter(builder, op->getLoc(), op->getResult(0).getType());
  const Target &target = Target::of(op);
  Value x = op->getOperand(0), y = op->getOperand(1), product = op->getResult(0);
  auto add = product.hasOneUse() ? dyn_cast<arith::AddIOp>(*product.user_begin()) : arith::AddIOp();
  if (!add || add->getBlock() != op->getBlock())
    return emitter.dotOfBytes(emitter.constant(0), x, y, target);
  builder.setInsertionPoint(add);
  Value sum = emitter.dotOfBytes(add.getLhs() == product ? add.getRhs() : add.getLhs(), x, y, target);
  add.replaceAllUsesWith(sum);
  add.erase();
  return x; // nothing uses it
}

Value emitIntegerFunction(OpBuilder &builder, Operation *op, bool) {
  auto function = dyn_cast<ir::ScalarFunctionOp>(op);
  if (!function || !isa<IntegerType>(getElementTypeOrSelf(function.getType())))
    return {};
  IntegerEmitter emitter(builder, op->getLoc(), function.getType());
  const StringRef dot = dotOfWords(*op);
  if (dot == kDotOfPairs)
    return emitter.dotOfPairs(op->getOperand(0), op->getOperand(1), Target::of(op));
  if (dot == kDotOfBytes)
    return emitDotOfBytes(builder, op);
  return function.getName() == "gcd" ? emitter.gcd(op->getOperand(0), op->getOperand(1)) : Value();
}

} // namespace calque::codegen
