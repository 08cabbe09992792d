// Large linear systems and least squares by iterations, and derivatives of solutions that other code has found.
//
//   Tensor x = solvers::cg(a, b, {.preconditioner = solvers::jacobi(a)}).x;                  // a matrix
//   Tensor y = solvers::cg([&](const Tensor &v) { return v - 0.1 * laplacian(v); }, b).x;    // or a function
//   Tensor z = solvers::custom_linear_solve(product, b, [](auto &product, auto &b) { ... }); // or your own solver
//
// A system A x = b is given by a linear operator: a matrix [n, n] with b [n], a sparse matrix of <calque/sparse.h>, or
// a linear function from a structure to one of the same structure and shapes, such as a struct of tensors. A function
// of a tensor takes any shape, also with unknown sizes; a structure's sizes must be known while tracing. With a matrix,
// b may be [n, k]: these are k systems, each with an iteration of its own. Under vmap, too, each example has its own.
// The element type is that of b, float32 or float64.
//
// Derivatives. A solution has the derivatives of the equation with respect to b and to all tensors that the matrix is
// computed from and the function captures, in both modes and to second order: a third one is refused as in roots.h.
// They solve the adjoint or the tangent system with the options of the solver. The iteration is not differentiated, so
// that nothing of it is kept. A derivative whose system does not converge is NaN. No derivative passes to initial
// points, preconditioners, residuals and numbers of iterations.
//
// Errors. StateError for an empty function, ValueError for options out of range, DTypeError for other element types,
// ShapeError for a matrix or a function that does not fit b. No convergence is an AssertionError of the call, unless
// `require_convergence` is false; then `converged` tells.
#ifndef CALQUE_SOLVERS_LINEAR_H
#define CALQUE_SOLVERS_LINEAR_H

#include "calque/solvers/parameters.h"

#include <functional>
#include <optional>

