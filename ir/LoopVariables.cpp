// Makes one loop variable of two that hold the same array: the one that the next iteration takes, and the one that is
// there after the loop. C++ loops are learnt with both, and an array that is in two variables can't be updated in
// place.
#include "ir/LoopVariables.h"
#include "ir/Values.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace calque::ir {

namespace {

// The constant that a value has in the one way to a branch.
std::optional<APInt> integerAt(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto cond = dyn_cast_or_null<CondOp>(argument.getOwner()->getParentOp());
    if (!cond)
      return std::nullopt;
    value = cond.getInputs()[argument.getArgNumber()];
  }
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.getNumElements() != 1)
    return std::nullopt;
  return *elements.begin();
}

// Whether a loop goes on, as far as constants say it.
class Decision {
public:
  explicit Decision(WhileOp loop) : condition(loop.getCondition().front()) {
    for (BlockArgument argument : condition.getArguments())
      if (!argument.use_empty())
        used.push_back(argument.getArgNumber());
    for (Operation &op : condition.without_terminator())
      if (auto less = dyn_cast<LessOp>(op); less && isAsserted(less, loop))
        asserted.insert(less);
  }
  bool looksAt(unsigned variable) const { return llvm::is_contained(used, variable); }
  ArrayRef<unsigned> variables() const { return used; }

  // `values` has one for each of the variables.
  std::optional<bool> of(ArrayRef<Value> values) const {
    llvm::DenseMap<Value, APInt> known;
    for (auto [variable, value] : llvm::zip_equal(used, values))
      if (std::optional<APInt> constant = integerAt(value))
        known[condition.getArgument(variable)] = *constant;
    for (Operation &op : condition.without_terminator()) {
      std::optional<APInt> result = evaluate(&op, known);
      if (result)
        known[op.getResult(0)] = *result;
    }
    auto found = known.find(condition.getTerminator()->getOperand(0));
    return found == known.end() ? std::nullopt : std::optional(!found->second.isZero());
  }

private:
  // Whether the call fails unless a variable is below a limit after the loop, too. So where the loop ends it is not for
  // the limit, or nothing sees what it leaves.
  static bool isAsserted(LessOp less, WhileOp loop) {
    auto variable = dyn_cast<BlockArgument>(less.getLhs());
    std::optional<APInt> limit = integerAt(less.getRhs());
    if (!variable || !limit || variable.getArgNumber() >= loop.getNumVariables())
      return false;
    auto isLimit = [&](Value value) {
      std::optional<APInt> other = integerAt(value);
      return other && other->getBitWidth() == limit->getBitWidth() && *other == *limit;
    };
    for (Operation *user : loop.getResult(variable.getArgNumber()).getUsers())
      if (auto reached = dyn_cast<GreaterEqualOp>(user);
          reached && reached.getLhs() == loop.getResult(variable.getArgNumber()) && isLimit(reached.getRhs()))
        for (Operation *isNot : reached->getUsers())
          if (isa<LogicalNotOp>(isNot) && llvm::any_of(isNot->getUsers(), [&](Operation *check) {
                return isa<AssertOp>(check) && check->getBlock() == loop->getBlock();
              }))
            return true;
    return false;
  }

  std::optional<APInt> evaluate(Operation *op, const llvm::DenseMap<Value, APInt> &known) const {
    if (isa<ConstantOp>(op))
      return integerAt(op->getResult(0));
    if (asserted.contains(op))
      return APInt(1, 1);
    if (!isa<EqualOp, NotEqualOp, LogicalAndOp, LogicalOrOp, LogicalNotOp>(op))
      return std::nullopt;
    SmallVector<APInt> operands;
    for (Value operand : op->getOperands()) {
      auto found = known.find(operand);
      if (found == known.end())
        return std::nullopt;
      operands.push_back(found->second);
    }
    auto asBool = [](bool holds) { return APInt(1, holds); };
    if (isa<LogicalNotOp>(op))
      return asBool(operands[0].isZero());
    if (isa<EqualOp>(op))
      return asBool(operands[0] == operands[1]);
    if (isa<NotEqualOp>(op))
      return asBool(operands[0] != operands[1]);
    return isa<LogicalAndOp>(op) ? operands[0] & operands[1] : operands[0] | operands[1];
  }

  Block &condition;
  SmallVector<unsigned> used;
  llvm::SmallDenseSet<Operation *> asserted;
};

