#include "ir/Import.h"
#include "ir/Conversion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace calque::ir {

static Location locationOf(const schema::SourceLine &line, MLIRContext *context) {
  if (!line.line)
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, line.file, line.line, line.column);
}

// The line, fused with the number: passes hand on the location of what they replace.
static Location numberedLocation(const schema::SourceLine &line, int64_t *number, MLIRContext *context) {
  Location location = locationOf(line, context);
  if (!number)
    return location;
  auto metadata = IntegerAttr::get(IntegerType::get(context, 64), (*number)++);
  return FusedLoc::get(context, location, metadata);
}

int64_t recordedNumber(Location location) {
  int64_t number = -1;
  location->walk([&](Location inner) {
    if (auto fused = dyn_cast<FusedLocWith<IntegerAttr>>(inner)) {
      number = fused.getMetadata().getInt();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return number;
}

static void importRegion(const schema::Recording &recording, Location location, Region &region, int64_t *number) {
  MLIRContext *context = location.getContext();
  Block &block = region.emplaceBlock();
  for (schema::ValueId parameter : recording.parameters)
    block.addArgument(toMlir(recording.typeOf(parameter), context), location);
  OpBuilder builder(context); // not of the region, which has no parent operation yet
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> results = importBody(recording, block.getArguments(), builder, number);
  vector::YieldOp::create(builder, location, results);
}

SmallVector<Value> importBody(const schema::Recording &recording, ValueRange arguments, OpBuilder &builder,
                              int64_t *number) {
  MLIRContext *context = builder.getContext();
  SmallVector<Value> values(recording.numValues());
  for (auto [parameter, argument] : llvm::zip_equal(recording.parameters, arguments))
    values[parameter] = argument;
  for (const schema::RecordedOp &op : recording.ops()) {
    const schema::OperationSchema &schema = schema::schemaOf(op.op);
    Location location = numberedLocation(op.line, number, context);
    OperationState state(location, ("calque." + StringRef(schema.mnemonic)).str());
    for (schema::ValueId operand : recording.operandsOf(op))
      state.operands.push_back(values[operand]);
    for (auto [attribute, expected] : llvm::zip_equal(recording.attributesOf(op), schema.attributes)) {
      if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
        importRegion(**inner, location, *state.addRegion(), number);
      else
        state.addAttribute(expected.name, toMlir(attribute, context));
    }
    for (std::uint32_t i = 0; i < op.numResults; ++i)
      state.types.push_back(toMlir(recording.typeOf(op.firstResult + i), context));
    Operation *created = builder.create(state);
    for (std::uint32_t i = 0; i < op.numResults; ++i)
      values[op.firstResult + i] = created->getResult(i);
  }
  return llvm::map_to_vector(recording.results, [&](schema::ValueId value) { return values[value]; });
}

OwningOpRef<ModuleOp> importRecording(const schema::Recording &recording, MLIRContext *context, bool numbered) {
  context->loadDialect<CalqueDialect, func::FuncDialect, vector::VectorDialect>();
  Location made = locationOf(recording.line, context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(made);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());

  auto typesOf = [&](ArrayRef<schema::ValueId> values) {
    return llvm::map_to_vector(values,
                               [&](schema::ValueId value) -> Type { return toMlir(recording.typeOf(value), context); });
  };
  auto function =
      func::FuncOp::create(builder, made, recording.name,
                           builder.getFunctionType(typesOf(recording.parameters), typesOf(recording.results)));
  SmallVector<Attribute> variables;
  for (const schema::RecordedVariable &variable : recording.variables)
    variables.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(variable.name)),
                                   builder.getNamedAttr("type", TypeAttr::get(toMlir(variable.type, context)))}));
  if (!variables.empty())
    function->setAttr(kVariablesAttr, builder.getArrayAttr(variables));

  Block *body = function.addEntryBlock();
  int64_t number = 0;
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> results = importBody(recording, body->getArguments(), builder, numbered ? &number : nullptr);
  func::ReturnOp::create(builder, made, results);
  return module;
}

} // namespace calque::ir
