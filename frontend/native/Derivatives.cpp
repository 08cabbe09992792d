#include "frontend/native/Derivatives.h"

#include "frontend/gradients/Activity.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace calque::detail::native {

using schema::index;
using schema::RecordedOp;
using schema::Recording;
using schema::ValueId;

namespace {

// The programs of a branch or a loop: each gives all results of the operation.
template <typename Visit> void forEachProgram(const Recording &recording, const RecordedOp &op, Visit visit) {
  if (op.op != schema::OpId::Cond && op.op != schema::OpId::While)
    return;
  for (const schema::Attribute &attribute : recording.attributesOf(op))
    if (auto program = std::get_if<schema::RecordingRef>(&attribute);
        program && (*program)->results.size() == op.numResults)
      visit(**program);
}

std::vector<ValueId> resultsBeside(const Recording &recording, const RecordedOp &op, std::uint32_t number);

// Adds what depends on the values that are marked.
void spread(const Recording &recording, std::vector<bool> &isMarked) {
  for (const RecordedOp &op : recording.ops()) {
    const bool any =
        std::ranges::any_of(recording.operandsOf(op), [&](ValueId value) { return isMarked[index(value)]; });
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      const ValueId result = op.firstResult + static_cast<ValueId>(r);
      if (any)
        isMarked[index(result)] = true;
      else if (isMarked[index(result)])
        for (ValueId other : resultsBeside(recording, op, r))
          isMarked[index(other)] = true;
    }
  }
}

// The operand that a parameter of a program has at first, as a branch has its inputs behind its predicate.
ValueId operandOf(const Recording &recording, const RecordedOp &op, const Recording &program, std::size_t parameter) {
  std::span<const ValueId> operands = recording.operandsOf(op);
  return operands[operands.size() - program.parameters.size() + parameter];
}

// The results of a branch or a loop that depend inside on one of them.
std::vector<ValueId> resultsBeside(const Recording &recording, const RecordedOp &op, std::uint32_t number) {
  const bool isLoop = op.op == schema::OpId::While;
  std::vector<bool> depends(op.numResults);
  depends[number] = true;
  for (bool isMore = true; std::exchange(isMore, false);)
    forEachProgram(recording, op, [&](const Recording &program) {
      std::vector<bool> isMarked(program.numValues());
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        if (depends[r]) {
          isMarked[index(program.results[r])] = true;
          if (isLoop) // what an iteration leaves as it is, an earlier one has made
            isMarked[index(program.parameters[r])] = true;
        }
      for (std::size_t p = 0; p < program.parameters.size(); ++p)
        if (isMarked[index(program.parameters[p])]) {
          std::vector<bool> around = dependents(recording, operandOf(recording, op, program, p));
          for (std::size_t q = 0; q < program.parameters.size(); ++q)
            if (around[index(operandOf(recording, op, program, q))])
              isMarked[index(program.parameters[q])] = true;
        }
      spread(program, isMarked);
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        if (isMarked[index(program.results[r])] && !depends[r]) {
          depends[r] = true;
          isMore = isLoop;
        }
    });
  std::vector<ValueId> results;
  for (std::uint32_t r = 0; r < op.numResults; ++r)
    if (depends[r] && r != number)
      results.push_back(op.firstResult + static_cast<ValueId>(r));
  return results;
}

} // namespace

std::vector<bool> dependents(const Recording &recording, ValueId value) {
  std::vector<bool> isMarked(recording.numValues());
  isMarked[index(value)] = true;
  spread(recording, isMarked);
  return isMarked;
}

OtherNames otherNames(const Recording &recording, ValueId value) {
  OtherNames names;
  const RecordedOp *producer = producerOf(recording, value);
  if (!producer)
    return names;
  const auto number = static_cast<std::uint32_t>(index(value) - index(producer->firstResult));
  auto resultOf = [&](std::uint32_t r) { return producer->firstResult + static_cast<ValueId>(r); };
  bool any = false;
  forEachProgram(recording, *producer, [&](const Recording &program) {
    any = true;
    auto operandAt = [&](std::size_t parameter) { return operandOf(recording, *producer, program, parameter); };
    auto found = std::ranges::find(program.parameters, program.results[number]);
    if (found != program.parameters.end())
      names.equal.push_back(operandAt(static_cast<std::size_t>(found - program.parameters.begin())));
    const bool isLoop = producer->op == schema::OpId::While;
    if (isLoop)
      names.equal.push_back(operandAt(number)); // without an iteration
    for (std::uint32_t r = 0; r < producer->numResults; ++r)
      if (r != number &&
          (program.results[r] == program.results[number] || (isLoop && operandAt(r) == operandAt(number))))
        names.equal.push_back(resultOf(r));
  });
  if (any)
    names.computed = resultsBeside(recording, *producer, number);
  return names;
}

bool passesOver(const Recording &recording, std::span<const ValueId> targets, std::span<const ValueId> sources,
                std::span<const ValueId> ends) {
  auto isPassedOver = [&](ValueId place, bool isSource) {
    const OtherNames names = otherNames(recording, place);
    std::vector<bool> isOther(recording.numValues()), isNeeded(recording.numValues()), isEnd(recording.numValues());
    for (ValueId end : ends)
      isEnd[index(end)] = true;
    for (ValueId name : names.computed)
      isOther[index(name)] = true;
    for (ValueId name : names.equal) {
      isOther[index(name)] = true;
      if (isSource) // that is an end too: what comes to it is the source's
        isEnd[index(name)] = false;
    }
    if (names.equal.empty() && names.computed.empty())
      return false;
    isEnd[index(place)] = true;
    auto need = [&](ValueId value) {
      if (!isEnd[index(value)] && is_inexact(recording.typeOf(value).dtype))
        isNeeded[index(value)] = true;
    };
    std::ranges::for_each(targets, need);
    for (std::size_t i = recording.ops().size(); i-- > 0;) {
      const RecordedOp &op = recording.ops()[i];
      bool isAsked = false;
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        isAsked = isAsked || isNeeded[index(op.firstResult) + r];
      if (isAsked)
        std::ranges::for_each(recording.operandsOf(op), need);
    }
    for (std::size_t value = 0; value < isNeeded.size(); ++value)
      if (isNeeded[value] && isOther[value])
        return true;
    return false;
  };
  return std::ranges::any_of(sources, [&](ValueId place) { return isPassedOver(place, true); }) ||
         std::ranges::any_of(ends, [&](ValueId place) { return isPassedOver(place, false); });
}

} // namespace calque::detail::native
