// Public functions of linear algebra.
#include "calque/linalg.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays.h"
#include "calque/assertions.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Trace.h"
#include "frontend/operations/MatrixBatches.h"
#include "frontend/operations/MatrixCall.h"
#include "frontend/operations/MatrixSystem.h"
#include "schema/TypeRules.h"

#include <array>
#include <cmath>
#include <limits>

namespace calque::linalg {

using detail::typeOf;
using schema::OpId;

namespace {

using detail::indexOf;
using detail::MatrixCall;
using System = detail::MatrixSystem;
using detail::SystemForm;

// Not both of two options.
void requireOne(const MatrixCall &call, bool transpose, bool adjoint) {
  if (transpose && adjoint)
    throw ValueError(absl::StrCat(call.function, ": solves by the transposed matrix or by the adjoint one, not both"),
                     call.where);
}

bool isKnownZero(const Size &size) { return size.is_known() && size == 0; }

// The smaller one of the last two sizes is 0, as far as it is known.
bool isEmpty(const Tensor &x) {
  const Shape shape = x.shape();
  return isKnownZero(shape[shape.size() - 1]) || isKnownZero(shape[shape.size() - 2]);
}

} // namespace

Tensor cholesky(const Operand &a, CholeskyOptions options) {
  MatrixCall call(a, "cholesky");
  const Tensor x = a.toTensor(), l = call.apply(OpId::Cholesky, {&x, 1});
  return options.upper ? call.adjoint(l) : l;
}

Tensor triangular_solve(const Operand &a, const Operand &b, TriangularSolveOptions options) {
  System call(a, b, "triangular_solve", options.left ? SystemForm::Square : SystemForm::FromRight);
  requireOne(call, options.transpose, options.adjoint);
  // X A = B is A^T X^T = B^T. A vector is its own row.
  const bool turned = !options.left && !call.isVector;
  const Tensor x =
      call.triangular(turned ? call.transposed(call.right) : call.right, options.lower,
                      (options.transpose || options.adjoint) != !options.left, options.unit_diagonal, options.adjoint);
  return call.result(turned ? call.transposed(x) : x);
}

Tensor cho_solve(const Operand &factor, const Operand &b, CholeskyOptions options) {
  System call(factor, b, "cho_solve");
  const bool lower = !options.upper;
  // L L^H, or of an upper factor U^H U.
  const Tensor first = call.triangular(call.right, lower, !lower, false, !lower);
  return call.result(call.triangular(first, lower, lower, false, lower));
}

//===-- LU --------------------------------------------------------------------------------------===//

LuFactors lu_factor(const Operand &a) {
  MatrixCall call(a, "lu_factor");
  std::vector<Tensor> results = call.applyAll(OpId::LuFactor, a.toTensor());
  return {results[0], results[1]};
}

namespace {

// Whether the order is that of lu_factor in the same trace.
bool isOfFactorisation(const Tensor &order) {
  const std::shared_ptr<detail::Trace> &trace = detail::currentTrace();
  const detail::TensorImpl &impl = *order.impl();
  if (!trace || impl.trace != trace->id)
    return false;
  const auto &ops = trace->recording.ops();
  for (std::size_t i = ops.size(); i-- > 0;)
    if (ops[i].numResults > 0 && schema::index(ops[i].firstResult) <= schema::index(impl.value))
      return ops[i].op == OpId::LuFactor;
  return false;
}

// IndexError where a row is named that there is not, and AssertionError where one is named twice.
void requirePermutation(const LuFactors &factors, SourceLocation where) {
  const Tensor &order = factors.order;
  const Size n = order.shape().back();
  if (detail::mayDiffer(n, factors.factors.shape().back()) || isOfFactorisation(order))
    return; // else what follows refuses it
  if (order.impl()->trace) {
    const Tensor sorted = sort(Operand(order, where), -1);
    const Tensor rows = iota({n}, DType::Int64);
    assert_true(Operand(all(Operand(equal(Operand(sorted, where), Operand(rows, where)), where)), where),
                "lu_solve: the order of rows does not name each row once");
    return;
  }
  const std::vector<std::int64_t> rows = order.to_vector<std::int64_t>();
  const auto size = static_cast<std::size_t>(std::int64_t(n));
  std::vector<std::size_t> seen(size); // by row, the number of the last matrix that names it, from 1
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t row = rows[i];
    if (row < 0 || row >= std::int64_t(n))
      throw IndexError(absl::StrCat("lu_solve: index ", row, " is out of range [0, ", std::int64_t(n), ")"), where);
    if (std::exchange(seen[static_cast<std::size_t>(row)], i / size + 1) == i / size + 1)
      throw ValueError(absl::StrCat("lu_solve: the order of rows names row ", row, " twice, and must name each once"),
                       where);
  }
}

} // namespace

