#include "codegen/Pipeline.h"
#include "codegen/CheckProgram.h"
#include "codegen/schedule/Nest.h"
#include "ir/Conversion.h"
#include "passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
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

LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> addPasses) {
  PassManager manager(module.getContext());
  manager.enableVerifier(true);
  addPasses(manager);
  return manager.run(module);
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

LogicalResult lowerToLinalg(Program &program) {
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
  LogicalResult fused = runPasses(*program.module, [&](OpPassManager &manager) {
    manager.addNestedPass<func::FuncOp>(createFuseElementwise());
    if (program.hasShapes())
      manager.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
    manager.addPass(createCanonicalizerPass());
    manager.addNestedPass<func::FuncOp>(createShareEqual());
  });
  if (failed(fused) || !program.hasShapes())
    return fused;
  resolveSizes(function, program);
  return runPasses(*program.module, [](OpPassManager &manager) {
    manager.addPass(createCanonicalizerPass());
    manager.addNestedPass<func::FuncOp>(createShareEqual());
  });
}

// Replaces reshapes of buffers by casts with explicit sizes and strides. MLIR's own expansion of unknown sizes is wrong
// in some cases, and its folding would compute each access's place before the reshape, by divisions in the innermost
// loop.
static void castReshapes(func::FuncOp function) {
  SmallVector<Operation *> reshapes;
  function.walk([&](Operation *op) {
    if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      reshapes.push_back(op);
  });
  for (Operation *op : llvm::reverse(reshapes)) {
    if (!op->use_empty()) {
      OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(asCast(builder, op->getResult(0)));
    }
    op->erase();
  }
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
LogicalResult bufferize(Program &program) {
  func::FuncOp function = entryOf(program);
  Block &body = function.getBody().front();
  unsigned numInputs = body.getNumArguments();
  program.numInputs = numInputs - 1 - program.unknownInputs.size();
  if (failed(giveBuffers(program)) || failed(verify(*program.module)))
    return failure();
  if (program.options.optimize && failed(runPasses(*program.module, [](OpPassManager &manager) {
        manager.addPass(createCanonicalizerPass());
        manager.addPass(createCSEPass());
      })))
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
  return runPasses(*program.module, [](OpPassManager &manager) {
    manager.addPass(createLowerAffinePass());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
}

// Turns the program into a list of calls of kernels, and places its buffers.
LogicalResult outline(Program &program) {
  outlineKernels(program);
  if (failed(placeBuffers(program)) || failed(makePlan(program)))
    return failure();
  return verify(*program.module);
}

static bool isKernel(func::FuncOp function) { return function->hasAttr(kKernelAttr); }

// Turns the linalg operations of kernels into vector code, or into plain loops where no schedule fits.
LogicalResult scheduleKernels(ModuleOp kernels, CompileOptions options, llvm::function_ref<void()> changed) {
  for (auto kernel : llvm::make_early_inc_range(kernels.getOps<func::FuncOp>())) {
    if (!isKernel(kernel))
      continue;
    if (options.optimize)
      scheduleLoops(kernel, Target::host());
    if (failed(passScratch(kernel)))
      return failure();
    castReshapes(kernel);
  }
  if (changed)
    changed();
  return runPasses(kernels, [](OpPassManager &manager) {
    manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
    manager.addPass(memref::createFoldMemRefAliasOpsPass());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
}

// Converts all dialects at once. MLIR has a pass for each dialect, but each pass visits the whole program, which takes
// longer than the conversion where the program is small.
static LogicalResult convertToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult lowerKernelsToLLVM(ModuleOp kernels) {
  outlineParallelLoops(kernels);
  if (failed(lowerMath(kernels)))
    return failure();
  LogicalResult vectors = runPasses(kernels, [](OpPassManager &manager) {
    manager.addPass(createSCFToControlFlowPass());
    manager.addPass(memref::createExpandStridedMetadataPass());
    manager.addPass(createLowerAffinePass());
    manager.addPass(createConvertVectorToLLVMPass());
  });
  if (failed(vectors) || failed(convertToLLVM(kernels)))
    return failure();
  return runPasses(kernels, [](OpPassManager &manager) { manager.addPass(createReconcileUnrealizedCastsPass()); });
}

// Shows in the program, which stays as it is for whoever prints it, the memory that kernels have come to ask for.
static void showScratch(Program &program) {
  SymbolTable symbols(*program.module);
  entryOf(program).walk([&](func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (kernel.getNumArguments() == call.getNumOperands())
      return;
    OpBuilder builder(call);
    auto type = cast<MemRefType>(kernel.getArgumentTypes().back());
    call.getOperandsMutable().append(memref::AllocOp::create(builder, call.getLoc(), type).getResult());
  });
}

LogicalResult lowerTo(Program &program, Stage stage) {
  if (stage == Stage::Traced)
    return verify(*program.module);
  if (stage >= Stage::Linalg && (failed(verify(*program.module)) || failed(checkProgram(program))))
    return failure();
  auto differentiated = [](OpPassManager &manager) { manager.addNestedPass<func::FuncOp>(createDifferentiate()); };
  if (failed(verify(*program.module)) || failed(runPasses(*program.module, differentiated)))
    return failure();
  if (stage == Stage::Differentiated)
    return success();
  auto simplified = [optimize = program.options.optimize](OpPassManager &manager) {
    manager.addNestedPass<func::FuncOp>(createStateToValues());
    if (optimize)
      manager.addPass(createCanonicalizerPass());
    manager.addNestedPass<func::FuncOp>(createExpandComposites());
    if (!optimize)
      return;
    manager.addPass(createCSEPass());
    manager.addPass(createCanonicalizerPass());
  };
  if (failed(runPasses(*program.module, simplified)))
    return failure();
  if (stage == Stage::Simplified)
    return success();
  if (failed(lowerToLinalg(program)))
    return failure();
  if (stage == Stage::Linalg)
    return success();
  if (failed(bufferize(program)))
    return failure();
  if (stage == Stage::Bufferized)
    return success();
  if (failed(outline(program)))
    return failure();
  if (stage == Stage::Outlined)
    return success();
  if (failed(scheduleKernels(*program.module, program.options, [&] { showScratch(program); })))
    return failure();
  if (stage == Stage::Scheduled)
    return success();
  // The program itself is its plan, which needs no code.
  for (auto function : llvm::make_early_inc_range(program.module->getOps<func::FuncOp>()))
    if (function.getName() == program.entry || function->hasAttr(kRuntimeAttr))
      function.erase();
  for (auto constant : llvm::make_early_inc_range(program.module->getOps<memref::GlobalOp>()))
    constant.erase();
  return lowerKernelsToLLVM(*program.module);
}

} // namespace calque::codegen
