// The type rules of branches and loops.
#include "absl/strings/str_cat.h"
#include "ir/schema/Recording.h"
#include "ir/schema/TypeRules.h"

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
  const RecordingRef &condition = call.attribute<RecordingRef>(1), &body = call.attribute<RecordingRef>(2);
  for (auto [program, name] : {std::pair(&condition, "condition"), std::pair(&body, "body")})
    if (Fault fault = checkProgram(*program, call.operands, name))
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
    if (next[i] != call[i])
      return shapeFault(
          absl::StrCat("loop variable ", i, " is ", call[i].str(), ", and its body gives ", next[i].str()));
  results = std::move(next);
  return {};
}

static Fault checkStack(const TensorType &stack, const TensorType &entry) {
  if (stack.dtype != DType::Float64 || stack.rank() > entry.rank() ||
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

} // namespace calque::schema
