// Casts of buffers to types for which a bare pointer is enough.
#ifndef CALQUE_CODEGEN_BUFFERS_BUFFERIZE_H
#define CALQUE_CODEGEN_BUFFERS_BUFFERIZE_H

#include "codegen/lowering/Sizes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace calque::codegen {

// A view of a buffer with these sizes and the strides of a dense row-major tensor.
mlir::Value contiguous(mlir::OpBuilder &builder, mlir::Value buffer, mlir::MemRefType type, llvm::ArrayRef<Size> sizes);
// The address of a buffer, as a buffer of one element.
mlir::Value addressOf(mlir::OpBuilder &builder, mlir::Location location, mlir::Value buffer);

} // namespace calque::codegen
#endif
