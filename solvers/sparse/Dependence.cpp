#include "sparse/Dependence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>

namespace calque::sparse::detail {

namespace {

using Sizes = std::vector<std::int64_t>;
using Id = IndexSets::Id;

// Loops are followed until so many elements have been looked at.
constexpr std::size_t kMostWork = 200'000'000;

std::int64_t countOf(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t(1), std::multiplies<>());
}
Sizes stridesOf(const Sizes &sizes) {
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}
// Calls f(number, index) for each element, in order.
template <typename F> void forEach(const Sizes &sizes, const F &f) {
  Sizes index(sizes.size());
  const std::int64_t count = countOf(sizes);
  for (std::int64_t i = 0; i < count; ++i) {
    f(i, index);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d])
        break;
      index[d] = 0;
    }
  }
}
std::int64_t placeOf(const Sizes &index, const Sizes &strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t(0));
}
// The element of an operand that broadcasting brings to an index of the result.
Sizes broadcastStrides(const Sizes &from, const Sizes &to) {
  const Sizes strides = stridesOf(from);
  Sizes made(to.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    made[to.size() - from.size() + i] = from[i] == 1 ? 0 : strides[i];
  return made;
}
std::int64_t axisOf(const ProgramOperation &op, std::size_t rank) {
  const auto axis = op.attribute<std::int64_t>("axis");
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}
Sizes list(const ProgramOperation &op, std::string_view name) { return op.attribute<std::vector<std::int64_t>>(name); }
Sizes axesOf(const ProgramOperation &op, std::string_view name, std::size_t rank) {
  Sizes axes = list(op, name);
  if (axes.empty())
    for (std::size_t i = 0; i < rank; ++i)
      axes.push_back(static_cast<std::int64_t>(i));
  for (std::int64_t &axis : axes)
    axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  return axes;
}
bool isInteger(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64 || dtype == DType::Bool; }

template <typename T> std::vector<double> numbersOf(std::span<const std::byte> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}
std::vector<double> numbersOf(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
  case DType::Float32:
    return numbersOf<float>(bytes);
  case DType::Float64:
    return numbersOf<double>(bytes);
  case DType::Int32:
    return numbersOf<std::int32_t>(bytes);
  case DType::Int64: {
    std::vector<double> numbers = numbersOf<std::int64_t>(bytes);
    // Two large ones may be one double.
    const bool isExact = std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::fabs(x) < 0x1p52; });
    return isExact ? numbers : std::vector<double>();
  }
  case DType::Bool:
    return numbersOf<std::uint8_t>(bytes);
  default:
    return {};
  }
}

// The value of an expression of integers, or none for what is not computed here.
std::optional<double> valueOf(const ElementExpression &e, const std::vector<double> &operands) {
  if (e.function.empty())
    return operands[e.operand];
  if (e.function == "constant")
    return e.number;
  std::vector<double> x;
  for (const ElementExpression &inner : e.inner) {
    const std::optional<double> value = valueOf(inner, operands);
    if (!value)
      return std::nullopt;
    x.push_back(*value);
  }
  const std::string_view f = e.function;
  if (x.size() == 1)
    return f == "neg" ? std::optional(-x[0]) : f == "logicalNot" ? std::optional(double(x[0] == 0))
           : f == "castTo" ? std::optional(x[0])
                           : std::nullopt;
  if (x.size() == 3 && f == "select")
    return x[0] != 0 ? x[1] : x[2];
  if (x.size() != 2)
    return std::nullopt;
  if (f == "add")
    return x[0] + x[1];
  if (f == "sub")
    return x[0] - x[1];
  if (f == "mul")
    return x[0] * x[1];
  if (f == "less")
    return x[0] < x[1];
  if (f == "lessEqual")
    return x[0] <= x[1];
  if (f == "equal")
    return x[0] == x[1];
  if (f == "notEqual")
    return x[0] != x[1];
  if (f == "minimum")
    return std::min(x[0], x[1]);
  if (f == "maximum")
    return std::max(x[0], x[1]);
  if (f == "logicalAnd")
    return x[0] != 0 && x[1] != 0;
  if (f == "logicalOr")
    return x[0] != 0 || x[1] != 0;
  return std::nullopt;
}
// Whether a type holds an integer, and double all of its neighbours.
bool fits(double value, DType dtype) {
  const double most = dtype == DType::Int64 ? 0x1p52 : dtype == DType::Int32 ? 0x1p31 - 1 : 1;
  return value == std::floor(value) && std::fabs(value) <= most;
}

