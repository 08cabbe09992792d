// The table of targets: registers, caches and costs by which code generation decides.
#ifndef CALQUE_CODEGEN_NATIVE_TARGET_H
#define CALQUE_CODEGEN_NATIVE_TARGET_H

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

  // The costs by which plans are compared, for a core with its operands in the first cache. docs/rationale/targets.md
  // says why they are not measured on the machine.
  double multiplyAdds = 2, loads = 2;        // of vectors, in a cycle
  double latency = 4;                        // of an addition, in cycles
  double bytesOfL2 = 24, bytesBeyondL2 = 16; // that a cycle brings
  int64_t lineBytes = 64;

  // The cycles in which `rows` x `columns` vectors of sums each take a product of as many operands. A sum waits for
  // `least` cycles, and a column's operand for `ofColumn`.
  double cyclesOfProducts(int64_t rows, int64_t columns, double least, double ofColumn) const;

  static const Target &of(runtime::Cpu cpu);
  // The target of the module that holds an operation, or that the operation is: that of its attribute, or of this
  // machine's CPU if it has none.
  static const Target &of(mlir::Operation *op);
};

// The name of its CPU, on a module of kernels.
inline constexpr llvm::StringLiteral kTargetAttr = "calque.target";

} // namespace calque::codegen
#endif
