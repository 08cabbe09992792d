// Code for programs whose values are small: each element of a value is a scalar, which LLVM keeps in a register. Only
// arrays are in memory, of which such a program reads and writes elements.
#ifndef CALQUE_CODEGEN_LOWERING_SMALLCODE_H
#define CALQUE_CODEGEN_LOWERING_SMALLCODE_H

#include "codegen/lowering/Lowering.h"

namespace calque::codegen {

// A value with more elements than this is an array.
inline constexpr int64_t kMostSmallElements = 32;

// Whether the elements of a value may be scalars.
bool isSmall(mlir::Type type);
inline bool isSmall(mlir::Value value) { return isSmall(value.getType()); }

// A kernel takes more than linear time to compile. What takes more scalar operations is run in parts.
inline constexpr int64_t kMostSmallCost = 4096;

// How many scalar operations and values an operation takes, those of its regions included. Nothing if SmallCode can't
// emit it, or if a region takes too many. Whether arrays can be updated in place is left to findArrays.
std::optional<int64_t> smallCost(mlir::Operation *op);

// Which buffer holds each array of a branch or loop and of all that is within. Loop variables that are written get
// buffers, which updates change in place; other arrays are read where they are.
struct Arrays {
  using Number = unsigned;
  llvm::DenseMap<mlir::Value, Number> numbers;
  llvm::DenseSet<Number> written;
};
// Nothing if an array would have to be copied within, as where an older version of it is read after an update.
std::optional<Arrays> findArrays(mlir::Operation *op);

// Where code has a value.
struct SmallValue {
  llvm::SmallVector<mlir::Value, 4> elements; // of a small value, in row-major order
  // Of an array: a buffer that is written, or the tensor outside; and its sizes.
  mlir::Value buffer, tensor;
  SizeList sizes;
  // Of a slice of an array, which is read where it is: the indices along the array's first dimensions.
  llvm::SmallVector<mlir::Value, 2> places = {};

  bool isArray() const { return buffer || tensor; }
};

class SmallCode {
public:
  // Constants that are arrays are made at `outside`.
  SmallCode(LoweringContext &context, mlir::OpBuilder &outside) : context(context), outside(outside) {}

  // Emits an operation. What fails in it fails the call, and ends the loops around it.
  llvm::SmallVector<SmallValue> emit(mlir::Operation *op, mlir::OpBuilder &builder,
                                     llvm::ArrayRef<SmallValue> operands);

  // The elements of a small tensor outside.
  SmallValue read(mlir::OpBuilder &builder, mlir::Location location, mlir::Value tensor);

private:
  using Value = mlir::Value;

  llvm::SmallVector<SmallValue> emitCond(ir::CondOp op, mlir::OpBuilder &builder, llvm::ArrayRef<SmallValue> operands);
  llvm::SmallVector<SmallValue> emitLoop(ir::WhileOp op, mlir::OpBuilder &builder, llvm::ArrayRef<SmallValue> operands);
  // The values that the block yields.
  llvm::SmallVector<SmallValue> emitBlock(mlir::Block &block, mlir::OpBuilder &builder,
                                          llvm::ArrayRef<SmallValue> arguments);

  LoweringContext &context;
  mlir::OpBuilder &outside;
  llvm::DenseMap<Value, SmallValue> values;
};

} // namespace calque::codegen
#endif
