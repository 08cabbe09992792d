// Passes from the dialect to the dialect.
#ifndef CALQUE_PASSES_PASSES_H
#define CALQUE_PASSES_PASSES_H

#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace calque {

// The attribute of a function that lists which variables its last results are the new values of.
inline constexpr llvm::StringLiteral kAssignedAttr = "calque.assigned";

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace calque
#endif
