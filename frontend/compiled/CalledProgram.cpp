#include "frontend/compiled/CalledProgram.h"

#include "frontend/core/Retyping.h"
#include "schema/HashTables.h"

#include <algorithm>

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::RecordedOp;
using schema::Recording;
using schema::ValueId;

namespace {
ValueId resultOf(const RecordedOp &op, std::size_t number) { return op.firstResult + static_cast<ValueId>(number); }

// A result of a host call in a vmap: on one slice, and stacked along the mapped axis.
struct HostExample {
  ValueId ofOne, ofAll;
};

// The results of host calls on slices, by the first result of the `batch` that their operands come from. Only stacked
// values are among the call's results; a slice is taken from these.
HashMap<ValueId, std::vector<HostExample>> hostExamples(const Recording &called) {
  HashMap<ValueId, std::vector<HostExample>> examples;
  HashMap<ValueId, ValueId> batchOf; // by example
  HashSet<ValueId> ofOne;
  HashSet<ValueId> known(called.results.begin(), called.results.end());
  for (const RecordedOp &op : called.ops()) {
    if (schema::runsOnce(called, op))
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        if (!known.contains(resultOf(op, r)))
          ofOne.insert(resultOf(op, r));
    if (op.op == OpId::Batch)
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        batchOf[resultOf(op, r)] = op.firstResult;
    if (op.op != OpId::Unbatch || ofOne.empty())
      continue;
    std::span<const ValueId> operands = called.operandsOf(op);
    const auto &axes = std::get<std::vector<std::int64_t>>(called.attributesOf(op)[0]);
    ValueId batch = batchOf.at(operands[operands.size() - 2]);
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      if (axes[r] != 0 || !ofOne.contains(operands[r]))
        continue;
      ValueId ofAll = resultOf(op, r);
      examples[batch].push_back({operands[r], ofAll});
      if (!known.contains(ofAll))
        ofOne.insert(ofAll);
    }
  }
  return examples;
}

// Whether a derivative of the call computes the operation's results again, or takes those that the call has got.
bool isComputedAgain(const Recording &called, const RecordedOp &op) {
  return schema::schemaOf(op.op).pure || (op.op == OpId::OrderedExtern && !schema::runsOnce(called, op));
}

// The operations that results depend on, also by a read of what they assign.
std::vector<bool> neededOps(const Recording &called) {
  std::vector<bool> needed(called.numValues()), ops(called.ops().size());
  std::vector<bool> wanted(called.variables.size()); // what is assigned to them, because it is read later
  for (ValueId result : called.results)
    needed[index(result)] = true;
  for (std::size_t i = ops.size(); i-- > 0;) {
    const RecordedOp &op = called.ops()[i];
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      ops[i] = ops[i] || needed[index(resultOf(op, r))];
    if (op.op == OpId::VariableRead || op.op == OpId::VariableAssign) {
      auto variable = static_cast<std::size_t>(std::get<std::int64_t>(called.attributesOf(op)[0]));
      if (op.op == OpId::VariableRead)
        wanted[variable] = wanted[variable] || ops[i];
      else if (wanted[variable])
        ops[i] = needed[index(called.operandsOf(op)[0])] = true;
      if (op.op == OpId::VariableAssign)
        wanted[variable] = false;
    } else if (ops[i] && isComputedAgain(called, op)) {
      for (ValueId operand : called.operandsOf(op))
        needed[index(operand)] = true;
    }
  }
  return ops;
}

class PureProgram {
public:
  explicit PureProgram(const Recording &called)
      : called(called), renamed(called.numValues(), -1), assigned(called.variables.size(), -1),
        before(called.variables.size(), -1), fromHost(hostExamples(called)) {}

  CalledProgram build() {
    pure.name = called.name;
    pure.line = called.line;
    for (std::size_t i = 0; i < called.parameters.size(); ++i)
      renamed[index(called.parameters[i])] =
          add(CalledProgram::From::Parameter, i, called.typeOf(called.parameters[i]));
    std::vector<bool> needed = neededOps(called);
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i])
        take(called.ops()[i]);
    for (ValueId result : called.results)
      pure.results.push_back(renamed[index(result)]);
    return {0, std::make_shared<const Recording>(std::move(pure)), std::move(inputs)};
  }

