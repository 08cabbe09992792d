// A linalg operation on buffers as a nest of loops over linear addresses, from which the kernels are emitted.
#ifndef CALQUE_CODEGEN_SCHEDULE_NEST_H
#define CALQUE_CODEGEN_SCHEDULE_NEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace calque::codegen {

inline int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

// A size or a stride: a constant times sizes that are known at run time only. This form keeps it decidable whether two
// loops can be merged and whether elements are adjacent.
class Extent {
public:
  Extent(int64_t factor = 0) : factor(factor) {}
  Extent(mlir::OpFoldResult size);

  bool isKnown() const { return values.empty() || factor == 0; }
  std::optional<int64_t> known() const { return isKnown() ? std::optional(factor) : std::nullopt; }
  int64_t scale() const { return factor; }
  llvm::ArrayRef<mlir::Value> unknown() const { return values; }
  // The value that plans assume for an unknown extent: large, and a multiple of every tile.
  int64_t guess() const;

  Extent operator*(const Extent &other) const;
  Extent operator-() const { return *this * Extent(-1); }
  bool operator==(const Extent &other) const;
  bool operator==(int64_t other) const { return known() == other; }

  mlir::Value emit(mlir::OpBuilder &builder, mlir::Location location) const;
  // The same, as a constant if it is one.
  mlir::OpFoldResult folded(mlir::OpBuilder &builder, mlir::Location location) const;
  // The quotient by `other`; std::nullopt if it is not such a product.
  std::optional<Extent> dividedBy(const Extent &other) const;
  // The same product with each value replaced by `map` of it.
  Extent mapped(llvm::function_ref<mlir::Value(mlir::Value)> map) const;

private:
  int64_t factor;
  llvm::SmallVector<mlir::Value, 2> values;
};

// The elements of one operand: iteration (i0, i1, ...) accesses element offset + sum(strides[k] * ik) of the flat
// buffer `value`. A scalar operand has no buffer and is `value` itself.
struct Access {
  mlir::Value value;
  int64_t offset = 0;
  mlir::Value unknownOffset; // added to `offset`; may be null
  llvm::SmallVector<Extent> strides;
  mlir::Type element;
  bool isBuffer = true;
  bool isUsed = true; // whether the body reads it

  bool varies(unsigned loop) const { return isBuffer && !(strides[loop] == 0); }
  // The distance between the elements of two consecutive iterations of a loop.
  int64_t distance(unsigned loop) const { return isBuffer ? std::abs(strides[loop].guess()) : 0; }
  // The same access to bytes instead of bools; for other types, the access itself.
  Access ofBytes(mlir::OpBuilder &builder, mlir::Location location) const;
};

// Zeros around an operand of a sum of products. A loop over results (i) and a loop over terms (j) reach the places i /
// unitOfResults + j / unit together; the first `low` and the last `high` places are zeros, whose products add nothing.
struct Border {
  unsigned results, terms;
  int64_t low, high;
  int64_t unit = 1, unitOfResults = 1; // how many iterations share a place: merged channels

  bool operator==(const Border &) const = default;
  bool has(unsigned loop) const { return loop == results || loop == terms; }
};

struct Nest {
  mlir::linalg::LinalgOp op;
  mlir::Block *body;
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<bool> isReduction;
  llvm::SmallVector<Access> inputs, outputs;
  llvm::SmallVector<Border> borders; // as far as they are known
  // For each loop of the operation, the number of the nest's loop, or -1 if it has a single iteration.
  llvm::SmallVector<int64_t> loopOf;
  // For each loop of the operation, where it begins; null: at 0.
  llvm::SmallVector<mlir::Value> firstIndex;

  // The nest of an operation. Loops of one iteration are dropped; adjacent loops are merged where all operands allow
  // it. Fails if an access is not affine. Emits flat views of the operands at the builder's insertion point.
  static llvm::FailureOr<Nest> of(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder);

  unsigned numLoops() const { return extents.size(); }
  Extent iterations() const;
  // The iterations of the reduction loops, or of the others.
  Extent iterations(bool reduction) const;
  bool isKnown() const {
    return llvm::all_of(extents, [](const Extent &extent) { return extent.isKnown(); });
  }
  bool hasReduction() const { return llvm::is_contained(isReduction, true); }
  mlir::Location location() const { return op->getLoc(); }

  // Splits a loop of known extent into pieces of `size` iterations, which must divide it. The loop then runs within a
  // piece; a new loop runs over the pieces, and its number is returned. The body must not ask for the loop's index.
  unsigned split(unsigned loop, int64_t size);
  // Restricts a loop to `count` iterations from `start` on. The body must not ask for the loop's index.
  void slice(unsigned loop, int64_t start, int64_t count);
  // Whether the body reads a buffer by itself, at indices that it computes.
  bool readsBuffers() const { return !body->getOps<mlir::memref::LoadOp>().empty(); }
  // Whether the body asks for a loop's index.
  bool isIndexed(unsigned loop) const;
  // Drops loops of one iteration, and merges adjacent ones where all operands allow it.
  void simplify();

private:
  void drop(unsigned loop);
  bool mergeOnce();
  // Drops the borders of a loop whose iterations change.
  void forgetBorders(unsigned loop);
};

// The sizes and strides of a buffer, and the offset of its first element from the root buffer's.
struct Layout {
  llvm::SmallVector<Extent> sizes, strides;
  llvm::SmallVector<Extent> offsets; // to be added up
};
Layout layoutOf(mlir::OpBuilder &builder, mlir::Value buffer);
// A view with one dimension of the root buffer, up to the last element of `buffer`.
mlir::Value flatView(mlir::OpBuilder &builder, mlir::Location location, mlir::Value buffer, const Layout &layout);

// The size of a buffer's dimension, found through its views; else a `memref.dim`.
mlir::OpFoldResult sizeOf(mlir::OpBuilder &builder, mlir::Value buffer, int64_t dimension);
// Replaces a chain of views by one cast of its buffer, with offset, sizes and strides.
mlir::Value asCast(mlir::OpBuilder &builder, mlir::Value view);

// The buffer under a chain of views.
mlir::Value rootBuffer(mlir::Value buffer);

// The fill that initialises the only result of a reduction, if no operation between the two uses the buffer; else null.
mlir::linalg::FillOp fillBefore(mlir::linalg::LinalgOp op);

} // namespace calque::codegen
#endif
