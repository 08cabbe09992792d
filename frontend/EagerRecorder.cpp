// Records for eager tapes: operations when they are applied, and the operations of compiled functions when these
// return.
#include "frontend/PerThread.h"
#include "frontend/Tape.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "frontend/Apply.h"

namespace calque::detail {

using schema::OpId;
using schema::ValueId;

namespace {
std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }
} // namespace

namespace {
struct OwnTapes {
  std::shared_ptr<ThreadTapes> tapes = std::make_shared<ThreadTapes>();
};
} // namespace

const std::shared_ptr<ThreadTapes> &threadTapes() { return PerThread<OwnTapes>::get().tapes; }

ValueId EagerRecorder::valueOf(const Tensor &x, SourceLocation where) {
  const TensorImpl &impl = implOf(x, where);
  if (impl.trace)
    throwLeaked(impl, where);
  auto found = values.find(impl.id);
  if (found != values.end())
    return found->second;
  ValueId value = recording.addParameter(*impl.type);
  leaves.push_back(x);
  values.emplace(impl.id, value);
  return value;
}

void EagerRecorder::track(ValueId value) {
  if (tracked.size() <= index(value))
    tracked.resize(index(value) + 1);
  tracked[index(value)] = true;
}

bool EagerRecorder::isTracked(const Tensor &x) const {
  auto found = values.find(implOf(x).id);
  return found != values.end() && index(found->second) < tracked.size() && tracked[index(found->second)];
}

bool eagerTapesActive() { return eagerRecorder() != nullptr; }

void recordEager(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 std::span<const Tensor> results, SourceLocation where) {
  EagerRecorder &recorder = *eagerRecorder();
  bool any = false;
  for (const Tensor &operand : operands)
    any |= recorder.isTracked(operand);
  // The result of an operation without a gradient becomes a leaf where it is used.
  const schema::OperationSchema &schema = schema::schemaOf(op);
  if (!any || !(schema.differentiable || schema.lacksGradient))
    return;
  std::vector<ValueId> values;
  for (const Tensor &operand : operands)
    values.push_back(recorder.valueOf(operand));
  std::vector<schema::TensorType> types;
  for (const Tensor &result : results)
    types.push_back(*implOf(result).type);
  ValueId first = recorder.recording.append(op, values, attributes, types, recordedLine(where));
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueId value = first + static_cast<ValueId>(i);
    recorder.values.emplace(results[i].impl()->id, value);
    if (is_floating(types[i].dtype))
      recorder.track(value);
  }
}

namespace {
// A result of a host call in a vmap: on one slice, and stacked along the mapped axis.
struct HostExample {
  ValueId ofOne, ofAll;
};

// The results of host calls on slices, by the first result of the `batch` that their operands come from. Only stacked
// values are among the call's results; a slice is taken from these.
absl::flat_hash_map<ValueId, std::vector<HostExample>> hostExamples(const schema::Recording &called) {
  absl::flat_hash_map<ValueId, std::vector<HostExample>> examples;
  absl::flat_hash_map<ValueId, ValueId> batchOf; // by example
  absl::flat_hash_set<ValueId> ofOne;
  absl::flat_hash_set<ValueId> known(called.results.begin(), called.results.end());
  auto add = [&](const schema::RecordedOp &op) {
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      if (ValueId value = op.firstResult + static_cast<ValueId>(r); !known.contains(value))
        ofOne.insert(value);
  };
  for (const schema::RecordedOp &op : called.ops()) {
    if (op.op == OpId::HostCall)
      add(op);
    if (op.op == OpId::Batch)
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        batchOf[op.firstResult + static_cast<ValueId>(r)] = op.firstResult;
    if (op.op != OpId::Unbatch || ofOne.empty())
      continue;
    std::span<const ValueId> operands = called.operandsOf(op);
    const auto &axes = std::get<std::vector<std::int64_t>>(called.attributesOf(op)[0]);
    ValueId batch = batchOf.at(operands[operands.size() - 2]);
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      if (axes[r] != 0 || !ofOne.contains(operands[r]))
        continue;
      ValueId ofAll = op.firstResult + static_cast<ValueId>(r);
      examples[batch].push_back({operands[r], ofAll});
      if (!known.contains(ofAll))
        ofOne.insert(ofAll);
    }
  }
  return examples;
}
} // namespace