// An element of an operand that stands at an element of a result; operand -1: a number.
struct Source {
  int operand;
  std::int64_t element;
};

} // namespace

std::int64_t Dependence::count() const { return countOf(sizes); }

Id Dependences::all(const Operands &operands) {
  std::vector<Id> ids;
  for (const Dependence *each : operands)
    ids.insert(ids.end(), each->sets.begin(), each->sets.end());
  return sets_.unite(ids);
}

Dependence Dependences::united(const Dependence &a, const Dependence &b) {
  Dependence made = a;
  made.known.clear();
  if (a.sets.size() == 1 && b.sets.size() == 1) {
    made.sets = {sets_.unite(a.sets[0], b.sets[0])};
    return made;
  }
  const std::size_t count = std::max(a.sets.size(), b.sets.size());
  made.sets.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    made.sets[i] = sets_.unite(a.at(static_cast<std::int64_t>(i)), b.at(static_cast<std::int64_t>(i)));
  work_ += count;
  return made;
}

// Operations whose elements are elements of operands. The sizes of `results` are set.
bool Dependences::moved(const ProgramOperation &op, const Operands &in, std::vector<Dependence> &results) {
  const std::string_view name = op.name;
  Dependence &result = results[0];
  std::vector<std::vector<Source>> from(results.size());
  double filling = 0;
  auto take = [&](const Sizes &starts, const Sizes &steps, Dependence &to, std::vector<Source> &sources) {
    const Sizes strides = stridesOf(in[0]->sizes);
    forEach(to.sizes, [&](std::int64_t, const Sizes &index) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        place += (starts[d] + index[d] * (steps.empty() ? 1 : steps[d])) * strides[d];
      sources.push_back({0, place});
    });
  };
  if (name == "identity" || name == "reshape" || name == "reshape_like" || name == "expand_dims" ||
      name == "merge_dims" || name == "split_dim" || name == "custom_gradient") {
    // The value of a custom gradient is that of the operands behind the inputs.
    const std::size_t first =
        name == "custom_gradient" ? static_cast<std::size_t>(list(op, "counts")[0]) : std::size_t(0);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (first + i >= in.size() || in[first + i]->isWhole || in[first + i]->count() != results[i].count())
        return false;
      results[i].sets = in[first + i]->sets;
      results[i].known = in[first + i]->known;
    }
    return true;
  }
  if (name == "broadcast_to" || name == "broadcast_like") {
    const Sizes strides = broadcastStrides(in[0]->sizes, result.sizes);
    forEach(result.sizes, [&](std::int64_t, const Sizes &index) { from[0].push_back({0, placeOf(index, strides)}); });
  } else if (name == "transpose") {
    Sizes permutation = list(op, "permutation"), strides = stridesOf(in[0]->sizes), turned;
    if (permutation.empty())
      for (std::size_t d = result.sizes.size(); d-- > 0;)
        permutation.push_back(static_cast<std::int64_t>(d));
    for (std::int64_t d : permutation)
      turned.push_back(strides[static_cast<std::size_t>(d < 0 ? d + static_cast<std::int64_t>(strides.size()) : d)]);
    forEach(result.sizes, [&](std::int64_t, const Sizes &index) { from[0].push_back({0, placeOf(index, turned)}); });
  } else if (name == "reverse") {
    Sizes starts(result.sizes.size()), steps(result.sizes.size(), 1);
    for (std::int64_t axis : axesOf(op, "axes", result.sizes.size())) {
      starts[static_cast<std::size_t>(axis)] = result.sizes[static_cast<std::size_t>(axis)] - 1;
      steps[static_cast<std::size_t>(axis)] = -1;
    }
    take(starts, steps, result, from[0]);
  } else if (name == "slice" || name == "slice_like") {
    take(list(op, "starts"), list(op, "strides"), result, from[0]);
  } else if (name == "concat" || name == "concat_part" || name == "split") {
    const auto axis = static_cast<std::size_t>(axisOf(op, in[0]->sizes.size()));
    if (name == "concat") {
      std::vector<Sizes> strides;
      for (const Dependence *each : in)
        strides.push_back(stridesOf(each->sizes));
      forEach(result.sizes, [&](std::int64_t, const Sizes &index) {
        Sizes inner = index;
        int which = 0;
        for (; inner[axis] >= in[static_cast<std::size_t>(which)]->sizes[axis]; ++which)
          inner[axis] -= in[static_cast<std::size_t>(which)]->sizes[axis];
        from[0].push_back({which, placeOf(inner, strides[static_cast<std::size_t>(which)])});
      });
    } else {
      Sizes starts(in[0]->sizes.size());
      if (name == "concat_part")
        for (std::int64_t i = 0; i < op.attribute<std::int64_t>("index"); ++i)
          starts[axis] += in[static_cast<std::size_t>(i) + 1]->sizes[axis];
      for (std::size_t i = 0; i < results.size(); ++i) {
        take(starts, {}, results[i], from[i]);
        starts[axis] += results[i].sizes[axis];
      }
    }
  } else if (name == "pad" || name == "slice_put") {
    Sizes starts = list(op, name == "pad" ? "low" : "starts"),
          steps = name == "pad" ? Sizes() : list(op, "strides");
    from[0].assign(static_cast<std::size_t>(result.count()), {-1, 0});
    const Sizes strides = stridesOf(result.sizes);
    forEach(in[0]->sizes, [&](std::int64_t number, const Sizes &index) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < index.size(); ++d) {
        const std::int64_t at = starts[d] + index[d] * (steps.empty() ? 1 : steps[d]);
        if (at < 0 || at >= result.sizes[d])
          return; // a negative padding cuts
        place += at * strides[d];
      }
      from[0][static_cast<std::size_t>(place)] = {0, number};
    });
    if (name == "pad")
      std::visit([&](auto value) { filling = static_cast<double>(value); }, op.attribute<ProgramNumber>("value"));
  } else {
    return false;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    work_ += from[i].size();
    const bool isKnown = std::all_of(from[i].begin(), from[i].end(), [&](const Source &s) {
      return s.operand < 0 || !in[static_cast<std::size_t>(s.operand)]->known.empty();
    });
    results[i].sets.resize(from[i].size());
    if (isKnown)
      results[i].known.resize(from[i].size());
    for (std::size_t k = 0; k < from[i].size(); ++k) {
      const Source &s = from[i][k];
      const Dependence *operand = s.operand < 0 ? nullptr : in[static_cast<std::size_t>(s.operand)];
      results[i].sets[k] = operand ? operand->at(s.element) : 0;
      if (isKnown)
        results[i].known[k] = operand ? operand->knownAt(s.element) : filling;
    }
  }
  return true;
}

