#include "codegen/lowering/CheckProgram.h"

#include "codegen/KernelAttributes.h"
#include "codegen/Passes.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/ShapeFunction.h"
#include "codegen/native/Target.h"
#include "codegen/plan/ProgramAttributes.h"
#include "ir/Conversion.h"
#include "ir/Import.h"
#include "passes/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_CHECKPROGRAM
#define GEN_PASS_DEF_CHECKSTAGE
#include "codegen/Passes.h.inc"

namespace {

// Parts take and give stacks, and a program gives results of late size as stacks; nothing else that is compiled does.
LogicalResult checkTypes(func::FuncOp function, TypeRange types, StringRef what,
                         function_ref<bool(size_t)> mayBeStack) {
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getEncoding() || !ir::toSchema(type) ||
        (isa<ir::StackType>(tensor.getElementType()) && !mayBeStack(i)))
      return function.emitError("function '")
             << function.getName() << "': " << what << " " << i << " is " << type
             << "; what is compiled takes and gives ranked tensors of i1, i32, i64, f32 and f64";
  }
  return success();
}

LogicalResult checkAlone(func::FuncOp function) {
  if (function.getName().starts_with("calque_") || function.getName().starts_with("calque."))
    return function.emitError("function '")
           << function.getName() << "': names that begin with calque_ or calque. are the compiler's own";
  for (Operation &op : *function->getBlock())
    if (&op != function.getOperation())
      return op.emitError("stands beside function '")
             << function.getName() << "', and one function is compiled at a time";
  return success();
}

