#include "frontend/compiled/Slice.h"

namespace calque::detail {

using schema::ValueId;

Slice sliceOf(const schema::Recording &recording, std::span<const ValueId> results, std::span<const ValueId> inputs) {
  std::vector<bool> needed(recording.numValues()), isInput(recording.numValues());
  for (ValueId value : inputs)
    isInput[value] = true;
  for (ValueId value : results)
    needed[value] = true;
  std::span<const schema::RecordedOp> ops = recording.ops();
  std::vector<bool> kept(ops.size());
  for (std::size_t i = ops.size(); i-- > 0;) {
    for (std::uint32_t r = 0; r < ops[i].numResults; ++r)
      if (ValueId value = ops[i].firstResult + static_cast<ValueId>(r); needed[value] && !isInput[value])
        kept[i] = true;
    if (kept[i])
      for (ValueId operand : recording.operandsOf(ops[i]))
        needed[operand] = true;
  }

  Slice slice;
  slice.recording.name = recording.name;
  slice.recording.line = recording.line;
  std::vector<ValueId> renamed(recording.numValues(), -1);
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    ValueId parameter = recording.parameters[i];
    if (!needed[parameter])
      continue;
    renamed[parameter] = slice.recording.addParameter(recording.typeOf(parameter));
    slice.parameters.push_back(i);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (needed[inputs[i]]) {
      renamed[inputs[i]] = slice.recording.addParameter(recording.typeOf(inputs[i]));
      slice.parameters.push_back(recording.parameters.size() + i);
    }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!kept[i])
      continue;
    if (ops[i].op == schema::OpId::VariableRead)
      slice.reads.push_back(ops[i].firstResult);
    slice.recording.appendCopy(recording, ops[i], renamed);
  }
  for (ValueId result : results)
    slice.recording.results.push_back(renamed[result]);
  return slice;
}

} // namespace calque::detail
