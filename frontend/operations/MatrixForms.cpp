// Public functions of linear algebra: NumPy's norm, matrices of a special form, and products of many matrices.
#include "calque/linalg.h"

#include "calque/arrays.h"
#include "frontend/operations/MatrixBatches.h"
#include "frontend/operations/MatrixCall.h"

#include <algorithm>
#include <limits>

namespace calque::linalg {

using detail::MatrixCall;
using detail::typeOf;

//===-- Norms -----------------------------------------------------------------------------------===//

namespace {

std::string textOf(const NormOrder &order) {
  return order.name().empty() ? absl::StrCat(order.number()) : absl::StrCat("'", order.name(), "'");
}

MatrixNorm matrixOrder(const MatrixCall &call, const std::optional<NormOrder> &ord) {
  struct Known {
    NormOrder order;
    MatrixNorm norm;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const Known known[] = {{"fro", MatrixNorm::Frobenius},
                         {"nuc", MatrixNorm::Nuclear},
                         {2, MatrixNorm::Two},
                         {-2, MatrixNorm::MinusTwo},
                         {1, MatrixNorm::One},
                         {-1, MatrixNorm::MinusOne},
                         {infinity, MatrixNorm::Infinity},
                         {-infinity, MatrixNorm::MinusInfinity}};
  if (!ord)
    return MatrixNorm::Frobenius;
  for (const Known &each : known)
    if (ord->name() == each.order.name() && (!ord->name().empty() || ord->number() == each.order.number()))
      return each.norm;
  throw ValueError(absl::StrCat(call.function,
                                ": the order of a norm of matrices is 1, -1, 2, -2, inf, -inf, 'fro' or "
                                "'nuc', not ",
                                textOf(*ord)),
                   call.where);
}

Tensor normOfVectors(const MatrixCall &call, const Tensor &x, const AxisList &axes, const NormOptions &options) {
  if (options.ord && !options.ord->name().empty())
    throw ValueError(
        absl::StrCat(call.function, ": the order of a norm of vectors is a number, not ", textOf(*options.ord)),
        call.where);
  return vector_norm(call.operand(x), axes,
                     {.order = options.ord ? options.ord->number() : 2, .keepdims = options.keepdims});
}

// Of matrices whose rows and columns are along two dimensions.
Tensor normOfMatrices(const MatrixCall &call, const Tensor &x, std::size_t rows, std::size_t columns,
                      const NormOptions &options) {
  const MatrixNorm order = matrixOrder(call, options.ord);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.rank()); ++i)
    if (i != rows && i != columns)
      places.push_back(static_cast<std::int64_t>(i));
  const std::vector<std::int64_t> taken{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  places.insert(places.end(), taken.begin(), taken.end());
  const Tensor moved = std::is_sorted(places.begin(), places.end()) ? x : transpose(call.operand(x), places);
  const Tensor norms = matrix_norm(call.operand(moved), order);
  return options.keepdims
             ? expand_dims(call.operand(norms), {std::min(taken[0], taken[1]), std::max(taken[0], taken[1])})
             : norms;
}

} // namespace

Tensor norm(const Operand &x, NormOptions options) {
  MatrixCall call(x, "norm");
  const Tensor value = x.toTensor();
  const std::vector<std::int64_t> &axes = options.axis.numbers();
  if (axes.size() > 2)
    throw ValueError(absl::StrCat(call.function, ": takes one axis or two, not ", axes.size()), call.where);
  auto dimension = [&](std::int64_t axis) {
    return detail::dimensionOf(axis, value.rank(), call.function, call.where);
  };
  if (axes.size() == 2) {
    const std::size_t rows = dimension(axes[0]), columns = dimension(axes[1]);
    if (rows == columns)
      throw ValueError(
          absl::StrCat(call.function, ": the axes ", axes[0], " and ", axes[1], " of ", typeOf(value), " are one"),
          call.where);
    return normOfMatrices(call, value, rows, columns, options);
  }
  if (axes.size() == 1 || !options.ord || value.rank() == 1)
    return normOfVectors(call, value, options.axis, options);
  if (value.rank() != 2)
    throw ShapeError(
        absl::StrCat(call.function, ": with .ord and without .axis takes a vector or a matrix, not ", typeOf(value)),
        call.where);
  return normOfMatrices(call, value, 0, 1, options);
}

//===-- Special forms ---------------------------------------------------------------------------===//

namespace {

// The number of elements of vectors, which may be complex.
Tensor lengthOfVectors(const Tensor &x) { return size(is_complex(x.dtype()) ? real(x) : x, -1); }

void requireVectors(const MatrixCall &call, const Tensor &x) {
  if (x.rank() < 1)
    throw ShapeError(absl::StrCat(call.function, ": takes vectors, or batches of them, not ", typeOf(x)), call.where);
}

} // namespace

Tensor circulant(const Operand &column) {
  MatrixCall call(column, "circulant");
  const Tensor x = column.toTensor();
  requireVectors(call, x);
  const Tensor wide = expand_dims(x, {-1}), tall = expand_dims(x, {-2});
  const Tensor places = detail::indexOf(wide, true) - detail::indexOf(tall, false);
  return gather(x, where(places < 0, places + lengthOfVectors(x), places), -1);
}

Tensor hankel(const Operand &column, std::optional<Tensor> row) {
  MatrixCall call(column, "hankel");
  const Tensor x = row ? column.toTensor(row->dtype()) : column.toTensor();
  requireVectors(call, x);
  const Tensor last = row ? *row : detail::zerosLike(x, call.where);
  requireVectors(call, last);
  const Tensor wide = expand_dims(x, {-1}), tall = expand_dims(last, {-2});
  const Tensor places = detail::indexOf(wide, true) + detail::indexOf(tall, false),
               beyond = places - lengthOfVectors(x);
  const Tensor isBeyond = beyond >= 0;
  return where(isBeyond, gather(last, where(isBeyond, beyond + 1, 0), -1), gather(x, where(isBeyond, 0, places), -1));
}

Tensor block_diag(const std::vector<Tensor> &matrices, SourceLocation where) {
  if (matrices.empty())
    throw ValueError("block_diag: takes one matrix or more", where);
  MatrixCall call(Operand(matrices[0], where), "block_diag");
  std::vector<Tensor> blocks;
  Shape batch;
  for (const Tensor &x : matrices) {
    blocks.push_back(x.rank() >= 2 ? x : x.rank() == 1 ? expand_dims(x, {0}) : expand_dims(x, {0, 1}));
    if (x.dtype() != matrices[0].dtype())
      throw DTypeError(
          absl::StrCat(call.function, ": takes matrices of one type, not ", typeOf(matrices[0]), " and ", typeOf(x)),
          call.where);
    Shape before = batch;
    for (int i = 0; i < 2; ++i) // in the place of a matrix
      before.push_back(1);
    batch = detail::mergeBatches(before, blocks.back().shape(), call.function,
                                 absl::StrCat(typeOf(matrices[0]), " and ", typeOf(x)), call.where);
  }
  for (Tensor &block : blocks)
    block = detail::broadcastBatch(block, batch, call.where);
  // Zeros [..., rows of one, columns of another], which where sizes are unknown have those of two sums, added.
  auto zerosOf = [&](const Tensor &rows, const Tensor &columns) {
    Shape shape = batch;
    shape.push_back(rows.shape()[static_cast<std::size_t>(rows.rank()) - 2]);
    shape.push_back(columns.shape().back());
    if (shape.is_known())
      return zeros(shape, rows.dtype());
    auto none = [&](const Tensor &x, std::int64_t axis) {
      const Tensor part = is_complex(x.dtype()) ? real(x) : x;
      return detail::zerosLike(sum(cast(part, DType::Int32), {axis}, true), call.where);
    };
    return cast(none(rows, -1) + none(columns, -2), rows.dtype());
  };
  std::vector<Tensor> strips;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<Tensor> strip;
    for (std::size_t j = 0; j < blocks.size(); ++j)
      strip.push_back(i == j ? blocks[i] : zerosOf(blocks[i], blocks[j]));
    strips.push_back(strip.size() == 1 ? strip[0] : concat(strip, -1));
  }
  return strips.size() == 1 ? strips[0] : concat(strips, -2);
}

