#include "ir/GradientRule.h"
#include "ir/Regions.h"
#include "ir/Values.h"
#include "passes/BranchSizes.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace calque {
#define GEN_PASS_DEF_BOXSIZES
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

// A stack whose one entry is a value.
Value boxOf(OpBuilder &builder, Location location, Value value) {
  return SizedPushOp::create(builder, location, emptyStack(builder, location), value);
}

// How a block gives a value on: as it is, as a box, or as a box where its size is late. Where it gives one of late size
// as it is, that has to have the sizes of `like`, if there is one.
struct Given {
  enum { AsItIs, Boxed, BoxedIfLate } how = AsItIs;
  Value like = {};
};

// What makes values of late size: loops that vary, entries that know theirs, and branches that give sizes which are
// those of nothing around them.
class Makers {
public:
  explicit Makers(Operation *function) {
    function->walk([&](Operation *op) { // what is inside first
      auto loop = dyn_cast<WhileOp>(op);
      auto cond = dyn_cast<CondOp>(op);
      if (isa<SizedPopOp, OpenSizesOp>(op) || (loop && !loop.getVarying().empty()) || (cond && givesLate(cond)))
        makers.insert(op);
    });
  }
  bool areNone() const { return makers.empty(); }
  bool contains(Operation *op) const { return makers.contains(op); }

private:
  bool givesLate(CondOp cond) {
    auto isOpen = [](Value value) { return !typeOf(value).hasStaticShape(); };
    if (llvm::none_of(cond.getResults(), isOpen))
      return false;
    auto walked = cond->walk(
        [&](Operation *op) { return makers.contains(op) ? WalkResult::interrupt() : WalkResult::advance(); });
    return walked.wasInterrupted() || !calque::sourcesOfSizes(cond);
  }

  llvm::DenseSet<Operation *> makers;
};

// A value of late size, and the stack whose uppermost entry it is.
struct Late {
  Value value, stack;
};

class Boxer {
public:
  explicit Boxer(const Makers &makers) : makers(makers) {}

  // Returns which of the values that the block's terminator gives have become boxes.
  llvm::SmallBitVector run(Block &block, ArrayRef<Given> given) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (isa<SizedPopOp, OpenSizesOp>(op))
        return splitAt(block, taken(&op), given);
      auto loop = dyn_cast<WhileOp>(op);
      if (loop && !loop.getVarying().empty())
        return splitAt(block, box(loop), given);
      if (auto cond = dyn_cast<CondOp>(op); cond && makers.contains(cond))
        return splitAt(block, box(cond), given);
      for (Region &region : op.getRegions()) {
        SmallVector<Given> inside(region.front().getTerminator()->getNumOperands());
        if (loop && &region == &loop.getBody())
          for (auto [each, variable] : llvm::zip(inside, region.getArguments()))
            each.like = variable;
        run(region.front(), inside);
      }
    }
    return boxGiven(block, given, {});
  }

