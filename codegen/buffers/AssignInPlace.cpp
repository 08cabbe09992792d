#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/plan/ProgramAttributes.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_ASSIGNINPLACE
#include "codegen/Passes.h.inc"

namespace {

// Adds the uses of a buffer and of its views, except the views themselves.
void addUses(Value buffer, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : buffer.getUses())
    if (auto view = dyn_cast<ViewLikeOpInterface>(use.getOwner()); view && view.getViewSource() == use.get())
      addUses(view->getResult(0), uses);
    else
      uses.push_back(&use);
}

// Whether an operation may write its elements over those of a buffer that it reads: each element is then written by the
// iteration that alone has read it.
bool mayOverwrite(linalg::LinalgOp op, Value read, Value written) {
  if (op.getNumLoops() != op.getNumParallelLoops() || op->getParentOp() != read.getParentRegion()->getParentOp())
    return false;
  std::optional<AffineMap> map;
  auto hasSameMap = [&](OpOperand &operand) {
    AffineMap own = op.getMatchingIndexingMap(&operand);
    if (!map)
      map = own;
    return own == *map && own.isPermutation();
  };
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == read || operand.get() == written) {
      if (!hasSameMap(operand))
        return false;
    }
  return true;
}

// Whether an operation copies a buffer to itself.
bool copiesToItself(Operation *op) {
  auto copy = dyn_cast<linalg::GenericOp>(op);
  if (!copy || copy.getNumDpsInputs() != 1 || copy.getNumDpsInits() != 1 ||
      copy.getDpsInputs()[0] != copy.getDpsInits()[0] ||
      copy.getIndexingMapsArray()[0] != copy.getIndexingMapsArray()[1])
    return false;
  Operation *yield = copy.getBody()->getTerminator();
  return yield == &copy.getBody()->front() && yield->getOperand(0) == copy.getBody()->getArgument(0);
}

struct AssignInPlace : impl::AssignInPlaceBase<AssignInPlace> {
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    func::FuncOp function = program->function;
    auto assigned = function->getAttrOfType<DenseI64ArrayAttr>(kAssignedAttr);
    // A late result allocates memory after all steps have run, and this may fail.
    if (!assigned || assigned.empty() || function->hasAttr(kLateAttr))
      return;
    Block &body = function.getBody().front();
    // A part may fail at any time: a failure ends the loop, and then nothing needs its variables.
    Operation *lastFailing = getOperation()->hasAttr(kPartAttr) ? nullptr : lastThatMayFail(body);
    unsigned firstNew = function.getNumArguments() - static_cast<unsigned>(assigned.size());
    SmallVector<int64_t> inPlace;
    for (auto [number, input] : llvm::enumerate(assigned.asArrayRef())) {
      if (input < 0 || static_cast<size_t>(input) >= program->sizes.numInputs ||
          firstNew < program->sizes.firstOutput())
        return (void)refuseAttribute(function, kAssignedAttr, assigned), signalPassFailure();
      BlockArgument before = body.getArgument(1 + static_cast<unsigned>(input)),
                    after = body.getArgument(firstNew + static_cast<unsigned>(number));
      if (!canReplace(before, after, lastFailing))
        continue;
      SmallVector<Operation *> users(after.user_begin(), after.user_end());
      after.replaceAllUsesWith(before);
      for (Operation *user : users)
        if (copiesToItself(user)) // others write a part of the value
          user->erase();
      inPlace.push_back(static_cast<int64_t>(number));
      ++replaced;
    }
    if (!inPlace.empty())
      function->setAttr(kInPlaceAttr, DenseI64ArrayAttr::get(&getContext(), inPlace));
  }

private:
  // Operations that can fail, print or call C++ take the frame, the function's first argument.
  static Operation *lastThatMayFail(Block &body) {
    Operation *last = nullptr;
    for (OpOperand &use : body.getArgument(0).getUses()) {
      Operation *op = body.findAncestorOpInBlock(*use.getOwner());
      if (!last || last->isBeforeInBlock(op))
        last = op;
    }
    return last;
  }

  // Whether the new value of a variable can be written over the old one.
  static bool canReplace(BlockArgument before, BlockArgument after, Operation *lastFailing) {
    auto type = dyn_cast<MemRefType>(before.getType());
    if (!type || type != after.getType() || !type.hasStaticShape() || type.getNumElements() == 0)
      return false;
    Block &body = *before.getOwner();
    SmallVector<OpOperand *> reads, uses;
    addUses(before, reads);
    addUses(after, uses);
    Operation *first = nullptr; // the first operation that writes
    for (OpOperand *use : uses) {
      Operation *op = body.findAncestorOpInBlock(*use->getOwner());
      if (!first || op->isBeforeInBlock(first))
        first = op;
    }
    if (!first || (lastFailing && !lastFailing->isBeforeInBlock(first)))
      return false;
    return llvm::all_of(reads, [&](OpOperand *read) {
      Operation *op = body.findAncestorOpInBlock(*read->getOwner());
      if (op != first)
        return op->isBeforeInBlock(first);
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      return linalgOp && read->getOwner() == op && read->get() == before &&
             llvm::is_contained(op->getOperands(), after) && mayOverwrite(linalgOp, before, after);
    });
  }
};

} // namespace
} // namespace calque::codegen
