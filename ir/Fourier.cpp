// Fourier transforms: of complex numbers as those of parts, derivatives, and those of parts as those of pairs.
#include "ir/GradientRule.h"
#include "ir/Parts.h"
#include "schema/Moves.h"

using namespace mlir;

namespace calque::ir {

namespace {

int64_t rankOf(Value x) { return cast<RankedTensorType>(x.getType()).getRank(); }

Value partOf(GradientRule &rule, Value pairs, bool imaginary) { return rule.create<PartOfPairsOp>(pairs, imaginary); }

// Cotangents of both parts, one of which may be null.
std::pair<Value, Value> bothParts(GradientRule &rule, ValueRange cotangents) {
  Value re = cotangents[0], im = cotangents[1];
  return {re ? re : rule.zerosLike(im), im ? im : rule.zerosLike(re)};
}

} // namespace

//===-- Parts of complex numbers ----------------------------------------------------------------===//

LogicalResult FourierOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  llvm::append_range(results, FourierPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im, getColumns(),
                                                     getInverse(), getDivisor())
                                  .getResults());
  return success();
}

LogicalResult RealFourierOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  llvm::append_range(
      results,
      RealFourierPartsOp::create(builder, getLoc(), operands[0].re, getDivisorAttr(), getInnerAttr()).getResults());
  return success();
}

LogicalResult FourierToRealOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands,
                                          SmallVectorImpl<Value> &results) {
  results.push_back(FourierToRealPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im, getLengthAttr(),
                                                 getDivisorAttr(), getInnerAttr()));
  return success();
}

//===-- Derivatives -----------------------------------------------------------------------------===//

// The matrix of the transform is symmetric. As one of real numbers, its transposed one has the conjugate elements.
void FourierPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                              SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getOfRe());
  auto [re, im] = bothParts(rule, cotangents);
  llvm::append_range(
      operandCotangents,
      FourierPartsOp::create(builder, getLoc(), re, im, getColumns(), !getInverse(), getDivisor()).getResults());
}

void RealFourierPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                                  SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getRe());
  auto [re, im] = bothParts(rule, cotangents);
  const int64_t length = cast<RankedTensorType>(getX().getType()).getShape().back();
  operandCotangents.push_back(FourierToRealPartsOp::create(builder, getLoc(), re, im, builder.getI64IntegerAttr(length),
                                                           getDivisorAttr(), getInnerAttr()));
}

void FourierToRealPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                                    SmallVectorImpl<Value> &operandCotangents) {
  llvm::append_range(
      operandCotangents,
      RealFourierPartsOp::create(builder, getLoc(), cotangents[0], getDivisorAttr(), getInnerAttr()).getResults());
}

//===-- Pairs -----------------------------------------------------------------------------------===//

SmallVector<Value> FourierPartsOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getOfRe());
  const int64_t rank = rankOf(getRe());
  Value pairs = rule.create<PairsOfOp>(getRe(), getIm());
  Value columns = getColumns() ? pairs : rule.create<ExpandDimsOp>(pairs, ArrayRef<int64_t>{rank});
  Value transformed = rule.create<FourierPairsOp>(columns, getInverse(), getDivisor());
  pairs = getColumns() ? transformed : rule.create<ReshapeLikeOp>(transformed, pairs);
  return {partOf(rule, pairs, false), partOf(rule, pairs, true)};
}

SmallVector<Value> RealFourierPartsOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getRe());
  Value pairs = rule.create<RealFourierPairsOp>(getX(), getDivisorAttr(), getInnerAttr());
  return {partOf(rule, pairs, false), partOf(rule, pairs, true)};
}

SmallVector<Value> FourierToRealPartsOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  Value pairs = rule.create<PairsOfOp>(getRe(), getIm());
  return {rule.create<FourierToRealPairsOp>(pairs, getLengthAttr(), getDivisorAttr(), getInnerAttr())};
}

// Pairs whose parts were just taken of them.
OpFoldResult PairsOfOp::fold(FoldAdaptor) {
  auto re = getReal().getDefiningOp<PartOfPairsOp>(), im = getImag().getDefiningOp<PartOfPairsOp>();
  if (re && im && !re.getImaginary() && im.getImaginary() && re.getX() == im.getX() && re.getX().getType() == getType())
    return re.getX();
  return {};
}

OpFoldResult PartOfPairsOp::fold(FoldAdaptor) {
  auto pairs = getX().getDefiningOp<PairsOfOp>();
  if (!pairs)
    return {};
  Value part = getImaginary() ? pairs.getImag() : pairs.getReal();
  return part.getType() == getType() ? OpFoldResult(part) : OpFoldResult();
}

namespace {

// Whether the operation gives the elements of its first operand in their order.
bool keepsOrder(Operation *op) {
  auto record = dyn_cast_if_present<SchemaOpInterface>(op);
  return record && (schema::moveRuleOf(record.schemaId()) == schema::moveRuleOf(schema::OpId::Reshape) ||
                    isa<ReshapeOpenOp>(op)); // which has no rule, because its sizes are not in the record
}

// The pairs of which these are the two parts, or the two parts in other shapes; else null.
Value pairsOfParts(Value re, Value im) {
  auto real = re.getDefiningOp<PartOfPairsOp>(), imag = im.getDefiningOp<PartOfPairsOp>();
  if (real && imag)
    return !real.getImaginary() && imag.getImaginary() && real.getX() == imag.getX() ? real.getX() : Value();
  Operation *a = re.getDefiningOp(), *b = im.getDefiningOp();
  if (!keepsOrder(a) || !b || a->getName() != b->getName() || a->getAttrs() != b->getAttrs() ||
      a->getNumOperands() != b->getNumOperands() || re.getType() != im.getType())
    return {};
  // The other operands give sizes, which parts of the same pairs have in common.
  for (auto [x, y] : llvm::drop_begin(llvm::zip_equal(a->getOperands(), b->getOperands())))
    if (x != y && !pairsOfParts(x, y))
      return {};
  return pairsOfParts(a->getOperand(0), b->getOperand(0));
}

// Pairs of parts in another shape are the pairs in that shape, so that nothing is copied.
struct ReshapePairs : OpRewritePattern<PairsOfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PairsOfOp op, PatternRewriter &rewriter) const override {
    Value pairs = pairsOfParts(op.getReal(), op.getImag());
    if (!pairs)
      return failure();
    auto type = cast<RankedTensorType>(op.getType());
    if (type.hasStaticShape()) {
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, pairs, type.getShape());
      return success();
    }
    SmallVector<int64_t> sizes;
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        sizes.append({1, static_cast<int64_t>(axis)});
    auto shaped = ReshapeOpenOp::create(rewriter, op.getLoc(), pairs, ValueRange{op.getReal()}, type.getShape(), sizes);
    if (shaped.getType() != type)
      return failure();
    rewriter.replaceOp(op, shaped);
    return success();
  }
};

} // namespace

void addPairsPatterns(RewritePatternSet &patterns) { patterns.add<ReshapePairs>(patterns.getContext()); }

} // namespace calque::ir
