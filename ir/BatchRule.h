// The helper that batching rules (vmap) are written with.
//
//   LogicalResult TransposeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
//     results.push_back(rule.create<TransposeOp>(rule[0], ...)); // rule[0]: x with the mapped axis as axis 0
//
// A result that is the same for all examples may be given without the mapped axis.
#ifndef CALQUE_IR_BATCHRULE_H
#define CALQUE_IR_BATCHRULE_H

#include "ir/Dialect.h"
#include "schema/ExternRules.h"

#include "mlir/IR/Builders.h"

namespace calque::ir {

// Moves an axis of a value to another position.
mlir::Value moveAxis(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int64_t from, int64_t to);

class BatchRule {
public:
  using Value = mlir::Value;

  // `operands` are those of the operation, with the mapped axis as axis 0 where `batched`. `examples` is any tensor
  // with the mapped axis as axis 0. `body` emits a block at the builder's insertion point, on arguments that are
  // stacked unless they have the block's own types, and returns what it yields: stacked too, but for the values
  // numbered in `single`. `running`: see below, for the operations of the block.
  using Body = llvm::function_ref<llvm::FailureOr<llvm::SmallVector<Value>>(
      mlir::OpBuilder &builder, mlir::Block &block, llvm::ArrayRef<Value> arguments, const llvm::SmallBitVector *single,
      Value running)>;
  BatchRule(mlir::OpBuilder &builder, mlir::Operation *op, llvm::ArrayRef<Value> operands,
            const llvm::SmallBitVector &batched, Value examples, Body body = nullptr, Value running = nullptr)
      : builder(builder), op(op), body(body), running(running), operands(operands), batched(batched),
        examples(examples) {}

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, op->getLoc(), std::forward<Args>(args)...);
  }

  Value operator[](unsigned i) const { return operands[i]; }
  bool isBatched(unsigned i) const { return batched[i]; }
  unsigned numOperands() const { return operands.size(); }
  // The size of the mapped axis, or kDynamic.
  int64_t size() const;
  // The type of operand i without the mapped axis.
  mlir::RankedTensorType exampleType(unsigned i) const {
    return mlir::cast<mlir::RankedTensorType>(op->getOperand(i).getType());
  }
  int64_t rank(unsigned i) const { return exampleType(i).getRank(); }

  // Operand i with the mapped axis, broadcast along it where the operand has none.
  Value all(unsigned i);
  llvm::SmallVector<Value> all();
  // A value without the mapped axis, broadcast along it.
  Value repeated(Value value);
  // Operand i with dimensions of size 1 inserted after the mapped axis, so that the others broadcast as at this rank.
  Value aligned(unsigned i, int64_t rank);
  Value aligned(Value value, int64_t rank);
  // A tensor with the type and sizes of operand i without the mapped axis; its elements are unspecified.
  Value example(unsigned i);
  // Zeros of the result's type without the mapped axis, whose sizes must be known.
  Value zerosLikeResult() { return zerosLike(op->getResult(0)); }
  // The numbers of axes once the mapped axis stands before them. With `emptyMeansAll`, an empty list names all axes.
  llvm::SmallVector<int64_t> shifted(llvm::ArrayRef<int64_t> axes, int64_t rank, bool emptyMeansAll = false) const;
  int64_t shifted(int64_t axis, int64_t rank) const { return schema::normalAxis(axis, rank) + 1; }
  // Moves an axis to the front, or to any position.
  Value toFront(Value value, int64_t axis) { return move(value, axis, 0); }
  Value move(Value value, int64_t from, int64_t to);
  // mergeInto moves axis 0 before `axis` and merges the two into one; partFrom is its inverse, with the sizes of axes 0
  // and `second` of `like`.
  Value mergeInto(Value value, int64_t axis);
  Value partFrom(Value value, int64_t axis, Value like, int64_t second);
  // Merges the mapped axis with the axis after it, and splits the two again.
  Value merge(Value value) { return mergeInto(value, 0); }
  Value part(Value value, Value like) { return partFrom(value, 0, like, 1); }

  // Emits the operation on other operands, with the same attributes.
  Value apply(llvm::ArrayRef<Value> arguments);

  llvm::LogicalResult elementwise(llvm::SmallVectorImpl<Value> &results);
  llvm::LogicalResult same(llvm::SmallVectorImpl<Value> &results);
  // Emits the operation along its attribute `axis`, which stands one place further behind.
  llvm::LogicalResult alongAxis(llvm::SmallVectorImpl<Value> &results);
  // Emits the operation once for each index of the mapped axis.
  llvm::LogicalResult unrolled(llvm::SmallVectorImpl<Value> &results);
  // Emits the diagnostic that the operation <why>, and fails.
  llvm::LogicalResult refuse(const llvm::Twine &why);
  // Fails after a diagnostic unless all sizes of the operands are known.
  llvm::LogicalResult requireKnownSizes();

  mlir::OpBuilder &builder;
  mlir::Operation *op;
  const Body body;
  // Which examples run the operation: a bool for each. The others are done with it, and their results are not used.
  // Null: all run it, or nothing in its regions fails.
  const Value running;

private:
  Value zerosLike(Value value);
  mlir::Operation *recreate(mlir::Operation *op, llvm::ArrayRef<Value> arguments);

  llvm::ArrayRef<Value> operands;
  const llvm::SmallBitVector &batched;
  Value examples;
};

// Sets where the batching rules of the users' operations are found.
void setExternRules(schema::ExternRules *rules);

} // namespace calque::ir
#endif
