#include "frontend/native/Derivatives.h"

#include <algorithm>
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
    if (auto program = std::get_if<schema::RecordingRef>(&attribute); program && (*program)->results.size() == op.numResults)
      visit(**program);
}

std::vector<ValueId> resultsBeside(const Recording &recording, const RecordedOp &op, std::uint32_t number);

// Adds what depends on the values that are marked.
void spread(const Recording &recording, std::vector<bool> &isMarked) {
  for (const RecordedOp &op : recording.ops()) {
    const bool any = std::ranges::any_of(recording.operandsOf(op), [&](ValueId value) { return isMarked[index(value)]; });
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

// The operation that gives a value, or null.
const RecordedOp *producerOf(const Recording &recording, ValueId value) {
  auto ops = recording.ops();
  auto after = std::ranges::upper_bound(ops, value, {}, &RecordedOp::firstResult);
  if (after == ops.begin())
    return nullptr;
  const RecordedOp &op = *std::prev(after);
  return index(value) < index(op.firstResult) + op.numResults ? &op : nullptr;
}

} // namespace

std::vector<bool> dependents(const Recording &recording, ValueId value) {
  std::vector<bool> isMarked(recording.numValues());
  isMarked[index(value)] = true;
  spread(recording, isMarked);
  return isMarked;
}

bool passesOver(const Recording &recording, std::span<const ValueId> targets, std::span<const ValueId> places,
                std::span<const ValueId> ends) {
  for (ValueId place : places) {
    const RecordedOp *producer = producerOf(recording, place);
    if (!producer)
      continue;
    const auto number = static_cast<std::uint32_t>(index(place) - index(producer->firstResult));
    std::vector<bool> isOther(recording.numValues()); // the other names, and what depends on them inside
    bool any = false;
    auto add = [&](ValueId value) {
      if (is_floating(recording.typeOf(value).dtype))
        any = isOther[index(value)] = true;
    };
    forEachProgram(recording, *producer, [&](const Recording &program) {
      auto found = std::ranges::find(program.parameters, program.results[number]);
      if (found != program.parameters.end())
        add(operandOf(recording, *producer, program, static_cast<std::size_t>(found - program.parameters.begin())));
      for (ValueId other : resultsBeside(recording, *producer, number))
        add(other);
    });
    if (!any)
      continue;
    std::vector<bool> isNeeded(recording.numValues()), isEnd(recording.numValues());
    for (ValueId end : ends)
      isEnd[index(end)] = true;
    isEnd[index(place)] = true;
    auto need = [&](ValueId value) {
      if (!isEnd[index(value)] && is_floating(recording.typeOf(value).dtype))
        isNeeded[index(value)] = true;
    };
    std::ranges::for_each(targets, need);
    for (std::size_t i = recording.ops().size(); i-- > 0;) {
      const RecordedOp &op = recording.ops()[i];
      bool isAsked = false;
      for (std::uint32_t r = 0; r < op.numResults; ++r) {
        const std::size_t result = index(op.firstResult) + r;
        if (isNeeded[result] && isOther[result])
          return true;
        isAsked = isAsked || isNeeded[result];
      }
      if (isAsked)
        std::ranges::for_each(recording.operandsOf(op), need);
    }
    for (ValueId parameter : recording.parameters)
      if (isNeeded[index(parameter)] && isOther[index(parameter)])
        return true;
  }
  return false;
}

} // namespace calque::detail::native
