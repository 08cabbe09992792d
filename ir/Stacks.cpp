// The rules of stacks. The cotangent of a stack is the stack of the cotangents of its entries, so that pushing becomes
// popping and the other way round, whether or not entries know their sizes.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"
#include "ir/Values.h"

using namespace mlir;

namespace calque::ir {

namespace {

Value orZeros(OpBuilder &builder, Location location, Value value, Value like) {
  return value ? value : zerosLike(builder, location, like);
}

// Both kinds of stacks. One of derivatives may lack the entry.
struct Plain {
  static Value push(OpBuilder &builder, Location location, Value stack, Value x) {
    return StackPushOp::create(builder, location, stack, x);
  }
  static ResultRange pop(OpBuilder &builder, Location location, Value stack, Value like) {
    return StackPopOp::create(builder, location, stack, like)->getResults();
  }
};
struct Sized {
  static Value push(OpBuilder &builder, Location location, Value stack, Value x) {
    return SizedPushOp::create(builder, location, stack, x);
  }
  static ResultRange pop(OpBuilder &builder, Location location, Value stack, Value like) {
    return SizedPopOp::create(builder, location, stack, like, /*optional=*/true)->getResults();
  }
};

template <typename Kind, typename Push>
void pushVjp(Push op, OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(2, Value());
  if (!isDifferentiable(op.getX())) // whose cotangents nothing pushes
    operandCotangents[0] = cotangents[0];
  else
    operandCotangents = SmallVector<Value>(Kind::pop(builder, op.getLoc(), cotangents[0], op.getX()));
}

template <typename Kind, typename Push>
void pushJvp(Push op, OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  Location location = op.getLoc();
  Value below = orZeros(builder, location, tangents[0], op.getStack());
  resultTangents.assign(1, isDifferentiable(op.getX()) ? Kind::push(builder, location, below,
                                                                    orZeros(builder, location, tangents[1], op.getX()))
                                                       : below);
}

template <typename Kind, typename Pop>
void popVjp(Pop op, OpBuilder &builder, ValueRange cotangents, SmallVectorImpl<Value> &operandCotangents) {
  Location location = op.getLoc();
  operandCotangents.assign(2, Value());
  Value below = orZeros(builder, location, cotangents[0], op.getStack());
  operandCotangents[0] =
      isDifferentiable(op.getEntry())
          ? Kind::push(builder, location, below, orZeros(builder, location, cotangents[1], op.getEntry()))
          : below;
}

// `like` has the sizes of the entry.
template <typename Kind, typename Pop>
void popJvp(Pop op, Value like, OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  resultTangents.assign(2, Value());
  if (!tangents[0])
    return;
  if (!isDifferentiable(op.getEntry()))
    resultTangents[0] = tangents[0];
  else
    resultTangents = SmallVector<Value>(Kind::pop(builder, op.getLoc(), tangents[0], like));
}

} // namespace

void StackPushOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  pushVjp<Plain>(*this, builder, cotangents, operandCotangents);
}
void SizedPushOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  pushVjp<Sized>(*this, builder, cotangents, operandCotangents);
}
void StackPushOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  pushJvp<Plain>(*this, builder, tangents, resultTangents);
}
void SizedPushOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  pushJvp<Sized>(*this, builder, tangents, resultTangents);
}
void StackPopOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  popVjp<Plain>(*this, builder, cotangents, operandCotangents);
}
void SizedPopOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  popVjp<Sized>(*this, builder, cotangents, operandCotangents);
}
void StackPopOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  popJvp<Plain>(*this, getLike(), builder, tangents, resultTangents);
}
void SizedPopOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  popJvp<Sized>(*this, getEntry(), builder, tangents, resultTangents);
}

// What is popped was pushed: nothing but the order of pushes and pops says of what element type an entry is, so that
// this finds no more than a pop of what a push before it has put there.
template <typename Push, typename Pop> static LogicalResult verifyPop(Pop op) {
  auto push = op.getStack().template getDefiningOp<Push>();
  if (!push || typeOf(push.getX()).getElementType() == typeOf(op.getEntry()).getElementType())
    return success();
  return op.emitOpError("takes an entry of ") << typeOf(op.getEntry()).getElementType() << " from a stack, and it is "
                                              << typeOf(push.getX()).getElementType();
}
LogicalResult StackPopOp::verify() { return verifyPop<StackPushOp>(*this); }
LogicalResult SizedPopOp::verify() { return verifyPop<SizedPushOp>(*this); }

// A stack for each example.
LogicalResult StackPushOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<StackPushOp>(rule.all(0), rule.all(1)));
  return success();
}

LogicalResult StackPopOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  auto pop = StackPopOp::create(rule.builder, getLoc(), rule.all(0), rule.all(1));
  llvm::append_range(results, pop->getResults());
  return success();
}

// Loops whose sizes vary alone have such entries.
LogicalResult SizedPushOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("puts an entry of its own sizes for each example");
}

LogicalResult SizedPopOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("takes an entry of its own sizes for each example");
}

} // namespace calque::ir
