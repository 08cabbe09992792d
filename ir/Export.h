// Builds a Recording from the dialect's IR.
#ifndef CALQUE_IR_EXPORT_H
#define CALQUE_IR_EXPORT_H

#include "schema/Recording.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace calque::ir {

// The function's operations as a Recording with the names, variables and lines of the one that it was imported from,
// with numbered operations. Fails after a diagnostic if an operation is none of the dialect.
llvm::FailureOr<schema::RecordingRef> recordingOf(mlir::func::FuncOp function, const schema::Recording &from);

} // namespace calque::ir
#endif
