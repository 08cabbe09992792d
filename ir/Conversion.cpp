#include "ir/Conversion.h"
#include "schema/Recording.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace calque::ir {

static_assert(schema::kOpenSize == ShapedType::kDynamic, "unknown dimensions pass between the two unchanged");

RankedTensorType toMlir(const schema::TensorType &type, MLIRContext *context) {
  return RankedTensorType::get(type.dims, toMlir(type.dtype, context));
}

static Attribute constantToMlir(const schema::ConstantData &data, MLIRContext *context) {
  RankedTensorType type = toMlir(data.type, context);
  if (data.type.dtype == DType::Bool) {
    SmallVector<bool> values;
    for (std::byte byte : data.bytes)
      values.push_back(byte != std::byte(0));
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef(reinterpret_cast<const char *>(data.bytes.data()), data.bytes.size()));
}

Attribute toMlir(const schema::Attribute &attribute, MLIRContext *context) {
  Builder builder(context);
  struct Visitor {
    Builder &builder;
    Attribute operator()(bool value) { return builder.getBoolAttr(value); }
    Attribute operator()(std::int64_t value) { return builder.getI64IntegerAttr(value); }
    Attribute operator()(const schema::Scalar &value) { return toMlir(value, builder.getContext()); }
    Attribute operator()(const std::string &value) { return builder.getStringAttr(value); }
    Attribute operator()(const std::vector<std::int64_t> &values) { return builder.getDenseI64ArrayAttr(values); }
    Attribute operator()(DType value) { return TypeAttr::get(toMlir(value, builder.getContext())); }
    Attribute operator()(const schema::RecordingRef &) { return {}; } // Import builds a region of it
    Attribute operator()(const schema::ConstantRef &value) { return constantToMlir(*value, builder.getContext()); }
  };
  return std::visit(Visitor{builder}, attribute);
}

bool isNumber(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getType().isF64();
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && (number.getType().isSignlessInteger(1) || number.getType().isSignlessInteger(64) ||
                    number.getType().isUnsignedInteger(64));
}

schema::Scalar toScalar(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<BoolAttr>(attribute))
    return number.getValue();
  auto number = cast<IntegerAttr>(attribute);
  return number.getType().isUnsignedInteger() ? schema::Scalar(number.getValue().getZExtValue())
                                              : schema::Scalar(number.getValue().getSExtValue());
}

TypedAttr toMlir(const schema::Scalar &scalar, MLIRContext *context) {
  Builder builder(context);
  struct Visitor {
    Builder &builder;
    TypedAttr operator()(bool number) { return builder.getBoolAttr(number); }
    TypedAttr operator()(std::int64_t number) { return builder.getI64IntegerAttr(number); }
    TypedAttr operator()(std::uint64_t number) {
      return builder.getIntegerAttr(builder.getIntegerType(64, /*isSigned=*/false), APInt(64, number));
    }
    TypedAttr operator()(double number) { return builder.getF64FloatAttr(number); }
  };
  return std::visit(Visitor{builder}, scalar.value());
}

TypedAttr elementAttr(const schema::Scalar &scalar, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    if (scalar.isFloat())
      return FloatAttr::get(type, scalar.as<double>());
    // Rounded once: an integer by way of a double would be rounded twice.
    APFloat number(type.getFloatSemantics());
    bool isUnsigned = std::holds_alternative<std::uint64_t>(scalar.value());
    number.convertFromAPInt(APInt(64, scalar.bits()), !isUnsigned, APFloat::rmNearestTiesToEven);
    return FloatAttr::get(type, number);
  }
  if (ElementType(element).isBool()) // every number but 0 is true; truncation would keep the lowest bit
    return BoolAttr::get(element.getContext(), scalar.as<bool>());
  auto bits = static_cast<std::uint64_t>(scalar.as<std::int64_t>());
  return IntegerAttr::get(element, APInt(64, bits).sextOrTrunc(ElementType(element).bits()));
}

