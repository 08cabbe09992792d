// Shorthand for the linalg operations that lowering emits. Sizes are known.
#ifndef CALQUE_CODEGEN_LINALGBUILDER_H
#define CALQUE_CODEGEN_LINALGBUILDER_H

#include "ir/ScalarBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace calque::codegen {

class LinalgBuilder {
public:
  using Value = mlir::Value;
  using Body = llvm::function_ref<Value(ir::ScalarBuilder &, mlir::ValueRange)>;

  LinalgBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  static mlir::RankedTensorType typeOf(Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
  static llvm::ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }

  Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  Value filled(llvm::ArrayRef<int64_t> shape, Value scalar);
  Value zeros(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  Value index(int64_t value);

  // One result; `maps` has one for each input and one for the result. The last body argument is the result's element.
  Value generic(llvm::ArrayRef<Value> inputs, Value init, llvm::ArrayRef<mlir::AffineMap> maps, unsigned numLoops,
                llvm::ArrayRef<unsigned> reductionLoops, Body body);
  // A result without reduction; element (d0, d1, ...) from inputs at `maps`.
  Value parallel(llvm::ArrayRef<int64_t> shape, mlir::Type element, llvm::ArrayRef<Value> inputs,
                 llvm::ArrayRef<mlir::AffineMap> inputMaps, Body body);
  // How a tensor is read when it broadcasts to a shape.
  mlir::AffineMap broadcastMap(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  Value reshape(Value value, llvm::ArrayRef<int64_t> shape);
  // Reduces over axes (sorted); the result has no dimension for them.
  Value reduce(Value value, llvm::ArrayRef<int64_t> axes, Value neutral, Body combine);
  Value insert(Value part, Value whole, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> strides);
  Value extract(Value whole, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
  // Loops over all indices of a shape, carrying tensors or scalars.
  mlir::ValueRange loopNest(llvm::ArrayRef<int64_t> bounds, mlir::ValueRange carried,
                            llvm::function_ref<llvm::SmallVector<Value>(mlir::OpBuilder &, mlir::ValueRange indices, mlir::ValueRange carried)> body);

  mlir::OpBuilder &builder;
  mlir::Location location;
};

} // namespace calque::codegen
#endif
