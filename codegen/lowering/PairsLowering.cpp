// Complex numbers in memory: their parts alternate.
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace calque::codegen {

Lowered lower(LinalgBuilder &b, ir::PartOfPairsOp op, LoweringContext &) {
  return b.extractLast(op.getX(), op.getImaginary() ? 1 : 0);
}

Lowered lower(LinalgBuilder &b, ir::PairsOfOp op, LoweringContext &context) {
  for (int64_t i = 0; i < LinalgBuilder::rankOf(op.getReal()); ++i)
    context.equal(op, b.sizes.named(op, 0, i), b.sizes.named(op, 1, i));
  SizeList shape = b.sizesOf(op.getReal());
  shape.push_back(b.sizes.constant(2));
  Value result = b.empty(shape, elementOf(op.getResult()));
  result = b.insertLast(op.getReal(), result, 0);
  return b.insertLast(op.getImag(), result, 1);
}

} // namespace calque::codegen
