// Which loop variables hold the same array.
#ifndef CALQUE_IR_LOOPVARIABLES_H
#define CALQUE_IR_LOOPVARIABLES_H

#include "ir/Regions.h"

namespace calque::ir {

// Patterns that make one loop variable of two which hold the same array.
void addLoopVariablePatterns(mlir::RewritePatternSet &patterns);

// Patterns that read an element of a slice where it is.
void addElementPatterns(mlir::RewritePatternSet &patterns);

} // namespace calque::ir
#endif
