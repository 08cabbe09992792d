// A few eigenpairs by the locally optimal block preconditioned conjugate gradients.
#include "absl/strings/str_cat.h"
#include "calque/arrays.h"
#include "calque/control_flow.h"
#include "calque/linalg.h"
#include "calque/solvers/eigenpairs.h"
#include "calque/transforms.h"
#include "iterative/Iterative.h"

#include <algorithm>
#include <limits>

namespace calque::solvers {

using namespace internal;

namespace {

// Blocks are [k, n]: a vector is a row. Products with A and B may be undefined functions, which stand for the identity.
// All are scaled to elements near to 1, so that no square overflows or vanishes.
struct Problem {
  Map a, b, preconditioner; // of blocks; b and preconditioner may be empty
  std::int64_t n, k;
  DType dtype;
  double rtol;
  Tensor atol;
  std::int64_t maxIterations;
};

Tensor times(const Map &map, const Tensor &block) { return map ? map(block) : block; }
// [j, n] and [k, n] to [j, k].
Tensor inner(const Tensor &x, const Tensor &y) { return matmul(x, y, {.transpose_b = true}); }
Tensor combined(const Tensor &factors, const Tensor &rows) { return matmul(factors, rows); }
Tensor rowSums(const Tensor &x) { return sum(x, {1}); }
Tensor column(const Tensor &x) { return expand_dims(x, {1}); }
// Each row scaled to elements of at most 1 by a power of two.
Tensor scaledRows(const Tensor &x) { return x * column(power(-exponentOf(max(abs(x), {1})), x.dtype())); }

// The combinations T [k, k] that make vectors with the products `gram` [k, k] orthonormal. A vector that depends on the
// others, and one of 0, becomes a row of 0. Stathopoulos and Wu: A block orthogonalization procedure with constant
// synchronization requirements, 2002. Where the products are near to singular, the result is orthonormal to half of the
// digits, and a second turn makes it so to all. eigh gives NaN for NaN, where a Cholesky factorisation would be
// refused.
Tensor orthonormalising(const Tensor &gram, double epsilon) {
  const Tensor squares = einsum("ii->i", {gram}), isThere = squares > 0;
  const Tensor scale = where(isThere, 1 / sqrt(where(isThere, squares, 1)), 0);
  const auto [values, vectors] = linalg::eigh(gram * scale * column(scale));
  const Tensor isKept = values > static_cast<double>(std::int64_t(gram.shape()[0])) * 10 * epsilon;
  // A comparison with NaN does not hold: NaN has to stay.
  const Tensor roots = where(isKept | isnan(values), 1 / sqrt(where(isKept, values, 1)) + 0 * values, 0);
  return transpose(vectors * roots) * scale;
}

class Iteration {
public:
  explicit Iteration(const Problem &p) : p_(p), epsilon_(epsilonOf(p.dtype)) {}

  struct State {
    // [2 k, n]: the vectors, and then the steps that led to them, all orthonormal; and the products of A with them.
    Tensor basis, basisA;
    std::vector<Tensor> basisB;                    // and of B, if there is one
    Tensor values, residuals, isDone, size, count; // size: the largest |w|
  };

  // Pairs of the smallest values.
  State run(const Tensor &x0) const {
    auto goesOn = [&](const State &s) {
      return (!all(s.isDone)) & (s.count < p_.maxIterations) & all(isfinite(s.values));
    };
    // The products of a block follow its combinations, and drift by rounding: each so many steps they are made anew.
    // What the last turn says of convergence is of such products.
    auto turn = [&](const State &s) {
      const Tensor end = minimum(s.count + 30, p_.maxIterations);
      auto goesOnTurning = [&](const State &at) {
        return (!all(at.isDone)) & (at.count < end) & all(isfinite(at.values));
      };
      return refreshed(while_loop(goesOnTurning, [&](const State &at) { return step(at); }, s));
    };
    return while_loop(goesOn, turn, start(x0));
  }

private:
  Tensor productB(const Tensor &x) const { return times(p_.b, x); }

  // Twice: the first turn may leave vectors that are orthonormal to half of the digits.
  Tensor orthonormal(Tensor x) const {
    for (int turn = 0; turn < 2; ++turn)
      x = combined(orthonormalising(inner(x, productB(x)), epsilon_), x);
    return x;
  }

