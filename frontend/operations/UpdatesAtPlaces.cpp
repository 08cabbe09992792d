// Reads and updates of at(), in calque/arrays/places.h. The places become indices of gather_nd and scatter_nd_*.
#include "calque/arrays/making.h"
#include "calque/arrays/places.h"

#include "absl/strings/str_cat.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>

namespace calque {

using detail::ArrayCall;
using detail::Place;
using detail::typeOf;

namespace {

bool isWhole(const Place &place) {
  return place.rows() && !place.rows()->start && !place.rows()->end && place.rows()->step == 1;
}

// Rows of an axis of known size, as Python's slice.indices.
struct Counted {
  std::int64_t start, step, count;
};
Counted countedRows(const Rows &rows, std::int64_t size) {
  const std::int64_t low = rows.step > 0 ? 0 : -1, high = rows.step > 0 ? size : size - 1;
  auto place = [&](std::optional<std::int64_t> at, std::int64_t otherwise) {
    return at ? std::clamp(*at < 0 ? *at + size : *at, low, high) : otherwise;
  };
  const std::int64_t start = place(rows.start, rows.step > 0 ? low : high),
                     end = place(rows.end, rows.step > 0 ? high : low);
  const std::int64_t distance = rows.step > 0 ? end - start : start - end;
  const std::uint64_t stride = rows.step > 0 ? std::uint64_t(rows.step) : -std::uint64_t(rows.step);
  return {start, rows.step, distance <= 0 ? 0 : static_cast<std::int64_t>((std::uint64_t(distance) - 1) / stride + 1)};
}

// Where the elements are.
class Places {
public:
  Places(Tensor x, const std::vector<Place> &places, const ArrayCall &call)
      : x(std::move(x)), shape(this->x.shape()), places(places), call(call) {
    if (places.size() > shape.size())
      throw ValueError(
          absl::StrCat("at: there are ", places.size(), " places, and ", typeOf(this->x), " has rank ", shape.size()),
          call.where);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].rows() && places[i].rows()->step == 0)
        throw ValueError("at: the step of rows() must not be 0", call.where);
      if (!isWhole(places[i]))
        used = i + 1;
      if (!places[i].entry() && !places[i].rows()) {
        if (!is_integer(places[i].entries().dtype()))
          throw DTypeError(absl::StrCat("at: entries are numbered by integers, not ", typeOf(places[i].entries())),
                           call.where);
        ++numTensors;
        lastTensor = i;
      }
    }
  }

  // Whether all axes are taken whole.
  bool areAll() const { return used == 0; }
  // Whether the same element may be named several times: by indices, of which there is more than one.
  bool mayRepeat(const Tensor &indices) const { return numTensors > 0 && indices.rank() > 1; }

  Tensor read() const {
    if (areAll())
      return x;
    if (numTensors == 0 && shape.is_known())
      return sliced();
    // One tensor, and all other axes whole.
    if (numTensors == 1 && lastTensor + 1 == used &&
        std::all_of(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(lastTensor), isWhole))
      return gather(x, coordinate(lastTensor), static_cast<std::int64_t>(lastTensor));
    return gather_nd(x, indices());
  }

  // The indices of the elements along the first `used` axes: [dimensions of the result..., used].
  Tensor indices() const {
    std::vector<Tensor> coordinates;
    std::int64_t numRows = 0, block = 0, first = -1;
    bool isApart = false, wasIndex = false;
    for (std::size_t i = 0; i < used; ++i) {
      coordinates.push_back(coordinate(i));
      if (places[i].rows()) {
        ++numRows;
        wasIndex = false;
        continue;
      }
      block = std::max(block, coordinates.back().rank());
      isApart = isApart || (first >= 0 && !wasIndex);
      if (first < 0)
        first = numRows;
      wasIndex = true;
    }
    // The dimensions of numbers and tensors are one block. It is in place of theirs if they are beside each other.
    const std::int64_t before = isApart ? 0 : std::max<std::int64_t>(first, 0), rank = numRows + block;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < used; ++i) {
      std::vector<std::int64_t> others;
      const std::int64_t own = coordinates[i].rank();
      const std::int64_t at = places[i].rows() ? (row < before ? row : row + block) : before + block - own;
      row += places[i].rows() ? 1 : 0;
      for (std::int64_t axis = 0; axis < rank; ++axis)
        if (axis < at || axis >= at + own)
          others.push_back(axis);
      coordinates[i] = others.empty() ? coordinates[i] : expand_dims(coordinates[i], others);
    }
    Tensor all = coordinates[0]; // of the shape to which all broadcast
    for (std::size_t i = 1; i < used; ++i)
      all = all + coordinates[i];
    for (Tensor &coordinate : coordinates)
      coordinate = broadcast_to(coordinate, all.shape());
    return stack(coordinates, -1);
  }

  // v in the shape of the elements that gather_nd gives for the indices.
  Tensor values(const Operand &v, const Tensor &indices) const {
    Shape of = indices.shape();
    of.pop_back();
    of.insert(of.end(), shape.begin() + used, shape.end());
    const Tensor given = v.isNumber() ? v.toTensor(x.dtype()) : v.tensor();
    if (given.dtype() != x.dtype())
      throw DTypeError(absl::StrCat("at: the values are ", typeOf(given), ", and the tensor is ", typeOf(x),
                                    "; there is no implicit conversion, use cast"),
                       call.where);
    return broadcast_to(given, of);
  }

  // A number for each index, which is the same for equal indices alone.
  Tensor numbersOf(const Tensor &indices) const {
    Tensor number = zeros({}, DType::Int64);
    for (std::size_t i = 0; i < used; ++i)
      number = number * Operand(shape[i]).toTensor(DType::Int64) +
               squeeze(detail::rowsAlong(indices, indices.rank() - 1, static_cast<std::int64_t>(i),
                                         static_cast<std::int64_t>(i) + 1),
                       -1);
    return number;
  }

  const Tensor x;
  const Shape shape;

