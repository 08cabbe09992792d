#include "codegen/Lowering.h"
#include "ir/Conversion.h"
#include "ir/Import.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

std::string lineOf(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    if (auto line = dyn_cast<FileLineColLoc>(inner)) {
      text = (line.getFilename().getValue() + ":" + Twine(line.getLine())).str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}

Site makeSite(Site::Kind kind, StringRef operation, StringRef text, Location location) {
  Site site{kind, operation.str(), text.str(), lineOf(location)};
  site.recorded = ir::recordedNumber(location);
  return site;
}

int32_t LoweringContext::addSite(Site::Kind kind, Operation *op, StringRef text) {
  // A pass may have emitted this operation in place of another; the location's name is that of the other.
  auto named = dyn_cast<NameLoc>(op->getLoc());
  StringRef name = named ? named.getName().strref() : op->getName().stripDialect();
  sites.push_back(makeSite(kind, name, text, op->getLoc()));
  return static_cast<int32_t>(sites.size()) - 1;
}

Size LoweringContext::equal(Operation *op, Sizes::Named found, Sizes::Named expected) {
  if (found.size == expected.size)
    return found.size;
  int32_t site = addSite(Site::Kind::SizesDiffer, op);
  sites.back().sizes[0] = found.name;
  sites.back().sizes[1] = expected.name;
  sizes.checks.push_back({found.size, expected.size, false, site});
  sizes.unify(found.size, expected.size);
  return constantOf(found.size) ? found.size : expected.size;
}

void LoweringContext::atLeast(Operation *op, unsigned operand, int64_t dimension, Size bound) {
  Sizes::Named found = sizes.named(op, operand, dimension);
  std::optional<int64_t> size = constantOf(found.size), least = constantOf(bound);
  if ((size && least && *size >= *least) || least == 0)
    return;
  int32_t site = addSite(Site::Kind::SizeTooSmall, op);
  sites.back().sizes[0] = found.name;
  sizes.checks.push_back({found.size, bound, true, site});
}

Value LoweringContext::refuse(Operation *op, const Twine &why) {
  op->emitOpError(why);
  refused = true;
  return {};
}

namespace {

// Declares a function of the runtime, once.
func::FuncOp declare(ModuleOp module, StringRef name, TypeRange arguments) {
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType(arguments, {}));
  function.setPrivate();
  return function;
}

struct LowerAssert : OpRewritePattern<ir::AssertOp> {
  LowerAssert(MLIRContext *mlirContext, LoweringContext &context) : OpRewritePattern(mlirContext), context(context) {}
  LogicalResult matchAndRewrite(ir::AssertOp op, PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc(), context.sizes);
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
    rewriter.eraseOp(op);
    return success();
  }
  LoweringContext &context;
};

// A print becomes a call of a declared function whose attributes hold site, dtype and shape. definePrints in
// NativeCode.cpp gives that function its body, in LLVM IR, where tensors are pointers.
struct LowerPrint : OpRewritePattern<ir::PrintOp> {
  LowerPrint(MLIRContext *mlirContext, LoweringContext &context) : OpRewritePattern(mlirContext), context(context) {}
  LogicalResult matchAndRewrite(ir::PrintOp op, PatternRewriter &rewriter) const override {
    int32_t site = context.addSite(Site::Kind::Print, op, op.getLabel());
    auto type = cast<RankedTensorType>(op.getX().getType());
    // The tensor is passed flat; the callee has the shape. With several dimensions, an empty tensor would have no bare
    // pointer, and bufferization would take a slice of unknown sizes, whose strides might be those of a whole buffer,
    // for one.
    LinalgBuilder b(rewriter, op.getLoc(), context.sizes);
    // Unknown sizes are further arguments.
    SmallVector<Value> arguments{context.frame, b.flatten(op.getX())};
    SmallVector<int64_t> dims;
    for (Size size : context.sizes.of(op.getX())) {
      dims.push_back(constantOf(size).value_or(ShapedType::kDynamic));
      if (ShapedType::isDynamic(dims.back()))
        arguments.push_back(context.sizes.value(size));
    }
    func::FuncOp function =
        declare(context.module, "calque_print_" + std::to_string(site), ValueRange(arguments).getTypes());
    function.setArgAttr(1, "bufferization.access", rewriter.getStringAttr("read"));
    function->setAttr(
        "calque.print",
        rewriter.getDictionaryAttr({rewriter.getNamedAttr("site", rewriter.getI32IntegerAttr(site)),
                                    rewriter.getNamedAttr("dtype", rewriter.getI32IntegerAttr(static_cast<int32_t>(
                                                                       *ir::toDType(type.getElementType())))),
                                    rewriter.getNamedAttr("dims", rewriter.getDenseI64ArrayAttr(dims))}));
    func::CallOp::create(rewriter, op.getLoc(), function, arguments);
    rewriter.eraseOp(op);
    return success();
  }
  LoweringContext &context;
};

