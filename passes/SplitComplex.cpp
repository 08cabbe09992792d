#include "ir/ElementType.h"
#include "ir/Import.h"
#include "ir/Pairs.h"
#include "ir/Parts.h"
#include "ir/RegionValues.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace calque {
#define GEN_PASS_DEF_SPLITCOMPLEX
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

bool hasComplex(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isComplex(type); });
}

// Whether a derivative is taken with respect to a value. It must be one that nothing else is.
bool isSourceOrStop(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    const unsigned number = use.getOperandNumber();
    if (auto gradient = dyn_cast<GradientOp>(use.getOwner()))
      return number >= 2 * gradient.getCounts()[0];
    auto jvp = dyn_cast<JvpOp>(use.getOwner());
    return jvp && number >= jvp.getCounts()[0] && number < jvp.getCounts()[0] + jvp.getCounts()[1];
  });
}

class Splitter {
public:
  LogicalResult run(func::FuncOp function) {
    Block &body = function.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    for (BlockArgument argument : body.getArguments())
      if (isComplex(argument))
        takePairs(builder, argument, argument);
    if (failed(split(body)))
      return failure();
    Operation *terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(joined(builder, operand.get()));
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    for (BlockArgument argument : body.getArguments())
      argument.setType(pairsType(argument.getType()));
    function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), terminator->getOperandTypes()));
    splitVariables(function);
    return success();
  }