Tensor lu_solve(const LuFactors &factors, const Operand &b, LuSolveOptions options) {
  System call(Operand(factors.factors, b.where()), b, "lu_solve");
  if (factors.order.rank() + 1 != factors.factors.rank() || factors.order.dtype() != DType::Int64)
    throw ShapeError(absl::StrCat("lu_solve: the order of rows of factors ", typeOf(factors.factors),
                                  " has one dimension less, and is int64, unlike ", typeOf(factors.order)),
                     call.where);
  requireOne(call, options.transpose, options.adjoint);
  requirePermutation(factors, call.where);
  // The index of rows, once for each column.
  auto rowsOf = [&](const Tensor &order) {
    const Tensor column = expand_dims(call.operand(order), {-1});
    return broadcast_to(call.operand(column), call.right.shape());
  };
  if (!options.transpose && !options.adjoint) {
    Tensor rows = take_along_axis(call.operand(call.right), call.operand(rowsOf(factors.order)), -2);
    return call.result(call.triangular(call.triangular(rows, true, false, true), false, false, false));
  }
  const Tensor inverse = argsort(call.operand(factors.order));
  const Tensor first = call.triangular(call.right, false, true, false, options.adjoint);
  Tensor rows = call.triangular(first, true, true, true, options.adjoint);
  return call.result(take_along_axis(call.operand(rows), call.operand(rowsOf(inverse)), -2));
}

Lu lu(const Operand &a) {
  MatrixCall call(a, "lu");
  const std::vector<Tensor> results = call.applyAll(OpId::LuFactor, a.toTensor());
  const Tensor rows = indexOf(results[0], true), columns = indexOf(results[0], false);
  auto kept = [&](const Tensor &condition, const Operand &otherwise) {
    return calque::where(call.operand(condition), call.operand(results[0]), otherwise);
  };
  const Tensor below = kept(rows > columns, 0);
  const Size size = results[1].shape().back();
  const DType dtype = results[0].dtype();
  Tensor p = one_hot(call.operand(results[1]), size, real_of(dtype));
  if (is_complex(dtype))
    p = cast(call.operand(p), dtype);
  return {call.transposed(p), calque::where(call.operand(rows == columns), 1, call.operand(below)),
          kept(rows <= columns, 0)};
}

Tensor solve(const Operand &a, const Operand &b) {
  System call(a, b, "solve");
  // A matrix for many right-hand sides is factored once.
  std::vector<Tensor> factors = call.applyAll(OpId::LuFactor, call.original);
  if (call.repeats) {
    factors[0] = detail::broadcastBatch(factors[0], call.batch, call.where);
    const Tensor rows = expand_dims(call.operand(factors[1]), {-2});
    factors[1] = squeeze(call.operand(detail::broadcastBatch(rows, call.batch, call.where)), {-2});
  }
  const std::array<Tensor, 4> operands{call.matrix, factors[0], factors[1], call.right};
  const schema::Attribute transposed = false;
  return call.result(call.apply(OpId::LuSolve, operands, {&transposed, 1}));
}

Tensor inv(const Operand &a) {
  MatrixCall call(a, "inv");
  const Tensor x = a.toTensor();
  return call.apply(OpId::MatrixInverse, {&x, 1});
}

Tensor det(const Operand &a) {
  MatrixCall call(a, "det");
  const Tensor x = a.toTensor();
  return call.apply(OpId::Determinant, {&x, 1});
}

SignAndLogarithm slogdet(const Operand &a) {
  MatrixCall call(a, "slogdet");
  std::vector<Tensor> results = call.applyAll(OpId::Slogdet, a.toTensor());
  return {results[0], results[1]};
}

