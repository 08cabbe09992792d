// Numerical solvers on tensors: differential equations and integrals.
//
//   using namespace calque::solvers;
//   Tensor y = odeint([](const Tensor &, const Tensor &y) { return -y; }, y0, times).y;
#ifndef CALQUE_SOLVERS_H
#define CALQUE_SOLVERS_H

#include "calque/calque.h"
#include "calque/solvers/ode.h"
#include "calque/solvers/quadrature.h"
#include "calque/solvers/sde.h"

#endif
