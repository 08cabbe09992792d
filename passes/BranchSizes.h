// Where the sizes of what a region gives come from.
#ifndef CALQUE_PASSES_BRANCHSIZES_H
#define CALQUE_PASSES_BRANCHSIZES_H

#include "ir/Dialect.h"

#include <optional>

namespace calque {

// For each unknown size of a cond's results an input and a dimension that have the same size: input, dimension, ...
// Nothing where there is a size that is that of no input.
std::optional<llvm::SmallVector<int64_t>> sourcesOfSizes(ir::CondOp op);

// For each value that a region gives and that has unknown sizes, an argument of its type that has the same ones; null
// where there is none.
llvm::SmallVector<mlir::Value> argumentsOfSizes(mlir::Region &region);

} // namespace calque
#endif
