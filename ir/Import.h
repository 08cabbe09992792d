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

// A module with one function, named as the recording. Every operation carries the user's line.
mlir::OwningOpRef<mlir::ModuleOp> importRecording(const schema::Recording &recording, mlir::MLIRContext *context);

// Its operations where the builder stands, on given values of its parameters; returns its results.
llvm::SmallVector<mlir::Value> importBody(const schema::Recording &recording, mlir::ValueRange arguments,
                                          mlir::OpBuilder &builder);

} // namespace calque::ir
#endif
