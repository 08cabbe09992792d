// Finds values that have the same sizes as a region's results.
#ifndef CALQUE_PASSES_BRANCHSIZES_H
#define CALQUE_PASSES_BRANCHSIZES_H

#include "ir/Dialect.h"

#include <optional>

namespace calque {

// For each unknown size of a cond's results, an input and a dimension that have the same size: input, dimension, ...
// std::nullopt if an unknown size is not a size of any input.
std::optional<llvm::SmallVector<int64_t>> sourcesOfSizes(ir::CondOp op);

// For each value of unknown sizes that a region yields, an argument of the same type and sizes; null if there is none.
llvm::SmallVector<mlir::Value> argumentsOfSizes(mlir::Region &region);

} // namespace calque
#endif
