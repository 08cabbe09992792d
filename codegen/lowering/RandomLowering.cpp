// Random numbers by a counter.
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/RandomNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <array>

using namespace mlir;

namespace calque::codegen {

//===-- Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011) --===//

namespace {
struct Philox {
  OpBuilder &builder;
  Location location;
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(i32, APInt(32, value)));
  }
  Value low(Value wide) { return arith::TruncIOp::create(builder, location, i32, wide); }
  Value high(Value wide) {
    Value shift = arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(32));
    return low(arith::ShRUIOp::create(builder, location, wide, shift));
  }
  Value product(Value x, uint32_t factor) {
    Value wide = arith::ExtUIOp::create(builder, location, i64, x);
    Value by = arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(factor));
    return arith::MulIOp::create(builder, location, wide, by);
  }
  Value exclusiveOr(Value a, Value b) { return arith::XOrIOp::create(builder, location, a, b); }

  // The four words for a key and a counter, both 64 bits; the counter's upper half is zero.
  std::array<Value, 4> operator()(Value key, Value counter) {
    std::array<Value, 4> c = {low(counter), high(counter), constant(0), constant(0)};
    Value k0 = low(key), k1 = high(key);
    for (int round = 0; round < 10; ++round) {
      Value p0 = product(c[0], 0xD2511F53), p1 = product(c[2], 0xCD9E8D57);
      c = {exclusiveOr(exclusiveOr(high(p1), c[1]), k0), low(p1), exclusiveOr(exclusiveOr(high(p0), c[3]), k1),
           low(p0)};
      k0 = arith::AddIOp::create(builder, location, k0, constant(0x9E3779B9));
      k1 = arith::AddIOp::create(builder, location, k1, constant(0xBB67AE85));
    }
    return c;
  }
};
} // namespace

Value uniformNumber(ir::ScalarBuilder &s, Value key, Value base, Value place, Type element) {
  OpBuilder &builder = s.builder;
  Location location = s.location;
  Type i64 = builder.getI64Type();
  const bool isDouble = element.isF64();
  auto wide = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  };
  const int64_t perBlock = isDouble ? 2 : 4;
  Value block = arith::DivUIOp::create(builder, location, place, wide(perBlock));
  Value lane = arith::RemUIOp::create(builder, location, place, wide(perBlock));
  std::array<Value, 4> words = Philox{builder, location}(key, s.add(base, block));
  auto pick = [&](ArrayRef<Value> choices) {
    Value result = choices[0];
    for (size_t i = 1; i < choices.size(); ++i)
      result = s.select(s.equal(lane, wide(i)), choices[i], result);
    return result;
  };
  auto shifted = [&](Value value, int64_t by) -> Value {
    Value amount = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(value.getType(), by));
    return arith::ShRUIOp::create(builder, location, value, amount);
  };
  if (!isDouble) {
    Value bits = shifted(pick({words[0], words[1], words[2], words[3]}), 8);
    Value number = arith::UIToFPOp::create(builder, location, element, bits);
    return s.mul(number, s.constant(0x1p-24, number));
  }
  Value lower = arith::ExtUIOp::create(builder, location, i64, pick({words[0], words[2]}));
  Value upper = arith::ExtUIOp::create(builder, location, i64, pick({words[1], words[3]}));
  Value bits =
      arith::OrIOp::create(builder, location, arith::ShLIOp::create(builder, location, upper, wide(32)), lower);
  Value number = arith::UIToFPOp::create(builder, location, element, shifted(bits, 11));
  return s.mul(number, s.constant(0x1p-53, number));
}

static Value uniform(LinalgBuilder &b, Value state, ArrayRef<Size> shape, Type element) {
  auto stateAt = [&](int64_t i) -> Value {
    return tensor::ExtractOp::create(b.builder, b.location, state, ValueRange{b.index(i)});
  };
  Value key = stateAt(0), base = stateAt(1);
  // Those that the loops don't know.
  SmallVector<Value> given;
  for (Size size : shape)
    given.push_back(constantOf(size) ? Value() : b.valueOf(size));
  return b.parallel(shape, element, {}, {}, [&](ir::ScalarBuilder &s, ValueRange) -> Value {
    OpBuilder &inner = s.builder;
    Location location = s.location;
    Type i64 = inner.getI64Type();
    auto wide = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(inner, location, inner.getI64IntegerAttr(value));
    };
    Value linear = wide(0);
    for (auto [i, size] : llvm::enumerate(shape)) {
      Value index = arith::IndexCastOp::create(inner, location, i64, linalg::IndexOp::create(inner, location, i));
      Value extent =
          given[i] ? arith::IndexCastOp::create(inner, location, i64, given[i]).getResult() : wide(*constantOf(size));
      linear = s.add(s.mul(linear, extent), index);
    }
    return uniformNumber(s, key, base, linear, element);
  });
}

Lowered lower(LinalgBuilder &b, ir::RandomUniformOp op, LoweringContext &context) {
  if (llvm::any_of(op.getShape(), isUnknown))
    return context.refuse(op, "has a size that nothing gives");
  RankedTensorType type = LinalgBuilder::typeOf(op.getResult());
  return uniform(b, op.getState(), b.sizes.constants(type.getShape()), type.getElementType());
}

Lowered lower(LinalgBuilder &b, ir::RandomUniformOpenOp op, LoweringContext &) {
  return uniform(b, op.getState(), openSizes(b, op, op.getShape(), op.getSizes()),
                 LinalgBuilder::typeOf(op.getResult()).getElementType());
}

} // namespace calque::codegen
