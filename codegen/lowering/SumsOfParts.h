// Sums of tensors that are zero but in a part, as where gradients of several slices or gathers of one tensor are added.
// Each part is added to the sum before in place, so that the time grows with the parts, and not with their number times
// the whole tensor.
#ifndef CALQUE_CODEGEN_LOWERING_SUMSOFPARTS_H
#define CALQUE_CODEGEN_LOWERING_SUMSOFPARTS_H

#include "codegen/lowering/LinalgBuilder.h"
#include "ir/Dialect.h"

namespace calque::codegen {

struct LoweringContext;

// What is done in another way than operation by operation.
struct SumsOfParts {
  struct Addition {
    mlir::Operation *put; // the part, whose only use the addition is
    bool isInsertion;     // there are zeros where it is so far
    bool isFirst;         // no part has been added before
  };
  llvm::DenseMap<mlir::Operation *, Addition> additions{};
  llvm::DenseMap<mlir::Operation *, bool> firsts{}; // the first parts, and whether the parts leave out no element
  llvm::DenseSet<mlir::Operation *> added{};        // the parts that an addition lowers

  // Finds such sums in a program, of which each has the same bits in both ways.
  static SumsOfParts in(mlir::Block &body);
};

// Lowers the first part of a sum. `leavesNone`: the parts leave out no element.
mlir::Value lowerFirstPart(LinalgBuilder &b, ir::SlicePutOp op, bool leavesNone);
// Lowers an addition of a part. Returns null if it is none.
mlir::Value lowerAddition(LinalgBuilder &b, mlir::Operation *op, LoweringContext &context);

} // namespace calque::codegen
#endif
