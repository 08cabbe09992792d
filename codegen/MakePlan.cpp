// Makes the plan of a program out of its function, which by now is a list of calls: of kernels, and of the runtime's.
#include "codegen/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <cstring>

using namespace mlir;

namespace calque::codegen {

using runtime::From;
using runtime::Operand;

namespace {

// The bytes of a constant, in the order of its elements.
std::vector<std::byte> bytesOf(DenseElementsAttr constant) {
  Type element = constant.getElementType();
  size_t count = constant.getNumElements(), size = (element.getIntOrFloatBitWidth() + 7) / 8;
  std::vector<std::byte> bytes(count * size);
  if (bytes.empty())
    return bytes;
  if (element.isInteger(1)) {
    for (auto [i, value] : llvm::enumerate(constant.getValues<bool>()))
      bytes[i] = static_cast<std::byte>(value);
    return bytes;
  }
  ArrayRef<char> raw = constant.getRawData();
  if (!constant.isSplat())
    std::memcpy(bytes.data(), raw.data(), bytes.size());
  for (size_t i = 0; constant.isSplat() && i < count; ++i)
    std::memcpy(bytes.data() + i * size, raw.data(), size);
  return bytes;
}

int64_t wordOf(Attribute constant) {
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValue().bitcastToAPInt().getZExtValue();
  auto number = cast<IntegerAttr>(constant);
  return number.getType().isInteger(1) ? number.getValue().getZExtValue() : number.getValue().getSExtValue();
}

class Planner {
public:
  explicit Planner(Program &program)
      : program(program), plan(program.plan), entry(program.module->lookupSymbol<func::FuncOp>(program.entry)),
        symbols(*program.module) {}

  LogicalResult run() {
    plan.numSizes = program.unknownInputs.size();
    if (program.hasShapes())
      plan.shapes = kernel(symbols.lookup<func::FuncOp>(kShapeFunction));
    for (Operation &op : entry.getBody().front().without_terminator()) {
      auto call = dyn_cast<func::CallOp>(op);
      if (!call)
        continue;
      plan.steps.push_back(
          {kernel(symbols.lookup<func::FuncOp>(call.getCallee())), static_cast<uint32_t>(call.getNumOperands())});
      for (Value operand : call.getOperands()) {
        std::optional<Operand> word = wordOf(operand);
        if (!word)
          return call.emitOpError("has an operand that no plan can hold");
        plan.operands.push_back(*word);
      }
    }
    return computed.empty() ? success() : makeNumbers();
  }

private:
  uint32_t kernel(func::FuncOp function) {
    auto [found, isNew] = kernels.try_emplace(function, static_cast<uint32_t>(program.kernels.size()));
    if (isNew) {
      auto runtime = function->getAttrOfType<StringAttr>(kRuntimeAttr);
      program.kernels.push_back({function.getName().str(), runtime ? runtime.str() : ""});
    }
    return found->second;
  }

  Operand compute(Value value) {
    auto [found, isNew] = computed.try_emplace(value, static_cast<uint32_t>(computed.size()));
    return {From::Computed, found->second, 0};
  }