private:
  // The entries that the block takes, one behind the other, and the values whose sizes it forgets, if what they are
  // taken from is there before.
  SmallVector<Late> taken(Operation *first) {
    SmallVector<Operation *> takers;
    for (Operation *op = first; op; op = op->getNextNode())
      if (isa<SizedPopOp, OpenSizesOp>(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
            Operation *made = operand.getDefiningOp();
            return !made || (made->getBlock() == first->getBlock() && made->isBeforeInBlock(first));
          }))
        takers.push_back(op);
    SmallVector<Late> late;
    OpBuilder builder(first);
    for (Operation *op : takers) {
      Location location = op->getLoc();
      if (auto open = dyn_cast<OpenSizesOp>(op)) {
        late.push_back({open.getResult(), boxOf(builder, location, open.getX())});
        continue;
      }
      auto pop = cast<SizedPopOp>(op);
      Value stack = pop.getStack();
      Value below = StackBelowOp::create(builder, location, stack);
      if (pop.getOptional()) {
        Value zeros = boxOf(builder, location, GradientRule(builder, location, pop.getLike()).zerosLike(pop.getLike()));
        Value isEmpty = StackIsEmptyOp::create(builder, location, stack);
        stack = SelectOp::create(builder, location, isEmpty, zeros, stack);
      }
      pop.getBelow().replaceAllUsesWith(below);
      late.push_back({pop.getEntry(), stack});
    }
    return late;
  }

  // Makes boxes of what branches give and whose sizes are not known.
  SmallVector<Late> box(CondOp cond) {
    OpBuilder builder(cond);
    SmallVector<Given> given(cond.getNumResults());
    SmallVector<Type> types(cond.getResultTypes());
    for (auto [i, type] : llvm::enumerate(types))
      if (!cast<RankedTensorType>(type).hasStaticShape()) {
        type = RankedTensorType::get({}, StackType::get(builder.getContext()));
        given[i].how = Given::Boxed;
      }
    auto made = CondOp::create(builder, cond.getLoc(), types, cond.getPredicate(), cond.getInputs());
    made.getThen().takeBody(cond.getThen());
    made.getOtherwise().takeBody(cond.getOtherwise());
    for (Region &region : made->getRegions())
      run(region.front(), given);
    SmallVector<Late> late;
    for (auto [i, result] : llvm::enumerate(cond.getResults()))
      if (given[i].how == Given::Boxed)
        late.push_back({result, made.getResult(i)});
      else
        result.replaceAllUsesWith(made.getResult(i));
    return late;
  }

  // Makes boxes of the loop variables that vary.
  SmallVector<Late> box(WhileOp loop) {
    OpBuilder builder(loop);
    Location location = loop.getLoc();
    const unsigned count = loop.getNumVariables(), all = loop->getNumOperands();
    SmallVector<unsigned> boxed, others;
    SmallVector<Value> values;
    for (unsigned i = 0; i < all; ++i) {
      const bool varies = i < count && loop.isVarying(i);
      (varies ? boxed : others).push_back(i);
      values.push_back(varies ? boxOf(builder, location, loop->getOperand(i)) : loop->getOperand(i));
    }
    TypeRange types = ValueRange(values).getTypes();
    auto made =
        WhileOp::create(builder, location, types.take_front(count), values, loop.getCheckpoint(), ArrayRef<int64_t>());
    // The region's block becomes that of an operation on the entries.
    auto fill = [&](Region &from, Region &to, bool isBody) {
      fillRegion(to, builder, location, types, [&](OpBuilder &inside, ValueRange arguments) -> SmallVector<Value> {
        Block &block = from.front();
        SmallVector<unsigned> order(boxed);
        llvm::append_range(order, others);
        const unsigned before = block.getNumArguments();
        for (unsigned i : order)
          block.getArgument(i).replaceAllUsesWith(block.addArgument(block.getArgument(i).getType(), location));
        block.eraseArguments(0, before);
        SmallVector<Given> given(block.getTerminator()->getNumOperands());
        SmallVector<int64_t> likes(given.size(), -1);
        for (unsigned i = 0; isBody && i < count; ++i)
          if (loop.isVarying(i)) {
            given[i].how = Given::Boxed;
          } else {
            const auto at = static_cast<unsigned>(llvm::find(order, i) - order.begin());
            given[i].like = block.getArgument(at);
            if (!typeOf(given[i].like).hasStaticShape())
              likes[i] = at;
          }
        run(block, given);
        // A condition often asks for none of them.
        auto isUsed = [](BlockArgument argument) { return !argument.use_empty(); };
        if (llvm::none_of(block.getArguments().take_front(boxed.size()), isUsed)) {
          IRMapping mapping;
          for (auto [argument, value] : llvm::zip_equal(block.getArguments(), selected(arguments, order)))
            mapping.map(argument, value);
          for (Operation &op : block.without_terminator())
            inside.clone(op, mapping);
          return llvm::map_to_vector(block.getTerminator()->getOperands(),
                                     [&](Value value) { return mapping.lookup(value); });
        }
        auto entries = OnEntriesOp::create(inside, location, block.getTerminator()->getOperandTypes(),
                                           selected(arguments, order), static_cast<int64_t>(boxed.size()));
        entries->setAttr(calque::kLikesAttr, inside.getDenseI64ArrayAttr(likes));
        entries.getBody().takeBody(from);
        return SmallVector<Value>(entries.getResults());
      });
    };
    fill(loop.getCondition(), made.getCondition(), false);
    fill(loop.getBody(), made.getBody(), true);
    made->setAttr(calque::kBoxesAttr, builder.getDenseI64ArrayAttr(SmallVector<int64_t>(boxed.begin(), boxed.end())));
    SmallVector<Late> late;
    for (unsigned i = 0; i < count; ++i)
      if (loop.isVarying(i))
        late.push_back({loop.getResult(i), made.getResult(i)});
      else
        loop.getResult(i).replaceAllUsesWith(made.getResult(i));
    return late;
  }

  // Moves what is behind the operation that makes late values into a region on them.
  llvm::SmallBitVector splitAt(Block &block, ArrayRef<Late> late, ArrayRef<Given> given) {
    Operation *maker = late.front().value.getDefiningOp(), *terminator = block.getTerminator();
    Location location = maker->getLoc();
    llvm::SmallPtrSet<Operation *, 4> made;
    for (const Late &each : late)
      made.insert(each.value.getDefiningOp());
    llvm::SetVector<Operation *> moved;
    for (Operation *op = maker->getNextNode(); op != terminator; op = op->getNextNode())
      if (!made.contains(op))
        moved.insert(op);
    llvm::SetVector<Value> captures;
    auto isLate = [&](Value value) { return made.contains(value.getDefiningOp()); };
    for (Operation *op : moved)
      for (Value operand : op->getOperands())
        if (!isLate(operand) && !moved.contains(operand.getDefiningOp()))
          captures.insert(operand);
    // What the region gives: what is made in it and given on.
    SmallVector<unsigned> fromRegion;
    SmallVector<int64_t> likes;
    SmallVector<Value> yielded;
    llvm::SmallBitVector boxes(terminator->getNumOperands());
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      if (!moved.contains(value.getDefiningOp()) && !isLate(value))
        continue;
      const bool isOpen = !typeOf(value).hasStaticShape();
      auto own = llvm::find_if(late, [&, value = value](const Late &each) { return each.value == value; });
      if (own != late.end() && given[i].how != Given::AsItIs) { // is in a box already
        terminator->setOperand(i, own->stack);
        boxes.set(i);
        continue;
      }
      boxes[i] = given[i].how == Given::Boxed || (isOpen && given[i].how == Given::BoxedIfLate);
      fromRegion.push_back(i);
      yielded.push_back(value);
      likes.push_back(-1);
      if (isOpen && !boxes[i]) {
        captures.insert(given[i].like);
        likes.back() = llvm::find(captures, given[i].like) - captures.begin() + late.size();
      }
    }

    if (moved.empty() && fromRegion.empty()) {
      for (Operation *op : made)
        op->erase();
      return boxGiven(block, given, boxes);
    }
    SmallVector<Value> values;
    for (const Late &each : late)
      values.push_back(each.stack);
    llvm::append_range(values, captures);
    Region region;
    Block &inside = region.emplaceBlock();
    for (Late each : late)
      each.value.replaceAllUsesWith(inside.addArgument(each.value.getType(), location));
    for (auto [value, i] : llvm::zip_equal(yielded, fromRegion)) {
      value = terminator->getOperand(i);             // late ones are arguments now
      terminator->setOperand(i, late.front().stack); // until there is the region's result
    }
    for (Value capture : captures) {
      Value argument = inside.addArgument(capture.getType(), location);
      capture.replaceUsesWithIf(argument, [&](OpOperand &use) { return moved.contains(use.getOwner()); });
    }
    for (Operation *op : moved)
      op->moveBefore(&inside, inside.end());
    OpBuilder builder(maker->getContext()); // the region has no parent yet
    builder.setInsertionPointToEnd(&inside);
    vector::YieldOp::create(builder, location, yielded);
    SmallVector<Given> ofRegion;
    for (auto [i, like] : llvm::zip_equal(fromRegion, likes))
      ofRegion.push_back({boxes[i] ? Given::Boxed : Given::AsItIs,
                          like < 0 ? Value() : inside.getArgument(static_cast<unsigned>(like))});
    run(inside, ofRegion);
    builder.setInsertionPoint(terminator);
    auto entries = OnEntriesOp::create(builder, location, inside.getTerminator()->getOperandTypes(), values,
                                       static_cast<int64_t>(late.size()));
    entries->setAttr(calque::kLikesAttr, builder.getDenseI64ArrayAttr(likes));
    entries.getBody().takeBody(region);
    for (auto [i, result] : llvm::zip_equal(fromRegion, entries.getResults()))
      terminator->setOperand(i, result);
    for (Operation *op : made)
      op->erase();
    return boxGiven(block, given, boxes);
  }

  // Boxes what is not from a region, and has to be a box all the same.
  llvm::SmallBitVector boxGiven(Block &block, ArrayRef<Given> given, llvm::SmallBitVector boxes) {
    Operation *terminator = block.getTerminator();
    boxes.resize(terminator->getNumOperands());
    OpBuilder builder(terminator);
    for (unsigned i = 0; i < given.size(); ++i)
      if (given[i].how == Given::Boxed && !boxes[i]) {
        terminator->setOperand(i, boxOf(builder, terminator->getLoc(), terminator->getOperand(i)));
        boxes.set(i);
      }
    return boxes;
  }

  const Makers &makers;
};

struct BoxSizes : calque::impl::BoxSizesBase<BoxSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    const Makers makers(function);
    if (makers.areNone())
      return;
    Block &block = function.getBody().front();
    // A result that has the sizes of an argument, such as the gradient with respect to it, has memory beforehand.
    SmallVector<Given> given;
    for (Value like : calque::argumentsOfSizes(function.getBody()))
      given.push_back(like ? Given{Given::AsItIs, like} : Given{Given::BoxedIfLate});
    llvm::SmallBitVector boxes = Boxer(makers).run(block, given);
    SmallVector<int64_t> late;
    for (unsigned i : boxes.set_bits())
      late.push_back(i);
    if (late.empty())
      return;
    function.setType(
        FunctionType::get(&getContext(), function.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
    function->setAttr(calque::kLateAttr, DenseI64ArrayAttr::get(&getContext(), late));
  }
};

} // namespace
