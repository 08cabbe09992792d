#include "ir/Signs.h"
#include "ir/Conversion.h"
#include "ir/Dialect.h"
#include "ir/ElementType.h"
#include "ir/ScalarBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace calque::ir {

// Which operands, and then which results, are integers without a sign: on operations that have such ones.
static constexpr llvm::StringLiteral kUnsignedAttr = "calque.unsigned";

static bool isUnsignedType(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.isUnsigned();
}

static bool isMarked(Operation *op, unsigned number) {
  auto marks = op->getAttrOfType<DenseBoolArrayAttr>(kUnsignedAttr);
  return marks && number < marks.size() && marks[number];
}

bool isUnsignedOperand(Operation *op, unsigned operand) {
  return isUnsignedType(op->getOperand(operand).getType()) || isMarked(op, operand);
}
bool isUnsignedResult(Operation *op, unsigned result) {
  return isUnsignedType(op->getResult(result).getType()) || isMarked(op, op->getNumOperands() + result);
}
bool hasUnsignedOperand(Operation *op) {
  return llvm::any_of(llvm::seq(op->getNumOperands()), [&](unsigned i) { return isUnsignedOperand(op, i); });
}

ScalarBuilder ScalarBuilder::of(Operation *op) const {
  ScalarBuilder result(*this);
  result.takesUnsigned = hasUnsignedOperand(op);
  result.givesUnsigned = isUnsignedResult(op, 0);
  return result;
}

static DType dtypeOf(Value value, bool isUnsigned) {
  Type element = getElementTypeOrSelf(value.getType());
  if (isUnsigned)
    element = IntegerType::get(element.getContext(), ElementType(element).bits(), IntegerType::Unsigned);
  return *toDType(element);
}
DType dtypeOfOperand(Operation *op, unsigned operand) {
  return dtypeOf(op->getOperand(operand), isUnsignedOperand(op, operand));
}
DType dtypeOfResult(Operation *op, unsigned result) {
  return dtypeOf(op->getResult(result), isUnsignedResult(op, result));
}

namespace {

Type withoutSign(Type type) {
  if (!isUnsignedType(type))
    return type;
  Type element = IntegerType::get(type.getContext(), ElementType(type).bits());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element);
  return isa<IntegerType>(type) ? element : type;
}

Attribute withoutSign(Attribute attribute) {
  if (auto type = dyn_cast<TypeAttr>(attribute))
    return TypeAttr::get(withoutSign(type.getValue()));
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute); elements && isUnsignedType(elements.getType()))
    return DenseElementsAttr::getFromRawBuffer(cast<ShapedType>(withoutSign(elements.getType())),
                                               elements.getRawData());
  return attribute;
}

// Whether an index of the type must be widened: it has no sign, or can't be compared with sizes in its own type.
bool isNarrowIndex(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && (integer.isUnsigned() || (integer.getWidth() > 1 && integer.getWidth() < 32));
}

// Casts operands that are indices of such types.
void castIndices(SchemaOpInterface op) {
  const schema::OperationSchema &schema = schema::schemaOf(op.schemaId());
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value index = op->getOperand(i);
    if (i >= 32 || !(schema.selecting >> i & 1) || !isNarrowIndex(index.getType()))
      continue;
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(index.getType());
    if (ElementType(type).bits() == 64) { // without a sign
      auto scalar = RankedTensorType::get({}, type.getElementType());
      Attribute largest = elementAttr(std::numeric_limits<std::int64_t>::max(), type.getElementType());
      Value bound = ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(scalar, largest));
      index = MinimumOp::create(builder, op->getLoc(), index, bound);
    }
    op->setOperand(i, CastOp::create(builder, op->getLoc(), index, TypeAttr::get(builder.getI64Type())));
  }
}

// The types of results that a host call has as numbers: the code of each element type, the rank and the sizes.
void eraseSignsOfTypes(Operation *op) {
  auto types = op->getAttrOfType<DenseI64ArrayAttr>("types");
  if (!isa<HostCallOp, ExternOp, OrderedExternOp>(op) || !types)
    return;
  SmallVector<int64_t> changed(types.asArrayRef());
  for (size_t i = 0; i + 1 < changed.size(); i += 2 + static_cast<size_t>(changed[i + 1]))
    changed[i] = static_cast<int64_t>(*toDType(withoutSign(toMlir(static_cast<DType>(changed[i]), op->getContext()))));
  op->setAttr("types", DenseI64ArrayAttr::get(op->getContext(), changed));
}

} // namespace

void eraseSigns(Operation *function) {
  SmallVector<Operation *> ops;
  bool found = false;
  function->walk([&](Operation *op) {
    ops.push_back(op);
    found |= llvm::any_of(op->getOperandTypes(), isNarrowIndex) || llvm::any_of(op->getResultTypes(), isNarrowIndex);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), isNarrowIndex);
  });
  if (!found)
    return;
  for (Operation *op : ops)
    if (auto record = dyn_cast<SchemaOpInterface>(op))
      castIndices(record);
  ops.clear();
  function->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) { // all are marked before the first type changes
    SmallVector<bool> marks;
    for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
      marks.push_back(isUnsignedType(type));
    if (llvm::is_contained(marks, true) && isa<SchemaOpInterface>(op))
      op->setAttr(kUnsignedAttr, DenseBoolArrayAttr::get(op->getContext(), marks));
  }
  for (Operation *op : ops) {
    for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (Attribute changed = withoutSign(attribute.getValue()); changed != attribute.getValue())
        op->setAttr(attribute.getName(), changed);
    if (Attribute properties = op->getPropertiesAsAttribute())
      if (auto all = dyn_cast<DictionaryAttr>(properties)) {
        SmallVector<NamedAttribute> changed;
        for (NamedAttribute attribute : all)
          changed.emplace_back(attribute.getName(), withoutSign(attribute.getValue()));
        (void)op->setPropertiesFromAttribute(DictionaryAttr::get(op->getContext(), changed), nullptr);
      }
    eraseSignsOfTypes(op);
    for (Value result : op->getResults())
      result.setType(withoutSign(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(withoutSign(argument.getType()));
    if (auto named = dyn_cast<FunctionOpInterface>(op))
      named.setType(
          named.cloneTypeWith(llvm::map_to_vector(named.getArgumentTypes(), [](Type t) { return withoutSign(t); }),
                              llvm::map_to_vector(named.getResultTypes(), [](Type t) { return withoutSign(t); })));
  }
}

} // namespace calque::ir
