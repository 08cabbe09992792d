// What loops put on stacks for gradients, in each iteration and in all.
#include "codegen/lowering/Lowering.h"
#include "codegen/schedule/ScheduleTable.h"
#include "runtime/Stacks.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace calque::codegen {

namespace {

std::optional<int64_t> constantOf(Value value) {
  APInt element;
  if (cast<RankedTensorType>(value.getType()).getElementType().isSignlessInteger() &&
      matchPattern(value, m_ConstantInt(&element)))
    return element.getSExtValue();
  return std::nullopt;
}

// Of a value in a region of a loop: what it is in all iterations.
std::optional<int64_t> invariantIn(ir::WhileOp loop, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() < loop.getNumVariables() ? std::nullopt
                                                            : constantOf(loop.getValues()[argument.getArgNumber()]);
  return constantOf(value);
}

// The number of iterations of a loop that counts to a known number, and does nothing else to end; 0 if it is another.
int64_t iterationsOf(ir::WhileOp loop) {
  Operation *condition = loop.getCondition().front().getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<ir::LessOp, ir::GreaterOp>(condition))
    return 0;
  auto counter = dyn_cast<BlockArgument>(condition->getOperand(0));
  if (!counter || counter.getArgNumber() >= loop.getNumVariables())
    return 0;
  const unsigned number = counter.getArgNumber();
  auto next = loop.getBody().front().getTerminator()->getOperand(number).getDefiningOp<ir::AddOp>();
  const std::optional<int64_t> begin = constantOf(loop.getInitial()[number]),
                               end = invariantIn(loop, condition->getOperand(1)),
                               step = next && next->getOperand(0) == loop.getBody().getArgument(number)
                                          ? invariantIn(loop, next->getOperand(1))
                                          : std::nullopt;
  if (!begin || !end || !step || *step == 0 || (*step > 0) != isa<ir::LessOp>(condition))
    return 0;
  // Numbers near the ends of int64 don't count to others.
  const auto distance = static_cast<__int128>(*end) - *begin, length = static_cast<__int128>(*step);
  const __int128 count = distance * length <= 0 ? 0 : (distance + length - (*step > 0 ? 1 : -1)) / length;
  return count <= INT32_MAX ? static_cast<int64_t>(count) : 0;
}

// Of one entry on each of some stacks; nothing if only the call knows.
std::optional<int64_t> bytesOf(Value stacks, Value entries) {
  auto count = cast<RankedTensorType>(stacks.getType()), all = cast<RankedTensorType>(entries.getType());
  if (!count.hasStaticShape() || !all.hasStaticShape())
    return std::nullopt;
  const int64_t number = count.getNumElements();
  if (number == 0)
    return 0;
  const int64_t bytes = all.getNumElements() / number * ir::ElementType(entries).bytes();
  return number * static_cast<int64_t>(runtime::Stacks::bytesOf(static_cast<size_t>(bytes)));
}

} // namespace

std::vector<KeptByLoop> keptByLoops(ModuleOp program) {
  std::vector<KeptByLoop> result;
  program.walk<WalkOrder::PreOrder>([&](ir::WhileOp loop) {
    std::optional<int64_t> bytes = 0;
    bool keeps = false;
    loop.getBody().walk([&](Operation *op) {
      // What a box holds is no more than the present value of a variable.
      if (!isa<ir::StackPushOp, ir::SizedPushOp>(op) || op->getOperand(0).getDefiningOp<ir::StackEmptyOp>() ||
          op->getParentOfType<ir::WhileOp>() != loop)
        return;
      keeps = true;
      const std::optional<int64_t> own =
          isa<ir::SizedPushOp>(op) ? std::nullopt : bytesOf(op->getOperand(0), op->getOperand(1));
      bytes = bytes && own ? std::optional(*bytes + *own) : std::nullopt;
    });
    if (keeps)
      result.push_back({bytes.value_or(0), iterationsOf(loop), lineIn(loop.getLoc())});
  });
  return result;
}

} // namespace calque::codegen
