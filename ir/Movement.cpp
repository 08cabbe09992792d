// The rules of operations that move elements.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace calque::ir {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

void TransposeOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> inverse; // empty for an empty permutation: reversal is its own inverse
  int64_t rank = cast<RankedTensorType>(getX().getType()).getRank();
  inverse.resize(getPermutation().size());
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    inverse[schema::normalAxis(axis, rank)] = i;
  operandCotangents.assign(1, rule.create<TransposeOp>(cotangents[0], inverse));
}

void ReverseOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, rule.create<ReverseOp>(cotangents[0], getAxes()));
}

void ConcatOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                        SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(getTensors().size(), Value());
  // Where the sizes are known, the parts are cut without the tensors, which nothing has to keep for that.
  SmallVector<int64_t> sizes;
  for (Value tensor : getTensors()) {
    auto type = cast<RankedTensorType>(tensor.getType());
    sizes.push_back(type.getDimSize(static_cast<unsigned>(schema::normalAxis(getAxis(), type.getRank()))));
  }
  if (!llvm::is_contained(sizes, ShapedType::kDynamic)) {
    auto split = SplitOp::create(builder, getLoc(), cotangents[0], sizes, getAxis());
    for (size_t i = 0; i < getTensors().size(); ++i)
      if (needed[i])
        operandCotangents[i] = split.getParts()[i];
    return;
  }
  for (size_t i = 0; i < getTensors().size(); ++i)
    if (needed[i])
      operandCotangents[i] = rule.create<ConcatPartOp>(cotangents[0], getTensors(), getAxis(), i);
}

void ConcatPartOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  if (!needed[0])
    return;
  SmallVector<Value> parts;
  for (auto [i, tensor] : llvm::enumerate(getTensors()))
    parts.push_back(i == getIndex() ? cotangents[0] : rule.zerosLike(tensor));
  operandCotangents[0] = rule.create<ConcatOp>(parts, getAxis());
}

void SplitOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                       SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getX());
  SmallVector<Value> parts;
  for (auto [part, cotangent] : llvm::zip_equal(getParts(), cotangents))
    parts.push_back(cotangent ? cotangent : rule.zerosLike(part));
  operandCotangents.assign(1, rule.create<ConcatOp>(parts, getAxis()));
}

void SliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                       SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> strides(getStrides());
  if (strides.empty())
    strides.assign(getStarts().size(), 1);
  operandCotangents.assign(1, rule.create<SlicePutOp>(cotangents[0], getX(), getStarts(), strides));
}

void SliceLikeOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                           SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<SlicePutOp>(cotangents[0], getX(), getStarts(), getStrides());
}

void SlicePutOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                          SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<SliceLikeOp>(cotangents[0], getX(), getStarts(), getStrides());
}

void PadOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                     SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> ones(getLow().size(), 1);
  operandCotangents.assign(1, rule.create<SliceLikeOp>(cotangents[0], getX(), getLow(), ones));
}

namespace {
Value withExamplesOf(Operation *op, Value made, ArrayRef<int64_t> outer = {}) {
  SmallVector<int64_t> examples(outer);
  if (auto inner = op->getAttrOfType<DenseI64ArrayAttr>(kExamplesAttr))
    llvm::append_range(examples, inner.asArrayRef());
  if (!examples.empty())
    made.getDefiningOp()->setAttr(kExamplesAttr, DenseI64ArrayAttr::get(op->getContext(), examples));
  return made;
}
} // namespace

void GatherOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                        SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] =
        withExamplesOf(*this, rule.create<GatherPutOp>(cotangents[0], getX(), getIndices(), getAxis()));
}

void GatherPutOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                           SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = withExamplesOf(*this, rule.create<GatherOp>(cotangents[0], getIndices(), getAxis()));
}

void TakeAlongAxisOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<PutAlongAxisOp>(cotangents[0], getX(), getIndices(), getAxis());
}

void PutAlongAxisOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<TakeAlongAxisOp>(cotangents[0], getIndices(), getAxis());
}

void UpdateAtOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                          SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  // The slice is read first, so that what comes after may write where it was.
  if (needed[2])
    operandCotangents[2] = rule.create<GatherOp>(cotangents[0], getIndex(), getAxis());
  if (needed[0])
    operandCotangents[0] = rule.create<UpdateAtOp>(cotangents[0], getIndex(), rule.zerosLike(getSlice()), getAxis());
}

namespace {
// In a loop, a sum of slices at single indices grows in place: it is not added to as a whole. (A sum of zeros that has
// begun with 0 is never -0, so that no element is another for it.)
struct AddSlice : OpRewritePattern<GatherPutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherPutOp put, PatternRewriter &rewriter) const override {
    auto add = put->hasOneUse() ? dyn_cast<AddOp>(*put->user_begin()) : AddOp();
    if (!add || !put->getParentOfType<WhileOp>() || put->hasAttr(kExamplesAttr) ||
        cast<RankedTensorType>(put.getIndices().getType()).getRank() != 0)
      return failure();
    Value sum = add.getLhs() == put.getResult() ? add.getRhs() : add.getLhs();
    if (sum.getType() != put.getType() || sum == put.getResult())
      return failure();
    rewriter.setInsertionPoint(add);
    Location location = put.getLoc();
    Value before = GatherOp::create(rewriter, location, sum, put.getIndices(), put.getAxis());
    Value slice = AddOp::create(rewriter, location, before, put.getSlices());
    rewriter.replaceOpWithNewOp<UpdateAtOp>(add, sum, put.getIndices(), slice, put.getAxis());
    rewriter.eraseOp(put);
    return success();
  }
};

// The slice that a single known index names along an axis of a tensor of known sizes: where it starts, and its shape
// with the axis, which is 1 there.
struct NamedSlice {
  SmallVector<int64_t> starts, shape;

  static std::optional<NamedSlice> of(Operation *op, Value tensor, Value indices, int64_t axis) {
    auto type = cast<RankedTensorType>(tensor.getType());
    DenseIntElementsAttr index;
    if (!type.hasStaticShape() || op->hasAttr(kExamplesAttr) ||
        cast<RankedTensorType>(indices.getType()).getRank() != 0 || !matchPattern(indices, m_Constant(&index)))
      return std::nullopt;
    axis += axis < 0 ? type.getRank() : 0;
    int64_t start = (*index.begin()).getSExtValue();
    if (start < 0 || start >= type.getDimSize(static_cast<unsigned>(axis)))
      return std::nullopt;
    NamedSlice slice{SmallVector<int64_t>(static_cast<size_t>(type.getRank()), 0),
                     SmallVector<int64_t>(type.getShape())};
    slice.starts[static_cast<size_t>(axis)] = start;
    slice.shape[static_cast<size_t>(axis)] = 1;
    return slice;
  }
};

// What a known index names is where it is, so that no element has to be looked up.
struct SliceAtKnownIndex : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    std::optional<NamedSlice> named = NamedSlice::of(op, op.getX(), op.getIndices(), op.getAxis());
    if (!named)
      return failure();
    SmallVector<int64_t> limits;
    for (auto [start, size] : llvm::zip_equal(named->starts, named->shape))
      limits.push_back(start + size);
    Value slice = SliceOp::create(rewriter, op.getLoc(), op.getX(), named->starts, limits);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, slice, cast<RankedTensorType>(op.getType()).getShape());
    return success();
  }
};
struct PutAtKnownIndex : OpRewritePattern<GatherPutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherPutOp op, PatternRewriter &rewriter) const override {
    if (isa<WhileOp>(op->getParentOp())) // there slices are added in place
      return failure();
    std::optional<NamedSlice> named = NamedSlice::of(op, op.getLike(), op.getIndices(), op.getAxis());
    if (!named)
      return failure();
    // The slice is added to zeros, so that none of its zeros is negative.
    auto element = cast<RankedTensorType>(op.getType()).getElementType();
    auto scalar = RankedTensorType::get({}, element);
    Value zero = ConstantOp::create(rewriter, op.getLoc(),
                                    cast<ElementsAttr>(DenseElementsAttr::get(scalar, rewriter.getZeroAttr(element))));
    Value sum = AddOp::create(rewriter, op.getLoc(), op.getSlices(), zero),
          slice = ReshapeOp::create(rewriter, op.getLoc(), sum, named->shape);
    rewriter.replaceOpWithNewOp<SlicePutOp>(op, slice, op.getLike(), named->starts,
                                            SmallVector<int64_t>(named->starts.size(), 1));
    return success();
  }
};
} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceAtKnownIndex>(context);
}
void GatherPutOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AddSlice, PutAtKnownIndex>(context);
}

void ReshapeOpenOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ReshapeLikeOp>(cotangents[0], getX());
}

// The vjp of what repeats x.
static void repeatVjp(Operation *op, OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                      SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, op->getLoc(), op->getResult(0));
  operandCotangents.assign(op->getNumOperands(), Value());
  if (needed[0])
    operandCotangents[0] = rule.sumLike(cotangents[0], op->getOperand(0));
}

void BroadcastToOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  repeatVjp(*this, builder, cotangents, needed, operandCotangents);
}
void BroadcastLikeOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  repeatVjp(*this, builder, cotangents, needed, operandCotangents);
}
void BroadcastToOpenOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                 SmallVectorImpl<Value> &operandCotangents) {
  repeatVjp(*this, builder, cotangents, needed, operandCotangents);
}

//===-- Tangents --------------------------------------------------------------------------------===//

void PadOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, rule.create<PadOp>(tangents[0], getLow(), getHigh(), schema::Scalar()));
}

//===-- Batching --------------------------------------------------------------------------------===//

namespace {
SmallVector<int64_t> withFirst(int64_t first, ArrayRef<int64_t> rest) {
  SmallVector<int64_t> result{first};
  llvm::append_range(result, rest);
  return result;
}
} // namespace

LogicalResult ReshapeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  // A reshape can leave open one size: that of the mapped axis, or an unknown size of the result. Where both are
  // unknown, the size of the mapped axis is x's.
  auto type = cast<RankedTensorType>(getResult().getType());
  bool isKnown = rule.size() != ShapedType::kDynamic;
  // From no elements no size follows.
  if (rule.size() == 0 && !type.hasStaticShape() && failed(rule.requireKnownSizes()))
    return failure();
  if (!isKnown && (!type.hasStaticShape() || type.getNumElements() == 0)) {
    results.push_back(rule.create<ReshapeOpenOp>(
        rule[0], ValueRange(), withFirst(ShapedType::kDynamic, type.hasStaticShape() ? type.getShape() : getShape()),
        ArrayRef<int64_t>{0, 0}));
    return success();
  }
  results.push_back(rule.create<ReshapeOp>(
      rule[0], withFirst(isKnown ? rule.size() : -1, type.hasStaticShape() ? type.getShape() : getShape())));
  return success();
}

namespace {
// The attributes `shape` and `sizes` of an operation for one example, with the examples before: their number is that of
// the first operand that has examples. An operand counts for one example less its first dimension.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> openSizes(BatchRule &rule, ArrayRef<int64_t> shape,
                                                                ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> allSizes;
  if (rule.size() == ShapedType::kDynamic) {
    unsigned first = 0;
    while (!rule.isBatched(first))
      ++first;
    allSizes = {first, 0};
  }
  for (size_t i = 0; i < sizes.size(); i += 2) {
    auto operand = static_cast<unsigned>(sizes[i]);
    allSizes.push_back(operand);
    allSizes.push_back(rule.isBatched(operand) ? rule.shifted(sizes[i + 1], rule.rank(operand)) : sizes[i + 1]);
  }
  return {withFirst(rule.size(), shape), allSizes};
}

SmallVector<Value> operandsFrom(BatchRule &rule, unsigned first) {
  SmallVector<Value> values;
  for (unsigned i = first; i < rule.numOperands(); ++i)
    values.push_back(rule[i]);
  return values;
}
} // namespace

LogicalResult ReshapeOpenOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  auto [shape, sizes] = openSizes(rule, getShape(), getSizes());
  results.push_back(rule.create<ReshapeOpenOp>(rule.all(0), operandsFrom(rule, 1), shape, sizes));
  return success();
}

