// What kernels know of calque.scalar_function, the operation for functions that MLIR lacks.
#ifndef CALQUE_CODEGEN_SCHEDULE_SCALARFUNCTIONS_H
#define CALQUE_CODEGEN_SCHEDULE_SCALARFUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace calque::codegen {

// By its name: the dialect's header takes longer to compile than all that asks.
inline bool isScalarFunction(mlir::Operation &op) { return op.getName().getStringRef() == "calque.scalar_function"; }

// Whether an operation on numbers is one on vectors of them too. MLIR tells traits apart by numbers that another
// library may not share with it, where another compiler has built it: so it does not see those of ours.
inline bool takesVectors(mlir::Operation &op) {
  return mlir::OpTrait::hasElementwiseMappableTraits(&op) || isScalarFunction(op);
}

} // namespace calque::codegen
#endif
