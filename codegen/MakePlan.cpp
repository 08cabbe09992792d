#include "codegen/MakePlan.h"

#include "codegen/Lowering.h"
#include "codegen/Pipeline.h"
#include "codegen/PlanWords.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cstring>

using namespace mlir;

namespace calque::codegen {

// The bytes of a constant, in the order of its elements.
static std::vector<std::byte> bytesOf(DenseElementsAttr constant) {
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

FailureOr<ProgramPlan> planIn(ModuleOp module) {
  FailureOr<Program> program = programIn(module);
  if (failed(program))
    return failure();
  FailureOr<ProgramInterface> interface = interfaceOf(*program);
  if (failed(interface))
    return failure();
  ProgramPlan result{*std::move(interface), {}, {}};
  runtime::Plan &plan = result.plan;
  SymbolTable symbols(module);
  llvm::DenseMap<Operation *, uint32_t> numbers;
  auto kernel = [&](func::FuncOp function) {
    auto [found, isNew] = numbers.try_emplace(function, static_cast<uint32_t>(result.kernels.size()));
    if (isNew) {
      auto runtime = function->getAttrOfType<StringAttr>(kRuntimeAttr);
      result.kernels.push_back({function, runtime ? runtime.str() : ""});
    }
    return found->second;
  };

  plan.numSizes = program->sizes.inputs.size();
  if (auto shapes = symbols.lookup<func::FuncOp>(kShapeFunction))
    plan.shapes = kernel(shapes);
  PlanWords words(program->function, program->sizes);
  LogicalResult steps = words.forEachStep([&](func::CallOp call, ArrayRef<runtime::Operand> operands) {
    plan.steps.push_back(
        {kernel(symbols.lookup<func::FuncOp>(call.getCallee())), static_cast<uint32_t>(operands.size())});
    plan.operands.insert(plan.operands.end(), operands.begin(), operands.end());
  });
  if (failed(steps))
    return failure();
  for (auto [name, number] : words.constants()) {
    auto global = symbols.lookup<memref::GlobalOp>(name);
    plan.constants.push_back(bytesOf(cast<DenseElementsAttr>(*global.getInitialValue())));
  }
  plan.writesInputs = !result.interface.inPlace.empty();
  plan.numComputed = words.computed().size();
  if (auto function = symbols.lookup<func::FuncOp>(kNumbersFunction))
    plan.numbers = kernel(function);
  return result;
}

} // namespace calque::codegen
