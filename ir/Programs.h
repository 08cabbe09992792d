// The syntax of regions that are programs of their own, which the generated parsers and printers ask for.
#ifndef CALQUE_IR_PROGRAMS_H
#define CALQUE_IR_PROGRAMS_H

#include "mlir/IR/OpImplementation.h"

namespace calque::ir {

// A region is a program of its own, and so are its names: none of them can stand for a value of the program around it,
// which would use it when an error in the text has ended the region.
inline mlir::ParseResult parseProgram(mlir::OpAsmParser &parser, mlir::Region &region) {
  return parser.parseRegion(region, {}, /*enableNameShadowing=*/true);
}
inline void printProgram(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Region &region) {
  printer.printRegion(region);
}

} // namespace calque::ir

#endif
