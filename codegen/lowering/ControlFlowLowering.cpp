// Lowers branches, loops and stacks to kernels of the runtime. What a region computes becomes a program of its own, a
// part, in a module inside of the program's module. It is compiled as the program is, and a step of the program's plan
// runs it.
#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "ir/ElementType.h"
#include "ir/Values.h"
#include "passes/BranchSizes.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

// On an operation whose regions have become parts: their numbers, and of a loop whether stacks end with iterations.
static constexpr llvm::StringLiteral kPartsAttr = "calque.parts";

// On an operation on entries: their types.
static constexpr llvm::StringLiteral kEntriesAttr = "calque.entries";

// On a cond: for each unknown size of its results, an input and a dimension that have it.
static constexpr llvm::StringLiteral kSourcesAttr = "calque.sources";

// Makes a part of a region. Of that of a loop's body the first inputs are loop variables, which it gives new values.
static void makePart(ModuleOp module, Region &region, Operation *op, bool isBody, int64_t number) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location location = op->getLoc();
  auto part = ModuleOp::create(builder, location, ("part_" + Twine(number)).str());
  part->setAttr(kPartAttr, builder.getI64IntegerAttr(number));
  builder.setInsertionPointToEnd(part.getBody());
  auto yield = cast<vector::YieldOp>(region.front().getTerminator());
  auto function = func::FuncOp::create(
      builder, location, "part",
      builder.getFunctionType(region.getArgumentTypes(), ValueRange(yield.getOperands()).getTypes()));
  if (isBody)
    function->setAttr(kAssignedAttr,
                      builder.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, op->getNumResults()))));
  builder.setInsertionPoint(yield);
  func::ReturnOp::create(builder, yield.getLoc(), yield.getOperands());
  yield.erase();
  function.getBody().takeBody(region);
}

namespace {

// Finds the values of a loop's body that may name what the body has put on a stack: what is pushed on, and what is made
// of that. The entry that is taken from a stack is none, unless stacks are put on stacks.
class StacksMade {
public:
  explicit StacksMade(Block &body) {
    do {
      isChanged = false;
      follow(body);
    } while (isChanged);
  }
  bool contains(Value value) const { return made.contains(value); }

private:
  void note(Value value, bool isMade) {
    if (isMade && ir::isStack(value))
      isChanged |= made.insert(value).second;
  }
  void noteAll(ValueRange values, ValueRange from) {
    for (auto [value, source] : llvm::zip(values, from))
      note(value, contains(source));
  }
  void follow(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto push = dyn_cast<ir::SizedPushOp>(op)) {
        // A box ends with the iteration, but for those of loop variables, which are copied.
        auto empty = push.getStack().getDefiningOp<ir::StackEmptyOp>();
        note(push.getResult(), !empty);
        if (contains(push.getX()) && !std::exchange(areKept, true))
          isChanged = true;
      } else if (auto below = dyn_cast<ir::StackBelowOp>(op)) {
        note(below.getResult(), contains(below.getStack()));
      } else if (auto entries = dyn_cast<ir::OnEntriesOp>(op)) {
        Block &body = entries.getBody().front();
        const auto count = static_cast<unsigned>(entries.getEntries());
        for (unsigned i = 0; i < count; ++i)
          note(body.getArgument(i), areKept && contains(entries.getValues()[i]));
        noteAll(ValueRange(body.getArguments()).drop_front(count), ValueRange(entries.getValues()).drop_front(count));
        follow(body);
        noteAll(entries.getResults(), body.getTerminator()->getOperands());
      } else if (auto push = dyn_cast<ir::StackPushOp>(op)) {
        note(push.getResult(), true);
        if (contains(push.getX()) && !std::exchange(areKept, true))
          isChanged = true;
      } else if (auto pop = dyn_cast<ir::StackPopOp>(op)) {
        note(pop.getBelow(), contains(pop.getStack()));
        note(pop.getEntry(), areKept && contains(pop.getStack()));
      } else if (auto loop = dyn_cast<ir::WhileOp>(op)) {
        Block &body = loop.getBody().front();
        ValueRange next = body.getTerminator()->getOperands();
        noteAll(body.getArguments(), loop.getValues());
        noteAll(body.getArguments(), next);
        follow(body);
        noteAll(loop.getResults(), loop.getInitial());
        noteAll(loop.getResults(), next);
      } else if (auto cond = dyn_cast<ir::CondOp>(op)) {
        for (Region &branch : cond->getRegions()) {
          noteAll(branch.getArguments(), cond.getInputs());
          follow(branch.front());
          noteAll(cond.getResults(), branch.front().getTerminator()->getOperands());
        }
      } else {
        bool isMade = llvm::any_of(op.getOperands(), [&](Value operand) { return contains(operand); });
        for (Value result : op.getResults())
          note(result, isMade);
      }
    }
  }

  llvm::DenseSet<Value> made;
  bool areKept = false; // whether one is put on a stack itself
  bool isChanged = false;
};

} // namespace