private:
  // The numbers of the entries along axis i, from 0 on.
  Tensor coordinate(std::size_t i) const {
    const Size &size = shape[i];
    if (const std::optional<std::int64_t> &entry = places[i].entry()) {
      if (!size.is_known())
        return *entry < 0 ? Operand(size).toTensor(DType::Int64) + *entry : scalar(*entry);
      requireEntry(i, *entry);
      return scalar(*entry < 0 ? *entry + std::int64_t(size) : *entry);
    }
    if (const std::optional<Rows> &rows = places[i].rows()) {
      if (isWhole(places[i]))
        return iota({size}, DType::Int64);
      if (!size.is_known())
        throw StateError(absl::StrCat("at: the size of axis ", i, " of ", typeOf(x),
                                      " is not known while tracing; rows() without numbers takes it whole"),
                         call.where);
      const Counted counted = countedRows(*rows, size);
      return iota({counted.count}, DType::Int64) * counted.step + counted.start;
    }
    const Tensor entries = detail::asInt64(places[i].entries(), call.where);
    return where(entries < 0, entries + Operand(size).toTensor(DType::Int64), entries);
  }

  void requireEntry(std::size_t axis, std::int64_t entry) const {
    const std::int64_t size = shape[axis];
    if (entry >= size || entry < -size)
      throw IndexError(absl::StrCat("at: there is no entry ", entry, " along axis ", axis, " of ", typeOf(x)),
                       call.where);
  }

  Tensor sliced() const {
    std::vector<std::int64_t> starts(shape.size(), 0), limits = shape, strides(shape.size(), 1), backwards, numbers;
    for (std::size_t i = 0; i < used; ++i) {
      const std::int64_t size = shape[i];
      if (const std::optional<std::int64_t> &entry = places[i].entry()) {
        requireEntry(i, *entry);
        starts[i] = *entry < 0 ? *entry + size : *entry;
        limits[i] = starts[i] + 1;
        numbers.push_back(static_cast<std::int64_t>(i));
        continue;
      }
      const Counted rows = countedRows(*places[i].rows(), size);
      const std::int64_t last = rows.count == 0 ? rows.start : rows.start + (rows.count - 1) * rows.step;
      starts[i] = rows.count == 0 ? 0 : std::min(rows.start, last);
      limits[i] = rows.count == 0 ? 0 : std::max(rows.start, last) + 1;
      strides[i] = rows.count > 1 ? std::abs(rows.step) : 1;
      if (rows.step < 0)
        backwards.push_back(static_cast<std::int64_t>(i));
    }
    Tensor part = slice(x, starts, limits, strides);
    if (!backwards.empty())
      part = reverse(part, backwards);
    return numbers.empty() ? part : squeeze(part, numbers);
  }

  const std::vector<Place> &places;
  const ArrayCall &call;
  std::size_t used = 0; // axes from this one on are taken whole
  std::size_t numTensors = 0, lastTensor = 0;
};

