// The types of the dialect.
#ifndef CALQUE_IR_TYPES_H
#define CALQUE_IR_TYPES_H

#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "ir/Types.h.inc"

#endif
