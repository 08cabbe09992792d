#include "codegen/Pipeline.h"
#include "codegen/Passes.h"
#include "codegen/native/Target.h"
#include "codegen/native/TimeReport.h"
#include "codegen/schedule/Plans.h"
#include "passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace calque::codegen {

void registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<ir::CalqueDialect, affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, plan::PlanDialect, scf::SCFDialect, tensor::TensorDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {

// No block is ever one of several before the stage llvm, so that there is nothing to merge.
std::unique_ptr<Pass> createCanonicalize() {
  return createCanonicalizerPass(
      GreedyRewriteConfig().setUseTopDownTraversal().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled));
}

void differentiate(OpPassManager &manager, const CompileOptions &options) {
  manager.addNestedPass<func::FuncOp>(createSplitComplex());
  if (options.optimize)
    manager.addNestedPass<func::FuncOp>(createSimplifyLoops());
  manager.addNestedPass<func::FuncOp>(createDifferentiate());
  if (options.checkNumerics)
    manager.addNestedPass<func::FuncOp>(createCheckNumerics());
}

void simplify(OpPassManager &manager, const CompileOptions &options) {
  manager.addNestedPass<func::FuncOp>(createWidenElements());
  manager.addNestedPass<func::FuncOp>(createStateToValues());
  if (options.optimize) {
    manager.addNestedPass<func::FuncOp>(createUnrollLoops());
    manager.addPass(createCanonicalize());
  }
  manager.addNestedPass<func::FuncOp>(createExpandComposites());
  if (options.optimize) {
    manager.addNestedPass<func::FuncOp>(createHoistInvariants());
    manager.addNestedPass<func::FuncOp>(createShareEqual());
    manager.addPass(createCanonicalize());
  }
  manager.addNestedPass<func::FuncOp>(createBoxSizes());
}

void lowerToLinalg(OpPassManager &manager, const CompileOptions &options) {
  manager.addPass(createLowerToLinalg({options.optimize}));
  if (!options.optimize)
    return;
  manager.addNestedPass<func::FuncOp>(createRecomputeElementwise());
  manager.addNestedPass<func::FuncOp>(createFuseElementwise());
  manager.addNestedPass<func::FuncOp>(createPackProducts({Target::of(options.cpu).dotsOfBytes}));
  manager.addPass(createResolveSizes());
  manager.addPass(createCanonicalize());
  manager.addNestedPass<func::FuncOp>(createShareEqual());
}

void bufferize(OpPassManager &manager, const CompileOptions &options) {
  manager.addPass(createBufferize());
  manager.addPass(createPassPointers());
  manager.addPass(createResolveBufferSizes());
  if (options.optimize) {
    manager.addPass(createCanonicalize());
    manager.addPass(createCSEPass());
  }
  manager.addPass(createLowerCopies());
  if (options.optimize)
    manager.addPass(createAssignInPlace());
}

void outline(OpPassManager &manager, const CompileOptions &options) {
  if (options.optimize)
    manager.addPass(createGroupKernels());
  manager.addPass(createOutlineKernels({options.optimize}));
  if (options.optimize)
    manager.addPass(createFormRounds());
  manager.addPass(createPlaceBuffers());
  manager.addPass(createMakeNumbers());
}

void planKernels(OpPassManager &manager, const CompileOptions &options) {
  manager.addPass(createSetTarget({runtime::nameOf(options.cpu)}));
  manager.addPass(createSplitLongKernels());
  if (options.optimize)
    manager.addNestedPass<func::FuncOp>(createPlanKernels());
}

void schedule(OpPassManager &manager, const CompileOptions &options) {
  if (options.optimize)
    manager.addNestedPass<func::FuncOp>(createScheduleLoops());
  manager.addPass(createPassScratch());
  // Function by function: each is in the CPU's caches from the first of these passes to the last.
  manager.addNestedPass<func::FuncOp>(createCastReshapes());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addNestedPass<func::FuncOp>(memref::createFoldMemRefAliasOpsPass());
  manager.addNestedPass<func::FuncOp>(createCanonicalize());
  manager.addNestedPass<func::FuncOp>(createCSEPass());
}