//===-- Orthogonal factors ----------------------------------------------------------------------===//

Qr qr(const Operand &a, QrOptions options) {
  MatrixCall call(a, "qr");
  const Tensor x = a.toTensor();
  call.requireMatrix(x);
  const Shape shape = x.shape();
  const Size rows = shape[shape.size() - 2], columns = shape.back();
  const bool areKnown = rows.is_known() && columns.is_known();
  if (options.complete && !(areKnown && rows <= columns)) {
    std::vector<Tensor> results = call.applyAll(OpId::QrComplete, x);
    return {results[0], results[1]};
  }
  if (!areKnown || rows >= columns) {
    std::vector<Tensor> results = call.applyAll(OpId::Qr, x);
    return {results[0], results[1]};
  }
  // Of a wide matrix, the first columns have the factors, and Q^T times the others is what R has there.
  const std::int64_t axis = x.rank() - 1;
  std::vector<Tensor> parts = split(call.operand(x), {rows, columns - rows}, axis);
  std::vector<Tensor> results = call.applyAll(OpId::Qr, parts[0]);
  const Tensor turned = call.adjoint(results[0]);
  Tensor rest = matmul(call.operand(turned), call.operand(parts[1]));
  return {results[0], concat({results[1], rest}, axis, call.where)};
}

namespace {

// L^-1 A L^-H for A of which the lower triangle is read, and B = L L^H. As that of other functions of symmetric
// matrices, the derivative is that of all elements of A.
struct ReducedPencil {
  Tensor matrix, factor;
};
ReducedPencil reducedBy(const MatrixCall &call, const Tensor &a, const Tensor &b) {
  call.requireMatrix(a);
  call.requireMatrix(b);
  call.requireOneType({a, b});
  call.requireSquare(a);
  call.requireSquare(b);
  const Shape left = a.shape(), right = b.shape();
  if (detail::mayDiffer(left.back(), right.back()))
    throw ShapeError(
        absl::StrCat(call.function, ": A and B of A V = B V w have one size, unlike ", typeOf(a), " and ", typeOf(b)),
        call.where);
  (void)detail::mergeBatches(left, right, call.function, absl::StrCat(left.str(), " and ", right.str()), call.where);
  auto choleskyOfB = [&] {
    const bool isOfValues = call.function == std::string_view("eigvalsh");
    const detail::CalledAs named = isOfValues ? call.named("eigvalsh", "eigvalsh: B") : call.named("eigh", "eigh: B");
    return call.apply(OpId::Cholesky, {&b, 1});
  };
  const Tensor isRead = indexOf(a, true) >= indexOf(a, false), constant = stop_gradient(a);
  const Tensor none = sub(call.operand(a), call.operand(constant));
  const Tensor derivative = calque::where(call.operand(equal(call.operand(none), 0)), call.operand(none), 0);
  const Tensor mirrored = add(call.operand(call.adjoint(constant)), call.operand(derivative));
  const Tensor whole = calque::where(call.operand(isRead), call.operand(a), call.operand(mirrored));
  const Tensor l = choleskyOfB();
  const Tensor half = triangular_solve(call.operand(l), call.operand(whole));
  return {triangular_solve(call.operand(l), call.operand(half), {.left = false, .adjoint = true}), l};
}

} // namespace

Eigh eigh(const Operand &a, std::optional<Tensor> b) {
  MatrixCall call(a, "eigh");
  if (!b) {
    std::vector<Tensor> results = call.applyAll(OpId::Eigh, a.toTensor());
    return {results[0], results[1]};
  }
  const ReducedPencil reduced = reducedBy(call, a.toTensor(b->dtype()), *b);
  std::vector<Tensor> results = call.applyAll(OpId::Eigh, reduced.matrix);
  return {results[0], triangular_solve(call.operand(reduced.factor), call.operand(results[1]), {.adjoint = true})};
}

Tensor eigvalsh(const Operand &a, std::optional<Tensor> b) {
  MatrixCall call(a, "eigvalsh");
  return call.applyAll(OpId::Eigh, b ? reducedBy(call, a.toTensor(b->dtype()), *b).matrix : a.toTensor())[0];
}

