#include "codegen/Pipeline.h"
#include "codegen/CheckProgram.h"
#include "codegen/Passes.h"
#include "codegen/schedule/Nest.h"
#include "ir/Conversion.h"
#include "passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

void registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<ir::CalqueDialect, arith::ArithDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {

func::FuncOp entryOf(Program &program) { return program.module->lookupSymbol<func::FuncOp>(program.entry); }

//===-- Passes, by stage ------------------------------------------------------------------------===//

void addDifferentiated(OpPassManager &manager) { manager.addNestedPass<func::FuncOp>(createDifferentiate()); }

void addSimplified(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createStateToValues());
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createExpandComposites());
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
}

void addExpanded(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createStateToValues());
  manager.addNestedPass<func::FuncOp>(createExpandComposites());
}

void addSharing(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createShareEqual());
}

void addFusion(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createFuseElementwise());
  addSharing(manager);
}

void addFusionOfUnknownSizes(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createFuseElementwise());
  manager.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addSharing(manager);
}

void addCleaning(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void addCleaningOfSizes(OpPassManager &manager) {
  manager.addPass(createLowerAffinePass());
  addCleaning(manager);
}

// In place of the passes for kernels of programs that are not optimised.
void addPlainLoops(OpPassManager &manager) {
  manager.addPass(createPassScratch());
  manager.addNestedPass<func::FuncOp>(createCastReshapes());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createFoldMemRefAliasOpsPass());
  addCleaning(manager);
}

void addScheduling(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createScheduleLoops());
  addPlainLoops(manager);
}

void addLoweringToLLVM(OpPassManager &manager) {
  manager.addPass(createOutlineParallelLoops());
  manager.addPass(createLowerMath());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

// The size of an unknown dimension of an input, as a value at the function's front. `firstSize` is the number of the
// argument that holds the first unknown size.
Value inputSize(Program &program, Block &body, unsigned firstSize, unsigned input, int64_t dimension,
                OpBuilder &front) {
  for (auto [unknown, size] : llvm::zip_equal(program.unknownInputs, program.inputSizes))
    if (unknown.index == input && static_cast<int64_t>(unknown.dimension) == dimension)
      return size.known
                 ? arith::ConstantIndexOp::create(front, body.getArgument(firstSize).getLoc(), *size.known).getResult()
                 : body.getArgument(firstSize + size.number);
  return {};
}

// Replaces tensor.dim, which linalg's patterns emit, by the sizes that the function's front computes.
void resolveSizes(func::FuncOp function, Program &program) {
  Block &body = function.getBody().front();
  unsigned numTensors = body.getNumArguments() - program.unknownInputs.size();
  function.walk([&](tensor::DimOp dim) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    if (!argument || argument.getOwner() != &body || !dim.getConstantIndex())
      return;
    OpBuilder builder(dim);
    if (Value size =
            inputSize(program, body, numTensors, argument.getArgNumber() - 1, *dim.getConstantIndex(), builder))
      dim.replaceAllUsesWith(size);
  });
}

} // namespace

Pipelines::Pipelines(MLIRContext &context) : context(context) {}
Pipelines::~Pipelines() = default;

LogicalResult Pipelines::run(ModuleOp module, AddPasses addPasses) {
  std::unique_ptr<PassManager> &manager = made[addPasses];
  if (!manager) {
    manager = std::make_unique<PassManager>(&context);
    manager->enableVerifier(true);
    addPasses(*manager);
  }
  return manager->run(module);
}

LogicalResult lowerToLinalg(Program &program, Pipelines &pipelines) {
  func::FuncOp function = entryOf(program);
  if (auto assigned = function->getAttrOfType<DenseI64ArrayAttr>(kAssignedAttr))
    program.assigned.assign(assigned.asArrayRef().begin(), assigned.asArrayRef().end());

  Value frame =
      function.getBody().insertArgument(0u, LLVM::LLVMPointerType::get(function.getContext()), function.getLoc());
  LoweringContext context{*program.module, frame, Sizes(function)};
  for (const Sizes::Symbol &symbol : context.sizes.symbols)
    program.unknownInputs.push_back({symbol.argument, static_cast<size_t>(symbol.dimension)});
  SmallVector<Type> results(function.getResultTypes());
  RewritePatternSet patterns(function.getContext());
  populateLowerings(patterns, context);
  walkAndApplyPatterns(function, std::move(patterns));
  if (context.refused)
    return failure();
  WalkResult left = function.walk([](ir::SchemaOpInterface op) {
    op->emitOpError("has no lowering");
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  if (program.hasShapes())
    makeShapeFunction(program, context, results);
  program.sites = std::move(context.sites);
  Operation *terminator = function.getBody().front().getTerminator();
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
  if (!program.options.optimize)
    return success();
  if (!program.hasShapes())
    return pipelines.run(*program.module, addFusion);
  if (failed(pipelines.run(*program.module, addFusionOfUnknownSizes)))
    return failure();
  resolveSizes(function, program);
  return pipelines.run(*program.module, addSharing);
}

// Turns arguments of unknown sizes into bare pointers. Their sizes are index arguments, or follow from those.
static void passPointers(Program &program, unsigned numInputs) {
  func::FuncOp function = entryOf(program);
  Block &body = function.getBody().front();
  OpBuilder front = OpBuilder::atBlockBegin(&body);
  IRMapping mapping;
  unsigned firstSize = numInputs - program.unknownInputs.size();
  for (BlockArgument size : body.getArguments().slice(firstSize, program.unknownInputs.size()))
    mapping.map(size, size);
  auto pass = [&](BlockArgument argument, function_ref<Value(size_t dimension)> sizeOf) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.hasStaticShape())
      return;
    SizeList sizes;
    for (auto [dimension, size] : llvm::enumerate(type.getShape()))
      sizes.push_back(ShapedType::isDynamic(size) ? Size(sizeOf(dimension)) : Size(front.getIndexAttr(size)));
    // The convention for bare pointers needs known sizes; nothing reads these.
    argument.setType(MemRefType::get({1}, type.getElementType()));
    SmallVector<OpOperand *> uses = llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
    Value view = contiguous(front, argument, type, sizes);
    for (OpOperand *use : uses)
      use->set(view);
  };
  for (unsigned number = 1; number < firstSize; ++number)
    pass(body.getArgument(number),
         [&](size_t dimension) { return inputSize(program, body, firstSize, number - 1, dimension, front); });
  Operation *terminator = body.getTerminator();
  for (unsigned number = numInputs; number < body.getNumArguments(); ++number)
    pass(body.getArgument(number), [&](size_t dimension) -> Value {
      for (auto [at, unknown] : llvm::enumerate(program.unknownOutputs))
        if (unknown.index == number - numInputs && unknown.dimension == dimension)
          return cloneSize(front, terminator->getOperand(at), mapping);
      return {};
    });
  terminator->setOperands({});
}

