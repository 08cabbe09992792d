// Functions of calque/arrays/products.h.
#include "calque/arrays/products.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/moving.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
#include <numeric>

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

Tensor dot(const Operand &x, const Operand &y) {
  ArrayCall call(x, "dot");
  const auto [a, b] = detail::paired(x, y);
  if (a.rank() == 0 || b.rank() == 0)
    return mul(a, b);
  return contract(a, b, {}, {}, {a.rank() - 1}, {std::max<std::int64_t>(b.rank() - 2, 0)});
}

Tensor vdot(const Operand &x, const Operand &y) {
  ArrayCall call(x, "vdot");
  const auto [a, b] = detail::paired(x, y);
  const Tensor left = is_complex(a.dtype()) ? conj(a) : a;
  return contract(reshape(left, {-1}), reshape(b, {-1}), {}, {}, {0}, {0});
}

Tensor inner(const Operand &x, const Operand &y) {
  ArrayCall call(x, "inner");
  const auto [a, b] = detail::paired(x, y);
  if (a.rank() == 0 || b.rank() == 0)
    return mul(a, b);
  return contract(a, b, {}, {}, {a.rank() - 1}, {b.rank() - 1});
}

Tensor outer(const Operand &x, const Operand &y) {
  ArrayCall call(x, "outer");
  const auto [a, b] = detail::paired(x, y);
  return mul(expand_dims(reshape(a, {-1}), 1), expand_dims(reshape(b, {-1}), 0));
}

namespace {

void requireRank(const Tensor &x, std::int64_t least, const char *what, const ArrayCall &call) {
  if (x.rank() < least)
    throw ShapeError(absl::StrCat(call.function, ": ", what, " must have rank ", least, " or more, not ", typeOf(x)),
                     call.where);
}

// Before the vector becomes a matrix, so that errors have its shape.
void requireFit(const Tensor &matrix, const Tensor &vector, bool isLeft, const ArrayCall &call) {
  const Tensor &first = isLeft ? vector : matrix, &second = isLeft ? matrix : vector;
  if (first.dtype() != second.dtype())
    throw DTypeError(absl::StrCat(call.function, ": the operands' types differ: ", typeOf(first), " and ",
                                  typeOf(second), "; there is no implicit conversion, use cast"),
                     call.where);
  const Shape shape = matrix.shape();
  const Size own = isLeft ? shape[shape.size() - 2] : shape.back(), given = vector.shape().back();
  if (own.is_known() && given.is_known() && own != given)
    throw ShapeError(absl::StrCat(call.function, ": the matrix ", typeOf(matrix), " has as many ",
                                  isLeft ? "rows" : "columns", " as the vector has elements, unlike ", typeOf(vector)),
                     call.where);
}

} // namespace

Tensor matvec(const Operand &matrix, const Operand &vector) {
  ArrayCall call(matrix, "matvec");
  const auto [a, x] = detail::paired(matrix, vector);
  requireRank(a, 2, "the matrix", call);
  requireRank(x, 1, "the vector", call);
  requireFit(a, x, false, call);
  return squeeze(matmul(a, expand_dims(x, -1)), -1);
}

Tensor vecmat(const Operand &vector, const Operand &matrix) {
  ArrayCall call(vector, "vecmat");
  const auto [x, a] = detail::paired(vector, matrix);
  requireRank(a, 2, "the matrix", call);
  requireRank(x, 1, "the vector", call);
  requireFit(a, x, true, call);
  return squeeze(matmul(expand_dims(is_complex(x.dtype()) ? conj(x) : x, -2), a), -2);
}

Tensor kron(const Operand &x, const Operand &y) {
  ArrayCall call(x, "kron");
  auto [a, b] = detail::paired(x, y);
  const std::int64_t rank = std::max(a.rank(), b.rank());
  // a varies along the even axes, b along the odd ones.
  std::vector<std::int64_t> even, odd;
  for (std::int64_t i = 0; i < rank; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
  }
  a = detail::withRank(a, rank);
  b = detail::withRank(b, rank);
  Tensor product = rank == 0 ? mul(a, b) : mul(expand_dims(a, odd), expand_dims(b, even));
  for (std::int64_t i = 0; i < rank; ++i)
    product = detail::mergeDims(product, i);
  return product;
}

Tensor tensordot(const Operand &x, const Operand &y, const AxisList &xAxes, const AxisList &yAxes) {
  ArrayCall call(x, "tensordot");
  const auto [a, b] = detail::paired(x, y);
  return contract(a, b, {}, {}, call.axes(xAxes, a), call.axes(yAxes, b));
}

Tensor tensordot(const Operand &x, const Operand &y, std::int64_t axes) {
  ArrayCall call(x, "tensordot");
  const auto [a, b] = detail::paired(x, y);
  if (axes < 0 || axes > a.rank() || axes > b.rank())
    throw ValueError(
        absl::StrCat("tensordot: there are no ", axes, " axes to sum over in ", typeOf(a), " and ", typeOf(b)),
        call.where);
  std::vector<std::int64_t> last(static_cast<std::size_t>(axes)), first = last;
  std::iota(last.begin(), last.end(), a.rank() - axes);
  std::iota(first.begin(), first.end(), 0);
  return contract(a, b, {}, {}, last, first);
}

Tensor cross(const Operand &x, const Operand &y, std::int64_t axis) {
  ArrayCall call(x, "cross");
  const auto [a, b] = detail::paired(x, y);
  for (const Tensor &vector : {a, b})
    if (!detail::isKnownTo(vector.shape()[call.dimension(axis, vector)], 3))
      throw ShapeError(absl::StrCat("cross: the vectors along axis ", axis, " of ", typeOf(vector),
                                    " must have 3 elements, as is known while tracing"),
                       call.where);
  // Component i is a[i+1] b[i+2] - a[i+2] b[i+1].
  const Tensor u = moveaxis(a, axis, -1), v = moveaxis(b, axis, -1);
  const Tensor product = roll(u, -1, -1) * roll(v, 1, -1) - roll(u, 1, -1) * roll(v, -1, -1);
  return moveaxis(product, -1, call.axis(axis, product));
}

} // namespace calque