Svd svd(const Operand &a, SvdOptions options) {
  MatrixCall call(a, "svd");
  const Tensor x = a.toTensor();
  call.requireMatrix(x);
  const Shape shape = x.shape();
  const Size rows = shape[shape.size() - 2], columns = shape.back();
  const bool isSquare = rows.is_known() && columns.is_known() && rows == columns;
  std::vector<Tensor> results = call.applyAll(options.full_matrices && !isSquare ? OpId::SvdFull : OpId::Svd, x);
  return {results[0], results[1], results[2]};
}

Tensor svdvals(const Operand &a) {
  MatrixCall call(a, "svdvals");
  return call.applyAll(OpId::Svd, a.toTensor())[1];
}

namespace {

// The tolerance as the operation takes it: below 0 for that of the type.
double checkedTolerance(const MatrixCall &call, ToleranceOptions options) {
  if (options.tolerance && !(*options.tolerance >= 0))
    throw ValueError(absl::StrCat(call.function, ": the tolerance must not be negative or NaN: ", *options.tolerance),
                     call.where);
  return options.tolerance.value_or(-1);
}

Tensor pseudoInverse(const MatrixCall &call, const Tensor &x, ToleranceOptions options) {
  const schema::Attribute tolerance = schema::Scalar(checkedTolerance(call, options));
  return call.apply(OpId::PseudoInverse, {&x, 1}, {&tolerance, 1});
}

} // namespace

Tensor pinv(const Operand &a, ToleranceOptions options) {
  MatrixCall call(a, "pinv");
  return pseudoInverse(call, a.toTensor(), options);
}

Tensor lstsq(const Operand &a, const Operand &b, ToleranceOptions options) {
  System call(a, b, "lstsq", SystemForm::Any);
  Tensor inverse = pseudoInverse(call, call.original, options);
  return call.result(matmul(call.operand(inverse), call.operand(call.right)));
}

Tensor matrix_rank(const Operand &a, ToleranceOptions options) {
  MatrixCall call(a, "matrix_rank");
  const Tensor x = a.toTensor(), s = call.applyAll(OpId::Svd, x)[1];
  const double tolerance = checkedTolerance(call, options);
  if (isEmpty(x))
    return cast(call.operand(sum(call.operand(s), {-1})), DType::Int64);
  Tensor bound;
  if (tolerance >= 0) {
    bound = Operand(tolerance, call.where).toTensor(s.dtype());
  } else {
    const double epsilon =
        s.dtype() == DType::Float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const Tensor larger = maximum(call.operand(size(call.operand(x), -2)), call.operand(size(call.operand(x), -1)));
    bound = call.operand(cast(call.operand(larger), s.dtype())) * epsilon;
  }
  Tensor counts = s > max(call.operand(s), {-1}, true) * bound;
  return sum(call.operand(cast(call.operand(counts), DType::Int64)), {-1});
}

//===-- Norms -----------------------------------------------------------------------------------===//

