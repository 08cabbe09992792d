// Makes a function of each operation on buffers, a *kernel*, and one function of all that are equal. Kernels are equal
// if they do the same on buffers of the same sizes and strides. Which buffers these are, where an operand begins in its
// buffer, scalars and unknown sizes are arguments.
#include "codegen/Pipeline.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// FuncToLLVM turns it into LLVM's attribute.
constexpr llvm::StringLiteral kNoAlias = "llvm.noalias";

// The functions made so far, by what they do.
class Kernels {
public:
  Kernels(ModuleOp module, func::FuncOp entry) : module(module), behind(entry) {}

  // A function that is equal to this one, which is then erased, or this one.
  func::FuncOp unique(func::FuncOp made) {
    SmallVector<func::FuncOp, 1> &alike = byHash[hash(made)];
    for (func::FuncOp each : alike)
      if (areEqual(each, made)) {
        made.erase();
        return each;
      }
    made.setName("calque.kernel_" + std::to_string(count++));
    module.getBody()->getOperations().insertAfter(behind->getIterator(), made);
    behind = made;
    alike.push_back(made);
    return made;
  }

private:
  static bool areEqual(func::FuncOp a, func::FuncOp b) {
    return a.getFunctionType() == b.getFunctionType() && a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
           OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  }
  static llvm::hash_code hash(func::FuncOp function) {
    llvm::hash_code result = mlir::hash_value(Type(function.getFunctionType()));
    function.getBody().walk([&](Operation *op) {
      result = llvm::hash_combine(result, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                            OperationEquivalence::ignoreHashValue,
                                                                            OperationEquivalence::IgnoreLocations));
    });
    return result;
  }

  ModuleOp module;
  Operation *behind;
  unsigned count = 0;
  llvm::DenseMap<llvm::hash_code, SmallVector<func::FuncOp, 1>> byHash;
};

// The kernel of some operations that follow each other, and its call.
class Outliner {
public:
  Outliner(ModuleOp module, ArrayRef<linalg::LinalgOp> operations)
      : operations(operations), location(operations.back()->getLoc()), outside(operations.back()),
        inside(module.getContext()) {
    auto none = FunctionType::get(module.getContext(), {}, {});
    function = func::FuncOp::create(location, "calque.kernel", none);
    function.setPrivate();
    body = function.addEntryBlock();
    inside.setInsertionPointToStart(body);
  }

  void outline(Kernels &kernels) {
    IRMapping mapping;
    for (linalg::LinalgOp op : operations) {
      llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
      for (OpOperand *input : op.getDpsInputOperands())
        if (isUnread(op, *input))
          mapping.map(input->get(),
                      memref::AllocOp::create(inside, location, cast<MemRefType>(input->get().getType())).getResult());
      for (Value value : used)
        if (!mapping.contains(value))
          mapping.map(value, pass(value));
    }
    for (linalg::LinalgOp op : operations)
      inside.clone(*op, mapping);
    func::ReturnOp::create(inside, location);
    function.setFunctionType(FunctionType::get(function.getContext(), body->getArgumentTypes(), {}));
    // What a kernel writes no other argument of it reads.
    for (Value init : operations.back().getDpsInits())
      if (auto argument = dyn_cast<BlockArgument>(rootBuffer(mapping.lookup(init))))
        function.setArgAttr(argument.getArgNumber(), kNoAlias, inside.getUnitAttr());
    func::CallOp::create(outside, location, kernels.unique(function), arguments);
    for (linalg::LinalgOp op : operations)
      op.erase();
  }

private:
  // Whether an operand is there for its sizes alone, as the one that says how large a window is.
  static bool isUnread(linalg::LinalgOp op, OpOperand &input) {
    auto type = dyn_cast<MemRefType>(input.get().getType());
    return type && type.hasStaticShape() && type.getLayout().isIdentity() && !op.payloadUsesValueFromOperand(&input) &&
           llvm::count(op->getOperands(), input.get()) == 1;
  }

  Value argument(Value value) {
    arguments.push_back(value);
    return body->addArgument(value.getType(), value.getLoc());
  }

  // A value of the program as the kernel has it.
  Value pass(Value value) {
    if (isa<MemRefType>(value.getType()))
      return passBuffer(value);
    return passNumber(value);
  }

