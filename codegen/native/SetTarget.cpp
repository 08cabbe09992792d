#include "codegen/Passes.h"
#include "codegen/native/Target.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_SETTARGET
#include "codegen/Passes.h.inc"

namespace {

struct SetTarget : impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;
  void runOnOperation() override {
    if (!runtime::cpuNamed(cpu.getValue())) {
      getOperation().emitError("there is no target '") << cpu << "'; the targets are " << runtime::cpuNames();
      return signalPassFailure();
    }
    getOperation()->setAttr(kTargetAttr, StringAttr::get(&getContext(), cpu));
  }
};

} // namespace
} // namespace calque::codegen