// Emits the calls by which the runtime runs the site's C++. Addresses and sizes are passed one by one, so that one
// declaration serves operands of all types.
LogicalResult callHost(PatternRewriter &rewriter, LoweringContext &context, Operation *op, int32_t site) {
  for (Value result : op->getResults())
    if (!cast<RankedTensorType>(result.getType()).hasStaticShape()) {
      context.refuse(op, "has a size that nothing gives");
      return failure();
    }
  Location location = op->getLoc();
  Type i64 = rewriter.getI64Type();
  auto call = [&](StringRef name, Value argument) {
    func::FuncOp function = declare(context.module, name, {context.frame.getType(), argument.getType()});
    func::CallOp::create(rewriter, location, function, ValueRange{context.frame, argument});
  };
  auto number = [&](Value index) -> Value { return arith::IndexCastOp::create(rewriter, location, i64, index); };

  // All buffers are allocated before the first address is taken, because they must be alive together during the call.
  SmallVector<Value> buffers;
  LinalgBuilder b(rewriter, location, context.sizes);
  for (Value operand : op->getOperands()) {
    Value input = b.flatten(operand); // as a print's
    auto type = cast<RankedTensorType>(input.getType());
    auto buffer = bufferization::ToBufferOp::create(rewriter, location,
                                                    MemRefType::get(type.getShape(), type.getElementType()), input);
    buffer.setReadOnly(true);
    buffers.push_back(buffer);
  }
  SmallVector<Value> outputs;
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    outputs.push_back(
        memref::AllocOp::create(rewriter, location, MemRefType::get(type.getShape(), type.getElementType())));
  }
  llvm::append_range(buffers, outputs);
  for (Value buffer : buffers)
    call("calque_rt_host_address", number(memref::ExtractAlignedPointerAsIndexOp::create(rewriter, location, buffer)));
  for (Value input : op->getOperands())
    for (int64_t i = 0, rank = cast<RankedTensorType>(input.getType()).getRank(); i < rank; ++i)
      call("calque_rt_host_size", number(context.sizes.value(context.sizes.of(input, i))));
  call("calque_rt_host_call", arith::ConstantOp::create(rewriter, location, rewriter.getI32IntegerAttr(site)));

  SmallVector<Value> results;
  for (auto [buffer, result] : llvm::zip_equal(outputs, op->getResults()))
    results.push_back(bufferization::ToTensorOp::create(rewriter, location, result.getType(), buffer, /*restrict=*/true,
                                                        /*writable=*/true));
  rewriter.replaceOp(op, results);
  return success();
}

struct LowerHostCall : OpRewritePattern<ir::HostCallOp> {
  LowerHostCall(MLIRContext *mlirContext, LoweringContext &context) : OpRewritePattern(mlirContext), context(context) {}
  LogicalResult matchAndRewrite(ir::HostCallOp op, PatternRewriter &rewriter) const override {
    int32_t site = context.addSite(Site::Kind::HostCall, op);
    context.sites.back().callee = op.getCallee();
    return callHost(rewriter, context, op, site);
  }
  LoweringContext &context;
};

struct LowerExtern : OpRewritePattern<ir::ExternOp> {
  LowerExtern(MLIRContext *mlirContext, LoweringContext &context) : OpRewritePattern(mlirContext), context(context) {}
  LogicalResult matchAndRewrite(ir::ExternOp op, PatternRewriter &rewriter) const override {
    int32_t site = context.addSite(Site::Kind::Extern, op, op.getSymbol());
    for (ValueRange values : {ValueRange(op.getInputs()), ValueRange(op.getOutputs())})
      for (Value value : values)
        context.sites.back().types.push_back(*ir::toSchema(value.getType()));
    context.sites.back().numInputs = op.getInputs().size();
    return callHost(rewriter, context, op, site);
  }
  LoweringContext &context;
};

Value lowerStopGradient(LinalgBuilder &, ir::StopGradientOp op, LoweringContext &) { return op.getX(); }

//===-- Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011) --===//

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

// A float32 takes the upper 24 bits of one word, a float64 the upper 53 bits of two.
Value uniform(LinalgBuilder &b, Value state, ArrayRef<Size> shape, Type element) {
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

Value lowerRandomUniform(LinalgBuilder &b, ir::RandomUniformOp op, LoweringContext &context) {
  if (llvm::any_of(op.getShape(), isUnknown))
    return context.refuse(op, "has a size that nothing gives");
  RankedTensorType type = LinalgBuilder::typeOf(op.getResult());
  return uniform(b, op.getState(), b.sizes.constants(type.getShape()), type.getElementType());
}

Value lowerRandomUniformOpen(LinalgBuilder &b, ir::RandomUniformOpenOp op, LoweringContext &) {
  return uniform(b, op.getState(), openSizes(b, op, op.getShape(), op.getSizes()),
                 LinalgBuilder::typeOf(op.getResult()).getElementType());
}

} // namespace

void emitFail(OpBuilder &builder, Location location, Value frame, int32_t site, Value value, Value bound) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto module = frame.getParentRegion()->getParentOfType<ModuleOp>();
  func::FuncOp function = declare(module, "calque_rt_fail", {frame.getType(), i32, i64, i64});
  Value siteValue = arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(site));
  func::CallOp::create(builder, location, function, ValueRange{frame, siteValue, value, bound});
}

void LoweringContext::fail(OpBuilder &builder, Location location, int32_t site, Value value, Value bound) {
  emitFail(builder, location, frame, site, value, bound);
}

void populateEffectsLowering(RewritePatternSet &patterns, LoweringContext &context) {
  patterns.add<LowerAssert, LowerPrint, LowerHostCall, LowerExtern>(patterns.getContext(), context);
  addLowering<ir::StopGradientOp>(patterns, context, lowerStopGradient);
  addLowering<ir::RandomUniformOp>(patterns, context, lowerRandomUniform);
  addLowering<ir::RandomUniformOpenOp>(patterns, context, lowerRandomUniformOpen);
}

} // namespace calque::codegen
