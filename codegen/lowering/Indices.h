// Helpers of lowerings that check elements, such as indices.
#ifndef CALQUE_CODEGEN_LOWERING_INDICES_H
#define CALQUE_CODEGEN_LOWERING_INDICES_H

#include "codegen/lowering/Lowering.h"

namespace calque::codegen {

// The number of rows that a loop must search for the first bad row: all of them if there is a bad one, else none.
// `isBad` gets the inputs' elements of one row; the maps of the inputs have one loop, over the rows. The emitted code
// uses vectors and threads to find whether there is a bad row. The loop that searches goes element by element, but runs
// only in a call that fails.
Size rowsToSearch(LinalgBuilder &b, Size rows, llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                  LinalgBuilder::Body isBad);

// Fails the call for the first index that is not within [0, bound). With several bounds, or none, the last dimension of
// the indices has one index for each bound.
void checkIndices(LinalgBuilder &b, mlir::Operation *op, mlir::Value indices, llvm::ArrayRef<Size> bounds,
                  LoweringContext &context);

// The index clamped to [0, bound), so that the access is safe after a failed check. `given` is the bound if it is not a
// constant, else null.
mlir::Value clampIndex(ir::ScalarBuilder &s, mlir::Value index, Size bound, mlir::Value given);

// Adds slices or elements to `base` at indices. `base` has the sizes of the operation's operand `like`.
mlir::Value putOnto(LinalgBuilder &b, ir::GatherPutOp op, mlir::Value base, LoweringContext &context);
mlir::Value putOnto(LinalgBuilder &b, ir::PutAlongAxisOp op, mlir::Value base, LoweringContext &context);
// Adds the checks that every element of a slice lies within the whole.
void checkPart(LinalgBuilder &b, ir::SlicePutOp op, LoweringContext &context);

// The bounds of loops that store slices of these sizes along an axis. `given` is the axis's size if it is not a
// constant, else null: the loops run zero times if it is 0.
SizeList boundsToStore(LinalgBuilder &b, llvm::ArrayRef<Size> slices, mlir::Value given);

} // namespace calque::codegen
#endif
