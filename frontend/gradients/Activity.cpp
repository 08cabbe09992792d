#include "frontend/gradients/Activity.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"
#include "schema/Cotangents.h"

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::RecordedOp;
using schema::Recording;
using schema::ValueId;

namespace {
// The name of an operation in messages; the name of a user's operation is its symbol.
std::string nameOf(const Recording &recording, const RecordedOp &op) {
  return op.op == OpId::Extern || op.op == OpId::OrderedExtern ? std::get<std::string>(recording.attributesOf(op)[0])
                                                               : std::string(schema::schemaOf(op.op).mnemonic);
}

// Whether a gradient through the operation is an error.
bool lacksGradient(const Recording &recording, const RecordedOp &op) {
  if (op.op == OpId::OrderedExtern)
    return std::get<std::string>(recording.attributesOf(op)[2]).empty(); // it has no transpose
  return schema::schemaOf(op.op).lacksGradient;
}

// Whether result i is computed from operand i alone. The operations by which vmap takes and stacks slices are such.
bool eachByItself(OpId op) { return op == OpId::Batch || op == OpId::Unbatch; }
} // namespace

void Activity::grow() {
  for (std::vector<bool> *ofValues :
       {&tracked_, &reaches_, &produced_, &derivativesTracked, &derivativesReach, &plainlyReached, &atBoundary})
    ofValues->resize(recording.numValues());
  seen.resize(recording.ops().size());
}

// The program inside of an operation, if the operation's results are the program's; else null.
const Recording *Activity::programOf(const RecordedOp &op) const {
  return op.op == OpId::Checkpoint ? std::get<schema::RecordingRef>(recording.attributesOf(op)[0]).get() : nullptr;
}

void Activity::forward(std::size_t number) {
  const RecordedOp &op = recording.ops()[number];
  const schema::OperationSchema &schema = schema::schemaOf(op.op);
  if (!schema.differentiable && !schema.lacksGradient)
    return;
  bool tracked = false, derivatives = false;
  std::span<const ValueId> operands = recording.gradientOperandsOf(op);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!schema::receivesCotangent(op.op, i))
      continue;
    tracked = tracked || tracked_[index(operands[i])];
    derivatives = derivatives || derivativesTracked[index(operands[i])];
  }
  for (ValueId capture : recording.capturesOf(op))
    derivatives = derivatives || tracked_[index(capture)] || derivativesTracked[index(capture)];
  tracked = tracked || (schema.differentiates && derivatives);
  if (!tracked && !derivatives && !isInside)
    return;
  seen[number] = true;
  if (const Recording *program = programOf(op))
    return forwardInside(number, *program);
  for (std::uint32_t r = 0; r < op.numResults; ++r) {
    ValueId result = op.firstResult + static_cast<ValueId>(r);
    produced_[index(result)] = true;
    if (eachByItself(op.op)) {
      tracked = tracked_[index(operands[r])];
      derivatives = derivativesTracked[index(operands[r])];
    }
    tracked_[index(result)] = tracked && isFloating(result);
    derivativesTracked[index(result)] = derivatives && isFloating(result);
  }
}

void Activity::forwardInside(std::size_t number, const Recording &program) {
  const RecordedOp &op = recording.ops()[number];
  auto activity = std::make_unique<Activity>(program);
  activity->isInside = true;
  std::span<const ValueId> operands = recording.operandsOf(op);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    activity->tracked_[index(program.parameters[i])] = tracked_[index(operands[i])];
    activity->derivativesTracked[index(program.parameters[i])] = derivativesTracked[index(operands[i])];
  }
  for (std::size_t each = 0; each < program.ops().size(); ++each)
    activity->forward(each);
  for (std::uint32_t r = 0; r < op.numResults; ++r) {
    std::size_t result = index(op.firstResult) + r, inner = index(program.results[r]);
    produced_[result] = true;
    tracked_[result] = activity->tracked_[inner];
    derivativesTracked[result] = activity->derivativesTracked[inner];
  }
  inside.emplace(number, std::move(activity));
}

void Activity::target(ValueId value) { reaches_[index(value)] = plainlyReached[index(value)] = isFloating(value); }

void Activity::reach(ValueId value, bool derivatives, bool plainly) {
  if (!isFloating(value))
    return;
  reaches_[index(value)] = true;
  derivativesReach[index(value)] = derivativesReach[index(value)] || derivatives;
  plainlyReached[index(value)] = plainlyReached[index(value)] || plainly;
  if (!produced_[index(value)] && !atBoundary[index(value)]) {
    atBoundary[index(value)] = true;
    boundary_.push_back(value);
  }
}

void Activity::backward(std::size_t number, const char *operation, SourceLocation where) {
  const RecordedOp &op = recording.ops()[number];
  bool reached = false, derivatives = false, plainly = false, followed = false;
  for (std::uint32_t r = 0; r < op.numResults; ++r) {
    const std::size_t result = index(op.firstResult) + r;
    reached = reached || reaches_[result];
    derivatives = derivatives || derivativesReach[result];
    plainly = plainly || plainlyReached[result];
    followed = followed || tracked_[result] || derivativesTracked[result];
  }
  if (!seen[number] || !reached)
    return;
  if (const Recording *program = programOf(op))
    return backwardInside(number, *program, operation, where);
  const schema::OperationSchema &schema = schema::schemaOf(op.op);
  derivatives = derivatives || schema.differentiates;
  plainly = plainly && !schema.differentiates;
  if (lacksGradient(recording, op) && (followed || !isInside)) {
    if (!operation)
      return;
    throw LookupError(absl::StrCat(operation, ": operation '", nameOf(recording, op), "' at ", op.line.str(),
                                   " has no gradient registered"),
                      where);
  }
  std::span<const ValueId> operands = recording.gradientOperandsOf(op);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (eachByItself(op.op)) {
      if (std::size_t result = index(op.firstResult) + i; reaches_[result])
        reach(operands[i], derivativesReach[result], plainlyReached[result]);
    } else if (schema::receivesCotangent(op.op, i)) {
      reach(operands[i], derivatives, plainly);
    }
  if (derivatives)
    for (ValueId capture : recording.capturesOf(op))
      reach(capture, true, false);
}

void Activity::backwardInside(std::size_t number, const Recording &program, const char *operation,
                              SourceLocation where) {
  const RecordedOp &op = recording.ops()[number];
  Activity &activity = *inside.at(number);
  for (std::uint32_t r = 0; r < op.numResults; ++r)
    if (std::size_t result = index(op.firstResult) + r; reaches_[result]) {
      const std::size_t inner = index(program.results[r]);
      activity.target(program.results[r]);
      activity.derivativesReach[inner] = derivativesReach[result];
      activity.plainlyReached[inner] = plainlyReached[result];
    }
  for (std::size_t each = program.ops().size(); each-- > 0;)
    activity.backward(each, operation, where);
  std::span<const ValueId> operands = recording.operandsOf(op);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (std::size_t parameter = index(program.parameters[i]); activity.reaches_[parameter])
      reach(operands[i], activity.derivativesReach[parameter], activity.plainlyReached[parameter]);
}

const RecordedOp *producerOf(const Recording &recording, ValueId value) {
  auto ops = recording.ops();
  auto after = std::ranges::upper_bound(ops, value, {}, &RecordedOp::firstResult);
  if (after == ops.begin())
    return nullptr;
  const RecordedOp &op = *std::prev(after);
  return index(value) < index(op.firstResult) + op.numResults ? &op : nullptr;
}

} // namespace calque::detail