  std::optional<Operand> wordOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument.getArgNumber());
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return Operand{From::Number, 0, codegen::wordOf(constant.getValue())};
    if (auto global = dyn_cast<memref::GetGlobalOp>(op))
      return Operand{From::Constant, constant(global), 0};
    if (auto view = dyn_cast<memref::ViewOp>(op)) { // of the workspace
      if (std::optional<int64_t> offset = getConstantIntValue(view.getByteShift()))
        return Operand{From::Workspace, 0, *offset};
      return compute(view);
    }
    if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
      return isConstantIntValue(cast.getMixedOffsets()[0], 0) ? wordOf(cast.getSource()) : std::nullopt;
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      SmallVector<int64_t> strides;
      int64_t offset; // from the beginning of the buffer
      bool begins = succeeded(cast<MemRefType>(value.getType()).getStridesAndOffset(strides, offset)) && offset == 0;
      return begins ? wordOf(view.getViewSource()) : std::nullopt;
    }
    if (value.getType().isIntOrIndexOrFloat())
      return compute(value);
    return std::nullopt;
  }

  // The function's arguments are the frame, the inputs, their unknown sizes, the outputs and the workspace.
  std::optional<Operand> ofArgument(unsigned number) {
    if (number == 0)
      return Operand{From::Frame};
    if (number == entry.getNumArguments() - 1)
      return Operand{From::Workspace};
    unsigned index = number - 1;
    if (index < program.numInputs)
      return Operand{From::Input, index};
    if ((index -= program.numInputs) < plan.numSizes)
      return Operand{From::Size, index};
    return Operand{From::Output, static_cast<uint32_t>(index - plan.numSizes)};
  }

  uint32_t constant(memref::GetGlobalOp use) {
    auto global = symbols.lookup<memref::GlobalOp>(use.getName());
    auto [found, isNew] = constants.try_emplace(global, static_cast<uint32_t>(plan.constants.size()));
    if (isNew)
      plan.constants.push_back(bytesOf(cast<DenseElementsAttr>(*global.getInitialValue())));
    return found->second;
  }

  // The function of what is computed: (address of the words, the workspace, the unknown sizes).
  LogicalResult makeNumbers() {
    plan.numComputed = computed.size();
    OpBuilder builder = OpBuilder::atBlockEnd(program.module->getBody());
    Location location = entry.getLoc();
    Type i64 = builder.getI64Type();
    SmallVector<Type> types{MemRefType::get({static_cast<int64_t>(computed.size())}, i64), i64};
    types.append(plan.numSizes, builder.getIndexType());
    auto function = func::FuncOp::create(builder, location, kNumbersFunction, builder.getFunctionType(types, {}));
    function->setAttr(kKernelAttr, builder.getUnitAttr());
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    IRMapping mapping;
    for (BlockArgument size : block->getArguments().drop_front(2))
      mapping.map(entry.getArgument(1 + program.numInputs + size.getArgNumber() - 2), size);
    cloneArithmetic(builder, mapping);
    for (auto [value, number] : computed) {
      auto view = value.getDefiningOp<memref::ViewOp>();
      Value made = mapping.lookupOrNull(view ? view.getByteShift() : value);
      if (!made)
        return emitError(value.getLoc(), "a number of the program follows from something else than sizes");
      if (made.getType().isIndex())
        made = arith::IndexCastOp::create(builder, location, i64, made);
      else if (made.getType().isFloat())
        made = arith::BitcastOp::create(builder, location,
                                        builder.getIntegerType(made.getType().getIntOrFloatBitWidth()), made);
      if (made.getType() != i64)
        made = arith::ExtUIOp::create(builder, location, i64, made);
      if (view)
        made = arith::AddIOp::create(builder, location, made, block->getArgument(1));
      memref::StoreOp::create(builder, location, made, block->getArgument(0),
                              ValueRange{arith::ConstantIndexOp::create(builder, location, number)});
    }
    func::ReturnOp::create(builder, location);
    symbols.insert(function);
    plan.numbers = kernel(function);
    return success();
  }

  // Clones the arithmetic that the computed numbers follow from. A long program has long chains of it.
  void cloneArithmetic(OpBuilder &builder, IRMapping &mapping) {
    SmallVector<Value> wanted;
    for (auto [value, number] : computed) {
      auto view = value.getDefiningOp<memref::ViewOp>();
      wanted.push_back(view ? view.getByteShift() : value);
    }
    llvm::DenseSet<Operation *> needed;
    while (!wanted.empty())
      if (Operation *op = wanted.pop_back_val().getDefiningOp(); op && isArithmetic(op) && needed.insert(op).second)
        llvm::append_range(wanted, op->getOperands());
    for (Operation &op : entry.getBody().front())
      if (needed.contains(&op) &&
          llvm::all_of(op.getOperands(), [&](Value operand) { return mapping.contains(operand); }))
        builder.clone(op, mapping);
  }
  static bool isArithmetic(Operation *op) { return op->getNumRegions() == 0 && isMemoryEffectFree(op); }

  Program &program;
  runtime::Plan &plan;
  func::FuncOp entry;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, uint32_t> kernels, constants;
  llvm::MapVector<Value, uint32_t> computed;
};

} // namespace

LogicalResult makePlan(Program &program) { return Planner(program).run(); }

} // namespace calque::codegen
