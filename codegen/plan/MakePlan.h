// Makes the plan of a program from its function. At Stage::Outlined this function is a list of calls of its own kernels
// and of the runtime's.
//
//   FailureOr<ProgramPlan> made = planIn(module);
//   made->kernels[made->plan.steps[0].kernel]; // what the first step calls
#ifndef CALQUE_CODEGEN_PLAN_MAKEPLAN_H
#define CALQUE_CODEGEN_PLAN_MAKEPLAN_H

#include "codegen/plan/ProgramAttributes.h"

namespace calque::codegen {

struct ProgramPlan {
  // A function of the module, or a kernel of the runtime.
  struct Kernel {
    mlir::func::FuncOp function;
    std::string runtime; // the name of a kernel of the runtime, else empty
  };

  ProgramInterface interface;
  runtime::Plan plan;
  std::vector<Kernel> kernels; // by their numbers in the plan
};

// Emits an error for a module that has no program at that stage.
mlir::FailureOr<ProgramPlan> planIn(mlir::ModuleOp module);

} // namespace calque::codegen
#endif