namespace {

// The largest magnitudes over axes, 0 of no elements.
Tensor largestOf(const MatrixCall &call, const Tensor &sizes, const AxisList &axes) {
  // An axis whose size only the call knows may have none: a 0 is put behind its elements.
  std::vector<std::int64_t> numbers = axes.numbers(), low(static_cast<std::size_t>(sizes.rank()), 0), high = low;
  const bool areAll = numbers.empty();
  for (std::int64_t axis = 0; areAll && axis < sizes.rank(); ++axis)
    numbers.push_back(axis);
  bool isOpen = false;
  const Shape shape = sizes.shape();
  for (std::int64_t axis : numbers) {
    const std::size_t at = detail::dimensionOf(axis, sizes.rank(), call.function, call.where);
    if (shape[at].is_known())
      continue;
    high[at] = 1;
    isOpen = true;
  }
  return max(call.operand(isOpen ? pad(call.operand(sizes), low, high) : sizes), numbers, true);
}

Tensor normOf(const MatrixCall &call, const Tensor &value, const AxisList &axes, VectorNormOptions options) {
  const double order = options.order;
  if (std::isnan(order))
    throw ValueError(absl::StrCat(call.function, ": the order must not be NaN"), call.where);
  if (!is_inexact(value.dtype()))
    throw DTypeError(absl::StrCat(call.function, ": takes floating-point numbers, not ", typeOf(value), "; use cast"),
                     call.where);
  const Tensor sizes = abs(call.operand(value));
  const bool keepdims = options.keepdims;
  if (std::isinf(order))
    return order > 0 ? max(call.operand(sizes), axes, keepdims) : min(call.operand(sizes), axes, keepdims);
  if (order == 0)
    return sum(call.operand(cast(call.operand(sizes != 0), sizes.dtype())), axes, keepdims);
  if (order == 1)
    return sum(call.operand(sizes), axes, keepdims);
  if (order < 1)
    return pow(call.operand(sum(call.operand(pow(call.operand(sizes), order)), axes, keepdims)), 1 / order);
  // The largest magnitude scales all, and is constant for derivatives, which do not depend on it.
  const Shape shape = value.shape();
  Tensor scale, scaled = order == 2 && !is_complex(value.dtype()) ? value : sizes;
  const bool isNotEmpty = std::none_of(shape.begin(), shape.end(), isKnownZero);
  if (isNotEmpty) {
    const Tensor largest = largestOf(call, stop_gradient(call.operand(sizes)), axes);
    scale = calque::where(call.operand((largest > 0) & (largest < std::numeric_limits<double>::infinity())),
                          call.operand(largest), 1);
    scaled = scaled / scale;
  }
  const Operand base = call.operand(scaled);
  const Tensor powers = sum(call.operand(order == 2 ? square(base) : pow(base, order)), axes, true);
  const Tensor isZero = powers == 0, taken = calque::where(call.operand(isZero), 1, call.operand(powers));
  const Tensor root = order == 2 ? sqrt(call.operand(taken)) : pow(call.operand(taken), 1 / order);
  Tensor norm = calque::where(call.operand(isZero), 0, call.operand(root));
  if (isNotEmpty)
    norm = norm * scale;
  return keepdims ? norm : sum(call.operand(norm), axes);
}

// The sums of magnitudes along an axis, and the largest or the smallest of them.
Tensor extremeSum(const MatrixCall &call, const Tensor &x, std::int64_t axis, bool isLargest) {
  const Tensor sums = sum(call.operand(abs(call.operand(x))), {axis});
  return isLargest ? max(call.operand(sums), {-1}) : min(call.operand(sums), {-1});
}

// The largest or smallest of no numbers is not defined.
void requireNumbers(const MatrixCall &call, const Tensor &x, MatrixNorm order) {
  call.requireMatrix(x);
  const Shape shape = x.shape();
  const bool noRows = isKnownZero(shape[shape.size() - 2]), noColumns = isKnownZero(shape.back());
  const bool isOfColumns = order == MatrixNorm::One || order == MatrixNorm::MinusOne;
  const bool isOfRows = order == MatrixNorm::Infinity || order == MatrixNorm::MinusInfinity;
  const bool isOfBoth = order == MatrixNorm::Two || order == MatrixNorm::MinusTwo;
  if ((noColumns && (isOfColumns || isOfBoth)) || (noRows && (isOfRows || isOfBoth)))
    throw ShapeError(absl::StrCat(call.function, ": there is no norm of this order of a matrix without ",
                                  noRows && !isOfColumns ? "rows" : "columns", ", ", typeOf(x)),
                     call.where);
}

Tensor matrixNorm(const MatrixCall &call, const Tensor &x, MatrixNorm order) {
  requireNumbers(call, x, order);
  auto values = [&] { return call.operand(call.applyAll(OpId::Svd, x)[1]); };
  switch (order) {
  case MatrixNorm::Frobenius:
    return vector_norm(call.operand(x), {-2, -1});
  case MatrixNorm::Nuclear:
    return sum(values(), {-1});
  case MatrixNorm::Two:
    return max(values(), {-1});
  case MatrixNorm::MinusTwo:
    return min(values(), {-1});
  case MatrixNorm::One:
    return extremeSum(call, x, -2, true);
  case MatrixNorm::MinusOne:
    return extremeSum(call, x, -2, false);
  case MatrixNorm::Infinity:
    return extremeSum(call, x, -1, true);
  case MatrixNorm::MinusInfinity:
    return extremeSum(call, x, -1, false);
  }
  throw ValueError(absl::StrCat(call.function, ": no norm has the number ", static_cast<int>(order)), call.where);
}

} // namespace

