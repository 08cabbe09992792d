#include "codegen/Pipeline.h"
#include "ir/Conversion.h"
#include "passes/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
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
  registry.insert<ir::CalqueDialect, arith::ArithDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {

func::FuncOp entryOf(Program &program) { return program.module->lookupSymbol<func::FuncOp>(program.entry); }

LogicalResult runPasses(Program &program, llvm::function_ref<void(OpPassManager &)> addPasses) {
  PassManager manager(program.module->getContext());
  manager.enableVerifier(true);
  addPasses(manager);
  return manager.run(*program.module);
}

// Refuses what code generation can't do yet, by the operation at which it shows, or by the argument that has no other use
// than to be returned.
LogicalResult requireKnownSizes(func::FuncOp function) {
  auto unknown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  WalkResult result = function.walk([&](Operation *op) {
    if (op == function.getOperation() || isa<func::ReturnOp>(op))
      return WalkResult::advance();
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, op->getOperandTypes());
    for (Region &region : op->getRegions())
      llvm::append_range(types, region.getArgumentTypes());
    auto found = llvm::find_if(types, unknown);
    if (found == types.end())
      return WalkResult::advance();
    op->emitOpError("has the unknown size of ") << *found << ", and code generation needs known sizes";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  for (BlockArgument argument : function.getArguments())
    if (unknown(argument.getType()))
      return emitError(argument.getLoc()) << "argument " << argument.getArgNumber() << " of '" << function.getName() << "' has the unknown size of "
                                          << argument.getType() << ", and code generation needs known sizes";
  return success();
}

} // namespace

LogicalResult lowerToLinalg(Program &program) {
  func::FuncOp function = entryOf(program);
  if (failed(requireKnownSizes(function)))
    return failure();
  if (auto assigned = function->getAttrOfType<DenseI64ArrayAttr>(kAssignedAttr))
    program.assigned.assign(assigned.asArrayRef().begin(), assigned.asArrayRef().end());

  LoweringContext context{*program.module, function.getBody().insertArgument(0u, LLVM::LLVMPointerType::get(function.getContext()), function.getLoc()), {}};
  function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), function.getResultTypes()));
  RewritePatternSet patterns(function.getContext());
  populateElementwiseLowering(patterns, context);
  populateStructuredLowering(patterns, context);
  populateMovementLowering(patterns, context);
  populateEffectsLowering(patterns, context);
  walkAndApplyPatterns(function, std::move(patterns));
  program.sites = std::move(context.sites);
  WalkResult left = function.walk([](ir::SchemaOpInterface op) {
    op->emitOpError("has no lowering");
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  if (!program.options.optimize)
    return success();
  return runPasses(program, [](OpPassManager &manager) {
    manager.addNestedPass<func::FuncOp>(createFuseElementwise());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
}

// Gives every use of a fresh or filled tensor its own, and every insertion into a tensor with others in it. CSE merges equal
// ones; bufferization would then give two results one destination, and the second would overwrite the first.
static void separateDestinations(func::FuncOp function) {
  auto separateUses = [](Operation *op, ArrayRef<OpOperand *> uses) {
    for (OpOperand *use : uses.drop_front(std::min<size_t>(uses.size(), 1))) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*op)->getResult(0));
    }
  };
  auto separate = [&](Operation *op) { separateUses(op, llvm::map_to_vector(op->getUses(), [](OpOperand &use) { return &use; })); };
  SmallVector<tensor::InsertSliceOp> inserts;
  function.walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
  for (tensor::InsertSliceOp insert : llvm::reverse(inserts)) { // what is cloned inserts into what stands before it
    SmallVector<OpOperand *> destinations;
    for (OpOperand &use : insert->getUses())
      if (auto next = dyn_cast<tensor::InsertSliceOp>(use.getOwner()); next && use == next.getDestMutable())
        destinations.push_back(&use);
    separateUses(insert, destinations);
  }
  function.walk([&](linalg::FillOp fill) { separate(fill); });
  function.walk([&](tensor::EmptyOp empty) { separate(empty); });
}