// None of the values that the body gives names one.
bool dropsStacks(ir::WhileOp loop) {
  Block &body = loop.getBody().front();
  StacksMade made(body);
  return llvm::none_of(body.getTerminator()->getOperands(), [&](Value next) { return made.contains(next); });
}

void makeParts(ModuleOp module, func::FuncOp function) {
  int64_t next = 0;
  for (Operation &op : function.getBody().front()) {
    if (!isa<ir::CondOp, ir::WhileOp, ir::OnEntriesOp>(op))
      continue;
    SmallVector<int64_t> numbers;
    auto loop = dyn_cast<ir::WhileOp>(op);
    const bool drops = loop && dropsStacks(loop);
    if (auto cond = dyn_cast<ir::CondOp>(op))
      if (std::optional<SmallVector<int64_t>> sources = sourcesOfSizes(cond))
        op.setAttr(kSourcesAttr, OpBuilder(&op).getDenseI64ArrayAttr(*sources));
    if (auto entries = dyn_cast<ir::OnEntriesOp>(op)) {
      SmallVector<Attribute> types;
      for (BlockArgument entry : entries.getBody().getArguments().take_front(entries.getEntries()))
        types.push_back(TypeAttr::get(entry.getType()));
      op.setAttr(kEntriesAttr, OpBuilder(&op).getArrayAttr(types));
    }
    for (Region &region : op.getRegions()) {
      makePart(module, region, &op, loop && region.getRegionNumber() == 1, next);
      numbers.push_back(next++);
    }
    if (loop)
      numbers.push_back(drops);
    op.setAttr(kPartsAttr, OpBuilder(&op).getDenseI64ArrayAttr(numbers));
  }
}

namespace {

// The operands of a step, which become the words that a kernel of the runtime takes.
class Words {
public:
  Words(LinalgBuilder &b, LoweringContext &context) : b(b), operands{context.frame} {}

  void add(int64_t number) {
    operands.push_back(arith::ConstantOp::create(b.builder, b.location, b.builder.getI64IntegerAttr(number)));
  }
  void add(Size size) {
    if (std::optional<int64_t> known = constantOf(size))
      add(*known);
    else
      operands.push_back(b.valueOf(size));
  }
  // Flat, because with several dimensions bufferization would take a slice of unknown sizes, whose strides might be
  // those of a whole buffer, for one.
  void address(Value tensor) { operands.push_back(b.flatten(tensor)); }
  void addresses(ValueRange tensors) {
    for (Value tensor : tensors)
      address(tensor);
  }
  // The sizes that a type does not know.
  void unknownSizes(ArrayRef<Size> sizes, Type type) {
    for (auto [size, known] : llvm::zip_equal(sizes, cast<RankedTensorType>(type).getShape()))
      if (ShapedType::isDynamic(known))
        operands.push_back(b.valueOf(size));
  }
  // A buffer that the step writes.
  Value result(Type type, ArrayRef<Size> sizes) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<Value> unknown;
    for (auto [size, known] : llvm::zip_equal(sizes, tensor.getShape()))
      if (ShapedType::isDynamic(known))
        unknown.push_back(b.valueOf(size));
    auto buffer = MemRefType::get(tensor.getShape(), tensor.getElementType());
    operands.push_back(memref::AllocOp::create(b.builder, b.location, buffer, unknown));
    return operands.back();
  }

