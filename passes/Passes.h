// The passes that transform the dialect's operations into each other.
#ifndef CALQUE_PASSES_PASSES_H
#define CALQUE_PASSES_PASSES_H

#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace calque {

// The attribute of a function that lists the arguments, of variables, whose new values are its last results.
inline constexpr llvm::StringLiteral kAssignedAttr = "calque.assigned";

// The attribute of a function that lists its boxed results: stacks of one entry, whose sizes are late.
inline constexpr llvm::StringLiteral kLateAttr = "calque.late";

// The attribute of a loop that lists the loop variables which are stacks of one entry.
inline constexpr llvm::StringLiteral kBoxesAttr = "calque.boxes";

// The attribute of an operation on entries that lists for each result an operand which has its sizes, or -1 where these
// are known.
inline constexpr llvm::StringLiteral kLikesAttr = "calque.likes";

// The attribute of an assertion that an operation's results are finite if its operands are.
inline constexpr llvm::StringLiteral kChecksNumerics = "calque.checks_numerics";

// Which results of a function are connected, if its last operation is a `gradient` and the function returns results of
// it. Expands the transformations in the function. True for a result of which that can't be said.
llvm::SmallVector<bool> connectedResults(mlir::func::FuncOp function);

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace calque
#endif
