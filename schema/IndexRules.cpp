// The type rules of operations on indices: taking and putting elements at indices, argsort and one_hot.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

namespace calque::schema {

namespace {

Fault checkIndices(const TensorType &indices) {
  if (!is_integer(indices.dtype))
    return dtypeFault(absl::StrCat("indices must be ", names_of({DTypeKind::Integer}), ", not ", indices.str()));
  return {};
}

} // namespace

Fault gather(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkIndices(call[1]))
    return fault;
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  TensorType result = call[0];
  result.dims.erase(result.dims.begin() + axis);
  result.dims.insert(result.dims.begin() + axis, call[1].dims.begin(), call[1].dims.end());
  results.push_back(std::move(result));
  return {};
}

Fault updateAt(const OpCall &call, std::vector<TensorType> &results) {
  TensorType operands[] = {call[0], call[1]};
  std::vector<TensorType> slices;
  if (Fault fault = gather(OpCall{call.op, operands, call.attributes}, slices))
    return fault;
  if (call[1].rank() != 0)
    return shapeFault(absl::StrCat("the index must be a scalar, not ", call[1].str()));
  if (call[0].dtype != call[2].dtype)
    return dtypeFault(absl::StrCat("the slice is ", call[2].str(), " and the tensor ", call[0].str()));
  if (!fit(call[2], slices[0]))
    return shapeFault(absl::StrCat("the slice must be ", slices[0].str(), ", not ", call[2].str()));
  results.push_back(call[0]);
  return {};
}

Fault gatherPut(const OpCall &call, std::vector<TensorType> &results) {
  TensorType operands[] = {call[1], call[2]};
  std::vector<TensorType> slices;
  if (Fault fault = gather(OpCall{call.op, operands, call.attributes}, slices))
    return fault;
  if (call[1].dtype == DType::Bool)
    return dtypeFault(absl::StrCat("takes numbers, not ", call[1].str()));
  if (call[0].dtype != call[1].dtype)
    return dtypeFault(absl::StrCat("the slices are ", call[0].str(), " and the tensor is ", call[1].str()));
  if (!fit(call[0], slices[0]))
    return shapeFault(absl::StrCat("the slices must be ", slices[0].str(), ", not ", call[0].str()));
  results.push_back(call[1]);
  return {};
}

Fault takeAlongAxis(const OpCall &call, std::vector<TensorType> &results) {
  const TensorType &x = call[0], &indices = call[1];
  if (Fault fault = checkIndices(indices))
    return fault;
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), x.rank(), axis))
    return fault;
  if (indices.rank() != x.rank())
    return shapeFault(absl::StrCat("the indices must have the rank of ", x.str(), ", unlike ", indices.str()));
  TensorType others = x, result{x.dtype, indices.dims};
  others.dims[axis] = indices.dims[axis];
  if (!fit(others, {x.dtype, indices.dims}))
    return shapeFault(absl::StrCat("the indices must have the sizes of ", x.str(), " but along axis ", axis,
                                   ", unlike ", indices.str()));
  for (std::int64_t i = 0; i < x.rank(); ++i)
    if (result.dims[i] == kOpenSize)
      result.dims[i] = others.dims[i];
  results.push_back(std::move(result));
  return {};
}

Fault putAlongAxis(const OpCall &call, std::vector<TensorType> &results) {
  TensorType operands[] = {call[1], call[2]};
  std::vector<TensorType> taken;
  if (Fault fault = takeAlongAxis(OpCall{call.op, operands, call.attributes}, taken))
    return fault;
  if (call[1].dtype == DType::Bool)
    return dtypeFault(absl::StrCat("takes numbers, not ", call[1].str()));
  if (call[0].dtype != call[1].dtype)
    return dtypeFault(absl::StrCat("the elements are ", call[0].str(), " and the tensor is ", call[1].str()));
  if (!fit(call[0], taken[0]))
    return shapeFault(absl::StrCat("the elements must be ", taken[0].str(), ", not ", call[0].str()));
  results.push_back(call[1]);
  return {};
}

Fault argSort(const OpCall &call, std::vector<TensorType> &results) {
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  results.push_back({DType::Int64, call[0].dims});
  return {};
}

Fault topIndices(const OpCall &call, std::vector<TensorType> &results) {
  const auto count = call.attribute<std::int64_t>(0);
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(1), call[0].rank(), axis))
    return fault;
  std::vector<std::int64_t> dims = call[0].dims;
  std::int64_t &size = dims[static_cast<std::size_t>(axis)];
  if (size < 0)
    return shapeFault(absl::StrCat("the size of axis ", axis, " of ", call[0].str(), " must be known"));
  if (count < 0 || count > size)
    return valueFault(absl::StrCat("the number of elements must be between 0 and ", size, ", not ", count));
  size = count;
  results.push_back({DType::Int64, dims});
  return {};
}

namespace {
Fault oneHotOf(const TensorType &indices, std::int64_t depth, DType dtype, std::vector<TensorType> &results) {
  if (Fault fault = checkIndices(indices))
    return fault;
  TensorType result{dtype, indices.dims};
  result.dims.push_back(depth);
  results.push_back(std::move(result));
  return {};
}

Fault checkDepth(std::int64_t depth) {
  return depth < 0 ? valueFault(absl::StrCat("the depth must not be negative: ", depth)) : Fault();
}
} // namespace

Fault oneHot(const OpCall &call, std::vector<TensorType> &results) {
  std::int64_t depth = call.attribute<std::int64_t>(0);
  if (Fault fault = checkDepth(depth))
    return fault;
  return oneHotOf(call[0], depth, call.attribute<DType>(1), results);
}

Fault oneHotOpen(const OpCall &call, std::vector<TensorType> &results) {
  Dims shape;
  if (Fault fault = openShape(call, shape))
    return fault;
  if (shape.size() != 1)
    return valueFault(absl::StrCat("the shape must be the depth alone, not ", shapeString(shape)));
  if (shape[0] != kOpenSize)
    if (Fault fault = checkDepth(shape[0]))
      return fault;
  return oneHotOf(call[0], shape[0], call.attribute<DType>(2), results);
}

} // namespace calque::schema
