// The user's function as the solvers see it: from a vector to a vector, with its derivatives.
#ifndef CALQUE_SOLVERS_IMPLICIT_FUNCTION_H
#define CALQUE_SOLVERS_IMPLICIT_FUNCTION_H

#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/solvers/roots.h"
#include "linear/Vectors.h"

#include <string>

namespace calque::solvers::internal {

using Map = std::function<Tensor(const Tensor &)>;

// Throws with the user's line: that of the call into the library.
template <typename E> [[noreturn]] void fail(const std::string &message) { throw E(message, CallSite::resolve({})); }

// "float32[2,3]".
std::string describe(const Tensor &x);

// StateError for an empty callable, DTypeError for a point that is not float32 or float64, and StateError for a point
// of unknown sizes. `what` is the name of the public function, `which` that of the argument.
void requireFunction(const char *what, const char *which, bool isThere);
void requireFloat(const char *what, const char *which, const Tensor &x);
void requireKnownSizes(const char *what, const char *which, const Tensor &x);
// ValueError for a number that is not finite and above 0, and for one that is not finite or is negative.
void requirePositive(const char *what, const char *which, double value);
void requireNotNegative(const char *what, const char *which, double value);
void requireCount(const char *what, const char *which, std::int64_t value);

// Calls code of the user. Its operations have their own lines.
Tensor callUser(const Map &f, const Tensor &x);

// A function of a tensor of some shape, as one of a vector. The result is a vector, too.
class FlatFunction {
public:
  // `x` has the shape of the arguments.
  FlatFunction(const char *what, Map f, const Tensor &x);

  std::int64_t size() const { return size_; }
  const Shape &shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  Tensor flat(const Tensor &x) const { return reshape(x, {size_}); }
  Tensor shaped(const Tensor &x) const { return reshape(x, shape_); }

  // The result as the user's function gives it, and as a vector. DTypeError for a result of another element type.
  Tensor valueOf(const Tensor &vector) const;
  Tensor operator()(const Tensor &vector) const { return reshape(valueOf(vector), {-1}); }

private:
  const char *what_;
  Map f_;
  Shape shape_;
  std::int64_t size_ = 0;
  DType dtype_ = DType::Float32;
};

// The Jacobian of a function of vectors: [m, n], or its columns, [n, m]. Forward mode costs about n calls at once,
// reverse mode about m.
Tensor jacobianOf(const Map &f, const Tensor &x, std::int64_t m, Differentiation mode);
Tensor jacobianColumnsOf(const Map &f, const Tensor &x, std::int64_t m, Differentiation mode);

// A limit of iterations in a message: a number, or how it follows from sizes that are not known while tracing.
struct IterationLimit {
  IterationLimit(std::int64_t number) : text(std::to_string(number)) {}
  IterationLimit(std::string rule) : text(std::move(rule)) {}
  std::string text;
};

// How the result of an iteration that has not converged is refused.
struct Convergence {
  const char *what; // the name of the public function
  IterationLimit limit;
  const char *condition; // what does not hold, such as "the largest residual is above ftol"
  Tensor measure;        // the two numbers of the condition
  double tolerance;
  const char *advice;
};
// Returns `isDone`, without derivatives. AssertionError at the call with the numbers of the condition where an element
// is false, if convergence is required.
Tensor checkedConvergence(const Tensor &isDone, bool isRequired, const Convergence &convergence);

} // namespace calque::solvers::internal
#endif
