// The type rules of operations that make tensors and move their elements.
#include "absl/strings/str_cat.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <utility>

namespace calque::schema {

namespace {

Fault checkPerDimension(const Ints &values, const TensorType &type, const char *what) {
  if (static_cast<std::int64_t>(values.size()) != type.rank())
    return valueFault(
        absl::StrCat(what, " has ", counted(values.size(), "entry", "entries"), " for the dimensions of ", type.str()));
  return {};
}

} // namespace

Fault constant(const OpCall &call, std::vector<TensorType> &results) {
  results.push_back(call.attribute<ConstantRef>(0)->type);
  return {};
}

Fault iota(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result{call.attribute<DType>(1), ints(call, 0)};
  if (result.dtype == DType::Bool)
    return dtypeFault("makes numbers, not bool");
  if (Fault fault = checkSizes(result.dims))
    return fault;
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(2), result.rank(), axis))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault iotaOpen(const OpCall &call, std::vector<TensorType> &results) {
  Attribute attributes[] = {Ints(), call.attributes[2], call.attributes[3]};
  if (Fault fault = openShape(call, std::get<Ints>(attributes[0])))
    return fault;
  return iota(OpCall{call.op, {}, attributes}, results);
}

Fault sizeOf(const OpCall &call, std::vector<TensorType> &results) {
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  results.push_back({DType::Int64, {}});
  return {};
}

Fault reshape(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result{call[0].dtype, ints(call, 0)};
  std::int64_t inferred = -1;
  bool unknown = false;
  for (std::size_t i = 0; i < result.dims.size(); ++i) {
    if (result.dims[i] == -1) {
      if (inferred >= 0)
        return valueFault(absl::StrCat("only one size may be -1: ", shapeString(result.dims)));
      inferred = static_cast<std::int64_t>(i);
    } else if (result.dims[i] == kOpenSize) {
      unknown = true;
    } else if (result.dims[i] < 0) {
      return valueFault(absl::StrCat("a size must not be negative: ", shapeString(result.dims)));
    }
  }
  // If another size is 0, any size would fit for -1.
  if (inferred >= 0 && std::find(result.dims.begin(), result.dims.end(), 0) != result.dims.end())
    return shapeFault(absl::StrCat("the size for -1 does not follow from the others, one of which is 0: ",
                                   shapeString(ints(call, 0))));
  if (!call[0].isStatic() || unknown) {
    if (inferred >= 0)
      result.dims[inferred] = kOpenSize;
  } else {
    std::int64_t count = call[0].numElements();
    std::optional<std::int64_t> known = productOf(result.dims);
    const bool follows = inferred >= 0 && known > 0;
    if (follows && count % *known == 0)
      result.dims[inferred] = count / *known;
    else if (inferred >= 0 || known != count)
      return shapeFault(absl::StrCat(call[0].str(), " has ", counted(static_cast<std::size_t>(count), "element"),
                                     ", which can't fill ", shapeString(ints(call, 0)),
                                     follows ? absl::StrCat("; the number must be divisible by ", *known) : ""));
  }
  results.push_back(std::move(result));
  return {};
}

Fault reshapeOpen(const OpCall &call, std::vector<TensorType> &results) {
  Attribute attribute = Ints();
  Dims &shape = std::get<Ints>(attribute);
  if (Fault fault = openShape(call, shape))
    return fault;
  // Unknown sizes of x that the shape has as well cancel out. The other sizes give the size for -1.
  const Ints &given = ints(call, 0), &sizes = ints(call, 1);
  TensorType rest = call[0];
  for (std::size_t i = 0, next = 0; i < shape.size(); ++i) {
    if (given[i] != kOpenSize)
      continue;
    std::int64_t operand = sizes[next], axis = sizes[next + 1];
    next += 2;
    axis = normalAxis(axis, call[operand].rank());
    if (operand == 0 && shape[i] == kOpenSize && rest.dims[axis] == kOpenSize) {
      rest.dims[axis] = 1;
      shape[i] = 1;
    }
  }
  TensorType operands[] = {rest};
  if (Fault fault = reshape(OpCall{call.op, operands, {&attribute, 1}}, results))
    return fault;
  for (std::size_t i = 0, next = 0; i < shape.size(); ++i)
    if (given[i] == kOpenSize) {
      std::int64_t operand = sizes[next], axis = sizes[next + 1];
      next += 2;
      results.back().dims[i] = call[operand].dims[normalAxis(axis, call[operand].rank())];
    }
  return {};
}

