// The kernels of a scheduled program as a table: what each call does, how, where in the user's program it comes from,
// and what it costs.
#ifndef CALQUE_CODEGEN_SCHEDULETABLE_H
#define CALQUE_CODEGEN_SCHEDULETABLE_H

#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

// Prints the calls of a program at the stage scheduled, in their order, and those of its parts.
void printSchedule(mlir::ModuleOp program, llvm::raw_ostream &os);

} // namespace calque::codegen
#endif
