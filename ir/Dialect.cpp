#include "ir/Dialect.h"
#include "ir/Algebra.h"
#include "ir/BatchRule.h"
#include "ir/Conversion.h"
#include "ir/GradientRule.h"
#include "ir/Parts.h"
#include "ir/ScalarBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/Dialect.cpp.inc"
#include "ir/Interfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/Types.cpp.inc"

#define GET_OP_REGISTRATION_HOOKS
#include "ir/Operations.cpp.inc"

namespace calque::ir {

void CalqueDialect::initialize() {
  registerCalqueDialectOperations(this);
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/Types.cpp.inc"
      >();
}

#include "ir/Methods.cpp.inc"

} // namespace calque::ir
