#include "frontend/Trace.h"

#include "calque/init_scope.h"
#include "frontend/Apply.h"
#include "frontend/Execute.h"
#include "frontend/ObjectPool.h"
#include "frontend/Tape.h"

#include <cstring>

namespace calque::detail {

using schema::OpId;
using schema::ValueId;

namespace {
thread_local std::shared_ptr<Trace> current;
}

const std::shared_ptr<Trace> &currentTrace() { return current; }
TraceScope::TraceScope(std::shared_ptr<Trace> trace, bool ends) : previous(std::move(current)), ends(ends) {
  current = std::move(trace);
}
TraceScope::~TraceScope() {
  if (current && ends)
    current->ended = true;
  current = std::move(previous);
}

void Trace::noteSizesAsked(const TensorImpl &x) {
  if (!mayFallBack || x.trace != id || x.type->isStatic() || inLibraryCall())
    return;
  if (!askedForSizes)
    askedAt = x.where;
  askedForSizes = true;
  throw SizesAsked{askedAt};
}

Tensor Trace::tensorOf(ValueId value, SourceLocation where) const {
  auto impl = std::allocate_shared<TensorImpl>(PoolAllocator<TensorImpl>());
  impl->type = std::make_shared<const schema::TensorType>(recording.typeOf(value));
  impl->id = nextId();
  impl->trace = id;
  impl->value = value;
  impl->where = where;
  return Tensor(std::move(impl));
}

std::shared_ptr<Trace> Trace::inside(std::shared_ptr<Trace> outer, const char *what) {
  auto trace = std::make_shared<Trace>(false);
  trace->inner = what;
  // Every capture becomes an operand, also a small tensor: gradients pass to it, and eager code is cached by structure,
  // which must not contain elements.
  trace->mostConstantElements = 0;
  trace->recording.name = what;
  trace->outer = std::move(outer);
  return trace;
}

bool Trace::isAround(std::uint64_t trace) const {
  for (const Trace *around = outer.get(); around; around = around->outer.get())
    if (around->id == trace)
      return true;
  return false;
}

Tensor Trace::addParameter(TypeRef type) {
  ++numArguments;
  return tensorOf(recording.addParameter(*type), {});
}

ValueId Trace::append(OpId op, std::span<const ValueId> operands, std::span<const schema::Attribute> attributes,
                      std::span<const schema::TensorType> results, SourceLocation where) {
  return recording.append(op, operands, attributes, results, lineOf(where));
}

ValueId Trace::constant(const schema::TensorType &type, const void *data, bool splat, SourceLocation where) {
  auto constant = std::make_shared<schema::ConstantData>();
  constant->type = type;
  constant->splat = splat;
  constant->bytes.resize(splat ? size_of(type.dtype) : type.numBytes());
  if (!constant->bytes.empty())
    std::memcpy(constant->bytes.data(), data, constant->bytes.size());
  schema::Attribute attribute = schema::ConstantRef(std::move(constant));
  return append(OpId::Constant, {}, {&attribute, 1}, {&type, 1}, where);
}

ValueId Trace::valueOf(const Tensor &x, SourceLocation where) {
  const TensorImpl &impl = implOf(x, where);
  if (impl.trace == id)
    return impl.value;
  if (impl.trace && !isAround(impl.trace))
    throwLeaked(impl, where);
  auto found = captured.find(impl.id);
  if (found != captured.end())
    return found->second;
  ValueId value;
  if (!impl.trace && impl.type->numElements() <= mostConstantElements) {
    value = constant(*impl.type, impl.buffer.data(), false, where);
  } else {
    value = recording.addParameter(*impl.type);
    captures.push_back(x);
  }
  captured.emplace(impl.id, value);
  return value;
}

ValueId Trace::ownValue(const Tensor &result, std::size_t numBefore, std::span<const ValueId> others,
                        SourceLocation where) {
  ValueId value = valueOf(result, where);
  auto isAmong = [&](std::span<const ValueId> values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  auto isCapture = [&] {
    return std::any_of(captured.begin(), captured.end(), [&](const auto &capture) { return capture.second == value; });
  };
  if (static_cast<std::size_t>(value) >= numBefore && !isAmong(recording.parameters) && !isAmong(others) &&
      !isAmong(reads) && !isCapture())
    return value;
  const schema::TensorType type = recording.typeOf(value);
  return append(OpId::Identity, {&value, 1}, {}, {&type, 1}, where);
}

std::size_t Trace::indexOf(const std::shared_ptr<VariableState> &variable) {
  std::shared_ptr<VariableState> state = variable;
  for (std::size_t i = 0; i < standIns.size(); ++i)
    if (standIns[i]->original == variable) {
      capturedArguments[i] = true;
      state = standIns[i];
    }
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (variables[i] == state)
      return i;
  variables.push_back(state);
  reads.push_back(-1);
  recording.variables.push_back({*state->type, state->name});
  return variables.size() - 1;
}

Tensor Trace::read(const std::shared_ptr<VariableState> &variable, SourceLocation where) {
  if (inner) { // reads it in the trace around, as an operand of the operation
    TraceScope around(outer, false);
    return Variable(variable).value(where);
  }
  std::size_t index = indexOf(variable);
  if (reads[index] < 0) {
    const schema::TensorType &type = *variable->type;
    schema::Attribute attributes[] = {static_cast<std::int64_t>(index), type.dims, type.dtype};
    reads[index] = append(OpId::VariableRead, {}, attributes, {&type, 1}, where);
  }
  return tensorOf(reads[index], where);
}

void Trace::assign(const std::shared_ptr<VariableState> &variable, const Tensor &value, SourceLocation where) {
  if (inner)
    throw StateError(
        "variable '" + variable->name + "' is assigned in " + inner + ", which may run any number of times", where);
  ValueId operand = valueOf(value, where);
  std::size_t index = indexOf(variable);
  schema::Attribute attribute = static_cast<std::int64_t>(index);
  append(OpId::VariableAssign, {&operand, 1}, {&attribute, 1}, {}, where);
  reads[index] = -1;
}

std::vector<schema::ValueId> Trace::hostResults() const {
  std::vector<schema::ValueId> values;
  if (hostFunctions.empty())
    return values;
  for (const schema::RecordedOp &op : recording.ops()) {
    if (op.op != OpId::HostCall)
      continue;
    for (std::uint32_t i = 0; i < op.numResults; ++i) {
      schema::ValueId value = op.firstResult + static_cast<schema::ValueId>(i);
      for (auto found = stackedHostResults.find(value); found != stackedHostResults.end();
           found = stackedHostResults.find(value))
        value = found->second;
      values.push_back(value);
    }
  }
  return values;
}

std::vector<schema::ValueId> Trace::hostResultsFrom(schema::ValueId example) const {
  std::vector<schema::ValueId> values = hostResults();
  if (values.empty())
    return values;
  std::vector<bool> follows(recording.numValues());
  bool begun = false;
  for (const schema::RecordedOp &op : recording.ops()) {
    auto first = static_cast<std::size_t>(op.firstResult);
    bool isBegin = example >= op.firstResult && example < op.firstResult + static_cast<schema::ValueId>(op.numResults);
    begun |= isBegin;
    if (!begun)
      continue;
    std::span<const schema::ValueId> operands = recording.operandsOf(op);
    bool any = isBegin || std::any_of(operands.begin(), operands.end(),
                                      [&](schema::ValueId value) { return follows[static_cast<std::size_t>(value)]; });
    std::fill_n(follows.begin() + static_cast<std::ptrdiff_t>(first), op.numResults, any);
  }
  std::erase_if(values, [&](schema::ValueId value) { return !follows[static_cast<std::size_t>(value)]; });
  return values;
}

Tensor Trace::evaluate(const Tensor &x, SourceLocation where) const {
  const TensorImpl &impl = implOf(x, where);
  if (!impl.trace)
    return x;
  if (impl.trace != id)
    throwLeaked(impl, where);
  Slice slice = sliceOf(recording, {&impl.value, 1});
  bool needsArguments = false;
  for (std::size_t parameter : slice.parameters)
    needsArguments |= parameter < numArguments;
  for (const schema::RecordedOp &op : slice.recording.ops())
    needsArguments |= op.op == OpId::HostCall;
  if (needsArguments || slice.readsVariables)
    throw StateError("a variable that is made while tracing has an initial value that does not depend on the "
                     "function's arguments, on "
                     "other variables or on a host call",
                     where);
  std::vector<Tensor> parameters(numArguments);
  parameters.insert(parameters.end(), captures.begin(), captures.end());
  TraceScope eager(nullptr);
  return runSlice(slice, parameters, where)[0];
}

} // namespace calque::detail

namespace calque {

InitScope::InitScope() : trace(std::move(detail::current)) { detail::current = nullptr; }
InitScope::~InitScope() { detail::current = std::move(trace); }

} // namespace calque
