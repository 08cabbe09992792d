// Lowers the dialect to linalg on tensors, one family of operations in each *Lowering.cpp.
#ifndef CALQUE_CODEGEN_LOWERING_LOWERING_H
#define CALQUE_CODEGEN_LOWERING_LOWERING_H

#include "codegen/lowering/LinalgBuilder.h"
#include "codegen/lowering/SumsOfParts.h"
#include "ir/Dialect.h"
#include "program/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace calque::codegen {

// The function that is being lowered, and the notes for its caller: sites and checks of sizes.
struct LoweringContext {
  mlir::ModuleOp module;
  mlir::Value frame; // the call frame, the function's first argument
  Sizes sizes;
  std::vector<Site> sites = {};
  bool refused = false;
  llvm::DenseMap<std::pair<mlir::StringAttr, mlir::Type>, mlir::func::FuncOp> runtimeKernels{};
  SumsOfParts sums{};

  int32_t addSite(Site::Kind kind, mlir::Operation *op, llvm::StringRef text = "");
  // Adds a check before the call that two sizes are equal, unless they are known to be. From here on they count as one
  // size, which is returned: the constant one, if either is.
  Size equal(mlir::Operation *op, Sizes::Named found, Sizes::Named expected);
  Size equal(mlir::Operation *op, unsigned operand, int64_t dimension, unsigned otherOperand, int64_t otherDimension) {
    return equal(op, sizes.named(op, operand, dimension), sizes.named(op, otherOperand, otherDimension));
  }
  void atLeast(mlir::Operation *op, unsigned operand, int64_t dimension, Size bound);
  // The divisor is positive.
  void divisible(mlir::Operation *op, Sizes::Named found, Size divisor);
  // The declaration of a kernel of the runtime (runtime/abi.h), one for each list of types.
  mlir::func::FuncOp runtimeKernel(llvm::StringRef name, mlir::TypeRange operands);
  // Emits an error for an operation that can't be lowered. Returns null.
  mlir::Value refuse(mlir::Operation *op, const llvm::Twine &why);
  // Emits a call of calque_rt_fail(frame, site, value, bound).
  void fail(mlir::OpBuilder &builder, mlir::Location location, int32_t site, mlir::Value value, mlir::Value bound);
};

void emitFail(mlir::OpBuilder &builder, mlir::Location location, mlir::Value frame, int32_t site, mlir::Value value,
              mlir::Value bound);

using schema::normalAxis;

// Whether an entry of a shape attribute stands for an unknown size.
inline bool isUnknown(int64_t size) { return size == schema::kOpenSize || mlir::ShapedType::isDynamic(size); }

// The sizes of an operation's attribute `shape`. The unknown ones are sizes of operands: see ir/Base.td.
SizeList openSizes(LinalgBuilder &builder, mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> sizes);

// "model.cpp:12"
std::string lineOf(mlir::Location location);
// With the line and the recorded operation of the location.
Site makeSite(Site::Kind kind, llvm::StringRef operation, llvm::StringRef text, mlir::Location location);

// On the declaration of a kernel of the runtime: its name.
inline constexpr llvm::StringLiteral kRuntimeAttr = "calque.runtime";

// Declares a function of the runtime, once.
mlir::func::FuncOp declareRuntime(mlir::ModuleOp module, llvm::StringRef name, mlir::TypeRange arguments,
                                  mlir::TypeRange results = {});

// The result of lowering an operation: a value for each of its results, or nothing if it can't be lowered.
class Lowered {
public:
  // From a null value, which LoweringContext::refuse returns: not lowered.
  template <typename V>
    requires std::convertible_to<V, mlir::Value>
  Lowered(V value) : succeeded_(mlir::Value(value) != nullptr), values_{value} {}
  Lowered(llvm::SmallVector<mlir::Value> values) : succeeded_(true), values_(std::move(values)) {}
  // The lowered form of an operation without results.
  static Lowered toNothing() { return llvm::SmallVector<mlir::Value>(); }

  bool succeeded() const { return succeeded_; }
  llvm::ArrayRef<mlir::Value> values() const { return values_; }

private:
  bool succeeded_;
  llvm::SmallVector<mlir::Value> values_;
};

// The lowering of all operations that a kernel of a library computes (LibraryLowering.cpp).
Lowered lower(LinalgBuilder &builder, ir::LibraryOpInterface op, LoweringContext &context);

// The lowering of each operation that is neither elementwise nor composite nor a library's nor removed by a pass
// (ir/Base.td). A missing definition is an error of the linker.
#define CALQUE_LOWERING(Op) Lowered lower(LinalgBuilder &builder, ir::Op op, LoweringContext &context);
#include "codegen/lowering/Lowerings.h.inc"

// On the module of a part (ControlFlowLowering.cpp): its number.
inline constexpr llvm::StringLiteral kPartAttr = "calque.part";
// What a call says that pops of a stack what is none.
inline constexpr llvm::StringLiteral kStacksAreUsedUp =
    "a loop is differentiated in reverse mode more often than its stacks allow, which is twice; take the outer "
    "derivatives in forward mode: jvp, hvp, hessian";
// Whether no stack that the loop's body makes is there after the iteration.
bool dropsStacks(ir::WhileOp loop);
// Gives stacks the type that the runtime takes, but for those in regions, which become parts.
void lowerStacks(mlir::func::FuncOp function);
// Lowers the branches and loops of a program whose values are small, or arrays of which they touch elements.
void lowerSmallLoops(mlir::func::FuncOp function, LoweringContext &context);
// Makes the parts of a program: of the regions of its branches and loops.
void makeParts(mlir::ModuleOp module, mlir::func::FuncOp function);

// Patterns for all operations that no pass removes.
void populateLowerings(mlir::RewritePatternSet &patterns, LoweringContext &context);
void populateElementwiseLowering(mlir::RewritePatternSet &patterns, LoweringContext &context);

} // namespace calque::codegen
#endif
