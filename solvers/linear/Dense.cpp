#include "linear/Dense.h"

#include "calque/control_flow.h"

#include <numeric>
#include <vector>

namespace calque::solvers::internal {

namespace {

// Systems of up to this size are eliminated on scalars, without a loop. Under vmap, these are elementwise operations on
// all examples.
constexpr std::int64_t kUnrolled = 5;

// 0, 1, ..., n - 1 as a constant. An iota in a loop that is itself in a loop would keep both from being one kernel.
Tensor numbersTo(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return tensor(numbers);
}

// The elements of a [n, k] matrix as scalars.
std::vector<std::vector<Tensor>> scalarsOf(const Tensor &a) {
  const std::int64_t n = a.shape()[0], k = a.shape()[1];
  std::vector<std::vector<Tensor>> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<Tensor> row;
    for (std::int64_t j = 0; j < k; ++j)
      row.push_back(reshape(slice(a, {i, j}, {i + 1, j + 1}), {}));
    rows.push_back(std::move(row));
  }
  return rows;
}

Tensor eliminateScalars(const Tensor &system) {
  auto rows = scalarsOf(system);
  const std::size_t n = rows.size(), k = rows[0].size();
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    for (std::size_t i = pivot + 1; i < n; ++i) { // afterwards the largest one is the pivot
      Tensor isLarger = abs(rows[i][pivot]) > abs(rows[pivot][pivot]);
      for (std::size_t j = pivot; j < k; ++j) {
        Tensor upper = rows[pivot][j];
        rows[pivot][j] = where(isLarger, rows[i][j], upper);
        rows[i][j] = where(isLarger, upper, rows[i][j]);
      }
    }
    for (std::size_t i = pivot + 1; i < n; ++i) {
      Tensor factor = rows[i][pivot] / rows[pivot][pivot];
      for (std::size_t j = pivot + 1; j < k; ++j)
        rows[i][j] = rows[i][j] - factor * rows[pivot][j];
    }
  }
  for (std::size_t pivot = n; pivot-- > 0;)
    for (std::size_t j = n; j < k; ++j) {
      for (std::size_t i = pivot + 1; i < n; ++i)
        rows[pivot][j] = rows[pivot][j] - rows[pivot][i] * rows[i][j];
      rows[pivot][j] = rows[pivot][j] / rows[pivot][pivot];
    }
  std::vector<Tensor> solution;
  for (const auto &row : rows)
    solution.insert(solution.end(), row.begin() + static_cast<std::ptrdiff_t>(n), row.end());
  return reshape(stack(solution), {static_cast<std::int64_t>(n), static_cast<std::int64_t>(k - n)});
}

// Gauss-Jordan elimination of [n, n + k]; the last k columns of the result are the solution.
Tensor eliminate(const Tensor &system) {
  const std::int64_t n = system.shape()[0], width = system.shape()[1];
  if (n <= kUnrolled)
    return eliminateScalars(system);
  const Tensor rows = numbersTo(n), rowsDown = expand_dims(rows, {1});
  Tensor last = for_range(0, n, system, [&](const Tensor &k, const Tensor &m) {
    Tensor column = gather(m, k, 1);
    Tensor pivot = argmax(where(rows < k, -1, abs(column)));
    Tensor upper = gather(m, k, 0), pivotRow = gather(m, pivot, 0);
    Tensor leading = pivotRow / gather(pivotRow, k);
    // The row of the pivot goes to row k, and row k to the place of the pivot.
    Tensor swapped = where(rowsDown == pivot, upper, m);
    Tensor factors = where(rows == pivot, gather(column, k), column);
    return where(rowsDown == k, leading, swapped - expand_dims(factors, {1}) * leading);
  });
  return slice(last, {0, n}, {n, width});
}

} // namespace

Tensor solve(const Tensor &a, const Tensor &b) {
  if (b.rank() == 1)
    return reshape(eliminate(concat({a, expand_dims(b, {1})}, 1)), b.shape());
  return eliminate(concat({a, b}, 1));
}

Tensor inverse(const Tensor &a) {
  const std::int64_t n = a.shape()[0];
  if (n == 1)
    return 1 / a;
  return eliminate(concat({a, eye(n, a.dtype())}, 1));
}

Triangular triangularise(const Tensor &columns, const Tensor &b) {
  const std::int64_t n = columns.shape()[0], m = columns.shape()[1];
  const Tensor places = numbersTo(m);
  Tensor system = concat({columns, expand_dims(b, {0})});
  system = for_range(0, n, system, [&](const Tensor &k, const Tensor &from) {
    Tensor column = where(places < k, 0, gather(from, k));
    Tensor diagonal = gather(column, k);
    // The largest element scales the norm, whose square could overflow or vanish.
    Tensor scale = max(abs(column), AxisList()), divisor = where(scale > 0, scale, 1);
    Tensor norm = scale * sqrt(sum(square(column / divisor)));
    Tensor isThere = norm > 0, length = where(isThere, norm, 1);
    Tensor unit = where(places == k, column + where(diagonal > 0, norm, -norm), column) / length;
    // Half of unit^T unit is 1 + |diagonal| / norm.
    Tensor factor = where(isThere, 1 / (1 + abs(diagonal) / length), 0);
    return from - expand_dims(sum(from * unit, {1}) * factor, {1}) * unit;
  });
  // What reflections leave below the diagonal is rounding.
  Tensor r = transpose(slice(system, {0, 0}, {n, n}));
  return {where(expand_dims(numbersTo(n), {1}) > numbersTo(n), 0, r), reshape(slice(system, {n, 0}, {n + 1, n}), {n})};
}

Tensor backSubstitute(const Tensor &r, const Tensor &b) {
  const std::int64_t n = r.shape()[0];
  const Tensor rows = numbersTo(n);
  return for_range(0, n, zeros({n}, r.dtype()), [&](const Tensor &i, const Tensor &x) {
    Tensor k = n - 1 - i;
    Tensor row = gather(r, k);
    return where(rows == k, (gather(b, k) - sum(row * x)) / gather(row, k), x);
  });
}

} // namespace calque::solvers::internal
