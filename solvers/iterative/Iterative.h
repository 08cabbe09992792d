// Krylov methods on vectors that are tensors of any shape.
#ifndef CALQUE_SOLVERS_ITERATIVE_ITERATIVE_H
#define CALQUE_SOLVERS_ITERATIVE_ITERATIVE_H

#include "calque/arrays.h"
#include "calque/solvers/linear.h"
#include "implicit/Implicit.h"
#include "linear/Scale.h"

namespace calque::solvers::internal {

// What a method is given: products with A and with the approximate inverse, and when it ends.
struct System {
  Map product;
  Map preconditioner; // or empty
  Tensor b, x0;       // x0: or undefined for 0
  double rtol = 0;
  Tensor atol; // a scalar
  std::optional<std::int64_t> maxIterations;
  std::int64_t restart = 0;
  bool mayHaveConstant = false; // a product of the user's, which is tested for its value at 0
  // Of the powers of two by which the products are scaled; measured where they are undefined.
  Tensor exponent, preconditionerExponent;
};
struct Iterated {
  Tensor x, squares, iterations; // squares: of the residual as the method knows it
};

// The product of a linear function's transpose, by a derivative of the function.
Map transposedOf(const Map &product, const Tensor &like);
// The map divided by 2^exponent, or an empty map.
Map scaledMap(const Map &map, const Tensor &exponent, DType dtype);
// Numbers between -1 and 1 without a pattern, whose products with a matrix show its magnitude.
Tensor scatteredNumbers(const Shape &shape, DType dtype);
// The norm, whose squares neither overflow nor vanish.
Tensor normOf(const Tensor &x);

// The limit of iterations, a scalar.
Tensor limitOf(const System &s, std::int64_t perUnknown = 10);
// The norm that a residual must not exceed.
Tensor toleranceOf(const System &s);
// Where an iteration begins: x and b - A x.
struct Start {
  Tensor x, residual;
};
Start startOf(const System &s);

Iterated conjugateGradients(const System &s);
Iterated minimalResiduals(const System &s);
Iterated stabilisedBiconjugateGradients(const System &s);
Iterated generalisedMinimalResiduals(const System &s);

// Measures the products of a system.
void measure(System &s);
// The solution by a method and what is known of it. The right-hand side, the products and the preconditioner are scaled
// to elements near to 1, so that no square overflows or vanishes. The residual is that of the system as it is given.
LinearResult<Tensor> run(detail::LinearMethod method, const System &given);
// A^-1 b by the solver `forward`, as a constant function of b: its derivatives by b are those with the transposed
// solver. Each order of derivatives has a call of its own in the pullback of the one before.
Tensor appliedInverse(const Map &forward, const Map &transposed, const Tensor &b, int orders = kInverseOrders);
// The relative tolerance of derivatives' systems.
inline double toleranceOfDerivatives(double rtol) { return rtol > 0 ? rtol : 1e-5; }

} // namespace calque::solvers::internal
#endif