std::optional<schema::TensorType> toSchema(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return std::nullopt;
  std::optional<DType> dtype = toDType(tensor.getElementType());
  if (!dtype)
    return std::nullopt;
  return schema::TensorType{*dtype, schema::Dims(tensor.getShape().begin(), tensor.getShape().end())};
}

std::optional<schema::Attribute> toSchema(Attribute attribute, schema::AttributeKind kind) {
  if (!attribute)
    return std::nullopt;
  if (kind == schema::AttributeKind::Number)
    return isNumber(attribute) ? std::optional<schema::Attribute>(toScalar(attribute)) : std::nullopt;
  if (auto value = dyn_cast<BoolAttr>(attribute))
    return schema::Attribute(value.getValue());
  if (auto value = dyn_cast<IntegerAttr>(attribute))
    return schema::Attribute(std::int64_t(value.getInt()));
  if (auto value = dyn_cast<StringAttr>(attribute))
    return schema::Attribute(value.str());
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attribute))
    return schema::Attribute(std::vector<std::int64_t>(value.asArrayRef().begin(), value.asArrayRef().end()));
  if (auto value = dyn_cast<ElementsAttr>(attribute)) {
    std::optional<schema::TensorType> type = toSchema(value.getType());
    if (!type)
      return std::nullopt;
    return schema::Attribute(std::make_shared<const schema::ConstantData>(schema::ConstantData{*type, false, {}}));
  }
  if (auto value = dyn_cast<TypeAttr>(attribute))
    if (std::optional<DType> dtype = toDType(value.getValue()))
      return schema::Attribute(*dtype);
  return std::nullopt;
}

// A Recording with the region's parameters and results only, which is all that type rules read. Null where the region
// is no program.
static schema::RecordingRef toSchema(Region &region) {
  if (!region.hasOneBlock() || region.front().empty() || !isa<vector::YieldOp>(region.front().back()))
    return nullptr;
  auto program = std::make_shared<schema::Recording>();
  for (Type type : region.getArgumentTypes()) {
    std::optional<schema::TensorType> argument = toSchema(type);
    if (!argument)
      return nullptr;
    program->addParameter(*argument);
  }
  SmallVector<schema::TensorType> results;
  for (Type type : region.front().back().getOperandTypes()) {
    std::optional<schema::TensorType> result = toSchema(type);
    if (!result)
      return nullptr;
    results.push_back(*result);
  }
  schema::ValueId first = program->append(schema::OpId::Checkpoint, {}, {}, results, {});
  for (size_t i = 0; i < results.size(); ++i)
    program->results.push_back(first + static_cast<schema::ValueId>(i));
  return program;
}

LogicalResult inferFromSchema(schema::OpId op, MLIRContext *context, std::optional<Location> location,
                              ValueRange operands, ArrayRef<Attribute> attributes, RegionRange regions,
                              SmallVectorImpl<Type> &types) {
  const schema::OperationSchema &schema = schema::schemaOf(op);
  SmallVector<schema::TensorType> operandTypes;
  for (Value operand : operands) {
    std::optional<schema::TensorType> type = toSchema(operand.getType());
    if (!type)
      return emitOptionalError(location, schema.mnemonic, ": not a tensor that the dialect has: ", operand.getType());
    operandTypes.push_back(std::move(*type));
  }
  SmallVector<schema::Attribute> converted;
  unsigned nextRegion = 0;
  for (auto [attribute, expected] : llvm::zip_equal(attributes, schema.attributes)) {
    if (expected.kind == schema::AttributeKind::Recording) {
      converted.push_back(toSchema(*regions[nextRegion++]));
      continue;
    }
    std::optional<schema::Attribute> value = toSchema(attribute, expected.kind);
    if (!value)
      return emitOptionalError(location, schema.mnemonic, ": attribute '", expected.name,
                               "' is missing or of a type that the dialect does not have");
    converted.push_back(std::move(*value));
  }
  schema::Inference inference = schema::inferTypes(op, operandTypes, converted);
  if (inference.fault)
    return emitOptionalError(location, inference.fault.message);
  for (const schema::TensorType &type : inference.types)
    types.push_back(toMlir(type, context));
  return success();
}

} // namespace calque::ir
