#include "frontend/core/Apply.h"

#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/transforms.h"
#include "frontend/compiled/EagerCode.h"
#include "frontend/compiled/Execute.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Epoch.h"
#include "frontend/core/Movement.h"
#include "frontend/core/Numerics.h"
#include "frontend/core/Observer.h"
#include "frontend/core/PerThread.h"
#include "frontend/core/Shape.h"
#include "frontend/gradients/CustomGradient.h"
#include "frontend/gradients/Tape.h"

#include <vector>

namespace calque {
namespace detail {

using schema::OpId;

namespace {
std::vector<schema::TensorType> inferOrThrow(OpId op, std::span<const schema::TensorType> operands,
                                             std::span<const schema::Attribute> attributes, SourceLocation where) {
  schema::Inference inference = schema::inferTypes(op, operands, attributes, nameInMessages(op));
  if (inference.fault)
    throwFault(inference.fault, where);
  return std::move(inference.types);
}

using Operands = std::span<const Tensor *const>;

std::vector<Tensor> copiesOf(Operands operands) {
  std::vector<Tensor> copies;
  for (const Tensor *operand : operands)
    copies.push_back(*operand);
  return copies;
}

std::vector<schema::TensorType> typesOf(Operands operands, SourceLocation where) {
  std::vector<schema::TensorType> types;
  types.reserve(operands.size());
  for (const Tensor *operand : operands)
    types.push_back(*implOf(*operand, where).type);
  return types;
}
} // namespace

namespace {
constinit thread_local const Observer *observing = nullptr;
} // namespace

const Observer *currentObserver() { return observing; }
ObserverScope::ObserverScope(Observer made)
    : observer(std::move(made)), before(std::exchange(observing, observer ? &observer : nullptr)) {}
ObserverScope::~ObserverScope() { observing = before; }

namespace {
using Results = absl::InlinedVector<Tensor, 1>;

void record(OpId op, Operands operands, std::span<const schema::Attribute> attributes, Results &results,
            SourceLocation where) {
  Trace &trace = *currentTrace();
  std::vector<schema::TensorType> types = inferOrThrow(op, typesOf(operands, where), attributes, where);
  std::vector<schema::ValueId> values;
  values.reserve(operands.size());
  for (const Tensor *operand : operands)
    values.push_back(trace.valueOf(*operand, where));
  schema::ValueId first = trace.append(op, values, attributes, types, where);
  for (std::size_t i = 0; i < types.size(); ++i)
    results.push_back(trace.tensorOf(first + static_cast<schema::ValueId>(i), where));
}

void runEagerly(OpId op, Operands operands, std::span<const schema::Attribute> attributes, Results &results,
                SourceLocation where) {
  for (const Tensor *operand : operands) {
    const TensorImpl &impl = implOf(*operand, where);
    if (impl.trace)
      throwLeaked(impl, where);
  }
  if (schema::MoveRule rule = schema::moveRuleOf(op)) {
    std::vector<schema::TensorType> operandTypes = typesOf(operands, where);
    std::vector<schema::TensorType> types = inferOrThrow(op, operandTypes, attributes, where);
    results.resize(types.size());
    moveElements(rule, {op, operandTypes, attributes}, operands, std::move(types), {results.data(), results.size()},
                 where);
  } else {
    ReadScope scope;
    const Code &code = eagerCode(op, operands, attributes, where);
    results.resize(code.results.size());
    const std::string *text = nullptr;
    for (std::size_t i = 0; i < attributes.size(); ++i)
      if (schema::schemaOf(op).attributes[i].kind == schema::AttributeKind::Text)
        text = &std::get<std::string>(attributes[i]);
    schema::SourceLine line = recordedLine(where);
    run(code, operands, {}, {results.data(), results.size()}, {where, nullptr, &line, op, text});
  }
  if (checksNumerics() && !schema::moveRuleOf(op)) [[unlikely]] // what only moves elements makes none
    requireFinite(nameInMessages(op, recordedLine(where)), operands, {results.data(), results.size()}, where);
  if (eagerTapesActive())
    recordEager(op, copiesOf(operands), attributes, {results.data(), results.size()}, where);
}

// The one door.
void applyInMode(OpId op, Operands operands, std::span<const schema::Attribute> attributes, Results &results,
                 SourceLocation where) {
  if (currentTrace())
    record(op, operands, attributes, results, where);
  else
    runEagerly(op, operands, attributes, results, where);
}

// Whether an operand is an index or a condition, whose element type is apart from the data's.
bool isSelecting(const schema::OperationSchema &schema, std::size_t operand) {
  return operand < 32 && (schema.selecting >> operand & 1);
}

} // namespace

Tensor asInt64(const Tensor &integers, SourceLocation where) {
  auto applied = [&](OpId op, std::initializer_list<const Tensor *> operands,
                     std::span<const schema::Attribute> attributes) {
    absl::InlinedVector<Tensor, 1> results;
    applyInMode(op, {operands.begin(), operands.size()}, attributes, results, where);
    return std::move(results[0]);
  };
  const schema::Attribute wide = DType::Int64;
  Tensor bounded = integers;
  if (is_unsigned(integers.dtype()) && size_of(integers.dtype()) == sizeof(std::int64_t)) {
    const Tensor largest = makeScalar(Number(INT64_MAX), integers.dtype(), where);
    bounded = applied(OpId::Minimum, {&integers, &largest}, {});
  }
  return applied(OpId::Cast, {&bounded}, {&wide, 1});
}

namespace {
// The operands. Indices of few bits, or without a sign, are int64: transformations compute with indices, and would go
// beyond such types.
class WideIndices {
public:
  WideIndices(OpId op, Operands given, SourceLocation where) : operands(given) {
    const schema::OperationSchema &schema = schema::schemaOf(op);
    if (schema.selecting == 0)
      return;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!isSelecting(schema, i) || !given[i]->impl())
        continue;
      const DType dtype = given[i]->impl()->type->dtype;
      if (!is_integer(dtype) || dtype == DType::Int32 || dtype == DType::Int64)
        continue;
      if (pointers.empty()) {
        pointers.assign(given.begin(), given.end());
        wide.reserve(given.size()); // so that none moves
      }
      pointers[i] = &wide.emplace_back(asInt64(*given[i], where));
    }
    if (!pointers.empty())
      operands = pointers;
  }
  operator Operands() const { return operands; }

private:
  Operands operands;
  std::vector<Tensor> wide;
  std::vector<const Tensor *> pointers;
};

void applyTo(OpId op, Operands given, std::span<const schema::Attribute> attributes, Results &results,
             SourceLocation where) {
  where = userLine(where);
  const WideIndices wide(op, given, where);
  const Operands operands = wide;
  applyInMode(op, operands, attributes, results, where);
  if (observing && !currentTrace()) [[unlikely]]
    (*observing)(op, {results.data(), results.size()}, where);
  if (gradientOverridesActive()) [[unlikely]]
    overrideGradient(schema::schemaOf(op).function, copiesOf(operands), {results.data(), results.size()}, where);
}

// The result of an operation that has at most one.
Tensor onlyResult(OpId op, Operands operands, std::span<const schema::Attribute> attributes, SourceLocation where) {
  Results results;
  applyTo(op, operands, attributes, results, where);
  if (results.size() > 1)
    throw InternalError("one result is asked of an operation that has several", where);
  return results.empty() ? Tensor() : std::move(results[0]);
}
Tensor resultAsIs(OpId op, Operands operands, std::span<const schema::Attribute> attributes, SourceLocation where) {
  Results results;
  applyInMode(op, operands, attributes, results, where);
  return std::move(results.at(0));
}
std::vector<Tensor> allResults(OpId op, Operands operands, std::span<const schema::Attribute> attributes,
                               SourceLocation where) {
  Results results;
  applyTo(op, operands, attributes, results, where);
  return {std::make_move_iterator(results.begin()), std::make_move_iterator(results.end())};
}

// The element type that C++ numbers among the data adopt: that of the first tensor that is not bool.
DType adoptedType(const schema::OperationSchema &schema, std::span<const Operand *const> operands) {
  const Tensor *leader = nullptr;
  bool anyFloat = false, anyInt = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand *operand = operands[i];
    if (isSelecting(schema, i))
      continue;
    if (!operand->isNumber()) {
      if (!leader || leader->dtype() == DType::Bool)
        leader = &operand->tensor();
    } else {
      anyFloat |= operand->isFloat();
      anyInt |= operand->defaultDType() == DType::Int32;
    }
  }
  DType dtype = leader ? leader->dtype() : DType::Bool;
  if (dtype == DType::Bool)
    dtype = anyFloat ? DType::Float32 : anyInt ? DType::Int32 : DType::Bool;
  return dtype;
}

