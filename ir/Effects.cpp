#include "ir/BatchRule.h"
#include "ir/Conversion.h"
#include "ir/GradientRule.h"
#include "ir/Import.h"

using namespace mlir;

namespace calque::ir {

// Verifies the list of a function's variables, because passes rely on it.
LogicalResult CalqueDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kVariablesAttr)
    return success();
  auto variables = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!variables)
    return op->emitOpError("attribute '")
           << kVariablesAttr << "' must be an array of {name, type}, not " << attribute.getValue();
  for (Attribute variable : variables) {
    auto fields = dyn_cast<DictionaryAttr>(variable);
    auto type = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
    if (!type || !fields.getAs<StringAttr>("name"))
      return op->emitOpError("attribute '")
             << kVariablesAttr << "' must hold {name = \"...\", type = tensor<...>}, not " << variable;
    if (!toSchema(type.getValue()))
      return op->emitOpError("attribute '")
             << kVariablesAttr << "' names a type that is not a tensor of the dialect: " << type;
  }
  return success();
}

LogicalResult VariableAssignOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("assigns a variable, which can't hold a value for each of many examples; do it outside of "
                     "vmap, or draw random numbers by stateless functions from a state for each");
}

// One state gives every example the same numbers, as it does where the sizes are known.
LogicalResult RandomUniformOpenOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(0))
    return rule.unrolled(results);
  SmallVector<Value> sources;
  SmallVector<int64_t> sizes(getSizes());
  for (unsigned i = 1; i < rule.numOperands(); ++i)
    sources.push_back(rule[i]);
  for (size_t i = 0; i < sizes.size(); i += 2)
    if (rule.isBatched(sizes[i]))
      sizes[i + 1] = rule.shifted(sizes[i + 1], rule.rank(sizes[i]));
  results.push_back(
      rule.repeated(rule.create<RandomUniformOpenOp>(rule[0], sources, getShape(), sizes, getDtypeAttr())));
  return success();
}

namespace {
schema::ExternRules *externRules = nullptr;
}
void setExternRules(schema::ExternRules *rules) { externRules = rules; }

LogicalResult ExternOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  std::vector<schema::TensorType> types;
  std::vector<bool> batched;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < rule.numOperands(); ++i) {
    operands.push_back(rule[i]);
    types.push_back(*toSchema(rule[i].getType()));
    batched.push_back(rule.isBatched(i));
  }
  std::string error;
  schema::RecordingRef program = externRules ? externRules->batched(getSymbol().str(), types, batched, error) : nullptr;
  if (!error.empty())
    return rule.refuse("has a batching rule that fails: " + error);
  if (!program)
    return rule.unrolled(results);
  if (program->results.size() != getNumResults())
    return rule.refuse("'" + getSymbol() + "': its batching rule gives " +
                       schema::counted(program->results.size(), "result") + ", not " + Twine(getNumResults()));
  for (auto [i, result] : llvm::enumerate(getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> sizes{rule.size()};
    llvm::append_range(sizes, type.getShape());
    schema::TensorType given = program->typeOf(program->results[i]);
    RankedTensorType computed = toMlir(given, getContext());
    if (computed.getElementType() != type.getElementType() || failed(verifyCompatibleShape(sizes, computed.getShape())))
      return rule.refuse("'" + getSymbol() + "': result " + Twine(i) + " of its batching rule is " + given.str() +
                         ", and that of one example is " + toSchema(type)->str());
  }
  llvm::append_range(results, importBody(*program, operands, rule.builder));
  return success();
}

} // namespace calque::ir
