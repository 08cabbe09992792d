// Emits the operations of small code: for each element of a result, operations on scalars.
#ifndef CALQUE_CODEGEN_LOWERING_SMALLEMITTER_H
#define CALQUE_CODEGEN_LOWERING_SMALLEMITTER_H

#include "codegen/lowering/Cumulative.h"
#include "codegen/lowering/SmallCode.h"
#include "codegen/lowering/SmallOperations.h"

namespace calque::codegen {

// Emits operations at one place.
struct SmallEmitter {
  mlir::OpBuilder &builder;
  mlir::Location location;
  LoweringContext &context;
  ir::ScalarBuilder s{builder, location};

  mlir::Value index(int64_t value);
  llvm::SmallVector<mlir::Value> indices(llvm::ArrayRef<int64_t> values);
  mlir::Value load(const SmallValue &array, mlir::ValueRange at);
  mlir::Value elementAt(const SmallValue &value, int64_t at, llvm::ArrayRef<int64_t> shape);

  // Fails the call if a number holds.
  void failIf(mlir::Value wrong, int32_t site, mlir::Value value, mlir::Value bound);

  // An index, which must be below the size of an axis, and is made so.
  mlir::Value checked(mlir::Value index, Size bound, int32_t site);
  int32_t indexSite(mlir::Operation *op);
  mlir::Value isAt(mlir::Value position, int64_t place);
  // One value where a place is the one at these indices, else another.
  mlir::Value selectAt(llvm::ArrayRef<mlir::Value> place, llvm::ArrayRef<int64_t> at, mlir::Value there,
                       mlir::Value elsewhere);
  mlir::Value selectAt(mlir::Value place, int64_t at, mlir::Value there, mlir::Value elsewhere);

  SmallValue elementwise(ir::ElementwiseOpInterface op, llvm::ArrayRef<SmallValue> operands);

  llvm::SmallVector<SmallValue> movement(mlir::Operation *op, const schema::Movement &movement,
                                         llvm::ArrayRef<SmallValue> operands);

  SmallValue reduction(mlir::Operation *op, const Reduction &reduction, const SmallValue &x);

  SmallValue product(ir::ContractOp op, const SmallValue &lhs, const SmallValue &rhs);

  llvm::SmallVector<SmallValue> cumulation(mlir::Operation *op, const Cumulation &what,
                                           llvm::ArrayRef<SmallValue> operands);
  SmallValue uniform(ir::RandomUniformOp op, const SmallValue &state);
  // The place of the largest or smallest element along an axis.
  SmallValue argExtreme(mlir::Operation *op, int64_t axis, bool largest, const SmallValue &x);

  SmallValue takeAlongAxis(ir::TakeAlongAxisOp op, const SmallValue &x, const SmallValue &indices);
  SmallValue putAlongAxis(ir::PutAlongAxisOp op, const SmallValue &x, const SmallValue &indices);

  SmallValue gather(ir::GatherOp op, const SmallValue &x, const SmallValue &indices);

  // Zeros, to which the slices are added at the indices.
  SmallValue put(ir::GatherPutOp op, const SmallValue &slices, const SmallValue &indices);

  SmallValue iota(ir::IotaOp op);

  // The number of elements along axes.
  SmallValue sizes(mlir::Operation *op, llvm::ArrayRef<int64_t> axes, const SmallValue &x);

  void check(ir::AssertOp op, const SmallValue &holds);

  // Writes an array, unless an axis of these sizes has no elements. Elsewhere a failed check has left a place that is
  // there.
  void store(llvm::ArrayRef<Size> bounds, llvm::function_ref<void(SmallEmitter &)> write);

  SmallValue update(ir::UpdateAtOp op, const SmallValue &x, const SmallValue &position, const SmallValue &slice);

  SmallValue gatherNamed(mlir::Operation *op, const NamedSlices &named, const SmallValue &x, const SmallValue &indices);
  SmallValue updateNamed(mlir::Operation *op, const NamedSlices &named, const SmallValue &x, const SmallValue &indices,
                         const SmallValue &updates);

  //===-- Stacks: runtime/Stacks.h ----------------------------------------------------------------===//

  mlir::Value number(double value);
  mlir::Value word(int64_t value);
  // A place in an entry.
  mlir::Value at(mlir::Value entry, int64_t offset);
  int64_t offsetOf(int64_t element, mlir::Type type);
  // Memory has a byte for a bool.
  mlir::Value inMemory(mlir::Value element);
  mlir::Value fromMemory(mlir::Value address, mlir::Type type);

  SmallValue push(ir::StackPushOp op, const SmallValue &stacks, const SmallValue &x);

  SmallValue onStacks(mlir::Operation *op, llvm::ArrayRef<SmallValue> operands);

  // The stacks below, and the entries. The empty stack gives itself and zeros.
  llvm::SmallVector<SmallValue> pop(ir::StackPopOp op, const SmallValue &stacks);

  // Whether no check of the call has failed so far: a loop must not go on with what a failed check has left.
  mlir::Value hasNotFailed();
};

} // namespace calque::codegen
#endif
