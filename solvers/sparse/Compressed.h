// Jacobians and Hessians of a known pattern by products with few directions.
#ifndef CALQUE_SOLVERS_SPARSE_COMPRESSED_H
#define CALQUE_SOLVERS_SPARSE_COMPRESSED_H

#include "calque/sparse.h"
#include "implicit/Function.h"

#include <utility>
#include <vector>

namespace calque::sparse::internal {

struct Colouring {
  std::vector<std::int64_t> colourOf; // of each column
  std::int64_t count = 0;
};

// A pattern with the colours of its columns and of its rows. Those of the rows of a Hessian are not made.
struct Colours {
  Pattern pattern, turned;
  Colouring columns, rows;
};
Colours coloursOfJacobian(const Pattern &pattern);
// ValueError for a pattern that is not symmetric.
Colours coloursOfHessian(const char *what, const Pattern &pattern);

// The derivative of f at x. `what` is the name of the public function.
Csr compressedJacobian(const char *what, const solvers::internal::Map &f, const Colours &colours, const Tensor &x,
                       bool isChecked);
Csr compressedHessian(const char *what, const solvers::internal::Map &f, const Colours &colours, const Tensor &x,
                      bool isChecked);

// A function of x and of more tensors.
using Bound = std::function<Tensor(const Tensor &x, const std::vector<Tensor> &others)>;
// The pattern for all numbers in x and in the others, of which the types alone are read. StateError while a function is
// traced.
Pattern foundPattern(const char *what, bool isHessian, const Bound &f, const Tensor &x,
                     const std::vector<Tensor> &others);

} // namespace calque::sparse::internal
#endif