void recordCall(const schema::Recording &called, std::span<const Tensor *const> parameters,
                std::span<const std::shared_ptr<VariableState>> variables, std::span<const Tensor> before,
                std::span<const Tensor> results) {
  EagerRecorder &recorder = *eagerRecorder();
  for (std::size_t i = 0; i < variables.size(); ++i)
    noteVariableRead(variables[i], before[i]);
  bool any = false;
  for (const Tensor *parameter : parameters)
    any |= recorder.isTracked(*parameter);
  for (const Tensor &value : before)
    any |= recorder.isTracked(value);
  if (!any)
    return;

  std::vector<ValueId> renamed(called.numValues(), -1);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    renamed[index(called.parameters[i])] = recorder.valueOf(*parameters[i]);
  std::vector<ValueId> assigned(variables.size(), -1);
  absl::flat_hash_map<ValueId, std::vector<HostExample>> fromHost = hostExamples(called);
  // A result of a host call can't be recomputed. It is among the call's results, and becomes a leaf.
  auto resultOfCall = [&](ValueId value) -> ValueId {
    for (std::size_t i = 0; i < results.size(); ++i)
      if (called.results[i] == value)
        return recorder.valueOf(results[i]);
    return -1;
  };
  for (const schema::RecordedOp &op : called.ops()) {
    std::span<const ValueId> operands = called.operandsOf(op);
    std::span<const schema::Attribute> attributes = called.attributesOf(op);
    if (op.op == OpId::VariableRead) {
      auto variable = static_cast<std::size_t>(std::get<std::int64_t>(attributes[0]));
      if (assigned[variable] < 0) {
        renamed[index(op.firstResult)] = recorder.valueOf(before[variable]);
      } else {
        // No gradient passes from a read to the value that was assigned.
        schema::TensorType type = called.typeOf(op.firstResult);
        renamed[index(op.firstResult)] =
            recorder.recording.append(OpId::StopGradient, {&assigned[variable], 1}, {}, {&type, 1}, op.line);
        for (TapeState *tape : activeTapes())
          if (tape->eager)
            tape->noteRead(variables[variable], renamed[index(op.firstResult)]);
      }
      continue;
    }
    if (op.op == OpId::VariableAssign) {
      assigned[static_cast<std::size_t>(std::get<std::int64_t>(attributes[0]))] = renamed[index(operands[0])];
      continue;
    }
    if (!schema::schemaOf(op.op).pure) { // it has had its effect
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        if (ValueId &value = renamed[index(op.firstResult) + r]; value < 0)
          value = resultOfCall(op.firstResult + static_cast<ValueId>(r));
      continue;
    }
    std::vector<ValueId> values;
    bool tracked = false;
    for (ValueId operand : operands) {
      values.push_back(renamed[index(operand)]);
      tracked |= index(values.back()) < recorder.tracked.size() && recorder.tracked[index(values.back())];
    }
    std::vector<schema::TensorType> types;
    std::vector<schema::Attribute> extended;
    std::span<const HostExample> added;
    if (auto found = fromHost.find(op.firstResult); found != fromHost.end()) {
      added = found->second;
      auto axes = std::get<std::vector<std::int64_t>>(attributes[0]);
      for (const HostExample &each : added) {
        ValueId ofAll = renamed[index(each.ofAll)];
        values.push_back(ofAll >= 0 ? ofAll : resultOfCall(each.ofAll));
        axes.push_back(0);
      }
      extended.emplace_back(std::move(axes));
      attributes = extended;
    }
    bool known = true;
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      types.push_back(called.typeOf(op.firstResult + static_cast<ValueId>(r)));
      known = known && types.back().isStatic();
    }
    for (const HostExample &each : added)
      types.push_back(called.typeOf(each.ofOne));
    // Sizes that are open in the trace are known in this call.
    if (!known) {
      std::vector<schema::TensorType> operandTypes;
      for (ValueId value : values)
        operandTypes.push_back(recorder.recording.typeOf(value));
      schema::Inference inference = schema::inferTypes(op.op, operandTypes, attributes, nameInMessages(op.op, op.line));
      if (inference.fault)
        throwFault(inference.fault, locationOf(op.line));
      types = std::move(inference.types);
    }
    ValueId first = recorder.recording.append(op.op, values, attributes, types, op.line);
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      ValueId value = first + static_cast<ValueId>(r);
      renamed[index(op.firstResult) + r] = value;
      if (tracked && (schema::schemaOf(op.op).differentiable || schema::schemaOf(op.op).lacksGradient) &&
          is_floating(types[r].dtype))
        recorder.track(value);
    }
    for (std::size_t i = 0; i < added.size(); ++i)
      renamed[index(added[i].ofOne)] = first + static_cast<ValueId>(op.numResults + i);
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    recorder.values.emplace(results[i].impl()->id, renamed[index(called.results[i])]);
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
