// Records for eager tapes: an operation when it is applied, and a call of a compiled function when it returns.
#include "absl/cleanup/cleanup.h"
#include "frontend/core/Numerics.h"
#include "frontend/core/PerThread.h"
#include "frontend/gradients/Tape.h"

#include "frontend/core/CallNames.h"

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::ValueId;

namespace {
constexpr std::size_t kMostCountedOperands = 31; // later operands have no bit in a record's `gradientTakes`

struct OwnTapes {
  std::shared_ptr<ThreadTapes> tapes = std::make_shared<ThreadTapes>();
};
} // namespace

const std::shared_ptr<ThreadTapes> &threadTapes() { return PerThread<OwnTapes>::get().tapes; }

ValueId EagerRecorder::valueOf(const Tensor &x, SourceLocation where) {
  const TensorImpl &impl = implOf(x, where);
  if (impl.trace)
    throwLeaked(impl, where);
  if (auto found = values.find(impl.id); found != values.end())
    return found->second;
  // The value is entered last, once all memory is allocated. If memory runs out before, a parameter is left that
  // nothing refers to, which does no harm.
  const ValueId value = recording.addParameter(*impl.type);
  setId(value, impl.id);
  values.try_emplace(impl.id, value);
  return value;
}

void EagerRecorder::setId(ValueId value, std::uint64_t id) {
  if (ids.size() <= index(value))
    ids.resize(index(value) + 1);
  ids[index(value)] = id;
}

void EagerRecorder::track(ValueId value) {
  if (tracked.size() <= index(value))
    tracked.resize(index(value) + 1);
  tracked[index(value)] = true;
}

bool EagerRecorder::isTracked(const Tensor &x) const {
  auto found = values.find(implOf(x).id);
  return found != values.end() && isTracked(found->second);
}

void EagerRecorder::keep(ValueId value, const Tensor &x) {
  if (kept.size() <= index(value))
    kept.resize(index(value) + 1);
  if (x.impl()->buffer.data() || !kept[index(value)].impl())
    kept[index(value)] = x;
}

Tensor EagerRecorder::tensorOf(ValueId value) const {
  if (index(value) < kept.size() && kept[index(value)].impl())
    return kept[index(value)];
  auto impl = std::make_shared<TensorImpl>();
  impl->type = std::make_shared<const schema::TensorType>(recording.typeOf(value));
  impl->id = ids[index(value)];
  return Tensor(std::move(impl));
}

void EagerRecorder::record(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                           std::span<const Tensor> results, SourceLocation where) {
  bool any = false;
  for (const Tensor &operand : operands)
    any |= isTracked(operand);
  // The result of an operation without a gradient becomes a leaf where it is used.
  const schema::OperationSchema &schema = schema::schemaOf(op);
  if (!any || !(schema.differentiable || schema.lacksGradient))
    return;
  const bool isComplex = std::ranges::any_of(operands, [](const Tensor &x) { return is_complex(x.dtype()); }) ||
                         std::ranges::any_of(results, [](const Tensor &x) { return is_complex(x.dtype()); });
  std::vector<ValueId> values;
  std::uint32_t taken = 0; // what derivatives read, by any operand, because one may be watched later
  for (std::size_t i = 0; i < operands.size(); ++i) {
    values.push_back(valueOf(operands[i]));
    if (is_inexact(operands[i].dtype()))
      taken |= schema.takenBy(i, isComplex);
  }
  if (checksNumerics()) [[unlikely]] // the checks read all elements
    taken = ~std::uint32_t(0);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (i >= kMostCountedOperands ? taken == ~std::uint32_t(0) : taken >> i & 1)
      keep(values[i], operands[i]);
  ValueId first = append(op, values, attributes, results, recordedLine(where));
  if (taken & schema::OperationSchema::kResultBit)
    for (std::size_t i = 0; i < results.size(); ++i)
      keep(first + static_cast<ValueId>(i), results[i]);
}

