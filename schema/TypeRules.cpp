#include "schema/TypeRules.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace calque::schema {

std::string listString(std::span<const std::int64_t> numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ","), "]");
}

std::optional<std::int64_t> mergeDims(std::int64_t a, std::int64_t b) {
  if (a == kOpenSize)
    return b;
  if (b == kOpenSize || a == b)
    return a;
  return std::nullopt;
}

std::optional<std::int64_t> productOf(std::span<const std::int64_t> sizes, std::int64_t unit) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return 0;
  for (std::int64_t size : sizes)
    if (size > 0 && __builtin_mul_overflow(unit, size, &unit))
      return std::nullopt;
  return unit;
}

Fault checkSizes(const Ints &shape) {
  for (std::int64_t dim : shape)
    if (dim < 0 && dim != kOpenSize)
      return valueFault(absl::StrCat("a size must not be negative: ", shapeString(shape)));
  return {};
}

Fault openShape(const OpCall &call, Dims &shape) {
  shape = ints(call, 0);
  const Ints &sizes = ints(call, 1);
  std::size_t next = 0;
  for (std::int64_t &size : shape) {
    if (size != kOpenSize)
      continue;
    if (next + 2 > sizes.size())
      return valueFault(absl::StrCat("the shape ", shapeString(shape), " has more unknown sizes than ",
                                     shapeString(sizes), " gives"));
    std::int64_t operand = sizes[next], axis = 0;
    if (operand < 0 || operand >= static_cast<std::int64_t>(call.operands.size()))
      return valueFault(absl::StrCat("there is no operand ", operand, " to take a size from"));
    if (Fault fault = normalizeAxis(sizes[next + 1], call[operand].rank(), axis))
      return fault;
    size = call[operand].dims[axis];
    next += 2;
  }
  if (next != sizes.size())
    return valueFault(
        absl::StrCat("the shape ", shapeString(shape), " has fewer unknown sizes than ", shapeString(sizes), " gives"));
  return {};
}

Fault addSize(std::int64_t &size, std::int64_t more) {
  if (std::int64_t sum; !__builtin_add_overflow(size, more, &sum)) {
    size = sum;
    return {};
  }
  return valueFault(absl::StrCat("the sizes ", size, " and ", more, " add up to more than a dimension can have"));
}

bool fit(const TensorType &a, const TensorType &b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](std::int64_t x, std::int64_t y) { return mergeDims(x, y).has_value(); });
}

bool broadcastsTo(const TensorType &from, const TensorType &to) {
  return from.rank() <= to.rank() &&
         std::equal(from.dims.rbegin(), from.dims.rend(), to.dims.rbegin(),
                    [](std::int64_t x, std::int64_t y) { return x == 1 || mergeDims(x, y).has_value(); });
}

Fault requireFloating(std::span<const TensorType> types) {
  for (const TensorType &type : types)
    if (!is_inexact(type.dtype))
      return dtypeFault(
          absl::StrCat("takes ", names_of({DTypeKind::Float}), ", not ", type.str(), "; use cast(x, DType::Float32)"));
  return {};
}

Fault sameDType(const TensorType &a, const TensorType &b) {
  if (a.dtype != b.dtype)
    return dtypeFault(absl::StrCat("the operands' types differ: ", a.str(), " and ", b.str(),
                                   "; there is no implicit conversion, use cast"));
  return {};
}

Fault broadcastShapes(std::span<const TensorType> operands, Dims &result) {
  std::size_t rank = 0;
  for (const TensorType &type : operands)
    rank = std::max(rank, type.dims.size());
  result.assign(rank, 1);
  for (const TensorType &type : operands) {
    std::size_t offset = rank - type.dims.size();
    for (std::size_t i = 0; i < type.dims.size(); ++i) {
      std::int64_t &merged = result[offset + i];
      std::int64_t dim = type.dims[i];
      if (dim == 1)
        continue;
      if (merged == 1) {
        merged = dim;
      } else if (std::optional<std::int64_t> both = mergeDims(merged, dim)) {
        merged = *both;
      } else {
        auto appendShape = [](std::string *text, const TensorType &type) { text->append(shapeString(type.dims)); };
        return shapeFault(absl::StrCat("the shapes ", absl::StrJoin(operands, " and ", appendShape),
                                       " don't broadcast: sizes ", merged, " and ", dim, " meet in dimension ",
                                       offset + i, "; they must be equal, or one of them 1"));
      }
    }
  }
  return {};
}

Fault normalizeAxis(std::int64_t axis, std::int64_t rank, std::int64_t &result) {
  if (axis < -rank || axis >= rank)
    return valueFault(
        absl::StrCat("axis ", axis, " is out of range for a tensor of rank ", rank,
                     rank ? absl::StrCat("; it must be within [", -rank, ", ", rank, ")") : ", which has none"));
  result = normalAxis(axis, rank);
  return {};
}

Fault normalizeAxes(std::span<const std::int64_t> axes, std::int64_t rank, bool emptyMeansAll,
                    std::vector<std::int64_t> &result) {
  result.clear();
  if (axes.empty() && emptyMeansAll)
    for (std::int64_t i = 0; i < rank; ++i)
      result.push_back(i);
  for (std::int64_t axis : axes) {
    std::int64_t normal = 0;
    if (Fault fault = normalizeAxis(axis, rank, normal))
      return fault;
    result.push_back(normal);
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) == result.end())
    return {};
  std::vector<bool> isGiven(static_cast<std::size_t>(rank));
  std::int64_t twice = 0;
  for (std::int64_t axis : axes) {
    twice = axis;
    auto normal = static_cast<std::size_t>(normalAxis(axis, rank));
    if (isGiven[normal])
      break;
    isGiven[normal] = true;
  }
  return valueFault(absl::StrCat("axis ", twice, " is given twice"));
}

WindowExtent windowExtent(std::int64_t input, std::int64_t window, std::int64_t stride, bool same, std::int64_t padLow,
                          std::int64_t padHigh) {
  if (input == kOpenSize)
    return {kOpenSize, padLow, padHigh};
  if (!same) {
    std::int64_t padded = input + padLow + padHigh;
    return {padded < window ? 0 : (padded - window) / stride + 1, padLow, padHigh};
  }
  // In this order no intermediate sum overflows.
  std::int64_t output = input ? (input - 1) / stride + 1 : 0;
  std::int64_t padding = std::max<std::int64_t>((output - 1) * stride - input + window, 0);
  return {output, padding / 2, padding - padding / 2};
}

} // namespace calque::schema
