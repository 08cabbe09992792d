#include "ir/Import.h"
#include "ir/Conversion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace calque::ir {

OwningOpRef<ModuleOp> importRecording(const schema::Recording &recording, MLIRContext *context) {
  context->loadDialect<CalqueDialect, func::FuncDialect>();
  auto locationOf = [&](const schema::SourceLine &line) -> Location {
    if (!line.line)
      return UnknownLoc::get(context);
    return FileLineColLoc::get(context, line.file, line.line, line.column);
  };
  Location made = locationOf(recording.line);
  OwningOpRef<ModuleOp> module = ModuleOp::create(made);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());

  auto typesOf = [&](ArrayRef<schema::ValueId> values) {
    return llvm::map_to_vector(values, [&](schema::ValueId value) -> Type { return toMlir(recording.typeOf(value), context); });
  };
  auto function = func::FuncOp::create(builder, made, recording.name,
                                       builder.getFunctionType(typesOf(recording.parameters), typesOf(recording.results)));
  SmallVector<Attribute> variables;
  for (const schema::RecordedVariable &variable : recording.variables)
    variables.push_back(builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(variable.name)),
                                                   builder.getNamedAttr("type", TypeAttr::get(toMlir(variable.type, context)))}));
  if (!variables.empty())
    function->setAttr(kVariablesAttr, builder.getArrayAttr(variables));

  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> values(recording.numValues());
  for (auto [parameter, argument] : llvm::zip_equal(recording.parameters, body->getArguments()))
    values[parameter] = argument;
  for (const schema::RecordedOp &op : recording.ops()) {
    const schema::OperationSchema &schema = schema::schemaOf(op.op);
    OperationState state(locationOf(op.line), ("calque." + StringRef(schema.mnemonic)).str());
    for (schema::ValueId operand : recording.operandsOf(op))
      state.operands.push_back(values[operand]);
    for (auto [attribute, name] : llvm::zip_equal(recording.attributesOf(op), schema.attributes))
      state.addAttribute(name.name, toMlir(attribute, context));
    for (std::uint32_t i = 0; i < op.numResults; ++i)
      state.types.push_back(toMlir(recording.typeOf(op.firstResult + i), context));
    Operation *created = builder.create(state);
    for (std::uint32_t i = 0; i < op.numResults; ++i)
      values[op.firstResult + i] = created->getResult(i);
  }
  func::ReturnOp::create(builder, made, llvm::map_to_vector(recording.results, [&](schema::ValueId value) { return values[value]; }));
  return module;
}

} // namespace calque::ir
