// Compiles MLIR's LLVM dialect to machine code in this process.
#ifndef CALQUE_CODEGEN_NATIVECODE_H
#define CALQUE_CODEGEN_NATIVECODE_H

#include "codegen/Pipeline.h"

namespace calque::codegen {

// The prefix of external functions that return their argument. LLVM's passes can't see through their calls.
inline constexpr llvm::StringLiteral kOpaquePrefix = "calque_rt_opaque_";

struct NativeResult {
  std::shared_ptr<Executable> executable;
  std::string error;
};

// The program must stand at Stage::LLVM. `numInputs` counts parameters and variables, `numOutputs` the results and new
// values.
NativeResult makeExecutable(Program &program, unsigned numInputs, unsigned numOutputs);
// The same as assembly text.
std::string assembly(Program &program, unsigned numInputs, unsigned numOutputs, std::string &error);

} // namespace calque::codegen
#endif
