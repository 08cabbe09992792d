#include "ir/schema/Schema.h"
#include "ir/schema/TypeRules.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>

namespace calque::schema {

bool TensorType::isStatic() const { return std::find(dims.begin(), dims.end(), kOpenSize) == dims.end(); }

std::int64_t TensorType::numElements() const {
  return productOf(dims).value_or(std::numeric_limits<std::int64_t>::max());
}

std::string shapeString(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i)
      text += ",";
    text += dims[i] == kOpenSize ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}

std::string TensorType::str() const { return name_of(dtype) + shapeString(dims); }

bool equal(const Attribute &a, const Attribute &b) {
  if (a.index() != b.index())
    return false;
  // Float attributes are compared by their bits, so that NaN equals itself and 0 differs from -0.
  if (const double *x = std::get_if<double>(&a))
    return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(std::get<double>(b));
  if (const ConstantRef *x = std::get_if<ConstantRef>(&a)) {
    const ConstantRef &y = std::get<ConstantRef>(b);
    return *x == y || (*x && y && **x == *y);
  }
  return a == b;
}

std::size_t hash(const TensorType &type) {
  std::size_t seed = static_cast<std::size_t>(type.dtype);
  for (std::int64_t dim : type.dims)
    seed = hashCombine(seed, static_cast<std::size_t>(dim));
  return seed;
}

std::size_t hash(const Attribute &attribute) {
  struct Visitor {
    std::size_t operator()(bool value) const { return value; }
    std::size_t operator()(std::int64_t value) const { return static_cast<std::size_t>(value); }
    std::size_t operator()(double value) const { return std::bit_cast<std::uint64_t>(value); }
    std::size_t operator()(const std::string &value) const { return std::hash<std::string>()(value); }
    std::size_t operator()(const std::vector<std::int64_t> &values) const {
      std::size_t seed = values.size();
      for (std::int64_t value : values)
        seed = hashCombine(seed, static_cast<std::size_t>(value));
      return seed;
    }
    std::size_t operator()(DType value) const { return static_cast<std::size_t>(value); }
    std::size_t operator()(const ConstantRef &value) const {
      std::string_view bytes(reinterpret_cast<const char *>(value->bytes.data()), value->bytes.size());
      return hashCombine(hash(value->type), std::hash<std::string_view>()(bytes));
    }
    std::size_t operator()(const RecordingRef &value) const { return std::hash<RecordingRef>()(value); }
  };
  return hashCombine(attribute.index(), std::visit(Visitor(), attribute));
}

namespace {
#define CALQUE_OPERATION_ATTRIBUTES
#include "ir/schema/Operations.cpp.inc"
#undef CALQUE_OPERATION_ATTRIBUTES

constexpr OperationSchema kOperations[] = {
#define CALQUE_OPERATION_TABLE
#include "ir/schema/Operations.cpp.inc"
};
} // namespace

std::span<const OperationSchema> operations() { return kOperations; }

const OperationSchema *findOperation(std::string_view mnemonic) {
  static const auto *byName = [] {
    auto *map = new std::unordered_map<std::string_view, const OperationSchema *>;
    for (const OperationSchema &operation : kOperations)
      map->emplace(operation.mnemonic, &operation);
    return map;
  }();
  auto found = byName->find(mnemonic);
  return found == byName->end() ? nullptr : found->second;
}

const OperationSchema *findFunction(std::string_view function) {
  for (const OperationSchema &operation : kOperations)
    if (!function.empty() && operation.function == function)
      return &operation;
  return nullptr;
}

const std::string_view OpCall::name() const { return schemaOf(op).mnemonic; }

// Refuses types whose bytes overflow, because allocation and indexing rely on it. Unknown sizes count as 1.
static Fault checkBytes(std::span<const TensorType> types, const char *what) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!productOf(types[i].dims, static_cast<std::int64_t>(size_of(types[i].dtype))))
      return valueFault(std::string(what) + " " + std::to_string(i) + ", " + types[i].str() +
                        ", has more bytes than can be addressed");
  return {};
}

Fault checkElementType(DType dtype) {
  if (!is_dtype(dtype))
    return valueFault("there is no element type number " + std::to_string(static_cast<int>(dtype)));
  return {};
}

static Fault checkAttributes(std::span<const Attribute> attributes) {
  for (const Attribute &attribute : attributes)
    if (const DType *dtype = std::get_if<DType>(&attribute))
      if (Fault fault = checkElementType(*dtype))
        return fault;
  return {};
}

Inference inferTypes(OpId op, std::span<const TensorType> operands, std::span<const Attribute> attributes,
                     std::string_view name) {
  Inference inference;
  OpCall call{op, operands, attributes};
  // Operands are checked before the rule runs, because rules count their elements.
  inference.fault = checkBytes(operands, "operand");
  if (!inference.fault)
    inference.fault = checkAttributes(attributes);
  if (!inference.fault)
    inference.fault = schemaOf(op).rule(call, inference.types);
  if (!inference.fault)
    inference.fault = checkBytes(inference.types, "result");
  if (inference.fault)
    inference.fault.message = std::string(name.empty() ? call.name() : name) + ": " + inference.fault.message;
  return inference;
}

} // namespace calque::schema
