// Compiles MLIR's LLVM dialect to machine code in this process.
#ifndef CALQUE_CODEGEN_NATIVE_NATIVECODE_H
#define CALQUE_CODEGEN_NATIVE_NATIVECODE_H

#include "program/Compiler.h"
#include "runtime/Image.h"

namespace calque::codegen {

// The prefix of external functions that return their argument. LLVM's passes can't see through their calls.
inline constexpr llvm::StringLiteral kOpaquePrefix = "calque_rt_opaque_";

// Delays the destruction of LLVM's static objects while one of LLVM's functions runs. False once the process has begun
// to end: LLVM must not be used any more then.
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

// LLVM's name for the kind of machine and system of a CPU.
std::string tripleOf(runtime::Cpu cpu);

// The version of the compiler. The code of a kernel depends on it, on the kernel's text, the options and the target.
std::string compilerVersion();

// The native code of kernels at Stage::LLVM. Returns std::nullopt, with the reason in `error`, if there is none.
std::optional<runtime::Image> makeImage(mlir::ModuleOp kernels, CompileOptions options, std::string &error);
// The same as assembly text.
std::string assembly(mlir::ModuleOp kernels, CompileOptions options, std::string &error);

} // namespace calque::codegen
#endif
