#include "ir/Export.h"

#include "ir/Conversion.h"
#include "ir/Import.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace calque::ir {

// The elements of a constant as they lie in memory, where a bool takes a byte.
static schema::ConstantRef constantOf(DenseElementsAttr elements, const schema::TensorType &type) {
  schema::ConstantData data{type, elements.isSplat(), {}};
  if (type.dtype == DType::Bool) {
    if (data.splat)
      data.bytes.push_back(static_cast<std::byte>(elements.getSplatValue<bool>()));
    else
      for (bool each : elements.getValues<bool>())
        data.bytes.push_back(static_cast<std::byte>(each));
  } else {
    ArrayRef<char> raw = elements.getRawData();
    const auto *bytes = reinterpret_cast<const std::byte *>(raw.data());
    data.bytes.assign(bytes, bytes + raw.size());
  }
  return std::make_shared<const schema::ConstantData>(std::move(data));
}

namespace {
class Exporter {
public:
  explicit Exporter(const schema::Recording &from) : from(from) { number(from); }

  FailureOr<schema::RecordingRef> program(Block &block, llvm::StringRef name) {
    auto made = std::make_shared<schema::Recording>();
    made->name = name.str();
    made->line = from.line;
    llvm::DenseMap<Value, schema::ValueId> values;
    for (BlockArgument argument : block.getArguments()) {
      std::optional<schema::TensorType> type = toSchema(argument.getType());
      if (!type)
        return block.getParentOp()->emitError("takes what is no tensor of the dialect: ") << argument.getType();
      values[argument] = made->addParameter(*type);
    }
    for (Operation &op : block.without_terminator())
      if (failed(append(op, *made, values)))
        return failure();
    for (Value result : block.getTerminator()->getOperands())
      made->results.push_back(values.at(result));
    return schema::RecordingRef(std::move(made));
  }

private:
  LogicalResult append(Operation &op, schema::Recording &made, llvm::DenseMap<Value, schema::ValueId> &values) {
    auto record = dyn_cast<SchemaOpInterface>(&op);
    if (!record)
      return op.emitOpError("has no record");
    const schema::OperationSchema &schema = schema::schemaOf(record.schemaId());
    std::vector<schema::ValueId> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    std::vector<schema::TensorType> types;
    for (Type result : op.getResultTypes()) {
      std::optional<schema::TensorType> type = toSchema(result);
      if (!type)
        return op.emitOpError("gives what is no tensor of the dialect: ") << result;
      types.push_back(std::move(*type));
    }
    std::vector<schema::Attribute> attributes;
    unsigned nextRegion = 0;
    for (const schema::AttributeSchema &expected : schema.attributes) {
      if (expected.kind == schema::AttributeKind::Recording) {
        FailureOr<schema::RecordingRef> inner = program(op.getRegion(nextRegion++).front(), schema.mnemonic);
        if (failed(inner))
          return failure();
        attributes.emplace_back(std::move(*inner));
        continue;
      }
      Attribute attribute = op.getAttr(expected.name);
      if (auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
          elements && expected.kind == schema::AttributeKind::Constant) {
        attributes.emplace_back(constantOf(elements, types[0]));
        continue;
      }
      std::optional<schema::Attribute> value = toSchema(attribute, expected.kind);
      if (!value || std::holds_alternative<schema::ConstantRef>(*value))
        return op.emitOpError("has an attribute '") << expected.name << "' that no Recording has";
      attributes.push_back(std::move(*value));
    }
    const int64_t recorded = recordedNumber(op.getLoc());
    schema::ValueId first = made.append(schema.id, operands, attributes, types,
                                        recorded >= 0 ? lines[static_cast<size_t>(recorded)] : schema::SourceLine());
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      values[result] = first + static_cast<schema::ValueId>(i);
    return success();
  }

  // The lines of all recorded operations, those of programs inside of an operation behind it.
  void number(const schema::Recording &recording) {
    for (const schema::RecordedOp &op : recording.ops()) {
      lines.push_back(op.line);
      for (const schema::Attribute &attribute : recording.attributesOf(op))
        if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
          number(**inner);
    }
  }

  const schema::Recording &from;
  std::vector<schema::SourceLine> lines;
};
} // namespace

FailureOr<schema::RecordingRef> recordingOf(func::FuncOp function, const schema::Recording &from) {
  Exporter exporter(from);
  FailureOr<schema::RecordingRef> made = exporter.program(function.getBody().front(), function.getName());
  if (failed(made))
    return failure();
  auto named = std::make_shared<schema::Recording>(**made);
  named->variables = from.variables;
  return schema::RecordingRef(std::move(named));
}

} // namespace calque::ir
