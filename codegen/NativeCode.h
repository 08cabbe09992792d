// From MLIR's LLVM dialect to machine code in this process.
#ifndef CALQUE_CODEGEN_NATIVECODE_H
#define CALQUE_CODEGEN_NATIVECODE_H

#include "codegen/Pipeline.h"

namespace calque::codegen {

struct NativeResult {
  std::shared_ptr<Executable> executable;
  std::string error;
};

// The program must stand at Stage::LLVM. `numInputs` counts parameters and variables, `numOutputs` the results and new values.
NativeResult makeExecutable(Program &program, unsigned numInputs, unsigned numOutputs);
// Assembly text instead.
std::string assembly(Program &program, unsigned numInputs, unsigned numOutputs, std::string &error);

} // namespace calque::codegen
#endif
