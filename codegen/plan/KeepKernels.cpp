#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/plan/ProgramAttributes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_KEEPKERNELS
#include "codegen/Passes.h.inc"

namespace {

struct KeepKernels : impl::KeepKernelsBase<KeepKernels> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(kInputsAttr) || function->hasAttr(kRuntimeAttr))
        function.erase();
    for (auto constant : llvm::make_early_inc_range(getOperation().getOps<memref::GlobalOp>()))
      constant.erase();
  }
};

} // namespace
} // namespace calque::codegen