  void call(StringRef name, LoweringContext &context) {
    func::CallOp::create(b.builder, b.location, context.runtimeKernel(name, ValueRange(operands).getTypes()), operands);
  }
  Value tensorOf(Value buffer, Type type, ArrayRef<Size> sizes) {
    Value tensor = bufferization::ToTensorOp::create(b.builder, b.location, type, buffer, /*restrict=*/true,
                                                     /*writable=*/true);
    b.sizes.set(tensor, sizes);
    return tensor;
  }

private:
  LinalgBuilder &b;
  SmallVector<Value> operands;
};

} // namespace

Lowered lower(LinalgBuilder &b, ir::CondOp op, LoweringContext &context) {
  auto sources = op->getAttrOfType<DenseI64ArrayAttr>(kSourcesAttr);
  if (!sources)
    return context.refuse(op, "has a result with an unknown size that is that of no tensor around it");
  SmallVector<SizeList> sizes;
  int64_t site = 0;
  bool isFirst = true;
  ArrayRef<int64_t> next = sources.asArrayRef();
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    SizeList &list = sizes.emplace_back();
    for (auto [dimension, size] : llvm::enumerate(LinalgBuilder::shapeOf(result))) {
      if (!ShapedType::isDynamic(size)) {
        list.push_back(b.sizes.constant(size));
        continue;
      }
      list.push_back(b.sizes.of(op.getInputs()[next[0]], next[1]));
      next = next.drop_front(2);
      int32_t added = context.addSite(Site::Kind::SizesDiffer, op);
      context.sites.back().sizes[0].operand = static_cast<int64_t>(number);
      context.sites.back().sizes[0].dimension = static_cast<int64_t>(dimension);
      site = std::exchange(isFirst, false) ? added : site;
    }
  }
  auto parts = op->getAttrOfType<DenseI64ArrayAttr>(kPartsAttr).asArrayRef();
  Words words(b, context);
  words.add(parts[0]);
  words.add(parts[1]);
  words.add(op.getInputs().size());
  words.add(op.getNumResults());
  words.add(site);
  words.address(op.getPredicate());
  words.addresses(op.getInputs());
  SmallVector<Value> buffers, results;
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    buffers.push_back(words.result(result.getType(), size));
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    words.unknownSizes(size, result.getType());
  for (Value input : op.getInputs())
    words.unknownSizes(b.sizesOf(input), input.getType());
  words.call("calque_rt_cond", context);
  for (auto [buffer, result, size] : llvm::zip_equal(buffers, op.getResults(), sizes))
    results.push_back(words.tensorOf(buffer, result.getType(), size));
  return results;
}

