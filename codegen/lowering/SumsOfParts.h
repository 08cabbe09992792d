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
    mlir::Operation *put; // the part, whose only use the addition is
    bool isInsertion;     // there are zeros where it is so far
    bool isFirst;         // no part has been added before
  };
  llvm::DenseMap<mlir::Operation *, Addition> additions{};
  llvm::DenseMap<mlir::Operation *, bool> firsts{}; // the first parts, and whether the parts leave out no element
  llvm::DenseSet<mlir::Operation *> added{};        // the parts that an addition lowers

  // Finds such sums in a program. Only sums whose bits are the same in both ways are found.
  static SumsOfParts in(mlir::Block &body);
};

// Lowers the first part of a sum. `leavesNone`: the parts leave out no element.
mlir::Value lowerFirstPart(LinalgBuilder &b, ir::SlicePutOp op, bool leavesNone);
// Lowers an addition of a part. Returns null if it is none.
mlir::Value lowerAddition(LinalgBuilder &b, mlir::Operation *op, LoweringContext &context);

} // namespace calque::codegen
#endif
