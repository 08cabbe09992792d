// Splits kernels that are one long block. The kernels that compute sizes and addresses grow with the program, and
// MLIR's conversions and LLVM's passes take more than linear time for long functions.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_SPLITLONGKERNELS
#include "codegen/Passes.h.inc"

namespace {

bool isConstant(Value value) { return value.getDefiningOp<arith::ConstantOp>(); }
// Whether a value can be stored between two parts. Other arguments are passed to each part that uses them.
bool canBeStored(Value value) {
  return MemRefType::isValidElementType(value.getType()) && !isa<MemRefType>(value.getType());
}

// The values of its block that an operation uses, in its regions too.
SmallVector<Value> usedBy(Operation *op) {
  llvm::SetVector<Value> used;
  op->walk([&](Operation *each) {
    for (Value value : each->getOperands())
      if (!op->isAncestor(value.getParentRegion()->getParentOp()))
        used.insert(value);
  });
  return used.takeVector();
}

class Splitter {
public:
  Splitter(func::FuncOp function, size_t longest)
      : function(function), body(function.getBody().front()), longest(longest) {}

  // Splits the function if it is long. Returns whether it has become several.
  bool split() {
    order();
    if (sequence.size() <= 2 * longest || !placeValues())
      return false;
    OpBuilder builder(body.getTerminator());
    for (auto &[type, count] : slotCounts)
      slots[type] = memref::AllocOp::create(builder, function.getLoc(), MemRefType::get({count}, type));
    for (BlockArgument argument : body.getArguments())
      if (auto slot = slotOf.find(argument); slot != slotOf.end())
        store(builder, argument, slot->second, slots[argument.getType()]);
    for (size_t first = 0; first < sequence.size(); first += longest)
      makePart(builder, llvm::ArrayRef(sequence).slice(first).take_front(longest), first / longest);
    for (Operation &op : llvm::make_early_inc_range(body))
      if (isa<arith::ConstantOp>(op) && op.use_empty())
        op.erase();
    return true;
  }

private:
  // Orders the operations so that each stands shortly before the first operation that needs it. So later parts need few
  // values of earlier ones.
  void order() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
    llvm::DenseSet<Operation *> placed;
    for (Operation &effect : body.without_terminator()) {
      if (isMemoryEffectFree(&effect))
        continue;
      SmallVector<std::pair<Operation *, bool>> stack{{&effect, false}};
      while (!stack.empty()) {
        auto [op, isReady] = stack.pop_back_val();
        if (isReady) {
          sequence.push_back(op);
          continue;
        }
        if (isa<arith::ConstantOp>(op) || !placed.insert(op).second)
          continue;
        stack.push_back({op, true});
        SmallVector<Value> used = usedBy(op);
        for (Value value : llvm::reverse(used))
          if (Operation *definition = value.getDefiningOp())
            stack.push_back({definition, false});
      }
    }
  }

  // Gives a slot to each value that a later part uses. Another value may have the slot once no part uses the former
  // value any more.
  bool placeValues() {
    llvm::DenseMap<Operation *, size_t> partOf;
    for (auto [number, op] : llvm::enumerate(sequence))
      partOf[op] = number / longest;
    llvm::MapVector<Value, size_t> lastPart;
    for (BlockArgument argument : body.getArguments())
      lastPart[argument] = 0;
    for (Operation *op : sequence) {
      for (Value value : usedBy(op))
        if (!isConstant(value) && (!value.getDefiningOp() || partOf[value.getDefiningOp()] != partOf[op]))
          lastPart[value] = partOf[op];
      for (Value result : op->getResults())
        lastPart[result] = partOf[op];
    }
    llvm::MapVector<Type, SmallVector<int64_t>> freed;
    std::vector<SmallVector<Value>> endingIn(partOf[sequence.back()] + 1);
    size_t current = 0;
    for (auto [value, last] : lastPart) {
      size_t first = value.getDefiningOp() ? partOf[value.getDefiningOp()] : 0;
      if (value.getDefiningOp() ? first == last : value.use_empty())
        continue;
      if (!canBeStored(value)) {
        if (value.getDefiningOp())
          return false;
        continue;
      }
      for (; current < first; ++current)
        for (Value ended : endingIn[current])
          freed[ended.getType()].push_back(slotOf[ended]);
      SmallVector<int64_t> &free = freed[value.getType()];
      slotOf[value] = free.empty() ? slotCounts[value.getType()]++ : free.pop_back_val();
      endingIn[last].push_back(value);
    }
    return true;
  }

  void makePart(OpBuilder &builder, ArrayRef<Operation *> operations, size_t number) {
    Location location = function.getLoc();
    llvm::SetVector<Value> arguments;
    for (auto &[type, memory] : slots)
      arguments.insert(memory);
    for (Operation *op : operations)
      for (Value value : usedBy(op))
        if (isa<BlockArgument>(value) && !slotOf.contains(value))
          arguments.insert(value);
    auto part = func::FuncOp::create(builder, location, (function.getName() + ".part_" + Twine(number)).str(),
                                     builder.getFunctionType(ValueRange(arguments.getArrayRef()).getTypes(), {}));
    part->moveAfter(function);
    part.setPrivate();
    part->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "optnone"}));
    func::CallOp::create(builder, location, part, arguments.getArrayRef());

    OpBuilder inside = OpBuilder::atBlockEnd(part.addEntryBlock());
    IRMapping mapping;
    for (auto [value, argument] : llvm::zip_equal(arguments, part.getArguments()))
      mapping.map(value, argument);
    llvm::DenseSet<Operation *> own;
    for (Operation *op : operations) {
      own.insert(op);
      for (Value value : usedBy(op)) {
        if (mapping.contains(value))
          continue;
        if (isConstant(value))
          mapping.map(value, inside.clone(*value.getDefiningOp())->getResult(0));
        else if (!value.getDefiningOp() || !own.contains(value.getDefiningOp()))
          mapping.map(value, memref::LoadOp::create(inside, location, mapping.lookup(slots[value.getType()]),
                                                    at(inside, slotOf.lookup(value))));
      }
      op->remove();
      inside.insert(op);
      op->walk([&](Operation *each) {
        for (OpOperand &operand : each->getOpOperands())
          if (Value mapped = mapping.lookupOrNull(operand.get()))
            operand.set(mapped);
      });
      for (Value result : op->getResults())
        if (auto slot = slotOf.find(result); slot != slotOf.end())
          store(inside, result, slot->second, mapping.lookup(slots[result.getType()]));
    }
    func::ReturnOp::create(inside, location);
  }

  static Value at(OpBuilder &builder, int64_t slot) {
    return arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(), slot);
  }
  static void store(OpBuilder &builder, Value value, int64_t slot, Value memory) {
    memref::StoreOp::create(builder, value.getLoc(), value, memory, at(builder, slot));
  }

  func::FuncOp function;
  Block &body;
  size_t longest;
  SmallVector<Operation *> sequence;
  llvm::DenseMap<Value, int64_t> slotOf;
  llvm::MapVector<Type, int64_t> slotCounts;
  llvm::MapVector<Type, Value> slots;
};

struct SplitLongKernels : impl::SplitLongKernelsBase<SplitLongKernels> {
  using SplitLongKernelsBase::SplitLongKernelsBase;
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (isKernel(function) && function.getBody().hasOneBlock() && Splitter(function, longest).split())
        ++kernels;
  }
};

} // namespace

} // namespace calque::codegen
