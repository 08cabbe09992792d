#include "schema/Schema.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "schema/Admission.h"
#include "schema/Cotangents.h"
#include "schema/HashTables.h"
#include "schema/Recording.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <bit>

namespace calque::schema {

bool TensorType::isStatic() const { return std::find(dims.begin(), dims.end(), kOpenSize) == dims.end(); }

std::int64_t TensorType::numElements() const {
  return productOf(dims).value_or(std::numeric_limits<std::int64_t>::max());
}

std::string counted(std::size_t count, std::string_view noun, std::string_view plural) {
  std::string text = absl::StrCat(count, " ");
  text += count == 1 || plural.empty() ? noun : plural;
  return count == 1 || !plural.empty() ? text : text + "s";
}

std::string shapeString(std::span<const std::int64_t> dims) {
  auto append = [](std::string *text, std::int64_t size) {
    text->append(size == kOpenSize ? "?" : absl::StrCat(size));
  };
  return absl::StrCat("[", absl::StrJoin(dims, ",", append), "]");
}

std::string TensorType::str() const {
  return absl::StrCat(dtype == kStackType ? "stack" : name_of(dtype), shapeString(dims));
}

bool equal(const Attribute &a, const Attribute &b) {
  if (a.index() != b.index())
    return false;
  if (const ConstantRef *x = std::get_if<ConstantRef>(&a)) {
    const ConstantRef &y = std::get<ConstantRef>(b);
    return *x == y || (*x && y && **x == *y);
  }
  if (const RecordingRef *x = std::get_if<RecordingRef>(&a)) {
    const RecordingRef &y = std::get<RecordingRef>(b);
    return *x == y || (*x && y && equal(**x, *y));
  }
  return a == b;
}

namespace {
#define CALQUE_OPERATION_ATTRIBUTES
#include "schema/Operations.cpp.inc"
#undef CALQUE_OPERATION_ATTRIBUTES

constexpr OperationSchema kOperations[] = {
#define CALQUE_OPERATION_TABLE
#include "schema/Operations.cpp.inc"
#undef CALQUE_OPERATION_TABLE
};

constexpr std::uint32_t kReceivesCotangent[] = {
#define CALQUE_OPERATION_COTANGENTS
#include "schema/Operations.cpp.inc"
#undef CALQUE_OPERATION_COTANGENTS
};

constexpr struct {
  std::uint8_t fewestOperands;
  bool maySave;
} kAdmission[] = {
#define CALQUE_OPERATION_ADMISSION
#include "schema/Operations.cpp.inc"
#undef CALQUE_OPERATION_ADMISSION
};
} // namespace

std::span<const OperationSchema> operations() { return kOperations; }

bool receivesCotangent(OpId op, std::size_t operand) {
  return kReceivesCotangent[static_cast<std::size_t>(op)] >> std::min<std::size_t>(operand, 31) & 1;
}

std::size_t fewestOperands(OpId op) { return kAdmission[static_cast<std::size_t>(op)].fewestOperands; }
bool maySave(OpId op) { return kAdmission[static_cast<std::size_t>(op)].maySave; }

const OperationSchema *findOperation(std::string_view mnemonic) {
  static const auto *byName = [] {
    auto *map = new HashMap<std::string_view, const OperationSchema *>;
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

// A stack is one number: see runtime/Stacks.h.
static std::int64_t bytesOf(DType dtype) {
  return static_cast<std::int64_t>(dtype == kStackType ? sizeof(double) : size_of(dtype));
}

// Refuses types whose number of bytes overflows, because allocation and indexing rely on that number. Unknown sizes
// count as 1.
static Fault checkBytes(std::span<const TensorType> types, const char *what) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!productOf(types[i].dims, bytesOf(types[i].dtype)))
      return shapeFault(absl::StrCat(what, " ", i, ", ", types[i].str(), ", has more bytes than can be addressed"));
  return {};
}

Fault checkElementType(DType dtype) {
  if (!is_dtype(dtype))
    return valueFault(absl::StrCat("there is no element type number ", static_cast<int>(dtype)));
  return {};
}

// Refuses a wrong number of operands, because type rules read the required operands without a check.
static Fault checkNumber(OpId op, std::size_t given) {
  const int wanted = schemaOf(op).numOperands;
  if (wanted >= 0 ? given != static_cast<std::size_t>(wanted) : given < fewestOperands(op))
    return valueFault(absl::StrCat("it has ", counted(given, "operand"), " and takes ", wanted >= 0 ? "" : "at least ",
                                   fewestOperands(op)));
  return {};
}

static Fault checkAttributes(std::span<const Attribute> attributes) {
  for (const Attribute &attribute : attributes)
    if (const DType *dtype = std::get_if<DType>(&attribute))
      if (Fault fault = checkElementType(*dtype))
        return fault;
  return {};
}

// Rules that say nothing of complex numbers need not refuse them.
static Fault checkComplex(const OperationSchema &schema, std::span<const TensorType> types, const char *does) {
  if (!schema.takesComplex)
    for (const TensorType &type : types)
      if (is_complex(type.dtype))
        return dtypeFault(absl::StrCat(does, " no complex numbers, as ", type.str(), " has them"));
  return {};
}

Inference inferTypes(OpId op, std::span<const TensorType> operands, std::span<const Attribute> attributes,
                     std::string_view name) {
  Inference inference;
  OpCall call{op, operands, attributes};
  inference.fault = checkNumber(op, operands.size());
  // Operands are checked before the rule runs, because rules count their elements.
  if (!inference.fault)
    inference.fault = checkBytes(operands, "operand");
  if (!inference.fault)
    inference.fault = checkAttributes(attributes);
  if (!inference.fault)
    inference.fault = checkComplex(schemaOf(op), operands, "takes");
  if (!inference.fault)
    inference.fault = schemaOf(op).rule(call, inference.types);
  if (!inference.fault)
    inference.fault = checkComplex(schemaOf(op), inference.types, "makes");
  if (!inference.fault)
    inference.fault = checkBytes(inference.types, "result");
  if (inference.fault) {
    inference.types.clear();
    inference.fault.message =
        absl::StrCat(std::string(name.empty() ? call.name() : name), ": ", inference.fault.message);
  }
  return inference;
}

} // namespace calque::schema
