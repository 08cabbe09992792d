// What the rules for many examples at once (vmap) are written with.
//
//   LogicalResult TransposeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
//     results.push_back(rule.create<TransposeOp>(rule[0], ...)); // rule[0]: all examples of x, along axis 0
#ifndef CALQUE_IR_BATCHRULE_H
#define CALQUE_IR_BATCHRULE_H

#include "ir/Dialect.h"
#include "ir/schema/ExternRules.h"

#include "mlir/IR/Builders.h"

namespace calque::ir {

// The value with one of its axes at another place.
mlir::Value moveAxis(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int64_t from, int64_t to);

class BatchRule {
public:
  using Value = mlir::Value;

  // `operands` are those of the operation, with all examples along axis 0 where `batched`. `examples` is any tensor
  // whose axis 0 runs over the examples. `body` emits a block's operations for all examples, where the builder stands,
  // and gives what it yields for them.
  using Body = llvm::function_ref<llvm::FailureOr<llvm::SmallVector<Value>>(
      mlir::OpBuilder &builder, mlir::Block &block, llvm::ArrayRef<Value> arguments)>;
  BatchRule(mlir::OpBuilder &builder, mlir::Operation *op, llvm::ArrayRef<Value> operands,
            const llvm::SmallBitVector &batched, Value examples, Body body = nullptr)
      : builder(builder), op(op), body(body), operands(operands), batched(batched), examples(examples) {}

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, op->getLoc(), std::forward<Args>(args)...);
  }

  Value operator[](unsigned i) const { return operands[i]; }
  bool isBatched(unsigned i) const { return batched[i]; }
  unsigned numOperands() const { return operands.size(); }
  // The number of examples, or kDynamic.
  int64_t size() const;
  // The type and the sizes that operand i has for one example.
  mlir::RankedTensorType exampleType(unsigned i) const {
    return mlir::cast<mlir::RankedTensorType>(op->getOperand(i).getType());
  }
  int64_t rank(unsigned i) const { return exampleType(i).getRank(); }

  // Operand i, repeated for each example where it is the same for all.
  Value all(unsigned i);
  llvm::SmallVector<Value> all();
  // A value of one example, the same for all.
  Value repeated(Value value);
  // Operand i with dimensions of size 1 after the first, so that what follows has this rank.
  Value aligned(unsigned i, int64_t rank);
  Value aligned(Value value, int64_t rank);
  // A tensor of numbers that has operand i's type and sizes for one example; its elements mean nothing.
  Value example(unsigned i);
  // Zeros like the result of one example, whose sizes must be known.
  Value zerosLikeResult() { return zerosLike(op->getResult(0)); }
  // Axes of one example in all of them; none stand for all where the operation says so.
  llvm::SmallVector<int64_t> shifted(llvm::ArrayRef<int64_t> axes, int64_t rank, bool emptyMeansAll = false) const;
  int64_t shifted(int64_t axis, int64_t rank) const { return (axis < 0 ? axis + rank : axis) + 1; }
  // The values with one axis before the others, or the first at another place.
  Value toFront(Value value, int64_t axis) { return move(value, axis, 0); }
  Value move(Value value, int64_t from, int64_t to);
  // Axis 0 moved to stand before `axis` and joined to it, and parted from it again: the sizes are those of axis 0 and
  // `second` of a tensor of all examples.
  Value mergeInto(Value value, int64_t axis);
  Value partFrom(Value value, int64_t axis, Value like, int64_t second);
  // The examples joined to the dimension after them, and parted from it again.
  Value merge(Value value) { return mergeInto(value, 0); }
  Value part(Value value, Value like) { return partFrom(value, 0, like, 1); }

  // The operation on other operands, with the same attributes.
  Value apply(llvm::ArrayRef<Value> arguments);

  llvm::LogicalResult elementwise(llvm::SmallVectorImpl<Value> &results);
  llvm::LogicalResult same(llvm::SmallVectorImpl<Value> &results);
  // The operation on one example after the other.
  llvm::LogicalResult unrolled(llvm::SmallVectorImpl<Value> &results);
  // A diagnostic: the operation <why>, so there is no program for many examples.
  llvm::LogicalResult refuse(const llvm::Twine &why);
  // Fails, after a diagnostic, unless all sizes of the operands are known.
  llvm::LogicalResult requireKnownSizes();

  mlir::OpBuilder &builder;
  mlir::Operation *op;
  const Body body;

private:
  Value zerosLike(Value value);
  mlir::Operation *recreate(llvm::ArrayRef<Value> arguments);

  llvm::ArrayRef<Value> operands;
  const llvm::SmallBitVector &batched;
  Value examples;
};

// Where the users' operations have their rules; null where there are none.
void setExternRules(schema::ExternRules *rules);

} // namespace calque::ir
#endif
