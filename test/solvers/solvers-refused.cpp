// Must not compile, each for a reason of its own: a right-hand side that returns another type than the state, a
// function that is integrated and returns a number, and a sparse Jacobian by a structure.
#include "calque/solvers/ode.h"
#include "calque/solvers/quadrature.h"
#include "calque/sparse.h"

using namespace calque;

#define CASE_derivative_is_pair 1
#define CASE_integrand_is_number 2
#define CASE_jacobian_is_by_vector 3
#define SELECT(name) CASE_##name
#define SELECTED(name) SELECT(name)

void call([[maybe_unused]] const Tensor &x) {
#if SELECTED(ARGUMENT) == CASE_derivative_is_pair
  solvers::odeint([](const Tensor &, const Tensor &y) { return std::pair(y, y); }, x, x);
#elif SELECTED(ARGUMENT) == CASE_integrand_is_number
  solvers::quad([](const Tensor &) { return 1.0; }, 0, 1);
#elif SELECTED(ARGUMENT) == CASE_jacobian_is_by_vector
  jacobian([](const std::pair<Tensor, Tensor> &p) { return p.first; }, {.sparsity = sparse::detect})(std::pair(x, x));
#endif
}
