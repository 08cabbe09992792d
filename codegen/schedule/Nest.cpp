#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// Adds factor * expression to an access.
LogicalResult addLinear(AffineExpr expression, int64_t factor, Access &access) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    access.offset += factor * constant.getValue();
    return success();
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
    access.strides[dim.getPosition()] += factor;
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), factor, access)) && succeeded(addLinear(binary.getRHS(), factor, access)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return addLinear(binary.getLHS(), factor * constant.getValue(), access);
}

FailureOr<Access> accessOf(OpOperand &operand, AffineMap map, unsigned numLoops, OpBuilder &builder) {
  Access access;
  access.strides.assign(numLoops, 0);
  access.value = operand.get();
  access.element = getElementTypeOrSelf(operand.get().getType());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type) {
    access.isBuffer = false;
    return access;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  access.offset = offset;
  for (auto [expression, stride] : llvm::zip_equal(map.getResults(), strides))
    if (failed(addLinear(expression, stride, access)))
      return failure();
  access.value = flatView(builder, operand.getOwner()->getLoc(), operand.get());
  return access;
}

void dropLoop(Nest &nest, unsigned loop) {
  nest.extents.erase(nest.extents.begin() + loop);
  nest.isReduction.erase(nest.isReduction.begin() + loop);
  for (auto *accesses : {&nest.inputs, &nest.outputs})
    for (Access &access : *accesses)
      access.strides.erase(access.strides.begin() + loop);
  for (int64_t &mapped : nest.loopOf)
    mapped = mapped == loop ? -1 : mapped > static_cast<int64_t>(loop) ? mapped - 1 : mapped;
}

// Whether loop `outer` around `inner` visits what one loop over both would.
bool canMerge(const Nest &nest, unsigned outer, unsigned inner) {
  if (nest.isReduction[outer] != nest.isReduction[inner])
    return false;
  auto merges = [&](const Access &access) { return !access.isBuffer || access.strides[outer] == access.strides[inner] * nest.extents[inner]; };
  return llvm::all_of(nest.inputs, merges) && llvm::all_of(nest.outputs, merges);
}

bool mergeOnce(Nest &nest) {
  SmallVector<bool> isIndexed(nest.numLoops(), false);
  nest.body->walk([&](linalg::IndexOp index) {
    if (int64_t loop = nest.loopOf[index.getDim()]; loop >= 0)
      isIndexed[loop] = true;
  });
  for (unsigned outer = 0; outer < nest.numLoops(); ++outer)
    for (unsigned inner = 0; inner < nest.numLoops(); ++inner) {
      if (outer == inner || isIndexed[outer] || isIndexed[inner] || !canMerge(nest, outer, inner))
        continue;
      nest.extents[inner] *= nest.extents[outer];
      dropLoop(nest, outer);
      return true;
    }
  return false;
}

} // namespace

Value flatView(OpBuilder &builder, Location location, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset, last = 0;
  (void)type.getStridesAndOffset(strides, offset);
  last = offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    last += (size - 1) * stride;
  auto flat = MemRefType::get({last + 1}, type.getElementType());
  if (type == flat)
    return buffer;
  return memref::ReinterpretCastOp::create(builder, location, flat, buffer, 0, ArrayRef<int64_t>{last + 1}, ArrayRef<int64_t>{1});
}

Value rootBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

FailureOr<Nest> Nest::of(linalg::LinalgOp op, OpBuilder &builder) {
  Nest nest;
  nest.op = op;
  nest.body = op.getBlock();
  SmallVector<int64_t, 4> extents = op.getStaticLoopRanges();
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return failure();
  nest.extents.assign(extents.begin(), extents.end());
  for (utils::IteratorType iterator : op.getIteratorTypesArray())
    nest.isReduction.push_back(iterator == utils::IteratorType::reduction);
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Access> access = accessOf(operand, op.getMatchingIndexingMap(&operand), nest.extents.size(), builder);
    if (failed(access))
      return failure();
    access->isUsed = !op.getMatchingBlockArgument(&operand).use_empty();
    // An input that only gives loops their bounds is none.
    access->isBuffer &= access->isUsed || op.isDpsInit(&operand);
    (op.isDpsInit(&operand) ? nest.outputs : nest.inputs).push_back(*access);
  }
  nest.loopOf = llvm::to_vector(llvm::seq<int64_t>(0, nest.numLoops()));
  for (unsigned loop = nest.numLoops(); loop-- > 0;)
    if (nest.extents[loop] == 1)
      dropLoop(nest, loop);
  while (mergeOnce(nest)) {
  }
  return nest;
}

int64_t Nest::iterations() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

int64_t Nest::iterations(bool reduction) const {
  int64_t count = 1;
  for (unsigned i = 0; i < numLoops(); ++i)
    if (isReduction[i] == reduction)
      count *= extents[i];
  return count;
}

unsigned Nest::split(unsigned loop, int64_t size) {
  extents.push_back(extents[loop] / size);
  isReduction.push_back(isReduction[loop]);
  extents[loop] = size;
  for (auto *accesses : {&inputs, &outputs})
    for (Access &access : *accesses)
      access.strides.push_back(access.strides[loop] * size);
  return numLoops() - 1;
}

void Nest::slice(unsigned loop, int64_t start, int64_t count) {
  extents[loop] = count;
  for (auto *accesses : {&inputs, &outputs})
    for (Access &access : *accesses)
      access.offset += access.strides[loop] * start;
}

} // namespace calque::codegen
