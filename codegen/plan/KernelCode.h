// From a kernel to native code. A kernel is compiled by itself, from its text. Its code depends on nothing but the
// text, the options and the compiler, so that other programs find it by a key made from these.
#ifndef CALQUE_CODEGEN_PLAN_KERNELCODE_H
#define CALQUE_CODEGEN_PLAN_KERNELCODE_H

#include "codegen/Pipeline.h"

namespace calque::codegen {

// The text of the kernel, with the name kKernelSymbol, and of the functions that it calls, without locations.
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
