#include "codegen/lowering/Lowering.h"
#include "ir/Pairs.h"
#include "ir/Signs.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

// Emits a call of a kernel of the runtime, whose words are the operands: a step of the plan. Tensors are passed flat,
// because with several dimensions bufferization would take a slice of unknown sizes, whose strides might be those of a
// whole buffer, for one.
static void callRuntime(LinalgBuilder &b, StringRef name, ArrayRef<Value> operands, LoweringContext &context) {
  func::CallOp::create(b.builder, b.location, context.runtimeKernel(name, ValueRange(operands).getTypes()), operands);
}

static Value word(LinalgBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b.builder, b.location, b.builder.getI64IntegerAttr(value));
}

// A program may have thousands of assertions, so each is one operation.
Lowered lower(LinalgBuilder &b, ir::AssertOp op, LoweringContext &context) {
  const auto kind = op->hasAttr(kChecksNumerics) ? Site::Kind::NotFinite : Site::Kind::AssertionFailed;
  int32_t site = context.addSite(kind, op, op.getMessage());
  Value condition = op.getCondition();
  const int64_t rank = LinalgBuilder::rankOf(condition);
  if (rank == 0 && op.getValues().empty()) {
    callRuntime(b, "calque_rt_assert", {context.frame, word(b, site), word(b, 1), condition}, context);
    return Lowered::toNothing();
  }
  const auto numValues = static_cast<int64_t>(op.getValues().size());
  SmallVector<Value> operands{context.frame, word(b, site), word(b, rank), word(b, numValues)};
  auto add = [&](Value value) {
    operands.push_back(rank == 0 ? value : b.flatten(value));
    for (Size size : b.sizesOf(value))
      operands.push_back(b.valueOf(size));
  };
  add(condition);
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    operands.push_back(word(b, static_cast<int64_t>(ir::dtypeOfOperand(op, 1 + i))));
    add(value);
  }
  callRuntime(b, "calque_rt_assert_elements", operands, context);
  return Lowered::toNothing();
}

Lowered lower(LinalgBuilder &b, ir::PrintOp op, LoweringContext &context) {
  int32_t site = context.addSite(Site::Kind::Print, op, op.getLabel());
  auto print = [&](int64_t dtype, int64_t rank, Value elements, ArrayRef<Size> sizes) {
    SmallVector<Value> operands{context.frame, word(b, site), word(b, dtype), word(b, rank), elements};
    for (Size size : sizes)
      operands.push_back(b.valueOf(size));
    callRuntime(b, "calque_rt_print", operands, context);
  };
  if (op.getValues().empty())
    print(-1, 0, word(b, 0), {});
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    const schema::TensorType type = ir::recordedOperand(op, i);
    SizeList sizes = b.sizesOf(value);
    sizes.truncate(static_cast<size_t>(type.rank()));
    print(static_cast<int64_t>(type.dtype), type.rank(), b.flatten(value), sizes);
  }
  return Lowered::toNothing();
}

static Lowered callHost(LinalgBuilder &b, Operation *op, int32_t site, LoweringContext &context) {
  for (Value result : op->getResults())
    if (!cast<RankedTensorType>(result.getType()).hasStaticShape())
      return context.refuse(op, "has a size that nothing gives");
  OpBuilder &builder = b.builder;
  Location location = b.location;
  SmallVector<Value> operands{context.frame, word(b, site), word(b, op->getNumOperands() + op->getNumResults())};
  for (Value operand : op->getOperands())
    operands.push_back(b.flatten(operand));
  SmallVector<Value> outputs;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    outputs.push_back(
        memref::AllocOp::create(builder, location, MemRefType::get(type.getShape(), type.getElementType())));
  }
  llvm::append_range(operands, outputs);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    SizeList sizes = b.sizesOf(operand);
    sizes.truncate(static_cast<size_t>(ir::recordedOperand(op, i).rank()));
    for (Size size : sizes)
      operands.push_back(b.valueOf(size));
  }
  callRuntime(b, "calque_rt_host_call", operands, context);

  SmallVector<Value> results;
  for (auto [buffer, result] : llvm::zip_equal(outputs, op->getResults()))
    results.push_back(bufferization::ToTensorOp::create(builder, location, result.getType(), buffer, /*restrict=*/true,
                                                        /*writable=*/true));
  return results;
}

Lowered lower(LinalgBuilder &b, ir::HostCallOp op, LoweringContext &context) {
  int32_t site = context.addSite(Site::Kind::HostCall, op);
  context.sites.back().callee = op.getCallee();
  return callHost(b, op, site, context);
}

// All that is called stays in order. What is pure has been moved, merged and removed before.
template <typename Op> static Lowered callExtern(LinalgBuilder &b, Op op, LoweringContext &context) {
  int32_t site = context.addSite(Site::Kind::Extern, op, op.getSymbol());
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    context.sites.back().types.push_back(ir::recordedOperand(op, i));
  for (unsigned i = 0; i < op.getOutputs().size(); ++i)
    context.sites.back().types.push_back(ir::recordedResult(op, i));
  context.sites.back().numInputs = op.getInputs().size();
  return callHost(b, op, site, context);
}

Lowered lower(LinalgBuilder &b, ir::ExternOp op, LoweringContext &context) { return callExtern(b, op, context); }
Lowered lower(LinalgBuilder &b, ir::OrderedExternOp op, LoweringContext &context) { return callExtern(b, op, context); }

Lowered lower(LinalgBuilder &, ir::StopGradientOp op, LoweringContext &) { return op.getX(); }

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

// A float32 takes the upper 24 bits of one word, a float64 the upper 53 bits of two.
static Value uniform(LinalgBuilder &b, Value state, ArrayRef<Size> shape, Type element) {
  bool isDouble = element.isF64();
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
    int64_t perBlock = isDouble ? 2 : 4;
    Value block = arith::DivUIOp::create(inner, location, linear, wide(perBlock));
    Value lane = arith::RemUIOp::create(inner, location, linear, wide(perBlock));
    std::array<Value, 4> words = Philox{inner, location}(key, s.add(base, block));
    auto pick = [&](ArrayRef<Value> choices) {
      Value result = choices[0];
      for (size_t i = 1; i < choices.size(); ++i)
        result = s.select(s.equal(lane, wide(i)), choices[i], result);
      return result;
    };
    auto shifted = [&](Value value, int64_t by) -> Value {
      Value amount = arith::ConstantOp::create(inner, location, inner.getIntegerAttr(value.getType(), by));
      return arith::ShRUIOp::create(inner, location, value, amount);
    };
    if (!isDouble) {
      Value bits = shifted(pick({words[0], words[1], words[2], words[3]}), 8);
      Value number = arith::UIToFPOp::create(inner, location, element, bits);
      return s.mul(number, s.constant(0x1p-24, number));
    }
    Value lower = arith::ExtUIOp::create(inner, location, i64, pick({words[0], words[2]}));
    Value upper = arith::ExtUIOp::create(inner, location, i64, pick({words[1], words[3]}));
    Value bits = arith::OrIOp::create(inner, location, arith::ShLIOp::create(inner, location, upper, wide(32)), lower);
    Value number = arith::UIToFPOp::create(inner, location, element, shifted(bits, 11));
    return s.mul(number, s.constant(0x1p-53, number));
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
