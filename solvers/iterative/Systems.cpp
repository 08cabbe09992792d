// Linear systems: what is given, what is found, and derivatives.
#include "absl/strings/str_cat.h"
#include "calque/arrays.h"
#include "calque/assertions.h"
#include "calque/custom_gradient.h"
#include "calque/user_calls.h"
#include "iterative/Iterative.h"

#include <array>
#include <limits>

namespace calque::solvers {

using namespace internal;
using detail::LinearMethod;
using detail::LinearProblem;

namespace internal {

void measure(System &s) {
  const Tensor scattered = scatteredNumbers(s.b.shape(), s.b.dtype());
  auto exponentOfMap = [&](const Map &map) { return exponentOf(largestOrZero(stop_gradient(map(scattered)))); };
  if (!s.exponent.defined())
    s.exponent = exponentOfMap(s.product);
  if (s.preconditioner && !s.preconditionerExponent.defined())
    s.preconditionerExponent = exponentOfMap(s.preconditioner);
}

LinearResult<Tensor> run(LinearMethod method, const System &given) {
  // With A = 2^a A' and b = 2^b b', the solution is 2^(b - a) x'.
  const DType dtype = given.b.dtype();
  System s = given;
  measure(s);
  const Tensor size = largestOrZero(given.b), exponentB = exponentOf(size), exponentOfX = exponentB - s.exponent;
  s.product = scaledMap(given.product, s.exponent, dtype);
  s.preconditioner = scaledMap(given.preconditioner, s.preconditionerExponent, dtype);
  s.b = given.b * power(-exponentB, dtype);
  s.atol = ldexp(given.atol, -exponentB);
  if (given.x0.defined()) // the solution for b = 0 is 0 itself
    s.x0 = where(size == 0, 0, ldexp(given.x0, -exponentOfX));
  auto iterated = [&] {
    switch (method) {
    case LinearMethod::Cg:
      return conjugateGradients(s);
    case LinearMethod::Minres:
      return minimalResiduals(s);
    case LinearMethod::Bicgstab:
      return stabilisedBiconjugateGradients(s);
    case LinearMethod::Gmres:
      break;
    }
    return generalisedMinimalResiduals(s);
  };
  const Iterated found = iterated();
  // The recurrence of residuals drifts from b - A x by rounding, and knows nothing of a constant that the product has.
  const Tensor x = ldexp(found.x, exponentOfX), tolerance = toleranceOf(s);
  const Tensor residual = normOf((given.b - given.product(x)) * power(-exponentB, dtype));
  // An infinite b has an infinite tolerance.
  Tensor converged = (found.squares <= square(tolerance)) & (residual <= 10 * tolerance) & isfinite(residual);
  if (given.mayHaveConstant)
    converged = converged & all(given.product(zeros(given.b.shape(), dtype)) == 0);
  return {x, ldexp(residual, exponentB), found.iterations, converged};
}

Tensor appliedInverse(const Map &forward, const Map &transposed, const Tensor &b, int orders) {
  if (orders == 0)
    return forward(b);
  auto applied = custom_gradient([&](const Tensor &right) {
    return std::pair(forward(right), [&](const Tensor &cotangent) {
      return appliedInverse(transposed, forward, cotangent, orders - 1);
    });
  });
  return applied(b);
}

} // namespace internal

namespace {

const char *nameOf(LinearMethod method) {
  switch (method) {
  case LinearMethod::Cg:
    return "cg";
  case LinearMethod::Bicgstab:
    return "bicgstab";
  case LinearMethod::Minres:
    return "minres";
  case LinearMethod::Gmres:
    break;
  }
  return "gmres";
}

void requireMatrix(const char *what, const char *which, const Tensor &matrix, const Tensor &b) {
  if (matrix.dtype() != b.dtype())
    fail<DTypeError>(absl::StrCat(what, ": ", which, " is ", describe(matrix), " and b ", describe(b),
                                  "; they must have one element type"));
  auto fits = [](const Size &x, const Size &y) { return !x.is_known() || !y.is_known() || x == y; };
  if (matrix.rank() != 2 || (b.rank() != 1 && b.rank() != 2) || !fits(matrix.shape()[0], matrix.shape()[1]) ||
      !fits(matrix.shape()[1], b.shape()[0]))
    fail<ShapeError>(absl::StrCat(what, ": ", which, " is ", describe(matrix), ", and for b of ", describe(b),
                                  " must be [n,n], with b [n] or [n,k]"));
}

// A function of the user whose result must be like b.
Map checkedMap(const char *what, const char *which, const Map &f, const Tensor &b) {
  requireFunction(what, which, static_cast<bool>(f));
  return [=](const Tensor &x) {
    Tensor y = callUser(f, x);
    if (y.dtype() != b.dtype() || y.rank() != b.rank() || !y.shape().is_compatible_with(b.shape()))
      fail<ShapeError>(absl::StrCat(what, ": ", which, " returns ", describe(y), " for ", describe(x),
                                    ", and must return ", describe(b)));
    return y;
  };
}

// Products with a matrix and a vector.
Map productOf(const Tensor &matrix) {
  return [matrix](const Tensor &v) { return matmul(matrix, v); };
}
Map transposedProductOf(const Tensor &matrix) {
  return [matrix](const Tensor &v) { return matmul(v, matrix); };
}

// One system, all of whose options have been checked. x0 may be undefined.
LinearResult<Tensor> solveOne(LinearMethod method, const LinearProblem &p, const Tensor &b, const Tensor &x0) {
  const char *what = nameOf(method);
  if (b.size().is_known() && b.size() == 0)
    return {b, zeros({}, b.dtype()), scalar<std::int64_t>(0), ones({}, DType::Bool)};
  const bool isSymmetric = method == LinearMethod::Cg || method == LinearMethod::Minres;
  const Map product = p.matrix.defined() ? productOf(p.matrix) : checkedMap(what, "the operator", p.product, b);
  const Map transposed = isSymmetric          ? product
                         : p.matrix.defined() ? transposedProductOf(p.matrix)
                                              : transposedOf(product, b);
  Map preconditioner, transposedPreconditioner;
  if (p.preconditionerMatrix.defined()) {
    preconditioner = productOf(p.preconditionerMatrix);
    transposedPreconditioner = transposedProductOf(p.preconditionerMatrix);
  } else if (p.preconditioner) {
    preconditioner = checkedMap(what, "the preconditioner", p.preconditioner, b);
    transposedPreconditioner = transposedOf(preconditioner, b);
  }
  if (isSymmetric)
    transposedPreconditioner = preconditioner;

  const DType dtype = b.dtype();
  const Tensor constant = stop_gradient(b);
  System system{product, preconditioner,          constant,        x0.defined() ? stop_gradient(x0) : Tensor(),
                p.rtol,  full({}, p.atol, dtype), p.maxIterations, p.restart};
  measure(system); // adjoint systems have the same magnitudes
  LinearResult<Tensor> found = run(method, system);
  const IterationLimit limit = p.maxIterations       ? IterationLimit(*p.maxIterations)
                               : b.size().is_known() ? IterationLimit(10 * std::max<std::int64_t>(b.size(), 1))
                                                     : IterationLimit("10 n");
  const Tensor norm = normOf(constant);
  found.converged = checkedConvergence(
      found.converged, p.isConvergenceRequired,
      {what, limit, "the norm of b - A x over that of b is above rtol", found.residual / where(norm > 0, norm, 1),
       p.rtol, "allow more iterations, give a preconditioner, or take a method that suits the matrix"});

  // An adjoint or tangent system. No solution that has not converged is taken for one.
  auto solver = [&](const Map &map, const Map &conditioner, bool isOfUser) {
    return [&, map, conditioner, isOfUser](const Tensor &c) {
      System adjoint = system;
      adjoint.product = map;
      adjoint.preconditioner = conditioner;
      adjoint.b = c;
      adjoint.x0 = Tensor();
      adjoint.rtol = toleranceOfDerivatives(p.rtol);
      adjoint.atol = zeros({}, dtype);
      adjoint.mayHaveConstant = isOfUser;
      LinearResult<Tensor> r = run(method, adjoint);
      return where(r.converged, r.x, std::numeric_limits<double>::quiet_NaN());
    };
  };
  const bool isOfUser = !p.matrix.defined();
  const Map forward = solver(product, preconditioner, isOfUser),
            backward = solver(transposed, transposedPreconditioner, isOfUser && isSymmetric);
  auto equations = [&](const Tensor &x) { return product(x) - b; };
  auto solveTransposed = [&](const Tensor &c) { return appliedInverse(backward, forward, c); };
  return {withImplicitDerivatives(found.x, equations, solveTransposed), stop_gradient(found.residual),
          stop_gradient(found.iterations), found.converged};
}

} // namespace

LinearResult<Tensor> detail::solveLinear(LinearMethod method, const LinearProblem &p, SourceLocation where) {
  const char *what = nameOf(method);
  CallSite site(where, what);
  requireFloat(what, "b", p.b);
  requireNotNegative(what, "rtol", p.rtol);
  requireNotNegative(what, "atol", p.atol);
  if (p.maxIterations)
    requireCount(what, "max_iterations", *p.maxIterations);
  if (method == LinearMethod::Gmres)
    requireCount(what, "restart", p.restart);
  if (p.matrix.defined())
    requireMatrix(what, "the matrix", p.matrix, p.b);
  if (p.preconditionerMatrix.defined()) {
    if (!p.matrix.defined() && p.b.rank() != 1)
      fail<ShapeError>(absl::StrCat(what, ": the preconditioner of a function of ", describe(p.b),
                                    " is a function, and is the matrix ", describe(p.preconditionerMatrix)));
    requireMatrix(what, "the preconditioner", p.preconditionerMatrix, p.b);
  }
  if (p.x0 &&
      (p.x0->dtype() != p.b.dtype() || p.x0->rank() != p.b.rank() || !p.x0->shape().is_compatible_with(p.b.shape())))
    fail<ShapeError>(absl::StrCat(what, ": x0 is ", describe(*p.x0), ", and must be as b, ", describe(p.b)));
  if (!p.matrix.defined() || p.b.rank() == 1)
    return solveOne(method, p, p.b, p.x0 ? *p.x0 : Tensor());
  if (!p.x0)
    return vmap([&](const Tensor &b) { return solveOne(method, p, b, Tensor()); },
                {.in_axes = {1}, .out_axes = {1, 0, 0, 0}})(p.b);
  auto column = [&](const Tensor &b, const Tensor &start) { return solveOne(method, p, b, start); };
  return vmap(column, {.in_axes = {1, 1}, .out_axes = {1, 0, 0, 0}})(p.b, *p.x0);
}

LinearOperator<Tensor> jacobi(const Operand &given) {
  CallSite site(given.where(), "jacobi");
  const Tensor x = given.toTensor();
  requireFloat("jacobi", "the matrix", x);
  if (x.rank() == 2 && x.shape()[0].is_known() && x.shape()[1].is_known() && x.shape()[0] != x.shape()[1])
    fail<ShapeError>(absl::StrCat("jacobi: the matrix ", describe(x), " is not square"));
  const Tensor diagonal = stop_gradient(x.rank() == 2 ? calque::diag(x) : x);
  assert_true(all(diagonal != 0), "jacobi: there is a 0 on the diagonal");
  const Tensor inverse = 1 / diagonal;
  return LinearOperator<Tensor>([inverse](const Tensor &v) { return inverse * v; });
}

Tensor detail::customLinearSolve(const LinearMap &product, const Tensor &b, const LinearSolve &solve,
                                 const LinearSolve &transposedSolve, bool isSymmetric, SourceLocation where) {
  const char *what = "custom_linear_solve";
  CallSite site(where, what);
  requireFloat(what, "b", b);
  requireFunction(what, "the solver", static_cast<bool>(solve));
  if (isSymmetric && transposedSolve)
    fail<ValueError>("custom_linear_solve: a symmetric system has no transpose_solve");
  const Map map = checkedMap(what, "the product", product, b);
  const Map transposed = isSymmetric ? map : transposedOf(map, b);
  auto solver = [&](const LinearSolve &by, const Map &with) {
    return [&, with](const Tensor &c) {
      const Tensor x = call_user([&] { return by(with, c); });
      if (x.dtype() != b.dtype() || x.rank() != b.rank() || !x.shape().is_compatible_with(b.shape()))
        throw ShapeError(absl::StrCat(what, ": the solver returns ", describe(x), " for b of ", describe(b),
                                      ", and must return its shape"),
                         where);
      return x;
    };
  };
  const Map forward = solver(solve, map), backward = solver(transposedSolve ? transposedSolve : solve, transposed);
  auto equations = [&](const Tensor &x) { return map(x) - b; };
  auto solveTransposed = [&](const Tensor &c) { return appliedInverse(backward, forward, c); };
  return withImplicitDerivatives(forward(stop_gradient(b)), equations, solveTransposed);
}

Tensor detail::customRoot(const LinearMap &f, const Tensor &x0,
                          const std::function<Tensor(const LinearMap &f, const Tensor &x0)> &solve,
                          const LinearSolve &tangentSolve, SourceLocation where) {
  const char *what = "custom_root";
  CallSite site(where, what);
  requireFloat(what, "x0", x0);
  requireFunction(what, "the solver", static_cast<bool>(solve));
  const Map map = checkedMap(what, "the function", f, x0);
  const Tensor start = stop_gradient(x0);
  const Tensor x = stop_gradient(call_user([&] { return solve(map, start); }));
  if (x.dtype() != x0.dtype() || x.rank() != x0.rank() || !x.shape().is_compatible_with(x0.shape()))
    fail<ShapeError>(absl::StrCat(what, ": the solver returns ", describe(x), " for x0 of ", describe(x0),
                                  ", and must return its shape"));
  // The iteration of a default takes flat vectors of known number.
  if (!tangentSolve && x.size().is_known() && std::int64_t(x.size()) <= 64 && std::int64_t(x.size()) > 0) {
    const Shape shape = x.shape();
    auto equations = [&](const Tensor &v) { return reshape(map(reshape(v, shape)), {-1}); };
    return reshape(rootOf(equations, reshape(x, {-1}), Differentiation::Automatic), shape);
  }
  const LinearSolve by = tangentSolve ? tangentSolve : [](const LinearMap &product, const Tensor &c) {
    System s{product, {}, c, zeros(c.shape(), c.dtype()), 100 * epsilonOf(c.dtype()), zeros({}, c.dtype()), {}, 20};
    LinearResult<Tensor> r = run(LinearMethod::Gmres, s);
    return calque::where(r.residual <= std::sqrt(epsilonOf(c.dtype())) * normOf(c), r.x,
                         std::numeric_limits<double>::quiet_NaN());
  };
  const Map product = [&](const Tensor &v) { return jvp(map, x, v).second; };
  const Map transposed = [&](const Tensor &v) { return vjp(map, x).second(v); };
  auto solver = [&](const Map &with) {
    return [&, with](const Tensor &c) { return call_user([&] { return by(with, c); }); };
  };
  const Map forward = solver(product), backward = solver(transposed);
  auto solveTransposed = [&](const Tensor &c) { return appliedInverse(backward, forward, c); };
  return withImplicitDerivatives(x, map, solveTransposed);
}

} // namespace calque::solvers