// Programs come from recordings: straight-line code of the dialect, with regions that end in vector.yield.
LogicalResult checkOperations(func::FuncOp function) {
  auto isKnown = [&](Operation *op) {
    if (isa<func::ReturnOp>(op))
      return op->getParentOp() == function.getOperation();
    return isa<ir::SchemaOpInterface>(op) ||
           (isa<vector::YieldOp>(op) && isa<ir::SchemaOpInterface>(op->getParentOp()));
  };
  WalkResult result = function.getBody().walk([&](Operation *op) {
    if (isKnown(op))
      return WalkResult::advance();
    op->emitOpError("is no operation of calque, and what is compiled has no others");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

// The attributes that passes before linalg leave.
LogicalResult checkAttributes(func::FuncOp function, bool simplified) {
  // What passes leave for each other would be believed.
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    if (attribute.getName() != ir::kVariablesAttr &&
        (!simplified || (attribute.getName() != kAssignedAttr && attribute.getName() != kLateAttr)))
      return function.emitError("function '") << function.getName() << "' has attribute '"
                                              << attribute.getName().getValue() << "', which only the compiler sets";
  if (function.getArgAttrsAttr() || function.getResAttrsAttr())
    return function.emitError("function '")
           << function.getName() << "' has attributes of arguments or results, which only the compiler sets";
  return success();
}

bool isOfKernel(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && isKernel(function);
}

template <typename T> bool has(Operation *op) {
  auto is = [](Type type) { return isa<T>(type); };
  if (auto function = dyn_cast<func::FuncOp>(op))
    return llvm::any_of(function.getArgumentTypes(), is) || llvm::any_of(function.getResultTypes(), is);
  return llvm::any_of(op->getOperandTypes(), is) || llvm::any_of(op->getResultTypes(), is);
}

// Whether an operation is no more there at a stage.
bool isGoneAt(Stage stage, Operation *op) {
  if (isa<ir::SchemaOpInterface>(op) || (stage >= Stage::Bufferized && has<TensorType>(op)))
    return true;
  // Kernels are planned for a target.
  if (stage == Stage::Planned && isa<ModuleOp>(op) && !op->hasAttr(kTargetAttr))
    return true;
  if (isa<linalg::LinalgOp>(op))
    return stage >= Stage::Scheduled || (stage >= Stage::Outlined && !isOfKernel(op));
  return stage >= Stage::LLVM && isa<func::FuncOp>(op);
}

// Whether an operation is not there before a stage.
bool comesBehind(Stage stage, Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op); function && isKernel(function) && stage < Stage::Outlined)
    return true;
  if (isa<ModuleOp>(op) && op->hasAttr(kTargetAttr))
    return stage < Stage::Planned;
  if (stage < Stage::Scheduled && (op->hasAttr(kNestsAttr) || op->hasAttr(kGrainAttr)))
    return true;
  // Calls of the runtime take memory from the first.
  if (stage < Stage::Bufferized && isa<linalg::LinalgOp>(op) && has<BaseMemRefType>(op))
    return true;
  return stage < Stage::LLVM && isa<LLVM::LLVMFuncOp>(op) && !cast<LLVM::LLVMFuncOp>(op).isExternal();
}

struct CheckStage : impl::CheckStageBase<CheckStage> {
  using CheckStageBase::CheckStageBase;
  void runOnOperation() override {
    std::optional<Stage> at = stageNamed(stage);
    if (!at)
      return;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ModuleOp>(op) && op != getOperation())
        return WalkResult::skip(); // a part, which may be at an earlier stage
      if (auto function = dyn_cast<func::FuncOp>(op); function && function.getName() == kShapeFunction)
        return WalkResult::skip(); // a kernel from the first
      if (isGoneAt(*at, op))
        op->emitOpError("is of a stage before '") << stage << "', which the file is said to be at";
      else if (comesBehind(*at, op))
        op->emitOpError("is of a stage behind '") << stage << "', which the file is said to be at";
      else
        return WalkResult::advance();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

struct CheckProgram : impl::CheckProgramBase<CheckProgram> {
  using CheckProgramBase::CheckProgramBase;
  void runOnOperation() override {
    FailureOr<func::FuncOp> function = tracedProgramIn(getOperation());
    if (failed(function) || failed(checkAlone(*function)) || failed(checkAttributes(*function, simplified)) ||
        failed(checkSignature(*function)) || failed(checkOperations(*function)))
      signalPassFailure();
  }
};

} // namespace

FailureOr<func::FuncOp> tracedProgramIn(ModuleOp module) {
  func::FuncOp program;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      program = function;
  if (auto several = module.getOps<ModuleOp>(); !program && !several.empty())
    return emitError((*several.begin()).getLoc(),
                     "the file holds several modules; --split-input-file takes one after the other");
  if (!program)
    return module.emitError("there is no function with a body to take to a stage");
  return program;
}

LogicalResult checkSignature(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("function '") << function.getName() << "' has several blocks; what is compiled has one";
  Attribute late = function->getAttr(kLateAttr);
  const bool isPart = function->getParentOp()->hasAttr(kPartAttr);
  auto isGivenLate = [&](size_t result) {
    auto results = dyn_cast_if_present<DenseI64ArrayAttr>(late);
    return isPart || (results && llvm::is_contained(results.asArrayRef(), static_cast<int64_t>(result)));
  };
  if (failed(checkTypes(function, function.getArgumentTypes(), "argument", [&](size_t) { return isPart; })) ||
      failed(checkTypes(function, function.getResultTypes(), "result", isGivenLate)))
    return failure();
  Attribute assigned = function->getAttr(kAssignedAttr);
  if (auto variables = dyn_cast_if_present<DenseI64ArrayAttr>(assigned);
      assigned && (!variables || variables.size() > function.getNumResults()))
    return refuseAttribute(function, kAssignedAttr, assigned);
  auto isLate = [&](int64_t result) {
    return result >= 0 && result < static_cast<int64_t>(function.getNumResults()) &&
           function.getResultTypes()[result] == RankedTensorType::get({}, ir::StackType::get(function.getContext()));
  };
  if (auto results = dyn_cast_if_present<DenseI64ArrayAttr>(late);
      late && (!results || !llvm::all_of(results.asArrayRef(), isLate)))
    return refuseAttribute(function, kLateAttr, late);
  return success();
}

} // namespace calque::codegen
