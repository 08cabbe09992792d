// Initial values of weights.
//
//   Variable w = variable("w", glorot_uniform({784, 128}));
//   layers::Dense dense(128, {.kernel_initializer = he_normal});
//
// The random ones draw from the global generator, which set_seed() starts anew. The shape gives a unit's numbers of
// inputs and outputs: [in, out] of a matrix, [height, width, in, out] of a filter; a vector [n] has n of both.
#ifndef CALQUE_INITIALIZERS_H
#define CALQUE_INITIALIZERS_H

#include "calque/callable.h"
#include "calque/tensor.h"

#include <functional>

namespace calque {

// Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks, 2010: the variance is
// 2 / (in + out).
CALQUE_API Tensor glorot_uniform(const Shape &shape, DType dtype = DType::Float32,
                                 SourceLocation where = SourceLocation::current());
CALQUE_API Tensor glorot_normal(const Shape &shape, DType dtype = DType::Float32,
                                SourceLocation where = SourceLocation::current());
// He, Zhang, Ren, Sun: Delving deep into rectifiers, 2015: the variance is 2 / in. The normal one is not truncated.
CALQUE_API Tensor he_uniform(const Shape &shape, DType dtype = DType::Float32,
                             SourceLocation where = SourceLocation::current());
CALQUE_API Tensor he_normal(const Shape &shape, DType dtype = DType::Float32,
                            SourceLocation where = SourceLocation::current());

// An initialiser as an option of a layer: one of the above, zeros, ones, or a callable on a shape and an element type.
class CALQUE_API Initializer {
public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Initializer>)
  Initializer(F f, SourceLocation where = SourceLocation::current()) {
    detail::requireCallable(f, "initializer", where);
    if constexpr (std::is_invocable_v<F, const Shape &, DType, SourceLocation>)
      make_ = std::move(f);
    else
      make_ = [f = std::move(f)](const Shape &shape, DType dtype, SourceLocation) { return f(shape, dtype); };
  }
  Tensor operator()(const Shape &shape, DType dtype, SourceLocation where = SourceLocation::current()) const {
    return make_(shape, dtype, where);
  }

private:
  std::function<Tensor(const Shape &, DType, SourceLocation)> make_;
};

} // namespace calque
#endif
