#include "codegen/CheckProgram.h"

#include "ir/Conversion.h"
#include "ir/Import.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

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

} // namespace

LogicalResult checkProgram(Program &program) {
  ModuleOp module = *program.module;
  auto function = module.lookupSymbol<func::FuncOp>(program.entry);
  if (!function || function.isExternal())
    return module.emitError("there is no function '") << program.entry << "'";
  if (function.getName().starts_with("calque_") || function.getName().starts_with("calque."))
    return function.emitError("function '")
           << function.getName() << "': names that begin with calque_ or calque. are the compiler's own";
  for (Operation &op : *module.getBody())
    if (&op != function.getOperation())
      return op.emitError("stands beside function '")
             << function.getName() << "', and one function is compiled at a time";
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("function '") << function.getName() << "' has several blocks; what is compiled has one";
  // What passes and bufferization leave for each other would be believed.
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    if (attribute.getName() != ir::kVariablesAttr)
      return function.emitError("function '") << function.getName() << "' has attribute '"
                                              << attribute.getName().getValue() << "', which only the compiler sets";
  if (function.getArgAttrsAttr() || function.getResAttrsAttr())
    return function.emitError("function '")
           << function.getName() << "' has attributes of arguments or results, which only the compiler sets";
  if (failed(checkTypes(function, function.getArgumentTypes(), "argument")) ||
      failed(checkTypes(function, function.getResultTypes(), "result")))
    return failure();
  return checkOperations(function);
}

} // namespace calque::codegen
