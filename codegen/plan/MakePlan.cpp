#include "codegen/plan/MakePlan.h"

#include "codegen/KernelAttributes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/plan/PlanWords.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cstring>

using namespace mlir;

namespace calque::codegen {

// The bytes of a constant, in the order of its elements.
static std::vector<std::byte> bytesOf(DenseElementsAttr constant) {
  const ir::ElementType element(constant.getElementType());
  size_t count = constant.getNumElements(), size = element.bytes();
  std::vector<std::byte> bytes(count * size);
  if (bytes.empty())
    return bytes;
  if (element.isBool()) {
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

namespace {

// Collects the kernels and the sites of a program and its parts.
class PlanMaker {
public:
  explicit PlanMaker(ProgramPlan &result) : result(result) {}

  FailureOr<runtime::Plan> planOf(ModuleOp module, ProgramInterface &interface) {
    FailureOr<Program> program = programIn(module);
    if (failed(program))
      return failure();
    FailureOr<ProgramInterface> found = interfaceOf(*program);
    if (failed(found))
      return failure();
    interface = *std::move(found);
    runtime::Plan plan;
    SymbolTable symbols(module);
    plan.numSizes = program->sizes.inputs.size();
    if (auto shapes = symbols.lookup<func::FuncOp>(kShapeFunction))
      plan.shapes = kernel(shapes);
    PlanWords words(program->function, program->sizes);
    Attribute round;
    LogicalResult steps = words.forEachStep([&](func::CallOp call, ArrayRef<runtime::Operand> operands) {
      Attribute own = call->getAttr(kRoundAttr);
      if (own && own == round)
        ++plan.rounds.back().count;
      else if (own)
        plan.rounds.push_back({static_cast<uint32_t>(plan.steps.size()), 1});
      round = own;
      auto cycles = call->getAttrOfType<IntegerAttr>(kCyclesAttr);
      plan.steps.push_back({kernel(symbols.lookup<func::FuncOp>(call.getCallee())),
                            static_cast<uint32_t>(operands.size()), cycles ? static_cast<uint32_t>(cycles.getInt()) : 0,
                            call->hasAttr(kFollowsAttr)});
      plan.operands.insert(plan.operands.end(), operands.begin(), operands.end());
    });
    if (failed(steps))
      return failure();
    for (auto [name, number] : words.constants()) {
      auto global = symbols.lookup<memref::GlobalOp>(name);
      plan.constants.push_back(bytesOf(cast<DenseElementsAttr>(*global.getInitialValue())));
    }
    plan.writesInputs = !interface.inPlace.empty() && !module->hasAttr(kPartAttr);
    plan.numComputed = words.computed().size();
    if (auto function = symbols.lookup<func::FuncOp>(kNumbersFunction))
      plan.numbers = kernel(function);
    return plan;
  }

  // Adds the plans of a module's parts. Their sites come behind the sites so far.
  LogicalResult addParts(ModuleOp module, runtime::Plan &plan) {
    for (ModuleOp part : module.getOps<ModuleOp>()) {
      ProgramInterface interface;
      FailureOr<runtime::Plan> planned = planOf(part, interface);
      if (failed(planned))
        return failure();
      runtime::PlanPart &added = plan.parts.emplace_back();
      added.workspaceBytes = interface.workspaceBytes;
      added.numOutputSizes = interface.unknownOutputs.size();
      added.inPlace.assign(interface.inPlace.begin(), interface.inPlace.end());
      added.firstSite = static_cast<int32_t>(result.interface.sites.size());
      for (Site &site : interface.sites) {
        for (Site::Size &size : site.sizes) // a part's inputs are operands of the operation
          if (size.argument >= 0)
            size = {-1, size.argument, size.dimension};
        result.interface.sites.push_back(std::move(site));
      }
      added.plan = *std::move(planned);
      if (failed(addParts(part, added.plan)))
        return failure();
    }
    return success();
  }

private:
  uint32_t kernel(func::FuncOp function) {
    auto [found, isNew] = numbers.try_emplace(function, static_cast<uint32_t>(result.kernels.size()));
    if (isNew) {
      auto runtime = function->getAttrOfType<StringAttr>(kRuntimeAttr);
      result.kernels.push_back({function, runtime ? runtime.str() : ""});
    }
    return found->second;
  }

  ProgramPlan &result;
  llvm::DenseMap<Operation *, uint32_t> numbers;
};

} // namespace

FailureOr<ProgramPlan> planIn(ModuleOp module) {
  ProgramPlan result;
  PlanMaker maker(result);
  FailureOr<runtime::Plan> plan = maker.planOf(module, result.interface);
  if (failed(plan))
    return failure();
  result.plan = *std::move(plan);
  if (failed(maker.addParts(module, result.plan)))
    return failure();
  return result;
}

} // namespace calque::codegen
