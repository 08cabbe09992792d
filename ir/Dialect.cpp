#include "ir/Dialect.h"
#include "ir/Algebra.h"
#include "ir/BatchRule.h"
#include "ir/Conversion.h"
#include "ir/GradientRule.h"
#include "ir/ScalarBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include "ir/Dialect.cpp.inc"
#include "ir/Interfaces.cpp.inc"

#define GET_OP_REGISTRATION_HOOKS
#include "ir/Operations.cpp.inc"

namespace calque::ir {

void CalqueDialect::initialize() { registerCalqueDialectOperations(this); }

#include "ir/Methods.cpp.inc"

} // namespace calque::ir
