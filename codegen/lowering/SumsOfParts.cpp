#include "codegen/lowering/SumsOfParts.h"
#include "codegen/lowering/Indices.h"
#include "codegen/lowering/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

bool isPut(Value value, Block &body) {
  Operation *op = value.getDefiningOp();
  return isa_and_present<ir::SlicePutOp, ir::GatherPutOp, ir::PutAlongAxisOp>(op) && op->getBlock() == &body &&
         value.hasOneUse();
}

ir::AddOp additionOf(Value value, Block &body) {
  auto op = value.getDefiningOp<ir::AddOp>();
  bool isPlain = op && op->getBlock() == &body &&
                 llvm::all_of(op->getOperandTypes(), [&](Type type) { return type == op.getType(); });
  return isPlain ? op : ir::AddOp();
}

// Along each dimension, the first place, the one behind the last, and the step. Nothing where a size is not known.
struct Box {
  SmallVector<int64_t> first, end, step;

  static std::optional<Box> of(ir::SlicePutOp op) {
    auto type = cast<RankedTensorType>(op.getX().getType());
    if (!type.hasStaticShape())
      return std::nullopt;
    Box box;
    for (auto [start, size, step] : llvm::zip_equal(op.getStarts(), type.getShape(), op.getStrides())) {
      box.first.push_back(start);
      box.end.push_back(size ? start + (size - 1) * step + 1 : start);
      box.step.push_back(step);
    }
    return box;
  }

  // Whether an element may be in both. If so, `both` has those that may be.
  bool meets(const Box &other, Box &both) const {
    both = *this;
    for (size_t i = 0; i < first.size(); ++i) {
      both.first[i] = std::max(first[i], other.first[i]);
      both.end[i] = std::min(end[i], other.end[i]);
      if (both.first[i] >= both.end[i] || (step[i] == other.step[i] && (first[i] - other.first[i]) % step[i] != 0))
        return false;
    }
    return true;
  }
};

// The terms of a sum in the order in which they are added.
struct Sum {
  SmallVector<Value> terms;
  SmallVector<ir::AddOp> additions; // each adds the term after

  static Sum endingAt(ir::AddOp last, Block &body) {
    Sum sum;
    Value rest = last.getResult();
    for (ir::AddOp op = last; op; op = rest.hasOneUse() ? additionOf(rest, body) : ir::AddOp()) {
      bool isLeft = isPut(op.getLhs(), body) && !isPut(op.getRhs(), body);
      sum.terms.push_back(isLeft ? op.getLhs() : op.getRhs());
      sum.additions.push_back(op);
      rest = isLeft ? op.getRhs() : op.getLhs();
    }
    sum.terms.push_back(rest);
    std::reverse(sum.terms.begin(), sum.terms.end());
    std::reverse(sum.additions.begin(), sum.additions.end());
    return sum;
  }
};

// Whether the sum has the same bits if what is not in a part is not added to it. It begins with zeros then, of which no
// sum is -0. The sum of whole tensors is -0 where all of them are: where all parts overlap.
bool isSameInParts(const Sum &sum, Block &body) {
  if (!isa<FloatType>(getElementTypeOrSelf(sum.terms[0].getType())))
    return true;
  std::optional<Box> common;
  for (Value term : sum.terms) {
    if (!isPut(term, body))
      continue;
    auto slice = term.getDefiningOp<ir::SlicePutOp>();
    if (!slice) // a sum of zeros and slices itself
      return true;
    std::optional<Box> box = Box::of(slice);
    Box both;
    if (box && common && !common->meets(*box, both))
      return true;
    if (box)
      common = common ? both : *box;
  }
  return false;
}

// Which slices come where no term before is, up to the first term that is no slice.
SmallVector<bool> areApart(const Sum &sum, Block &body) {
  constexpr size_t kMost = 2048; // each is compared with all before
  SmallVector<bool> result(sum.terms.size(), false);
  SmallVector<Box> before;
  for (auto [number, term] : llvm::enumerate(sum.terms)) {
    auto slice = isPut(term, body) ? term.getDefiningOp<ir::SlicePutOp>() : ir::SlicePutOp();
    std::optional<Box> box = slice ? Box::of(slice) : std::nullopt;
    if (!box || number >= kMost)
      break;
    Box both;
    result[number] = llvm::none_of(before, [&](const Box &other) { return other.meets(*box, both); });
    before.push_back(*box);
  }
  return result;
}

