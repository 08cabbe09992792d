// Numerical solvers on tensors: differential equations, integrals, linear systems, roots, least squares and
// minima.
//
//   using namespace calque::solvers;
//   Tensor y = odeint([](const Tensor &, const Tensor &y) { return -y; }, y0, times).y;
#ifndef CALQUE_SOLVERS_H
#define CALQUE_SOLVERS_H

#include "calque/calque.h"
#include "calque/solvers/eigenpairs.h"
#include "calque/solvers/least_squares.h"
#include "calque/solvers/linear.h"
#include "calque/solvers/minimize.h"
#include "calque/solvers/ode.h"
#include "calque/solvers/parameters.h"
#include "calque/solvers/quadrature.h"
#include "calque/solvers/roots.h"
#include "calque/solvers/sde.h"

#endif
