// Helpers of the rules of operations with regions. A region is a program of its own, isolated from above: it takes its
// arguments and yields results.
#ifndef CALQUE_IR_REGIONS_H
#define CALQUE_IR_REGIONS_H

#include "ir/BatchRule.h"

#include "mlir/IR/IRMapping.h"

namespace calque::ir {

// On a loop that pushes residuals for its reverse: for each stack, what its entries are. A number is that of a loop
// variable, kResidual a value of the body, kRead a slice of a loop variable, and kEffect a result of an effect.
inline constexpr llvm::StringLiteral kKeptAttr = "calque.kept";

// The values with these numbers.
inline llvm::SmallVector<mlir::Value> selected(mlir::ValueRange values, llvm::ArrayRef<unsigned> numbers) {
  return llvm::map_to_vector(numbers, [&](unsigned i) { return values[i]; });
}

// Whether a derivative may run the operation again on the same operands, although it has an effect. `kEmitted` is the
// attribute `repeats` of an ordered_extern that a derivative has emitted.
inline constexpr int64_t kEmitted = 2;
bool mayRepeat(mlir::Operation *op);
// Marks those in an operation, and itself, as emitted by a derivative, which removes those that nothing needs.
void markEmitted(mlir::Operation *op);

// Called with an operation of a region and the operation that was emitted for it.
using OnEmitted = llvm::function_ref<void(mlir::Operation *, mlir::Operation *)>;
inline void ignoreEmitted(mlir::Operation *, mlir::Operation *) {}

// Emits a region's operations at the builder's insertion point, on given arguments. Returns what it yields.
llvm::SmallVector<mlir::Value> emitBody(mlir::Region &region, mlir::OpBuilder &builder, mlir::ValueRange arguments,
                                        OnEmitted onEmitted = ignoreEmitted);

// The same without effects, for a derivative: the operation itself has already printed, checked and called. Emits a
// diagnostic if the results need an effect, such as a host call. Values that the mapping has already are not emitted;
// the mapping gets the emitted ones.
llvm::SmallVector<mlir::Value> emitWithoutEffects(mlir::Region &region, mlir::OpBuilder &builder,
                                                  mlir::ValueRange arguments, OnEmitted onEmitted,
                                                  mlir::IRMapping &mapping);
llvm::SmallVector<mlir::Value> emitWithoutEffects(mlir::Region &region, mlir::OpBuilder &builder,
                                                  mlir::ValueRange arguments);

// Makes the block of an empty region, with arguments of these types. `fill` emits the block's operations and returns
// the values to yield. The builder's listener is told of the operations.
void fillRegion(mlir::Region &region, mlir::OpBuilder &builder, mlir::Location location, mlir::TypeRange arguments,
                llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &inside, mlir::ValueRange)> fill);

// Whether a call may fail at an operation, or at one in a region.
bool mayFail(mlir::Operation *op);
bool mayFail(mlir::Region &region);
// Which examples run the rule's operation and decide as a bool for each example says. Null if nothing in a region
// fails, so that it may run for all.
mlir::Value runningWhere(BatchRule &rule, mlir::Value decision, mlir::Region &region);

// Fills the region `to` with the operations of `from` on stacked arguments. Each value that it yields has the mapped
// axis, except the values whose bits are set in `single`. `givesRunning`: the last argument is not one of `from`'s, but
// says which examples run.
llvm::LogicalResult batchBody(BatchRule &rule, mlir::Region &from, mlir::Region &to, mlir::TypeRange arguments,
                              const llvm::SmallBitVector *single = nullptr, bool givesRunning = false);

// A scalar of int64.
mlir::Value number(mlir::OpBuilder &builder, mlir::Location location, int64_t value);
// The numbers of those values that have derivatives.
llvm::SmallVector<unsigned> differentiableAmong(mlir::ValueRange values);
// The gradients of targets with respect to sources. `seeds` has a seed for each target.
llvm::SmallVector<mlir::Value> gradientOf(mlir::OpBuilder &builder, mlir::Location location,
                                          llvm::ArrayRef<mlir::Value> targets, llvm::ArrayRef<mlir::Value> seeds,
                                          llvm::ArrayRef<mlir::Value> sources);

} // namespace calque::ir
#endif
