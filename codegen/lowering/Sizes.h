// The sizes of a function's values. The unknown sizes of a function's arguments are further arguments, of type index.
// Every size is a constant, one of these arguments, or computed from them at the function's front. The function of
// shapes (ShapeFunction.h) checks before the call that sizes fit together.
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
  Size minimum(Size a, Size b);
  Size product(llvm::ArrayRef<Size> sizes);
  // The size as a value that dominates the whole body.
  mlir::Value value(Size size);
  // The same, but sizes that a check has found equal are not replaced, because the check itself compares them.
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
  // The size that stands for this size and all that are unified with it.
  Size canonical(Size size) const;

  // The function's index arguments, in order, and the dimensions that they stand for.
  struct Symbol {
    mlir::BlockArgument value;
    unsigned argument; // its number; the frame does not count
    int64_t dimension;
  };
  std::vector<Symbol> symbols;

private:
  enum class Kind { Add, Subtract, Multiply, Divide, Maximum, Minimum };
  Size make(Kind kind, Size a, Size b);

  mlir::func::FuncOp function;
  mlir::Operation *anchor = nullptr; // arithmetic on sizes is inserted before it
  llvm::DenseMap<mlir::Value, SizeList> known;
  llvm::DenseMap<mlir::Value, Size> unified;
  std::map<std::tuple<Kind, void *, void *>, Size> made;
};

std::optional<int64_t> constantOf(Size size);

// Clones the arithmetic of a size to the builder's insertion point. `mapping` maps the index arguments, and receives
// the clones. Null if the size depends on anything but index arguments.
mlir::Value cloneSize(mlir::OpBuilder &builder, mlir::Value size, mlir::IRMapping &mapping);

// The name of the function of shapes. If sizes are unknown, it is called before the program, with (frame, pointer to
// the results' sizes, pointer to the workspace's bytes, sizes of arguments). It does the checks in program order. The
// caller then allocates the results and the workspace.
inline constexpr llvm::StringLiteral kShapeFunction = "calque.shapes";

} // namespace calque::codegen
#endif
