// Fuses elementwise operations on tensors with their readers, where no element is computed twice.
#include "codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/FoldUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "codegen/Passes.h.inc"

namespace {

// Whether an operation only moves elements: reading it through its maps costs nothing.
bool onlyMoves(linalg::GenericOp op) { return op.getNumDpsInputs() <= 1 && op.getBody()->without_terminator().empty(); }

// A fused operation has at most this many operations in its body. LLVM's scheduler and register allocator take more
// than linear time for long ones. A body of this length has more values than a CPU has registers, and gains nothing
// from more.
constexpr size_t kLongestBody = 128;

// How many operations are in the body, or some number above the longest if there are more than that.
size_t lengthOf(linalg::GenericOp op) {
  size_t length = 0;
  for (auto it = op.getBody()->begin(), end = std::prev(op.getBody()->end()); it != end && length <= kLongestBody; ++it)
    ++length;
  return length;
}

bool readsInit(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) { return op.payloadUsesValueFromOperand(&init); });
}

// Whether a fused body would become a plain loop, in which a sum would have one accumulator for all terms, since it
// reads a tensor by itself.
bool makesPlainSum(linalg::GenericOp producer, linalg::GenericOp consumer) {
  return consumer.getNumReductionLoops() && !producer.getBody()->getOps<tensor::ExtractOp>().empty();
}

// Whether nothing else reads what an operation computes.
bool isOnlyUse(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  return llvm::all_of(producer->getResults(),
                      [&](Value result) { return result == operand->get() ? result.hasOneUse() : result.use_empty(); });
}

bool isWorthFusing(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!consumer || !producer)
    return operand->get().hasOneUse();
  // MLIR would keep the producer's result as a result of the fused operation, with no meaning for the consumer's
  // reduction loops.
  if (readsInit(producer) || makesPlainSum(producer, consumer))
    return false;
  if (onlyMoves(producer))
    return true;
  // With a map that is no permutation, several iterations would compute the same element.
  return isOnlyUse(operand) && consumer.getMatchingIndexingMap(operand).isPermutation() &&
         lengthOf(producer) + lengthOf(consumer) <= kLongestBody;
}

// Fuses trees of operations, each of which is read by one other alone, in the same loops up to their order. MLIR's
// patterns fuse two at a time, copy both bodies and look at all operands again, so that a chain costs the square of its
// length. Here each body is moved once, into that of the tree's root.
class TreeFusion {
public:
  explicit TreeFusion(Block &block) : block(block), folder(block.getParentOp()->getContext()) {}

  // Returns how many operations there are less.
  int64_t run() {
    fold();
    auto ops = llvm::to_vector(block.getOps<linalg::GenericOp>());
    for (linalg::GenericOp op : ops)
      grow(op);
    // Backwards each operation's reader has its place in a tree already.
    SmallVector<Tree> trees;
    for (linalg::GenericOp op : llvm::reverse(ops))
      place(op, trees);
    for (const Tree &tree : trees)
      fuse(tree);
    return static_cast<int64_t>(ops.size() - trees.size());
  }

private:
  // The root is first, and what is read is behind what reads it.
  using Tree = SmallVector<linalg::GenericOp, 1>;

  // An operation with all that is fused with it so far.
  struct Node {
    // The root's has none.
    linalg::GenericOp reader;
    size_t tree = 0;
    // Where in the loops of this operation an iteration of the root's loops is.
    AffineMap loops;
    size_t length = 0;
    bool onlyMoves = false, extracts = false;
    // The loops whose number of iterations is known from what is read.
    llvm::SmallBitVector bounded;
  };

  // Operations that are folded or dead would count in the lengths of bodies.
  void fold() {
    block.walk([&](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
      else
        (void)folder.tryToFold(op);
    });
    for (linalg::GenericOp op : block.getOps<linalg::GenericOp>()) {
      for (OpOperand *input : op.getDpsInputOperands())
        foldConstant(op, input);
      dropUnusedInputs(op);
    }
  }

  // Makes the element of a constant, if all are equal, part of the body.
  void foldConstant(linalg::GenericOp op, OpOperand *input) {
    auto constant = input->get().getDefiningOp<arith::ConstantOp>();
    auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    BlockArgument element = op.getMatchingBlockArgument(input);
    // The terms of a sum say how many they are, even if they are constant.
    if (!value || !value.isSplat() || value.empty() || element.use_empty() || op.getNumReductionLoops())
      return;
    element.replaceAllUsesWith(folder.getOrCreateConstant(&block, constant->getDialect(),
                                                          value.getSplatValue<Attribute>(), element.getType()));
  }

