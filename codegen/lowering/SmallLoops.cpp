// Lowers branches and loops on small values to code: one kernel, which has its values in registers.
#include "codegen/lowering/SmallCode.h"
#include "codegen/lowering/SmallOperations.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

namespace {

bool isScalar(Value value) { return LinalgBuilder::rankOf(value) == 0; }

// Whether all values of an operation are scalars, and nothing in it can fail.
bool isScalarWork(Operation *op) {
  return !op->walk([](Operation *inner) {
              const bool isFine = inner->hasTrait<OpTrait::IsTerminator>() ||
                                  (llvm::all_of(inner->getOperands(), isScalar) &&
                                   llvm::all_of(inner->getResults(), isScalar) && !mayFail(inner));
              return isFine ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

// As an operation on scalars, which can be fused with others.
SmallVector<Value> lowerScalars(LinalgBuilder &b, Operation *op, LoweringContext &context) {
  SmallVector<Value> outputs;
  for (Value result : op->getResults())
    outputs.push_back(b.empty({}, elementOf(result)));
  SmallVector<AffineMap> maps(op->getNumOperands() + outputs.size(), AffineMap::get(b.builder.getContext()));
  auto made = linalg::GenericOp::create(
      b.builder, b.location, ValueRange(outputs).getTypes(), op->getOperands(), outputs, maps,
      ArrayRef<utils::IteratorType>(), [&](OpBuilder &inside, Location location, ValueRange elements) {
        SmallCode code(context, b.builder);
        SmallVector<SmallValue> operands;
        for (Value element : elements.take_front(op->getNumOperands()))
          operands.push_back({{element}, {}, {}, {}});
        auto results = llvm::map_to_vector(code.emit(op, inside, operands),
                                           [](const SmallValue &value) { return value.elements[0]; });
        linalg::YieldOp::create(inside, location, results);
      });
  return SmallVector<Value>(made.getResults());
}

// As a kernel that reads its operands and writes its results itself.
class SmallKernel {
public:
  SmallKernel(LinalgBuilder &b, Operation *op, const Arrays &arrays, LoweringContext &context)
      : b(b), op(op), arrays(arrays), code(context, b.builder) {}

  SmallVector<Value> lower() {
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      buffers.push_back(isSmall(result) || isWritten(i) ? allocate(sizesOf(i), elementOf(result)) : Value());
    auto kernel = scf::ExecuteRegionOp::create(b.builder, b.location, TypeRange(), /*noInline=*/true);
    OpBuilder inside = OpBuilder::atBlockEnd(&kernel.getRegion().emplaceBlock());
    SmallVector<SmallValue> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      operands.push_back(code.read(inside, b.location, operand));
      if (i < buffers.size() && isWritten(i)) {
        copyArray(inside, operands.back(), buffers[i]);
        operands.back().tensor = {};
        operands.back().buffer = buffers[i];
      }
    }
    SmallVector<SmallValue> values = code.emit(op, inside, operands);
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (isSmall(result))
        store(inside, values[i], LinalgBuilder::shapeOf(result), buffers[i]);
    scf::YieldOp::create(inside, b.location);
    return llvm::map_to_vector(llvm::seq<size_t>(0, buffers.size()), [&](size_t i) { return resultOf(i); });
  }

private:
  // Whether a result is an array that the loop writes.
  bool isWritten(size_t result) const {
    auto number = arrays.numbers.find(op->getResult(static_cast<unsigned>(result)));
    return number != arrays.numbers.end() && arrays.written.contains(number->second);
  }

  SizeList sizesOf(size_t result) {
    Value value = op->getResult(static_cast<unsigned>(result));
    return isSmall(value) ? b.sizes.constants(LinalgBuilder::shapeOf(value))
                          : b.sizesOf(op->getOperand(static_cast<unsigned>(result)));
  }

  Value allocate(ArrayRef<Size> sizes, Type element) {
    SmallVector<Value> unknown;
    SmallVector<int64_t> shape;
    for (Size size : sizes) {
      shape.push_back(constantOf(size).value_or(ShapedType::kDynamic));
      if (ShapedType::isDynamic(shape.back()))
        unknown.push_back(b.valueOf(size));
    }
    return memref::AllocOp::create(b.builder, b.location, MemRefType::get(shape, element), unknown);
  }

  void copyArray(OpBuilder &builder, const SmallValue &from, Value to) {
    std::function<void(OpBuilder &, SmallVector<Value>)> copy = [&](OpBuilder &inside, SmallVector<Value> at) {
      if (at.size() == from.sizes.size()) {
        Value element = tensor::ExtractOp::create(inside, b.location, from.tensor, at);
        memref::StoreOp::create(inside, b.location, element, to, at);
        return;
      }
      Size size = from.sizes[at.size()];
      auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(inside, b.location, value); };
      Value bound = constantOf(size) ? index(*constantOf(size)) : b.valueOf(size);
      scf::ForOp::create(inside, b.location, index(0), bound, index(1), ValueRange(),
                         [&](OpBuilder &nested, Location, Value i, ValueRange) {
                           SmallVector<Value> next(at);
                           next.push_back(i);
                           copy(nested, next);
                           scf::YieldOp::create(nested, b.location);
                         });
    };
    copy(builder, {});
  }

  void store(OpBuilder &builder, const SmallValue &value, ArrayRef<int64_t> shape, Value buffer) {
    for (auto [k, element] : llvm::enumerate(value.elements)) {
      SmallVector<Value> at(shape.size());
      auto rest = static_cast<int64_t>(k);
      for (size_t i = shape.size(); i-- > 0; rest /= shape[i])
        at[i] = arith::ConstantIndexOp::create(builder, b.location, rest % shape[i]);
      memref::StoreOp::create(builder, b.location, element, buffer, at);
    }
  }

  Value resultOf(size_t i) {
    Type given = op->getResult(static_cast<unsigned>(i)).getType();
    if (!buffers[i]) // an array that the loop leaves as it is
      return b.typed(op->getOperand(static_cast<unsigned>(i)), given);
    auto type = cast<MemRefType>(buffers[i].getType());
    Value tensor = bufferization::ToTensorOp::create(
        b.builder, b.location, RankedTensorType::get(type.getShape(), type.getElementType()), buffers[i],
        /*restrict=*/true, /*writable=*/true);
    b.sizes.set(tensor, sizesOf(i));
    return b.typed(tensor, given);
  }

  LinalgBuilder &b;
  Operation *op;
  const Arrays &arrays;
  SmallCode code;
  SmallVector<Value> buffers;
};

} // namespace

void lowerSmallLoops(func::FuncOp function, LoweringContext &context) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isa<ir::CondOp, ir::WhileOp>(op) || op.getNumResults() == 0)
      continue;
    // Nothing else is lowered yet, so that of other values unknown sizes can't be said.
    auto hasSizes = [](Value operand) {
      return LinalgBuilder::typeOf(operand).hasStaticShape() || isa<BlockArgument>(operand);
    };
    if (!llvm::all_of(op.getOperands(), hasSizes))
      continue;
    std::optional<int64_t> cost = smallCost(&op);
    if (!cost || *cost > kMostSmallCost)
      continue;
    std::optional<Arrays> arrays = findArrays(&op);
    if (!arrays)
      continue;
    OpBuilder at(&op);
    LinalgBuilder b(at, op.getLoc(), context.sizes);
    SmallVector<Value> lowered =
        isScalarWork(&op) ? lowerScalars(b, &op, context) : SmallKernel(b, &op, *arrays, context).lower();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), lowered)) {
      if (isSmall(result))
        b.sizes.set(value, b.sizes.constants(LinalgBuilder::shapeOf(result)));
      result.replaceAllUsesWith(value);
    }
    op.erase();
  }
}

} // namespace calque::codegen
