#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

namespace calque::schema {

namespace {

enum class Allowed { Numeric, Float, Bool, Bits, Integer };

Fault checkAllowed(const OpCall &call, Allowed allowed) {
  for (const TensorType &type : call.operands)
    if (Fault fault = sameDType(call[0], type))
      return fault;
  for (const TensorType &type : call.operands) {
    if (allowed == Allowed::Bool && type.dtype != DType::Bool)
      return dtypeFault(absl::StrCat("takes bool, not ", type.str()));
    if (allowed == Allowed::Bits && is_floating(type.dtype))
      return dtypeFault(absl::StrCat("takes bool and integers, not ", type.str()));
    if (allowed == Allowed::Integer && !is_integer(type.dtype))
      return dtypeFault(absl::StrCat("takes integers, not ", type.str()));
    if (allowed == Allowed::Numeric && type.dtype == DType::Bool)
      return dtypeFault(absl::StrCat("takes numbers, not ", type.str(), "; use cast(x, DType::Int32)"));
  }
  return allowed == Allowed::Float ? requireFloating(call.operands) : Fault();
}

Fault elementwise(const OpCall &call, DType result, std::vector<TensorType> &results) {
  TensorType type{result, {}};
  if (Fault fault = broadcastShapes(call.operands, type.dims))
    return fault;
  results.push_back(std::move(type));
  return {};
}

Fault sameType(const OpCall &call, Allowed allowed, std::vector<TensorType> &results) {
  if (Fault fault = checkAllowed(call, allowed))
    return fault;
  return elementwise(call, call[0].dtype, results);
}

} // namespace

Fault elementwiseNumeric(const OpCall &call, std::vector<TensorType> &results) {
  return sameType(call, Allowed::Numeric, results);
}
Fault elementwiseFloat(const OpCall &call, std::vector<TensorType> &results) {
  return sameType(call, Allowed::Float, results);
}
Fault elementwiseBool(const OpCall &call, std::vector<TensorType> &results) {
  return sameType(call, Allowed::Bool, results);
}

Fault elementwiseBits(const OpCall &call, std::vector<TensorType> &results) {
  return sameType(call, Allowed::Bits, results);
}
Fault elementwiseInteger(const OpCall &call, std::vector<TensorType> &results) {
  return sameType(call, Allowed::Integer, results);
}

Fault elementwiseComparison(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  return elementwise(call, DType::Bool, results);
}

Fault elementwiseTest(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkAllowed(call, Allowed::Float))
    return fault;
  return elementwise(call, DType::Bool, results);
}

Fault elementwiseSelect(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0].dtype != DType::Bool)
    return dtypeFault(absl::StrCat("the condition must be bool, not ", call[0].str()));
  if (call[1].dtype != call[2].dtype)
    return dtypeFault(absl::StrCat("the branches' types differ: ", call[1].str(), " and ", call[2].str(),
                                   "; there is no implicit conversion, use cast"));
  return elementwise(call, call[1].dtype, results);
}

Fault cast(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back({call.attribute<DType>(0), call[0].dims});
  return {};
}

} // namespace calque::schema
