// Sums of tensors that are zero outside of a part, such as the sum of the gradients of several slices or gathers of one
// tensor. Each part is added to the sum in place, so that the time grows with the sizes of the parts, and not with
// their number times the size of the whole tensor.
#ifndef CALQUE_CODEGEN_LOWERING_SUMSOFPARTS_H
#define CALQUE_CODEGEN_LOWERING_SUMSOFPARTS_H

#include "codegen/lowering/LinalgBuilder.h"
#include "ir/Dialect.h"

namespace calque::codegen {

struct LoweringContext;

// The parts and additions that are not lowered operation by operation.
struct SumsOfParts {
  struct Addition {
    mlir::Operation *put; // makes the part; the addition is its only use
    bool isInsertion;     // the sum is still zero where the part lies
    bool isFirst;         // no part has been added before
  };
  llvm::DenseMap<mlir::Operation *, Addition> additions{};
  llvm::DenseMap<mlir::Operation *, bool> firsts{}; // first parts, and whether the sum's parts cover it all
  llvm::DenseSet<mlir::Operation *> added{};        // the parts that an addition lowers

  // Finds such sums in a program. Leaves out sums that would have other bits than the sum of the whole tensors.
  static SumsOfParts in(mlir::Block &body);
};

// Lowers the first part of a sum. `leavesNone`: whether the parts cover all elements.
mlir::Value lowerFirstPart(LinalgBuilder &b, ir::SlicePutOp op, bool leavesNone);
// Lowers an addition of a part. Returns null if the operation is no such addition.
mlir::Value lowerAddition(LinalgBuilder &b, mlir::Operation *op, LoweringContext &context);

} // namespace calque::codegen
#endif
