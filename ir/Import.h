// Builds the dialect's IR from a Recording.
#ifndef CALQUE_IR_IMPORT_H
#define CALQUE_IR_IMPORT_H

#include "schema/Recording.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace calque::ir {

// The attribute of the function that lists its variables: an array of dictionaries {name, type}.
inline constexpr llvm::StringLiteral kVariablesAttr = "calque.variables";

// Returns a module with one function of the recording's name. The location of each operation is the user's line, with
// its number in the recording if `numbered`.
mlir::OwningOpRef<mlir::ModuleOp> importRecording(const schema::Recording &recording, mlir::MLIRContext *context,
                                                  bool numbered = false);

// The number of the recorded operation that an operation at this location stands for; -1: none.
int64_t recordedNumber(mlir::Location location);

// Emits a recording's operations at the builder's insertion point, with `arguments` for its parameters. Returns its
// results. The operations are numbered from `number` on, if it is given.
llvm::SmallVector<mlir::Value> importBody(const schema::Recording &recording, mlir::ValueRange arguments,
                                          mlir::OpBuilder &builder, int64_t *number = nullptr);

} // namespace calque::ir
#endif