  State start(const Tensor &x0) const {
    // Where x0 has too few independent vectors, numbers without a pattern take their place.
    const Tensor some = orthonormal(scaledRows(x0)), scattered = scatteredNumbers({p_.k, p_.n}, p_.dtype);
    const Tensor isMissing = column(rowSums(some * productB(some)) < 0.5);
    const Tensor x = orthonormal(where(isMissing, scattered / column(sqrt(rowSums(square(scattered)))), some)),
                 ax = p_.a(x), none = zeros({p_.k, p_.n}, p_.dtype);
    const auto [values, vectors] = linalg::eigh(inner(x, ax));
    const Tensor turned = transpose(vectors), basis = concat({combined(turned, x), none});
    State s{basis, concat({combined(turned, ax), none}), {}, values, {}, {}, max(abs(values)), scalar<std::int64_t>(0)};
    if (p_.b)
      s.basisB = {productB(basis)};
    return tested(std::move(s));
  }

  // Without a B, vectors are their own products with it.
  const Tensor &basisB(const State &s) const { return p_.b ? s.basisB[0] : s.basis; }
  Tensor firstOf(const Tensor &basis) const { return slice(basis, {0, 0}, {p_.k, p_.n}); }
  Tensor residualOf(const State &s) const { return firstOf(s.basisA) - column(s.values) * firstOf(basisB(s)); }

  State tested(State s) const {
    const Tensor x = firstOf(s.basis), bx = firstOf(basisB(s));
    s.residuals = sqrt(rowSums(square(residualOf(s))));
    Tensor goal = maximum(p_.rtol * sqrt(rowSums(square(firstOf(s.basisA)))), p_.atol);
    goal = maximum(goal, 10 * epsilon_ * s.size * sqrt(rowSums(square(bx))));
    s.isDone = (s.residuals <= goal) & isfinite(s.residuals) & (rowSums(x * bx) > 0.5);
    return s;
  }

  State refreshed(State s) const {
    // Combinations drift from orthonormal ones by rounding, which a step of Newton's method for the root of their
    // products' inverse takes back. A row of 0 stays one.
    const Tensor products = inner(s.basis, productB(s.basis));
    s.basis = combined(1.5 * eye(2 * p_.k, p_.dtype) - 0.5 * products, s.basis);
    s.basisA = p_.a(s.basis);
    if (p_.b)
      s.basisB = {productB(s.basis)};
    return tested(std::move(s));
  }

  State step(const State &s) const {
    // Directions: residuals, preconditioned, in the complement of x and p. What is left of a vector in the second turn
    // is nearly all of it, or is rounding.
    Tensor w = scaledRows(times(p_.preconditioner, scaledRows(residualOf(s))));
    auto complement = [&](const Tensor &v) { return v - combined(inner(v, basisB(s)), s.basis); };
    w = complement(w);
    w = combined(orthonormalising(inner(w, productB(w)), epsilon_), w);
    w = complement(w);
    Tensor gram = inner(w, productB(w));
    const Tensor isThere = einsum("ii->i", {gram}) > 0.5;
    // NaN stays.
    const Tensor mask = where(isThere | isnan(sum(gram)), 1, cast(isThere, p_.dtype));
    w = combined(orthonormalising(gram * mask * column(mask), epsilon_) * mask, w);
    const Tensor aw = p_.a(w);
    const Tensor bw = productB(w);

    // The Ritz pairs of all. Rows of 0 get values behind all others.
    const Tensor all = concat({s.basis, w}), allA = concat({s.basisA, aw});
    Tensor projected = inner(all, allA);
    projected = 0.5 * (projected + transpose(projected));
    const Tensor lengths = rowSums(all * concat({basisB(s), bw}));
    const Tensor largest = max(abs(projected), AxisList());
    const Tensor isRow = lengths > 0.5;
    const Tensor behind = where(isRow, 0, where(largest > 0, 10 * static_cast<double>(p_.k) * largest, 1));
    const auto [ritz, vectors] = linalg::eigh(projected + eye(3 * p_.k, p_.dtype) * behind);
    const std::vector<Tensor> parts = split(vectors, {p_.k, 2 * p_.k}, 1);
    const Tensor chosen = transpose(parts[0]); // [k, 3 k]

    // The steps: the new vectors without what they have of the old ones, orthonormal to the new ones.
    const Tensor isStep = isRow & (iota({3 * p_.k}, DType::Int64) >= p_.k);
    Tensor steps = where(isStep, chosen, 0);
    for (int turn = 0; turn < 2; ++turn) {
      steps = steps - combined(inner(steps, chosen), chosen);
      steps = combined(orthonormalising(inner(steps, steps), epsilon_), steps);
    }
    const Tensor both = concat({chosen, steps});
    State next{combined(both, all),      combined(both, allA), {}, split(ritz, {p_.k, 2 * p_.k})[0], {}, {},
               maximum(s.size, largest), s.count + 1};
    if (p_.b)
      next.basisB = {combined(both, concat({s.basisB[0], bw}))};
    return tested(std::move(next));
  }

