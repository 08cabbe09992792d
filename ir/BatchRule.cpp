#include "ir/BatchRule.h"

#include "ir/GradientRule.h"
#include "ir/Values.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace calque::ir {

namespace {
// The largest size of a mapped axis for which an operation is unrolled.
constexpr int64_t kMostUnrolled = 1024;
} // namespace

int64_t BatchRule::size() const { return typeOf(examples).getDimSize(0); }

Value BatchRule::aligned(Value value, int64_t wanted) {
  int64_t missing = wanted + 1 - typeOf(value).getRank();
  if (missing <= 0)
    return value;
  return create<ExpandDimsOp>(value, llvm::to_vector(llvm::seq<int64_t>(1, 1 + missing)));
}

Value BatchRule::aligned(unsigned i, int64_t wanted) {
  return isBatched(i) ? aligned(operands[i], wanted) : operands[i];
}

Value BatchRule::repeated(Value value) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape{size()};
  llvm::append_range(shape, type.getShape());
  if (!llvm::is_contained(shape, ShapedType::kDynamic))
    return create<BroadcastToOp>(value, shape);
  // Broadcasts to an unknown size by a select between equal values, whose condition has that size.
  int64_t rank = typeOf(examples).getRank();
  Value each = isStack(examples) ? create<StackIsEmptyOp>(examples) : create<EqualOp>(examples, examples);
  Value counted = create<CastOp>(each, TypeAttr::get(builder.getI32Type()));
  if (rank > 1)
    counted = create<SumOp>(counted, llvm::to_vector(llvm::seq<int64_t>(1, rank)), false);
  Value condition = aligned(create<EqualOp>(counted, counted), type.getRank());
  return create<SelectOp>(condition, value, value);
}

Value BatchRule::all(unsigned i) { return isBatched(i) ? operands[i] : repeated(operands[i]); }

SmallVector<Value> BatchRule::all() {
  SmallVector<Value> values;
  for (unsigned i = 0; i < numOperands(); ++i)
    values.push_back(all(i));
  return values;
}

Value BatchRule::example(unsigned i) {
  if (!isBatched(i))
    return operands[i];
  return exampleType(i).hasStaticShape() ? zerosLike(op->getOperand(i))
                                         : create<SumOp>(operands[i], ArrayRef<int64_t>{0}, false);
}

Value BatchRule::zerosLike(Value value) {
  GradientRule rule(builder, op->getLoc(), value);
  return create<BroadcastToOp>(rule.zeroLike(value), typeOf(value).getShape());
}

SmallVector<int64_t> BatchRule::shifted(ArrayRef<int64_t> axes, int64_t rank, bool emptyMeansAll) const {
  if (axes.empty() && emptyMeansAll)
    return llvm::to_vector(llvm::seq<int64_t>(1, rank + 1));
  return llvm::map_to_vector(axes, [&](int64_t axis) { return shifted(axis, rank); });
}

Value moveAxis(OpBuilder &builder, Location location, Value value, int64_t from, int64_t to) {
  if (from == to)
    return value;
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return TransposeOp::create(builder, location, value, permutation);
}

Value BatchRule::move(Value value, int64_t from, int64_t to) {
  return moveAxis(builder, op->getLoc(), value, from, to);
}

Value BatchRule::mergeInto(Value value, int64_t axis) {
  Value moved = move(value, 0, axis);
  SmallVector<int64_t> shape(typeOf(moved).getShape());
  if (llvm::is_contained(shape, ShapedType::kDynamic))
    return create<MergeDimsOp>(moved, axis);
  shape[axis] *= shape[axis + 1];
  shape.erase(shape.begin() + axis + 1);
  return create<ReshapeOp>(moved, shape);
}

Value BatchRule::partFrom(Value value, int64_t axis, Value like, int64_t second) {
  ArrayRef<int64_t> sizes = typeOf(like).getShape();
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[axis] = sizes[0];
  shape.insert(shape.begin() + axis + 1, sizes[second]);
  bool isKnown = !llvm::is_contained(shape, ShapedType::kDynamic);
  Value parted = isKnown ? create<ReshapeOp>(value, shape) : create<SplitDimOp>(value, like, axis, 0, second);
  return toFront(parted, axis);
}

