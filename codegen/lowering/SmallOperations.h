// What the operations of small code are: movements, reductions, products, entries of stacks.
#ifndef CALQUE_CODEGEN_LOWERING_SMALLOPERATIONS_H
#define CALQUE_CODEGEN_LOWERING_SMALLOPERATIONS_H

#include "codegen/lowering/Lowering.h"
#include "schema/Moves.h"

namespace calque::codegen {

inline llvm::ArrayRef<int64_t> dimsOf(mlir::Value value) { return LinalgBuilder::shapeOf(value); }
inline int64_t countOf(mlir::Value value) { return LinalgBuilder::typeOf(value).getNumElements(); }

// The indices of all elements of a shape, in row-major order.
template <typename F> void forEachIndex(llvm::ArrayRef<int64_t> shape, F each) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  llvm::SmallVector<int64_t> index(shape.size());
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i])
      index[i] = rest % shape[i];
    each(index);
  }
}

// The place of an element in row-major order.
int64_t linear(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape);

// The type of a value's elements in registers. A stack is the number that LowerStacks.cpp makes of it.
mlir::Type scalarType(mlir::Value value);

// The movement that an operation on tensors of known sizes is; nothing if it computes.
std::optional<schema::Movement> movementOf(mlir::Operation *op);

// Reductions, and how two elements become one.
struct Reduction {
  mlir::Value x;
  llvm::SmallVector<int64_t> axes;
  bool keepsDims;
  schema::Scalar neutral;        // of max and min: none
  std::optional<bool> isMaximum; // of max and min
  mlir::Value (*combine)(ir::ScalarBuilder &, mlir::Value, mlir::Value);
};
std::optional<Reduction> reductionOf(mlir::Operation *op);

// What two operands of a product share, by dimensions.
struct Product {
  llvm::SmallVector<int64_t> batch[2], contracting[2], kept[2];
};

Product productOf(ir::ContractOp op);

// How many elements, and how many bytes, the entry of one stack has.
int64_t entryCount(mlir::Value stack, mlir::Value elements);
int64_t entryBytes(mlir::Value stack, mlir::Value elements);
// The bytes of the entries that an iteration of a loop makes, without those of loops within.
int64_t entryBytesIn(ir::WhileOp loop);

// What an operation gives with some of its slices changed, which is done in place; null for other operations.
mlir::Value updatedBy(mlir::Operation *op);

// Updates and reads at indices of the first dimensions of x, which the last dimension of the indices has.
struct NamedSlices {
  mlir::Value x, indices;
  mlir::Value updates; // null where slices are read
  mlir::Value (*combine)(ir::ScalarBuilder &, mlir::Value old, mlir::Value update) = nullptr;

  size_t numNamed() const { return static_cast<size_t>(dimsOf(indices).back()); }
};
std::optional<NamedSlices> namedSlicesOf(mlir::Operation *op);

// Whether an operation gives on what it takes, as it is.
bool isIdentity(mlir::Operation *op);

// Whether a call can fail at an operation.
bool mayFail(mlir::Operation *op);

} // namespace calque::codegen
#endif
