// The passes that lower a program and its kernels. Where a pass is defined, the dialects are included that it makes
// operations of: the headers of some take longer to compile than the pass.
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