// The condition if a bool tensor is the only place, with the rank of x.
std::optional<Tensor> conditionOf(const Tensor &x, const std::vector<Place> &places, const ArrayCall &call) {
  if (places.size() != 1 || places[0].entry() || places[0].rows() || places[0].entries().dtype() != DType::Bool)
    return std::nullopt;
  Tensor condition = places[0].entries();
  if (condition.rank() > x.rank())
    throw ShapeError(absl::StrCat("at: the condition ", typeOf(condition), " has a higher rank than ", typeOf(x)),
                     call.where);
  std::vector<std::int64_t> others;
  for (std::int64_t axis = condition.rank(); axis < x.rank(); ++axis)
    others.push_back(axis);
  return others.empty() ? condition : expand_dims(condition, others);
}

// Returns x with other elements: `change` makes them of old ones and v if no element is named twice, and `scatter`
// changes x at indices.
template <typename Change, typename Scatter>
Tensor updated(const Tensor &x, const std::vector<Place> &list, const Operand &v, Change change, Scatter scatter) {
  ArrayCall call(v, "at");
  const Places places(x, list, call);
  if (places.areAll())
    return broadcast_to(change(x, v.isNumber() ? v.toTensor(x.dtype()) : v.tensor()), x.shape());
  const Tensor indices = places.indices();
  return scatter(places, indices, places.values(v, indices));
}

// The values in which those for equal indices are multiplied up to each one, in an order in which equal indices are
// beside each other, and the indices in this order.
std::pair<Tensor, Tensor> productsOfEqual(const Places &places, const Tensor &indices, const Tensor &values) {
  const std::int64_t rank = indices.rank() - 1;
  Tensor numbers = reshape(places.numbersOf(indices), {-1}), rows = values, flat = indices;
  for (std::int64_t i = 1; i < rank; ++i) {
    rows = detail::mergeDims(rows, 0);
    flat = detail::mergeDims(flat, 0);
  }
  if (rank == 0) {
    rows = expand_dims(rows, 0);
    flat = expand_dims(flat, 0);
  }
  const Tensor order = argsort(numbers);
  numbers = gather(numbers, order);
  std::vector<std::int64_t> others;
  for (std::int64_t axis = 1; axis < rows.rank(); ++axis)
    others.push_back(axis);
  const std::vector<Tensor> products = detail::scanByDoubling(
      {gather(rows, order), others.empty() ? numbers : expand_dims(numbers, others)}, 0,
      [](const std::vector<Tensor> &earlier, const std::vector<Tensor> &later) {
        return std::vector<Tensor>{where(earlier[1] == later[1], earlier[0] * later[0], later[0]), later[1]};
      });
  return {products[0], gather(flat, order)};
}

} // namespace

Tensor At::get(SourceLocation line) const {
  ArrayCall call(line, "at");
  if (conditionOf(x_, places_, call))
    throw ValueError("at: the number of elements for which a condition holds follows from its elements; compress reads "
                     "them",
                     call.where);
  return Places(x_, places_, call).read();
}

Tensor At::set(const Operand &v) const {
  ArrayCall call(v, "at");
  if (std::optional<Tensor> condition = conditionOf(x_, places_, call))
    return broadcast_to(where(*condition, v, x_), x_.shape());
  return updated(
      x_, places_, v, [](const Tensor &, const Tensor &v) { return v; },
      [](const Places &places, const Tensor &indices, const Tensor &v) {
        return scatter_nd_set(places.x, indices, v);
      });
}

