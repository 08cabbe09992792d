// The rules of convolutions and pooling. A convolution is bilinear in images and filters, and so are its two gradients:
// the three operations are closed under differentiation. So are max_pool, max_pool_grad and max_pool_pick, and sum_pool
// and sum_pool_grad.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

namespace {
// Another operation with the attributes of a convolution, or of pooling.
template <typename Op, typename From, typename... Operands>
Value convolution(GradientRule &rule, From from, Operands... operands) {
  return rule.create<Op>(operands..., from.getStrides(), from.getPadding(), from.getPads(), from.getDilations(),
                         from.getGroups());
}
template <typename Op, typename From, typename... Operands>
Value pooling(GradientRule &rule, From from, Operands... operands) {
  return rule.create<Op>(operands..., from.getWindow(), from.getStrides(), from.getPadding(), from.getPads());
}
} // namespace

void ConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                      SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = convolution<ConvInputGradOp>(rule, *this, cotangents[0], getFilter(), getInput());
  if (needed[1])
    operandCotangents[1] = convolution<ConvFilterGradOp>(rule, *this, getInput(), cotangents[0], getFilter());
}

void ConvInputGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = convolution<ConvOp>(rule, *this, cotangents[0], getFilter());
  if (needed[1])
    operandCotangents[1] = convolution<ConvFilterGradOp>(rule, *this, cotangents[0], getCotangent(), getFilter());
}

void ConvFilterGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = convolution<ConvInputGradOp>(rule, *this, getCotangent(), cotangents[0], getInput());
  if (needed[1])
    operandCotangents[1] = convolution<ConvOp>(rule, *this, getInput(), cotangents[0]);
}

void MaxPoolOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, pooling<MaxPoolGradOp>(rule, *this, getInput(), cotangents[0]));
}

void MaxPoolGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[1])
    operandCotangents[1] = pooling<MaxPoolPickOp>(rule, *this, getInput(), cotangents[0]);
}

void MaxPoolPickOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[1])
    operandCotangents[1] = pooling<MaxPoolGradOp>(rule, *this, getInput(), cotangents[0]);
}

void SumPoolOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, pooling<SumPoolGradOp>(rule, *this, cotangents[0], getInput()));
}

void SumPoolGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = pooling<SumPoolOp>(rule, *this, cotangents[0]);
}

//===-- Tangents --------------------------------------------------------------------------------===//

void MaxPoolOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, pooling<MaxPoolPickOp>(rule, *this, getInput(), tangents[0]));
}

//===-- Batching --------------------------------------------------------------------------------===//
// The mapped axis of images is merged into the batch dimension, that of filters without groups into the filters. Else
// the examples are groups: their channels and filters stand one after the other, and none meets those of another.

namespace {
// `like` has, behind the mapped axis, the size of the result's last dimension as its last one.
template <typename Op> LogicalResult inGroups(BatchRule &rule, Op op, Value like, SmallVectorImpl<Value> &results) {
  int64_t groups = 0;
  if (rule.size() == ShapedType::kDynamic || rule.size() == 0 ||
      __builtin_mul_overflow(rule.size(), static_cast<int64_t>(op.getGroups()), &groups))
    return rule.unrolled(results);
  GradientRule make(rule.builder, op.getLoc(), op.getResult());
  SmallVector<Value> merged;
  for (unsigned i = 0; i < rule.numOperands(); ++i)
    merged.push_back(rule.mergeInto(i == 2 ? like : rule.all(i), rule.rank(i) - 1));
  Value all;
  if constexpr (std::is_same_v<Op, ConvOp>)
    all = make.create<Op>(merged[0], merged[1], op.getStrides(), op.getPadding(), op.getPads(), op.getDilations(),
                          groups);
  else
    all = make.create<Op>(merged[0], merged[1], merged[2], op.getStrides(), op.getPadding(), op.getPads(),
                          op.getDilations(), groups);
  int64_t last = rule.rank(0) - 1;
  results.push_back(rule.partFrom(all, last, like, last + 1));
  return success();
}
} // namespace

LogicalResult ConvOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  const int64_t last = rule.rank(1) - 1;
  if (!rule.isBatched(1))
    results.push_back(rule.part(rule.apply({rule.merge(rule[0]), rule[1]}), rule[0]));
  else if (!rule.isBatched(0) && getGroups() == 1)
    results.push_back(rule.partFrom(rule.apply({rule[0], rule.mergeInto(rule[1], last)}), last, rule[1], last + 1));
  else
    return inGroups(rule, *this, rule[1], results);
  return success();
}

LogicalResult ConvInputGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  const int64_t last = rule.rank(1) - 1;
  if (!rule.isBatched(1)) {
    Value cotangents = rule.all(0);
    results.push_back(rule.part(rule.apply({rule.merge(cotangents), rule[1], rule.merge(rule.all(2))}), cotangents));
    return success();
  }
  if (rule.isBatched(0) || getGroups() != 1)
    return inGroups(rule, *this, rule.repeated(rule.example(2)), results);
  Value filters = rule.mergeInto(rule[1], last - 1), like = rule.mergeInto(rule.repeated(rule.example(2)), last);
  Value all = rule.apply({rule[0], filters, like});
  results.push_back(rule.partFrom(all, last, rule[1], last));
  return success();
}

LogicalResult ConvFilterGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  const int64_t last = rule.rank(0) - 1;
  Value like = rule.repeated(rule.example(2));
  if ((rule.isBatched(0) && rule.isBatched(1)) || getGroups() != 1)
    return inGroups(rule, *this, like, results);
  if (rule.isBatched(0)) {
    Value all = rule.apply({rule.mergeInto(rule[0], last), rule[1], rule.mergeInto(like, last - 1)});
    results.push_back(rule.partFrom(all, last - 1, rule[0], last + 1));
  } else {
    Value cotangents = rule.all(1);
    Value all = rule.apply({rule[0], rule.mergeInto(cotangents, last), rule.mergeInto(like, last)});
    results.push_back(rule.partFrom(all, last, cotangents, last + 1));
  }
  return success();
}

namespace {
LogicalResult batchImages(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<Value> all = rule.all();
  SmallVector<Value> merged = llvm::map_to_vector(all, [&](Value images) { return rule.merge(images); });
  results.push_back(rule.part(rule.apply(merged), all[0]));
  return success();
}
} // namespace

LogicalResult MaxPoolOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}
LogicalResult MaxPoolGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}
LogicalResult MaxPoolPickOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}
LogicalResult SumPoolOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}
LogicalResult SumPoolGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}

} // namespace calque::ir
