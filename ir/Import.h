// Builds the dialect's IR from a Recording.
#ifndef CALQUE_IR_IMPORT_H
#define CALQUE_IR_IMPORT_H

#include "ir/schema/Recording.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace calque::ir {

// The attribute of the function that lists its variables: an array of dictionaries {name, type}.
inline constexpr llvm::StringLiteral kVariablesAttr = "calque.variables";

// Returns a module with one function of the recording's name. The location of each operation is the user's line.
mlir::OwningOpRef<mlir::ModuleOp> importRecording(const schema::Recording &recording, mlir::MLIRContext *context);

// Emits a recording's operations at the builder's insertion point, with `arguments` for its parameters. Returns its
// results.
llvm::SmallVector<mlir::Value> importBody(const schema::Recording &recording, mlir::ValueRange arguments,
                                          mlir::OpBuilder &builder);

} // namespace calque::ir
#endif
