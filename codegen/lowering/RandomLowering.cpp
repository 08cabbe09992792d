// Random numbers by a counter.
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/RandomNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <array>

using namespace mlir;

namespace calque::codegen {

//===-- Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011) --===//

namespace {
// Words of 32 bits are the lower halves of numbers of 64. What is in the upper halves does not matter: so no word is
// widened or truncated on the way, and a product of two words is one instruction on vectors.
struct Philox {
  ir::ScalarBuilder &s;
  Type i64 = s.builder.getI64Type();

  Value constant(uint64_t value) {
    return arith::ConstantOp::create(s.builder, s.location, s.builder.getIntegerAttr(i64, APInt(64, value)));
  }
  Value low(Value word) { return arith::AndIOp::create(s.builder, s.location, word, constant(0xffffffff)); }
  Value high(Value wide) { return arith::ShRUIOp::create(s.builder, s.location, wide, constant(32)); }
  Value product(Value word, uint64_t factor) {
    Value lower = low(word), by = constant(factor);
    return s.mul(lower, by);
  }
  Value exclusiveOr(Value a, Value b, Value c) {
    Value both = arith::XOrIOp::create(s.builder, s.location, a, b);
    return arith::XOrIOp::create(s.builder, s.location, both, c);
  }

  // The four words for a key and a counter, both 64 bits; the counter's upper half is zero.
  std::array<Value, 4> operator()(Value key, Value counter) {
    std::array<Value, 4> c = {counter, high(counter), constant(0), constant(0)};
    Value k0 = key, k1 = high(key);
    for (int round = 0; round < 10; ++round) {
      Value p0 = product(c[0], 0xD2511F53), p1 = product(c[2], 0xCD9E8D57);
      Value first = exclusiveOr(high(p1), c[1], k0), third = exclusiveOr(high(p0), c[3], k1);
      c = {first, p1, third, p0};
      k0 = s.add(k0, constant(0x9E3779B9));
      k1 = s.add(k1, constant(0xBB67AE85));
    }
    return c;
  }
};
} // namespace

Value uniformNumber(ir::ScalarBuilder &s, Value key, Value base, Value place, Type element) {
  OpBuilder &builder = s.builder;
  Location location = s.location;
  const bool isDouble = element.isF64();
  Philox philox{s};
  const int64_t perBlock = isDouble ? 2 : 4;
  Value block = arith::DivUIOp::create(builder, location, place, philox.constant(perBlock));
  Value lane = arith::RemUIOp::create(builder, location, place, philox.constant(perBlock));
  std::array<Value, 4> words = philox(key, s.add(base, block));
  auto pick = [&](ArrayRef<Value> choices) {
    Value result = choices[0];
    for (size_t i = 1; i < choices.size(); ++i)
      result = s.select(s.equal(lane, philox.constant(i)), choices[i], result);
    return result;
  };
  auto shifted = [&](Value value, int64_t by) -> Value {
    Value amount = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(value.getType(), by));
    return arith::ShRUIOp::create(builder, location, value, amount);
  };
  if (!isDouble) {
    SmallVector<Value, 4> narrow;
    for (Value word : words)
      narrow.push_back(arith::TruncIOp::create(builder, location, builder.getI32Type(), word));
    Value number = arith::UIToFPOp::create(builder, location, element, shifted(pick(narrow), 8));
    return s.mul(number, s.constant(0x1p-24, number));
  }
  auto both = [&](Value lower, Value upper) -> Value {
    Value above = arith::ShLIOp::create(builder, location, upper, philox.constant(32));
    return shifted(arith::OrIOp::create(builder, location, above, philox.low(lower)), 11);
  };
  Value first = both(words[0], words[1]), second = both(words[2], words[3]);
  Value number = arith::UIToFPOp::create(builder, location, element, pick({first, second}));
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
