// A linalg operation on buffers as a nest of loops over linear addresses: what the kernels are made from.
#ifndef CALQUE_CODEGEN_SCHEDULE_NEST_H
#define CALQUE_CODEGEN_SCHEDULE_NEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace calque::codegen {

// A size or a stride: a constant times sizes that are known when the code runs. So it stays decidable whether two loops
// are one, and whether elements are adjacent.
class Extent {
public:
  Extent(int64_t factor = 0) : factor(factor) {}
  Extent(mlir::OpFoldResult size);

  bool isKnown() const { return values.empty() || factor == 0; }
  std::optional<int64_t> known() const { return isKnown() ? std::optional(factor) : std::nullopt; }
  int64_t scale() const { return factor; }
  llvm::ArrayRef<mlir::Value> unknown() const { return values; }
  // What it is taken for where a choice must be made before it is known: large, and a multiple of every tile.
  int64_t guess() const;

  Extent operator*(const Extent &other) const;
  Extent operator-() const { return *this * Extent(-1); }
  bool operator==(const Extent &other) const;
  bool operator==(int64_t other) const { return known() == other; }

  mlir::Value emit(mlir::OpBuilder &builder, mlir::Location location) const;

private:
  int64_t factor;
  llvm::SmallVector<mlir::Value, 2> values;
};

// The elements that one operand gives to, or takes from, the iterations: that of (i0, i1, ...) lies at
// offset + sum(strides[k] * ik) of a buffer of one dimension. A scalar operand has no buffer and is `value` itself.
struct Access {
  mlir::Value value;
  int64_t offset = 0;
  mlir::Value unknownOffset; // to be added, if any
  llvm::SmallVector<Extent> strides;
  mlir::Type element;
  bool isBuffer = true;
  bool isUsed = true; // whether the body reads it

  bool varies(unsigned loop) const { return isBuffer && !(strides[loop] == 0); }
  // How far apart the elements of two iterations of a loop lie.
  int64_t distance(unsigned loop) const { return isBuffer ? std::abs(strides[loop].guess()) : 0; }
};

struct Nest {
  mlir::linalg::LinalgOp op;
  mlir::Block *body;
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<bool> isReduction;
  llvm::SmallVector<Access> inputs, outputs;
  // For each loop of the operation, the nest's, or -1 for one of a single iteration.
  llvm::SmallVector<int64_t> loopOf;

  // The operation's, with loops of one iteration dropped and adjacent ones merged where all operands allow it. Fails
  // for what is not affine. Makes flat views of the operands where the builder stands.
  static llvm::FailureOr<Nest> of(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder);

  unsigned numLoops() const { return extents.size(); }
  Extent iterations() const;
  // Iterations of the loops for which `reduction` holds.
  Extent iterations(bool reduction) const;
  bool isKnown() const {
    return llvm::all_of(extents, [](const Extent &extent) { return extent.isKnown(); });
  }
  bool hasReduction() const { return llvm::is_contained(isReduction, true); }
  mlir::Location location() const { return op->getLoc(); }

  // Splits a loop into pieces of `size` iterations, which must divide it: the loop goes on within a piece, and a new
  // loop over the pieces is added. Returns its number. The body must not ask for the loop's index. The extent is known.
  unsigned split(unsigned loop, int64_t size);
  // Keeps `count` iterations of a loop from `start` on. The body must not ask for the loop's index.
  void slice(unsigned loop, int64_t start, int64_t count);
};

// The size of a buffer, from what it is a view of; `memref.dim` where that does not say.
mlir::OpFoldResult sizeOf(mlir::OpBuilder &builder, mlir::Value buffer, int64_t dimension);
// A view as a cast of the buffer that it is a view of, with offset, sizes and strides.
mlir::Value asCast(mlir::OpBuilder &builder, mlir::Value view);

// The buffer that a value is a view of.
mlir::Value rootBuffer(mlir::Value buffer);

} // namespace calque::codegen
#endif