// The array that an operation gives with some of its elements changed.
Value changedBy(Operation *op) {
  if (isa<UpdateAtOp, ScatterNdSetOp, ScatterNdAddOp, ScatterNdMaxOp>(op))
    return op->getOperand(0);
  return {};
}

// The argument of a block whose array a value is a later version of; null if that can't be seen.
BlockArgument versionOf(Value value, Block *block) {
  constexpr int kMostSteps = 64;
  for (int i = 0; i < kMostSteps; ++i) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == block)
        return argument;
      auto cond = dyn_cast_or_null<CondOp>(argument.getOwner()->getParentOp());
      if (!cond)
        return {};
      value = cond.getInputs()[argument.getArgNumber()];
      continue;
    }
    Operation *op = value.getDefiningOp();
    const unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<WhileOp>(op))
      value = loop.getInitial()[number];
    else if (auto cond = dyn_cast<CondOp>(op))
      value = cond.getThen().front().getTerminator()->getOperand(number);
    else if (Value x = changedBy(op))
      value = x;
    else
      return {};
  }
  return {};
}

// Gives a branch another result: one value on the ways on which the loop ends, and another where it goes on.
class Choice {
public:
  Choice(PatternRewriter &rewriter, const Decision &decision) : rewriter(rewriter), decision(decision) {}

  // Whether each way through the branch decides. `deciding`: the values of the variables that the decision looks at.
  // The values to choose from must be there before the branch: null are those that it takes or gives.
  bool decides(CondOp cond, ArrayRef<Value> deciding, ArrayRef<Value> values) const {
    for (Value value : values)
      if (Operation *op = value ? value.getDefiningOp() : nullptr; op && op != cond && !op->isBeforeInBlock(cond))
        return false;
    return llvm::all_of(cond->getRegions(), [&](Region &branch) {
      SmallVector<Value> inside = within(cond, branch, deciding);
      if (decision.of(inside))
        return true;
      CondOp nested = branchOf(inside, &branch.front());
      auto own = llvm::map_to_vector(within(cond, branch, values), [&](Value value) {
        return value && value.getParentBlock() == &branch.front() ? value : Value();
      });
      return nested && decides(nested, inside, own);
    });
  }

  // The branch of a block that gives some of these values. No more than one does, or none is taken.
  static CondOp branchOf(ArrayRef<Value> values, Block *block) {
    CondOp found;
    for (Value value : values) {
      if (value.getParentBlock() != block)
        continue;
      if (auto cond = value.getDefiningOp<CondOp>()) {
        if (found && found != cond)
          return {};
        found = cond;
      }
    }
    return found;
  }

  Value make(CondOp cond, ArrayRef<Value> deciding, Value atEnd, Value goingOn) {
    SmallVector<Value> inputs(cond.getInputs());
    const auto numInputs = static_cast<unsigned>(inputs.size());
    auto isOwn = [&](Value value) { return value.getDefiningOp() == cond; };
    for (Value value : {atEnd, goingOn})
      inputs.push_back(isOwn(value) ? Value() : value);
    SmallVector<Value> given;
    for (Value input : inputs)
      if (input)
        given.push_back(input);
    SmallVector<Type> types(cond.getResultTypes());
    types.push_back(atEnd.getType());
    rewriter.setInsertionPoint(cond);
    auto made = CondOp::create(rewriter, cond.getLoc(), types, cond.getPredicate(), given);
    made->setDiscardableAttrs(cond->getDiscardableAttrDictionary());
    for (auto [from, to] : llvm::zip_equal(cond->getRegions(), made->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      Block &block = to.front();
      Operation *yield = block.getTerminator();
      Value values[2] = {atEnd, goingOn};
      for (auto [i, value] : llvm::enumerate(values))
        value = inputs[numInputs + i] ? block.addArgument(value.getType(), value.getLoc())
                                      : yield->getOperand(cast<OpResult>(value).getResultNumber());
      SmallVector<Value> inside;
      for (Value value : deciding)
        inside.push_back(isOwn(value) ? yield->getOperand(cast<OpResult>(value).getResultNumber()) : value);
      std::optional<bool> goesOn = decision.of(inside);
      Value chosen = goesOn ? values[*goesOn] : make(branchOf(inside, &block), inside, values[0], values[1]);
      rewriter.modifyOpInPlace(yield, [&] { yield->insertOperands(yield->getNumOperands(), chosen); });
    }
    Value choice = made.getResults().back();
    rewriter.replaceOp(cond, made.getResults().drop_back());
    return choice;
  }

private:
  static SmallVector<Value> within(CondOp cond, Region &branch, ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [&](Value value) {
      if (!value || value.getDefiningOp() != cond)
        return value;
      return branch.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    });
  }

