// Sums, products and recurrences along an axis.
#ifndef CALQUE_CODEGEN_LOWERING_CUMULATIVE_H
#define CALQUE_CODEGEN_LOWERING_CUMULATIVE_H

#include "codegen/lowering/Lowering.h"

#include <functional>

namespace calque::codegen {

// The results' elements, and what the next ones follow from.
struct CumulationStep {
  llvm::SmallVector<mlir::Value, 2> elements;
  llvm::SmallVector<mlir::Value, 2> next;
};

// What an operation does along an axis: from what is carried from element to element, scalars of one type, and the
// elements of its operands.
struct Cumulation {
  int64_t axis;
  bool reverse; // from the end of the axis
  mlir::Type carried;
  llvm::SmallVector<double, 2> starts;
  std::function<CumulationStep(ir::ScalarBuilder &, mlir::ValueRange before, mlir::ValueRange elements)> step;
};
std::optional<Cumulation> cumulationOf(mlir::Operation *op);

} // namespace calque::codegen
#endif
