// Numbers of the schema as attributes of MLIR.
#ifndef CALQUE_IR_NUMBERS_H
#define CALQUE_IR_NUMBERS_H

#include "schema/Scalar.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace calque::ir {

// A number is an i1, an i64, a ui64 or an f64.
bool isNumber(mlir::Attribute attribute);
schema::Scalar toScalar(mlir::Attribute number);
mlir::TypedAttr toMlir(const schema::Scalar &number, mlir::MLIRContext *context);
// The number as an element of a type: rounded to the nearest for floating-point types, else converted as C++ does.
mlir::TypedAttr elementAttr(const schema::Scalar &number, mlir::Type element);

} // namespace calque::ir
#endif
