// What the stages from linalg on rely on, and a file may not hold to.
#ifndef CALQUE_CODEGEN_CHECKPROGRAM_H
#define CALQUE_CODEGEN_CHECKPROGRAM_H

#include "codegen/Pipeline.h"

namespace calque::codegen {

// Refuses, by a diagnostic that names the function, a program that is not one function of one block, that has an
// argument or result which is no tensor of the dialect, or an operation of another dialect.
llvm::LogicalResult checkProgram(Program &program);

} // namespace calque::codegen
#endif