Fault reshapeLike(const OpCall &call, std::vector<TensorType> &results) {
  if (call[0].isStatic() && call[1].isStatic() && call[0].numElements() != call[1].numElements())
    return shapeFault(absl::StrCat(call[0].str(), " has other elements than ", call[1].str()));
  results.push_back({call[0].dtype, call[1].dims});
  return {};
}

Fault expandDims(const OpCall &call, std::vector<TensorType> &results) {
  Ints axes;
  std::int64_t rank = call[0].rank() + static_cast<std::int64_t>(ints(call, 0).size());
  if (Fault fault = normalizeAxes(ints(call, 0), rank, false, axes))
    return fault;
  TensorType result{call[0].dtype, {}};
  for (std::int64_t i = 0, next = 0; i < rank; ++i)
    result.dims.push_back(std::binary_search(axes.begin(), axes.end(), i) ? 1 : call[0].dims[next++]);
  results.push_back(std::move(result));
  return {};
}

namespace {
// The size of two dimensions that are merged. It is unknown if one of them is unknown and none is 0.
std::int64_t merged(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  return a == kOpenSize || b == kOpenSize ? kOpenSize : a * b;
}
} // namespace

Fault mergeDims(const OpCall &call, std::vector<TensorType> &results) {
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  if (axis + 1 == call[0].rank())
    return valueFault(absl::StrCat("there is no dimension behind dimension ", axis, " of ", call[0].str()));
  TensorType result = call[0];
  if (!productOf({result.dims.begin() + axis, result.dims.begin() + axis + 2}))
    return shapeFault(
        absl::StrCat("dimensions ", axis, " and ", axis + 1, " of ", call[0].str(), " are too large for one"));
  result.dims[axis] = merged(result.dims[axis], result.dims[axis + 1]);
  result.dims.erase(result.dims.begin() + axis + 1);
  results.push_back(std::move(result));
  return {};
}

Fault splitDim(const OpCall &call, std::vector<TensorType> &results) {
  std::int64_t axis = 0, first = 0, second = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(0), call[0].rank(), axis))
    return fault;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(1), call[1].rank(), first))
    return fault;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(2), call[1].rank(), second))
    return fault;
  std::int64_t sizes[] = {call[1].dims[first], call[1].dims[second]};
  TensorType expected = call[0];
  if (productOf(sizes))
    expected.dims[axis] = merged(sizes[0], sizes[1]);
  if (!productOf(sizes) || !fit(call[0], expected))
    return shapeFault(absl::StrCat("dimension ", axis, " of ", call[0].str(), " is not as large as dimensions ", first,
                                   " and ", second, " of ", call[1].str(), " together; ", expected.str(),
                                   " would fit"));
  TensorType result = call[0];
  std::int64_t whole = result.dims[axis];
  for (std::size_t i : {0u, 1u}) // an unknown size follows from the two known ones
    if (whole != kOpenSize && sizes[i] == kOpenSize && sizes[1 - i] != kOpenSize && sizes[1 - i] > 0)
      sizes[i] = whole / sizes[1 - i];
  result.dims[axis] = sizes[0];
  result.dims.insert(result.dims.begin() + axis + 1, sizes[1]);
  results.push_back(std::move(result));
  return {};
}

Fault broadcastTo(const OpCall &call, std::vector<TensorType> &results) {
  TensorType target{call[0].dtype, ints(call, 0)};
  if (Fault fault = checkSizes(target.dims))
    return fault;
  TensorType both[] = {call[0], target};
  Dims merged;
  if (Fault fault = broadcastShapes(both, merged))
    return fault;
  if (!broadcastsTo(call[0], target))
    return shapeFault(absl::StrCat(call[0].str(), " can't be broadcast to ", shapeString(target.dims)));
  results.push_back(std::move(target));
  return {};
}

Fault broadcastToOpen(const OpCall &call, std::vector<TensorType> &results) {
  Attribute attribute = Ints();
  if (Fault fault = openShape(call, std::get<Ints>(attribute)))
    return fault;
  return broadcastTo(OpCall{call.op, call.operands.first(1), {&attribute, 1}}, results);
}

Fault broadcastLike(const OpCall &call, std::vector<TensorType> &results) {
  Dims merged;
  if (Fault fault = broadcastShapes(call.operands, merged))
    return fault;
  if (!broadcastsTo(call[0], call[1]))
    return shapeFault(absl::StrCat(call[0].str(), " can't be broadcast to ", shapeString(call[1].dims)));
  results.push_back({call[0].dtype, call[1].dims});
  return {};
}