  Value passNumber(Value value) {
    Value &inKernel = numbers[value];
    if (!inKernel)
      inKernel = argument(value);
    return inKernel;
  }

  Value passBuffer(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    Value root = rootBuffer(buffer);
    if (root == buffer && type.getLayout().isIdentity() && type.hasStaticShape() && type.getNumElements() > 0)
      return argument(buffer);

    // The bare pointer, and the offset as a number. Sizes and strides are products of numbers that the kernel takes, so
    // that it knows which of them are equal and which a multiple of another.
    Layout layout = layoutOf(outside, buffer);
    auto pointer = MemRefType::get({1}, type.getElementType());
    Value bare = root.getType() == pointer
                     ? root
                     : memref::ReinterpretCastOp::create(outside, location, pointer, root, 0, ArrayRef<int64_t>{1},
                                                         ArrayRef<int64_t>{1})
                           .getResult();
    Value base = argument(bare);
    OpFoldResult offset = inside.getIndexAttr(0);
    if (!type.getLayout().isIdentity() || !layout.offsets.empty() || isPart(buffer))
      offset = argument(sum(layout.offsets));
    auto folded = [&](const Extent &extent) {
      return extent.mapped([&](Value value) { return passNumber(value); }).folded(inside, location);
    };
    SmallVector<OpFoldResult> sizes = llvm::map_to_vector(layout.sizes, folded),
                              strides = llvm::map_to_vector(layout.strides, folded);
    SmallVector<int64_t> staticStrides;
    for (OpFoldResult stride : strides)
      staticStrides.push_back(getConstantIntValue(stride).value_or(ShapedType::kDynamic));
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    MemRefType view = MemRefType::get(shape, type.getElementType());
    if (!type.getLayout().isIdentity() || isa<Value>(offset))
      view = MemRefType::get(
          shape, type.getElementType(),
          StridedLayoutAttr::get(inside.getContext(), isa<Value>(offset) ? ShapedType::kDynamic : 0, staticStrides));
    return memref::ReinterpretCastOp::create(inside, location, view, base, offset, sizes, strides);
  }

  // Whether a view shows a part of its buffer. Then it has an offset, if only 0: other parts may have the same kernel.
  static bool isPart(Value buffer) {
    for (auto view = buffer.getDefiningOp<ViewLikeOpInterface>(); view;
         view = view.getViewSource().getDefiningOp<ViewLikeOpInterface>())
      if (isa<memref::SubViewOp>(view))
        return true;
    return false;
  }

  Value sum(ArrayRef<Extent> offsets) {
    int64_t known = 0;
    Value unknown;
    for (const Extent &offset : offsets) {
      if (offset.isKnown()) {
        known += *offset.known();
        continue;
      }
      Value next = offset.emit(outside, location);
      unknown = unknown ? arith::AddIOp::create(outside, location, unknown, next).getResult() : next;
    }
    if (unknown && known == 0)
      return unknown;
    Value constant = arith::ConstantIndexOp::create(outside, location, known);
    return unknown ? arith::AddIOp::create(outside, location, unknown, constant).getResult() : constant;
  }

  SmallVector<linalg::LinalgOp, 2> operations;
  Location location;
  OpBuilder outside, inside;
  func::FuncOp function;
  Block *body;
  SmallVector<Value> arguments; // of the call
  llvm::DenseMap<Value, Value> numbers;
};

// Puts the constants into a kernel that all of its calls pass: LLVM then knows them, and loops need fewer registers.
void takeConstants(func::FuncOp kernel, ArrayRef<func::CallOp> calls) {
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  llvm::BitVector taken(kernel.getNumArguments());
  func::CallOp first = calls.front();
  for (BlockArgument argument : body.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto constant = first.getOperand(number).getDefiningOp<arith::ConstantOp>();
    bool isShared = constant && llvm::all_of(calls, [&](func::CallOp call) {
                      auto other = call.getOperand(number).getDefiningOp<arith::ConstantOp>();
                      return other && other.getValue() == constant.getValue();
                    });
    if (!isShared)
      continue;
    argument.replaceAllUsesWith(builder.clone(*constant)->getResult(0));
    taken.set(number);
  }
  if (taken.none())
    return;
  (void)kernel.eraseArguments(taken);
  for (func::CallOp call : calls)
    call->eraseOperands(taken);
}