private:
  // Takes the parts of pairs, which stand for a complex value. An argument still has the complex type here.
  void takePairs(OpBuilder &builder, Value value, Value pairs) {
    auto part = [&](bool imaginary) -> Value {
      return PartOfPairsOp::create(builder, value.getLoc(), partType(value.getType()), pairs, imaginary);
    };
    Value re = part(false), im = part(true);
    set(builder, value, {re, im});
  }

  void set(OpBuilder &builder, Value value, Parts given) {
    if (isSourceOrStop(value)) {
      auto fresh = [&](Value part) -> Value {
        return part ? IdentityOp::create(builder, value.getLoc(), part).getResult() : part;
      };
      given = {fresh(given.re), fresh(given.im)};
    }
    parts[value] = given;
  }

  Parts of(Value value) const {
    auto found = parts.find(value);
    return found == parts.end() ? Parts{value, Value()} : found->second;
  }

  Value joined(OpBuilder &builder, Value value) const {
    const Parts given = of(value);
    return given.im ? PairsOfOp::create(builder, value.getLoc(), given.re, given.im).getResult() : given.re;
  }

  // The parts of values in order. `counts`: how many become of each range of so many.
  SmallVector<Value> flat(ValueRange values) const {
    SmallVector<Value> all;
    for (Value value : values) {
      const Parts given = of(value);
      all.push_back(given.re);
      if (given.im)
        all.push_back(given.im);
    }
    return all;
  }
  static SmallVector<Type> flatTypes(TypeRange types) {
    SmallVector<Type> all;
    for (Type type : types)
      all.append(isComplex(type) ? 2 : 1, partType(type));
    return all;
  }
  // The numbers of parts that ranges of so many operands have.
  static SmallVector<int64_t> countsOfParts(ValueRange operands, ArrayRef<int64_t> counts) {
    SmallVector<int64_t> all;
    for (int64_t count : counts) {
      all.push_back(static_cast<int64_t>(flatTypes(operands.take_front(count).getTypes()).size()));
      operands = operands.drop_front(count);
    }
    return all;
  }

  void setResults(OpBuilder &builder, Operation *op, ValueRange given) {
    size_t next = 0;
    for (Value result : op->getResults()) {
      Value re = given[next++], im = isComplex(result) ? given[next++] : Value();
      set(builder, result, {re, im});
    }
    replaced.push_back(op);
  }

  LogicalResult split(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(split(&op)))
        return failure();
    return success();
  }

  LogicalResult split(Operation *op) {
    if (isa<PartOfPairsOp>(op)) // of an argument, which has the complex type to the end
      return success();
    OpBuilder builder(op);
    const bool anyComplex = hasComplex(op->getOperandTypes()) || hasComplex(op->getResultTypes());
    if (op->getNumRegions())
      return splitWithRegions(builder, op);
    if (!anyComplex) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(of(operand.get()).re);
      return success();
    }
    if (auto read = dyn_cast<VariableReadOp>(op)) {
      auto type = cast<RankedTensorType>(pairsType(read.getType()));
      auto pairs = VariableReadOp::create(builder, op->getLoc(), type, read.getVariable(), type.getShape(),
                                          TypeAttr::get(type.getElementType()));
      takePairs(builder, read.getResult(), pairs);
      replaced.push_back(op);
      return success();
    }
    if (isa<VariableAssignOp>(op)) {
      op->setOperand(0, joined(builder, op->getOperand(0)));
      return success();
    }
    if (isa<PrintOp, HostCallOp, ExternOp>(op)) {
      keepPairs(builder, op);
      return success();
    }
    if (isa<GradientOp, JvpOp, BatchOp, UnbatchOp>(op)) {
      splitTransform(builder, op);
      return success();
    }
    SmallVector<Parts> operands = llvm::map_to_vector(op->getOperands(), [&](Value value) { return of(value); });
    SmallVector<Value> results;
    if (failed(cast<SchemaOpInterface>(op).buildParts(builder, operands, results)))
      return failure();
    setResults(builder, op, results);
    return success();
  }

  // Who prints, or is called, finds complex numbers as they are in memory.
  void keepPairs(OpBuilder &builder, Operation *op) {
    SmallVector<bool> marks;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      marks.push_back(isComplex(operand));
      operands.push_back(joined(builder, operand));
    }
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      marks.push_back(isComplex(result));
      types.push_back(pairsType(result.getType()));
    }
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    Operation *made = builder.create(state);
    made->setAttr(kPairsAttr, builder.getDenseBoolArrayAttr(marks));
    if (auto given = op->getAttrOfType<DenseI64ArrayAttr>("types"); given && op->getNumResults()) {
      SmallVector<int64_t> all;
      for (Type type : types) {
        auto tensor = cast<RankedTensorType>(type);
        all.push_back(static_cast<int64_t>(*toDType(tensor.getElementType())));
        all.push_back(tensor.getRank());
        llvm::append_range(all, tensor.getShape());
      }
      made->setAttr("types", builder.getDenseI64ArrayAttr(all));
    }
    for (auto [result, pairs] : llvm::zip(op->getResults(), made->getResults())) {
      if (isComplex(result))
        takePairs(builder, result, pairs);
      else
        set(builder, result, {pairs, Value()});
    }
    replaced.push_back(op);
  }

  // The operation on the parts of all operands, with attributes that count or number them.
  Operation *onAllParts(OpBuilder &builder, Operation *op) {
    OperationState state(op->getLoc(), op->getName(), flat(op->getOperands()), flatTypes(op->getResultTypes()),
                         op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    return builder.create(state);
  }

  void splitTransform(OpBuilder &builder, Operation *op) {
    auto repeated = [&](ValueRange values, ArrayRef<int64_t> axes) {
      SmallVector<int64_t> all;
      for (auto [value, axis] : llvm::zip(values, axes))
        all.append(isComplex(value) ? 2 : 1, axis);
      return builder.getDenseI64ArrayAttr(all);
    };
    if (auto unbatch = dyn_cast<UnbatchOp>(op)) {
      // The last two say what was mapped: one part of them does. The first of them is the result of the batch itself,
      // also where a derivative has a fresh value of it.
      const size_t count = unbatch.getAxes().size();
      ValueRange values = ValueRange(op->getOperands()).take_front(count);
      SmallVector<Value> operands = flat(values);
      for (Value value : op->getOperands().drop_front(count)) {
        auto batched = batches.find(value);
        operands.push_back(batched == batches.end() ? of(value).re : batched->second);
      }
      auto made = UnbatchOp::create(builder, op->getLoc(), flatTypes(op->getResultTypes()), operands,
                                    repeated(values, unbatch.getAxes()), unbatch.getBatchAxisAttr());
      return setResults(builder, op, made->getResults());
    }
    Operation *made = onAllParts(builder, op);
    if (auto batch = dyn_cast<BatchOp>(op)) {
      cast<BatchOp>(made).setAxesAttr(repeated(op->getOperands(), batch.getAxes()));
      unsigned next = 0;
      for (Value example : batch.getExamples()) {
        batches[example] = made->getResult(next);
        next += isComplex(example) ? 2 : 1;
      }
    } else if (auto gradient = dyn_cast<GradientOp>(op)) {
      ArrayRef<int64_t> counts = gradient.getCounts();
      SmallVector<int64_t> all = countsOfParts(op->getOperands(), {counts[0], counts[0], counts[1], counts[2]});
      cast<GradientOp>(made).setCounts({all[0], all[2], all[3]});
    } else {
      ArrayRef<int64_t> counts = cast<JvpOp>(op).getCounts();
      cast<JvpOp>(made).setCounts(
          ArrayRef(countsOfParts(op->getOperands(), {counts[0], counts[1], counts[1]})).take_front(2));
    }
    setResults(builder, op, made->getResults());
  }

  LogicalResult splitWithRegions(OpBuilder &builder, Operation *op) {
    const bool anyComplex = hasComplex(op->getOperandTypes()) || hasComplex(op->getResultTypes());
    Operation *made = op;
    if (anyComplex) {
      SmallVector<int64_t> counts, varying;
      if (auto custom = dyn_cast<CustomGradientOp>(op))
        counts = countsOfParts(op->getOperands(), custom.getCounts());
      if (auto loop = dyn_cast<WhileOp>(op)) {
        ArrayRef<int64_t> pairs = loop.getVarying();
        for (size_t i = 0; i < pairs.size(); i += 2) {
          ValueRange before = ValueRange(op->getOperands()).take_front(pairs[i]);
          const auto first = static_cast<int64_t>(flatTypes(before.getTypes()).size());
          for (int64_t part = 0; part < (isComplex(op->getOperand(pairs[i])) ? 2 : 1); ++part)
            varying.append({first + part, pairs[i + 1]});
        }
      }
      made = onAllParts(builder, op);
      if (auto custom = dyn_cast<CustomGradientOp>(made))
        custom.setCounts(counts);
      if (auto loop = dyn_cast<WhileOp>(made))
        loop.setVarying(varying);
      setResults(builder, op, made->getResults());
    } else {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(of(operand.get()).re);
    }
    for (Region &region : made->getRegions())
      if (failed(splitRegion(region)))
        return failure();
    return success();
  }

  LogicalResult splitRegion(Region &region) {
    Block &block = region.front();
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    SmallVector<BlockArgument> before(block.getArguments());
    SmallVector<BlockArgument> complex;
    // The parts stand in the place of the argument, which goes when nothing uses it any more.
    for (BlockArgument argument : before) {
      if (!isComplex(argument))
        continue;
      const unsigned at = argument.getArgNumber();
      Type type = partType(argument.getType());
      Value re = block.insertArgument(at + 1, type, argument.getLoc());
      Value im = block.insertArgument(at + 2, type, argument.getLoc());
      set(builder, argument, {re, im});
      complex.push_back(argument);
    }
    if (failed(split(block)))
      return failure();
    Operation *terminator = block.getTerminator();
    terminator->setOperands(flat(terminator->getOperands()));
    // What is replaced in this block still uses the arguments.
    for (Operation *op : llvm::reverse(replaced))
      if (op->getBlock() == &block)
        op->dropAllReferences();
    for (BlockArgument argument : llvm::reverse(complex)) {
      argument.dropAllUses();
      block.eraseArgument(argument.getArgNumber());
    }
    return success();
  }

  static void splitVariables(func::FuncOp function) {
    auto variables = function->getAttrOfType<ArrayAttr>(kVariablesAttr);
    if (!variables)
      return;
    SmallVector<Attribute> all;
    Builder builder(function.getContext());
    for (Attribute variable : variables) {
      NamedAttrList entries(cast<DictionaryAttr>(variable));
      entries.set("type", TypeAttr::get(pairsType(cast<TypeAttr>(entries.get("type")).getValue())));
      all.push_back(entries.getDictionary(function.getContext()));
    }
    function->setAttr(kVariablesAttr, builder.getArrayAttr(all));
  }

  llvm::DenseMap<Value, Parts> parts;
  llvm::DenseMap<Value, Value> batches; // the results of a batch, and the first of what each has become
  SmallVector<Operation *> replaced;    // in the order of their uses' ends: erased backwards
};

} // namespace

bool calque::hasComplexNumbers(func::FuncOp function) {
  if (hasComplex(function.getArgumentTypes()) || hasComplex(function.getResultTypes()))
    return true;
  WalkResult found = function.walk(
      [](Operation *op) { return hasComplex(op->getResultTypes()) ? WalkResult::interrupt() : WalkResult::advance(); });
  return found.wasInterrupted();
}

LogicalResult calque::splitComplex(func::FuncOp function) {
  return hasComplexNumbers(function) ? Splitter().run(function) : success();
}

namespace {
struct SplitComplex : calque::impl::SplitComplexBase<SplitComplex> {
  void runOnOperation() override {
    if (failed(calque::splitComplex(getOperation())))
      signalPassFailure();
  }
};
} // namespace
