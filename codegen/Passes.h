// The passes that lower a program and its kernels. The source file of a pass includes the dialects of the operations
// that it makes. This header does not, because the headers of some dialects take longer to compile than a pass.
#ifndef CALQUE_CODEGEN_PASSES_H
#define CALQUE_CODEGEN_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace calque::codegen {

#define GEN_PASS_DECL
#include "codegen/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "codegen/Passes.h.inc"

} // namespace calque::codegen
#endif