// Operations that select by integers. Those whose integers are not known are left to the rule for any operation, but
// one: a slice at an unknown place is one of all slices.
bool Dependences::selected(const ProgramOperation &op, const Operands &in, Dependence &result) {
  const std::string_view name = op.name;
  if (name == "gather") {
    const Dependence &x = *in[0], &indices = *in[1];
    const auto axis = static_cast<std::size_t>(axisOf(op, x.sizes.size()));
    const Sizes strides = stridesOf(x.sizes), indexStrides = stridesOf(indices.sizes);
    const std::int64_t size = x.sizes[axis];
    const bool isKnown = !indices.known.empty();
    const bool isKnownToo = isKnown && !x.known.empty();
    std::vector<Id> slices; // one for each place across the axis, if the index is not known
    auto acrossOf = [&](const Sizes &index) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < axis; ++d)
        place += index[d] * strides[d];
      for (std::size_t d = axis + 1; d < x.sizes.size(); ++d)
        place += index[d - 1 + indices.sizes.size()] * strides[d];
      return place;
    };
    bool isInside = true;
    result.sets.clear();
    forEach(result.sizes, [&](std::int64_t, const Sizes &index) {
      const std::int64_t place = acrossOf(index);
      if (!isKnown) {
        std::vector<Id> ids = indices.sets;
        for (std::int64_t i = 0; i < size; ++i)
          ids.push_back(x.at(place + i * strides[axis]));
        work_ += ids.size();
        result.sets.push_back(sets_.unite(ids));
        return;
      }
      std::int64_t which = 0;
      for (std::size_t d = 0; d < indices.sizes.size(); ++d)
        which += index[axis + d] * indexStrides[d];
      const auto at = static_cast<std::int64_t>(indices.knownAt(which));
      if (at < 0 || at >= size) {
        isInside = false; // an error when it runs
        return;
      }
      result.sets.push_back(x.at(place + at * strides[axis]));
      if (isKnownToo)
        result.known.push_back(x.knownAt(place + at * strides[axis]));
    });
    if (!isInside) {
      result.sets = {all(in)};
      result.known.clear();
    }
    return true;
  }
  if (name == "gather_nd" && !in[1]->known.empty()) {
    const Dependence &x = *in[0], &indices = *in[1];
    const auto depth = static_cast<std::size_t>(indices.sizes.back());
    const Sizes strides = stridesOf(x.sizes);
    const std::int64_t each = countOf(Sizes(x.sizes.begin() + static_cast<std::ptrdiff_t>(depth), x.sizes.end()));
    result.sets.clear();
    for (std::int64_t row = 0; row < indices.count() / static_cast<std::int64_t>(depth); ++row) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < depth; ++d) {
        const auto at = static_cast<std::int64_t>(
            indices.knownAt(row * static_cast<std::int64_t>(depth) + static_cast<std::int64_t>(d)));
        if (at < 0 || at >= x.sizes[d])
          return false;
        place += at * strides[d];
      }
      for (std::int64_t k = 0; k < each; ++k)
        result.sets.push_back(x.at(place + k));
    }
    return result.sets.size() == static_cast<std::size_t>(result.count());
  }
  if (name == "take_along_axis" && !in[1]->known.empty() && in[0]->sizes.size() == in[1]->sizes.size()) {
    const Dependence &x = *in[0], &indices = *in[1];
    const auto axis = static_cast<std::size_t>(axisOf(op, x.sizes.size()));
    const Sizes strides = broadcastStrides(x.sizes, x.sizes), from = broadcastStrides(indices.sizes, result.sizes);
    bool isInside = true;
    result.sets.clear();
    forEach(result.sizes, [&](std::int64_t, const Sizes &index) {
      const auto at = static_cast<std::int64_t>(indices.knownAt(placeOf(index, from)));
      isInside = isInside && at >= 0 && at < x.sizes[axis];
      Sizes place = index;
      place[axis] = isInside ? at : 0;
      result.sets.push_back(x.at(placeOf(place, strides)));
    });
    return isInside;
  }
  return false;
}