// Erases a buffer or view if nothing but unused views takes it.
bool eraseUnused(Operation *buffer) {
  for (Operation *user : llvm::make_early_inc_range(buffer->getUsers()))
    if (!isa<ViewLikeOpInterface>(user) || !eraseUnused(user))
      return false;
  buffer->erase();
  return true;
}

// The buffers that kernels need for themselves become arguments, which every call brings.
LogicalResult passScratch(func::FuncOp kernel, ArrayRef<func::CallOp> calls) {
  SmallVector<memref::AllocOp> scratch;
  kernel.walk([&](memref::AllocOp alloc) {
    if (!eraseUnused(alloc))
      scratch.push_back(alloc);
  });
  if (scratch.empty())
    return success();
  Block &body = kernel.getBody().front();
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    SmallVector<Value> operands(call.getOperands());
    for (memref::AllocOp alloc : scratch) {
      SmallVector<Value> sizes;
      for (Value size : alloc.getDynamicSizes())
        if (Value value = cloneSize(builder, size, mapping))
          sizes.push_back(value);
      if (sizes.size() != alloc.getDynamicSizes().size()) {
        alloc.emitOpError("has no known size");
        return failure();
      }
      Value made = memref::AllocOp::create(builder, call.getLoc(), alloc.getType(), sizes);
      if (!alloc.getType().hasStaticShape())
        made = memref::ReinterpretCastOp::create(builder, call.getLoc(),
                                                 MemRefType::get({1}, alloc.getType().getElementType()), made, 0,
                                                 ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
      operands.push_back(made);
    }
    call->setOperands(operands);
  }
  auto noAlias = DictionaryAttr::get(kernel.getContext(), NamedAttribute(StringAttr::get(kernel.getContext(), kNoAlias),
                                                                         UnitAttr::get(kernel.getContext())));
  for (memref::AllocOp alloc : scratch) {
    MemRefType type = alloc.getType();
    MemRefType passed = type.hasStaticShape() ? type : MemRefType::get({1}, type.getElementType());
    if (failed(kernel.insertArgument(kernel.getNumArguments(), passed, noAlias, alloc.getLoc())))
      return failure();
    Value argument = body.getArguments().back();
    OpBuilder builder(alloc);
    if (passed != type)
      argument = contiguous(builder, argument, type, alloc.getMixedSizes());
    alloc.replaceAllUsesWith(argument);
    alloc.erase();
  }
  return success();
}

// The kernels of a program with their calls.
llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> kernelsOf(Program &program) {
  auto entry = program.module->lookupSymbol<func::FuncOp>(program.entry);
  SymbolTable symbols(*program.module);
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> calls;
  entry.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()); !callee.isExternal())
      calls[callee].push_back(call);
  });
  return calls;
}

} // namespace

void outlineKernels(Program &program) {
  auto entry = program.module->lookupSymbol<func::FuncOp>(program.entry);
  Kernels kernels(*program.module, entry);
  SmallVector<linalg::LinalgOp> operations;
  llvm::DenseSet<Operation *> merged; // fills that initialise what another operation adds to
  llvm::DenseMap<Operation *, linalg::FillOp> fills;
  for (Operation &op : entry.getBody().front()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    operations.push_back(linalgOp);
    if (linalgOp.getNumReductionLoops() && linalgOp.getNumDpsInits() == 1)
      if (linalg::FillOp fill = fillBefore(linalgOp)) {
        fills[&op] = fill;
        merged.insert(fill);
      }
  }
  for (linalg::LinalgOp op : operations) {
    if (merged.contains(op))
      continue;
    SmallVector<linalg::LinalgOp, 2> group;
    if (linalg::FillOp fill = fills.lookup(op))
      group.push_back(fill);
    group.push_back(op);
    Outliner(*program.module, group).outline(kernels);
  }
  for (auto &[kernel, calls] : kernelsOf(program))
    takeConstants(kernel, calls);
}

LogicalResult passScratch(Program &program) {
  for (auto &[kernel, calls] : kernelsOf(program))
    if (failed(passScratch(kernel, calls)))
      return failure();
  return success();
}

} // namespace calque::codegen
