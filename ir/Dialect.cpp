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

namespace calque::ir {

// A region is a program of its own, and so are its names: none of them can stand for a value of the program around it,
// which would use it when an error in the text has ended the region.
static mlir::ParseResult parseProgram(mlir::OpAsmParser &parser, mlir::Region &region) {
  return parser.parseRegion(region, {}, /*enableNameShadowing=*/true);
}
static void printProgram(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Region &region) {
  printer.printRegion(region);
}

} // namespace calque::ir

#define GET_OP_CLASSES
#include "ir/Operations.cpp.inc"

namespace calque::ir {

void CalqueDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/Operations.cpp.inc"
      >();
}

#include "ir/Methods.cpp.inc"

} // namespace calque::ir