// Operations that add elements of operands up.
bool Dependences::added(const ProgramOperation &op, const Operands &in, Dependence &result) {
  const std::string_view name = op.name;
  const Dependence &x = *in[0];
  std::vector<std::vector<Id>> terms;
  auto finish = [&] {
    result.sets.resize(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
      work_ += terms[i].size();
      result.sets[i] = sets_.unite(terms[i]);
    }
    return true;
  };
  terms.resize(static_cast<std::size_t>(result.count()));
  if (name.starts_with("reduce_") || name == "logsumexp" || name == "sum_like") {
    Sizes to(x.sizes.size()); // the strides of the result, 0 along what is reduced
    if (name == "sum_like") {
      to = broadcastStrides(result.sizes, x.sizes);
    } else {
      std::vector<bool> isReduced(x.sizes.size());
      for (std::int64_t axis : axesOf(op, "axes", x.sizes.size()))
        isReduced[static_cast<std::size_t>(axis)] = true;
      std::int64_t stride = 1;
      for (std::size_t d = x.sizes.size(); d-- > 0;)
        if (!isReduced[d]) {
          to[d] = stride;
          stride *= x.sizes[d];
        }
    }
    forEach(x.sizes, [&](std::int64_t number, const Sizes &index) {
      terms[static_cast<std::size_t>(placeOf(index, to))].push_back(x.at(number));
    });
    return finish();
  }
  if (name == "cumsum" || name == "cumprod" || name == "linear_recurrence") {
    const auto axis = static_cast<std::size_t>(axisOf(op, x.sizes.size()));
    const bool isReverse = op.attribute<bool>("reverse");
    const std::int64_t stride = stridesOf(x.sizes)[axis];
    result.sets.assign(static_cast<std::size_t>(result.count()), 0);
    for (std::int64_t k = 0; k < result.count(); ++k) {
      const std::int64_t i = isReverse ? result.count() - 1 - k : k, at = i / stride % x.sizes[axis];
      Id set = 0;
      for (const Dependence *each : in)
        set = sets_.unite(set, each->at(i));
      if (isReverse ? at + 1 < x.sizes[axis] : at > 0)
        set = sets_.unite(set, result.sets[static_cast<std::size_t>(isReverse ? i + stride : i - stride)]);
      result.sets[static_cast<std::size_t>(i)] = set;
      ++work_;
    }
    return true;
  }
  if (name == "contract") {
    const Dependence &y = *in[1];
    const Sizes batch[2] = {list(op, "lhs_batch"), list(op, "rhs_batch")},
                summed[2] = {list(op, "lhs_contracting"), list(op, "rhs_contracting")};
    // The strides of both along the result's dimensions, and along those that are summed over.
    Sizes strides[2], inner[2], innerSizes;
    auto isIn = [](const Sizes &axes, std::size_t d) {
      return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    };
    for (int side : {0, 1}) {
      const Dependence &operand = *in[static_cast<std::size_t>(side)];
      const Sizes own = stridesOf(operand.sizes);
      for (std::int64_t d : batch[side])
        strides[side].push_back(own[static_cast<std::size_t>(d)]);
      if (side == 1)
        strides[1].resize(strides[0].size()); // what is left of the left side
      for (std::size_t d = 0; d < own.size(); ++d)
        if (!isIn(batch[side], d) && !isIn(summed[side], d))
          strides[side].push_back(own[d]);
      for (std::int64_t d : summed[side])
        inner[side].push_back(own[static_cast<std::size_t>(d)]);
    }
    strides[0].resize(strides[1].size());
    for (std::int64_t d : summed[0])
      innerSizes.push_back(x.sizes[static_cast<std::size_t>(d)]);
    forEach(result.sizes, [&](std::int64_t number, const Sizes &index) {
      const std::int64_t left = placeOf(index, strides[0]), right = placeOf(index, strides[1]);
      forEach(innerSizes, [&](std::int64_t, const Sizes &at) {
        const std::int64_t i = left + placeOf(at, inner[0]), j = right + placeOf(at, inner[1]);
        // A factor of 0 that is known takes the other one away.
        if ((!x.known.empty() && x.knownAt(i) == 0) || (!y.known.empty() && y.knownAt(j) == 0))
          return;
        for (Id id : {x.at(i), y.at(j)})
          if (id != 0)
            terms[static_cast<std::size_t>(number)].push_back(id);
      });
      work_ += static_cast<std::size_t>(countOf(innerSizes));
    });
    return finish();
  }
  if (name == "gather_put" && !in[2]->known.empty()) {
    const Dependence &indices = *in[2];
    const auto axis = static_cast<std::size_t>(axisOf(op, result.sizes.size()));
    const Sizes strides = stridesOf(result.sizes), indexStrides = stridesOf(indices.sizes);
    bool isInside = true;
    forEach(x.sizes, [&](std::int64_t number, const Sizes &index) {
      std::int64_t place = 0, which = 0;
      for (std::size_t d = 0; d < axis; ++d)
        place += index[d] * strides[d];
      for (std::size_t d = 0; d < indices.sizes.size(); ++d)
        which += index[axis + d] * indexStrides[d];
      for (std::size_t d = axis + 1; d < result.sizes.size(); ++d)
        place += index[d - 1 + indices.sizes.size()] * strides[d];
      const auto at = static_cast<std::int64_t>(indices.knownAt(which));
      isInside = isInside && at >= 0 && at < result.sizes[axis];
      if (isInside)
        terms[static_cast<std::size_t>(place + at * strides[axis])].push_back(x.at(number));
    });
    return isInside && finish();
  }
  if ((name == "scatter_nd_add" || name == "scatter_nd_set") && !in[1]->known.empty()) {
    const Dependence &indices = *in[1], &updates = *in[2];
    const auto depth = static_cast<std::size_t>(indices.sizes.back());
    const Sizes strides = stridesOf(result.sizes);
    const std::int64_t each =
        countOf(Sizes(result.sizes.begin() + static_cast<std::ptrdiff_t>(depth), result.sizes.end()));
    for (std::size_t i = 0; i < terms.size(); ++i)
      terms[i].push_back(x.at(static_cast<std::int64_t>(i)));
    for (std::int64_t row = 0; row < indices.count() / static_cast<std::int64_t>(depth); ++row) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < depth; ++d) {
        const auto at = static_cast<std::int64_t>(
            indices.knownAt(row * static_cast<std::int64_t>(depth) + static_cast<std::int64_t>(d)));
        if (at < 0 || at >= result.sizes[d])
          return false;
        place += at * strides[d];
      }
      for (std::int64_t k = 0; k < each; ++k)
        terms[static_cast<std::size_t>(place + k)].push_back(updates.at(row * each + k));
    }
    return finish();
  }
  return false;
}

