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
    if (allowed == Allowed::Bits && is_inexact(type.dtype))
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
// The result of complex numbers is real.
Fault elementwiseMagnitude(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkAllowed(call, Allowed::Numeric))
    return fault;
  return elementwise(call, real_of(call[0].dtype), results);
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
  if (is_complex(call[0].dtype) && !is_complex(call.attribute<DType>(0)))
    return dtypeFault(absl::StrCat("a complex number does not become ", name_of(call.attribute<DType>(0)),
                                   "; take real(x), imag(x) or abs(x)"));
  results.push_back({call.attribute<DType>(0), call[0].dims});
  return {};
}

Fault complexOf(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  const DType dtype = call[0].dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64)
    return dtypeFault(absl::StrCat("the parts must be float32 or float64, not ", call[0].str()));
  return elementwise(call, promote(dtype, DType::Complex64), results);
}

Fault complexNumber(const OpCall &call, std::vector<TensorType> &results) {
  if (!is_complex(call[0].dtype))
    return dtypeFault(absl::StrCat("takes complex numbers, not ", call[0].str()));
  results.push_back(call[0]);
  return {};
}
// Complex numbers in memory.
Fault pairs(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  if (!fit(call[0], call[1]) || call[0].rank() != call[1].rank())
    return shapeFault(
        absl::StrCat("the parts have the shapes ", shapeString(call[0].dims), " and ", shapeString(call[1].dims)));
  results.push_back(call[0]);
  for (std::size_t i = 0; i < call[0].dims.size(); ++i)
    results.back().dims[i] = *mergeDims(call[0].dims[i], call[1].dims[i]);
  results.back().dims.push_back(2);
  return {};
}
Fault partOfPairs(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0].dims.empty() || call[0].dims.back() != 2)
    return shapeFault(absl::StrCat("the last dimension must have the size 2, in ", call[0].str()));
  results.push_back(call[0]);
  results.back().dims.pop_back();
  return {};
}
Fault partOfComplex(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = complexNumber(call, results))
    return fault;
  results.back().dtype = real_of(call[0].dtype);
  return {};
}

} // namespace calque::schema
