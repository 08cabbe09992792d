// Makes a function, a *kernel*, of each operation on buffers, and one function of all kernels that are equal. Kernels
// are equal if they do the same on buffers of the same sizes and strides. The arguments of a kernel are its buffers,
// the places where operands begin in their buffers, scalars and unknown sizes.
//
// The program becomes a list of calls of kernels, its own and the runtime's. The numbers in it are constants, or
// computed from sizes. A number that one kernel makes for another passes through a buffer, its *cell*.
#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/buffers/Bufferize.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/plan/ProgramAttributes.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_OUTLINEKERNELS
#include "codegen/Passes.h.inc"

namespace {

// The functions made so far, by what they do.
class Kernels {
public:
  Kernels(ModuleOp module, func::FuncOp entry) : module(module), behind(entry) {}

  // Returns a function that is equal to `made`, and erases `made`. Returns `made` if there is none, or without `merge`.
  func::FuncOp add(func::FuncOp made, bool merge) {
    SmallVector<func::FuncOp, 1> none, &alike = merge ? byHash[hash(made)] : none;
    for (func::FuncOp each : alike)
      if (areEqual(each, made)) {
        made.erase();
        ++numMerged;
        return each;
      }
    made.setName("calque.kernel_" + std::to_string(numKernels++));
    made->setAttr(kKernelAttr, UnitAttr::get(made.getContext()));
    module.getBody()->getOperations().insertAfter(behind->getIterator(), made);
    behind = made;
    alike.push_back(made);
    return made;
  }

  unsigned numKernels = 0, numMerged = 0;

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
  llvm::DenseMap<llvm::hash_code, SmallVector<func::FuncOp, 1>> byHash;
};

// The numbers of a program.
struct Numbers {
  llvm::DenseSet<Value> computable;  // before the program runs: sizes and numbers that follow from sizes
  llvm::DenseSet<Operation *> cells; // the loads from cells, which are the numbers that kernels make
};

// Whether a load reads a cell: a buffer of one number, which nothing writes any more. So each kernel that needs the
// number can read it.
bool readsCell(memref::LoadOp load) {
  // A number that many operations read is rare, and to look at all operations for each of them would take long.
  constexpr unsigned kMostUsers = 16;
  Value buffer = load.getMemRef();
  if (!buffer.getDefiningOp<memref::AllocOp>() || load.getMemRefType().getRank() ||
      !load.getMemRefType().getLayout().isIdentity() || buffer.hasNUsesOrMore(kMostUsers))
    return false;
  return llvm::all_of(buffer.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<memref::LoadOp>(user))
      return true;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    return linalgOp &&
           (linalgOp.isDpsInput(&use) || (user->getBlock() == load->getBlock() && user->isBeforeInBlock(load)));
  });
}

// Makes the kernel of some operations that follow each other, and its call.
class Outliner {
public:
  Outliner(ArrayRef<Operation *> operations, Numbers &known)
      : operations(operations), isGroup(operations.back()->hasAttr(kGroupAttr)), known(known),
        location(operations.back()->getLoc()), outside(operations.back()), inside(operations.back()->getContext()) {
    auto none = FunctionType::get(inside.getContext(), {}, {});
    function = func::FuncOp::create(location, "calque.kernel", none);
    function.setPrivate();
    body = function.addEntryBlock();
    inside.setInsertionPointToStart(body);
  }

  void outline(Kernels &kernels, bool merge) {
    IRMapping mapping;
    findOwnBuffers();
    for (Operation *op : operations) {
      llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        for (OpOperand *input : linalgOp.getDpsInputOperands())
          if (isUnread(linalgOp, *input) && usesOf(rootBuffer(input->get())) == 1)
            mapping.map(
                input->get(),
                memref::AllocOp::create(inside, location, cast<MemRefType>(input->get().getType())).getResult());
      for (Value value : used)
        if (!mapping.contains(value))
          mapping.map(value, pass(value));
    }
    SmallVector<std::pair<Value, Value>> numbersMade; // a result and its cell
    for (Operation *op : operations) {
      Operation *inKernel = inside.clone(*op, mapping);
      inKernel->removeAttr(kGroupAttr);
      for (auto [result, made] : llvm::zip_equal(op->getResults(), inKernel->getResults())) {
        if (result.use_empty())
          continue;
        Value cell = memref::AllocOp::create(outside, location, MemRefType::get({}, result.getType()));
        memref::StoreOp::create(inside, location, made, argument(cell));
        numbersMade.push_back({result, cell});
      }
    }
    func::ReturnOp::create(inside, location);
    function.setFunctionType(FunctionType::get(function.getContext(), body->getArgumentTypes(), {}));
    // No argument of a kernel reads what another argument writes.
    auto setNoAlias = [&](Value buffer) {
      if (auto argument = dyn_cast<BlockArgument>(rootBuffer(buffer)))
        function.setArgAttr(argument.getArgNumber(), kNoAlias, inside.getUnitAttr());
    };
    body->walk([&](memref::StoreOp store) {
      if (store->getParentOfType<scf::ForOp>())
        setNoAlias(store.getMemRef());
    });
    for (Operation *op : operations)
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && (isGroup || op == operations.back()))
        for (Value init : linalgOp.getDpsInits())
          setNoAlias(mapping.lookup(init));
    func::CallOp::create(outside, location, kernels.add(function, merge), arguments);
    for (auto [result, cell] : numbersMade) {
      auto load = memref::LoadOp::create(outside, location, cell);
      known.cells.insert(load);
      result.replaceAllUsesWith(load.getResult());
    }
    for (Operation *op : operations)
      op->erase();
  }

