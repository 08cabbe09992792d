// A linalg operation on buffers as a nest of loops over linear addresses: what the kernels are made from.
#ifndef CALQUE_CODEGEN_SCHEDULE_NEST_H
#define CALQUE_CODEGEN_SCHEDULE_NEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace calque::codegen {

// The elements that one operand gives to, or takes from, the iterations: that of (i0, i1, ...) lies at
// offset + sum(strides[k] * ik) of a buffer of one dimension. A scalar operand has no buffer and is `value` itself.
struct Access {
  mlir::Value value;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
  mlir::Type element;
  bool isBuffer = true;
  bool isUsed = true; // whether the body reads it

  bool varies(unsigned loop) const { return isBuffer && strides[loop] != 0; }
};

struct Nest {
  mlir::linalg::LinalgOp op;
  mlir::Block *body;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> isReduction;
  llvm::SmallVector<Access> inputs, outputs;
  // For each loop of the operation, the nest's, or -1 for one of a single iteration.
  llvm::SmallVector<int64_t> loopOf;

  // The operation's, with loops of one iteration dropped and adjacent ones merged where all operands allow it. Fails for what
  // is not affine, or has no known size. Makes flat views of the operands where the builder stands.
  static llvm::FailureOr<Nest> of(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder);

  unsigned numLoops() const { return extents.size(); }
  int64_t iterations() const;
  // Iterations of the loops for which `reduction` holds.
  int64_t iterations(bool reduction) const;
  bool hasReduction() const { return llvm::is_contained(isReduction, true); }
  mlir::Location location() const { return op->getLoc(); }

  // Splits a loop into pieces of `size` iterations, which must divide it: the loop goes on within a piece, and a new loop
  // over the pieces is added. Returns its number. The body must not ask for the loop's index.
  unsigned split(unsigned loop, int64_t size);
  // Keeps `count` iterations of a loop from `start` on. The body must not ask for the loop's index.
  void slice(unsigned loop, int64_t start, int64_t count);
};

// The flat view of a buffer: one dimension from its first allocated element to its last.
mlir::Value flatView(mlir::OpBuilder &builder, mlir::Location location, mlir::Value buffer);

// The buffer that a value is a view of.
mlir::Value rootBuffer(mlir::Value buffer);

} // namespace calque::codegen
#endif
