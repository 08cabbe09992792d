// Reads the plan of a program off its function, which at Stage::Outlined is a list of calls: of kernels, and of the
// runtime's.
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
    std::string runtime; // its name, empty for a function of the module
  };

  ProgramInterface interface;
  runtime::Plan plan;
  std::vector<Kernel> kernels; // the plan's
};

// Emits an error for a module that has no program at that stage.
mlir::FailureOr<ProgramPlan> planIn(mlir::ModuleOp module);

} // namespace calque::codegen
#endif
