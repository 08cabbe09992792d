#include "ir/BatchRule.h"
#include "ir/GradientRule.h"
#include "ir/MatrixRule.h"
#include "ir/Regions.h"
#include "passes/Transforms.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace calque::ir;

namespace {

// Expands a pair of `batch` and `unbatch`: the operations between them, recorded for one slice, are emitted on stacked
// values, which have the mapped axis as axis 0.
class Batching {
public:
  Batching(UnbatchOp unbatch, calque::Emitted &emitted)
      : unbatch(unbatch), emitted(emitted), builder(unbatch), values(unbatch.getValues().drop_back(2)) {}

  LogicalResult run() {
    Value handle = unbatch.getValues().drop_back(1).back();
    auto batch = handle.getDefiningOp<BatchOp>();
    if (!batch || batch->getBlock() != unbatch->getBlock())
      return unbatch.emitOpError("belongs to no batch of its block");
    begin(batch);
    for (Operation *op = batch->getNextNode(), *next; op != unbatch.getOperation(); op = next) {
      next = op->getNextNode();
      if (op->getNumRegions())
        calque::deferAssertions(op, emitted);
    }
    for (Operation *op = batch->getNextNode(); op != unbatch.getOperation(); op = op->getNextNode()) {
      // An assignment is refused even of one value for all indices: one after the other, each would see that of the
      // last.
      if (!isa<VariableAssignOp>(op) &&
          llvm::none_of(op->getOperands(), [&](Value operand) { return stacked.contains(operand); }))
        continue;
      // What is emitted stays so for all examples.
      calque::Emission emission(emitted);
      OpBuilder here(op, emitted.contains(op) ? &emission : nullptr);
      if (failed(repeat(here, op)))
        return failure();
      done.push_back(op);
    }
    return finish();
  }

private:
  Value moved(Value value, int64_t from, int64_t to) { return moveAxis(builder, unbatch.getLoc(), value, from, to); }

  // A fresh SSA value: a derivative must tell a slice from the tensor that it is taken from, and equal results apart.
  Value another(Value value) { return IdentityOp::create(builder, unbatch.getLoc(), value); }

  // Whether what stands for a value is the same for all examples, and has no mapped axis.
  static bool isOfOne(Value value, Value all) {
    return cast<RankedTensorType>(all.getType()).getRank() == cast<RankedTensorType>(value.getType()).getRank();
  }

  static bool isCounted(Value all) { return !cast<RankedTensorType>(all.getType()).isDynamicDim(0); }

  // `all`, with a check before the call that its axis 0 is as large as that of `like`: splitting the axis into 1 and
  // that size makes the check.
  Value withExamplesOf(Value all, Value like) {
    Location location = NameLoc::get(builder.getStringAttr("vmap"), unbatch.getLoc());
    Value one = ExpandDimsOp::create(builder, location, like, ArrayRef<int64_t>{0});
    Value parted = SplitDimOp::create(builder, location, all, one, /*axis=*/0, /*first=*/0, /*second=*/1);
    return MergeDimsOp::create(builder, location, parted, /*axis=*/0);
  }

  void begin(BatchOp batch) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(batch);
    SmallVector<Value> allOfEach;
    for (auto [tensor, axis] : llvm::zip_equal(batch.getTensors(), batch.getAxes()))
      allOfEach.push_back(
          moved(tensor, calque::schema::normalAxis(axis, cast<RankedTensorType>(tensor.getType()).getRank()), 0));
    // Unknown sizes of the mapped axis are checked, even of tensors that nothing reads.
    if (!llvm::all_of(allOfEach, isCounted) && !llvm::all_equal(allOfEach)) {
      Value *counted = llvm::find_if(allOfEach, isCounted),
            *last = counted != allOfEach.end() ? counted : allOfEach.begin();
      Value like = *last;
      for (Value &all : allOfEach)
        if (all != *last) {
          like = withExamplesOf(all, like);
          last = &all;
        }
      // `like` has been checked against all others; now each of the others gets its size.
      for (Value &all : allOfEach)
        all = &all == last ? like : withExamplesOf(all, like);
    }
    for (auto [tensor, all, example] : llvm::zip_equal(batch.getTensors(), allOfEach, batch.getExamples())) {
      bool isReadElsewhere =
          llvm::count_if(tensor.getUsers(), [](Operation *user) { return !isa<UnbatchOp>(user); }) > 1;
      stacked[example] = all == tensor && isReadElsewhere ? another(all) : all;
      taken.insert(stacked[example]);
    }
    examples = stacked[batch.getExamples()[0]];
    done.push_back(batch);
  }