  // Drops what is not read, where the results say how often the loops run. MLIR's patterns would make the operation
  // anew for it, with a location of its own.
  static void dropUnusedInputs(linalg::GenericOp op) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    const size_t numInputs = static_cast<size_t>(op.getNumDpsInputs());
    if (op.getNumReductionLoops() ||
        !inversePermutation(concatAffineMaps(ArrayRef(maps).drop_front(numInputs), op.getContext())))
      return;
    bool dropped = false;
    for (size_t i = numInputs; i-- > 0;) {
      if (!op.getBody()->getArgument(static_cast<unsigned>(i)).use_empty())
        continue;
      op.getBody()->eraseArgument(static_cast<unsigned>(i));
      op.getInputsMutable().erase(static_cast<unsigned>(i));
      maps.erase(maps.begin() + static_cast<ptrdiff_t>(i));
      dropped = true;
    }
    if (dropped)
      op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  }

  // The one operation that reads the result, if each of its iterations computes one element of it.
  static linalg::GenericOp onlyReader(linalg::GenericOp producer) {
    if (producer->getNumResults() != 1 || !producer.hasPureTensorSemantics() || producer.getNumReductionLoops() ||
        readsInit(producer) || !producer.getIndexingMapMatchingResult(producer->getResult(0)).isPermutation())
      return nullptr;
    linalg::GenericOp reader;
    AffineMap map;
    for (OpOperand &use : producer->getResult(0).getUses()) {
      auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!consumer || !consumer.hasPureTensorSemantics() || !consumer.isDpsInput(&use) ||
          consumer->getBlock() != producer->getBlock())
        return nullptr;
      AffineMap each = consumer.getMatchingIndexingMap(&use);
      if (!each.isPermutation() || (reader && (reader != consumer || each != map)))
        return nullptr;
      reader = consumer;
      map = each;
    }
    return reader;
  }

  // Where in the loops of what is read an iteration of the reader is.
  static AffineMap loopsOfProducer(linalg::GenericOp producer, linalg::GenericOp reader, OpOperand *operand) {
    return inversePermutation(producer.getIndexingMapMatchingResult(producer->getResult(0)))
        .compose(reader.getMatchingIndexingMap(operand));
  }

  static llvm::SmallBitVector loopsIn(AffineMap map) {
    llvm::SmallBitVector loops(map.getNumDims());
    for (AffineExpr each : map.getResults())
      if (auto loop = dyn_cast<AffineDimExpr>(each))
        loops.set(loop.getPosition());
    return loops;
  }

  // A sum needs even operands that it does not read, since they say how many terms there are.
  static bool needs(linalg::GenericOp op, OpOperand *input) {
    return op.getNumReductionLoops() || op.payloadUsesValueFromOperand(input);
  }

  // Decides which operations that are read here are fused with this one.
  void grow(linalg::GenericOp op) {
    Node node;
    // Even what only moves counts, so that no tree gets deep.
    node.length = std::max<size_t>(lengthOf(op), 1);
    node.onlyMoves = onlyMoves(op);
    node.extracts = !op.getBody()->getOps<tensor::ExtractOp>().empty();
    auto bounded = llvm::map_to_vector(op.getIndexingMapsArray(), loopsIn);
    auto boundedBut = [&](unsigned operand, llvm::SmallBitVector loops) {
      for (OpOperand &other : op->getOpOperands())
        if (other.get() != op->getOperand(operand))
          loops |= bounded[other.getOperandNumber()];
      return loops;
    };
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto producer = input->get().getDefiningOp<linalg::GenericOp>();
      auto found = producer ? nodes.find(producer) : nodes.end();
      // What only moves is left to MLIR's patterns, which make each of its readers read in another order.
      if (found == nodes.end() || found->second.onlyMoves || found->second.reader || onlyReader(producer) != op)
        continue;
      Node &read = found->second;
      if (node.length + read.length > kLongestBody || (op.getNumReductionLoops() && read.extracts))
        continue;
      AffineMap loops = loopsOfProducer(producer, op, input);
      llvm::SmallBitVector boundedByProducer(op.getNumLoops());
      for (unsigned loop : read.bounded.set_bits())
        boundedByProducer.set(loops.getDimPosition(loop));
      if (op.getNumReductionLoops() && !boundedBut(input->getOperandNumber(), boundedByProducer).all())
        continue;
      read.reader = op;
      node.length += read.length;
      node.onlyMoves = false;
      node.extracts |= read.extracts;
      for (OpOperand &other : op->getOpOperands())
        if (other.get() == input->get())
          bounded[other.getOperandNumber()] = boundedByProducer;
    }
    node.bounded.resize(op.getNumLoops());
    for (OpOperand *input : op.getDpsInputOperands())
      if (needs(op, input))
        node.bounded |= bounded[input->getOperandNumber()];
    nodes.try_emplace(op, std::move(node));
  }

  // Puts an operation into the tree of its reader, or makes it the root of its own.
  void place(linalg::GenericOp op, SmallVector<Tree> &trees) {
    Node &node = nodes.find(op)->second;
    if (!node.reader) {
      node.tree = trees.size();
      node.loops = AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext());
      trees.emplace_back();
    } else {
      const Node &reader = nodes.find(node.reader)->second;
      OpOperand *operand =
          llvm::find_if(node.reader->getOpOperands(), [&](OpOperand &each) { return each.get() == op->getResult(0); });
      node.tree = reader.tree;
      node.loops = loopsOfProducer(op, node.reader, operand).compose(reader.loops);
    }
    trees[node.tree].push_back(op);
  }

  // The operation whose result a fused operation reads without memory.
  linalg::GenericOp fusedProducer(Value read, linalg::GenericOp reader) const {
    auto producer = read.getDefiningOp<linalg::GenericOp>();
    auto found = producer ? nodes.find(producer) : nodes.end();
    return found != nodes.end() && found->second.reader == reader ? producer : nullptr;
  }

  // What a tree still reads from memory, each tensor once in each order.
  using Inputs = llvm::SmallMapVector<std::pair<Value, AffineMap>, unsigned, 4>;

  void addInputs(linalg::GenericOp op, Inputs &inputs) const {
    const Node &node = nodes.find(op)->second;
    SmallPtrSet<Operation *, 4> seen;
    for (OpOperand *input : op.getDpsInputOperands())
      if (linalg::GenericOp producer = fusedProducer(input->get(), op)) {
        if (seen.insert(producer).second)
          addInputs(producer, inputs);
      } else if (needs(op, input)) {
        inputs.insert({inputOf(input, node), inputs.size()});
      }
  }

  static std::pair<Value, AffineMap> inputOf(OpOperand *input, const Node &node) {
    auto op = cast<linalg::GenericOp>(input->getOwner());
    return {input->get(), op.getMatchingIndexingMap(input).compose(node.loops)};
  }

  void fuse(const Tree &tree) {
    linalg::GenericOp root = tree.front();
    if (tree.size() == 1)
      return;
    Inputs inputs;
    addInputs(root, inputs);
    SmallVector<AffineMap> maps;
    SmallVector<Value> values;
    SmallVector<Type> elements;
    for (auto &[input, place] : inputs) {
      values.push_back(input.first);
      maps.push_back(input.second);
      elements.push_back(getElementTypeOrSelf(input.first));
    }
    for (OpOperand &init : root.getDpsInitsMutable()) {
      maps.push_back(root.getMatchingIndexingMap(&init));
      elements.push_back(getElementTypeOrSelf(init.get()));
    }
    OpBuilder builder(root);
    auto fused = linalg::GenericOp::create(builder, root.getLoc(), root.getResultTypes(), values, root.getOutputs(),
                                           maps, root.getIteratorTypesArray());
    Block *body =
        builder.createBlock(&fused.getRegion(), {}, elements, SmallVector<Location>(elements.size(), root.getLoc()));
    DenseMap<Operation *, Value> yielded;
    for (linalg::GenericOp op : llvm::reverse(tree)) {
      const Node &node = nodes.find(op)->second;
      for (OpOperand *input : op.getDpsInputOperands()) {
        BlockArgument element = op.getMatchingBlockArgument(input);
        if (element.use_empty())
          continue;
        linalg::GenericOp producer = fusedProducer(input->get(), op);
        element.replaceAllUsesWith(producer ? yielded.lookup(producer)
                                            : body->getArgument(inputs.lookup(inputOf(input, node))));
      }
      if (op == root)
        for (auto [init, argument] : llvm::zip_equal(op.getRegionOutputArgs(), fused.getRegionOutputArgs()))
          init.replaceAllUsesWith(argument);
      if (!node.loops.isIdentity())
        op.getBody()->walk([&](linalg::IndexOp index) { index.setDim(node.loops.getDimPosition(index.getDim())); });
      auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
      yielded[op] = yield.getOperand(0);
      if (op != root)
        yield.erase();
      body->getOperations().splice(body->end(), op.getBody()->getOperations());
    }
    root->replaceAllUsesWith(fused);
    for (linalg::GenericOp op : tree)
      op.erase();
  }

  Block &block;
  OperationFolder folder;
  DenseMap<Operation *, Node> nodes;
};

