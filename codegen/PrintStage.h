// A program at a stage, as text.
#ifndef CALQUE_CODEGEN_PRINTSTAGE_H
#define CALQUE_CODEGEN_PRINTSTAGE_H

#include "codegen/Pipeline.h"

namespace calque::codegen {

// Takes a traced program to a stage and prints it there: IR with the user's lines, which parses again, or assembly for
// Stage::Object. Errors are diagnostics.
llvm::LogicalResult printAt(Program &program, Stage stage, llvm::raw_ostream &os);

} // namespace calque::codegen
#endif