Value plusZero(LinalgBuilder &b, Value x) {
  Type element = LinalgBuilder::typeOf(x).getElementType();
  if (!isa<FloatType>(element))
    return x;
  return b.parallel(b.sizesOf(x), element, {x}, {b.builder.getMultiDimIdentityMap(LinalgBuilder::rankOf(x))},
                    [&](ir::ScalarBuilder &s, ValueRange v) { return s.add(v[0], s.constant(0, element)); });
}

} // namespace

SumsOfParts SumsOfParts::in(Block &body) {
  SumsOfParts result;
  llvm::DenseSet<Operation *> seen;
  for (Operation &op : llvm::reverse(body)) {
    ir::AddOp last = op.getNumResults() == 1 ? additionOf(op.getResult(0), body) : ir::AddOp();
    if (!last || seen.contains(last))
      continue;
    Sum sum = Sum::endingAt(last, body);
    for (ir::AddOp addition : sum.additions)
      seen.insert(addition);
    auto parts = llvm::count_if(sum.terms, [&](Value term) { return isPut(term, body); });
    bool isSlice = sum.terms[0].getDefiningOp<ir::SlicePutOp>() != nullptr;
    if (parts == 0 || (parts == 1 && isPut(sum.terms[0], body)) || !isSameInParts(sum, body))
      continue;
    SmallVector<bool> apart = areApart(sum, body);
    if (isPut(sum.terms[0], body) && isSlice) {
      int64_t elements = 0;
      for (auto [term, isApart] : llvm::zip_equal(sum.terms, apart))
        if (isApart)
          elements += cast<RankedTensorType>(term.getDefiningOp()->getOperand(0).getType()).getNumElements();
      auto whole = cast<RankedTensorType>(last.getType());
      result.firsts[sum.terms[0].getDefiningOp()] = llvm::all_of(apart, [](bool is) { return is; }) &&
                                                    whole.hasStaticShape() && elements == whole.getNumElements();
    }
    bool isPartial = isPut(sum.terms[0], body);
    for (auto [number, addition] : llvm::enumerate(sum.additions)) {
      Value term = sum.terms[number + 1];
      if (!isPut(term, body))
        continue;
      result.additions[addition] = {term.getDefiningOp(), apart[0] && apart[number + 1], !isPartial};
      result.added.insert(term.getDefiningOp());
      isPartial = true;
    }
  }
  return result;
}

Value lowerAddition(LinalgBuilder &b, Operation *op, LoweringContext &context) {
  auto found = context.sums.additions.find(op);
  if (found == context.sums.additions.end())
    return {};
  auto [put, isInsertion, isFirst] = found->second;
  Value base = op->getOperand(op->getOperand(0) == put->getResult(0) ? 1 : 0);
  if (isFirst)
    base = plusZero(b, base);
  if (auto slice = dyn_cast<ir::SlicePutOp>(put)) {
    SmallVector<int64_t> strides(slice.getStrides());
    SizeList starts = b.sizes.constants(slice.getStarts());
    checkPart(b, slice, context);
    if (isInsertion)
      return b.insert(plusZero(b, slice.getX()), base, starts, strides);
    SizeList shape = b.sizesOf(slice.getX());
    Type element = LinalgBuilder::typeOf(base).getElementType();
    AffineMap map = b.builder.getMultiDimIdentityMap(shape.size());
    Value before = b.extract(base, starts, shape, strides);
    Value sum = b.parallel(shape, element, {before, slice.getX()}, {map, map},
                           [](ir::ScalarBuilder &s, ValueRange v) { return s.add(v[0], v[1]); });
    return b.insert(sum, base, starts, strides);
  }
  if (auto gather = dyn_cast<ir::GatherPutOp>(put))
    return putOnto(b, gather, base, context);
  return putOnto(b, cast<ir::PutAlongAxisOp>(put), base, context);
}

Value lowerFirstPart(LinalgBuilder &b, ir::SlicePutOp op, bool leavesNone) {
  Type element = LinalgBuilder::typeOf(op.getX()).getElementType();
  SizeList shape = b.sizesOf(op.getLike());
  Value whole = leavesNone ? b.empty(shape, element) : b.zeros(shape, element);
  return b.insert(plusZero(b, op.getX()), whole, b.sizes.constants(op.getStarts()),
                  SmallVector<int64_t>(op.getStrides()));
}

} // namespace calque::codegen