// Of a number that is an index or a condition. int64 holds every index.
DType ownType(const Operand &number) {
  DType dtype = number.defaultDType();
  return dtype == DType::Int32 ? DType::Int64 : dtype;
}
} // namespace

namespace {
// The operands, by address.
class Addresses {
public:
  explicit Addresses(std::span<const Tensor> operands) : pointers(operands.size()) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      pointers[i] = &operands[i];
  }
  operator Operands() const { return {pointers.data(), pointers.size()}; }

private:
  absl::FixedArray<const Tensor *, 8> pointers;
};

// The operands of public functions as tensors. Every eager operation comes through here, so no tensor is copied and no
// memory is allocated.
class Adopted {
public:
  Adopted(OpId op, std::span<const Operand *const> operands) : numbers(operands.size()), pointers(operands.size()) {
    std::optional<DType> dtype; // is asked for where there is a number
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i]->isNumber()) {
        pointers[i] = &operands[i]->tensor();
        continue;
      }
      const schema::OperationSchema &schema = schema::schemaOf(op);
      if (!dtype)
        dtype = adoptedType(schema, operands);
      numbers[i] = operands[i]->toTensor(isSelecting(schema, i) ? ownType(*operands[i]) : *dtype);
      pointers[i] = &numbers[i];
    }
  }
  operator Operands() const { return {pointers.data(), pointers.size()}; }

