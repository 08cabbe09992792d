#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

#include <algorithm>

namespace calque::schema {

namespace {

Fault checkNumeric(const OpCall &call) {
  for (const TensorType &type : call.operands)
    if (type.dtype == DType::Bool)
      return dtypeFault(absl::StrCat("takes numbers, not ", type.str(), "; use cast(x, DType::Int32)"));
  return {};
}

// Of a sum along an axis: small integers would soon be too large for their type.
DType sumType(DType dtype) { return is_integer(dtype) ? info_of(dtype).accumulator : dtype; }

Fault reduce(const OpCall &call, bool needsElements, std::vector<TensorType> &results) {
  std::vector<std::int64_t> axes;
  if (Fault fault = normalizeAxes(call.attribute<std::vector<std::int64_t>>(0), call[0].rank(), true, axes))
    return fault;
  bool keepdims = call.attribute<bool>(1);
  TensorType result{call[0].dtype, {}};
  for (std::int64_t i = 0; i < call[0].rank(); ++i) {
    bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (reduced && needsElements && call[0].dims[i] == 0)
      return shapeFault(absl::StrCat("axis ", i, " of ", call[0].str(), " is empty, and an empty set has no result"));
    if (!reduced)
      result.dims.push_back(call[0].dims[i]);
    else if (keepdims)
      result.dims.push_back(1);
  }
  results.push_back(std::move(result));
  return {};
}

} // namespace

Fault reduceNumeric(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkNumeric(call))
    return fault;
  if (Fault fault = reduce(call, false, results))
    return fault;
  results[0].dtype = sumType(results[0].dtype);
  return {};
}
Fault reduceNumericNonEmpty(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkNumeric(call))
    return fault;
  // This rule is for the largest and the smallest element. The user may have meant the number behind x as a value, not
  // as an axis.
  std::vector<std::int64_t> axes;
  if (Fault fault = normalizeAxes(call.attribute<std::vector<std::int64_t>>(0), call[0].rank(), true, axes))
    return valueFault(absl::StrCat(
        fault.message, ". This is a reduction over axes: the larger of two values is maximum, the smaller minimum"));
  return reduce(call, true, results);
}
Fault reduceBool(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0].dtype != DType::Bool)
    return dtypeFault(absl::StrCat("takes bool, not ", call[0].str()));
  return reduce(call, false, results);
}
Fault reduceFloat(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = requireFloating(call.operands))
    return fault;
  return reduce(call, false, results);
}
Fault reduceFloatNonEmpty(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = requireFloating(call.operands))
    return fault;
  return reduce(call, true, results);
}

Fault softmax(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = requireFloating(call.operands))
    return fault;
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  if (call[0].dims[axis] == 0)
    return shapeFault(absl::StrCat("axis ", axis, " of ", call[0].str(), " is empty, and an empty set has no result"));
  results.push_back(call[0]);
  return {};
}

Fault argExtreme(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkNumeric(call))
    return fault;
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  if (call[0].dims[axis] == 0)
    return shapeFault(absl::StrCat("axis ", axis, " of ", call[0].str(), " is empty, and an empty set has no result"));
  TensorType result{DType::Int64, call[0].dims};
  result.dims.erase(result.dims.begin() + axis);
  results.push_back(std::move(result));
  return {};
}

Fault cumulative(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkNumeric(call))
    return fault;
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  results.push_back({sumType(call[0].dtype), call[0].dims});
  return {};
}

Fault linearRecurrence(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkNumeric(call))
    return fault;
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  if (!fit(call[0], call[1]))
    return shapeFault(absl::StrCat("factors ", call[0].str(), " and terms ", call[1].str(), " must be of one shape"));
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  results.push_back(call[1]);
  return {};
}

Fault linearRecurrenceParts(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = requireFloating(call.operands.first(1)))
    return fault;
  for (std::size_t i = 1; i < 4; ++i) {
    if (Fault fault = sameDType(call[0], call[i]))
      return fault;
    if (!fit(call[0], call[i]))
      return shapeFault(absl::StrCat("parts ", call[0].str(), " and ", call[i].str(), " must be of one shape"));
  }
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  results.assign(2, call[2]);
  return {};
}

Fault axisSize(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkNumeric(call))
    return fault;
  std::vector<std::int64_t> axes;
  if (Fault fault = normalizeAxes(call.attribute<std::vector<std::int64_t>>(0), call[0].rank(), true, axes))
    return fault;
  results.push_back({call[0].dtype, {}});
  return {};
}

Fault sumLike(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0].dtype == DType::Bool)
    return dtypeFault(absl::StrCat("takes numbers, not ", call[0].str(), "; use cast(x, DType::Int32)"));
  if (!broadcastsTo(call[1], call[0]))
    return shapeFault(absl::StrCat(call[1].str(), " is not broadcast to ", call[0].str()));
  results.push_back({call[0].dtype, call[1].dims});
  return {};
}

Fault contract(const OpCall &call, std::vector<TensorType> &results) {
  using Ints = std::vector<std::int64_t>;
  if (Fault fault = checkNumeric(call))
    return fault;
  if (Fault fault = sameDType(call[0], call[1]))
    return fault;
  Ints lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  Ints *normalized[] = {&lhsBatch, &rhsBatch, &lhsContracting, &rhsContracting};
  for (int i = 0; i < 4; ++i)
    if (Fault fault = normalizeAxes(call.attribute<Ints>(i), call[i % 2].rank(), false, *normalized[i]))
      return fault;
  // normalizeAxes would sort the axes, but the order says which axes form a pair.
  auto nonNegative = [&](int i) {
    Ints axes = call.attribute<Ints>(i);
    for (std::int64_t &axis : axes)
      axis = normalAxis(axis, call[i % 2].rank());
    return axes;
  };
  TensorType result{call[0].dtype, {}};
  for (int pair : {0, 2}) {
    Ints left = nonNegative(pair), right = nonNegative(pair + 1);
    if (left.size() != right.size())
      return valueFault(
          absl::StrCat("the lists pair ", counted(left.size(), "dimension"), " of lhs with ", right.size(), " of rhs"));
    for (std::size_t i = 0; i < left.size(); ++i) {
      std::optional<std::int64_t> dim = mergeDims(call[0].dims[left[i]], call[1].dims[right[i]]);
      if (!dim)
        return shapeFault(absl::StrCat("dimension ", left[i], " of ", call[0].str(), " has size ",
                                       call[0].dims[left[i]], " and dimension ", right[i], " of ", call[1].str(),
                                       " has size ", call[1].dims[right[i]], "; they must be equal"));
      if (pair == 0)
        result.dims.push_back(*dim);
    }
  }
  for (int side : {0, 1}) {
    const Ints &batch = *normalized[side], &contracting = *normalized[side + 2];
    for (std::int64_t i = 0; i < call[side].rank(); ++i) {
      bool inBatch = std::binary_search(batch.begin(), batch.end(), i);
      bool inContracting = std::binary_search(contracting.begin(), contracting.end(), i);
      if (inBatch && inContracting)
        return valueFault(absl::StrCat("dimension ", i, " of ", call[side].str(), " is both batch and contracting"));
      if (!inBatch && !inContracting)
        result.dims.push_back(call[side].dims[i]);
    }
  }
  results.push_back(std::move(result));
  return {};
}

} // namespace calque::schema
