#include "Inverse.h"

#include "calque/control_flow.h"
#include "calque/custom_gradient.h"

namespace calque::solvers::detail {

namespace {

// Up to this size the matrix and its inverse have at most 32 elements, and stay in registers.
constexpr std::int64_t kUnrolled = 5;

struct Elimination {
  Tensor a, x;
};

// Eliminates column k from all rows but k. The pivot is the largest element of the column from row k on.
Elimination eliminate(const Elimination &state, const Tensor &k, std::int64_t n) {
  const Tensor rows = iota({n}, DType::Int64);
  const Tensor pivot = argmax(where(rows >= k, abs(gather(state.a, k, 1)), -1));
  const Tensor order = where(rows == k, pivot, where(rows == pivot, k, rows));
  const Tensor a = gather(state.a, order), x = gather(state.x, order);
  const Tensor column = gather(a, k, 1), scale = 1 / gather(column, k);
  const Tensor row = gather(a, k) * scale, rowOfInverse = gather(x, k) * scale;
  // Row k itself becomes the scaled row.
  const Tensor isRow = rows == k;
  const Tensor factors = expand_dims(where(isRow, 0, column), 1);
  const Tensor keep = expand_dims(isRow, 1);
  return {where(keep, row, a - factors * row), where(keep, rowOfInverse, x - factors * rowOfInverse)};
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
