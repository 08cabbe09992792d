// The sizes of a function's values. A size is a constant, or an index value that is computed at the function's front
// from the unknown sizes of its arguments, which are further index arguments. The function of shapes (ShapeFunction.h)
// checks before the call that sizes fit together.
#ifndef CALQUE_CODEGEN_LOWERING_SIZES_H
#define CALQUE_CODEGEN_LOWERING_SIZES_H

#include "program/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace calque::codegen {

using Size = mlir::OpFoldResult;
using SizeList = llvm::SmallVector<mlir::OpFoldResult>;

class Sizes {
public:
  // Appends an index argument to the function for each unknown dimension of its tensors. The first argument is the
  // frame.
  explicit Sizes(mlir::func::FuncOp function);

  SizeList of(mlir::Value tensor);
  Size of(mlir::Value tensor, int64_t dimension) { return of(tensor)[dimension]; }
  // Notes the sizes of a value that lowering emitted.
  void set(mlir::Value tensor, llvm::ArrayRef<Size> sizes) { known[tensor] = SizeList(sizes); }

  Size constant(int64_t value);
  SizeList constants(llvm::ArrayRef<int64_t> values);
  Size add(Size a, Size b);
  Size subtract(Size a, Size b);
  Size multiply(Size a, Size b);
  Size divide(Size a, Size b); // non-negative, rounded down
  Size maximum(Size a, Size b);
  Size product(llvm::ArrayRef<Size> sizes);
  // The size as a value that dominates the whole body.
  mlir::Value value(Size size);
  // The same, without the replacement of sizes that a check has found equal: the check itself compares these.
  mlir::Value valueBeforeChecks(Size size) {
    return mlir::isa<mlir::Value>(size) ? mlir::cast<mlir::Value>(size) : value(size);
  }

  // A size and its name in a message: a dimension of an operand, or its number of elements (dimension -1).
  struct Named {
    Size size;
    Site::Size name;
  };
  Named named(mlir::Operation *op, unsigned operand, int64_t dimension);
  Named named(Size size) { return {size, {}}; }

  struct Check {
    enum class Relation { Equal, AtLeast, DivisibleBy };
    Size found, expected;
    Relation relation;
    int32_t site;
  };
  std::vector<Check> checks;
  // From here on the two sizes count as one.
  void unify(Size a, Size b);
  // Replaces sizes that are unified by one of them. The checks must be in the function of shapes by then.
  void replaceUnified();
  // The size that stands for this one and those unified with it.
  Size canonical(Size size) const;

  // The function's index arguments, in order, and the dimensions that they stand for.
  struct Symbol {
    mlir::BlockArgument value;
    unsigned argument; // without the frame
    int64_t dimension;
  };
  std::vector<Symbol> symbols;

private:
  enum class Kind { Add, Subtract, Multiply, Divide, Maximum };
  Size make(Kind kind, Size a, Size b);

  mlir::func::FuncOp function;
  mlir::Operation *anchor = nullptr; // arithmetic on sizes is inserted before it
  llvm::DenseMap<mlir::Value, SizeList> known;
  llvm::DenseMap<mlir::Value, Size> unified;
  std::map<std::tuple<Kind, void *, void *>, Size> made;
};

std::optional<int64_t> constantOf(Size size);

// Clones the arithmetic of a size to the builder's insertion point. `mapping` maps the index arguments, and collects
// what is cloned. Null where the size is computed from anything else.
mlir::Value cloneSize(mlir::OpBuilder &builder, mlir::Value size, mlir::IRMapping &mapping);

// The function of shapes, which is called before the entry where sizes are unknown: (frame, pointer to the results'
// sizes, pointer to the workspace's bytes, sizes of arguments). It does the checks in program order. Its caller
// allocates the results and the workspace.
inline constexpr llvm::StringLiteral kShapeFunction = "calque.shapes";

} // namespace calque::codegen
#endif