// Turns results into destinations: memref arguments after the inputs, into which the last operations write.
LogicalResult bufferize(Program &program, Pipelines &pipelines) {
  func::FuncOp function = entryOf(program);
  Block &body = function.getBody().front();
  unsigned numInputs = body.getNumArguments();
  program.numInputs = numInputs - 1 - program.unknownInputs.size();
  if (failed(giveBuffers(program)) || failed(verify(*program.module)))
    return failure();
  if (program.options.optimize && failed(pipelines.run(*program.module, addCleaning)))
    return failure();
  // The strides of an empty memref are none that a bare pointer can have. Its elements are never accessed, so any
  // buffer takes its place inside of the function.
  OpBuilder front = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() != 0 || type.getRank() == 1)
      continue;
    argument.replaceAllUsesWith(
        memref::AllocOp::create(front, argument.getLoc(), MemRefType::get(type.getShape(), type.getElementType())));
    argument.setType(MemRefType::get({0}, type.getElementType()));
  }
  if (program.hasShapes())
    passPointers(program, numInputs);
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  // MLIR lowers a copy between strided buffers to a call of its runtime library. A linalg operation becomes a kernel.
  program.module->walk([](memref::CopyOp copy) {
    OpBuilder copyBuilder(copy);
    linalg::makeMemRefCopyOp(copyBuilder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
  if (!program.hasShapes())
    return success();
  // Replaces memref.dim by arithmetic on the sizes of arguments, so that equal sizes are one value.
  function.walk([&](memref::DimOp dim) {
    OpBuilder sizeBuilder(dim);
    std::optional<int64_t> dimension = dim.getConstantIndex();
    if (!dimension)
      return;
    Size size = sizeOf(sizeBuilder, dim.getSource(), *dimension);
    if (auto value = dyn_cast<Value>(size); !value || !value.getDefiningOp<memref::DimOp>())
      dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(sizeBuilder, dim.getLoc(), size));
  });
  return pipelines.run(*program.module, addCleaningOfSizes);
}

// Turns the program into a list of calls of kernels, and places its buffers.
LogicalResult outline(Program &program) {
  outlineKernels(program);
  if (failed(placeBuffers(program)) || failed(makePlan(program)))
    return failure();
  return verify(*program.module);
}

LogicalResult scheduleKernels(ModuleOp kernels, CompileOptions options, Pipelines &pipelines) {
  setTarget(kernels, options.cpu);
  return pipelines.run(kernels, options.optimize ? addScheduling : addPlainLoops);
}

LogicalResult lowerKernelsToLLVM(ModuleOp kernels, Pipelines &pipelines) {
  return pipelines.run(kernels, addLoweringToLLVM);
}

LogicalResult lowerTo(Program &program, Stage stage, Pipelines &pipelines) {
  if (stage == Stage::Traced)
    return verify(*program.module);
  if (stage >= Stage::Linalg && (failed(verify(*program.module)) || failed(checkProgram(program))))
    return failure();
  if (failed(verify(*program.module)) || failed(pipelines.run(*program.module, addDifferentiated)))
    return failure();
  if (stage == Stage::Differentiated)
    return success();
  if (failed(pipelines.run(*program.module, program.options.optimize ? addSimplified : addExpanded)))
    return failure();
  if (stage == Stage::Simplified)
    return success();
  if (failed(lowerToLinalg(program, pipelines)))
    return failure();
  if (stage == Stage::Linalg)
    return success();
  if (failed(bufferize(program, pipelines)))
    return failure();
  if (stage == Stage::Bufferized)
    return success();
  if (failed(outline(program)))
    return failure();
  if (stage == Stage::Outlined)
    return success();
  if (failed(scheduleKernels(*program.module, program.options, pipelines)))
    return failure();
  if (stage == Stage::Scheduled)
    return success();
  // The program itself is its plan, which needs no code.
  for (auto function : llvm::make_early_inc_range(program.module->getOps<func::FuncOp>()))
    if (function.getName() == program.entry || function->hasAttr(kRuntimeAttr))
      function.erase();
  for (auto constant : llvm::make_early_inc_range(program.module->getOps<memref::GlobalOp>()))
    constant.erase();
  return lowerKernelsToLLVM(*program.module, pipelines);
}

} // namespace calque::codegen
