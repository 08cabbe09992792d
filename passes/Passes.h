// The passes that transform the dialect's operations into each other.
#ifndef CALQUE_PASSES_PASSES_H
#define CALQUE_PASSES_PASSES_H

#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace calque {

// The attribute of a function that lists the arguments that are variables with new values. The new values are the
// function's last results.
inline constexpr llvm::StringLiteral kAssignedAttr = "calque.assigned";

// The attribute of a function that lists its boxed results: stacks of one entry, whose sizes are late.
inline constexpr llvm::StringLiteral kLateAttr = "calque.late";

// The attribute of a loop that lists the loop variables which are stacks of one entry.
inline constexpr llvm::StringLiteral kBoxesAttr = "calque.boxes";

// The attribute of an operation on entries that lists for each result an operand with the same sizes, or -1 if the
// sizes are known.
inline constexpr llvm::StringLiteral kLikesAttr = "calque.likes";

// The attribute of an assertion that checks that an operation's results are finite if its operands are finite.
inline constexpr llvm::StringLiteral kChecksNumerics = "calque.checks_numerics";

// Which results of a function are connected. The function's last operation is a `gradient`, and the function returns
// its results. Expands the transformations in the function. True for a result if connection can't be decided.
llvm::SmallVector<bool> connectedResults(mlir::func::FuncOp function);

// Whether a function has complex numbers, which splitComplex replaces by their parts.
bool hasComplexNumbers(mlir::func::FuncOp function);
llvm::LogicalResult splitComplex(mlir::func::FuncOp function);

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace calque
#endif