LogicalResult BroadcastToOpenOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  auto [shape, sizes] = openSizes(rule, getShape(), getSizes());
  results.push_back(
      rule.create<BroadcastToOpenOp>(rule.aligned(0, getShape().size()), operandsFrom(rule, 1), shape, sizes));
  return success();
}

LogicalResult IotaOpenOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  auto [shape, sizes] = openSizes(rule, getShape(), getSizes());
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), getShape().size());
  results.push_back(rule.create<IotaOpenOp>(operandsFrom(rule, 0), shape, sizes, getDtypeAttr(), axis));
  return success();
}

LogicalResult OneHotOpenOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  // The examples are a dimension of the indices, and none of the shape.
  SmallVector<int64_t> sizes = openSizes(rule, getShape(), getSizes()).second;
  results.push_back(rule.create<OneHotOpenOp>(rule.all(0), operandsFrom(rule, 1), getShape(),
                                              ArrayRef(sizes).take_back(getSizes().size()), getDtypeAttr()));
  return success();
}

LogicalResult SizeOfOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(
      rule.repeated(rule.create<SizeOfOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0)))));
  return success();
}

LogicalResult ReshapeLikeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return rule.same(results);
}

LogicalResult MergeDimsOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<MergeDimsOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult SplitDimOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  auto ofLike = [&](int64_t axis) { return rule.isBatched(1) ? rule.shifted(axis, rule.rank(1)) : axis; };
  results.push_back(rule.create<SplitDimOp>(rule.all(0), rule[1],
                                            rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0)),
                                            ofLike(getFirst()), ofLike(getSecond())));
  return success();
}

LogicalResult ExpandDimsOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<ExpandDimsOp>(rule[0], rule.shifted(getAxes(), rule.rank(0) + getAxes().size())));
  return success();
}

LogicalResult BroadcastToOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  Value x = rule.aligned(0, getShape().size());
  if (rule.size() != ShapedType::kDynamic)
    results.push_back(rule.create<BroadcastToOp>(x, withFirst(rule.size(), getShape())));
  else
    results.push_back(rule.create<BroadcastLikeOp>(x, rule.repeated(rule.zerosLikeResult())));
  return success();
}

LogicalResult BroadcastLikeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<BroadcastLikeOp>(rule.aligned(0, rule.rank(1)), rule.all(1)));
  return success();
}

LogicalResult TransposeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t rank = rule.rank(0);
  SmallVector<int64_t> permutation(getPermutation());
  if (permutation.empty())
    for (int64_t i = rank; i-- > 0;)
      permutation.push_back(i);
  results.push_back(rule.create<TransposeOp>(rule[0], withFirst(0, rule.shifted(permutation, rank))));
  return success();
}

LogicalResult ReverseOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> axes = rule.shifted(getAxes(), rule.rank(0), true);
  // A scalar behind the mapped axis has no axes to reverse, and an empty list would mean all: it is its own result.
  results.push_back(axes.empty() ? rule[0] : rule.create<ReverseOp>(rule[0], axes));
  return success();
}

LogicalResult ConcatOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<ConcatOp>(rule.all(), rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult ConcatPartOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<Value> all = rule.all();
  results.push_back(rule.create<ConcatPartOp>(all[0], ArrayRef(all).drop_front(),
                                              rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0)), getIndex()));
  return success();
}

LogicalResult SplitOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  llvm::append_range(results, SplitOp::create(rule.builder, getLoc(), rule[0], getSizes(), axis).getParts());
  return success();
}

LogicalResult SliceOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> strides(getStrides());
  strides.resize(rule.rank(0), 1);
  strides = withFirst(1, strides);
  if (rule.size() != ShapedType::kDynamic)
    results.push_back(
        rule.create<SliceOp>(rule[0], withFirst(0, getStarts()), withFirst(rule.size(), getLimits()), strides));
  else
    results.push_back(
        rule.create<SliceLikeOp>(rule[0], rule.repeated(rule.zerosLikeResult()), withFirst(0, getStarts()), strides));
  return success();
}

LogicalResult SliceLikeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(
      rule.create<SliceLikeOp>(rule.all(0), rule.all(1), withFirst(0, getStarts()), withFirst(1, getStrides())));
  return success();
}

