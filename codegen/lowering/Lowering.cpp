#include "codegen/lowering/Lowering.h"

#include "ir/Import.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
  sizes.checks.push_back({found.size, expected.size, Sizes::Check::Relation::Equal, site});
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
  sizes.checks.push_back({found.size, bound, Sizes::Check::Relation::AtLeast, site});
}

void LoweringContext::divisible(Operation *op, Sizes::Named found, Size divisor) {
  int32_t site = addSite(Site::Kind::SizeNotDivisible, op);
  sites.back().sizes[0] = found.name;
  sizes.checks.push_back({found.size, divisor, Sizes::Check::Relation::DivisibleBy, site});
}

Value LoweringContext::refuse(Operation *op, const Twine &why) {
  op->emitOpError(why);
  refused = true;
  return {};
}

func::FuncOp LoweringContext::runtimeKernel(StringRef name, TypeRange operands) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  FunctionType type = builder.getFunctionType(operands, {});
  func::FuncOp &function = runtimeKernels[{builder.getStringAttr(name), type}];
  if (!function) {
    std::string symbol = ("calque.runtime_" + Twine(runtimeKernels.size() - 1)).str();
    function = func::FuncOp::create(builder, module.getLoc(), symbol, type);
    function.setPrivate();
    function->setAttr(kRuntimeAttr, builder.getStringAttr(name));
  }
  return function;
}

func::FuncOp declareRuntime(ModuleOp module, StringRef name, TypeRange arguments, TypeRange results) {
  if (auto existing = module.lookupSymbol<func::FuncOp>(name))
    return existing;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType(arguments, results));
  function.setPrivate();
  return function;
}

void emitFail(OpBuilder &builder, Location location, Value frame, int32_t site, Value value, Value bound) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto module = frame.getParentRegion()->getParentOfType<ModuleOp>();
  func::FuncOp function = declareRuntime(module, "calque_rt_fail", {frame.getType(), i32, i64, i64});
  Value siteValue = arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(site));
  func::CallOp::create(builder, location, function, ValueRange{frame, siteValue, value, bound});
}

void LoweringContext::fail(OpBuilder &builder, Location location, int32_t site, Value value, Value bound) {
  emitFail(builder, location, frame, site, value, bound);
}

SizeList openSizes(LinalgBuilder &b, Operation *op, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  SizeList result;
  for (int64_t size : shape) {
    if (!isUnknown(size)) {
      result.push_back(b.sizes.constant(size));
      continue;
    }
    Value source = op->getOperand(sizes[0]);
    result.push_back(b.sizes.of(source, normalAxis(sizes[1], LinalgBuilder::rankOf(source))));
    sizes = sizes.drop_front(2);
  }
  return result;
}

namespace {

// Replaces an operation, or all of an interface, by what its lowering builds.
template <typename Op, typename Pattern = OpRewritePattern<Op>> class LowerOp : public Pattern {
public:
  LowerOp(MLIRContext *mlirContext, LoweringContext &context) : Pattern(mlirContext), context(context) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (context.refused || context.sums.added.contains(op))
      return failure();
    LinalgBuilder builder(rewriter, op.getLoc(), context.sizes);
    Lowered lowered = lower(builder, op, context);
    if (!lowered.succeeded())
      return failure();
    SmallVector<Value> results;
    for (auto [value, result] : llvm::zip_equal(lowered.values(), op->getResults()))
      results.push_back(builder.typed(value, result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  LoweringContext &context;
};

} // namespace

void populateLowerings(RewritePatternSet &patterns, LoweringContext &context) {
  populateElementwiseLowering(patterns, context);
  using Library = ir::LibraryOpInterface;
  patterns.add<LowerOp<Library, OpInterfaceRewritePattern<Library>>>(patterns.getContext(), context);
#define CALQUE_LOWERING(Op) patterns.add<LowerOp<ir::Op>>(patterns.getContext(), context);
#include "codegen/lowering/Lowerings.h.inc"
}

} // namespace calque::codegen