Operation *BatchRule::recreate(Operation *op, ArrayRef<Value> arguments) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(arguments);
  state.addAttributes(llvm::to_vector(op->getAttrDictionary().getValue()));
  SmallVector<Type> types;
  auto inference = cast<InferTypeOpInterface>(op);
  if (failed(inference.inferReturnTypes(op->getContext(), op->getLoc(), arguments, op->getAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
    return nullptr;
  state.addTypes(types);
  return builder.create(state);
}

Value BatchRule::apply(ArrayRef<Value> arguments) {
  Operation *created = recreate(op, arguments);
  return created ? created->getResult(0) : Value();
}

LogicalResult BatchRule::elementwise(SmallVectorImpl<Value> &results) {
  int64_t rank = 0;
  for (unsigned i = 0; i < numOperands(); ++i)
    rank = std::max(rank, this->rank(i));
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < numOperands(); ++i)
    arguments.push_back(aligned(i, rank));
  results.push_back(apply(arguments));
  return success(static_cast<bool>(results[0]));
}

LogicalResult BatchRule::same(SmallVectorImpl<Value> &results) {
  Operation *created = recreate(op, all());
  if (created)
    llvm::append_range(results, created->getResults());
  return success(created != nullptr);
}

LogicalResult BatchRule::alongAxis(SmallVectorImpl<Value> &results) {
  // The types of the results may depend on the axis.
  Operation *behind = op->cloneWithoutRegions();
  const auto axis = cast<IntegerAttr>(op->getAttr("axis")).getInt();
  behind->setAttr("axis", builder.getI64IntegerAttr(shifted(axis, rank(0))));
  Operation *created = recreate(behind, all());
  behind->destroy();
  if (created)
    llvm::append_range(results, created->getResults());
  return success(created != nullptr);
}

LogicalResult BatchRule::unrolled(SmallVectorImpl<Value> &results) {
  if (size() == ShapedType::kDynamic)
    return refuse("is done on one example after the other, and their number is not known");
  if (size() > kMostUnrolled)
    return refuse("is done on one example after the other, and " + Twine(size()) + " are more than the " +
                  Twine(kMostUnrolled) + " that are allowed");
  SmallVector<SmallVector<Value>> stacked(op->getNumResults());
  for (int64_t k = 0; k < size(); ++k) {
    SmallVector<Value> arguments(operands);
    for (unsigned i = 0; i < numOperands(); ++i)
      if (isBatched(i)) {
        SmallVector<int64_t> starts(rank(i) + 1, 0), limits(typeOf(operands[i]).getShape()),
            shape(exampleType(i).getShape());
        if (llvm::is_contained(limits, ShapedType::kDynamic)) {
          auto index = RankedTensorType::get({}, builder.getI64Type());
          arguments[i] = create<GatherOp>(operands[i],
                                          create<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(index, k))), 0);
          continue;
        }
        starts[0] = k;
        limits[0] = k + 1;
        arguments[i] = create<ReshapeOp>(create<SliceOp>(operands[i], starts, limits), shape);
      }
    Operation *one = recreate(op, arguments);
    if (!one)
      return failure();
    for (auto [stack, result] : llvm::zip_equal(stacked, one->getResults()))
      stack.push_back(create<ExpandDimsOp>(result, ArrayRef<int64_t>{0}));
  }
  for (auto [stack, result] : llvm::zip_equal(stacked, op->getResults())) {
    if (stack.empty() && !typeOf(result).hasStaticShape())
      return refuse("is done on one example after the other, and there are none that would give its result's sizes");
    GradientRule rule(builder, op->getLoc(), result);
    SmallVector<int64_t> none{0};
    llvm::append_range(none, typeOf(result).getShape());
    results.push_back(stack.empty() ? create<BroadcastToOp>(rule.zeroLike(result), none) : create<ConcatOp>(stack, 0));
  }
  return success();
}

LogicalResult BatchRule::refuse(const Twine &why) {
  return op->emitOpError() << why << "; vmap can't do it for many examples at once";
}

LogicalResult BatchRule::requireKnownSizes() {
  for (Value operand : operands)
    if (!typeOf(operand).hasStaticShape())
      return refuse("has an operand of unknown size");
  return success();
}

} // namespace calque::ir
