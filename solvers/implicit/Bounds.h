// Bounds of parameters.
#ifndef CALQUE_SOLVERS_IMPLICIT_BOUNDS_H
#define CALQUE_SOLVERS_IMPLICIT_BOUNDS_H

#include "implicit/Function.h"

namespace calque::solvers::internal {

class Bounds {
public:
  // The bounds of a function's argument. ShapeError and DTypeError for bounds that do not broadcast to it;
  // AssertionError at the call for a lower bound above the upper one, and for NaN.
  Bounds(const char *what, const std::optional<Tensor> &lower, const std::optional<Tensor> &upper,
         const FlatFunction &f);

  bool isThere() const { return lower_.defined() || upper_.defined(); }
  // The nearest point within the bounds.
  Tensor project(Tensor x) const;
  // Which elements are free, bool: neither at a bound that the gradient pushes beyond, nor fixed. Undefined without
  // bounds.
  Tensor freeAt(const Tensor &x, const Tensor &gradient) const;
  // The gradient where elements are free, else 0; the gradient itself without bounds.
  Tensor whereFree(const Tensor &isFree, const Tensor &v) const { return isFree.defined() ? where(isFree, v, 0) : v; }
  // How far x moves along -gradient within the bounds. It is 0 at a minimum.
  Tensor projectedGradient(const Tensor &x, const Tensor &gradient) const {
    return isThere() ? x - project(x - gradient) : gradient;
  }

private:
  Tensor lower_, upper_; // vectors
};

} // namespace calque::solvers::internal
#endif
