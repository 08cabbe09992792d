// Public functions of linear algebra: Riccati's equations.
#include "calque/linalg.h"

#include "calque/arrays.h"
#include "calque/assertions.h"
#include "calque/control_flow.h"
#include "frontend/operations/MatrixBatches.h"
#include "frontend/operations/MatrixCall.h"

#include <limits>

namespace calque::linalg {

using detail::MatrixCall;
using detail::typeOf;

namespace {

// A and Q [..., n, n], B [..., n, m] and R [..., m, m] of a Riccati equation, as they count with E and S: of float64 or
// complex128, and as many of each.
struct Riccati {
  const MatrixCall &call;
  bool isDiscrete;
  Tensor a, b, q, r;

  Tensor adjoint(const Tensor &x) const { return call.adjoint(x); }
  // What R solves.
  Tensor solvedByR(const Tensor &right) const {
    const detail::CalledAs named = isDiscrete ? call.named("solve_discrete_are", "solve_discrete_are: of R")
                                              : call.named("solve_continuous_are", "solve_continuous_are: of R");
    return solve(r, right);
  }
  Tensor hermitian(const Tensor &x) const { return (x + adjoint(x)) * 0.5; }
  // The identity of the size of A.
  Tensor identity() const {
    const Tensor isDiagonal = detail::indexOf(a, true) == detail::indexOf(a, false);
    return where(isDiagonal, 1, detail::zerosLike(a, call.where));
  }
};

Tensor lengthOf(const Tensor &x) { return vector_norm(x, {-2, -1}, {.keepdims = true}); }
// What a matrix solves. A singular one gives infinities or NaN.
Tensor solvedByFactors(const Tensor &a, const Tensor &b) { return lu_solve(lu_factor(a), b); }

struct Sign {
  Tensor matrix, change;
};
// The sign of matrices without eigenvalues on the imaginary axis, by Newton's iteration with scales: N. J. Higham,
// Functions of matrices, 2008, section 5.5. The change at the end is not small where it does not converge.
Sign signOf(const Tensor &matrix, const Tensor &identity) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto goesOn = [](const Sign &s) { return any(s.change > 1e-9); }; // the square of it is that of the next step
  auto step = [&](const Sign &s) {
    const Tensor inverse = solvedByFactors(s.matrix, identity);
    const Tensor scale = where(s.change > 1e-2, sqrt(lengthOf(inverse) / lengthOf(s.matrix)), 1);
    const Tensor factor = is_complex(matrix.dtype()) ? cast(scale, matrix.dtype()) : scale;
    const Tensor next = (s.matrix * factor + inverse / factor) * 0.5;
    const Tensor change = lengthOf(next - s.matrix) / lengthOf(next);
    // Where it does not become smaller any more, rounding is left.
    return Sign{next, where((s.change < 1e-4) & (change > s.change * 0.9), 0, change)};
  };
  const Sign start{matrix, lengthOf(matrix) * 0 + infinity};
  return while_loop(goesOn, step, start, {.maximum_iterations = 60});
}

struct FoundSolution {
  Tensor x, isFound; // and a bool [..., 1, 1]
};
// The solution that stabilises, without derivatives. The columns of [1; X] span the stable space of the Hamiltonian
// matrix, or of the symplectic pencil, whose eigenvalues z are brought to (z - 1) / (z + 1); and the sign of the matrix
// is -1 on that space: J. D. Roberts, Linear model reduction and solution of the algebraic Riccati equation by use of
// the sign function, Int. J. Control 32, 1980; P. Benner, Computational methods for linear-quadratic optimization,
// 1999.
FoundSolution foundBy(const Riccati &e) {
  const Tensor one = e.identity(), none = detail::zerosLike(one, e.call.where);
  const Tensor g = matmul(e.b, e.solvedByR(e.adjoint(e.b)));
  // X over a number of its size, so that the blocks are of one size.
  const Tensor sizeOfG = lengthOf(g), sizeOfA = lengthOf(e.a);
  const Tensor size = sqrt((lengthOf(e.q) + square(sizeOfA) / sizeOfG) / sizeOfG);
  const Tensor scale = where((size > 0) & (size < std::numeric_limits<double>::infinity()), size, 1);
  const Tensor factor = is_complex(e.a.dtype()) ? cast(scale, e.a.dtype()) : scale;
  const Tensor scaledG = g * factor, scaledQ = e.q / factor, turned = e.adjoint(e.a);
  auto blocks = [](const Tensor &a, const Tensor &b, const Tensor &c, const Tensor &d) {
    return concat({concat({a, b}, -1), concat({c, d}, -1)}, -2);
  };
  const Tensor first = concat({one, none}, -2), second = concat({none, one}, -2); // columns of the identity
  const Tensor matrix = e.isDiscrete ? solvedByFactors(blocks(e.a + one, scaledG, -scaledQ, turned + one),
                                                       blocks(e.a - one, -scaledG, -scaledQ, one - turned))
                                     : blocks(e.a, -scaledG, -scaledQ, -turned);
  const Tensor whole = concat({first, second}, -1);
  const auto [sign, change] = signOf(matrix, whole);
  const Tensor space = sign + whole;
  const Qr factors = qr(matmul(space, second));
  const Tensor right = -matmul(e.adjoint(factors.q), matmul(space, first));
  const Tensor x = e.hermitian(triangular_solve(factors.r, right, {.lower = false})) * factor;
  const Tensor isFinite = all(abs(x) < std::numeric_limits<double>::infinity(), {-2, -1}, true);
  const Tensor isFound = ((change <= 1e-9) | (lengthOf(matrix) == 0)) & isFinite; // of no rows it is 0
  return {where(isFound, x, 0), isFound};
}

// What is left of the equation for some X, the size of its terms, and the closed loop.
struct Residual {
  Tensor value, size, loop;
};
Residual residualOf(const Riccati &e, const Tensor &x) {
  auto sizeOf = [](const Tensor &term) { return sum(abs(term), {-2, -1}, true); };
  const Tensor turned = e.adjoint(e.a), product = matmul(x, e.a);
  const Tensor ofB = matmul(e.adjoint(e.b), x); // B^H X
  const Tensor gain = e.isDiscrete ? solve(e.r + matmul(ofB, e.b), matmul(ofB, e.a)) : e.solvedByR(ofB);
  const Tensor term = e.isDiscrete ? matmul(turned, product) : product + e.adjoint(product);
  const Tensor taken = matmul(e.adjoint(e.isDiscrete ? matmul(ofB, e.a) : ofB), gain);
  const Tensor rest = e.isDiscrete ? e.q - x : e.q;
  return {e.hermitian(term - taken + rest), sizeOf(term) + sizeOf(taken) + sizeOf(e.q) + sizeOf(x),
          e.a - matmul(e.b, gain)};
}

// A step of Newton's method: D. Kleinman, On an iterative technique for Riccati equation computations, IEEE Trans.
// Autom. Control 13, 1968; G. Hewer, An iterative technique for the computation of the steady state gains for the
// discrete optimal regulator, ibid. 16, 1971. Two of them have the first three derivatives of the solution.
Tensor improved(const Riccati &e, const Tensor &x, const Tensor &isFound) {
  const Residual residual = residualOf(e, x);
  const Tensor turned = e.adjoint(where(isFound, residual.loop, e.identity() * -0.5));
  const Tensor step = e.isDiscrete ? solve_discrete_lyapunov(turned, residual.value)
                                   : solve_continuous_lyapunov(turned, -residual.value);
  return e.hermitian(x + step);
}

// The same where the sign has few digits, as of matrices of very different sizes: steps until nothing is left but
// rounding. All steps from what stabilises stay there.
Tensor refined(const Riccati &e, const FoundSolution &found) {
  struct Step {
    Tensor x, error;
  };
  auto errorOf = [&](const Tensor &x) {
    const Residual residual = residualOf(e, x);
    return sum(abs(residual.value), {-2, -1}, true) / residual.size;
  };
  auto goesOn = [](const Step &s) { return any(s.error > 1e-12); };
  auto step = [&](const Step &s) {
    const Tensor next = improved(e, s.x, found.isFound), error = errorOf(next);
    return Step{where(error < s.error, next, s.x), where(error < s.error * 0.5, error, 0)};
  };
  return while_loop(goesOn, step, Step{found.x, errorOf(found.x)}, {.maximum_iterations = 10}).x;
}

void requireRiccati(const MatrixCall &call, const std::vector<Tensor> &x, const RiccatiOptions &options) {
  for (const Tensor &each : x)
    call.requireMatrix(each);
  call.requireOneType({x[0], x[1], x[2], x[3]});
  call.requireSquare(x[0]);
  // Whether the last two sizes are those of A and of B.
  const Size n = x[0].shape().back(), m = x[1].shape().back();
  auto has = [](const Tensor &each, const Size &rows, const Size &columns) {
    const Shape shape = each.shape();
    return each.rank() >= 2 && !detail::mayDiffer(shape[shape.size() - 2], rows) &&
           !detail::mayDiffer(shape.back(), columns);
  };
  if (!has(x[1], n, m) || !has(x[2], n, n) || !has(x[3], m, m))
    throw ShapeError(absl::StrCat(call.function, ": takes A and Q [n, n], B [n, m] and R [m, m], not ", typeOf(x[0]),
                                  ", ", typeOf(x[2]), ", ", typeOf(x[1]), " and ", typeOf(x[3])),
                     call.where);
  for (const std::optional<Tensor> *option : {&options.e, &options.s})
    if (*option) {
      call.requireOneType({x[0], **option});
      if (!has(**option, n, option == &options.e ? n : m))
        throw ShapeError(absl::StrCat(call.function, ": .e has the size of A and .s that of B, unlike ",
                                      typeOf(**option), " of ", typeOf(x[0]), " and ", typeOf(x[1])),
                         call.where);
    }
}

Tensor solveRiccati(const MatrixCall &call, const std::vector<Tensor> &given, const RiccatiOptions &options,
                    bool isDiscrete) {
  requireRiccati(call, given, options);
  const DType dtype = given[0].dtype(), inner = is_complex(dtype) ? DType::Complex128 : DType::Float64;
  auto wide = [&](const Tensor &x) { return cast(x, inner); };
  Riccati e{call, isDiscrete, wide(given[0]), wide(given[1]), wide(given[2]), wide(given[3])};
  Tensor cross = options.s ? wide(*options.s) : Tensor();
  // With Y = E^-1 the equation is that of A Y, Y^H Q Y and Y^H S.
  if (options.e) {
    const Tensor adjointE = e.adjoint(wide(*options.e));
    auto fromLeft = [&](const Tensor &x) {
      const detail::CalledAs named = isDiscrete ? call.named("solve_discrete_are", "solve_discrete_are: of E")
                                                : call.named("solve_continuous_are", "solve_continuous_are: of E");
      return solve(adjointE, x);
    };
    auto fromRight = [&](const Tensor &x) { return e.adjoint(fromLeft(e.adjoint(x))); };
    e.a = fromRight(e.a);
    e.q = fromLeft(fromRight(e.q));
    if (options.s)
      cross = fromLeft(cross);
  }
  e.q = e.hermitian(e.q);
  e.r = e.hermitian(e.r);
  // And that of A - B R^-1 S^H and Q - S R^-1 S^H.
  if (options.s) {
    const Tensor gain = e.solvedByR(e.adjoint(cross));
    e.a = e.a - matmul(e.b, gain);
    e.q = e.q - matmul(cross, gain);
  }
  // As many of each.
  Shape batch;
  for (const Tensor *x : {&e.a, &e.b, &e.q, &e.r}) {
    Shape before = batch;
    for (int i = 0; i < 2; ++i) // in the place of a matrix
      before.push_back(1);
    batch = detail::mergeBatches(
        before, x->shape(), call.function,
        absl::StrCat(typeOf(given[0]), ", ", typeOf(given[1]), ", ", typeOf(given[2]), " and ", typeOf(given[3])),
        call.where);
  }
  for (Tensor *x : {&e.a, &e.b, &e.q, &e.r})
    *x = detail::broadcastBatch(*x, batch, call.where);

  auto constantOf = [](const Tensor &x) { return stop_gradient(x); };
  const Riccati constant{call, isDiscrete, constantOf(e.a), constantOf(e.b), constantOf(e.q), constantOf(e.r)};
  const FoundSolution found = foundBy(constant);
  Tensor x = refined(constant, found);
  for (int i = 0; i < 2; ++i)
    x = improved(e, x, found.isFound);
  const Residual rest = residualOf(constant, stop_gradient(x));
  const Tensor isSmall = sum(abs(rest.value), {-2, -1}, true) <= rest.size * 1e-8;
  const Tensor values = eigvals(where(found.isFound & isSmall, rest.loop, constant.identity()));
  const Tensor isSolved = all(isDiscrete ? abs(values) < 1 : real(values) < 0);
  if (isDiscrete)
    assert_true(isSolved, "solve_discrete_are: there is no solution that stabilises, or too few digits to find it");
  else
    assert_true(isSolved, "solve_continuous_are: there is no solution that stabilises, or too few digits to find it");
  return cast(x, dtype);
}

// Operands of one element type.
std::vector<Tensor> riccatiOperands(std::initializer_list<const Operand *> operands) {
  return detail::adoptNumbers(schema::OpId::Sylvester, std::span(operands.begin(), operands.size()));
}

} // namespace

Tensor solve_continuous_are(const Operand &a, const Operand &b, const Operand &q, const Operand &r,
                            RiccatiOptions options) {
  MatrixCall call(a, "solve_continuous_are");
  return solveRiccati(call, riccatiOperands({&a, &b, &q, &r}), options, false);
}

Tensor solve_discrete_are(const Operand &a, const Operand &b, const Operand &q, const Operand &r,
                          RiccatiOptions options) {
  MatrixCall call(a, "solve_discrete_are");
  return solveRiccati(call, riccatiOperands({&a, &b, &q, &r}), options, true);
}

} // namespace calque::linalg