Fault transpose(const OpCall &call, std::vector<TensorType> &results) {
  Ints permutation = ints(call, 0);
  if (permutation.empty())
    for (std::int64_t i = call[0].rank() - 1; i >= 0; --i)
      permutation.push_back(i);
  if (Fault fault = checkPerDimension(permutation, call[0], "the permutation"))
    return fault;
  Ints sorted;
  if (Fault fault = normalizeAxes(permutation, call[0].rank(), false, sorted))
    return fault;
  TensorType result{call[0].dtype, {}};
  for (std::int64_t axis : permutation)
    result.dims.push_back(call[0].dims[normalAxis(axis, call[0].rank())]);
  results.push_back(std::move(result));
  return {};
}

Fault reverse(const OpCall &call, std::vector<TensorType> &results) {
  Ints axes;
  if (Fault fault = normalizeAxes(ints(call, 0), call[0].rank(), true, axes))
    return fault;
  results.push_back(call[0]);
  return {};
}

namespace {
Fault concatOf(std::span<const TensorType> tensors, std::int64_t givenAxis, TensorType &result) {
  if (tensors.empty())
    return valueFault("needs at least one tensor");
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(givenAxis, tensors[0].rank(), axis))
    return fault;
  result = tensors[0];
  for (std::size_t k = 1; k < tensors.size(); ++k) {
    const TensorType &type = tensors[k];
    if (type.dtype != result.dtype)
      return dtypeFault(absl::StrCat("the tensors' types differ: ", tensors[0].str(), " and ", type.str(),
                                     "; there is no implicit conversion, use cast"));
    bool fits = type.rank() == result.rank();
    for (std::int64_t i = 0; fits && i < result.rank(); ++i) {
      if (i == axis) {
        if (result.dims[i] == kOpenSize || type.dims[i] == kOpenSize)
          result.dims[i] = kOpenSize;
        else if (Fault fault = addSize(result.dims[i], type.dims[i]))
          return fault;
      } else if (std::optional<std::int64_t> dim = mergeDims(result.dims[i], type.dims[i])) {
        result.dims[i] = *dim;
      } else {
        fits = false;
      }
    }
    if (!fits)
      return shapeFault(absl::StrCat("tensor ", k, " is ", type.str(), ", which differs from ", tensors[0].str(),
                                     " in more than axis ", axis));
  }
  return {};
}
} // namespace

Fault concat(const OpCall &call, std::vector<TensorType> &results) {
  TensorType result;
  if (Fault fault = concatOf(call.operands, call.attribute<std::int64_t>(0), result))
    return fault;
  results.push_back(std::move(result));
  return {};
}

Fault concatPart(const OpCall &call, std::vector<TensorType> &results) {
  TensorType whole;
  std::span<const TensorType> tensors = call.operands.subspan(1);
  if (Fault fault = concatOf(tensors, call.attribute<std::int64_t>(0), whole))
    return fault;
  std::int64_t index = call.attribute<std::int64_t>(1);
  if (index < 0 || index >= static_cast<std::int64_t>(tensors.size()))
    return valueFault(absl::StrCat("there is no tensor ", index));
  if (Fault fault = sameDType(call[0], whole))
    return fault;
  if (!fit(call[0], whole))
    return shapeFault(absl::StrCat(call[0].str(), " is not the concatenation, ", whole.str()));
  results.push_back({call[0].dtype, tensors[index].dims});
  return {};
}

Fault split(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &sizes = ints(call, 0);
  std::int64_t axis = 0;
  if (Fault fault = normalizeAxis(call.attribute<std::int64_t>(1), call[0].rank(), axis))
    return fault;
  if (sizes.empty())
    return valueFault("needs at least one size");
  std::int64_t whole = call[0].dims[axis], sum = 0, rests = 0;
  for (std::int64_t size : sizes) {
    if (size < -1)
      return valueFault(absl::StrCat("a size is ", size));
    rests += size == -1;
    if (Fault fault = addSize(sum, std::max<std::int64_t>(size, 0)))
      return fault;
  }
  if (rests > 1)
    return valueFault(absl::StrCat("only one size may be -1: ", listString(sizes)));
  if (whole != kOpenSize && (rests ? sum > whole : sum != whole))
    return shapeFault(absl::StrCat("the sizes ", listString(sizes), " don't add up to ", whole, ", which is that of ",
                                   call[0].str(), " along axis ", axis));
  for (std::int64_t size : sizes) {
    results.push_back(call[0]);
    results.back().dims[axis] = size != -1 ? size : whole == kOpenSize ? kOpenSize : whole - sum;
  }
  return {};
}

