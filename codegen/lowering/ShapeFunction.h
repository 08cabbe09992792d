// The function of shapes: from the sizes of a call's arguments it checks that they fit together, and computes the sizes
// of the results and the bytes of the workspace. The caller runs it first and allocates the buffers before anything
// else runs.
#ifndef CALQUE_CODEGEN_LOWERING_SHAPEFUNCTION_H
#define CALQUE_CODEGEN_LOWERING_SHAPEFUNCTION_H

#include "codegen/lowering/Lowering.h"
#include "codegen/plan/ProgramAttributes.h"

namespace calque::codegen {

// Makes the function of shapes of a program whose results have these types. It does the checks that the context has
// collected. Adds to `sizes` the unknown sizes of the results, and which sizes are equal. The pass PlaceBuffers adds
// the bytes of the workspace.
void makeShapeFunction(mlir::func::FuncOp program, LoweringContext &context, llvm::ArrayRef<mlir::Type> results,
                       ProgramSizes &sizes);

// The number of the function's argument that is the first unknown size.
inline constexpr unsigned kSizesOfShapes = 3;

// The most bytes of the workspace: a multiple of the alignment, so small that a size plus an offset does not overflow.
inline constexpr int64_t kMostBytes = (int64_t(1) << 62) - CALQUE_BUFFER_ALIGNMENT;
// Emits the number of bytes of a value with unknown sizes. With a `site`, which only the function of shapes gives, the
// call fails there if the value has more than kMostBytes.
mlir::Value emitBytes(mlir::OpBuilder &builder, mlir::Location location, mlir::ShapedType type,
                      mlir::ValueRange unknown, mlir::Value frame, std::optional<int32_t> site);

} // namespace calque::codegen
#endif
