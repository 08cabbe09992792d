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

  // The costs by which plans are compared (codegen/schedule/CostModel.h), for a core with its operands in the first
  // cache. docs/rationale/targets.md says why they are not measured on the machine.
  double multiplyAdds = 2, loads = 2;        // of vectors, in a cycle
  double latency = 4;                        // of an addition, in cycles
  double bytesOfL2 = 24, bytesBeyondL2 = 16; // that a cycle brings
  int64_t lineBytes = 64;

  // The cycles of one element's operations in a body: of an addition, a quotient, a function such as exp, a remainder
  // of floats, a read of a buffer at a place that the body computes, and of an operand's way from or to memory.
  double addition = 0.5, quotient = 4, function = 12, remainder = 40, read = 4, operand = 2;

  // How products are shared between threads: a piece has so many multiply-adds at least, and there are at most so many
  // pieces.
  int64_t pieceProducts = 1 << 20, mostPieces = 32;
  // How other sums with few results are shared: a piece has so many terms at least. The number of pieces decides the
  // bits of a sum, and is the same for all targets.
  static constexpr int64_t kPieceTerms = 1 << 14, kMostPiecesOfSums = 32;
  // Threads take the iterations of a parallel loop in at most so many parts. A part costs less than a piece, which
  // packs what it reads or has results of its own: there may be more of them.
  static constexpr int64_t kMostParts = 128;

  static const Target &of(runtime::Cpu cpu);
  // The target of the module that holds an operation, or that the operation is: that of its attribute, or of this
  // machine's CPU if it has none.
  static const Target &of(mlir::Operation *op);
};

// The name of its CPU, on a module of kernels.
inline constexpr llvm::StringLiteral kTargetAttr = "calque.target";

} // namespace calque::codegen
#endif
