// Sequences and optional values. An optional is a value, or nothing.
#include "onnx/Support.h"

namespace calque::onnx {

namespace {

std::int64_t placeIn(const Call &call, std::size_t i, std::int64_t size, bool orEnd) {
  const std::int64_t at = call.integer(i);
  const std::int64_t place = at < 0 ? at + size : at;
  if (place < 0 || place > size || (place == size && !orEnd))
    call.refuse("position " + std::to_string(at) + " is out of range for a sequence of " + std::to_string(size));
  return place;
}

Results sequenceAt(const Call &call) {
  const std::vector<Value> &all = call.sequence(0);
  return all[static_cast<std::size_t>(placeIn(call, 1, std::ssize(all), false))];
}
Results sequenceConstruct(const Call &call) {
  std::vector<Value> all;
  for (std::size_t i = 0; i < call.size(); ++i)
    all.push_back(call.value(i));
  return Value::ofSequence(std::move(all));
}
Results sequenceEmpty(const Call &call) {
  call.type("dtype", DType::Float32);
  return Value::ofSequence({});
}
Results sequenceErase(const Call &call) {
  std::vector<Value> all = call.sequence(0);
  if (all.empty())
    call.refuse("the sequence is empty");
  all.erase(all.begin() + (call.has(1) ? placeIn(call, 1, std::ssize(all), false) : std::ssize(all) - 1));
  return Value::ofSequence(std::move(all));
}
Results sequenceInsert(const Call &call) {
  std::vector<Value> all = call.sequence(0);
  const std::int64_t at = call.has(2) ? placeIn(call, 2, std::ssize(all), true) : std::ssize(all);
  all.insert(all.begin() + at, call.value(1));
  return Value::ofSequence(std::move(all));
}
Results sequenceLength(const Call &call) { return ofIntegers({std::ssize(call.sequence(0))}, {}); }

Results concatFromSequence(const Call &call) {
  std::vector<Tensor> tensors;
  for (const Value &each : call.sequence(0))
    tensors.push_back(each.tensor());
  if (tensors.empty())
    call.refuse("the sequence is empty");
  const std::int64_t axis = call.integer("axis");
  return call.flag("new_axis", false) ? stack(tensors, axis) : concat(tensors, axis);
}

Results splitToSequence(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  const std::int64_t whole = x.shape()[static_cast<std::size_t>(axis)];
  const bool keepdims = call.flag("keepdims", true);
  std::vector<std::int64_t> sizes;
  bool isScalar = true;
  if (call.has(1)) {
    sizes = call.integers(1);
    isScalar = call.value(1).rank() == 0;
    if (isScalar) {
      const std::int64_t chunk = sizes[0];
      if (chunk < 1)
        call.refuse("parts of " + std::to_string(chunk) + " elements");
      sizes.clear();
      for (std::int64_t at = 0; at < whole; at += chunk)
        sizes.push_back(std::min(chunk, whole - at));
    }
  } else {
    sizes.assign(static_cast<std::size_t>(whole), 1);
  }
  std::vector<Value> parts;
  if (!sizes.empty())
    for (const Tensor &part : split(x, sizes, axis))
      parts.emplace_back(call.has(1) || keepdims ? part : squeeze(part, axis));
  return Value::ofSequence(std::move(parts));
}

Results sequenceMap(const Call &call) {
  const Graph &body = call.graph("body");
  const std::size_t length = call.sequence(0).size();
  std::vector<std::vector<Value>> results(call.outputs());
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<Value> given;
    for (std::size_t k = 0; k < call.size(); ++k) {
      const Value &each = call.value(k);
      if (each.isSequence() && each.sequence().size() != length)
        call.refuse("its sequences have " + std::to_string(length) + " and " + std::to_string(each.sequence().size()) +
                    " elements");
      given.push_back(each.isSequence() ? each.sequence()[i] : each);
    }
    const std::vector<Value> made = call.run(body, given);
    for (std::size_t k = 0; k < results.size() && k < made.size(); ++k)
      results[k].push_back(made[k]);
  }
  Results all;
  for (std::vector<Value> &each : results)
    all.push_back(Value::ofSequence(std::move(each)));
  return all;
}

Results optional(const Call &call) {
  call.ignore({"type"});
  return call.has(0) ? Results(call.value(0)) : Results(Value());
}
Results optionalGetElement(const Call &call) {
  if (!call.has(0))
    call.refuse("the optional has no element");
  return call.value(0);
}
Results optionalHasElement(const Call &call) { return scalar<bool>(call.has(0)); }

constexpr Operator kTable[] = {
    {"ConcatFromSequence", {11}, 1, 1, 0, concatFromSequence},
    {"Optional", {15}, 0, 1, 0, optional},
    {"OptionalGetElement", {15, 18}, 1, 1, 0, optionalGetElement},
    {"OptionalHasElement", {15, 18}, 0, 1, 0, optionalHasElement},
    {"SequenceAt", {11}, 2, 2, 0b10, sequenceAt},
    {"SequenceConstruct", {11}, 1, kAnyNumber, 0, sequenceConstruct},
    {"SequenceEmpty", {11}, 0, 0, 0, sequenceEmpty},
    {"SequenceErase", {11}, 1, 2, 0b10, sequenceErase},
    {"SequenceInsert", {11}, 2, 3, 0b100, sequenceInsert},
    {"SequenceLength", {11}, 1, 1, 0, sequenceLength},
    {"SequenceMap", {17}, 1, kAnyNumber, 0, sequenceMap},
    {"SplitToSequence", {11, 24}, 1, 2, 0b10, splitToSequence},
};

} // namespace

Table sequenceOperators() { return kTable; }

} // namespace calque::onnx
