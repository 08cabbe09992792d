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

} // namespace calque::codegen
