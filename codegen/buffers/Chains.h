// Finds chains of tensors that share a buffer, and decides where each buffer lies. The pass Bufferize makes the
// buffers. The head of Bufferize.cpp defines chains.
#ifndef CALQUE_CODEGEN_BUFFERS_CHAINS_H
#define CALQUE_CODEGEN_BUFFERS_CHAINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>
#include <vector>

namespace calque::codegen {

inline bool isTensor(mlir::Value value) { return mlir::isa<mlir::RankedTensorType>(value.getType()); }

inline bool isReshape(mlir::Operation *op) {
  return mlir::isa_and_present<mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp, mlir::tensor::CastOp>(op);
}

// The value before all casts to types with more or fewer known sizes.
mlir::Value beforeCasts(mlir::Value value);

// The tensor.empty that has the sizes of a fresh destination, perhaps behind a fill; null if there is none.
mlir::tensor::EmptyOp emptyOf(mlir::Value destination);

// The values that share one buffer, because each is made in place from the one before it.
struct Chain {
  mlir::Value root, last; // the first value and the last one
  mlir::Operation *first; // the operation that makes the root
  // What the buffer holds before `first` writes: a scalar that fills it, a tensor that is copied into it, or, if null,
  // anything.
  mlir::Value initial;
  mlir::Value destination; // of `first`; null if the buffer is given
  mlir::Value given;       // the buffer of a chain that has one from the start
  // A chain that lies in a part of this one is written before the insertion of this part. That is right if only
  // insertions make this chain, nothing reads it in between, and the parts are disjoint.
  unsigned numInserts = 0;
  bool onlyInserts = true, isDisjoint = true;
  mlir::tensor::InsertSliceOp lastInsert;
  std::optional<size_t> axis; // along which the parts follow each other

  // Where the buffer lies: in a result of the function, or in the part that an insertion writes.
  std::optional<unsigned> result;
  mlir::Value returned; // the value that is returned: the root, or a reshape of it
  mlir::tensor::InsertSliceOp part;
  unsigned depth = 0;

  mlir::Value buffer; // set when the first operation writes to it
  bool startsFresh() const { return !given && (!initial || !isTensor(initial)); }
};

// The chains of a function.
class Chains {
public:
  // Finds the chains. Before that, clones insertions until each is the destination of at most one other, and moves
  // updates of a tensor behind the last operation that reads this tensor.
  void find(mlir::func::FuncOp function);
  // Places chains in the results of the function, which returns `returned`, and in parts of other chains.
  void place(mlir::Block &body, mlir::OperandRange returned);

  // The allocation of the buffer that the chain has from the start, as of what a kernel of the runtime writes; null for
  // one that belongs to something else.
  static mlir::memref::AllocOp allocated(const Chain &chain);

  // The chain of a value; null if the value is in none.
  Chain *of(mlir::Value value) const { return chainOf.lookup(value); }

private:
  Chain &start(mlir::Value root, mlir::Operation *first, mlir::Value initial, mlir::Value destination);
  Chain &write(mlir::Value result, mlir::OpOperand &destination, bool readsDestination);
  void findChains(mlir::Block &block);

  bool canStartBefore(const Chain &chain, mlir::Operation *op) const;
  bool canWriteBefore(mlir::tensor::InsertSliceOp insert, mlir::Operation *op) const;
  void placeInResults(mlir::OperandRange returned);
  void placeParts(mlir::Block &body);

  std::vector<std::unique_ptr<Chain>> chains;
  llvm::DenseMap<mlir::Value, Chain *> chainOf;
};

} // namespace calque::codegen
#endif
