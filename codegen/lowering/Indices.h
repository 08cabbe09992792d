// Helpers of lowerings that check elements, such as indices.
#ifndef CALQUE_CODEGEN_LOWERING_INDICES_H
#define CALQUE_CODEGEN_LOWERING_INDICES_H

#include "codegen/lowering/Lowering.h"

namespace calque::codegen {

// The number of rows that a loop must search for the first bad row: all of them if there is a bad one, else none.
// `isBad` gets a row's elements of the inputs, whose maps have one loop. This question is answered with vectors and
// threads; the searching loop goes element by element, but runs only in a call that fails.
Size rowsToSearch(LinalgBuilder &b, Size rows, llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                  LinalgBuilder::Body isBad);

// Fails the call for the first index that is not within [0, bound). With several bounds, or none, the last dimension of
// the indices has one index for each bound.
void checkIndices(LinalgBuilder &b, mlir::Operation *op, mlir::Value indices, llvm::ArrayRef<Size> bounds,
                  LoweringContext &context);

// The index clamped to [0, bound), so that the access is safe after a failed check. `given` is the bound where it is
// not a constant.
mlir::Value clampIndex(ir::ScalarBuilder &s, mlir::Value index, Size bound, mlir::Value given);

// Adds slices or elements to a tensor of the sizes of `like`, at indices.
mlir::Value putOnto(LinalgBuilder &b, ir::GatherPutOp op, mlir::Value base, LoweringContext &context);
mlir::Value putOnto(LinalgBuilder &b, ir::PutAlongAxisOp op, mlir::Value base, LoweringContext &context);
// Adds the checks that every element of a slice lies within the whole.
void checkPart(LinalgBuilder &b, ir::SlicePutOp op, LoweringContext &context);

// The bounds of loops that store slices of these sizes along an axis, whose size is `given` where it is not a constant.
SizeList boundsToStore(LinalgBuilder &b, llvm::ArrayRef<Size> slices, mlir::Value given);

} // namespace calque::codegen
#endif
