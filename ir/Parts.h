// Complex numbers as pairs of real ones: what the pass `split-complex` and the rules that records name work with.
#ifndef CALQUE_IR_PARTS_H
#define CALQUE_IR_PARTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace calque::ir {

// The real and the imaginary part of a complex value. Of another value, `re` is the value and `im` is null.
struct Parts {
  mlir::Value re, im;
};

// Whether a type, or a tensor's element type, is complex.
inline bool isComplex(mlir::Type type) { return mlir::isa<mlir::ComplexType>(mlir::getElementTypeOrSelf(type)); }
inline bool isComplex(mlir::Value value) { return isComplex(value.getType()); }
// The type of the parts; another type itself.
mlir::Type partType(mlir::Type type);

// Emits the operation on the real parts, and on the imaginary parts where a result is complex.
llvm::LogicalResult eachPart(mlir::Operation *op, mlir::OpBuilder &builder, llvm::ArrayRef<Parts> operands,
                             llvm::SmallVectorImpl<mlir::Value> &results);

// Adds the simplifications of pairs of parts.
void addPairsPatterns(mlir::RewritePatternSet &patterns);

} // namespace calque::ir
#endif
