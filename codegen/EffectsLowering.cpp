#include "codegen/Lowering.h"
#include "ir/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

Lowered lower(LinalgBuilder &b, ir::AssertOp op, LoweringContext &context) {
  int32_t site = context.addSite(Site::Kind::AssertionFailed, op, op.getMessage());
  Value flat = b.flatten(op.getCondition());
  b.loopNest(b.sizesOf(flat), {}, [&](OpBuilder &inner, ValueRange at, ValueRange) {
    ir::ScalarBuilder s(inner, b.location);
    Value holds = tensor::ExtractOp::create(inner, b.location, flat, at);
    scf::IfOp::create(inner, b.location, s.logicalNot(holds), [&](OpBuilder &then, Location location) {
      Value position = arith::IndexCastOp::create(then, location, then.getI64Type(), at[0]);
      context.fail(then, location, site, position, position);
      scf::YieldOp::create(then, location);
    });
    return SmallVector<Value>();
  });
  return Lowered::toNothing();
}

// A print becomes a call of a declared function whose attributes hold site, dtype and shape. definePrints in
// NativeCode.cpp gives that function its body, in LLVM IR, where tensors are pointers.
Lowered lower(LinalgBuilder &b, ir::PrintOp op, LoweringContext &context) {
  OpBuilder &builder = b.builder;
  int32_t site = context.addSite(Site::Kind::Print, op, op.getLabel());
  auto type = cast<RankedTensorType>(op.getX().getType());
  // The tensor is passed flat; the callee has the shape. With several dimensions, an empty tensor would have no bare
  // pointer, and bufferization would take a slice of unknown sizes, whose strides might be those of a whole buffer,
  // for one. Unknown sizes are further arguments.
  SmallVector<Value> arguments{context.frame, b.flatten(op.getX())};
  SmallVector<int64_t> dims;
  for (Size size : b.sizesOf(op.getX())) {
    dims.push_back(constantOf(size).value_or(ShapedType::kDynamic));
    if (ShapedType::isDynamic(dims.back()))
      arguments.push_back(b.valueOf(size));
  }
  func::FuncOp function =
      declareRuntime(context.module, "calque_print_" + std::to_string(site), ValueRange(arguments).getTypes());
  auto number = [&](int32_t value) { return builder.getI32IntegerAttr(value); };
  auto dtype = static_cast<int32_t>(*ir::toDType(type.getElementType()));
  function->setAttr("calque.print",
                    builder.getDictionaryAttr({builder.getNamedAttr("site", number(site)),
                                               builder.getNamedAttr("dtype", number(dtype)),
                                               builder.getNamedAttr("dims", builder.getDenseI64ArrayAttr(dims))}));
  func::CallOp::create(builder, b.location, function, arguments);
  return Lowered::toNothing();
}

// Emits the calls by which the runtime runs the site's C++. Addresses and sizes are passed one by one, so that one
// declaration serves operands of all types.
static Lowered callHost(LinalgBuilder &b, Operation *op, int32_t site, LoweringContext &context) {
  for (Value result : op->getResults())
    if (!cast<RankedTensorType>(result.getType()).hasStaticShape())
      return context.refuse(op, "has a size that nothing gives");
  OpBuilder &builder = b.builder;
  Location location = b.location;
  Type i64 = builder.getI64Type();
  auto call = [&](StringRef name, Value argument) {
    func::FuncOp function = declareRuntime(context.module, name, {context.frame.getType(), argument.getType()});
    func::CallOp::create(builder, location, function, ValueRange{context.frame, argument});
  };
  auto number = [&](Value index) -> Value { return arith::IndexCastOp::create(builder, location, i64, index); };

  // All buffers are allocated before the first address is taken, because they must be alive together during the call.
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    Value input = b.flatten(operand); // as a print's
    auto type = cast<RankedTensorType>(input.getType());
    auto buffer = bufferization::ToBufferOp::create(builder, location,
                                                    MemRefType::get(type.getShape(), type.getElementType()), input);
    buffer.setReadOnly(true);
    buffers.push_back(buffer);
  }
  SmallVector<Value> outputs;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    outputs.push_back(
        memref::AllocOp::create(builder, location, MemRefType::get(type.getShape(), type.getElementType())));
  }
  llvm::append_range(buffers, outputs);
  for (Value buffer : buffers)
    call("calque_rt_host_address", number(memref::ExtractAlignedPointerAsIndexOp::create(builder, location, buffer)));
  for (Value input : op->getOperands())
    for (int64_t i = 0, rank = cast<RankedTensorType>(input.getType()).getRank(); i < rank; ++i)
      call("calque_rt_host_size", number(context.sizes.value(context.sizes.of(input, i))));
  call("calque_rt_host_call", arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(site)));

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

Lowered lower(LinalgBuilder &b, ir::ExternOp op, LoweringContext &context) {
  int32_t site = context.addSite(Site::Kind::Extern, op, op.getSymbol());
  for (ValueRange values : {ValueRange(op.getInputs()), ValueRange(op.getOutputs())})
    for (Value value : values)
      context.sites.back().types.push_back(*ir::toSchema(value.getType()));
  context.sites.back().numInputs = op.getInputs().size();
  return callHost(b, op, site, context);
}

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
