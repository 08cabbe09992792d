// Operations that move, select and add elements.
#include "sparse/Dependence.h"
#include "sparse/Places.h"

#include <algorithm>
#include <string_view>

namespace calque::sparse::detail {

using Id = IndexSets::Id;

namespace {

// An element of an operand that stands at an element of a result; operand -1: a number.
struct Source {
  int operand;
  std::int64_t element;
};

} // namespace

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
    Sizes starts = list(op, name == "pad" ? "low" : "starts"), steps = name == "pad" ? Sizes() : list(op, "strides");
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

} // namespace calque::sparse::detail