Lowered lower(LinalgBuilder &b, ir::WhileOp op, LoweringContext &context) {
  auto parts = op->getAttrOfType<DenseI64ArrayAttr>(kPartsAttr).asArrayRef();
  const unsigned count = op.getNumVariables();
  // Each size that only the call knows must stay as it is.
  SmallVector<int64_t> unknown;
  int64_t site = 0;
  for (auto [variable, result] : llvm::enumerate(op.getResults()))
    for (auto [dimension, size] : llvm::enumerate(LinalgBuilder::shapeOf(result)))
      if (ShapedType::isDynamic(size)) {
        int32_t added = context.addSite(Site::Kind::SizesDiffer, op);
        context.sites.back().sizes[0].operand = static_cast<int64_t>(variable);
        context.sites.back().sizes[0].dimension = static_cast<int64_t>(dimension);
        site = unknown.empty() ? added : site;
        unknown.push_back(added);
      }
  Words words(b, context);
  words.add(parts[0]);
  words.add(parts[1]);
  words.add(count);
  words.add(op.getInvariants().size());
  words.add(site);
  words.add(parts[2]);
  words.addresses(op.getValues());
  SmallVector<SizeList> sizes;
  for (Value initial : op.getInitial())
    sizes.push_back(b.sizesOf(initial));
  SmallVector<Value> buffers, results;
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    buffers.push_back(words.result(result.getType(), size));
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    words.result(result.getType(), size);
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    words.add(b.sizes.multiply(b.sizes.product(size), b.sizes.constant(ir::ElementType(result).bytes())));
  for (Value value : op.getValues())
    words.unknownSizes(b.sizesOf(value), value.getType());
  auto boxes = op->getAttrOfType<DenseI64ArrayAttr>(kBoxesAttr);
  words.add(boxes ? boxes.size() : 0);
  for (int64_t box : boxes ? boxes.asArrayRef() : ArrayRef<int64_t>())
    words.add(box);
  words.add(boxes ? context.addSite(Site::Kind::OutOfMemory, op) : 0);
  words.call("calque_rt_while", context);
  for (auto [buffer, result, size] : llvm::zip_equal(buffers, op.getResults(), sizes))
    results.push_back(words.tensorOf(buffer, result.getType(), size));
  return results;
}

Lowered lower(LinalgBuilder &b, ir::OnEntriesOp op, LoweringContext &context) {
  auto parts = op->getAttrOfType<DenseI64ArrayAttr>(kPartsAttr).asArrayRef();
  const auto numEntries = static_cast<unsigned>(op.getEntries());
  ValueRange entries = op.getValues().take_front(numEntries), inputs = op.getValues().drop_front(numEntries);
  auto types = op->getAttrOfType<ArrayAttr>(kEntriesAttr);
  Words words(b, context);
  words.add(parts[0]);
  words.add(numEntries);
  words.add(inputs.size());
  words.add(op.getNumResults());
  for (auto [entry, attribute] : llvm::zip_equal(entries, types)) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(attribute).getValue());
    constexpr size_t kBits = 64;
    SmallVector<uint64_t> unknown(std::max<size_t>(llvm::divideCeil(type.getRank(), kBits), 1)); // bits of dimensions
    for (auto [dimension, size] : llvm::enumerate(type.getShape()))
      unknown[dimension / kBits] |= uint64_t(ShapedType::isDynamic(size)) << dimension % kBits;
    words.address(entry);
    words.add(type.getRank());
    for (uint64_t bits : unknown)
      words.add(static_cast<int64_t>(bits));
  }
  words.addresses(inputs);
  SmallVector<Value> buffers, results;
  SmallVector<SizeList> sizes;
  auto likes = op->getAttrOfType<DenseI64ArrayAttr>(kLikesAttr);
  int64_t site = 0, numExpected = 0;
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    if (cast<RankedTensorType>(result.getType()).hasStaticShape()) {
      sizes.push_back(b.sizes.constants(LinalgBuilder::shapeOf(result)));
      continue;
    }
    if (!likes || number >= static_cast<size_t>(likes.size()) || likes[number] < numEntries ||
        likes[number] >= static_cast<int64_t>(op.getValues().size()))
      return context.refuse(op, "has a result with an unknown size that is that of no tensor around it");
    sizes.push_back(b.sizesOf(op.getValues()[likes[number]]));
    for (auto [dimension, size] : llvm::enumerate(LinalgBuilder::shapeOf(result)))
      if (ShapedType::isDynamic(size)) {
        int32_t added = context.addSite(Site::Kind::SizesDiffer, op);
        context.sites.back().sizes[0].operand = static_cast<int64_t>(number);
        context.sites.back().sizes[0].dimension = static_cast<int64_t>(dimension);
        site = numExpected++ ? site : added;
      }
  }
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    buffers.push_back(words.result(result.getType(), size));
  words.add(site);
  for (auto [result, size] : llvm::zip_equal(op.getResults(), sizes))
    words.unknownSizes(size, result.getType());
  int64_t numUnknown = 0;
  for (Value input : inputs)
    numUnknown += llvm::count_if(LinalgBuilder::shapeOf(input), ShapedType::isDynamic);
  words.add(numUnknown);
  for (Value input : inputs)
    words.unknownSizes(b.sizesOf(input), input.getType());
  words.call("calque_rt_on_entries", context);
  for (auto [buffer, result, size] : llvm::zip_equal(buffers, op.getResults(), sizes))
    results.push_back(words.tensorOf(buffer, result.getType(), size));
  return results;
}

