// Integrals of functions of one variable.
//
//   using namespace calque::solvers;
//   auto bell = [&](const Tensor &x) { return exp(-width * x * x); };
//   Tensor i = quad(bell, scalar<double>(0), b).value;                  // to a tolerance, with its error
//   i = quad(bell, -kInfinity, kInfinity, {.dtype = DType::Float64}).value;
//   i = fixed_quad(bell, scalar<double>(0), b, {.order = 8});           // by 8 nodes
//   GaussRule rule = gauss_legendre(8, DType::Float64);                 // the nodes and weights themselves
//   Tensor area = trapezoid(samples, {.dx = 0.1});                      // of samples
//
// A function takes a scalar and returns a tensor of any shape, whose elements are all integrated. It is evaluated at
// all nodes of a rule at once, by vmap. It may capture tensors and variables, and gradients pass to them.
#ifndef CALQUE_SOLVERS_QUADRATURE_H
#define CALQUE_SOLVERS_QUADRATURE_H

#include "calque/call_site.h"
#include "calque/callable.h"
#include "calque/functions.h"
#include "calque/solvers/values.h"

#include <functional>
#include <limits>

namespace calque::solvers {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct GaussRule {
  Tensor nodes, weights; // [n], within [-1, 1], in ascending order
};
// The nodes and weights of Gauss-Legendre quadrature, which integrates polynomials up to degree 2n - 1. They are
// computed in long double by Newton's method. ValueError unless n is from 1 to 1000, DTypeError for a type that is no
// float.
CALQUE_API GaussRule gauss_legendre(std::int64_t n, DType dtype = default_dtype(),
                                    SourceLocation where = SourceLocation::current());

struct FixedQuadOptions {
  std::int64_t order = 5;        // the number of nodes, of each panel
  std::int64_t panels = 1;       // parts of equal length
  DType dtype = default_dtype(); // of the nodes, if both limits are numbers
};

enum class QuadRule { GaussKronrod15, GaussKronrod21 };
enum class OnQuadFailure {
  Throw,  // AssertionError, at the call
  Report, // `converged` is false, and `error` tells how good the value is
};
struct QuadOptions {
  // The intervals are halved until the estimated error is at most max(atol, rtol |value|); of several elements, the
  // largest error and the largest value count. Left out, they are 1e-8 and 1e-10 in float64, and 1e-4 and 1e-6 in
  // float32.
  OptionalValue rtol = {}, atol = {};
  QuadRule rule = QuadRule::GaussKronrod21;
  std::int64_t max_intervals = 32;
  OnQuadFailure on_failure = OnQuadFailure::Throw;
  DType dtype = default_dtype(); // of the nodes, if both limits are numbers
};
struct QuadResult {
  Tensor value;
  Tensor error;     // an estimate, a scalar
  Tensor intervals; // int64 scalar. There were 2 intervals - 1 evaluations of the rule
  Tensor converged; // bool scalar
};

namespace detail {
using QuadFunction = std::function<Tensor(const Tensor &x)>;
CALQUE_API Tensor integrateFixed(const QuadFunction &f, const Operand &a, const Operand &b,
                                 const FixedQuadOptions &options, SourceLocation where);
CALQUE_API QuadResult integrateAdaptively(const QuadFunction &f, const Operand &a, const Operand &b,
                                          const QuadOptions &options, SourceLocation where);

template <typename Result> struct CheckedIntegrand {
  static constexpr bool isTensor = std::is_same_v<Result, Tensor>;
  static_assert(isTensor, "the function that is integrated takes a scalar and returns a Tensor");
};
template <typename F> QuadFunction quadFunction(F &f, const SourceLocation &where) {
  return [&f, where](const Tensor &x) {
    auto y = calque::detail::callAt(where, f, x);
    if constexpr (CheckedIntegrand<decltype(y)>::isTensor)
      return y;
    else
      return x;
  };
}
} // namespace detail

// The integral of f from a to b by Gauss-Legendre quadrature. The limits are scalars of one float type, or numbers.
// Gradients by the limits are those of the rule. ValueError for an order or a number of panels below 1, and for
// infinite limits; ShapeError and DTypeError for limits that are no float scalars of one type.
template <typename F> Tensor fixed_quad(F &&f, const Operand &a, const Operand &b, FixedQuadOptions options = {}) {
  const SourceLocation where = CallSite::resolve(a.where());
  calque::detail::requireCallable(f, "fixed_quad", where);
  return detail::integrateFixed(detail::quadFunction(f, where), a, b, options, where);
}

// The integral of f from a to b to a tolerance, by Gauss-Kronrod quadrature: the interval with the largest error is
// halved until the sum of all errors is small. Error estimates are those of QUADPACK: Piessens et al., 1983. A limit
// that is a number may be infinite; then x = a + (1 - t) / t, as in QUADPACK. Nodes are never at a limit, where f may
// be singular.
//
// The gradients by limits that are tensors are f(b) and -f(a) (Leibniz), for which f is evaluated there. They are NaN
// where f is not finite.
//
// The errors are those of fixed_quad, and ValueError for options out of range. At the call AssertionError if
// max_intervals do not suffice or f is not finite at a node, and for limits that are tensors and not finite.
template <typename F> QuadResult quad(F &&f, const Operand &a, const Operand &b, QuadOptions options = {}) {
  const SourceLocation where = CallSite::resolve(a.where());
  calque::detail::requireCallable(f, "quad", where);
  return detail::integrateAdaptively(detail::quadFunction(f, where), a, b, options, where);
}

struct SampleOptions {
  OptionalValue dx = {}; // the distance of samples; left out, 1
  OptionalValue x = {};  // or their places, [n]: for trapezoid alone
  std::int64_t axis = -1;
};
// The integral of samples along an axis by the trapezoidal rule, and by Simpson's. An even number of samples has its
// last interval integrated by the parabola through the last three, as in Cartwright: Simpson's rule cumulative
// integration, 2017. ShapeError for fewer than two samples, three for Simpson's rule, or of unknown number; for x of
// another shape; DTypeError for samples that are no floats. ValueError for both dx and x, for x of `simpson`, and for
// an axis that y lacks.
CALQUE_API Tensor trapezoid(const Operand &y, SampleOptions options = {});
CALQUE_API Tensor simpson(const Operand &y, SampleOptions options = {});

} // namespace calque::solvers
#endif
