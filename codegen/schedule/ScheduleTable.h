// The kernels of a scheduled program as a table: what each call does, how, where in the user's program it comes from,
// and what it costs.
#ifndef CALQUE_CODEGEN_SCHEDULE_SCHEDULETABLE_H
#define CALQUE_CODEGEN_SCHEDULE_SCHEDULETABLE_H

#include "program/Compiler.h"

#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

// The calls of a program and of its parts at the stage scheduled, in their order.
ScheduledProgram scheduleOf(mlir::ModuleOp program);
// What the loops of a program at the stage simplified keep for gradients, outer loops first.
std::vector<KeptByLoop> keptByLoops(mlir::ModuleOp program);
// The user's line: "model.cpp:12".
std::string lineIn(mlir::Location location);
void printSchedule(const ScheduledProgram &program, llvm::raw_ostream &os);

} // namespace calque::codegen
#endif
