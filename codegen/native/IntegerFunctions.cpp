#include "codegen/native/IntegerFunctions.h"

#include "codegen/native/Target.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/Dialect.h"

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
    auto vector = dyn_cast<VectorType>(shape);
    StringRef instruction =
        vector && vector.getRank() == 1 ? instructionFor(vector.getNumElements() * 4, target) : StringRef();
    if (!instruction.empty()) {
      auto pairs = VectorType::get({2 * vector.getNumElements()}, b.getI16Type());
      auto asPairs = [&](Value words) { return vector::BitCastOp::create(b, location, pairs, words).getResult(); };
      return LLVM::CallIntrinsicOp::create(b, location, shape, b.getStringAttr(instruction),
                                           ValueRange{asPairs(x), asPairs(y)})
          .getResult(0);
    }
    auto upper = [&](Value word) { return emit<arith::ShRSIOp>(word, constant(16)); };
    auto lower = [&](Value word) { return upper(emit<arith::ShLIOp>(word, constant(16))); };
    return emit<arith::AddIOp>(emit<arith::MulIOp>(lower(x), lower(y)), emit<arith::MulIOp>(upper(x), upper(y)));
  }

private:
  static StringRef instructionFor(int64_t bytes, const Target &target) {
    if (runtime::infoOf(target.cpu).set != runtime::InstructionSet::X86_64 || bytes > target.vectorBytes)
      return {};
    return bytes == 64   ? "llvm.x86.avx512.pmaddw.d.512"
           : bytes == 32 ? "llvm.x86.avx2.pmadd.wd"
           : bytes == 16 ? "llvm.x86.sse2.pmadd.wd"
                         : "";
  }
  template <typename Op> Value emit(Value x, Value y) { return Op::create(b, location, x, y); }
  Value constant(int64_t value) {
    TypedAttr element = b.getIntegerAttr(getElementTypeOrSelf(shape), value);
    if (auto vector = dyn_cast<VectorType>(shape))
      return arith::ConstantOp::create(b, location, DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(b, location, element);
  }
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

Value emitIntegerFunction(OpBuilder &builder, Operation *op, bool) {
  auto function = dyn_cast<ir::ScalarFunctionOp>(op);
  if (!function || !isa<IntegerType>(getElementTypeOrSelf(function.getType())))
    return {};
  IntegerEmitter emitter(builder, op->getLoc(), function.getType());
  if (isDotOfWords(*op))
    return emitter.dotOfPairs(op->getOperand(0), op->getOperand(1), Target::of(op));
  return function.getName() == "gcd" ? emitter.gcd(op->getOperand(0), op->getOperand(1)) : Value();
}

} // namespace calque::codegen
