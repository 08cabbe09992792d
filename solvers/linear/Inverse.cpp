#include "Inverse.h"

#include "calque/control_flow.h"
#include "calque/custom_gradient.h"

#include <numeric>

namespace calque::solvers::detail {

namespace {

// Up to this size the matrix and its inverse have at most 32 elements, and stay in registers.
constexpr std::int64_t kUnrolled = 5;

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

Tensor eliminated(const Tensor &a) {
  const std::int64_t n = a.shape()[0];
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

} // namespace

Tensor inverse(const Tensor &a) {
  auto compute = custom_gradient([](const Tensor &matrix) {
    const Tensor x = eliminated(matrix);
    auto pullback = [x](const Tensor &g) {
      const Tensor transposed = transpose(x);
      return -matmul(matmul(transposed, g), transposed);
    };
    return std::pair(x, pullback);
  });
  return compute(a);
}

} // namespace calque::solvers::detail
