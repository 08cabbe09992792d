// The type rules of the operations that stand for transformations of programs.
#include "absl/strings/str_cat.h"
#include "schema/Recording.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <initializer_list>

namespace calque::schema {

namespace {

// A group of operands. A list of counts has an entry for the group. `least` is the least value of the entry, and
// `operands` is the number of operands of each counted value.
struct Group {
  std::int64_t least, operands;
};

// A fault unless the counts describe all operands. The counts may be any numbers. They are not added, because the sum
// could overflow.
Fault checkCounts(const Ints &counts, std::size_t numOperands, std::initializer_list<Group> groups) {
  auto rest = static_cast<std::int64_t>(numOperands);
  bool fits = counts.size() == groups.size();
  for (std::size_t i = 0; fits && i < counts.size(); ++i) {
    const Group &group = groups.begin()[i];
    fits = counts[i] >= group.least && counts[i] <= rest / group.operands;
    rest -= fits ? counts[i] * group.operands : 0;
  }
  if (!fits || rest != 0)
    return valueFault(
        absl::StrCat("the counts ", listString(counts), " don't describe ", counted(numOperands, "value")));
  return {};
}

// Only floats have derivatives, and the stacks that the rules of derivatives make.
Fault requireDifferentiable(std::span<const TensorType> types) {
  for (const TensorType &type : types)
    if (type.dtype != kStackType)
      if (Fault fault = requireFloating({&type, 1}))
        return fault;
  return {};
}

} // namespace

Fault checkProgram(const RecordingRef &program, std::span<const TensorType> parameters, const char *what) {
  if (!program)
    return valueFault(absl::StrCat("its ", what, " is no program"));
  if (program->parameters.size() != parameters.size())
    return valueFault(absl::StrCat("its ", what, " takes ", counted(program->parameters.size(), "value"),
                                   " and is given ", parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (const TensorType &taken = program->typeOf(program->parameters[i]); taken != parameters[i])
      return shapeFault(
          absl::StrCat("its ", what, " takes ", taken.str(), " as value ", i, ", not ", parameters[i].str()));
  return {};
}

Fault gradient(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &counts = call.attribute<Ints>(0);
  if (Fault fault = checkCounts(counts, call.operands.size(), {{1, 2}, {0, 1}, {0, 1}}))
    return fault;
  for (std::int64_t i = 0; i < counts[0]; ++i)
    if (call[i] != call[counts[0] + i])
      return shapeFault(absl::StrCat("the target is ", call[i].str(), " and its seed is ", call[counts[0] + i].str()));
  if (Fault fault = requireDifferentiable(call.operands.first(static_cast<std::size_t>(2 * counts[0] + counts[1]))))
    return fault;
  for (std::int64_t i = 0; i < counts[1]; ++i)
    results.push_back(call[2 * counts[0] + i]);
  return {};
}

Fault jvp(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &counts = call.attribute<Ints>(0);
  if (Fault fault = checkCounts(counts, call.operands.size(), {{1, 1}, {1, 2}}))
    return fault;
  if (Fault fault = requireDifferentiable(call.operands))
    return fault;
  for (std::int64_t i = 0; i < counts[1]; ++i) {
    const TensorType &source = call[counts[0] + i], &tangent = call[counts[0] + counts[1] + i];
    if (source != tangent)
      return shapeFault(absl::StrCat("the source is ", source.str(), " and its tangent is ", tangent.str()));
  }
  results.assign(call.operands.begin(), call.operands.begin() + counts[0]);
  return {};
}

Fault batch(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &axes = call.attribute<Ints>(0);
  if (axes.empty() || axes.size() != call.operands.size())
    return valueFault(absl::StrCat("the list has ", counted(axes.size(), "axis", "axes"), " for ",
                                   counted(call.operands.size(), "tensor")));
  std::int64_t examples = kOpenSize;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t axis = 0;
    if (Fault fault = normalizeAxis(axes[i], call[i].rank(), axis))
      return fault;
    std::optional<std::int64_t> merged = mergeDims(examples, call[i].dims[axis]);
    if (!merged)
      return shapeFault(absl::StrCat("the tensors have different numbers of examples: ", examples, ", and ",
                                     call[i].dims[axis], " along axis ", axis, " of ", call[i].str()));
    examples = *merged;
    TensorType example = call[i];
    example.dims.erase(example.dims.begin() + axis);
    results.push_back(std::move(example));
  }
  return {};
}

Fault unbatch(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &axes = call.attribute<Ints>(0);
  if (axes.empty() || axes.size() + 2 != call.operands.size())
    return valueFault(absl::StrCat("the list has ", counted(axes.size(), "axis", "axes"), " for ",
                                   counted(call.operands.size(), "value"),
                                   ", the last two of which are an example and what it was taken from"));
  const TensorType &source = call.operands.back();
  std::int64_t batchAxis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(1), source.rank(), batchAxis))
    return fault;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    TensorType result = call[i];
    std::int64_t axis = 0;
    if (Fault fault = normalizeAxis(axes[i], result.rank() + 1, axis))
      return fault;
    result.dims.insert(result.dims.begin() + axis, source.dims[batchAxis]);
    results.push_back(std::move(result));
  }
  return {};
}

Fault customGradient(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &counts = call.attribute<Ints>(0);
  if (Fault fault = checkCounts(counts, call.operands.size(), {{1, 1}, {1, 1}, {0, 1}}))
    return fault;
  std::span<const TensorType> values =
      call.operands.subspan(static_cast<std::size_t>(counts[0]), static_cast<std::size_t>(counts[1]));
  if (Fault fault = requireFloating(call.operands.first(static_cast<std::size_t>(counts[0] + counts[1]))))
    return fault;
  const RecordingRef &pullback = call.attribute<RecordingRef>(1);
  std::span<const TensorType> captures = call.operands.last(static_cast<std::size_t>(counts[2]));
  std::vector<TensorType> parameters(values.begin(), values.end());
  parameters.insert(parameters.end(), captures.begin(), captures.end());
  if (Fault fault = checkProgram(pullback, parameters, "pullback"))
    return fault;
  if (static_cast<std::int64_t>(pullback->results.size()) != counts[0])
    return valueFault(absl::StrCat("its pullback gives ", counted(pullback->results.size(), "gradient"), " for ",
                                   counted(static_cast<std::size_t>(counts[0]), "input")));
  for (std::int64_t i = 0; i < counts[0]; ++i)
    if (const TensorType &given = pullback->typeOf(pullback->results[i]); given != call[i])
      return shapeFault(absl::StrCat("gradient ", i, " is ", given.str(), ", and the input is ", call[i].str()));
  results.assign(values.begin(), values.end());
  return {};
}

Fault known(const OpCall &call, std::vector<TensorType> &results) {
  auto mayBeEqual = [](std::int64_t a, std::int64_t b) { return a == b || a == kOpenSize || b == kOpenSize; };
  if (call[0].dtype != call[1].dtype || !std::ranges::equal(call[0].dims, call[1].dims, mayBeEqual))
    return valueFault(absl::StrCat("what is known of ", call[0].str(), " is ", call[1].str()));
  results.push_back(call[0]);
  return {};
}

Fault checkpoint(const OpCall &call, std::vector<TensorType> &results) {
  const RecordingRef &body = call.attribute<RecordingRef>(0);
  if (Fault fault = checkProgram(body, call.operands, "body"))
    return fault;
  for (ValueId result : body->results)
    results.push_back(body->typeOf(result));
  return {};
}

} // namespace calque::schema