void Dependences::elementwise(const ProgramOperation &op, const Operands &in, Dependence &result, DType dtype) {
  std::vector<Sizes> strides;
  bool isKnown = isInteger(dtype);
  for (const Dependence *each : in) {
    strides.push_back(broadcastStrides(each->sizes, result.sizes));
    isKnown = isKnown && !each->known.empty();
  }
  const bool isProduct = op.name == "mul", isChoice = op.name == "where" && !in[0]->known.empty();
  result.sets.resize(static_cast<std::size_t>(result.count()));
  if (isKnown)
    result.known.resize(result.sets.size());
  std::vector<double> numbers(in.size());
  std::vector<std::int64_t> places(in.size());
  forEach(result.sizes, [&](std::int64_t number, const Sizes &index) {
    for (std::size_t k = 0; k < in.size(); ++k)
      places[k] = placeOf(index, strides[k]);
    Id set = 0;
    bool isZero = false; // a factor of 0 that is known
    for (std::size_t k = 0; k < in.size(); ++k) {
      isZero = isZero || (isProduct && !in[k]->known.empty() && in[k]->knownAt(places[k]) == 0);
      if (!isChoice || k == (in[0]->knownAt(places[0]) != 0 ? 1U : 2U))
        set = sets_.unite(set, in[k]->at(places[k]));
      if (isKnown)
        numbers[k] = in[k]->knownAt(places[k]);
    }
    result.sets[static_cast<std::size_t>(number)] = isZero ? 0 : set;
    if (isKnown && !result.known.empty()) {
      const std::optional<double> value = valueOf(*op.expression, numbers);
      if (value && fits(*value, dtype))
        result.known[static_cast<std::size_t>(number)] = *value;
      else
        result.known.clear();
    }
  });
  work_ += result.sets.size() * in.size();
}