  const Problem &p_;
  double epsilon_;
};

// What J^-1 makes of cotangents c [k, 1 + n], for the equations of `pairs`: the value's is the first column. J is
// symmetric. In the span of the vectors the solution is known; beyond, A - w B is definite.
Tensor solvePairs(const Problem &p, const Tensor &values, const Tensor &x, const Tensor &bx, const Tensor &c) {
  const std::vector<Tensor> parts = split(c, {1, p.n}, 1);
  const Tensor inSpan = inner(parts[1], x); // [i, j]: c_i^T x_j
  const Tensor isOwn = eye(p.k, p.dtype) > 0;
  const Tensor gaps = where(isOwn, 1, values - column(values));
  // A cotangent of 0 gives 0, also for equal values.
  const Tensor factors = where(isOwn, -parts[0], where(inSpan == 0, 0, inSpan / where(inSpan == 0, 1, gaps)));
  auto one = [](const Map &map, const Tensor &v) { return map ? reshape(map(expand_dims(v, {0})), v.shape()) : v; };
  // Of one pair.
  auto beyond = [&](const Tensor &value, const Tensor &right) {
    auto project = [&](const Tensor &v) { return v - matmul(matmul(x, v), bx); };     // of images
    auto projectBack = [&](const Tensor &v) { return v - matmul(matmul(bx, v), x); }; // of vectors
    System s;
    s.product = [&](const Tensor &v) {
      const Tensor u = projectBack(v);
      return project(one(p.a, u) - value * one(p.b, u));
    };
    // Also without a preconditioner: what rounding leaves in the span would grow.
    s.preconditioner = [&](const Tensor &v) { return projectBack(one(p.preconditioner, project(v))); };
    s.b = project(project(right));
    s.rtol = toleranceOfDerivatives(p.rtol);
    s.exponent = s.preconditionerExponent = zeros({}, DType::Int32);
    // What is left of a cotangent in the span is rounding.
    s.atol = 100 * epsilonOf(p.dtype) * normOf(right);
    const LinearResult<Tensor> r = internal::run(detail::LinearMethod::Cg, s);
    return where(r.converged, projectBack(r.x), std::numeric_limits<double>::quiet_NaN());
  };
  const Tensor rest = p.k < p.n ? vmap(beyond)(values, parts[1]) : zeros({p.k, p.n}, p.dtype);
  // -x^T c is the multiplier of x, which moves the value.
  const Tensor own = sum(where(isOwn, inSpan, 0), {1});
  return concat({-column(own), combined(factors, x) + rest}, 1);
}

Map blockMap(const char *what, const char *which, const LinearOperator<Tensor> &map, const Tensor &x0) {
  const std::int64_t n = x0.shape()[0];
  if (map.matrix().defined()) {
    const Tensor matrix = map.matrix();
    if (matrix.dtype() != x0.dtype())
      fail<DTypeError>(absl::StrCat(what, ": ", which, " is ", describe(matrix), " and x0 ", describe(x0),
                                    "; they must have one element type"));
    if (matrix.rank() != 2 || matrix.shape()[0] != n || matrix.shape()[1] != n)
      fail<ShapeError>(absl::StrCat(what, ": ", which, " is ", describe(matrix), ", and for x0 of ", describe(x0),
                                    " must be [n,n]"));
    return [matrix](const Tensor &block) { return matmul(block, matrix, {.transpose_b = true}); };
  }
  if (!map.isThere())
    return {};
  requireFunction(what, which, static_cast<bool>(map.function()));
  auto one = [=, f = map.function()](const Tensor &v) {
    Tensor y = callUser(f, v);
    if (y.dtype() != v.dtype() || y.rank() != 1 || !y.shape().is_compatible_with(v.shape()))
      fail<ShapeError>(absl::StrCat(what, ": ", which, " returns ", describe(y), " for ", describe(v),
                                    ", and must return that type"));
    return y;
  };
  return [one](const Tensor &block) { return vmap(one)(block); };
}

} // namespace

Eigenpairs lobpcg(const LinearOperator<Tensor> &a, const Operand &given, const LobpcgOptions &options) {
  const char *what = "lobpcg";
  CallSite site(given.where(), what);
  const Tensor x0 = given.toTensor();
  requireFloat(what, "x0", x0);
  requireKnownSizes(what, "x0", x0);
  requireNotNegative(what, "rtol", options.rtol);
  requireNotNegative(what, "atol", options.atol);
  requireCount(what, "max_iterations", options.max_iterations);
  if (x0.rank() != 2)
    fail<ShapeError>(absl::StrCat("lobpcg: x0 is ", describe(x0), ", and must have k vectors as columns, [n,k]"));
  const std::int64_t n = x0.shape()[0], k = x0.shape()[1];
  if (k < 1 || k > n)
    fail<ValueError>(absl::StrCat("lobpcg: x0 is ", describe(x0), ", and the number of eigenpairs is 1 to n"));
  requireFunction(what, "the operator", a.isThere());
  const double sign = options.largest ? -1 : 1;
  const Map userA = blockMap(what, "the operator", a, x0), givenB = blockMap(what, "the operator b", options.b, x0);
  const Map givenPreconditioner = blockMap(what, "the preconditioner", options.preconditioner, x0);
  // With A = 2^a A' and B = 2^b B', the values are 2^(a - b) w', and the vectors 2^(-b / 2) x': b is even.
  const DType dtype = x0.dtype();
  const Tensor scattered = scatteredNumbers({k, n}, dtype);
  auto magnitudeOf = [&](const Map &map) { return max(abs(stop_gradient(map(scattered))), AxisList()); };
  const Tensor exponentA = exponentOf(magnitudeOf(userA)), none = zeros({}, DType::Int32);
  const Tensor halfExponentB = givenB ? exponentOf(sqrt(magnitudeOf(givenB))) : none;
  const Tensor exponentOfValues = exponentA - 2 * halfExponentB, exponentOfResiduals = exponentA - halfExponentB;
  const Map b = scaledMap(givenB, 2 * halfExponentB, dtype);
  const Map scaledA = scaledMap([=](const Tensor &v) { return sign * userA(v); }, exponentA, dtype);
  const Map preconditioner =
      givenPreconditioner ? scaledMap(givenPreconditioner, exponentOf(magnitudeOf(givenPreconditioner)), dtype) : Map();
  const Problem p{scaledA,
                  b,
                  preconditioner,
                  n,
                  k,
                  dtype,
                  options.rtol,
                  ldexp(full({}, options.atol, dtype), -exponentOfResiduals),
                  options.max_iterations};

  auto found = Iteration(p).run(stop_gradient(transpose(x0)));
  const Tensor residuals = stop_gradient(ldexp(found.residuals, exponentOfResiduals));
  const Tensor converged = checkedConvergence(
      found.isDone & isfinite(residuals + ldexp(found.values, exponentOfValues)), options.require_convergence,
      {what, options.max_iterations, "the norm of A x - w B x is above its tolerance", max(residuals), options.rtol,
       "allow more iterations, give a preconditioner, or ask for a few more pairs"});

  // The equations of pairs: rows of w and x.
  auto pairs = [&](const Tensor &z) {
    const std::vector<Tensor> parts = split(z, {1, n}, 1);
    const Tensor bx = times(b, parts[1]);
    return concat({0.5 * (1 - column(rowSums(parts[1] * bx))), scaledA(parts[1]) - parts[0] * bx}, 1);
  };
  const Tensor values = stop_gradient(found.values), x = stop_gradient(slice(found.basis, {0, 0}, {k, n}));
  const Tensor bx = b ? stop_gradient(slice(found.basisB[0], {0, 0}, {k, n})) : x;
  const Map solve = [&](const Tensor &c) { return solvePairs(p, values, x, bx, c); };
  auto solveTransposed = [&](const Tensor &c) { return appliedInverse(solve, solve, c); };
  const Tensor z = withImplicitDerivatives(concat({column(values), x}, 1), pairs, solveTransposed);
  const Tensor vectors = split(z, {1, n}, 1)[1];
  // A value is the Rayleigh quotient of its vector, which is stationary there. To first order the vector does not move
  // it, so that no system is solved, and equal values do no harm. The product of two zeros has the part of second
  // derivatives that comes from the vector, and no first derivative.
  auto quotients = [&](const Tensor &v) { return rowSums(v * scaledA(v)) / rowSums(v * times(b, v)); };
  const Tensor slopes = grad([&](const Tensor &v) { return sum(quotients(v)); })(x);
  const Tensor moved = quotients(x) + 0.5 * rowSums((vectors - x) * (slopes - stop_gradient(slopes)));
  return {sign * ldexp(withDerivativesOf(values, moved), exponentOfValues), transpose(ldexp(vectors, -halfExponentB)),
          residuals, stop_gradient(found.count), converged};
}

} // namespace calque::solvers