private:
  // Whether an operand has only its sizes used, such as the operand that says how large a window is.
  static bool isUnread(linalg::LinalgOp op, OpOperand &input) {
    auto type = dyn_cast<MemRefType>(input.get().getType());
    return type && type.hasStaticShape() && type.getLayout().isIdentity() && !op.payloadUsesValueFromOperand(&input) &&
           llvm::count(op->getOperands(), input.get()) == 1;
  }

  // How many operands of the kernel's operations, and values that their bodies use, are parts of a buffer.
  int64_t usesOf(Value root) const {
    int64_t uses = 0;
    for (Operation *op : operations) {
      auto isPart = [&](Value value) { return isa<MemRefType>(value.getType()) && rootBuffer(value) == root; };
      uses += llvm::count_if(op->getOperands(), isPart);
      llvm::SetVector<Value> taken;
      getUsedValuesDefinedAbove(op->getRegions(), taken);
      uses += llvm::count_if(taken, isPart);
    }
    return uses;
  }

  // Finds the buffers that only a group uses, so that its kernel allocates them, and the buffers of which it uses
  // views.
  void findOwnBuffers() {
    llvm::SmallPtrSet<Operation *, 8> inGroup(operations.begin(), operations.end());
    for (Operation *op : operations)
      for (Value operand : op->getOperands()) {
        if (!isGroup || !isa<MemRefType>(operand.getType()))
          continue;
        Value root = rootBuffer(operand);
        if (root != operand)
          viewed.insert(root);
        if (!root.getDefiningOp<memref::AllocOp>() || own.contains(root))
          continue;
        SmallVector<Value> values{root};
        bool isOwn = true;
        while (isOwn && !values.empty())
          for (Operation *user : values.pop_back_val().getUsers()) {
            if (auto view = dyn_cast<ViewLikeOpInterface>(user))
              values.push_back(view->getResult(0));
            else
              isOwn &= inGroup.contains(user);
          }
        if (isOwn)
          own.insert(root);
      }
  }

  Value argument(Value value) {
    arguments.push_back(value);
    return body->addArgument(value.getType(), value.getLoc());
  }

  // The value in the kernel that stands for a value of the program.
  Value pass(Value value) {
    if (isa<MemRefType>(value.getType()))
      return passBuffer(value);
    return passNumber(value);
  }

  Value passNumber(Value value) {
    Value &inKernel = numbers[value];
    if (inKernel)
      return inKernel;
    Operation *made = value.getDefiningOp();
    if (known.computable.contains(value))
      return inKernel = argument(value);
    if (known.cells.contains(made))
      return inKernel = memref::LoadOp::create(inside, location, argument(cast<memref::LoadOp>(made).getMemRef()));
    // Each kernel repeats the arithmetic that it needs on numbers in cells.
    IRMapping mapping;
    for (Value operand : made->getOperands())
      mapping.map(operand, passNumber(operand));
    return numbers[value] = inside.clone(*made, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  }

  Value passBuffer(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    Value root = rootBuffer(buffer);
    if (own.contains(root))
      return makeOwn(buffer);
    if (root == buffer && type.getLayout().isIdentity() && type.hasStaticShape() && type.getNumElements() > 0 &&
        !viewed.contains(root))
      return argument(buffer);

    // The address, and the offset as a number. Sizes and strides are products of numbers that the kernel takes, so that
    // the kernel's compilation can see which are equal or multiples of others.
    Layout layout = layoutOf(outside, buffer);
    // All views that a group uses of one buffer have one address, so that the kernel knows what they share.
    Value none, &base = isGroup ? bases[root] : none;
    if (!base)
      base = argument(addressOf(outside, location, root));
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

  // A buffer that exists within the kernel alone, or a view of it.
  Value makeOwn(Value buffer) {
    Value &inKernel = bases[buffer];
    if (inKernel)
      return inKernel;
    Operation *made = buffer.getDefiningOp();
    IRMapping mapping;
    for (Value operand : made->getOperands())
      mapping.map(operand, isa<MemRefType>(operand.getType()) ? makeOwn(operand) : passNumber(operand));
    Value result = inside.clone(*made, mapping)->getResult(cast<OpResult>(buffer).getResultNumber());
    return bases[buffer] = result;
  }

  // Whether a view shows a part of its buffer. Then the kernel gets an offset, even if it is 0, because other parts may
  // have the same kernel.
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

  SmallVector<Operation *, 2> operations;
  bool isGroup;
  llvm::DenseSet<Value> own, viewed;  // of a group: buffers that it alone uses, and buffers of which it uses views
  llvm::DenseMap<Value, Value> bases; // of a group: the kernel's value for a buffer
  Numbers &known;
  Location location;
  OpBuilder outside, inside;
  func::FuncOp function;
  Block *body;
  SmallVector<Value> arguments; // of the call
  llvm::DenseMap<Value, Value> numbers;
};

// Puts constants that all calls of a kernel pass into the kernel, so that LLVM knows them and loops need fewer
// registers.
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

// The kernels of a program with their calls.
llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> kernelsOf(func::FuncOp program, const SymbolTable &symbols) {
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> calls;
  program.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()); !callee.isExternal())
      calls[callee].push_back(call);
  });
  return calls;
}

