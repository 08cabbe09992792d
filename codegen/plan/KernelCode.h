// From a kernel to native code. A kernel is compiled from its text, alone: its code depends on nothing else, so that it
// can be found again by a key, in other programs too.
#ifndef CALQUE_CODEGEN_PLAN_KERNELCODE_H
#define CALQUE_CODEGEN_PLAN_KERNELCODE_H

#include "codegen/Pipeline.h"

namespace calque::codegen {

// A module with the kernel, by the name of kKernelSymbol, and what it calls. Locations are left out.
std::string textOf(mlir::func::FuncOp kernel);

runtime::KernelKey keyOf(llvm::StringRef text, CompileOptions options);

struct KernelCode {
  std::optional<runtime::Image> image;
  std::string error; // empty when there is an image
};
KernelCode compileKernel(llvm::StringRef text, CompileOptions options, mlir::MLIRContext &context,
                         Pipelines &pipelines);

} // namespace calque::codegen
#endif
