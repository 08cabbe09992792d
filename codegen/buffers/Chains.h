// Chains of tensors that share a buffer, and where their buffers lie. The pass Bufferize makes these buffers; its
// source says at its head what a chain is.
#ifndef CALQUE_CODEGEN_BUFFERS_CHAINS_H
#define CALQUE_CODEGEN_BUFFERS_CHAINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
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

// The value that casts gave another type, with more or fewer known sizes.
mlir::Value beforeCasts(mlir::Value value);

// What says the sizes of a destination that is fresh, if anything does.
mlir::tensor::EmptyOp emptyOf(mlir::Value destination);

// The values that share one buffer because each is made of the one before it in place.
struct Chain {
  mlir::Value root, last; // the first value and the last one
  mlir::Operation *first; // what makes it
  // What the buffer holds before `first` writes: a scalar that fills it, a tensor that is copied, null.
  mlir::Value initial;
  mlir::Value destination; // of `first`; null where the buffer is given
  mlir::Value given;       // the buffer of a chain that has one from the start
  // What has a place in this chain is written before its insertion comes. That is right if insertions alone make the
  // chain, nothing reads it in between, and their parts are disjoint.
  unsigned numInserts = 0;
  bool onlyInserts = true, isDisjoint = true;
  mlir::tensor::InsertSliceOp lastInsert;
  std::optional<size_t> axis; // along which the parts follow each other

  // Where the buffer lies: in a result of the function, or in the part that an insertion writes.
  std::optional<unsigned> result;
  mlir::Value returned; // the value that is returned: the root, or a reshape of it
  mlir::tensor::InsertSliceOp part;
  unsigned depth = 0;

  mlir::Value buffer; // as soon as something writes to it
  bool startsFresh() const { return !given && (!initial || !isTensor(initial)); }
};

// The chains of a function.
class Chains {
public:
  // Finds the chains. First each insertion becomes the destination of no more than one other, and updates of tensors
  // move behind the last operations that read these.
  void find(mlir::func::FuncOp function);
  // Places chains in the results of the function, which returns these tensors, and in parts of other chains.
  void place(mlir::Block &body, mlir::OperandRange returned);

  // Null where a value is in no chain.
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