private:
  ValueId add(CalledProgram::From from, std::size_t number, const schema::TensorType &type) {
    inputs.push_back({from, number});
    return pure.addParameter(type);
  }

  // It is among the call's results; -1 where it isn't.
  ValueId resultOfCall(ValueId value) {
    auto found = std::find(called.results.begin(), called.results.end(), value);
    return found == called.results.end()
               ? -1
               : add(CalledProgram::From::Result, static_cast<std::size_t>(found - called.results.begin()),
                     called.typeOf(value));
  }

  void read(const RecordedOp &op, std::size_t variable) {
    const schema::TensorType &type = called.typeOf(op.firstResult);
    ValueId &value = renamed[index(op.firstResult)];
    if (assigned[variable] < 0) {
      if (before[variable] < 0)
        before[variable] = add(CalledProgram::From::Variable, variable, type);
      value = before[variable];
      return;
    }
    std::array<ValueId, 2> operands{add(CalledProgram::From::Assigned, variable, type),
                                    pure.append(OpId::StopGradient, {&assigned[variable], 1}, {}, {&type, 1}, op.line)};
    value = pure.append(OpId::Known, operands, {}, {&type, 1}, op.line);
  }

  void take(const RecordedOp &op) {
    std::span<const ValueId> operands = called.operandsOf(op);
    std::span<const schema::Attribute> attributes = called.attributesOf(op);
    if (op.op == OpId::VariableRead)
      return read(op, static_cast<std::size_t>(std::get<std::int64_t>(attributes[0])));
    if (op.op == OpId::VariableAssign) {
      assigned[static_cast<std::size_t>(std::get<std::int64_t>(attributes[0]))] = renamed[index(operands[0])];
      return;
    }
    if (!isComputedAgain(called, op)) { // it has had its effect
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        if (ValueId &value = renamed[index(resultOf(op, r))]; value < 0)
          value = resultOfCall(resultOf(op, r));
      return;
    }
    auto found = fromHost.find(op.firstResult);
    if (found == fromHost.end()) {
      std::vector<schema::Attribute> own(attributes.begin(), attributes.end());
      if (op.op == OpId::OrderedExtern)
        own = schema::emittedAttributes(called, op);
      for (schema::Attribute &attribute : own)
        if (auto *inner = std::get_if<schema::RecordingRef>(&attribute))
          *inner = schema::withoutEffects(*inner);
      return pure.appendCopy(called, op, renamed, own);
    }
    // A `batch` that also takes the slices of what host calls have given.
    std::vector<ValueId> values;
    std::vector<schema::TensorType> types;
    for (ValueId operand : operands)
      values.push_back(renamed[index(operand)]);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      types.push_back(called.typeOf(resultOf(op, r)));
    auto axes = std::get<std::vector<std::int64_t>>(attributes[0]);
    for (const HostExample &each : found->second) {
      ValueId ofAll = renamed[index(each.ofAll)];
      values.push_back(ofAll >= 0 ? ofAll : resultOfCall(each.ofAll));
      axes.push_back(0);
      types.push_back(called.typeOf(each.ofOne));
    }
    schema::Attribute extended = std::move(axes);
    ValueId first = pure.append(op.op, values, {&extended, 1}, types, op.line);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      renamed[index(resultOf(op, r))] = first + static_cast<ValueId>(r);
    for (std::size_t i = 0; i < found->second.size(); ++i)
      renamed[index(found->second[i].ofOne)] = first + static_cast<ValueId>(op.numResults + i);
  }

  const Recording &called;
  Recording pure;
  std::vector<CalledProgram::Input> inputs;
  std::vector<ValueId> renamed;
  std::vector<ValueId> assigned, before; // by variable
  HashMap<ValueId, std::vector<HostExample>> fromHost;
};
} // namespace

CalledProgram calledProgram(const Recording &program) { return PureProgram(program).build(); }

std::vector<schema::TensorType> valueTypes(const CalledProgram &program,
                                           std::span<const schema::TensorType> parameters) {
  return valueTypes(*program.recording, parameters);
}

std::vector<schema::TensorType> valueTypes(const Recording &recording, std::span<const schema::TensorType> parameters) {
  std::vector<schema::TensorType> types(recording.numValues());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    types[index(recording.parameters[i])] = parameters[i];
  for (const RecordedOp &op : recording.ops()) {
    std::span<const ValueId> operands = recording.operandsOf(op);
    if (op.op == OpId::Known)
      types[index(operands[0])] = types[index(operands[1])];
    std::vector<schema::TensorType> given;
    for (ValueId operand : operands)
      given.push_back(types[index(operand)]);
    std::vector<schema::TensorType> results = retypedResults(op.op, op.line, recording.attributesOf(op), given);
    std::move(results.begin(), results.end(), types.begin() + op.firstResult);
  }
  return types;
}

} // namespace calque::detail