void lowerToLLVM(OpPassManager &manager) {
  manager.addPass(createKeepKernels());
  manager.addPass(createOutlineParallelLoops());
  manager.addPass(createLowerMath());
  manager.addNestedPass<func::FuncOp>(createSCFToControlFlowPass());
  manager.addNestedPass<func::FuncOp>(memref::createExpandStridedMetadataPass());
  manager.addNestedPass<func::FuncOp>(createLowerAffinePass());
  manager.addPass(createConvertToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

// Adds the passes that make a stage of the one before it.
void addStage(OpPassManager &manager, Stage stage, const CompileOptions &options) {
  switch (stage) {
  case Stage::Differentiated:
    return differentiate(manager, options);
  case Stage::Simplified:
    return simplify(manager, options);
  case Stage::Linalg:
    return lowerToLinalg(manager, options);
  case Stage::Bufferized:
    return bufferize(manager, options);
  case Stage::Outlined:
    return outline(manager, options);
  case Stage::Planned:
    return planKernels(manager, options);
  case Stage::Scheduled:
    return schedule(manager, options);
  case Stage::LLVM:
    return lowerToLLVM(manager);
  case Stage::Traced:
  case Stage::Object:
  case Stage::Schedule:
    return;
  }
}

} // namespace

SmallVector<Stage> addStages(OpPassManager &manager, Stage from, Stage to, const CompileOptions &options) {
  SmallVector<Stage> stages;
  if (from < Stage::Linalg && to >= Stage::Linalg)
    manager.addPass(createCheckProgram({from == Stage::Simplified}));
  stages.resize(manager.size(), from);
  for (const StageName &each : kStages) {
    if (each.stage <= from || each.stage > to)
      continue;
    addStage(manager, each.stage, options);
    stages.resize(manager.size(), each.stage);
  }
  return stages;
}

#ifdef NDEBUG
static constexpr bool kHasAssertions = false;
#else
static constexpr bool kHasAssertions = true;
#endif

LogicalResult Pipelines::run(ModuleOp module, Stage from, Stage to, const CompileOptions &options) {
  if (from >= Stage::Linalg || to < Stage::Linalg)
    return runWithParts(module, from, from, to, options);
  bool branches =
      module
          .walk([](Operation *op) {
            return isa<ir::CondOp, ir::WhileOp, ir::OnEntriesOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (!branches)
    return runAlone(module, from, to, options);
  // Parts are made on the way, at the stage simplified.
  if (failed(runAlone(module, from, Stage::Linalg, options)))
    return failure();
  return runWithParts(module, Stage::Linalg, Stage::Simplified, to, options);
}

LogicalResult Pipelines::runWithParts(ModuleOp module, Stage from, Stage fromOfParts, Stage to,
                                      const CompileOptions &options) {
  SmallVector<ModuleOp> parts(module.getOps<ModuleOp>());
  for (ModuleOp part : parts)
    part->remove();
  LogicalResult done = from < to ? runAlone(module, from, to, options) : success();
  for (ModuleOp part : parts) {
    if (succeeded(done) && fromOfParts < to)
      done = run(part, fromOfParts, to, options);
    module.getBody()->push_back(part);
  }
  return done;
}

// Verifies a module but for its parts, which are verified when they are compiled themselves: to verify what is inside
// of them at each level would take time that grows with the cube of their depth.
static LogicalResult verifyWithoutParts(ModuleOp module) {
  return success(
      llvm::all_of(*module.getBody(), [](Operation &op) { return isa<ModuleOp>(op) || succeeded(verify(&op)); }));
}

LogicalResult Pipelines::runAlone(ModuleOp module, Stage from, Stage to, const CompileOptions &options) {
  std::unique_ptr<PassManager> &manager =
      made[{from, to, options.optimize, options.checkNumerics, options.cpu, options.timing}];
  if (!manager) {
    manager = std::make_unique<PassManager>(&context);
    // To verify after each pass takes a third of the time of kernels' passes, and half of that of programs.
    manager->enableVerifier(verifyEach || kHasAssertions);
    SmallVector<Stage> stages = addStages(*manager, from, to, options);
    if (options.timing)
      manager->addInstrumentation(TimeReport::ofProcess().instrumentation(stages));
  }
  if (failed(manager->run(module)))
    return failure();
  // A kernel is part of a program that was verified, and LLVM verifies what becomes of it.
  return verifyEach || kHasAssertions || from >= Stage::Outlined ? success() : verifyWithoutParts(module);
}

} // namespace calque::codegen
