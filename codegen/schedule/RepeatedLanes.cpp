#include "codegen/schedule/RepeatedLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// Whether a number that the emitted code computes is a multiple of a power of two, whatever the loops around are at.
bool isEmittedMultiple(Value value, int64_t count) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return *number % count == 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *around = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(around))
      return argument == loop.getInductionVar() && isEmittedMultiple(loop.getLowerBound(), count) &&
             isEmittedMultiple(loop.getStep(), count);
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return isEmittedMultiple(op->getOperand(0), count) || isEmittedMultiple(op->getOperand(1), count);
  return isa<arith::AddIOp>(op) && isEmittedMultiple(op->getOperand(0), count) &&
         isEmittedMultiple(op->getOperand(1), count);
}

// The constant by which an operation of the body divides, if it is a power of two.
std::optional<int64_t> divisorOf(Operation &op) {
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op))
    return std::nullopt;
  std::optional<int64_t> divisor = getConstantIntValue(op.getOperand(1));
  return divisor && *divisor > 0 && llvm::isPowerOf2_64(*divisor) ? divisor : std::nullopt;
}

} // namespace

// Whether the lanes of a value of the body are adjacent numbers, the first of which is a multiple of a power of two.
bool RepeatedLanes::isRun(Value value, int64_t count) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != v.nest.body)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    if (v.nest.loopOf[index.getDim()] != static_cast<int64_t>(v.vectorLoop) || v.nest.firstIndex[index.getDim()])
      return false;
    Value first = position.index[v.vectorLoop];
    return position.shift[v.vectorLoop] % count == 0 && (!first || isEmittedMultiple(first, count));
  }
  if (isa<arith::IndexCastOp>(op))
    return isRun(op->getOperand(0), count);
  if (!isa<arith::AddIOp>(op))
    return false;
  Value x = op->getOperand(0), y = op->getOperand(1);
  return (isRun(x, count) && isMultiple(y, count)) || (isRun(y, count) && isMultiple(x, count));
}

// Whether a value of the body is one multiple of a power of two in all lanes.
bool RepeatedLanes::isMultiple(Value value, int64_t count) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return *number % count == 0;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != v.nest.body || !isUniform(value))
    return false;
  if (isa<arith::IndexCastOp>(op))
    return isMultiple(op->getOperand(0), count);
  if (isa<arith::MulIOp>(op))
    return isMultiple(op->getOperand(0), count) || isMultiple(op->getOperand(1), count);
  return isa<arith::AddIOp>(op) && isMultiple(op->getOperand(0), count) && isMultiple(op->getOperand(1), count);
}

// The first of each `every` lanes.
Value RepeatedLanes::picked(Value value, const IRMapping &mapping) {
  if (Value known = narrow.lookupOrNull(value))
    return known;
  Value wide = mapping.contains(value) ? mapping.lookup(value) : v.splat(value);
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < v.lanes; lane += every)
    lanes.push_back(lane);
  Value result = v.b.createOrFold<vector::ShuffleOp>(v.location, wide, wide, lanes);
  narrow.map(value, result);
  return result;
}

bool RepeatedLanes::takeQuotient(Operation &op, IRMapping &mapping) {
  std::optional<int64_t> divisor = divisorOf(op);
  if (!divisor || *divisor < 2 || *divisor > v.lanes / 2 || (every != 0 && *divisor != every) ||
      !isRun(op.getOperand(0), *divisor))
    return false;
  every = *divisor;
  if (isa<arith::DivUIOp>(op)) {
    Value x = picked(op.getOperand(0), mapping), y = picked(op.getOperand(1), mapping);
    narrow.map(op.getResult(0), arith::DivUIOp::create(v.b, v.location, x, y).getResult());
    repeated.insert(op.getResult(0));
    return true;
  }
  auto type = VectorType::get({v.lanes}, op.getResult(0).getType());
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < v.lanes; ++lane)
    numbers.push_back(v.b.getIntegerAttr(type.getElementType(), lane % every));
  mapping.map(op.getResult(0),
              arith::ConstantOp::create(v.b, v.location, DenseElementsAttr::get(type, numbers)).getResult());
  return true;
}

bool RepeatedLanes::take(Operation &op, IRMapping &mapping) {
  if (op.getNumResults() != 1 || !isa<arith::ArithDialect>(op.getDialect()))
    return false;
  if (takeQuotient(op, mapping))
    return true;
  auto isNarrow = [&](Value value) { return repeated.contains(value); };
  if (llvm::none_of(op.getOperands(), isNarrow) ||
      !llvm::all_of(op.getOperands(), [&](Value value) { return isNarrow(value) || isUniform(value); }))
    return false;
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.operands.push_back(picked(operand, mapping));
  state.types.push_back(VectorType::get({v.lanes / every}, op.getResult(0).getType()));
  state.attributes = op.getAttrs();
  narrow.map(op.getResult(0), v.b.create(state)->getResult(0));
  repeated.insert(op.getResult(0));
  return true;
}

void RepeatedLanes::spread(Operation &op, IRMapping &mapping) {
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; every != 0 && lane < v.lanes; ++lane)
    lanes.push_back(lane / every);
  for (Value operand : op.getOperands())
    if (!mapping.contains(operand) && repeated.contains(operand)) {
      Value few = narrow.lookup(operand);
      mapping.map(operand, vector::ShuffleOp::create(v.b, v.location, few, few, lanes).getResult());
    }
}

} // namespace calque::codegen