  // Emits an operation on stacked values.
  LogicalResult repeat(OpBuilder &here, Operation *op) {
    auto schemaOp = dyn_cast<SchemaOpInterface>(op);
    if (!schemaOp) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("takes one of many examples, and only operations of the dialect can be done for all of them");
      diagnostic.attachNote(unbatch.getLoc()) << "the examples end here";
      return diagnostic;
    }
    SmallVector<Value> operands;
    llvm::SmallBitVector isStacked(op->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Value all = stacked.lookup(operand);
      isStacked[i] = static_cast<bool>(all);
      operands.push_back(all ? all : same.lookupOrDefault(operand));
    }
    auto body = [&](OpBuilder &inside, Block &block, ArrayRef<Value> arguments, const llvm::SmallBitVector *single,
                    Value runningInside) {
      Value outside = std::exchange(running, runningInside);
      Value outer = examples;
      if (running) // a region is isolated from above: it has the mapped axis from its arguments only
        examples = running;
      FailureOr<SmallVector<Value>> yielded = repeat(inside, block, arguments, single);
      running = outside;
      examples = outer;
      return yielded;
    };
    if (running && mayFail(op))
      makeHarmless(here, op, operands, isStacked);
    BatchRule rule(here, op, operands, isStacked, examples, body, running);
    SmallVector<Value> results;
    if (failed(schemaOp.buildBatched(rule, results)))
      return failure();
    for (auto [result, all] : llvm::zip_equal(op->getResults(), results)) {
      if (isOfOne(result, all)) {
        // In a region, what it is used by is copied, and not changed.
        if (op->getBlock() == unbatch->getBlock())
          result.replaceAllUsesWith(all);
        else
          same.map(result, all);
        continue;
      }
      assert(succeeded(verifyCompatibleShape(cast<RankedTensorType>(all.getType()).getShape().drop_front(),
                                             cast<RankedTensorType>(result.getType()).getShape())) &&
             "a rule for many examples gives the results of one behind their number");
      stacked[result] = all;
    }
    return success();
  }

  // Gives an operation operands with which it does not fail for examples that do not run it: an index in the range, a
  // divisor of 1, and the identity for a library's kernel. An index that is in the range stays, so that what is
  // computed for such an example is as finite as the program makes it. Where an operand is the same for all examples,
  // one that runs it is enough to take it as it is.
  void makeHarmless(OpBuilder &here, Operation *op, SmallVectorImpl<Value> &operands,
                    const llvm::SmallBitVector &isStacked) {
    BatchRule rule(here, op, operands, isStacked, running);
    const bool divides = op->hasTrait<MayFailOnIntegers>();
    const std::uint32_t deciding =
        divides ? 1u << 1 : calque::schema::schemaOf(cast<SchemaOpInterface>(op).schemaId()).selecting;
    Value any;
    auto library = dyn_cast<LibraryOpInterface>(op);
    auto axis = op->getAttrOfType<IntegerAttr>("axis");
    for (unsigned i = 0; i < operands.size() && i < 32; ++i) {
      const bool decides = deciding >> i & 1;
      Value harmless;
      if (library)
        harmless = harmlessForLibrary(here, library, i, operands[i], decides);
      else if (decides && axis && !divides)
        harmless = clampedIndex(here, op, i, operands, isStacked, axis.getInt());
      else if (decides)
        harmless = GradientRule(here, op->getLoc(), operands[i]).constant(int64_t{divides});
      if (!harmless)
        continue;
      if (!isStacked[i] && !any)
        any = rule.create<AnyOp>(running, ArrayRef<int64_t>{0}, false);
      Value runs =
          isStacked[i] ? rule.aligned(running, cast<RankedTensorType>(op->getOperand(i).getType()).getRank()) : any;
      operands[i] = rule.create<SelectOp>(runs, operands[i], harmless);
    }
  }

  // Indices along an axis of the operand before them, or the nearest ones that this axis has; 0 for one without
  // elements.
  Value clampedIndex(OpBuilder &here, Operation *op, unsigned i, ArrayRef<Value> operands,
                     const llvm::SmallBitVector &isStacked, int64_t axis) {
    const auto array = cast<RankedTensorType>(op->getOperand(i - 1).getType());
    if (axis < 0)
      axis += array.getRank();
    // In int64, as a narrow type need not have the largest index.
    GradientRule given(here, op->getLoc(), operands[i]);
    const Type own = getElementTypeOrSelf(operands[i].getType()), wide = here.getI64Type();
    auto converted = [&](Value x, Type type) -> Value {
      return own == wide ? x : given.create<CastOp>(x, TypeAttr::get(type));
    };
    const Value index = converted(operands[i], wide);
    GradientRule rule(here, op->getLoc(), index);
    const int64_t size = array.getDimSize(static_cast<unsigned>(axis));
    Value last;
    if (ShapedType::isDynamic(size))
      last = rule.create<SubOp>(
          rule.create<SizeOfOp>(operands[i - 1], static_cast<uint64_t>(axis + (isStacked[i - 1] ? 1 : 0))),
          rule.constant(1));
    else
      last = rule.constant(size - 1);
    return converted(rule.create<MaximumOp>(rule.create<MinimumOp>(index, last), rule.constant(0)), own);
  }

  // The identity in the form of an operand of a library's kernel, of which no factorisation fails: a square matrix, the
  // band of one, or an order of rows. A kernel writes all of its result for an order that has each row, and no more
  // than one row of it for zeros. Null for other operands, of which right-hand sides are all that there are.
  Value harmlessForLibrary(OpBuilder &here, LibraryOpInterface op, unsigned i, Value operand, bool isOrder) {
    MatrixRule rule(here, op.getLoc(), operand);
    const ArrayRef<unsigned> sizes(op.libraryKernel().operands[i]);
    auto onesWhere = [&](Value isOne) { return rule.create<SelectOp>(isOne, rule.constant(1), rule.constant(0)); };
    if (isOrder)
      return rule.places(operand);
    if (sizes.size() != 2)
      return {};
    if (sizes[0] == sizes[1])
      return onesWhere(rule.isDiagonal(operand));
    // The band of a system is the first operand, and a part of it has its sizes.
    if (auto upper = op->getAttrOfType<IntegerAttr>("upper"); upper && sizes.equals(op.libraryKernel().operands[0]))
      return onesWhere(rule.isInRow(operand, upper.getInt()));
    return {};
  }

  // Emits a block on arguments, of which at least one is stacked; returns what it yields: see BatchRule.
  FailureOr<SmallVector<Value>> repeat(OpBuilder &inside, Block &block, ArrayRef<Value> arguments,
                                       const llvm::SmallBitVector *single) {
    Value outer = examples;
    for (auto [argument, given] : llvm::zip_equal(block.getArguments(), arguments)) {
      stacked.erase(argument);
      same.erase(argument);
      if (isOfOne(argument, given))
        same.map(argument, given);
      else
        stacked[argument] = examples = given;
    }
    LogicalResult repeated = success();
    for (Operation &op : block.without_terminator()) {
      const bool failsInside = running && llvm::any_of(op.getRegions(), [](Region &each) { return mayFail(each); });
      if (failsInside || llvm::any_of(op.getOperands(), [&](Value operand) { return stacked.contains(operand); })) {
        repeated = repeat(inside, &op);
      } else if (running && mayFail(&op)) {
        SmallVector<Value> operands;
        for (Value operand : op.getOperands())
          operands.push_back(same.lookupOrDefault(operand));
        makeHarmless(inside, &op, operands, llvm::SmallBitVector(operands.size(), false));
        inside.clone(op, same)->setOperands(operands);
      } else {
        inside.clone(op, same);
      }
      if (failed(repeated))
        return failure();
    }
    SmallVector<Value> yielded;
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      Value all = stacked.lookup(value);
      if (!all) {
        all = same.lookupOrDefault(value);
        llvm::SmallBitVector none(1, false);
        if (!single || !single->test(i))
          all = BatchRule(inside, block.getTerminator(), {value}, none, examples).repeated(all);
      }
      yielded.push_back(all);
    }
    examples = outer;
    return yielded;
  }

  LogicalResult finish() {
    for (auto [value, result, axis] : llvm::zip_equal(values, unbatch.getResults(), unbatch.getAxes())) {
      Value all = stacked.lookup(value);
      if (!all) { // without the mapped axis
        llvm::SmallBitVector none(1, false);
        all = BatchRule(builder, unbatch, {value}, none, examples).repeated(value);
      }
      auto type = cast<RankedTensorType>(result.getType());
      all = moved(all, 0, calque::schema::normalAxis(axis, type.getRank()));
      if (Type computed = all.getType(); computed != type) { // the result's type may have more static sizes
        SmallVector<int64_t> shape(type.getShape());
        std::replace(shape.begin(), shape.end(), ShapedType::kDynamic, int64_t(-1));
        if (llvm::count(shape, -1) <= 1)
          all = ReshapeOp::create(builder, unbatch.getLoc(), all, shape);
        if (all.getType() != type)
          return unbatch.emitOpError("gives ") << type << ", where " << computed << " is computed";
      }
      // No result is a slice, another result or what another may be made of.
      bool isOwn = taken.insert(all).second && (values.size() == 1 || all.use_empty());
      result.replaceAllUsesWith(isOwn ? all : another(all));
    }
    emitted.erase(unbatch);
    // A slice may be a stop of a gradient, at the boundary of a tape: then the stacked value becomes the stop.
    for (Operation *op : llvm::reverse(done)) {
      for (Value result : op->getResults())
        if (Value all = stacked.lookup(result))
          result.replaceUsesWithIf(all, [&](OpOperand &use) {
            auto gradient = dyn_cast<GradientOp>(use.getOwner());
            if (!gradient)
              return false;
            ArrayRef<int64_t> counts = gradient.getCounts();
            return static_cast<int64_t>(use.getOperandNumber()) >= 2 * counts[0] + counts[1];
          });
      if (op->use_empty())
        emitted.erase(op);
    }
    return success();
  }

  UnbatchOp unbatch;
  calque::Emitted &emitted;
  OpBuilder builder;
  ValueRange values;
  Value examples;
  Value running; // see BatchRule
  llvm::DenseMap<Value, Value> stacked;
  llvm::DenseSet<Value> taken; // values that stand for slices or results
  IRMapping same;              // in a region, the clones of values without the mapped axis
  SmallVector<Operation *> done;
};

} // namespace

LogicalResult calque::expand(UnbatchOp unbatch, Emitted &emitted) { return Batching(unbatch, emitted).run(); }