// Whether a product that writes its results by a map has a loop for its vectors: that of the innermost dimension is one
// of an operand alone.
bool keepsVectors(linalg::GenericOp product, AffineMap results, ShapedType type) {
  if (product.getNumDpsInputs() != 2)
    return true;
  for (unsigned i = results.getNumResults(); i-- > 0;) {
    if (type.getDimSize(i) == 1)
      continue;
    unsigned loop = results.getDimPosition(i);
    return llvm::count_if(product.getDpsInputOperands(), [&](OpOperand *input) {
             return product.getMatchingIndexingMap(input).isFunctionOfDim(loop);
           }) == 1;
  }
  return true;
}

// Makes a product or another reduction write its results where an operation that only moves them would put them.
// Returns how many of these are there no more.
int64_t foldMovesOfResults(Block &block) {
  int64_t folded = 0;
  for (linalg::GenericOp move : llvm::make_early_inc_range(block.getOps<linalg::GenericOp>())) {
    if (!onlyMoves(move) || move.getNumDpsInputs() != 1 || move.getNumReductionLoops() || readsInit(move) ||
        move.getBody()->getTerminator()->getOperand(0) != move.getBody()->getArgument(0))
      continue;
    Value moved = move.getDpsInputs()[0];
    auto producer = moved.getDefiningOp<linalg::GenericOp>();
    AffineMap from = move.getIndexingMapsArray()[0], into = move.getIndexingMapsArray()[1];
    if (!producer || !moved.hasOneUse() || producer->getNumResults() != 1 || !producer.getNumReductionLoops() ||
        producer->getBlock() != &block || !from.isPermutation() || !into.isPermutation())
      continue;
    auto fill = producer.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
    maps.back() = into.compose(inversePermutation(from)).compose(maps.back());
    if (!fill || !keepsVectors(producer, maps.back(), cast<ShapedType>(move->getResult(0).getType())))
      continue;
    OpBuilder builder(move);
    Value start = linalg::FillOp::create(builder, fill.getLoc(), fill.getInputs(), move.getDpsInits()).getResult(0);
    auto instead = cast<linalg::GenericOp>(builder.clone(*producer));
    instead.getOutputsMutable().assign(start);
    instead->getResult(0).setType(move->getResult(0).getType());
    instead.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
    move->replaceAllUsesWith(instead);
    move.erase();
    producer.erase();
    ++folded;
  }
  return folded;
}

