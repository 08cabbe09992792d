// The table of targets: registers, caches and costs by which code generation decides.
#ifndef CALQUE_CODEGEN_NATIVE_TARGET_H
#define CALQUE_CODEGEN_NATIVE_TARGET_H

#include "runtime/Cpu.h"

#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

struct Target {
  runtime::Cpu cpu;
  int64_t vectorBytes, vectorRegisters; // the bytes of a register, and the number of registers
  bool fma;                             // whether there is a fused multiply-add
  const char *model;                    // as LLVM names it
  const char *features;                 // further features, as LLVM takes them
  int64_t l1Bytes, l2Bytes;             // of one core's data caches: the least that most CPUs of the target have

  // The costs by which plans are compared (codegen/schedule/CostModel.h), for a core with its operands in the first
  // cache. docs/rationale/targets.md says why they are not measured on the machine.
  double multiplyAdds = 2, loads = 2;        // of vectors, in a cycle
  double latency = 4;                        // of an addition, in cycles
  double bytesOfL2 = 24, bytesBeyondL2 = 16; // that arrive in a cycle
  int64_t lineBytes = 64;
  // Whether an instruction multiplies four bytes by four others and adds the products to 32 bits (VNNI).
  bool dotsOfBytes = false;

  // The cycles of one element's operations in a body: an addition, a quotient, a function such as exp, a remainder of
  // floats, a read of a buffer at a place that the body computes, and moving an operand from or to memory.
  double addition = 0.5, quotient = 4, function = 12, remainder = 40, read = 4, operand = 2;

  // How threads share products: a piece has at least `pieceProducts` multiply-adds, and there are at most `mostPieces`
  // pieces.
  int64_t pieceProducts = 1 << 20, mostPieces = 32;
  // How threads share other sums with few results: a piece has at least kPieceTerms terms. The number of pieces decides
  // the bits of a sum, so that it is the same for all targets.
  static constexpr int64_t kPieceTerms = 1 << 14, kMostPiecesOfSums = 32;
  // Threads take the iterations of a parallel loop in at most kMostParts parts. There may be more parts than pieces,
  // because a part costs less: a piece packs what it reads, or has results of its own.
  static constexpr int64_t kMostParts = 128;

  static const Target &of(runtime::Cpu cpu);
  // The target of a module: the one that its attribute names, or that of this machine's CPU if it has no attribute.
  // `op` is the module, or an operation in it.
  static const Target &of(mlir::Operation *op);
};

// On a module of kernels: the name of the CPU for which they are made.
inline constexpr llvm::StringLiteral kTargetAttr = "calque.target";

} // namespace calque::codegen
#endif
