// Simplifies branches and loops: what nothing needs of them is dropped.
#include "ir/GradientRule.h"
#include "ir/LoopVariables.h"
#include "ir/Regions.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::ir {

namespace {

// Takes the one branch that a constant predicate leaves, and drops results and inputs that nothing uses, and all but
// one of the same inputs.
struct SimplifyCond : OpRewritePattern<CondOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CondOp op, PatternRewriter &rewriter) const override {
    if (auto constant = op.getPredicate().getDefiningOp<ConstantOp>())
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue())) {
        Region &taken = elements.getSplatValue<bool>() ? op.getThen() : op.getOtherwise();
        rewriter.replaceOp(op, emitBody(taken, rewriter, op.getInputs()));
        return success();
      }
    SmallVector<unsigned> results, inputs;
    for (OpResult result : op.getResults())
      if (!result.use_empty())
        results.push_back(result.getResultNumber());
    llvm::SmallDenseMap<Value, unsigned> first;
    SmallVector<unsigned> same(op.getInputs().size()); // the input that each is the same as
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      same[i] = first.try_emplace(op.getInputs()[i], i).first->second;
      if (!op.getThen().getArgument(i).use_empty() || !op.getOtherwise().getArgument(i).use_empty())
        inputs.push_back(same[i]);
    }
    llvm::sort(inputs);
    inputs.erase(llvm::unique(inputs), inputs.end());
    if (results.size() == op.getNumResults() && inputs.size() == op.getInputs().size())
      return failure();
    auto made = CondOp::create(rewriter, op.getLoc(), ValueRange(selected(op.getResults(), results)).getTypes(),
                               op.getPredicate(), selected(op.getInputs(), inputs));
    for (auto [from, to] : {std::pair(&op.getThen(), &made.getThen()), {&op.getOtherwise(), &made.getOtherwise()}})
      fillRegion(*to, rewriter, op.getLoc(), made.getInputs().getTypes(), [&](OpBuilder &inside, ValueRange arguments) {
        SmallVector<Value> all(op.getInputs().size());
        for (auto [input, argument] : llvm::zip_equal(inputs, arguments))
          all[input] = argument;
        for (auto [i, value] : llvm::enumerate(all))
          value = all[same[i]];
        return selected(emitBody(*from, inside, all), results);
      });
    SmallVector<Value> replacements(op.getNumResults());
    for (auto [result, value] : llvm::zip_equal(results, made.getResults()))
      replacements[result] = value;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), replacements))
      if (value)
        rewriter.replaceAllUsesWith(result, value);
    rewriter.eraseOp(op);
    return success();
  }
};

// Drops loop variables that nothing needs but they themselves, with what computes them, and invariants that nothing
// uses. A loop variable that stays as it is becomes an invariant.
struct SimplifyWhile : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    Block &condition = op.getCondition().front(), &body = op.getBody().front();
    const unsigned count = op.getNumVariables(), all = op->getNumOperands();
    ValueRange next = body.getTerminator()->getOperands();
    llvm::SmallBitVector needed(all);
    llvm::DenseSet<Operation *> live;
    SmallVector<Value> pending;
    auto need = [&](unsigned argument) {
      if (needed[argument])
        return;
      needed.set(argument);
      if (argument < count)
        pending.push_back(next[argument]);
    };
    for (unsigned i = 0; i < all; ++i)
      if ((i < count && !op.getResult(i).use_empty()) || !condition.getArgument(i).use_empty())
        need(i);
    for (Operation &inner : body.without_terminator())
      if (!isMemoryEffectFree(&inner) && live.insert(&inner).second)
        llvm::append_range(pending, inner.getOperands());
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value))
        need(argument.getArgNumber());
      else if (live.insert(value.getDefiningOp()).second)
        llvm::append_range(pending, value.getDefiningOp()->getOperands());
    }
    SmallVector<unsigned> variables, invariants;
    for (unsigned i = 0; i < count; ++i)
      if (needed[i])
        (next[i] == body.getArgument(i) && !op.isVarying(i) ? invariants : variables).push_back(i);
    for (unsigned i = count; i < all; ++i)
      if (needed[i])
        invariants.push_back(i);
    if (variables.size() == count && invariants.size() == all - count)
      return failure();

    SmallVector<Value> values;
    for (unsigned i : variables)
      values.push_back(op->getOperand(i));
    for (unsigned i : invariants)
      values.push_back(op->getOperand(i));
    SmallVector<Type> types, arguments = op.getArgumentTypes();
    for (unsigned i : variables)
      types.push_back(arguments[i]);
    for (unsigned i : invariants)
      types.push_back(op->getOperand(i).getType());
    auto made = WhileOp::create(rewriter, op.getLoc(), ArrayRef<Type>(types).take_front(variables.size()), values,
                                op.getCheckpoint(), op.getVaryingOf(variables));
    auto emit = [&](Block &from, OpBuilder &inside, ValueRange arguments, bool whole) {
      IRMapping mapping;
      for (auto [i, argument] : llvm::zip(variables, arguments))
        mapping.map(from.getArgument(i), argument);
      for (auto [i, argument] : llvm::zip_equal(invariants, arguments.drop_front(variables.size())))
        mapping.map(from.getArgument(i), argument);
      for (Operation &inner : from.without_terminator())
        if (whole || live.contains(&inner))
          inside.clone(inner, mapping);
      return mapping;
    };
    fillRegion(made.getCondition(), rewriter, op.getLoc(), types,
               [&](OpBuilder &inside, ValueRange arguments) -> SmallVector<Value> {
                 IRMapping mapping = emit(condition, inside, arguments, true);
                 return {mapping.lookup(condition.getTerminator()->getOperand(0))};
               });
    fillRegion(made.getBody(), rewriter, op.getLoc(), types, [&](OpBuilder &inside, ValueRange arguments) {
      IRMapping mapping = emit(body, inside, arguments, false);
      return llvm::map_to_vector(variables, [&](unsigned i) { return mapping.lookup(next[i]); });
    });
    SmallVector<Value> results(op.getInitial());
    for (auto [i, result] : llvm::zip_equal(variables, made.getResults()))
      results[i] = result;
    rewriter.replaceOp(op, results);
    return success();
  }
};

// In a loop, an operand that gives nothing but known sizes keeps no value alive, such as what each iteration would
// leave on a stack for its derivative.
struct DropSizesOfLoops : OpInterfaceRewritePattern<SchemaOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(SchemaOpInterface op, PatternRewriter &rewriter) const override {
    const std::uint32_t giving = schema::schemaOf(op.schemaId()).givingSizes;
    if (!giving || !op->getParentOfType<WhileOp>())
      return failure();
    bool changes = false;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      if (!(giving >> operand.getOperandNumber() & 1) || !type.hasStaticShape() || isConstant(operand.get()))
        continue;
      Value constant = zerosOf(rewriter, op.getLoc(), type);
      rewriter.modifyOpInPlace(op, [&] { operand.set(constant); });
      changes = true;
    }
    return success(changes);
  }
};

} // namespace

void CondOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyCond>(context);
}
void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyWhile, DropSizesOfLoops>(context);
  addLoopVariablePatterns(patterns);
}

} // namespace calque::ir