struct FuseElementwise : impl::FuseElementwiseBase<FuseElementwise> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet made(context);
    linalg::populateElementwiseOpsFusionPatterns(made, isWorthFusing);
    linalg::populateFoldReshapeOpsByExpansionPatterns(made, isWorthFusing);
    linalg::populateConstantFoldLinalgOperations(made, isWorthFusing);
    linalg::GenericOp::getCanonicalizationPatterns(made, context);
    tensor::populateFoldTensorEmptyPatterns(made);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(made, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(made, context);
    context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(made);
    patterns = std::move(made);
    return success();
  }

  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      fused += foldMovesOfResults(block);
      fused += TreeFusion(block).run();
    }
    // MLIR's patterns do the rest: what is behind a reshape, or only moves.
    std::optional<int64_t> before;
    for (bool changed = true; changed;) {
      int64_t count = 0; // of what there is before the patterns are applied
      if (failed(applyPatterns(count, changed)))
        return signalPassFailure();
      fused += before.value_or(count) - count;
      before = count;
    }
  }

private:
  // To go through bodies too would look at their operation again for each change in them.
  LogicalResult applyPatterns(int64_t &count, bool &changed) {
    SmallVector<Operation *> ops;
    getOperation().getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      ops.push_back(op);
      bool isLinalg = isa<linalg::LinalgOp>(op);
      count += isLinalg;
      return isLinalg ? WalkResult::skip() : WalkResult::advance();
    });
    std::reverse(ops.begin(), ops.end()); // what is last is visited first
    return applyOpPatternsGreedily(
        ops, patterns, GreedyRewriteConfig().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps), &changed);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

} // namespace calque::codegen