// Whether an operation is no kernel: a buffer, a view of one, a step of the runtime's, a number in a cell, or
// arithmetic. Notes arithmetic that can be done before the program runs.
bool staysInProgram(Operation *op, Numbers &known, const SymbolTable &symbols) {
  if (isa<memref::AllocOp, memref::GetGlobalOp, ViewLikeOpInterface>(op))
    return true;
  if (auto call = dyn_cast<func::CallOp>(op))
    return symbols.lookup(call.getCallee())->hasAttr(kRuntimeAttr);
  if (auto load = dyn_cast<memref::LoadOp>(op); load && readsCell(load)) {
    known.cells.insert(load);
    return true;
  }
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  if (llvm::all_of(op->getOperands(), [&](Value operand) { return known.computable.contains(operand); }))
    known.computable.insert(op->result_begin(), op->result_end());
  return true;
}

// Makes the kernels of a program.
void outlineKernels(func::FuncOp program, Kernels &kernels, bool merge) {
  Block &body = program.getBody().front();
  auto module = program->getParentOfType<ModuleOp>();
  const SymbolTable symbols(module);
  Numbers known;
  known.computable.insert(body.args_begin(), body.args_end());
  SmallVector<Operation *> operations;
  llvm::DenseSet<Operation *> merged; // fills that initialise what another operation adds to
  llvm::DenseMap<Operation *, linalg::FillOp> fills;
  for (Operation &op : body.without_terminator()) {
    if (staysInProgram(&op, known, symbols))
      continue;
    operations.push_back(&op);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp)
      if (linalg::FillOp fill = fillBefore(linalgOp)) {
        fills[&op] = fill;
        merged.insert(fill);
      }
  }
  // A group runs where its last operation stands.
  llvm::DenseMap<Attribute, std::pair<SmallVector<Operation *>, size_t>> groups; // with how many operations are missing
  for (Operation *op : operations)
    if (Attribute number = op->getAttr(kGroupAttr))
      ++groups[number].second;
  for (Operation *op : operations) {
    if (merged.contains(op))
      continue;
    SmallVector<Operation *> alone, *group = &alone;
    if (Attribute number = op->getAttr(kGroupAttr)) {
      auto &[members, missing] = groups[number];
      --missing;
      group = &members;
    }
    if (linalg::FillOp fill = fills.lookup(op))
      group->push_back(fill);
    group->push_back(op);
    if (Attribute number = op->getAttr(kGroupAttr); number && groups[number].second)
      continue;
    Outliner(*group, known).outline(kernels, merge);
  }
  operations = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op))
      op->erase();
  if (merge)
    for (auto &[kernel, calls] : kernelsOf(program, SymbolTable(module)))
      takeConstants(kernel, calls);
}

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;
  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    Kernels kernels(getOperation(), program->function);
    outlineKernels(program->function, kernels, merge);
    outlined += kernels.numKernels;
    merged += kernels.numMerged;
  }
};

} // namespace
} // namespace calque::codegen