ValueId EagerRecorder::append(OpId op, std::span<const ValueId> operands, std::span<const schema::Attribute> attributes,
                              std::span<const Tensor> results, const schema::SourceLine &line) {
  std::vector<schema::TensorType> types;
  for (const Tensor &result : results)
    types.push_back(*implOf(result).type);
  ValueId first = recording.append(op, operands, attributes, types, line);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueId value = first + static_cast<ValueId>(i);
    values.emplace(results[i].impl()->id, value);
    setId(value, results[i].impl()->id);
    if (is_inexact(types[i].dtype))
      track(value);
  }
  return first;
}

void EagerRecorder::recordCall(const CalledProgram &called, std::span<const Tensor *const> parameters,
                               std::span<const std::shared_ptr<VariableState>> variables,
                               std::span<const Tensor> before, std::span<const Tensor> results, SourceLocation where) {
  using From = CalledProgram::From;
  const schema::Recording &program = *called.recording;
  std::vector<ValueId> operands(called.inputs.size(), -1);
  std::vector<schema::TensorType> types(called.inputs.size());
  bool anyTracked = false, anyOpen = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto [from, number] = called.inputs[i];
    if (from == From::Assigned) {
      types[i] = program.typeOf(program.parameters[i]);
      anyOpen = anyOpen || !types[i].isStatic();
      continue;
    }
    const Tensor &x = from == From::Parameter  ? *parameters[number]
                      : from == From::Variable ? before[number]
                                               : results[number];
    operands[i] = valueOf(x);
    types[i] = *implOf(x).type;
    anyTracked = anyTracked || isTracked(operands[i]);
  }
  if (!anyTracked)
    return;
  // Sizes that are unknown in the program are known in this call.
  if (anyOpen) {
    std::vector<schema::TensorType> all = valueTypes(called, types);
    for (std::size_t i = 0; i < types.size(); ++i)
      types[i] = all[index(program.parameters[i])];
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto [from, number] = called.inputs[i];
    if (from == From::Assigned) {
      operands[i] = recording.addParameter(types[i]);
      setId(operands[i], nextId());
      values.emplace(ids.back(), operands[i]);
      for (TapeState *tape : activeTapes())
        if (tape->eager && !tape->isPaused())
          tape->noteRead(variables[number], operands[i]);
    } else {
      keep(operands[i], from == From::Parameter  ? *parameters[number]
                        : from == From::Variable ? before[number]
                                                 : results[number]);
    }
  }
  const std::size_t number = recording.ops().size();
  calls.try_emplace(number, std::make_unique<const CalledProgram>(called));
  absl::Cleanup forget = [&] { calls.erase(number); }; // if this fails, the next operation gets the number
  schema::Attribute attribute = called.recording;
  ValueId first = append(OpId::Checkpoint, operands, {&attribute, 1}, results, recordedLine(where));
  std::move(forget).Cancel();
  for (std::size_t i = 0; i < results.size(); ++i)
    keep(first + static_cast<ValueId>(i), results[i]);
}

bool eagerTapesActive() { return eagerRecorder() != nullptr; }

void recordEager(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 std::span<const Tensor> results, SourceLocation where) {
  eagerRecorder()->record(op, operands, attributes, results, where);
}

void recordCall(const CalledProgram &called, std::span<const Tensor *const> parameters,
                std::span<const std::shared_ptr<VariableState>> variables, std::span<const Tensor> before,
                std::span<const Tensor> results, SourceLocation where) {
  for (std::size_t i = 0; i < variables.size(); ++i)
    noteVariableRead(variables[i], before[i]);
  eagerRecorder()->recordCall(called, parameters, variables, before, results, where);
}

void noteVariableRead(const std::shared_ptr<VariableState> &variable, const Tensor &value) {
  const TensorImpl &impl = implOf(value);
  for (TapeState *tape : activeTapes())
    if (tape->isPaused())
      continue;
    else if (impl.trace ? tape->trace && tape->trace->id == impl.trace : tape->eager != nullptr)
      tape->noteRead(variable, tape->valueOf(value, {}));
}

} // namespace calque::detail
