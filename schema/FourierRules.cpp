// The type rules of Fourier transforms.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

namespace calque::schema {

namespace {

Fault requireRank(const TensorType &type, std::int64_t rank) {
  if (type.rank() < rank)
    return shapeFault(absl::StrCat("takes tensors of rank ", rank, " or more, not ", type.str()));
  return {};
}

Fault checkComplex(const TensorType &type, std::int64_t rank) {
  if (!is_complex(type.dtype))
    return dtypeFault(absl::StrCat("takes complex64 or complex128, not ", type.str()));
  return requireRank(type, rank);
}

Fault checkReal(const TensorType &type, std::int64_t rank) {
  if (type.dtype != DType::Float32 && type.dtype != DType::Float64)
    return dtypeFault(absl::StrCat("takes float32 or float64, not ", type.str()));
  return requireRank(type, rank);
}

// The parts of numbers: two tensors of one type.
Fault mergeParts(const OpCall &call, TensorType &part) {
  if (Fault fault = checkReal(call[0], 1))
    return fault;
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  if (call[0].rank() != call[1].rank() || !fit(call[0], call[1]))
    return shapeFault(
        absl::StrCat("the parts have the shapes ", shapeString(call[0].dims), " and ", shapeString(call[1].dims)));
  part = call[0];
  for (std::size_t i = 0; i < part.dims.size(); ++i)
    part.dims[i] = *mergeDims(call[0].dims[i], call[1].dims[i]);
  return {};
}

Fault checkPairs(const TensorType &type, std::int64_t rank) {
  if (Fault fault = checkReal(type, rank + 1))
    return fault;
  if (type.dims.back() != 2)
    return shapeFault(absl::StrCat("the last dimension must have the size 2, in ", type.str()));
  return {};
}

Fault checkDivisor(const OpCall &call, std::size_t at) {
  const auto divisor = call.attribute<std::int64_t>(at);
  return divisor < 0 || divisor > 2 ? valueFault(absl::StrCat("no divisor has the number ", divisor)) : Fault{};
}

// The number of frequencies of real numbers, whose number is known.
Fault halfOf(const TensorType &real, std::int64_t &half) {
  const std::int64_t n = real.dims.back();
  if (n == kOpenSize)
    return shapeFault(absl::StrCat("the length of the transform must be known while tracing, in ", real.str()));
  if (n < 1)
    return shapeFault(absl::StrCat("there is no transform of no numbers, in ", real.str()));
  half = n / 2 + 1;
  return {};
}

// The type of real numbers of which half of the spectrum is given, without the dimension of the parts.
Fault realOf(const OpCall &call, TensorType spectrum, std::size_t at, std::vector<TensorType> &results) {
  const auto length = call.attribute<std::int64_t>(at);
  if (length < 1)
    return valueFault(absl::StrCat("the length must be 1 or more, not ", length));
  if (Fault fault = checkDivisor(call, at + 1))
    return fault;
  if (!mergeDims(spectrum.dims.back(), length / 2 + 1))
    return shapeFault(
        absl::StrCat(length, " real numbers have ", length / 2 + 1, " frequencies, not ", spectrum.str()));
  spectrum.dims.back() = length;
  results.push_back(std::move(spectrum));
  return {};
}

} // namespace

Fault fourierOfComplex(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkComplex(call[0], call.attribute<bool>(0) ? 2 : 1))
    return fault;
  results.push_back(call[0]);
  return checkDivisor(call, 2);
}

Fault fourierOfParts(const OpCall &call, std::vector<TensorType> &results) {
  TensorType part;
  if (Fault fault = mergeParts(call, part))
    return fault;
  if (Fault fault = requireRank(part, call.attribute<bool>(0) ? 2 : 1))
    return fault;
  results = {part, part};
  return checkDivisor(call, 2);
}

Fault fourierOfPairs(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkPairs(call[0], 2))
    return fault;
  results.push_back(call[0]);
  return checkDivisor(call, 1);
}

Fault partsOfReal(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkReal(call[0], 1))
    return fault;
  TensorType part = call[0];
  if (Fault fault = halfOf(call[0], part.dims.back()))
    return fault;
  results = {part, part};
  return checkDivisor(call, 0);
}

Fault fourierOfReal(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = partsOfReal(call, results))
    return fault;
  results.pop_back();
  results[0].dtype = promote(results[0].dtype, DType::Complex64);
  return {};
}

Fault pairsOfReal(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = partsOfReal(call, results))
    return fault;
  results.pop_back();
  results[0].dims.push_back(2);
  return {};
}

Fault realOfFourier(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkComplex(call[0], 1))
    return fault;
  TensorType spectrum = call[0];
  spectrum.dtype = real_of(spectrum.dtype);
  return realOf(call, std::move(spectrum), 0, results);
}

Fault realOfParts(const OpCall &call, std::vector<TensorType> &results) {
  TensorType part;
  if (Fault fault = mergeParts(call, part))
    return fault;
  return realOf(call, std::move(part), 0, results);
}

Fault realOfPairs(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkPairs(call[0], 1))
    return fault;
  TensorType spectrum = call[0];
  spectrum.dims.pop_back();
  return realOf(call, std::move(spectrum), 0, results);
}

} // namespace calque::schema