Tensor vector_norm(const Operand &x, const AxisList &axes, VectorNormOptions options) {
  MatrixCall call(x, "vector_norm");
  const Tensor value = x.toTensor();
  // Of 16 bits it is computed in float32, and rounded once.
  if (!is_half(value.dtype()))
    return normOf(call, value, axes, options);
  const Tensor wide = cast(call.operand(value), DType::Float32);
  return cast(call.operand(normOf(call, wide, axes, options)), value.dtype());
}

Tensor matrix_norm(const Operand &a, MatrixNorm order) {
  MatrixCall call(a, "matrix_norm");
  return matrixNorm(call, a.toTensor(), order);
}

Tensor cond(const Operand &a, MatrixNorm order) {
  MatrixCall call(a, "cond");
  const Tensor x = a.toTensor();
  requireNumbers(call, x, order);
  if (order == MatrixNorm::Two || order == MatrixNorm::MinusTwo) {
    const Tensor s = call.applyAll(OpId::Svd, x)[1];
    const Tensor largest = max(call.operand(s), {-1}), smallest = min(call.operand(s), {-1});
    if (order == MatrixNorm::MinusTwo)
      return smallest / largest;
    // Infinite also of a matrix of zeros; and a derivative at a singular matrix is infinite or NaN in both modes.
    const Tensor isZero = equal(call.operand(largest), 0);
    return calque::where(call.operand(isZero), 1, call.operand(largest)) / smallest;
  }
  // A matrix without an inverse is one with a pivot of 0; another one, of the same shape, is inverted in its place.
  const Tensor sign = call.applyAll(OpId::Slogdet, x)[0], isSingular = equal(call.operand(sign), 0);
  const Tensor isDiagonal = indexOf(x, true) == indexOf(x, false);
  const Tensor identity = calque::where(call.operand(isDiagonal), 1, call.operand(detail::zerosLike(x, call.where)));
  const Tensor inverted = calque::where(call.operand(expand_dims(call.operand(isSingular), {-2, -1})),
                                        call.operand(identity), call.operand(x));
  const Tensor ofInverse = matrixNorm(call, call.apply(OpId::MatrixInverse, {&inverted, 1}), order);
  const Tensor infinite =
      calque::where(call.operand(isSingular), std::numeric_limits<double>::infinity(), call.operand(ofInverse));
  const Tensor norm = matrixNorm(call, x, order), isZero = equal(call.operand(norm), 0);
  return calque::where(call.operand(isZero), 1, call.operand(norm)) * infinite;
}

//===-- Powers ----------------------------------------------------------------------------------===//

Tensor matrix_power(const Operand &a, std::int64_t exponent) {
  MatrixCall call(a, "matrix_power");
  Tensor x = a.toTensor();
  call.requireMatrix(x);
  call.requireSquare(x);
  if (exponent < 0)
    x = call.apply(OpId::MatrixInverse, {&x, 1});
  auto count = exponent < 0 ? -static_cast<std::uint64_t>(exponent) : static_cast<std::uint64_t>(exponent);
  if (count == 0) {
    const Tensor isDiagonal = indexOf(x, true) == indexOf(x, false);
    return calque::where(call.operand(isDiagonal), 1, call.operand(detail::zerosLike(x, call.where)));
  }
  auto product = [&](const Tensor &p, const Tensor &q) { return matmul(call.operand(p), call.operand(q)); };
  std::optional<Tensor> power;
  for (Tensor square = x; count > 0; count >>= 1) {
    if (count & 1)
      power = power ? product(*power, square) : square;
    if (count > 1)
      square = product(square, square);
  }
  return *power;
}

Tensor expm(const Operand &a) {
  MatrixCall call(a, "expm");
  const Tensor x = a.toTensor();
  return call.apply(OpId::Expm, {&x, 1});
}

} // namespace calque::linalg
