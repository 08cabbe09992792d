// The type rules of effects: variables, assertions, calls of the host, and random numbers.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

#include <utility>

namespace calque::schema {

Fault variableRead(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkSizes(ints(call, 1)))
    return fault;
  results.push_back({call.attribute<DType>(2), ints(call, 1)});
  return {};
}

Fault variableAssign(const OpCall &, std::vector<TensorType> &) { return {}; }
Fault effect(const OpCall &, std::vector<TensorType> &) { return {}; }

Fault assertion(const OpCall &call, std::vector<TensorType> &) {
  if (call[0].dtype != DType::Bool)
    return dtypeFault(absl::StrCat("the condition must be bool, not ", call[0].str()));
  for (const TensorType &shown : call.operands.subspan(1))
    if (shown.dims.size() != call[0].dims.size() || !broadcastsTo(shown, call[0]))
      return shapeFault(
          absl::StrCat("a shown value, ", shown.str(), ", must broadcast to ", call[0].str(), " with its rank"));
  return {};
}

Fault hostCall(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &types = ints(call, 1);
  for (std::size_t i = 0; i < types.size();) {
    if (!std::in_range<std::int32_t>(types[i]) || !is_dtype(static_cast<DType>(types[i])) || i + 1 == types.size() ||
        types[i + 1] < 0 || types[i + 1] > static_cast<std::int64_t>(types.size() - i - 2))
      return valueFault(absl::StrCat("the types ", shapeString(types), " don't describe results"));
    auto first = types.begin() + static_cast<std::ptrdiff_t>(i) + 2, last = first + types[i + 1];
    TensorType type{static_cast<DType>(types[i]), {first, last}};
    for (std::int64_t size : type.dims)
      if (size < 0)
        return shapeFault(absl::StrCat("the sizes of a result must be known; one is ", type.str()));
    i += 2 + type.dims.size();
    results.push_back(std::move(type));
  }
  return {};
}

Fault sameAsOperand(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back(call[0]);
  return {};
}

Fault randomUniform(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0] != TensorType{DType::Int64, {2}})
    return valueFault(absl::StrCat("the state must be int64[2], key and counter, not ", call[0].str()));
  TensorType result{call.attribute<DType>(1), ints(call, 0)};
  if (!is_floating(result.dtype) || is_half(result.dtype)) // halves are made of float32: frontend/operations/Random.cpp
    return dtypeFault(absl::StrCat("makes floating-point numbers, not ", name_of(result.dtype)));
  if (Fault fault = checkSizes(result.dims))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault randomUniformOpen(const OpCall &call, std::vector<TensorType> &results) {
  Attribute attributes[] = {Ints(), call.attributes[2]};
  if (Fault fault = openShape(call, std::get<Ints>(attributes[0])))
    return fault;
  return randomUniform(OpCall{call.op, call.operands.first(1), attributes}, results);
}

} // namespace calque::schema
