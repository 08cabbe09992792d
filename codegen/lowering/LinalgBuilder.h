// Shorthand for the linalg operations that lowering emits. Sizes are constants, or values that are computed at the
// function's front.
#ifndef CALQUE_CODEGEN_LOWERING_LINALGBUILDER_H
#define CALQUE_CODEGEN_LOWERING_LINALGBUILDER_H

#include "codegen/lowering/Sizes.h"
#include "ir/ScalarBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace calque::codegen {

class LinalgBuilder {
public:
  using Value = mlir::Value;
  using Body = llvm::function_ref<Value(ir::ScalarBuilder &, mlir::ValueRange)>;

  LinalgBuilder(mlir::OpBuilder &builder, mlir::Location location, Sizes &sizes)
      : builder(builder), location(location), sizes(sizes) {}

  static mlir::RankedTensorType typeOf(Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
  static llvm::ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }
  static int64_t rankOf(Value value) { return typeOf(value).getRank(); }
  SizeList sizesOf(Value value) { return sizes.of(value); }
  static mlir::RankedTensorType typeWith(llvm::ArrayRef<Size> shape, mlir::Type element);
  // The value, cast to a type with all sizes that are known so far: a check may have made an unknown size equal to a
  // constant.
  Value refined(Value value);
  // The value, cast to a type that has no more known sizes than its own.
  Value typed(Value value, mlir::Type type);
  // The sizes of the type where they are known, and the sizes of `otherwise` in the other dimensions.
  SizeList sizesOf(mlir::Type type, llvm::ArrayRef<Size> otherwise);

  Value empty(llvm::ArrayRef<Size> shape, mlir::Type element);
  Value filled(llvm::ArrayRef<Size> shape, Value scalar);
  Value zeros(llvm::ArrayRef<Size> shape, mlir::Type element);
  Value index(int64_t value);
  // A size as a value that dominates the builder's insertion point.
  Value valueOf(Size size) { return sizes.value(size); }
  // The sizes as constants, or as values that dominate the insertion point.
  SizeList emitted(llvm::ArrayRef<Size> list);

  // A linalg.generic with one result. `maps` has a map for each input and then the map of the result. The last argument
  // of the body is the result's element.
  Value generic(llvm::ArrayRef<Value> inputs, Value init, llvm::ArrayRef<mlir::AffineMap> maps, unsigned numLoops,
                llvm::ArrayRef<unsigned> reductionLoops, Body body);
  // A linalg.generic without reduction: element (d0, d1, ...) is computed from the inputs' elements at `inputMaps`.
  Value parallel(llvm::ArrayRef<Size> shape, mlir::Type element, llvm::ArrayRef<Value> inputs,
                 llvm::ArrayRef<mlir::AffineMap> inputMaps, Body body);
  // The indexing map of a tensor that broadcasts to a shape.
  mlir::AffineMap broadcastMap(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  Value reshape(Value value, llvm::ArrayRef<Size> shape);
  Value flatten(Value value) { return reshape(value, {sizes.product(sizesOf(value))}); }
  // Reduces over axes, which are sorted and which the result lacks.
  Value reduce(Value value, llvm::ArrayRef<int64_t> axes, Value neutral, Body combine);
  Value insert(Value part, Value whole, llvm::ArrayRef<Size> starts, llvm::ArrayRef<int64_t> strides);
  Value extract(Value whole, llvm::ArrayRef<Size> starts, llvm::ArrayRef<Size> shape, llvm::ArrayRef<int64_t> strides);
  // The part of an index of the last dimension, without that dimension; and the whole with such a part.
  Value extractLast(Value whole, int64_t index);
  Value insertLast(Value part, Value whole, int64_t index);
  // Loops over all indices below `bounds`, with loop-carried tensors or scalars. `isIndependent` gets the number of a
  // loop, from the outermost on, and says whether no two of its iterations touch the same element of a carried tensor.
  // Such iterations may run in any order, and at the same time. Without it, no loop is independent.
  mlir::ValueRange loopNest(llvm::ArrayRef<Size> bounds, mlir::ValueRange carried,
                            llvm::function_ref<llvm::SmallVector<Value>(mlir::OpBuilder &, mlir::ValueRange indices,
                                                                        mlir::ValueRange carried)>
                                body,
                            llvm::function_ref<bool(size_t loop)> isIndependent = nullptr);

  mlir::OpBuilder &builder;
  mlir::Location location;
  Sizes &sizes;

private:
  Value castTo(Value value, mlir::RankedTensorType type);
};

inline mlir::Type elementOf(mlir::Value value) { return LinalgBuilder::typeOf(value).getElementType(); }

} // namespace calque::codegen
#endif
