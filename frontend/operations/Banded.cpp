// Public functions of linear algebra: banded systems.
#include "calque/linalg.h"

#include "calque/control_flow.h"
#include "frontend/operations/MatrixSystem.h"

namespace calque::linalg {

using schema::OpId;

namespace {

// The number of diagonals beside the one of half a symmetric band.
std::int64_t otherDiagonals(const detail::MatrixCall &call, const Tensor &band) {
  const Shape shape = band.shape();
  const Size rows = shape[shape.size() - 2];
  if (!rows.is_known() || rows == 0)
    throw ShapeError(absl::StrCat(call.function,
                                  ": the number of diagonals is 1 or more, and known while tracing, unlike that of ",
                                  detail::typeOf(band)),
                     call.where);
  return rows - 1;
}

Tensor positiveSolve(const detail::MatrixCall &call, const Tensor &band, const Tensor &b, bool lower) {
  const std::int64_t others = otherDiagonals(call, band), none = 0;
  const std::array<Tensor, 2> operands{band, b};
  const std::array<schema::Attribute, 2> attributes{lower ? others : none, lower ? none : others};
  return call.apply(OpId::PositiveBandedSolve, operands, attributes);
}

Tensor conjugate(const detail::MatrixCall &call, const Tensor &x) {
  return is_complex(x.dtype()) ? conj(call.operand(x)) : x;
}

// What the adjoint matrix solves is what the transposed one of the conjugate band does.
Tensor bandedSolve(const detail::MatrixCall &call, const Tensor &band, const Tensor &b, std::int64_t lower,
                   std::int64_t upper, bool adjoint) {
  const std::array<Tensor, 2> operands{adjoint ? conjugate(call, band) : band, b};
  const std::array<schema::Attribute, 3> attributes{lower, upper, adjoint};
  return call.apply(OpId::BandedSolve, operands, attributes);
}

// The number of columns, of the real part where there is one.
Tensor columnsOf(const detail::MatrixCall &call, const Tensor &band) {
  return size(call.operand(is_complex(band.dtype()) ? real(call.operand(band)) : band), -1);
}

// Row k of a band moved by k columns, to the left or to the right, with zeros for what comes from outside: so the band
// above the diagonal, its rows in reverse order, becomes the one below, and back.
Tensor shifted(const detail::MatrixCall &call, const Tensor &band, bool toLeft) {
  const Tensor rows = detail::indexOf(band, true), columns = detail::indexOf(band, false);
  const Tensor places = toLeft ? columns + rows : columns - rows, last = columnsOf(call, band) - 1;
  const Tensor kept = minimum(call.operand(maximum(call.operand(places), 0)), call.operand(last));
  const Tensor taken =
      take_along_axis(call.operand(band), call.operand(broadcast_to(call.operand(kept), band.shape())), -1);
  const Tensor isInside = (places >= 0) & (places <= last);
  return calque::where(call.operand(isInside), call.operand(taken), 0);
}

} // namespace

Tensor solve_banded(std::int64_t lower, std::int64_t upper, const Operand &ab, const Operand &b) {
  detail::MatrixSystem call(ab, b, "solve_banded", detail::SystemForm::Band);
  return call.result(bandedSolve(call, call.matrix, call.right, lower, upper, false));
}

Tensor solveh_banded(const Operand &ab, const Operand &b, BandedOptions options) {
  detail::MatrixSystem call(ab, b, "solveh_banded", detail::SystemForm::Band);
  return call.result(positiveSolve(call, call.matrix, call.right, options.lower));
}

// Column j of L is column j of A, less what the columns before it have there, over the root of its first element. What
// they have in the columns to come is a square of as many rows as the band has diagonals.
Tensor cholesky_banded(const Operand &ab, BandedOptions options) {
  detail::MatrixCall call(ab, "cholesky_banded");
  const Tensor band = ab.toTensor();
  call.requireMatrix(band);
  const std::int64_t others = otherDiagonals(call, band), rank = band.rank();
  // Zeros, where the matrix is positive definite; else the call fails.
  const Tensor perColumn = detail::zerosLike(sum(call.operand(band), {-2}), call.where);
  const Tensor zeros =
      squeeze(call.operand(positiveSolve(call, band, expand_dims(call.operand(perColumn), {-1}), options.lower)), {-1});
  // The band below, without what is outside of the matrix.
  const Tensor below = options.lower ? band : conjugate(call, shifted(call, reverse(call.operand(band), {-2}), true));
  const Tensor places = detail::indexOf(band, true) + detail::indexOf(band, false);
  const Tensor isInside = places < columnsOf(call, band);
  const Tensor inside = calque::where(call.operand(isInside), call.operand(below), 0);
  const Tensor checked = inside + expand_dims(call.operand(stop_gradient(call.operand(zeros))), {-2});
  std::vector<std::int64_t> order{rank - 1};
  for (std::int64_t i = 0; i + 1 < rank; ++i)
    order.push_back(i);
  const Tensor columns = transpose(call.operand(checked), order); // [n, ..., u + 1]
  const Tensor index = iota({others + 1}, DType::Int64, 0), next = minimum(call.operand(index + 1), others);
  const Tensor isKept = index < others, isDiagonal = index == 0;
  const bool isComplex = is_complex(band.dtype());
  auto step = [&](const Tensor &known, const Tensor &column) {
    const Tensor rest = column - gather(known, 0, -1);
    const Tensor pivot = expand_dims(gather(rest, 0, -1), {-1});
    // The diagonal is real, and what is given as its imaginary part is not read.
    const Tensor root = isComplex ? cast(sqrt(real(pivot)), band.dtype()) : sqrt(pivot), quotient = rest / root;
    const Tensor l = isComplex ? calque::where(isDiagonal, root, quotient) : quotient;
    const Tensor all = known + expand_dims(l, {-1}) * expand_dims(conjugate(call, l), {-2});
    const Tensor moved = gather(gather(all, next, -2), next, -1);
    return std::pair(where(expand_dims(isKept, {-1}) & isKept, moved, 0), l);
  };
  const Tensor first = detail::zerosLike(sum(call.operand(columns), {0}), call.where);
  const Tensor start = expand_dims(call.operand(first), {-1}) * expand_dims(call.operand(first), {-2});
  const Tensor factors = scan(step, start, columns, ScanOptions(), call.where).second;
  std::vector<std::int64_t> back;
  for (std::int64_t i = 1; i < rank; ++i)
    back.push_back(i);
  back.push_back(0);
  const Tensor l = transpose(call.operand(factors), back);
  return options.lower ? l : reverse(call.operand(shifted(call, conjugate(call, l), false)), {-2});
}

Tensor cho_solve_banded(const Operand &factor, const Operand &b, BandedOptions options) {
  detail::MatrixSystem call(factor, b, "cho_solve_banded", detail::SystemForm::Band);
  const std::int64_t others = otherDiagonals(call, call.matrix), none = 0;
  const std::int64_t lower = options.lower ? others : none, upper = options.lower ? none : others;
  const Tensor first = bandedSolve(call, call.matrix, call.right, lower, upper, !options.lower);
  return call.result(bandedSolve(call, call.matrix, first, lower, upper, options.lower));
}

} // namespace calque::linalg