private:
  absl::FixedArray<Tensor, 4> numbers;
  absl::FixedArray<const Tensor *, 4> pointers;
};

SourceLocation lineOfFirst(std::initializer_list<const Operand *> operands) {
  return operands.size() ? (*operands.begin())->where() : SourceLocation();
}
} // namespace

Tensor apply(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
             SourceLocation where) {
  return onlyResult(op, Addresses(operands), attributes, where);
}

Tensor applyAsIs(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 SourceLocation where) {
  return resultAsIs(op, Addresses(operands), attributes, userLine(where));
}

std::vector<Tensor> applyAll(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                             SourceLocation where) {
  return allResults(op, Addresses(operands), attributes, where);
}

namespace {
// Broadcasts x to the shape of `like`, to which no gradient passes.
Tensor repeatedLike(const Tensor &x, const Tensor &like, SourceLocation where) {
  Tensor operands[] = {x, apply(OpId::StopGradient, {&like, 1}, {}, where)};
  return apply(OpId::BroadcastLike, operands, {}, where);
}
} // namespace

Tensor fitting(const std::string &message, const Tensor &x, const Tensor &like, const char *operation,
               SourceLocation where) {
  const schema::TensorType &given = *implOf(x, where).type, &wanted = *implOf(like, where).type;
  // A known size of 1 is not accepted for an unknown one: it would be broadcast instead of compared.
  auto mayBeEqual = [](std::int64_t a, std::int64_t b) {
    return a == b || a == schema::kOpenSize || (b == schema::kOpenSize && a != 1);
  };
  if (given.dtype == wanted.dtype && given.dims != wanted.dims &&
      std::equal(given.dims.begin(), given.dims.end(), wanted.dims.begin(), wanted.dims.end(), mayBeEqual)) {
    CallSite site(where, operation);
    return repeatedLike(x, like, where);
  }
  requireType(message, given, wanted, where);
  return x;
}

namespace {
// `make` is zeros or ones.
Tensor filledLike(decltype(zeros) make, const Tensor &x, SourceLocation where) {
  const schema::TensorType &type = *implOf(x, where).type;
  return type.isStatic() ? make(type.dims, type.dtype, where) : repeatedLike(make({}, type.dtype, where), x, where);
}
} // namespace

Tensor zerosLike(const Tensor &x, SourceLocation where) { return filledLike(zeros, x, where); }
Tensor onesLike(const Tensor &x, SourceLocation where) { return filledLike(ones, x, where); }

std::vector<Tensor> adoptNumbers(OpId op, std::span<const Operand *const> operands) {
  Adopted adopted(op, operands);
  return copiesOf(adopted);
}

Tensor applyPublic(OpId op, std::initializer_list<const Operand *> operands,
                   std::initializer_list<schema::Attribute> attributes) {
  return onlyResult(op, Adopted(op, {operands.begin(), operands.size()}), {attributes.begin(), attributes.size()},
                    lineOfFirst(operands));
}

std::vector<Tensor> applyPublicAll(OpId op, std::initializer_list<const Operand *> operands,
                                   std::initializer_list<schema::Attribute> attributes) {
  return allResults(op, Adopted(op, {operands.begin(), operands.size()}), {attributes.begin(), attributes.size()},
                    lineOfFirst(operands));
}

Tensor applyPublicOpen(OpId open, std::initializer_list<const Operand *> operands, const Shape &shape,
                       std::initializer_list<schema::Attribute> others, SourceLocation where) {
  return applyOpen(open, adoptNumbers(open, {operands.begin(), operands.size()}), shape, others, where);
}

// An attribute is a real number. Beside complex numbers it is one of their parts.
schema::Scalar numberFor(const Operand &x, const Number &number) {
  const DType dtype = real_of(x.defaultDType());
  return dispatch(dtype, [&]<typename T>(std::type_identity<T>) {
    T element;
    number.convert(dtype, &element, x.where());
    return schema::Scalar(static_cast<detail::Arithmetic<T>>(element));
  });
}

Tensor applyPublic(OpId op, const std::vector<Tensor> &operands, std::initializer_list<schema::Attribute> attributes,
                   SourceLocation where) {
  return apply(op, operands, {attributes.begin(), attributes.size()}, where);
}

} // namespace detail
} // namespace calque