Fault slice(const OpCall &call, std::vector<TensorType> &results) {
  const Ints &starts = ints(call, 0), &limits = ints(call, 1);
  Ints strides = ints(call, 2);
  if (strides.empty())
    strides.assign(call[0].dims.size(), 1);
  for (auto [values, what] : {std::pair(&starts, "starts"), std::pair(&limits, "limits"),
                              std::pair<const Ints *, const char *>(&strides, "strides")})
    if (Fault fault = checkPerDimension(*values, call[0], what))
      return fault;
  TensorType result{call[0].dtype, {}};
  for (std::int64_t i = 0; i < call[0].rank(); ++i) {
    std::int64_t size = call[0].dims[i];
    if (strides[i] < 1)
      return valueFault(absl::StrCat("strides must be positive, not ", strides[i], " in dimension ", i));
    if (starts[i] < 0)
      return valueFault(absl::StrCat("the start ", starts[i], " in dimension ", i, " of ", call[0].str(),
                                     " is negative; rows() counts from the end"));
    if (limits[i] < starts[i])
      return valueFault(
          absl::StrCat("[", starts[i], ", ", limits[i], ") is no range in dimension ", i, " of ", call[0].str()));
    if (size != kOpenSize && limits[i] > size)
      return shapeFault(
          absl::StrCat("[", starts[i], ", ", limits[i], ") is out of range in dimension ", i, " of ", call[0].str()));
    result.dims.push_back(limits[i] == starts[i] ? 0 : (limits[i] - starts[i] - 1) / strides[i] + 1);
  }
  results.push_back(std::move(result));
  return {};
}

namespace {
Fault checkSliceOf(const OpCall &call, const TensorType &whole, const TensorType &part) {
  if (whole.rank() != part.rank())
    return shapeFault(absl::StrCat(part.str(), " is not a part of ", whole.str()));
  if (Fault fault = checkPerDimension(ints(call, 0), whole, "starts"))
    return fault;
  if (Fault fault = checkPerDimension(ints(call, 1), whole, "strides"))
    return fault;
  for (std::int64_t i = 0; i < whole.rank(); ++i) {
    if (ints(call, 0)[i] < 0 || ints(call, 1)[i] < 1)
      return valueFault("starts must not be negative and strides must be positive");
    if (whole.dims[i] == kOpenSize)
      continue;
    std::int64_t start = ints(call, 0)[i], stride = ints(call, 1)[i];
    // Compares numbers of steps, because the index of the last element may overflow.
    bool empty = part.dims[i] == 0 || part.dims[i] == kOpenSize;
    if (start > whole.dims[i] ||
        (!empty && (start == whole.dims[i] || part.dims[i] - 1 > (whole.dims[i] - 1 - start) / stride)))
      return shapeFault(
          absl::StrCat(part.str(), " from ", shapeString(ints(call, 0)), " does not lie within ", whole.str()));
  }
  return {};
}
} // namespace

Fault sliceLike(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkSliceOf(call, call[0], call[1]))
    return fault;
  results.push_back({call[0].dtype, call[1].dims});
  return {};
}

Fault slicePut(const OpCall &call, std::vector<TensorType> &results) {
  if (Fault fault = checkSliceOf(call, call[1], call[0]))
    return fault;
  results.push_back({call[0].dtype, call[1].dims});
  return {};
}

Fault pad(const OpCall &call, std::vector<TensorType> &results) {
  for (int i : {0, 1}) {
    if (Fault fault = checkPerDimension(ints(call, i), call[0], i ? "high" : "low"))
      return fault;
    for (std::int64_t amount : ints(call, i))
      if (amount < 0)
        return valueFault(absl::StrCat("padding must not be negative: ", listString(ints(call, i))));
  }
  TensorType result = call[0];
  for (std::int64_t i = 0; i < result.rank(); ++i)
    for (int side : {0, 1})
      if (result.dims[i] != kOpenSize)
        if (Fault fault = addSize(result.dims[i], ints(call, side)[i]))
          return fault;
  results.push_back(std::move(result));
  return {};
}

} // namespace calque::schema
