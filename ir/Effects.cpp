#include "ir/Conversion.h"
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"
#include "ir/Import.h"

using namespace mlir;

namespace calque::ir {

// A function's variables, which passes rely on.
LogicalResult CalqueDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kVariablesAttr)
    return success();
  auto variables = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!variables)
    return op->emitOpError("attribute '") << kVariablesAttr << "' must be an array of {name, type}, not " << attribute.getValue();
  for (Attribute variable : variables) {
    auto fields = dyn_cast<DictionaryAttr>(variable);
    auto type = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
    if (!type || !fields.getAs<StringAttr>("name"))
      return op->emitOpError("attribute '") << kVariablesAttr << "' must hold {name = \"...\", type = tensor<...>}, not " << variable;
    if (!toSchema(type.getValue()))
      return op->emitOpError("attribute '") << kVariablesAttr << "' names a type that is not a tensor of the dialect: " << type;
  }
  return success();
}

LogicalResult VariableAssignOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("would give a variable the value of one of many examples");
}

} // namespace calque::ir
