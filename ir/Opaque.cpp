#include "ir/Opaque.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace calque::ir {

Value makeOpaque(OpBuilder &builder, Location location, Value value) {
  return LLVM::FreezeOp::create(builder, location, value);
}

bool isOpaque(Operation *op) { return isa<LLVM::FreezeOp>(op); }

} // namespace calque::ir
