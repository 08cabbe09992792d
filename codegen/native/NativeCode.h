// Compiles MLIR's LLVM dialect to machine code in this process.
#ifndef CALQUE_CODEGEN_NATIVE_NATIVECODE_H
#define CALQUE_CODEGEN_NATIVE_NATIVECODE_H

#include "program/Compiler.h"
#include "runtime/Image.h"

namespace calque::codegen {

// The prefix of external functions that return their argument. LLVM's passes can't see through their calls.
inline constexpr llvm::StringLiteral kOpaquePrefix = "calque_rt_opaque_";

// Delays the destruction of LLVM's static objects while one of LLVM's functions runs. Empty once the process has begun
// to end: then LLVM must not be used any more.
class CompilerUse {
public:
  CompilerUse();
  ~CompilerUse();
  CompilerUse(const CompilerUse &) = delete;
  CompilerUse &operator=(const CompilerUse &) = delete;
  explicit operator bool() const { return allowed; }

private:
  bool allowed;
};

// The kind of machine and system, as LLVM names it.
std::string tripleOf(runtime::Cpu cpu);

// The version of the compiler, on which the code of a kernel depends beside its text, the options and the target.
std::string compilerVersion();

// The native code of kernels at Stage::LLVM; nothing, with the reason, where there is none.
std::optional<runtime::Image> makeImage(mlir::ModuleOp kernels, CompileOptions options, std::string &error);
// The same as assembly text.
std::string assembly(mlir::ModuleOp kernels, CompileOptions options, std::string &error);

} // namespace calque::codegen
#endif
