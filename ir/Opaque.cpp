#include "ir/Opaque.h"

using namespace mlir;

namespace calque::ir {

// LLVM::FreezeOp by its name: the header that declares it takes longer to compile than all files of a batch.
static constexpr StringLiteral kFreeze = "llvm.freeze";

Value makeOpaque(OpBuilder &builder, Location location, Value value) {
  OperationState state(location, kFreeze, value, value.getType());
  return builder.create(state)->getResult(0);
}

bool isOpaque(Operation *op) { return op->getName().getStringRef() == kFreeze; }

} // namespace calque::ir