std::vector<Dependence> Dependences::branches(const ProgramOperation &op, const Operands &in) {
  std::vector<Dependence> given;
  for (std::size_t i = 1; i < in.size(); ++i)
    given.push_back(*in[i]);
  std::vector<Dependence> made =
      run(*op.attribute<std::shared_ptr<const RecordedProgram>>("then"), given);
  const std::vector<Dependence> other =
      run(*op.attribute<std::shared_ptr<const RecordedProgram>>("otherwise"), given);
  const Dependence condition{{}, {all({in[0]})}, {}, true};
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = united(united(made[i], other[i]), condition);
  return made;
}

// A loop is followed while its condition is known. From then on the sets of all iterations are united, until they do
// not grow. No iteration adds an index that no operand has: so what all operands have is always enough.
std::vector<Dependence> Dependences::loop(const ProgramOperation &op, const Operands &in) {
  const auto &condition = op.attribute<std::shared_ptr<const RecordedProgram>>("condition");
  const auto &body = op.attribute<std::shared_ptr<const RecordedProgram>>("body");
  const std::size_t count = op.num_results;
  std::vector<Dependence> state;
  for (const Dependence *each : in)
    state.push_back(*each);
  const Id everything = all(in);
  auto found = [&] { return std::vector<Dependence>(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(count)); };
  bool isFollowed = true;
  while (true) {
    if (work_ > kMostWork) {
      std::vector<Dependence> whole = found();
      for (Dependence &each : whole) {
        each.sets = {everything};
        each.known.clear();
      }
      return whole;
    }
    ++work_;
    const Dependence goesOn = run(*condition, state)[0];
    if (isFollowed && !goesOn.known.empty() && goesOn.isConstant()) {
      if (goesOn.knownAt(0) == 0)
        return found();
    } else if (isFollowed) {
      isFollowed = false;
      for (std::size_t i = 0; i < count; ++i)
        state[i].known.clear();
    }
    const std::vector<Dependence> next = run(*body, state);
    bool hasGrown = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (isFollowed) {
        state[i] = next[i];
        continue;
      }
      Dependence both = united(united(state[i], next[i]), Dependence{{}, {all({&goesOn})}, {}, true});
      for (std::int64_t k = 0; k < (both.sets.size() == 1 ? 1 : both.count()); ++k)
        hasGrown = hasGrown || both.at(k) != state[i].at(k);
      state[i] = std::move(both);
    }
    if (!isFollowed && !hasGrown)
      return found();
  }
}