//===-- Products --------------------------------------------------------------------------------===//

Tensor multi_dot(const std::vector<Tensor> &matrices, SourceLocation where) {
  if (matrices.size() < 2)
    throw ValueError(absl::StrCat("multi_dot: takes two matrices or more, not ", matrices.size()), where);
  MatrixCall call(Operand(matrices[0], where), "multi_dot");
  const std::size_t count = matrices.size();
  auto isVector = [&](std::size_t i) { return (i == 0 || i + 1 == count) && matrices[i].rank() == 1; };
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor &x = matrices[i];
    if (!isVector(i) && x.rank() != 2)
      throw ShapeError(
          absl::StrCat(call.function, ": matrix ", i, " has rank 2, or at an end rank 1, unlike ", typeOf(x)),
          call.where);
    if (i > 0 && detail::mayDiffer(matrices[i - 1].shape().back(), x.shape()[0]))
      throw ShapeError(absl::StrCat(call.function, ": matrices ", i - 1, " and ", i, " are ", typeOf(matrices[i - 1]),
                                    " and ", typeOf(x), "; the columns of one are as many as the rows of the next"),
                       call.where);
  }
  constexpr std::size_t kMost = 50; // that an einsum has letters for
  if (count > kMost) {
    std::vector<Tensor> rest(matrices.begin() + kMost - 1, matrices.end());
    rest[0] = multi_dot({matrices.begin(), matrices.begin() + kMost}, where);
    return multi_dot(rest, where);
  }
  auto letter = [](std::size_t i) { return static_cast<char>(i < 26 ? 'a' + i : 'A' + (i - 26)); };
  std::string equation, result;
  for (std::size_t i = 0; i < count; ++i) {
    // Matrix i has the letters i and i + 1; a vector at an end lacks the outer one.
    std::string own{letter(i), letter(i + 1)};
    const bool isEnd = i == 0 || i + 1 == count;
    if (isVector(i))
      own = i == 0 ? own.substr(1) : own.substr(0, 1);
    else if (isEnd)
      result += i == 0 ? own.front() : own.back();
    absl::StrAppend(&equation, i > 0 ? "," : "", own);
  }
  return einsum(absl::StrCat(equation, "->", result), matrices);
}

Polar polar(const Operand &a, PolarOptions options) {
  MatrixCall call(a, "polar");
  if (options.side != "right" && options.side != "left")
    throw ValueError(absl::StrCat("polar: the side is 'right' or 'left', not '", options.side, "'"), call.where);
  // P by U, whose derivatives have no quotients of equal singular values.
  const auto [w, s, vh] = svd(a);
  const Tensor u = matmul(w, vh), x = a.toTensor();
  const Tensor p = options.side == "left" ? matmul(x, call.adjoint(u)) : matmul(call.adjoint(u), x);
  return {u, (p + call.adjoint(p)) * 0.5};
}

} // namespace calque::linalg