LogicalResult SlicePutOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(
      rule.create<SlicePutOp>(rule.all(0), rule.all(1), withFirst(0, getStarts()), withFirst(1, getStrides())));
  return success();
}

LogicalResult PadOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<PadOp>(rule[0], withFirst(0, getLow()), withFirst(0, getHigh()), getValue()));
  return success();
}

namespace {
// Adds to each index the place where its slices begin on the merged axis. An index out of range stays out of range.
Value joinedIndices(BatchRule &rule, unsigned i, int64_t count) {
  auto type = rule.exampleType(i);
  auto element = TypeAttr::get(type.getElementType());
  GradientRule constants(rule.builder, rule.op->getLoc(), rule[i]);
  Value indices = rule[i];
  Value first =
      rule.create<MulOp>(rule.aligned(rule.create<IotaOp>(ArrayRef<int64_t>{rule.size()}, element), type.getRank()),
                         constants.constant(count));
  Value below = rule.create<LessOp>(indices, constants.constant(0)),
        above = rule.create<GreaterEqualOp>(indices, constants.constant(count));
  Value outside =
      rule.create<SelectOp>(below, indices, rule.create<AddOp>(indices, constants.constant(count * rule.size())));
  return rule.create<SelectOp>(rule.create<LogicalOrOp>(below, above), outside, rule.create<AddOp>(indices, first));
}

// Moves `count` axes from position `from` to position `to`.
Value moveRange(BatchRule &rule, Value value, int64_t from, int64_t count, int64_t to) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  SmallVector<int64_t> moved(permutation.begin() + from, permutation.begin() + from + count);
  permutation.erase(permutation.begin() + from, permutation.begin() + from + count);
  permutation.insert(permutation.begin() + to, moved.begin(), moved.end());
  return llvm::is_sorted(permutation) ? value : rule.create<TransposeOp>(value, permutation);
}
} // namespace

LogicalResult GatherOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = static_cast<int64_t>(getAxis()) < 0 ? static_cast<int64_t>(getAxis()) + rule.rank(0) : getAxis();
  if (!rule.isBatched(1)) {
    results.push_back(withExamplesOf(*this, rule.create<GatherOp>(rule[0], rule[1], axis + 1)));
  } else if (!rule.isBatched(0)) {
    results.push_back(rule.toFront(withExamplesOf(*this, rule.create<GatherOp>(rule[0], rule[1], axis)), axis));
  } else {
    if (failed(rule.requireKnownSizes()))
      return failure();
    // [B, axis, ...] becomes [B * axis, ...].
    Value slices = rule.merge(rule.move(rule[0], axis + 1, 1));
    Value indices = joinedIndices(rule, 1, rule.exampleType(0).getDimSize(axis));
    Value gathered = withExamplesOf(*this, rule.create<GatherOp>(slices, indices, 0), rule.size());
    results.push_back(moveRange(rule, gathered, 1, rule.rank(1), axis + 1));
  }
  return success();
}

LogicalResult UpdateAtOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(1))
    return rule.unrolled(results);
  results.push_back(rule.create<UpdateAtOp>(rule.all(0), rule[1], rule.all(2), rule.shifted(getAxis(), rule.rank(0))));
  return success();
}

LogicalResult GatherPutOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = static_cast<int64_t>(getAxis()) < 0 ? static_cast<int64_t>(getAxis()) + rule.rank(1) : getAxis();
  if (!rule.isBatched(2)) {
    results.push_back(withExamplesOf(*this, rule.create<GatherPutOp>(rule.all(0), rule.all(1), rule[2], axis + 1)));
    return success();
  }
  if (failed(rule.requireKnownSizes()))
    return failure();
  Value slices = moveRange(rule, rule.all(0), axis + 1, rule.rank(2), 1), like = rule.move(rule.all(1), axis + 1, 1);
  Value indices = joinedIndices(rule, 2, rule.exampleType(1).getDimSize(axis));
  Value joined = withExamplesOf(*this, rule.create<GatherPutOp>(slices, rule.merge(like), indices, 0), rule.size());
  results.push_back(rule.move(rule.part(joined, like), 1, axis + 1));
  return success();
}

} // namespace calque::ir
