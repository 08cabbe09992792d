#include "codegen/CheckProgram.h"

#include "codegen/Passes.h"
#include "codegen/ProgramAttributes.h"
#include "ir/Conversion.h"
#include "ir/Import.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_CHECKPROGRAM
#include "codegen/Passes.h.inc"

namespace {

LogicalResult checkTypes(func::FuncOp function, TypeRange types, StringRef what) {
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getEncoding() || !ir::toSchema(type))
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
    if (attribute.getName() != ir::kVariablesAttr && (!simplified || attribute.getName() != kAssignedAttr))
      return function.emitError("function '") << function.getName() << "' has attribute '"
                                              << attribute.getName().getValue() << "', which only the compiler sets";
  if (function.getArgAttrsAttr() || function.getResAttrsAttr())
    return function.emitError("function '")
           << function.getName() << "' has attributes of arguments or results, which only the compiler sets";
  return success();
}

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
  if (failed(checkTypes(function, function.getArgumentTypes(), "argument")) ||
      failed(checkTypes(function, function.getResultTypes(), "result")))
    return failure();
  Attribute assigned = function->getAttr(kAssignedAttr);
  if (auto variables = dyn_cast_if_present<DenseI64ArrayAttr>(assigned);
      assigned && (!variables || variables.size() > function.getNumResults()))
    return refuseAttribute(function, kAssignedAttr, assigned);
  return success();
}

} // namespace calque::codegen