Tensor At::add(const Operand &v) const {
  ArrayCall call(v, "at");
  if (std::optional<Tensor> condition = conditionOf(x_, places_, call))
    return broadcast_to(x_ + where(*condition, v.isNumber() ? v.toTensor(x_.dtype()) : v.tensor(), 0), x_.shape());
  return updated(
      x_, places_, v, [](const Tensor &x, const Tensor &v) { return x + v; },
      [](const Places &places, const Tensor &indices, const Tensor &v) {
        return scatter_nd_add(places.x, indices, v);
      });
}

Tensor At::subtract(const Operand &v) const {
  ArrayCall call(v, "at");
  return add(-(v.isNumber() ? v.toTensor(x_.dtype()) : v.tensor()));
}

Tensor At::multiply(const Operand &v) const {
  ArrayCall call(v, "at");
  if (std::optional<Tensor> condition = conditionOf(x_, places_, call))
    return broadcast_to(x_ * where(*condition, v.isNumber() ? v.toTensor(x_.dtype()) : v.tensor(), 1), x_.shape());
  return updated(
      x_, places_, v, [](const Tensor &x, const Tensor &v) { return x * v; },
      [](const Places &places, const Tensor &indices, const Tensor &v) {
        if (!places.mayRepeat(indices))
          return scatter_nd_set(places.x, indices, gather_nd(places.x, indices) * v);
        // The last of equal indices has the product of all. Products of floats are of float64: one that has an exponent
        // of its own type may have none on the way.
        const DType dtype = v.dtype(), wide = is_floating(dtype) ? DType::Float64 : dtype;
        const auto [products, order] = productsOfEqual(places, indices, cast(v, wide));
        return scatter_nd_set(places.x, order, cast(cast(gather_nd(places.x, order), wide) * products, dtype));
      });
}

Tensor At::divide(const Operand &v) const {
  ArrayCall call(v, "at");
  if (!conditionOf(x_, places_, call)) {
    const Places places(x_, places_, call);
    const Tensor indices = places.areAll() ? Tensor() : places.indices();
    if (indices.defined() && !places.mayRepeat(indices))
      return scatter_nd_set(places.x, indices, gather_nd(places.x, indices) / places.values(v, indices));
  }
  // By the product of those of equal indices, in float64, where no product of so many overflows; quotients of integers
  // of up to 32 bits are exact there. Wider integers have no such type.
  const DType dtype = x_.dtype();
  const bool isWide = is_complex(dtype) || dtype == DType::Float64 || size_of(dtype) == 8;
  const Tensor value = v.isNumber() ? v.toTensor(dtype) : v.tensor();
  if (isWide || value.dtype() != dtype)
    return x_ / At(ones_like(x_), places_).multiply(value);
  const Tensor divisors = At(ones_like(x_, DType::Float64), places_).multiply(cast(value, DType::Float64));
  if (is_floating(dtype))
    return cast(cast(x_, DType::Float64) / divisors, dtype);
  const Tensor checked = x_ / cast(divisors != 0, dtype); // the error of a quotient by 0
  return cast(cast(trunc(cast(checked, DType::Float64) / divisors), DType::Int64), dtype);
}

Tensor At::max(const Operand &v) const {
  ArrayCall call(v, "at");
  if (std::optional<Tensor> condition = conditionOf(x_, places_, call))
    return broadcast_to(where(*condition, maximum(x_, v), x_), x_.shape());
  return updated(
      x_, places_, v, [](const Tensor &x, const Tensor &v) { return maximum(x, v); },
      [](const Places &places, const Tensor &indices, const Tensor &v) {
        return scatter_nd_max(places.x, indices, v);
      });
}

Tensor At::min(const Operand &v) const {
  ArrayCall call(v, "at");
  const Tensor value = v.isNumber() ? v.toTensor(x_.dtype()) : v.tensor();
  return detail::inReverse(At(detail::inReverse(x_), places_).max(detail::inReverse(value)));
}

} // namespace calque
