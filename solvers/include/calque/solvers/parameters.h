// Parameters in structures, for solvers that take one tensor.
//
//   struct Line { Tensor slope, offset; };
//   Line start{zeros({}), zeros({})};
//   auto loss = [&](const Tensor &v) { Line l = solvers::unravel(start, v); return mean(square(l.slope * x + l.offset -
//   y)); }; Line best = solvers::unravel(start, solvers::lbfgs(loss, solvers::ravel(start)).x);
#ifndef CALQUE_SOLVERS_PARAMETERS_H
#define CALQUE_SOLVERS_PARAMETERS_H

#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/structure.h"

namespace calque::solvers {

namespace detail {
CALQUE_API Tensor ravelTensors(const std::vector<Tensor> &tensors, SourceLocation where);
CALQUE_API std::vector<Tensor> unravelTensors(const std::vector<Tensor> &like, const Tensor &vector,
                                              SourceLocation where);
} // namespace detail

// The elements of all tensors of a structure as one vector, in order. ValueError for a structure without tensors,
// DTypeError for tensors of different element types. Variables are not among the parameters: pass their values.
template <typename P> Tensor ravel(const P &parameters, SourceLocation where = SourceLocation::current()) {
  return detail::ravelTensors(calque::detail::tensorsIn(parameters), where);
}

// The structure `like` with the elements of a vector in place of its own. ShapeError for a vector of another size,
// DTypeError for another element type, and StateError for a structure of unknown sizes.
template <typename P> P unravel(const P &like, const Tensor &vector, SourceLocation where = SourceLocation::current()) {
  return calque::detail::withTensors(like, detail::unravelTensors(calque::detail::tensorsIn(like), vector, where));
}

} // namespace calque::solvers
#endif
