#include "sparse/Pattern.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/init_scope.h"
#include "implicit/Function.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

namespace calque::sparse {

using solvers::internal::describe;
using solvers::internal::fail;

namespace detail {

Tensor toTensor(const std::vector<std::int64_t> &numbers, const Shape &shape) {
  std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
  return tensor(narrow, shape);
}

std::shared_ptr<const PatternData> PatternData::make(std::int64_t rows, std::int64_t columns,
                                                     std::vector<std::int64_t> indptr,
                                                     std::vector<std::int64_t> indices) {
  static std::atomic<std::uint64_t> made{0};
  auto data = std::make_shared<PatternData>();
  data->rows = rows;
  data->columns = columns;
  data->indptr = std::move(indptr);
  data->indices = std::move(indices);
  data->id = ++made;
  const InitScope now; // also where a function is traced
  std::vector<std::int64_t> rowOf;
  rowOf.reserve(data->indices.size());
  for (std::int64_t i = 0; i < rows; ++i)
    rowOf.insert(rowOf.end(), static_cast<std::size_t>(data->indptr[i + 1] - data->indptr[i]), i);
  const Shape shape{static_cast<std::int64_t>(rowOf.size())};
  data->rowOf = toTensor(rowOf, shape);
  data->columnOf = toTensor(data->indices, shape);
  return data;
}

std::shared_ptr<const PatternData> PatternData::transposed() const {
  std::call_once(turned_, [&] {
    std::vector<std::int64_t> ends(static_cast<std::size_t>(columns) + 1), from(indices.size()), to(indices.size());
    for (std::int64_t column : indices)
      ++ends[static_cast<std::size_t>(column) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::int64_t> next = ends;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t place = indptr[static_cast<std::size_t>(i)]; place < indptr[static_cast<std::size_t>(i) + 1];
           ++place) {
        const auto at =
            static_cast<std::size_t>(next[static_cast<std::size_t>(indices[static_cast<std::size_t>(place)])]++);
        from[at] = place;
        to[at] = i;
      }
    const InitScope now;
    auto turned = std::const_pointer_cast<PatternData>(make(columns, rows, std::move(ends), std::move(to)));
    turned->transposedPlaces = toTensor(from, {static_cast<std::int64_t>(from.size())});
    transposed_ = std::move(turned);
  });
  return transposed_;
}

namespace {
constexpr std::size_t kGroups = 8;

// A length, rounded up to three bits, so that few lengths have to be looked at.
std::int64_t roundedUp(std::int64_t length) {
  std::int64_t step = 1;
  while (length / step >= 8)
    step *= 2;
  return (length + step - 1) / step * step;
}

// The lengths to which rows are padded, ascending: those of the least total, by dynamic programming. `counts` are the
// numbers of rows of each length.
std::vector<std::int64_t> groupLengths(const std::vector<std::pair<std::int64_t, std::int64_t>> &counts) {
  const std::size_t n = counts.size();
  constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max() / 4;
  // least[g][i]: the total for the first i lengths in g groups; begin[g][i]: where the last group begins.
  std::vector<std::vector<std::int64_t>> least(kGroups + 1, std::vector<std::int64_t>(n + 1, infinite));
  std::vector<std::vector<std::size_t>> begin(kGroups + 1, std::vector<std::size_t>(n + 1));
  least[0][0] = 0;
  for (std::size_t g = 1; g <= kGroups; ++g)
    for (std::size_t i = 1; i <= n; ++i) {
      std::int64_t rows = 0;
      for (std::size_t j = i; j-- > 0;) {
        rows += counts[j].second;
        const std::int64_t total = least[g - 1][j] + rows * counts[i - 1].first;
        if (total < least[g][i]) {
          least[g][i] = total;
          begin[g][i] = j;
        }
      }
    }
  std::size_t best = 1;
  for (std::size_t g = 2; g <= kGroups; ++g) // a further group is a further loop: it must be worth it
    if (least[g][n] < least[best][n] - least[best][n] / 32)
      best = g;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = n, g = best; i > 0; i = begin[g][i], --g)
    lengths.push_back(counts[i - 1].first);
  return {lengths.rbegin(), lengths.rend()};
}
} // namespace

const Plan &PatternData::plan() const {
  std::call_once(planned_, [&] {
    const InitScope now;
    auto lengthOf = [&](std::int64_t row) {
      return indptr[static_cast<std::size_t>(row) + 1] - indptr[static_cast<std::size_t>(row)];
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    const bool isUniform = std::all_of(
        order.begin(), order.end(), [&](std::int64_t row) { return lengthOf(row) == lengthOf(0) && lengthOf(0) > 0; });
    std::vector<std::int64_t> lengths;
    if (isUniform) {
      if (rows > 0)
        lengths = {lengthOf(0)};
    } else {
      std::vector<std::pair<std::int64_t, std::int64_t>> counts;
      std::vector<std::int64_t> rounded;
      for (std::int64_t row = 0; row < rows; ++row)
        if (lengthOf(row) > 0)
          rounded.push_back(roundedUp(lengthOf(row)));
      std::sort(rounded.begin(), rounded.end());
      for (std::int64_t length : rounded) {
        if (counts.empty() || counts.back().first != length)
          counts.emplace_back(length, 0);
        ++counts.back().second;
      }
      if (!counts.empty())
        lengths = groupLengths(counts);
    }
    auto groupOf = [&](std::int64_t row) { // empty rows are behind all others
      const std::int64_t length = lengthOf(row);
      return length == 0 ? static_cast<std::ptrdiff_t>(lengths.size())
                         : std::lower_bound(lengths.begin(), lengths.end(), length) - lengths.begin();
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return groupOf(a) < groupOf(b); });
    const auto end = static_cast<std::int64_t>(indices.size());
    std::size_t next = 0;
    for (std::size_t g = 0; g < lengths.size(); ++g) {
      std::vector<std::int64_t> places, columnsOf;
      std::int64_t count = 0;
      for (; next < order.size() && groupOf(order[next]) == static_cast<std::ptrdiff_t>(g); ++next, ++count) {
        const std::int64_t first = indptr[static_cast<std::size_t>(order[next])], length = lengthOf(order[next]);
        for (std::int64_t k = 0; k < lengths[g]; ++k) {
          places.push_back(k < length ? first + k : end);
          columnsOf.push_back(k < length ? indices[static_cast<std::size_t>(first + k)] : 0);
        }
      }
      plan_.groups.push_back(
          {isUniform ? Tensor() : toTensor(places, {count, lengths[g]}), toTensor(columnsOf, {count, lengths[g]})});
    }
    plan_.emptyRows = static_cast<std::int64_t>(order.size() - next);
    plan_.isUniform = isUniform;
    if (!std::is_sorted(order.begin(), order.end())) {
      std::vector<std::int64_t> placeOf(order.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        placeOf[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
      plan_.order = toTensor(placeOf, {rows});
    }
  });
  return plan_;
}

} // namespace detail

Pattern::Pattern(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t> &rowOf,
                 const std::vector<std::int64_t> &columnOf, SourceLocation where) {
  CallSite site(where, "Pattern");
  if (rows < 0 || columns < 0)
    fail<ValueError>(absl::StrCat("Pattern: a matrix of ", rows, " rows and ", columns, " columns"));
  if (rowOf.size() != columnOf.size())
    fail<ValueError>(absl::StrCat("Pattern: there are ", rowOf.size(), " rows of places and ", columnOf.size(),
                                  " columns, and each place has one of both"));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows >= most || columns >= most || static_cast<std::int64_t>(rowOf.size()) >= most)
    fail<ValueError>(absl::StrCat("Pattern: a matrix [", rows, ",", columns, "] of ", rowOf.size(),
                                  " places; all three must be below 2^31 - 1"));
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  places.reserve(rowOf.size());
  for (std::size_t i = 0; i < rowOf.size(); ++i) {
    if (rowOf[i] < 0 || rowOf[i] >= rows || columnOf[i] < 0 || columnOf[i] >= columns)
      fail<IndexError>(absl::StrCat("Pattern: place ", i, " is [", rowOf[i], ",", columnOf[i],
                                    "], outside of a matrix [", rows, ",", columns, "]"));
    places.emplace_back(rowOf[i], columnOf[i]);
  }
  if (!std::is_sorted(places.begin(), places.end()))
    std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::int64_t> indptr(static_cast<std::size_t>(rows) + 1), indices;
  indices.reserve(places.size());
  for (const auto &[row, column] : places) {
    ++indptr[static_cast<std::size_t>(row) + 1];
    indices.push_back(column);
  }
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
  data_ = detail::PatternData::make(rows, columns, std::move(indptr), std::move(indices));
}

Pattern Pattern::of(const Tensor &matrix, SourceLocation where) {
  CallSite site(where, "Pattern::of");
  if (matrix.rank() != 2)
    fail<ShapeError>(absl::StrCat("Pattern::of: takes a matrix, not ", describe(matrix)));
  const std::vector<bool> isThere = (matrix != 0).to_vector<bool>(where);
  const std::int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  std::vector<std::int64_t> rowOf, columnOf;
  for (std::size_t i = 0; i < isThere.size(); ++i)
    if (isThere[i]) {
      rowOf.push_back(static_cast<std::int64_t>(i) / columns);
      columnOf.push_back(static_cast<std::int64_t>(i) % columns);
    }
  return Pattern(rows, columns, rowOf, columnOf, where);
}

Pattern Pattern::banded(std::int64_t n, std::int64_t lower, std::int64_t upper, SourceLocation where) {
  CallSite site(where, "Pattern::banded");
  if (lower < 0 || upper < 0)
    fail<ValueError>(absl::StrCat("Pattern::banded: ", lower, " diagonals below and ", upper, " above"));
  std::vector<std::int64_t> rowOf, columnOf;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - lower); j < std::min(n, i + upper + 1); ++j) {
      rowOf.push_back(i);
      columnOf.push_back(j);
    }
  return Pattern(n, n, rowOf, columnOf, where);
}

std::int64_t Pattern::rows() const { return data_->rows; }
std::int64_t Pattern::columns() const { return data_->columns; }
std::int64_t Pattern::size() const { return static_cast<std::int64_t>(data_->indices.size()); }
const std::vector<std::int64_t> &Pattern::indptr() const { return data_->indptr; }
const std::vector<std::int64_t> &Pattern::indices() const { return data_->indices; }
Pattern Pattern::transposed() const { return Pattern(data_->transposed()); }
std::uint64_t Pattern::id() const { return data_->id; }

} // namespace calque::sparse
