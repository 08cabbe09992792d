#include "frontend/core/Trace.h"

#include "absl/strings/str_cat.h"
#include "calque/init_scope.h"
#include "frontend/compiled/CodeByStructure.h"
#include "frontend/compiled/VariableLocks.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/ObjectPool.h"
#include "frontend/core/PerThread.h"
#include "frontend/core/RecordedOperations.h"
#include "frontend/gradients/Activity.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <cstring>
#include <ranges>

namespace calque::detail {

using schema::OpId;
using schema::ValueId;

namespace {
struct OwnTrace {
  std::shared_ptr<Trace> current;
};
std::shared_ptr<Trace> &ownTrace() { return PerThread<OwnTrace>::get().current; }

thread_local std::size_t recordedOperations = 0;
} // namespace

std::size_t numRecordedOperations() { return recordedOperations; }

const std::shared_ptr<Trace> &currentTrace() { return ownTrace(); }
TraceScope::TraceScope(std::shared_ptr<Trace> trace, bool ends) : previous(std::move(ownTrace())), ends(ends) {
  ownTrace() = std::move(trace);
}
TraceScope::~TraceScope() {
  std::shared_ptr<Trace> &current = ownTrace();
  if (current && ends)
    current->ended = true;
  current = std::move(previous);
}

void Trace::noteSizesAsked(const TensorImpl &x, const std::string &size) {
  if (!mayFallBack || !sees(x.trace) || x.type->isStatic() || inLibraryCall())
    return;
  if (!askedForSizes)
    asked = size;
  askedForSizes = true;
  throw SizesAsked{asked};
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
  trace->call = outer ? outer->call : SourceLocation();
  trace->madeConstants = outer ? outer->madeConstants : nullptr;
  trace->outer = std::move(outer);
  return trace;
}

std::shared_ptr<Trace> Trace::region(std::shared_ptr<Trace> outer, const char *what) {
  std::shared_ptr<Trace> trace = inside(std::move(outer), what);
  trace->isRegion = true;
  trace->mayFallBack = trace->outer && trace->outer->mayFallBack;
  return trace;
}

Trace &Trace::root() {
  Trace *trace = this;
  while (trace->isRegion)
    trace = trace->outer.get();
  return *trace;
}

Trace::Held &Trace::hold(const std::shared_ptr<VariableState> &variable, SourceLocation where) {
  std::size_t index = root().indexOf(variable);
  auto found = std::ranges::find(held_, index, &Held::index);
  if (found != held_.end())
    return *found;
  Tensor value;
  {
    TraceScope around(outer, false);
    value = Variable(variable).value(where);
  }
  ValueId parameter = valueOf(value, where);
  return held_.emplace_back(Held{index, parameter, parameter});
}

const Trace *Trace::around(std::uint64_t trace) const {
  for (const Trace *each = this; each; each = each->outer.get())
    if (each->id == trace)
      return each;
  return nullptr;
}

bool Trace::isAround(std::uint64_t trace) const { return outer && outer->around(trace); }

Tensor Trace::addParameter(TypeRef type, std::string name) {
  ++numArguments;
  argumentNames.push_back(std::move(name));
  return tensorOf(recording.addParameter(*type), call);
}

ValueId Trace::append(OpId op, std::span<const ValueId> operands, std::span<const schema::Attribute> attributes,
                      std::span<const schema::TensorType> results, SourceLocation where) {
  ++recordedOperations;
  return recording.append(op, operands, attributes, results, recordedLine(where));
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
  ValueId value = recording.addParameter(*impl.type);
  captures.push_back(x);
  captureLines.push_back(recordedLine(where));
  captured.emplace(impl.id, value);
  return value;
}

std::vector<ValueId> Trace::ownValues(std::span<const Tensor> results, std::optional<std::size_t> inlinedAfter,
                                      SourceLocation where) {
  std::vector<ValueId> values;
  for (const Tensor &result : results) // which captures what is outside
    values.push_back(valueOf(result, where));
  // Those of captured tensors are parameters too, which may be many: to go through them for each of many calls would
  // take quadratic time. They are in the order of their numbers.
  const std::vector<ValueId> &parameters = recording.parameters;
  auto isGiven = [&](ValueId value) {
    return std::ranges::binary_search(parameters, value) || std::ranges::find(reads, value) != reads.end();
  };
  const std::size_t numBefore = inlinedAfter.value_or(0);
  HashSet<ValueId> others;
  if (inlinedAfter && values.size() > 1) { // another result may be made of what the call has used
    const HashSet<ValueId> own(values.begin(), values.end());
    for (const schema::RecordedOp &op : recording.ops() | std::views::reverse) {
      if (schema::index(op.firstResult) < numBefore)
        break;
      for (ValueId operand : recording.operandsOf(op))
        if (own.contains(operand))
          others.insert(operand);
    }
  }
  for (ValueId &value : values)
    if (schema::index(value) < numBefore || isGiven(value) || !others.insert(value).second) {
      const schema::TensorType type = recording.typeOf(value);
      value = append(OpId::Identity, {&value, 1}, {}, {&type, 1}, where);
    }
  return values;
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
  if (isRegion) {
    Held &held = hold(variable, where);
    held.read = true;
    held.readAssigned |= held.assigned;
    return tensorOf(held.value, where);
  }
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
  if (isRegion) {
    ValueId given = valueOf(value, where);
    const schema::TensorType type = recording.typeOf(given);
    // Derivatives don't follow a variable to the computation of what it is assigned.
    ValueId fresh = append(OpId::StopGradient, {&given, 1}, {}, {&type, 1}, where);
    Held &held = hold(variable, where);
    held.value = fresh;
    held.assigned = true;
    return;
  }
  if (inner)
    throw StateError(
        absl::StrCat("variable '", variable->name, "' is assigned in ", inner, ", which may run any number of times"),
        where);
  ValueId operand = valueOf(value, where);
  std::size_t index = indexOf(variable);
  schema::Attribute attribute = static_cast<std::int64_t>(index);
  append(OpId::VariableAssign, {&operand, 1}, {&attribute, 1}, {}, where);
  reads[index] = -1;
}

std::vector<schema::ValueId> Trace::hostResults() const {
  std::vector<schema::ValueId> values;
  for (const schema::RecordedOp &op : recording.ops()) {
    if (!schema::runsOnce(recording, op))
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

const Activity &Trace::dependingOn(const std::vector<schema::ValueId> &values) {
  std::span<const schema::RecordedOp> ops = recording.ops();
  if (!depending.activity || depending.values != values) {
    // No operation before the first of the values depends on one.
    const schema::ValueId first =
        values.empty() ? static_cast<schema::ValueId>(recording.numValues()) : *std::ranges::min_element(values);
    auto from = std::ranges::lower_bound(ops, first, {}, &schema::RecordedOp::firstResult);
    if (from != ops.begin())
      --from; // which may give it with others
    depending = {values, std::make_shared<Activity>(recording), static_cast<std::size_t>(from - ops.begin())};
    for (schema::ValueId value : values)
      depending.activity->watch(value);
  }
  depending.activity->grow();
  for (; depending.next < ops.size(); ++depending.next)
    depending.activity->forward(depending.next);
  return *depending.activity;
}

std::vector<schema::ValueId> Trace::hostResultsFrom(schema::ValueId example) const {
  std::vector<schema::ValueId> values = hostResults();
  if (values.empty())
    return values;
  std::vector<bool> follows(recording.numValues());
  bool begun = false;
  for (const schema::RecordedOp &op : recording.ops()) {
    auto first = schema::index(op.firstResult);
    bool isBegin = example >= op.firstResult && example < op.firstResult + static_cast<schema::ValueId>(op.numResults);
    begun |= isBegin;
    if (!begun)
      continue;
    std::span<const schema::ValueId> operands = recording.operandsOf(op);
    bool any = isBegin || std::any_of(operands.begin(), operands.end(),
                                      [&](schema::ValueId value) { return follows[schema::index(value)]; });
    std::fill_n(follows.begin() + static_cast<std::ptrdiff_t>(first), op.numResults, any);
  }
  std::erase_if(values, [&](schema::ValueId value) { return !follows[schema::index(value)]; });
  return values;
}

//===-- Initial values --------------------------------------------------------------------------===//

void Trace::noteDraw(const std::shared_ptr<VariableState> &generator, const Tensor &before) {
  if (isRegion)
    return;
  const schema::RecordedOp &assignment = recording.ops().back();
  draws.push_back(
      {generator, implOf(before).value, recording.operandsOf(assignment)[0], recording.ops().size() - 1, {}});
}

namespace {
Tensor valueNow(const VariableState &variable, SourceLocation where) {
  refuseHeld(variable, where);
  std::shared_lock lock(variable.mutex);
  return variable.value;
}
} // namespace

Tensor Trace::evaluate(const Tensor &x, SourceLocation where) {
  const TensorImpl &impl = implOf(x, where);
  if (!impl.trace)
    return x;
  if (impl.trace != id)
    throwLeaked(impl, where);
  Slice whole = sliceOf(recording, {&impl.value, 1});
  bool mayBeLifted = true;
  for (std::size_t parameter : whole.parameters)
    mayBeLifted &= parameter >= numArguments;
  for (const schema::RecordedOp &op : whole.recording.ops())
    mayBeLifted &= op.op != OpId::HostCall && op.op != OpId::OrderedExtern;

  std::vector<Tensor> given(numArguments);
  given.insert(given.end(), captures.begin(), captures.end());
  std::vector<ValueId> reads;
  TraceScope eager(nullptr, false);
  auto valueFrom = [&](ValueId value) { return runSlice(sliceOf(recording, {&value, 1}, reads), given, where)[0]; };
  std::span<const schema::RecordedOp> ops = recording.ops();
  for (std::size_t i = 0; mayBeLifted && i < ops.size(); ++i) {
    ValueId read = ops[i].firstResult;
    if (ops[i].op != OpId::VariableRead || std::find(whole.reads.begin(), whole.reads.end(), read) == whole.reads.end())
      continue;
    const std::shared_ptr<VariableState> &variable =
        variables[static_cast<std::size_t>(std::get<std::int64_t>(recording.attributesOf(ops[i])[0]))];
    auto draw = std::find_if(draws.begin(), draws.end(), [&](const Draw &each) { return each.before == read; });
    bool isDrawn = draw != draws.end() && draw->drawnFrom;
    // Earlier draws are of the calls, and come after those for initial values.
    bool isAssigned = false;
    for (std::size_t before = 0; before < i; ++before)
      isAssigned |= ops[before].op == OpId::VariableAssign &&
                    recording.attributesOf(ops[before])[0] == recording.attributesOf(ops[i])[0] &&
                    (draw == draws.end() || std::none_of(draws.begin(), draws.end(),
                                                         [&](const Draw &each) { return each.assignment == before; }));
    if (variable->standIn || isAssigned) {
      mayBeLifted = false;
      break;
    }
    reads.push_back(read);
    given.push_back(isDrawn ? *draw->drawnFrom : valueNow(*variable, where));
    if (draw != draws.end() && !isDrawn) {
      draw->drawnFrom = given.back();
      Tensor after = valueFrom(draw->after);
      std::unique_lock lock(variable->mutex);
      variable->value = after;
    }
  }
  if (!mayBeLifted)
    throw StateError("a variable that is made while tracing has an initial value that does not depend on the "
                     "function's arguments, on variables that it has assigned or on a host call",
                     where);
  return valueFrom(impl.value);
}

ValueId Trace::appendConstantOf(std::size_t capture, schema::Recording &to) const {
  const TensorImpl &impl = *captures[capture].impl();
  auto data = std::make_shared<schema::ConstantData>();
  data->type = *impl.type;
  const auto *first = static_cast<const std::byte *>(impl.buffer.data());
  data->bytes.assign(first, first + impl.type->numBytes());
  schema::Attribute attribute = schema::ConstantRef(std::move(data));
  return to.append(OpId::Constant, {}, {&attribute, 1}, {impl.type.get(), 1}, captureLines[capture]);
}

void Trace::finish(bool every) {
  std::vector<bool> dropped(recording.ops().size());
  for (const Draw &draw : draws)
    dropped[draw.assignment] = draw.drawnFrom.has_value();
  std::vector<bool> needed(recording.numValues());
  auto need = [&](std::span<const ValueId> values) {
    for (ValueId value : values)
      needed[schema::index(value)] = true;
  };
  need(recording.results);
  for (std::size_t i = recording.ops().size(); i-- > 0;) {
    const schema::RecordedOp &op = recording.ops()[i];
    bool stays = schema::hasEffect(recording, op) && !dropped[i];
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      stays |= needed[schema::index(op.firstResult) + r];
    if (stays)
      need(recording.operandsOf(op));
  }
  // Numbers that the function uses, too, are drawn in every call.
  for (const Draw &draw : draws)
    if (needed[static_cast<std::size_t>(draw.before)])
      dropped[draw.assignment] = false;

  schema::Recording finished;
  finished.name = recording.name;
  finished.line = recording.line;
  finished.variables = recording.variables;
  std::vector<ValueId> renamed(recording.numValues(), -1);
  std::vector<std::size_t> constants;
  std::vector<Tensor> kept;
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    ValueId parameter = recording.parameters[i];
    if (i >= numArguments) {
      const Tensor &capture = captures[i - numArguments];
      if (every || (!capture.impl()->trace && capture.impl()->type->numElements() <= mostConstantElements &&
                    capture.impl().use_count() == 1)) {
        constants.push_back(i);
        continue;
      }
      kept.push_back(capture);
    }
    renamed[schema::index(parameter)] = finished.addParameter(recording.typeOf(parameter));
  }
  if (constants.empty() && std::find(dropped.begin(), dropped.end(), true) == dropped.end())
    return;
  for (std::size_t i : constants) {
    renamed[schema::index(recording.parameters[i])] = appendConstantOf(i - numArguments, finished);
  }
  for (std::size_t i = 0; i < recording.ops().size(); ++i)
    if (!dropped[i])
      finished.appendCopy(recording, recording.ops()[i], renamed);
  for (ValueId result : recording.results)
    finished.results.push_back(renamed[schema::index(result)]);
  recording = std::move(finished);
  captures = std::move(kept);
}

} // namespace calque::detail

namespace calque {

InitScope::InitScope() : trace(std::move(detail::ownTrace())) { detail::ownTrace() = nullptr; }
InitScope::~InitScope() { detail::ownTrace() = std::move(trace); }

} // namespace calque