Lowered lower(LinalgBuilder &b, ir::SizedPushOp op, LoweringContext &context) {
  Words words(b, context);
  SizeList sizes = b.sizesOf(op.getX());
  words.address(op.getStack());
  words.address(op.getX());
  Value buffer = words.result(op.getType(), {});
  words.add(context.addSite(Site::Kind::OutOfMemory, op));
  words.add(b.sizes.multiply(b.sizes.product(sizes), b.sizes.constant(ir::ElementType(op.getX()).bytes())));
  words.add(sizes.size());
  for (Size size : sizes)
    words.add(size);
  words.call("calque_rt_sized_push", context);
  return words.tensorOf(buffer, op.getType(), {});
}

Lowered lower(LinalgBuilder &b, ir::StackBelowOp op, LoweringContext &context) {
  Words words(b, context);
  SizeList sizes = b.sizesOf(op.getStack());
  words.add(b.sizes.product(sizes));
  words.address(op.getStack());
  Value buffer = words.result(op.getType(), sizes);
  words.call("calque_rt_stack_below", context);
  return words.tensorOf(buffer, op.getType(), sizes);
}

// The number of stacks, and the bytes of an entry.
static void addEntries(LinalgBuilder &b, Words &words, Value stack, Value entry) {
  SizeList sizes = b.sizesOf(entry);
  size_t rank = static_cast<size_t>(LinalgBuilder::rankOf(stack));
  words.add(b.sizes.product(ArrayRef(sizes).take_front(rank)));
  words.add(b.sizes.multiply(b.sizes.product(ArrayRef(sizes).drop_front(rank)),
                             b.sizes.constant(ir::ElementType(entry).bytes())));
}

Lowered lower(LinalgBuilder &b, ir::StackPushOp op, LoweringContext &context) {
  Words words(b, context);
  addEntries(b, words, op.getStack(), op.getX());
  words.address(op.getStack());
  words.address(op.getX());
  SizeList sizes = b.sizesOf(op.getStack());
  Value buffer = words.result(op.getType(), sizes);
  words.add(context.addSite(Site::Kind::OutOfMemory, op));
  words.call("calque_rt_stack_push", context);
  return words.tensorOf(buffer, op.getType(), sizes);
}

Lowered lower(LinalgBuilder &b, ir::StackPopOp op, LoweringContext &context) {
  Words words(b, context);
  addEntries(b, words, op.getStack(), op.getLike());
  words.address(op.getStack());
  SizeList below = b.sizesOf(op.getStack()), entry = b.sizesOf(op.getLike());
  Value buffers[] = {words.result(op.getBelow().getType(), below), words.result(op.getEntry().getType(), entry)};
  words.add(context.addSite(Site::Kind::AssertionFailed, op, kStacksAreUsedUp));
  words.call("calque_rt_stack_pop", context);
  return SmallVector<Value>{words.tensorOf(buffers[0], op.getBelow().getType(), below),
                            words.tensorOf(buffers[1], op.getEntry().getType(), entry)};
}

} // namespace calque::codegen
