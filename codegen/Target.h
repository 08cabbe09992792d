// What code generation knows of a CPU.
#ifndef CALQUE_CODEGEN_TARGET_H
#define CALQUE_CODEGEN_TARGET_H

#include "runtime/Cpu.h"

#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

struct Target {
  runtime::Cpu cpu;
  int64_t vectorBytes, vectorRegisters; // of one register, and how many
  bool fma;                             // whether there is a fused multiply-add
  const char *model;                    // as LLVM names it
  const char *features;                 // further ones, as LLVM takes them
  int64_t l1Bytes, l2Bytes;             // of the data caches of one core, as most CPUs of the target have at least

  static const Target &of(runtime::Cpu cpu);
  // That of the module which holds an operation, or which it is: its attribute, or this machine's CPU without one.
  static const Target &of(mlir::Operation *op);
};

// The name of its CPU, on a module of kernels.
inline constexpr llvm::StringLiteral kTargetAttr = "calque.target";

} // namespace calque::codegen
#endif