namespace calque::solvers {

namespace detail {
using LinearMap = std::function<Tensor(const Tensor &)>;
// A vector of systems: a tensor, or a structure of tensors.
template <typename V> using VectorOf = std::conditional_t<std::is_same_v<V, Variable>, Tensor, V>;
} // namespace detail

// A linear function of vectors of type V, which a matrix or a callable makes.
template <typename V = Tensor> class LinearOperator {
public:
  LinearOperator() = default;
  LinearOperator(const Tensor &matrix, SourceLocation = SourceLocation::current())
    requires std::is_same_v<V, Tensor>
      : matrix_(matrix) {}
  LinearOperator(const Variable &matrix, SourceLocation where = SourceLocation::current())
    requires std::is_same_v<V, Tensor>
      : matrix_(matrix.value(where)) {}
  template <typename F>
    requires(!std::is_convertible_v<const F &, Tensor> && !std::is_same_v<F, LinearOperator> &&
             std::is_invocable_r_v<V, const F &, const V &>)
  LinearOperator(const F &f) : function_(f), isFunction_(true) {}

  bool isThere() const { return matrix_.defined() || isFunction_; }
  const Tensor &matrix() const { return matrix_; } // undefined for a function
  const std::function<V(const V &)> &function() const { return function_; }

private:
  Tensor matrix_;
  std::function<V(const V &)> function_;
  bool isFunction_ = false;
};

template <typename V = Tensor> struct LinearResult {
  V x;
  Tensor residual;   // the norm of b - A x, without derivatives; [k] for k systems of a matrix, as the next two
  Tensor iterations; // int64
  Tensor converged;  // bool
};

// Options of cg, bicgstab and minres. An iteration has converged when the norm of its residual is at most the larger
// one of rtol |b| and atol, and the norm of b - A x at most ten times that.
template <typename V = Tensor> struct KrylovOptions {
  double rtol = 1e-5;
  double atol = 0;
  std::optional<std::int64_t> max_iterations = {};         // default: 10 n for n unknowns
  std::optional<detail::VectorOf<V>> x0 = {};              // default: zeros
  LinearOperator<detail::VectorOf<V>> preconditioner = {}; // approximates the inverse of A
  bool require_convergence = true;
};
template <typename V = Tensor> struct GmresOptions {
  double rtol = 1e-5;
  double atol = 0;
  std::int64_t restart = 20;                       // the number of vectors that are kept; then the method begins anew
  std::optional<std::int64_t> max_iterations = {}; // of products with A; default: 10 n for n unknowns
  std::optional<detail::VectorOf<V>> x0 = {};
  LinearOperator<detail::VectorOf<V>> preconditioner = {};
  bool require_convergence = true;
};
template <typename V = Tensor> struct LsqrOptions {
  double damp = 0;    // minimises |A x - b|^2 + damp^2 |x|^2
  double atol = 1e-6; // the errors of A and b, as parts of them, that the result may have: see lsqr
  double btol = 1e-6;
  std::optional<std::int64_t> max_iterations = {}; // default: 2 n for n unknowns
  std::optional<detail::VectorOf<V>> x0 = {};      // a function needs one
  bool require_convergence = true;
};

namespace detail {
enum class LinearMethod : std::uint8_t { Cg, Bicgstab, Minres, Gmres };
struct LinearProblem {
  Tensor matrix;     // or undefined
  LinearMap product; // or empty
  Tensor b;
  std::optional<Tensor> x0;
  Tensor preconditionerMatrix;
  LinearMap preconditioner;
  double rtol = 0, atol = 0, damp = 0;
  std::optional<std::int64_t> maxIterations;
  std::int64_t restart = 0;
  bool isConvergenceRequired = true;
};
CALQUE_API LinearResult<Tensor> solveLinear(LinearMethod method, const LinearProblem &problem, SourceLocation where);
CALQUE_API LinearResult<Tensor> solveLeastSquares(const LinearProblem &problem, SourceLocation where);
using LinearSolve = std::function<Tensor(const LinearMap &product, const Tensor &b)>;
CALQUE_API Tensor customLinearSolve(const LinearMap &product, const Tensor &b, const LinearSolve &solve,
                                    const LinearSolve &transposedSolve, bool isSymmetric, SourceLocation where);
CALQUE_API Tensor customRoot(const LinearMap &f, const Tensor &x0,
                             const std::function<Tensor(const LinearMap &f, const Tensor &x0)> &solve,
                             const LinearSolve &tangentSolve, SourceLocation where);

// Structures as tensors: of a tensor, itself.
template <typename V> Tensor flat(const V &x, const SourceLocation &where) {
  if constexpr (std::is_same_v<V, Tensor>)
    return x;
  else if constexpr (std::is_same_v<V, Variable>)
    return x.value(where);
  else
    return ravel(x, where);
}
template <typename V> VectorOf<V> shaped(const V &like, const Tensor &x, const SourceLocation &where) {
  if constexpr (std::is_same_v<VectorOf<V>, Tensor>)
    return x;
  else
    return unravel(like, x, where);
}
// A function of structures as one of tensors.
template <typename V, typename F> LinearMap flatMap(const F &f, const V &like, const SourceLocation &where) {
  if constexpr (std::is_same_v<VectorOf<V>, Tensor>)
    return f;
  else if (!f)
    return {};
  else
    return [f, like, where](const Tensor &x) { return ravel(f(unravel(like, x, where)), where); };
}
template <typename V, typename Options>
LinearProblem problemOf(const LinearOperator<VectorOf<V>> &a, const V &b, const Options &options,
                        const SourceLocation &where) {
  LinearProblem p;
  p.matrix = a.matrix();
  p.product = flatMap(a.function(), b, where);
  p.b = flat(b, where);
  if (options.x0)
    p.x0 = flat(*options.x0, where);
  p.rtol = options.rtol;
  p.atol = options.atol;
  p.maxIterations = options.max_iterations;
  p.isConvergenceRequired = options.require_convergence;
  if (options.preconditioner.isThere()) {
    p.preconditionerMatrix = options.preconditioner.matrix();
    p.preconditioner = flatMap(options.preconditioner.function(), b, where);
  }
  if constexpr (requires { options.restart; })
    p.restart = options.restart;
  return p;
}
template <typename V>
LinearResult<VectorOf<V>> solved(LinearMethod method, const LinearProblem &problem, const V &b,
                                 const SourceLocation &where) {
  LinearResult<Tensor> r = solveLinear(method, problem, where);
  return {shaped(b, r.x, where), r.residual, r.iterations, r.converged};
}
} // namespace detail

//===-- Systems -------------------------------------------------------------------------------------===//

// The method of conjugate gradients, for a symmetric positive definite A and preconditioner. Hestenes and Stiefel,
// 1952. One product in each iteration.
template <typename V>
LinearResult<detail::VectorOf<V>> cg(const std::type_identity_t<LinearOperator<detail::VectorOf<V>>> &a, const V &b,
                                     const KrylovOptions<std::type_identity_t<V>> &options = {},
                                     SourceLocation where = SourceLocation::current()) {
  return detail::solved(detail::LinearMethod::Cg, detail::problemOf(a, b, options, where), b, where);
}

// The method of minimal residuals, for a symmetric A, which need not be definite. The preconditioner is symmetric
// positive definite. Paige and Saunders, 1975. One product in each iteration.
template <typename V>
LinearResult<detail::VectorOf<V>> minres(const std::type_identity_t<LinearOperator<detail::VectorOf<V>>> &a, const V &b,
                                         const KrylovOptions<std::type_identity_t<V>> &options = {},
                                         SourceLocation where = SourceLocation::current()) {
  return detail::solved(detail::LinearMethod::Minres, detail::problemOf(a, b, options, where), b, where);
}

// The stabilised method of biconjugate gradients, for any regular A. Van der Vorst: Bi-CGSTAB, 1992. Two products in
// each iteration. It may break down, which is no convergence; gmres does not.
template <typename V>
LinearResult<detail::VectorOf<V>> bicgstab(const std::type_identity_t<LinearOperator<detail::VectorOf<V>>> &a,
                                           const V &b, const KrylovOptions<std::type_identity_t<V>> &options = {},
                                           SourceLocation where = SourceLocation::current()) {
  return detail::solved(detail::LinearMethod::Bicgstab, detail::problemOf(a, b, options, where), b, where);
}

// The generalised method of minimal residuals with restarts, for any regular A. Saad and Schultz: GMRES, 1986. The
// preconditioner is on the right, so that residuals are those of A x = b. One product in each iteration, and `restart`
// vectors of memory.
template <typename V>
LinearResult<detail::VectorOf<V>> gmres(const std::type_identity_t<LinearOperator<detail::VectorOf<V>>> &a, const V &b,
                                        const GmresOptions<std::type_identity_t<V>> &options = {},
                                        SourceLocation where = SourceLocation::current()) {
  return detail::solved(detail::LinearMethod::Gmres, detail::problemOf(a, b, options, where), b, where);
}

// Jacobi's preconditioner: divides by the diagonal of a matrix [n, n], or by a tensor of another rank, which is the
// diagonal itself in the shape of the vectors. AssertionError at the call for a 0 on the diagonal.
CALQUE_API LinearOperator<Tensor> jacobi(const Operand &matrixOrDiagonal);

//===-- Least squares -------------------------------------------------------------------------------===//

// The x of the least |A x - b|^2 + damp^2 |x - x0|^2, of these that nearest to x0, for an A of any shape [m, n]: a
// matrix, or a function from the shape of x0 to the shape of b. Paige and Saunders: LSQR, 1982. Converged when the
// norm of the residual is at most btol |b| + atol |A| |x|, or the norm of A^T r at most atol |A| |r|. The transposed
// product is a derivative of the function.
//
// Derivatives are those of a matrix of full rank, or with a damp above 0: of the normal equations, by cg. Those by x0
// are 0 where A has at least as many rows as columns and damp is 0. ValueError for a function without x0.
template <typename V = Tensor>
LinearResult<Tensor> lsqr(const LinearOperator<Tensor> &a, const Operand &b, const LsqrOptions<Tensor> &options = {}) {
  detail::LinearProblem p;
  p.matrix = a.matrix();
  p.product = a.function();
  p.b = b.toTensor();
  p.x0 = options.x0;
  p.damp = options.damp;
  p.atol = options.atol;
  p.rtol = options.btol;
  p.maxIterations = options.max_iterations;
  p.isConvergenceRequired = options.require_convergence;
  return detail::solveLeastSquares(p, b.where());
}

//===-- Solvers of your own -------------------------------------------------------------------------===//

template <typename V> struct CustomLinearOptions {
  // Solves with the transposed product. Default: `solve` does, and so may not use more of A than the product it gets.
  std::function<V(const std::function<V(const V &)> &product, const V &b)> transpose_solve = {};
  bool symmetric = false; // the product is its own transpose
};
// Returns solve(product, b), with the derivatives of the solution of product(x) = b. They call `solve` or
// `transpose_solve` again, for other right-hand sides. `solve` is not differentiated, and may be a loop, a host_call or
// a factorisation.
template <typename V, typename Product, typename Solve>
detail::VectorOf<V>
custom_linear_solve(const Product &product, const V &b, const Solve &solve,
                    const CustomLinearOptions<std::type_identity_t<detail::VectorOf<V>>> &options = {},
                    SourceLocation where = SourceLocation::current()) {
  using T = detail::VectorOf<V>;
  using Map = std::function<T(const T &)>;
  auto solveOf = [&](const auto &solver) -> detail::LinearSolve {
    if constexpr (requires { static_cast<bool>(solver); })
      if (!solver)
        return {};
    return [&solver, &b, &where](const detail::LinearMap &map, const Tensor &right) {
      const Map shapedMap = [&](const T &x) { return detail::shaped(b, map(detail::flat(x, where)), where); };
      const T x = solver(shapedMap, detail::shaped(b, right, where));
      return detail::flat(x, where);
    };
  };
  const Tensor x =
      detail::customLinearSolve(detail::flatMap(Map(product), b, where), detail::flat(b, where), solveOf(solve),
                                solveOf(options.transpose_solve), options.symmetric, where);
  return detail::shaped(b, x, where);
}

// Returns solve(f, x0), with the derivatives of the solution of f(x) = 0: -(df/dx)^-1 times those of f. They call
// tangent_solve(product, c), which solves product(x) = c with the Jacobian df/dx, or its transpose. Without it, the
// Jacobian is made and inverted for up to 64 unknowns of known number, and gmres solves with its products for more.
template <typename V, typename F, typename Solve, typename TangentSolve = detail::LinearSolve>
detail::VectorOf<V> custom_root(const F &f, const V &x0, const Solve &solve, const TangentSolve &tangent_solve = {},
                                SourceLocation where = SourceLocation::current()) {
  using T = detail::VectorOf<V>;
  using Map = std::function<T(const T &)>;
  auto wrapped = [&](const auto &solver) -> detail::LinearSolve {
    if constexpr (requires { static_cast<bool>(solver); })
      if (!solver)
        return {};
    return [&solver, &x0, &where](const detail::LinearMap &map, const Tensor &given) {
      const Map shapedMap = [&](const T &x) { return detail::shaped(x0, map(detail::flat(x, where)), where); };
      const T x = solver(shapedMap, detail::shaped(x0, given, where));
      return detail::flat(x, where);
    };
  };
  const Tensor x = detail::customRoot(detail::flatMap(Map(f), x0, where), detail::flat(x0, where), wrapped(solve),
                                      wrapped(tangent_solve), where);
  return detail::shaped(x0, x, where);
}

} // namespace calque::solvers
#endif
