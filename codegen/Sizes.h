// The sizes of a function's values: constants, or index values that are computed at the function's front from the sizes
// of its arguments, which it takes as index arguments of their own. What must hold of them is checked before the
// function runs, by the function that makeShapeFunction makes.
#ifndef CALQUE_CODEGEN_SIZES_H
#define CALQUE_CODEGEN_SIZES_H

#include "codegen/interface/Compiler.h"

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
  // Says the sizes of a value that lowering made.
  void set(mlir::Value tensor, llvm::ArrayRef<Size> sizes) { known[tensor] = SizeList(sizes); }

  Size constant(int64_t value);
  SizeList constants(llvm::ArrayRef<int64_t> values);
  Size add(Size a, Size b);
  Size subtract(Size a, Size b);
  Size multiply(Size a, Size b);
  Size divide(Size a, Size b); // of what is not negative, rounded down
  Size maximum(Size a, Size b);
  Size product(llvm::ArrayRef<Size> sizes);
  // As a value that the whole function can use.
  mlir::Value value(Size size);
  // The same, but what was later found to be equal to another is still itself.
  mlir::Value valueBeforeChecks(Size size) {
    return mlir::isa<mlir::Value>(size) ? mlir::cast<mlir::Value>(size) : value(size);
  }

  // A size and what it is called in a message: a dimension, or the number of elements (-1), of an operand.
  struct Named {
    Size size;
    Site::Size name;
  };
  Named named(mlir::Operation *op, unsigned operand, int64_t dimension);
  Named named(Size size) { return {size, {}}; }

  struct Check {
    Size found, expected;
    bool orMore; // at least as large, instead of equal
    int32_t site;
  };
  std::vector<Check> checks;
  // From here on the two are one size.
  void unify(Size a, Size b);
  // Replaces the sizes that were found to be equal by one of them; after the checks went elsewhere.
  void replaceUnified();
  // What a size is known as by now.
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
  mlir::Operation *anchor = nullptr; // the front ends here
  llvm::DenseMap<mlir::Value, SizeList> known;
  llvm::DenseMap<mlir::Value, Size> unified;
  std::map<std::tuple<Kind, void *, void *>, Size> made;
};

std::optional<int64_t> constantOf(Size size);

// Clones the arithmetic that a size is made of to where the builder stands. `mapping` has what the sizes of arguments
// are there, and remembers. Null for what is not made of them.
mlir::Value cloneSize(mlir::OpBuilder &builder, mlir::Value size, mlir::IRMapping &mapping);

// The function that is called before the entry when sizes are unknown: (frame, pointer to the results' sizes, pointer
// to the workspace's bytes, sizes of arguments). It does the checks in order; its caller makes the results and the
// workspace.
inline constexpr llvm::StringLiteral kShapeFunction = "calque.shapes";

} // namespace calque::codegen
#endif
