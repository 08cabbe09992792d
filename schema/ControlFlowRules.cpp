// The type rules of branches and loops.
#include "absl/strings/str_cat.h"
#include "schema/Recording.h"
#include "schema/TypeRules.h"

#include <algorithm>

namespace calque::schema {

namespace {

Fault checkPredicate(const TensorType &type, const char *what) {
  if (type.dtype != DType::Bool || type.rank() != 0)
    return shapeFault(absl::StrCat("its ", what, " must be a bool scalar, not ", type.str()));
  return {};
}

// The types of a program's results.
std::vector<TensorType> typesOf(const Recording &program) {
  std::vector<TensorType> types;
  for (ValueId result : program.results)
    types.push_back(program.typeOf(result));
  return types;
}

} // namespace

Fault cond(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkPredicate(call[0], "predicate"))
    return fault;
  const RecordingRef &then = call.attribute<RecordingRef>(0), &otherwise = call.attribute<RecordingRef>(1);
  for (auto [program, name] : {std::pair(&then, "first branch"), std::pair(&otherwise, "second branch")})
    if (Fault fault = checkProgram(*program, call.operands.subspan(1), name))
      return fault;
  std::vector<TensorType> ofThen = typesOf(*then), ofOtherwise = typesOf(*otherwise);
  if (ofThen.size() != ofOtherwise.size())
    return valueFault(absl::StrCat("its first branch gives ", counted(ofThen.size(), "value"), ", and its second ",
                                   ofOtherwise.size()));
  for (std::size_t i = 0; i < ofThen.size(); ++i)
    if (ofThen[i] != ofOtherwise[i])
      return shapeFault(absl::StrCat("value ", i, " of its first branch is ", ofThen[i].str(),
                                     ", and that of its second ", ofOtherwise[i].str()));
  results = std::move(ofThen);
  return {};
}

Fault whileLoop(const OpCall &call, std::vector<TensorType> &results) {
  const auto &varying = call.attribute<std::vector<std::int64_t>>(1);
  const RecordingRef &condition = call.attribute<RecordingRef>(2), &body = call.attribute<RecordingRef>(3);
  // Sizes that vary are unknown in the regions.
  std::vector<TensorType> taken(call.operands.begin(), call.operands.end());
  if (varying.size() % 2)
    return valueFault("the dimensions that vary are no pairs");
  for (std::size_t i = 0; i < varying.size(); i += 2) {
    const std::int64_t variable = varying[i], dimension = varying[i + 1];
    if (variable < 0 || variable >= static_cast<std::int64_t>(taken.size()) || dimension < 0 ||
        dimension >= taken[static_cast<std::size_t>(variable)].rank())
      return valueFault(
          absl::StrCat("there is no dimension ", dimension, " of a loop variable ", variable, " that could vary"));
    taken[static_cast<std::size_t>(variable)].dims[static_cast<std::size_t>(dimension)] = kOpenSize;
  }
  for (auto [program, name] : {std::pair(&condition, "condition"), std::pair(&body, "body")})
    if (Fault fault = checkProgram(*program, taken, name))
      return fault;
  if (condition->results.size() != 1)
    return valueFault(absl::StrCat("its condition gives ", counted(condition->results.size(), "value"), ", not one"));
  if (Fault fault = checkPredicate(condition->typeOf(condition->results[0]), "condition"))
    return fault;
  std::vector<TensorType> next = typesOf(*body);
  if (next.size() > call.operands.size())
    return valueFault(absl::StrCat("its body gives ", counted(next.size(), "value"), " for ",
                                   counted(call.operands.size(), "operand")));
  for (std::size_t i = 0; i < next.size(); ++i)
    if (next[i] != taken[i])
      return shapeFault(
          absl::StrCat("loop variable ", i, " is ", taken[i].str(), ", and its body gives ", next[i].str()));
  for (std::size_t i = 0; i < varying.size(); i += 2)
    if (varying[i] >= static_cast<std::int64_t>(next.size()))
      return valueFault(absl::StrCat("loop variable ", varying[i], " varies, and there are ", next.size()));
  results = std::move(next);
  return {};
}

// The rules of stacks check sizes alone, because the dialect's types say which values are stacks.
Fault stackEmpty(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back({kStackType, call[0].dims});
  return {};
}

Fault stackIsEmpty(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back({DType::Bool, call[0].dims});
  return {};
}

Fault stackAdd(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0] != call[1])
    return shapeFault(absl::StrCat("the stacks are ", call[0].str(), " and ", call[1].str()));
  results.push_back(call[0]);
  return {};
}

Fault stackSumLike(const OpCall &call, std::vector<TensorType> &results) {
  if (!broadcastsTo(call[1], call[0]))
    return shapeFault(absl::StrCat(call[1].str(), " is not broadcast to ", call[0].str()));
  results.push_back({kStackType, call[1].dims});
  return {};
}

static Fault checkStack(const TensorType &stack, const TensorType &entry) {
  if (stack.rank() > entry.rank() ||
      !std::equal(stack.dims.begin(), stack.dims.end(), entry.dims.begin(),
                  [](std::int64_t a, std::int64_t b) { return mergeDims(a, b).has_value(); }))
    return shapeFault(absl::StrCat("the stack is ", stack.str(), " and its entry ", entry.str()));
  return {};
}

Fault stackPush(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkStack(call[0], call[1]))
    return fault;
  results.push_back(call[0]);
  return {};
}

Fault stackPop(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkStack(call[0], call[1]))
    return fault;
  results.assign(call.operands.begin(), call.operands.end());
  return {};
}

static Fault checkSizedStack(const TensorType &stack) {
  if (stack != TensorType{kStackType, {}})
    return shapeFault(absl::StrCat("the stack is ", stack.str(), ", and must be one stack"));
  return {};
}

Fault sizedPush(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back(call[0]);
  return checkSizedStack(call[0]);
}

Fault sizedPop(const OpCall &call, std::vector<TensorType> &results) {
  results.assign(call.operands.begin(), call.operands.end());
  return checkSizedStack(call[0]);
}

Fault stackBelow(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back(call[0]);
  return {};
}

Fault openSizes(const OpCall &call, std::vector<TensorType> &results) {
  auto isForgotten = [](std::int64_t given, std::int64_t known) { return known == kOpenSize || given == known; };
  if (call[0].dtype != call[1].dtype || !std::ranges::equal(call[0].dims, call[1].dims, isForgotten))
    return shapeFault(absl::StrCat(call[0].str(), " is none of ", call[1].str(), " that knows more of its sizes"));
  results.push_back(call[1]);
  return {};
}

Fault onEntries(const OpCall &call, std::vector<TensorType> &results) {
  const auto entries = call.attribute<std::int64_t>(0);
  const RecordingRef &body = call.attribute<RecordingRef>(1);
  if (entries < 0 || entries > static_cast<std::int64_t>(call.operands.size()))
    return valueFault(absl::StrCat("it has ", counted(call.operands.size(), "operand"), ", not ", entries, " stacks"));
  if (!body || body->parameters.size() != call.operands.size())
    return valueFault("its region takes other values than its operands");
  const auto numEntries = static_cast<std::size_t>(entries);
  std::vector<TensorType> taken(call.operands.begin(), call.operands.end());
  for (std::size_t i = 0; i < numEntries; ++i) {
    if (Fault fault = checkSizedStack(call[i]))
      return fault;
    taken[i] = body->typeOf(body->parameters[i]);
  }
  if (Fault fault = checkProgram(body, taken, "region"))
    return fault;
  results = typesOf(*body);
  return {};
}

} // namespace calque::schema
