// The rules of contractions. The cotangent of an operand is the contraction of the result's cotangent with the other
// operand.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace calque::ir {

namespace {

// One operand of a contraction and its kinds of dimensions, which are non-negative.
struct Side {
  Value value;
  SmallVector<int64_t> batch, contracting, free;
};

Side describe(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto normal = [&](ArrayRef<int64_t> axes) {
    return SmallVector<int64_t>(llvm::map_range(axes, [&](int64_t axis) { return schema::normalAxis(axis, rank); }));
  };
  Side side{value, normal(batch), normal(contracting), {}};
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(side.batch, i) && !llvm::is_contained(side.contracting, i))
      side.free.push_back(i);
  return side;
}

// The cotangent of `self`. Its free dimensions begin at `selfFree` in the result, those of `other` at `otherFree`.
Value cotangentOf(GradientRule &rule, const Side &self, const Side &other, Value g, int64_t selfFree,
                  int64_t otherFree) {
  auto range = [](int64_t begin, size_t count) { return llvm::to_vector(llvm::seq<int64_t>(begin, begin + count)); };
  // The product has the batch dimensions, and then self's free ones and the contracting ones in the order of `other`,
  // or the other way round: its operands may stand in either order.
  SmallVector<int64_t> order = range(0, other.contracting.size());
  llvm::sort(order, [&](int64_t a, int64_t b) { return other.contracting[a] < other.contracting[b]; });
  SmallVector<int64_t> contracting = llvm::map_to_vector(order, [&](int64_t i) { return self.contracting[i]; });
  auto permutationOf = [&](ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
    SmallVector<int64_t> standsFor(self.batch);
    llvm::append_range(standsFor, first);
    llvm::append_range(standsFor, second);
    SmallVector<int64_t> permutation(standsFor.size());
    for (auto [position, dim] : llvm::enumerate(standsFor))
      permutation[dim] = position;
    return permutation;
  };
  SmallVector<int64_t> batch = range(0, self.batch.size()), summed = range(otherFree, other.free.size());
  SmallVector<int64_t> permutation = permutationOf(self.free, contracting);
  const bool isInOrder = llvm::is_sorted(permutation);
  if (!isInOrder && llvm::is_sorted(permutationOf(contracting, self.free)))
    return rule.create<ContractOp>(other.value, g, other.batch, batch, other.free, summed);
  Value product = rule.create<ContractOp>(g, other.value, batch, other.batch, summed, other.free);
  return isInOrder ? product : rule.create<TransposeOp>(product, permutation);
}

} // namespace

void ContractOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                          SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Side lhs = describe(getLhs(), getLhsBatch(), getLhsContracting());
  Side rhs = describe(getRhs(), getRhsBatch(), getRhsContracting());
  int64_t lhsFree = lhs.batch.size(), rhsFree = lhsFree + lhs.free.size();
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = cotangentOf(rule, lhs, rhs, cotangents[0], lhsFree, rhsFree);
  if (needed[1])
    operandCotangents[1] = cotangentOf(rule, rhs, lhs, cotangents[0], rhsFree, lhsFree);
}

LogicalResult ContractOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  Side sides[] = {describe(getLhs(), getLhsBatch(), getLhsContracting()),
                  describe(getRhs(), getRhsBatch(), getRhsContracting())};
  for (unsigned i : {0u, 1u})
    if (rule.isBatched(i))
      for (auto *dims : {&sides[i].batch, &sides[i].contracting})
        for (int64_t &dim : *dims)
          ++dim;
  bool both = rule.isBatched(0) && rule.isBatched(1);
  if (both)
    for (Side &side : sides)
      side.batch.insert(side.batch.begin(), 0);
  Value product = rule.create<ContractOp>(rule[0], rule[1], sides[0].batch, sides[1].batch, sides[0].contracting,
                                          sides[1].contracting);
  // With one batched operand, the mapped axis is the first of that operand's free dimensions.
  int64_t axis =
      both ? 0 : static_cast<int64_t>(sides[0].batch.size() + (rule.isBatched(1) ? sides[0].free.size() : 0));
  results.push_back(rule.toFront(product, axis));
  return success();
}

} // namespace calque::ir
