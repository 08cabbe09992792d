#include "Inverse.h"

#include "calque/control_flow.h"
#include "calque/custom_gradient.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace calque::solvers::detail {

namespace {

// Up to this size the matrix and its inverse have at most 32 elements, and stay in registers.
constexpr std::int64_t kUnrolled = 5;
// From this size on, products of matrices pay. A block has at least kWidth columns, and there are at most kMostBlocks.
constexpr std::int64_t kBlocked = 64, kWidth = 32, kMostBlocks = 16;

struct Elimination {
  Tensor a, x;
};

// 0, 1, ... n - 1 as a constant: an `iota` would make the loop an ordinary one.
Tensor numbersTo(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return tensor(numbers);
}

// Eliminates column k from all rows but k. The pivot is the largest element of the column from row k on. Its row and
// row k change places by masks: `argmax` and a permutation by `gather` would make a loop around this an ordinary one.
Elimination eliminate(const Elimination &state, const Tensor &k, std::int64_t n) {
  const Tensor rows = numbersTo(n), isRow = rows == k;
  const Tensor sizes = where(rows >= k, abs(gather(state.a, k, 1)), -1);
  const Tensor pivot = minimum(min(where(sizes == max(sizes), rows, n)), n - 1); // n - 1: all are NaN
  const Tensor isPivot = rows == pivot;
  auto column = [](const Tensor &mask) { return expand_dims(mask, 1); };
  const Tensor moved = where(column(isPivot), gather(state.a, k), state.a);
  const Tensor movedInverse = where(column(isPivot), gather(state.x, k), state.x);
  Tensor row = gather(state.a, pivot);
  const Tensor scale = 1 / gather(row, k);
  row = row * scale;
  const Tensor rowOfInverse = gather(state.x, pivot) * scale;
  const Tensor factors = column(gather(moved, k, 1)), keep = column(isRow);
  return {where(keep, row, moved - factors * row), where(keep, rowOfInverse, movedInverse - factors * rowOfInverse)};
}

// The elimination of one column after the other.
Tensor byColumns(const Tensor &a, std::int64_t n) {
  Elimination state{a, eye(n, a.dtype())};
  if (n <= kUnrolled) {
    for (std::int64_t k = 0; k < n; ++k)
      state = eliminate(state, scalar(k), n);
    return state.x;
  }
  return for_range(std::int64_t(0), n, state,
                   [n](const Tensor &k, const Elimination &at) { return eliminate(at, k, n); })
      .x;
}

// The order of rows in which partial pivoting eliminates the columns of a panel [n, w], whose pivots are the rows from
// `first` on.
Tensor pivotOrder(const Tensor &panel, std::int64_t n, std::int64_t first, std::int64_t width) {
  struct Panel {
    Tensor a, order;
  };
  const Tensor rows = numbersTo(n);
  auto column = [](const Tensor &mask) { return expand_dims(mask, 1); };
  auto body = [&](const Tensor &j, const Panel &at) {
    const Tensor k = j + first, values = gather(at.a, j, 1);
    const Tensor pivot = argmax(where(rows >= k, abs(values), -1));
    const Tensor isPivot = rows == pivot, isRow = rows == k;
    const Tensor row = gather(at.a, pivot), other = gather(at.a, k);
    const Tensor a = where(column(isRow), row, where(column(isPivot), other, at.a));
    const Tensor order = where(isRow, gather(at.order, pivot), where(isPivot, gather(at.order, k), at.order));
    const Tensor factors = where(rows > k, gather(a, j, 1) / gather(row, j), 0);
    return Panel{a - column(factors) * row, order};
  };
  return for_range(std::int64_t(0), width, Panel{panel, rows}, body).order;
}

// The elimination of many columns at once, by products of matrices. Only the columns that are not yet eliminated are
// kept of the matrix.
Tensor byBlocks(const Tensor &a, std::int64_t n) {
  const std::int64_t width = std::max<std::int64_t>(kWidth, (n + kMostBlocks - 1) / kMostBlocks);
  Tensor rest = a, x = eye(n, a.dtype());
  for (std::int64_t first = 0; first < n; first += width) {
    const std::int64_t w = std::min(width, n - first), left = n - first - w;
    const Tensor order = pivotOrder(split(rest, {w, left}, 1)[0], n, first, w);
    const std::vector<Tensor> columns = split(gather(rest, order), {w, left}, 1);
    const std::vector<Tensor> panel = split(columns[0], {first, w, left});
    const Tensor pivot = byColumns(panel[1], w);
    auto apply = [&](const Tensor &matrix) {
      const std::vector<Tensor> parts = split(matrix, {first, w, left});
      const Tensor middle = matmul(pivot, parts[1]);
      return concat({parts[0] - matmul(panel[0], middle), middle, parts[2] - matmul(panel[2], middle)});
    };
    x = apply(gather(x, order));
    if (left > 0)
      rest = apply(columns[1]);
  }
  return x;
}

} // namespace

Tensor inverse(const Tensor &a) {
  auto compute = custom_gradient([](const Tensor &matrix) {
    const std::int64_t n = matrix.shape()[0];
    const Tensor x = n < kBlocked ? byColumns(matrix, n) : byBlocks(matrix, n);
    auto pullback = [x](const Tensor &g) {
      const Tensor transposed = transpose(x);
      return -matmul(matmul(transposed, g), transposed);
    };
    return std::pair(x, pullback);
  });
  return compute(a);
}

} // namespace calque::solvers::detail