std::vector<Dependence> Dependences::apply(const ProgramOperation &op, const Operands &in,
                                           const RecordedProgram &program) {
  std::vector<Dependence> results(op.num_results);
  bool isSized = true;
  for (std::size_t i = 0; i < op.num_results; ++i) {
    const ProgramType &type = program.types[op.first_result + i];
    results[i].isWhole = !type.dtype || std::find(type.sizes.begin(), type.sizes.end(), kUnknownSize) != type.sizes.end();
    results[i].sets = {0};
    if (!results[i].isWhole)
      results[i].sizes = type.sizes;
    isSized = isSized && !results[i].isWhole;
  }
  if (op.name == "constant" && isSized) {
    const auto &constant = op.attribute<ProgramConstant>("value");
    results[0].known = numbersOf(*constant.type.dtype, constant.bytes);
    return results;
  }
  if (op.name == "iota" && isSized) {
    const auto axis = static_cast<std::size_t>(axisOf(op, results[0].sizes.size()));
    forEach(results[0].sizes, [&](std::int64_t, const Sizes &index) {
      results[0].known.push_back(static_cast<double>(index[axis]));
    });
    return results;
  }
  bool isConstant = true, isKnown = true;
  for (const Dependence *each : in) {
    isConstant = isConstant && each->isConstant();
    isKnown = isKnown && !each->known.empty();
    isSized = isSized && !each->isWhole;
  }
  if (isConstant && !isKnown && op.name != "broadcast_like" && op.name != "reshape_like")
    return results;
  if (op.name == "while")
    return loop(op, in);
  if (op.name == "cond")
    return branches(op, in);
  if (isSized && !results.empty() && !in.empty()) {
    if (moved(op, in, results))
      return results;
    if (results.size() == 1) {
      if (op.expression) {
        elementwise(op, in, results[0], program.types[op.first_result].dtype.value());
        return results;
      }
      if (selected(op, in, results[0]) || (!isConstant && added(op, in, results[0])))
        return results;
    }
  }
  for (Dependence &each : results) {
    each.sets = {all(in)};
    each.known.clear();
  }
  return results;
}

std::vector<Dependence> Dependences::run(const RecordedProgram &program, const std::vector<Dependence> &parameters) {
  std::vector<Dependence> values(program.types.size());
  std::vector<std::size_t> lastUse(program.types.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    values[program.parameters[i]] = parameters[i];
  for (std::size_t i = 0; i < program.operations.size(); ++i)
    for (ProgramValue operand : program.operations[i].operands)
      lastUse[operand] = i;
  for (ProgramValue result : program.results)
    lastUse[result] = program.operations.size();
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const ProgramOperation &op = program.operations[i];
    Operands operands;
    for (ProgramValue each : op.operands)
      operands.push_back(&values[each]);
    std::vector<Dependence> results = apply(op, operands, program);
    for (std::size_t k = 0; k < results.size(); ++k)
      values[op.first_result + k] = std::move(results[k]);
    for (ProgramValue each : op.operands)
      if (lastUse[each] == i)
        values[each].sets = {0}, values[each].known.clear();
  }
  std::vector<Dependence> results;
  for (ProgramValue each : program.results)
    results.push_back(values[each]);
  return results;
}

} // namespace calque::sparse::detail
