// The type rules of operations whose indices name several dimensions.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

namespace calque::schema {

namespace {

// The type of the slices of x at the indices.
Fault slicesAt(const TensorType &x, const TensorType &indices, TensorType &slices) {
  if (!is_integer(indices.dtype))
    return dtypeFault(absl::StrCat("indices must be ", names_of({DTypeKind::Integer}), ", not ", indices.str()));
  if (indices.rank() == 0 || indices.dims.back() == kOpenSize)
    return shapeFault(
        absl::StrCat("the last dimension of the indices has one for each dimension that they name, and its "
                     "size must be known; they are ",
                     indices.str()));
  const std::int64_t named = indices.dims.back();
  if (named > x.rank())
    return shapeFault(absl::StrCat("the indices ", indices.str(), " name ",
                                   counted(static_cast<std::size_t>(named), "dimension"), ", and ", x.str(), " has ",
                                   x.rank()));
  slices = {x.dtype, {indices.dims.begin(), indices.dims.end() - 1}};
  slices.dims.insert(slices.dims.end(), x.dims.begin() + named, x.dims.end());
  return {};
}

Fault scatter(const OpCall &call, std::vector<TensorType> &results) {
  TensorType slices;
  if (Fault fault = slicesAt(call[0], call[1], slices))
    return fault;
  if (call[0].dtype != call[2].dtype)
    return dtypeFault(absl::StrCat("the updates are ", call[2].str(), " and the tensor is ", call[0].str(),
                                   "; there is no implicit conversion, use cast"));
  if (!fit(call[2], slices))
    return shapeFault(absl::StrCat("the updates must be ", slices.str(), ", not ", call[2].str()));
  results.push_back(call[0]);
  return {};
}

} // namespace

Fault gatherNd(const OpCall &call, std::vector<TensorType> &results) {
  TensorType slices;
  if (Fault fault = slicesAt(call[0], call[1], slices))
    return fault;
  results.push_back(std::move(slices));
  return {};
}

Fault scatterNd(const OpCall &call, std::vector<TensorType> &results) { return scatter(call, results); }

Fault scatterNdNumeric(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0].dtype == DType::Bool)
    return dtypeFault(absl::StrCat("takes numbers, not ", call[0].str(), "; use cast(x, DType::Int32)"));
  return scatter(call, results);
}

} // namespace calque::schema
