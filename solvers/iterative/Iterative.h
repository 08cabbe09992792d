// Krylov methods on vectors that are tensors of any shape.
#ifndef CALQUE_SOLVERS_ITERATIVE_ITERATIVE_H
#define CALQUE_SOLVERS_ITERATIVE_ITERATIVE_H

#include "calque/solvers/linear.h"
#include "implicit/Implicit.h"

namespace calque::solvers::internal {

// What a method is given: products with A and with the approximate inverse, and when it ends.
struct System {
  Map product;
  Map preconditioner; // or empty
  Tensor b, x0;
  double rtol = 0;
  Tensor atol; // a scalar
  std::optional<std::int64_t> maxIterations;
  std::int64_t restart = 0;
};
struct Iterated {
  Tensor x, squares, iterations; // squares: of the residual as the method knows it
};

// The product of a linear function's transpose, by a derivative of the function.
Map transposedOf(const Map &product, const Tensor &like);
// The largest magnitude, or 0 of no elements.
inline Tensor largestOrZero(const Tensor &x) { return max(pad(reshape(abs(x), {-1}), {0}, {1}), AxisList()); }
inline Tensor normOf(const Tensor &x) { return sqrt(dot(x, x)); }

// The limit of iterations, a scalar.
Tensor limitOf(const System &s, std::int64_t perUnknown = 10);
// The square of the norm that a residual must not exceed.
Tensor goalOf(const System &s);

Iterated conjugateGradients(const System &s);
Iterated minimalResiduals(const System &s);
Iterated stabilisedBiconjugateGradients(const System &s);
Iterated generalisedMinimalResiduals(const System &s);

// The solution by a method and what is known of it. The right-hand side is scaled to elements of at most 1, so that no
// square overflows or vanishes.
LinearResult<Tensor> run(detail::LinearMethod method, System s);
// A^-1 b by the solver `forward`, as a constant function of b: its derivatives by b are those with the transposed
// solver. Each order of derivatives has a call of its own in the pullback of the one before.
Tensor appliedInverse(const Map &forward, const Map &transposed, const Tensor &b, int orders);
// The relative tolerance of derivatives' systems.
inline double toleranceOfDerivatives(double rtol) { return rtol > 0 ? rtol : 1e-5; }

} // namespace calque::solvers::internal
#endif