// Results become destinations: memref arguments after the inputs, into which the last operations write.
LogicalResult bufferize(Program &program) {
  func::FuncOp function = entryOf(program);
  separateDestinations(function);
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  for (unsigned i = 1; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, "bufferization.writable", builder.getBoolAttr(false));
  for (Value result : terminator->getOperands()) {
    auto type = cast<RankedTensorType>(result.getType());
    Value destination = body.addArgument(MemRefType::get(type.getShape(), type.getElementType()), function.getLoc());
    auto store = bufferization::MaterializeInDestinationOp::create(builder, terminator->getLoc(), Type(), result, destination);
    store.setRestrict(true);
    store.setWritable(true);
  }
  terminator->setOperands({});
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  bool optimize = program.options.optimize;
  LogicalResult bufferized = runPasses(program, [optimize](OpPassManager &manager) {
    if (optimize)
      manager.addPass(bufferization::createEmptyTensorEliminationPass());
    bufferization::OneShotBufferizePassOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
    manager.addPass(bufferization::createOneShotBufferizePass(options));
    if (!optimize)
      return;
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
  if (failed(bufferized))
    return failure();
  // A memref without elements has no strides that a bare pointer could stand for. Nothing is ever read from it or written
  // to it, so that any buffer will do inside.
  OpBuilder front = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getNumElements() != 0 || type.getRank() == 1)
      continue;
    argument.replaceAllUsesWith(memref::AllocOp::create(front, argument.getLoc(), MemRefType::get(type.getShape(), type.getElementType())));
    argument.setType(MemRefType::get({0}, type.getElementType()));
  }
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  // A copy between strided buffers would become a call of a library; as a loop it is vectorised like the others.
  program.module->walk([](memref::CopyOp copy) {
    OpBuilder copyBuilder(copy);
    linalg::makeMemRefCopyOp(copyBuilder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
  return success();
}

// Linalg operations become kernels, and those that no kernel fits plain loops; intermediate buffers find their place.
LogicalResult schedule(Program &program) {
  if (program.options.optimize)
    scheduleLoops(entryOf(program), Target::host());
  LogicalResult lowered = runPasses(program, [](OpPassManager &manager) {
    manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
    manager.addPass(memref::createFoldMemRefAliasOpsPass());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
  return failed(lowered) ? failure() : placeBuffers(program);
}

LogicalResult lowerToLLVM(Program &program) {
  // The users' name may be that of a function of libm, which the code calls by name.
  func::FuncOp function = entryOf(program);
  program.entry = "calque_" + program.entry;
  function.setName(program.entry);
  outlineParallelLoops(program);
  if (failed(lowerMath(program)))
    return failure();
  return runPasses(program, [](OpPassManager &manager) {
    manager.addPass(createSCFToControlFlowPass());
    manager.addPass(memref::createExpandStridedMetadataPass());
    manager.addPass(createLowerAffinePass());
    manager.addPass(createConvertVectorToLLVMPass());
    manager.addPass(createConvertMathToLLVMPass());
    manager.addPass(createFinalizeMemRefToLLVMConversionPass());
    ConvertFuncToLLVMPassOptions options;
    options.useBarePtrCallConv = true;
    manager.addPass(createConvertFuncToLLVMPass(options));
    manager.addPass(createConvertControlFlowToLLVMPass());
    manager.addPass(createArithToLLVMConversionPass());
    manager.addPass(createReconcileUnrealizedCastsPass());
  });
}

LogicalResult lowerTo(Program &program, Stage stage) {
  if (stage == Stage::Traced)
    return verify(*program.module);
  auto differentiated = [](OpPassManager &manager) { manager.addNestedPass<func::FuncOp>(createDifferentiate()); };
  if (failed(verify(*program.module)) || failed(runPasses(program, differentiated)))
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
  if (failed(runPasses(program, simplified)))
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
  if (failed(schedule(program)))
    return failure();
  if (stage == Stage::Scheduled)
    return success();
  return lowerToLLVM(program);
}

} // namespace calque::codegen
