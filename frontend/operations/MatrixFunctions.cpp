// Public functions of linear algebra: general eigenvalues, functions of matrices, equations of Sylvester and Lyapunov,
// and systems of a special form.
#include "calque/linalg.h"

#include "calque/arrays.h"
#include "calque/control_flow.h"
#include "frontend/operations/MatrixBatches.h"
#include "frontend/operations/MatrixCall.h"

#include <array>
#include <limits>

namespace calque::linalg {

using detail::MatrixCall;
using detail::typeOf;
using schema::OpId;

namespace {

// Of 16 bits they are computed in float32, as no complex number has parts of 16 bits.
std::vector<Tensor> eigenpairs(const MatrixCall &call, const Tensor &x) {
  return call.applyAll(OpId::Eig, is_half(x.dtype()) ? cast(call.operand(x), DType::Float32) : x);
}

Tensor diagonalMask(const Tensor &x) { return detail::indexOf(x, true) == detail::indexOf(x, false); }

// The identity, of the sizes of x.
Tensor identityLike(const MatrixCall &call, const Tensor &x) {
  const Tensor isDiagonal = diagonalMask(x);
  return calque::where(call.operand(isDiagonal), 1, call.operand(detail::zerosLike(x, call.where)));
}

Tensor sylvester(const MatrixCall &call, const Tensor &a, const Tensor &b, const Tensor &c) {
  std::array<Tensor, 3> operands{a, b, c};
  for (const Tensor &x : operands)
    call.requireMatrix(x);
  if (a.rank() != 2 || b.rank() != 2 || c.rank() != 2) {
    const std::string shapes = absl::StrCat(a.shape().str(), ", ", b.shape().str(), " and ", c.shape().str());
    Shape batch = detail::mergeBatches(a.shape(), b.shape(), call.function, shapes, call.where);
    for (int i = 0; i < 2; ++i) // in the place of a matrix
      batch.push_back(1);
    batch = detail::mergeBatches(batch, c.shape(), call.function, shapes, call.where);
    for (Tensor &x : operands)
      x = detail::broadcastBatch(x, batch, call.where);
  }
  return call.apply(OpId::Sylvester, operands);
}

// Matrices in the order of operands, of one element type.
std::vector<Tensor> matrices(const MatrixCall &, std::initializer_list<const Operand *> operands) {
  return detail::adoptNumbers(OpId::Sylvester, std::span(operands.begin(), operands.size()));
}

} // namespace

//===-- Eigenvalues -----------------------------------------------------------------------------===//

Eig eig(const Operand &a) {
  MatrixCall call(a, "eig");
  const std::vector<Tensor> parts = eigenpairs(call, a.toTensor());
  return {complex(call.operand(parts[0]), call.operand(parts[1])),
          complex(call.operand(parts[2]), call.operand(parts[3]))};
}

Tensor eigvals(const Operand &a) {
  MatrixCall call(a, "eigvals");
  const std::vector<Tensor> parts = eigenpairs(call, a.toTensor());
  return complex(call.operand(parts[0]), call.operand(parts[1]));
}

Schur schur(const Operand &a) {
  MatrixCall call(a, "schur");
  const std::vector<Tensor> parts = call.applyAll(OpId::Schur, a.toTensor());
  return {parts[0], parts[1]};
}

Tensor sqrtm(const Operand &a) {
  MatrixCall call(a, "sqrtm");
  const Tensor x = a.toTensor();
  return call.apply(OpId::Sqrtm, {&x, 1});
}

Tensor logm(const Operand &a) {
  MatrixCall call(a, "logm");
  const Tensor x = a.toTensor();
  return call.apply(OpId::Logm, {&x, 1});
}

//===-- Equations -------------------------------------------------------------------------------===//

Tensor solve_sylvester(const Operand &a, const Operand &b, const Operand &c) {
  MatrixCall call(a, "solve_sylvester");
  const std::vector<Tensor> x = matrices(call, {&a, &b, &c});
  return sylvester(call, x[0], x[1], x[2]);
}

namespace {
// A and Q of Lyapunov's equations.
void requireOneSize(const MatrixCall &call, const std::vector<Tensor> &x) {
  call.requireMatrix(x[0]);
  call.requireMatrix(x[1]);
  call.requireOneType({x[0], x[1]});
  call.requireSquare(x[0]);
  const Shape a = x[0].shape(), q = x[1].shape();
  if (detail::mayDiffer(q[q.size() - 2], a.back()) || detail::mayDiffer(q.back(), a.back()))
    throw ShapeError(
        absl::StrCat(call.function, ": Q is a matrix of the size of A, not ", typeOf(x[1]), " of ", typeOf(x[0])),
        call.where);
}
} // namespace

Tensor solve_continuous_lyapunov(const Operand &a, const Operand &q) {
  MatrixCall call(a, "solve_continuous_lyapunov");
  const std::vector<Tensor> x = matrices(call, {&a, &q});
  requireOneSize(call, x);
  const Tensor adjoint = call.adjoint(x[0]);
  const detail::CalledAs named =
      call.named("solve_continuous_lyapunov", "solve_continuous_lyapunov: with the adjoint of A as B");
  return sylvester(call, x[0], adjoint, x[1]);
}

// With the inverse P of A^H + 1, B = (A^H - 1) P and C = 2 P^H Q P the equation is B^H X + X B = -C.
Tensor solve_discrete_lyapunov(const Operand &a, const Operand &q) {
  MatrixCall call(a, "solve_discrete_lyapunov");
  const std::vector<Tensor> x = matrices(call, {&a, &q});
  requireOneSize(call, x);
  const Tensor turned = call.adjoint(x[0]), one = identityLike(call, turned);
  const Tensor sum = add(call.operand(turned), call.operand(one));
  auto inverseOf = [&](const Tensor &sum) {
    const detail::CalledAs named = call.named(
        "solve_discrete_lyapunov", "solve_discrete_lyapunov: A has the eigenvalue -1, so that A^H + I has no inverse");
    return call.apply(OpId::MatrixInverse, {&sum, 1});
  };
  const Tensor inverse = inverseOf(sum);
  auto product = [&](const Tensor &p, const Tensor &q) { return matmul(call.operand(p), call.operand(q)); };
  const Tensor b = product(sub(call.operand(turned), call.operand(one)), inverse);
  const Tensor right = product(call.adjoint(inverse), product(x[1], inverse));
  const Tensor left = call.adjoint(b), twice = mul(call.operand(right), -2);
  const detail::CalledAs named = call.named(
      "solve_discrete_lyapunov", "solve_discrete_lyapunov: A has eigenvalues that are each other's inverses, "
                                 "and as an equation of Sylvester");
  return sylvester(call, left, b, twice);
}

//===-- Special forms ---------------------------------------------------------------------------===//

namespace {

Tensor toeplitzOf(const MatrixCall &call, const Tensor &column, const Tensor &row) {
  if (column.rank() < 1 || row.rank() < 1)
    throw ShapeError(absl::StrCat(call.function, ": the column and the row are vectors, or batches of them, not ",
                                  typeOf(column), " and ", typeOf(row)),
                     call.where);
  const Tensor wide = expand_dims(call.operand(column), {-1}), tall = expand_dims(call.operand(row), {-2});
  const Tensor places = sub(call.operand(detail::indexOf(wide, true)), call.operand(detail::indexOf(tall, false)));
  const Tensor isBelow = places >= 0;
  auto taken = [&](const Tensor &x, const Tensor &at) {
    return gather(call.operand(x), call.operand(maximum(call.operand(at), 0)), -1);
  };
  return calque::where(call.operand(isBelow), call.operand(taken(column, places)),
                       call.operand(taken(row, neg(call.operand(places)))));
}

} // namespace

Tensor toeplitz(const Operand &column) {
  MatrixCall call(column, "toeplitz");
  const Tensor x = column.toTensor();
  return toeplitzOf(call, x, is_complex(x.dtype()) ? conj(call.operand(x)) : x);
}

Tensor toeplitz(const Operand &column, const Operand &row) {
  MatrixCall call(column, "toeplitz");
  const std::vector<Tensor> x = matrices(call, {&column, &row});
  call.requireOneType({x[0], x[1]});
  return toeplitzOf(call, x[0], x[1]);
}

Tensor solve_toeplitz(const Operand &column, const Operand &row, const Operand &b) {
  MatrixCall call(column, "solve_toeplitz");
  const std::vector<Tensor> x = matrices(call, {&column, &row, &b});
  call.requireOneType({x[0], x[1], x[2]});
  const Tensor matrix = toeplitzOf(call, x[0], x[1]);
  const Shape right = x[2].shape();
  const std::size_t place = right.size() - (right.size() > 1 ? 2 : 1);
  const Size n = x[0].shape().back();
  if (right.empty() || detail::mayDiffer(x[1].shape().back(), n) || detail::mayDiffer(right[place], n))
    throw ShapeError(absl::StrCat(call.function,
                                  ": takes a column and a row [n], and right-hand sides [n] or [n, k], "
                                  "not ",
                                  typeOf(x[0]), ", ", typeOf(x[1]), " and ", typeOf(x[2])),
                     call.where);
  return solve(call.operand(matrix), call.operand(x[2]));
}

namespace {

struct Rows {
  Tensor lower, diagonal, upper, right;
};
// A row after rows above it have been eliminated: x[i] = right - upper x[i + 1].
struct Eliminated {
  Tensor upper, right;
};

// The rows of a system, without what stands beside it.
Rows rowsOf(const MatrixCall &call, std::vector<Tensor> x) {
  auto without = [&](const Tensor &all, bool first) {
    Shape shape(static_cast<std::size_t>(all.rank()), 1);
    shape[0] = all.shape()[0];
    const Tensor rows = iota(shape, DType::Int64, 0), last = sub(call.operand(size(call.operand(all), 0)), 1);
    const Tensor isOutside = first ? rows == 0 : rows == last;
    return calque::where(call.operand(isOutside), 0, call.operand(all));
  };
  return {without(x[0], true), x[1], without(x[2], false), x[3]};
}

Tensor firstZeros(const MatrixCall &call, const Tensor &x) {
  return detail::zerosLike(sum(call.operand(x), {0}), call.where);
}

// `eliminate(above, own)` makes a row of the next one, and `times` is the product of a block and what it stands before.
template <typename Eliminate, typename Times>
Tensor solveRows(const MatrixCall &call, const Rows &rows, Eliminate &&eliminate, Times &&times) {
  auto step = [&](const Eliminated &above, const Rows &own) {
    const Eliminated next = eliminate(above, own);
    return std::pair(next, next);
  };
  const Eliminated start{firstZeros(call, rows.upper), firstZeros(call, rows.right)};
  const auto eliminated = scan(step, start, rows, ScanOptions(), call.where).second;
  auto substitute = [&](const Tensor &below, const Eliminated &own) {
    const Tensor next = sub(own.right, times(own.upper, below));
    return std::pair(next, next);
  };
  return scan(substitute, start.right, eliminated, ScanOptions{.reverse = true}, call.where).second;
}

// The diagonals have this rank; what they solve has one of vectors or one of matrices. All have as many rows, and
// blocks are of one size.
void requireRows(const MatrixCall &call, const std::vector<Tensor> &x, std::int64_t ofRows, std::int64_t ofVectors,
                 const char *what) {
  call.requireOneType({x[0], x[1], x[2], x[3]});
  bool fits = x[3].rank() == ofVectors || x[3].rank() == ofVectors + 1;
  for (std::size_t i = 0; i < 3; ++i)
    fits = fits && x[i].rank() == ofRows;
  const Shape own = x[1].shape();
  for (std::size_t i = 0; i < 4 && fits; ++i) {
    const Shape shape = x[i].shape();
    const std::int64_t compared = i < 3 ? ofRows : ofVectors;
    for (std::size_t d = 0; d < static_cast<std::size_t>(compared); ++d)
      fits = fits && !detail::mayDiffer(shape[d], d == 0 ? own[0] : own[1]);
  }
  if (!fits)
    throw ShapeError(absl::StrCat(call.function, ": takes diagonals and right-hand sides ", what, ", not ",
                                  typeOf(x[0]), ", ", typeOf(x[1]), ", ", typeOf(x[2]), " and ", typeOf(x[3])),
                     call.where);
}

} // namespace

Tensor solve_tridiagonal(const Operand &lower, const Operand &diagonal, const Operand &upper, const Operand &b) {
  MatrixCall call(lower, "solve_tridiagonal");
  std::vector<Tensor> x = matrices(call, {&lower, &diagonal, &upper, &b});
  requireRows(call, x, 1, 1, "[n], and [n] or [n, k]");
  return solveRows(
      call, rowsOf(call, std::move(x)),
      [](const Eliminated &above, const Rows &own) {
        const Tensor pivot = own.diagonal - own.lower * above.upper;
        return Eliminated{own.upper / pivot, (own.right - own.lower * above.right) / pivot};
      },
      [](const Tensor &a, const Tensor &b) { return a * b; });
}

Tensor solve_block_tridiagonal(const Operand &lower, const Operand &diagonal, const Operand &upper, const Operand &b) {
  MatrixCall call(lower, "solve_block_tridiagonal");
  std::vector<Tensor> x = matrices(call, {&lower, &diagonal, &upper, &b});
  requireRows(call, x, 3, 2, "[n, s, s], and [n, s] or [n, s, k]");
  const bool areVectors = x[3].rank() == 2;
  if (areVectors)
    x[3] = expand_dims(call.operand(x[3]), {-1});
  auto product = [](const Tensor &p, const Tensor &q) { return matmul(p, q); };
  const Tensor result = solveRows(
      call, rowsOf(call, std::move(x)),
      [&](const Eliminated &above, const Rows &own) {
        // Factored once for both.
        const LuFactors pivot = lu_factor(own.diagonal - product(own.lower, above.upper));
        return Eliminated{lu_solve(pivot, own.upper), lu_solve(pivot, own.right - product(own.lower, above.right))};
      },
      product);
  return areVectors ? squeeze(call.operand(result), {-1}) : result;
}

//===-- Orthogonal matrices ---------------------------------------------------------------------===//

// The product is 1 - V U^-1 D V^H, where D has tau, and U is one plus D times the triangle of V^H V above the diagonal:
// H. Walker, Implementation of the GMRES method using Householder transformations, SIAM J. Sci. Stat. Comput. 9, 1988,
// in the form of C. Puglisi, Modification of the Householder method based on the compact WY representation, ibid. 13,
// 1992, which here has no quotients by tau.
Tensor householder_product(const Operand &a, const Operand &tau) {
  MatrixCall call(a, "householder_product");
  const std::vector<Tensor> x = matrices(call, {&a, &tau});
  call.requireMatrix(x[0]);
  const Shape shape = x[0].shape(), factors = x[1].shape();
  const Size rows = shape[shape.size() - 2], columns = shape.back();
  const bool isTall = !rows.is_known() || !columns.is_known() || rows >= columns;
  if (x[1].rank() == 0 || detail::mayDiffer(columns, factors.back()) || !isTall)
    throw ShapeError(absl::StrCat(call.function, ": takes a [..., m, n] with m >= n, and tau [..., n], not ",
                                  typeOf(x[0]), " and ", typeOf(x[1])),
                     call.where);
  const Tensor column = expand_dims(call.operand(x[1]), {-1});
  const Shape batch = detail::mergeBatches(shape, column.shape(), call.function,
                                           absl::StrCat(typeOf(x[0]), " and ", typeOf(x[1])), call.where);
  const Tensor scales = detail::broadcastBatch(column, batch, call.where);
  const Tensor identity = identityLike(call, x[0]);
  const Tensor isBelow = detail::indexOf(x[0], true) > detail::indexOf(x[0], false);
  const Tensor v = calque::where(call.operand(isBelow), call.operand(x[0]), call.operand(identity));
  auto product = [&](const Tensor &p, const Tensor &q, bool adjointP) {
    const Tensor left = adjointP && is_complex(p.dtype()) ? conj(call.operand(p)) : p;
    return matmul(call.operand(left), call.operand(q), {.transpose_a = adjointP});
  };
  const Tensor inner = mul(call.operand(scales), call.operand(product(v, v, true)));
  const Tensor top = mul(call.operand(scales), call.operand(product(v, identity, true)));
  const Tensor solved =
      triangular_solve(call.operand(inner), call.operand(top), {.lower = false, .unit_diagonal = true});
  return sub(call.operand(identity), call.operand(product(v, solved, false)));
}

Tensor orthogonalise(const Operand &a) {
  MatrixCall call(a, "orthogonalise");
  const Tensor x = a.toTensor();
  call.requireMatrix(x);
  const Shape shape = x.shape();
  const Size rows = shape[shape.size() - 2], columns = shape.back();
  if (rows.is_known() && columns.is_known() && rows < columns)
    throw ShapeError(absl::StrCat(call.function, ": takes matrices with no more columns than rows, not ", typeOf(x)),
                     call.where);
  const std::vector<Tensor> factors = call.applyAll(OpId::Qr, x);
  const Tensor isDiagonal = diagonalMask(factors[1]);
  const Tensor diagonal = calque::where(call.operand(isDiagonal), call.operand(factors[1]), 0);
  // It is real.
  const Tensor signs = sum(call.operand(is_complex(x.dtype()) ? real(call.operand(diagonal)) : diagonal), {-2}, true);
  const Tensor isNegative = signs < 0;
  const Tensor q =
      calque::where(call.operand(isNegative), call.operand(neg(call.operand(factors[0]))), call.operand(factors[0]));
  // Where a column has one row left, its reflection says nothing of what that is.
  const double infinity = std::numeric_limits<double>::infinity();
  auto isFinite = [&](const Tensor &part) { return abs(call.operand(part)) < infinity; };
  const Tensor areFinite =
      is_complex(x.dtype()) ? isFinite(real(call.operand(x))) & isFinite(imag(call.operand(x))) : isFinite(x);
  return calque::where(call.operand(all(call.operand(areFinite), {-2, -1}, true)), call.operand(q),
                       std::numeric_limits<double>::quiet_NaN());
}

} // namespace calque::linalg