  PatternRewriter &rewriter;
  const Decision &decision;
};

struct MergeVariables : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WhileOp loop, PatternRewriter &rewriter) const override {
    if (!loop.getVarying().empty() || loop->hasAttr(kKeptAttr))
      return failure();
    Block &body = loop.getBody().front();
    const Decision decision(loop);
    auto valuesOf = [&](auto values) {
      return llvm::map_to_vector(decision.variables(), [&](unsigned i) -> Value { return values[i]; });
    };
    // After a loop that runs no iteration each variable has its initial value.
    const bool runs = decision.of(valuesOf(loop->getOperands())) == true;
    for (unsigned last = 0; last < loop.getNumVariables(); ++last) {
      auto type = dyn_cast<RankedTensorType>(loop.getResult(last).getType());
      if (!type || type.getRank() == 0 || loop.getResult(last).use_empty() || decision.looksAt(last) ||
          !body.getArgument(last).use_empty())
        continue;
      ValueRange next = body.getTerminator()->getOperands();
      auto areOne = [&](unsigned variable) {
        return variable != last && variable < loop.getNumVariables() && loop.getResult(variable).getType() == type &&
               body.getArgument(variable).getType() == body.getArgument(last).getType() &&
               (runs || loop->getOperand(variable) == loop->getOperand(last));
      };
      for (unsigned variable = 0; variable < loop.getNumVariables(); ++variable)
        if (areOne(variable) && next[variable] == next[last]) {
          rewriter.replaceAllUsesWith(loop.getResult(last), loop.getResult(variable));
          return success();
        }
      BlockArgument array = versionOf(next[last], &body);
      if (!array || !areOne(array.getArgNumber()))
        continue;
      const unsigned variable = array.getArgNumber();
      if (!loop.getResult(variable).use_empty() || decision.looksAt(variable))
        continue;
      // A loop variable that the decision looks at and that an iteration does not change is not known.
      auto isOfBody = [&](unsigned i) { return i < loop.getNumVariables() && !isa<BlockArgument>(Value(next[i])); };
      if (!llvm::all_of(decision.variables(), isOfBody))
        continue;
      SmallVector<Value> deciding = valuesOf(next);
      CondOp cond = Choice::branchOf(deciding, &body);
      Choice choice(rewriter, decision);
      if (!cond || !choice.decides(cond, deciding, {next[last], next[variable]}))
        continue;
      Value chosen = choice.make(cond, deciding, next[last], next[variable]);
      Operation *yield = body.getTerminator();
      rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(variable, chosen); });
      rewriter.replaceAllUsesWith(loop.getResult(last), loop.getResult(variable));
      return success();
    }
    return failure();
  }
};

// An element of a slice is one of the array: neither the slice nor its cotangent is made.
struct ElementOfSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    Operation *slice = op.getX().getDefiningOp();
    auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
    if (!slice || op.getAxis() != 0 || rankOf(op.getIndices()) != 0 || op->hasAttr(kExamplesAttr) ||
        slice->hasAttr(kExamplesAttr))
      return failure();
    Value first;
    if (auto outer = dyn_cast<GatherOp>(slice); outer && outer.getAxis() == 0 && rankOf(outer.getIndices()) == 0)
      first = outer.getIndices();
    else if (auto named = dyn_cast<GatherNdOp>(slice); named && rankOf(named.getIndices()) == 1)
      first = named.getIndices();
    if (!first || typeOf(first).getElementType() != typeOf(op.getIndices()).getElementType())
      return failure();
    // Errors are those of the operation that the user has called.
    Location location = op.getLoc();
    if (!isa<NameLoc>(location))
      location = NameLoc::get(rewriter.getStringAttr(op->getName().stripDialect()), location);
    SmallVector<Value> places{first, op.getIndices()};
    for (Value &place : places)
      if (rankOf(place) == 0)
        place = ReshapeOp::create(rewriter, location, place, ArrayRef<int64_t>{1});
    Value indices = ConcatOp::create(rewriter, location, places, 0);
    rewriter.replaceOp(op, GatherNdOp::create(rewriter, location, slice->getOperand(0), indices));
    return success();
  }
};

} // namespace

void addElementPatterns(RewritePatternSet &patterns) { patterns.add<ElementOfSlice>(patterns.getContext()); }
void addLoopVariablePatterns(RewritePatternSet &patterns) { patterns.add<MergeVariables>(patterns.getContext()); }

} // namespace calque::ir
