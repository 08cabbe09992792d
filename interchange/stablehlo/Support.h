// What several operations are made of.
#ifndef CALQUE_INTERCHANGE_STABLEHLO_SUPPORT_H
#define CALQUE_INTERCHANGE_STABLEHLO_SUPPORT_H

#include "stablehlo/Operators.h"

#include "calque/arrays.h"
#include "calque/functions.h"

#include <optional>

namespace calque::stablehlo {

using Numbers = std::vector<std::int64_t>;

// A tensor of integers, which is known while tracing.
Tensor ofIntegers(const Numbers &numbers, const Shape &shape);
inline Tensor ofIntegers(const Numbers &numbers) { return ofIntegers(numbers, Shape{Size(numbers.size())}); }
// A scalar of an element type.
Tensor scalarOf(double number, DType dtype);
// The number of a known scalar; nothing if it is not known.
std::optional<Number> numberOf(const Tensor &x);
inline Tensor as(const Tensor &x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

// The elements starts, starts + steps, ... below limits. The sizes of dimensions that are taken whole may be unknown.
Tensor sliceOf(const Tensor &x, const Numbers &starts, const Numbers &limits, const Numbers &steps);
// Adds, takes away and puts between elements of a value, as stablehlo.pad.
Tensor padOf(const Call &call, const Tensor &x, const Tensor &value, const Numbers &low, const Numbers &high,
             const Numbers &interior);
// The dimensions of x at these places of a result of a rank, and sizes of 1 elsewhere.
Tensor placed(const Call &call, const Tensor &x, Numbers dims, std::int64_t rank);

// Whether lhs is before rhs: of complex numbers by their real parts, then their imaginary parts, of floats also in the
// total order, in which -0 is below 0, and NaN is below and above all others by its sign.
Tensor isLess(const Tensor &lhs, const Tensor &rhs);
Tensor inTotalOrder(const Tensor &x);
// The bits of elements as another type of their width.
Tensor bitcast(const Tensor &x, DType dtype);
Tensor quotient(const Tensor &lhs, const Tensor &rhs);
Tensor larger(const Tensor &lhs, const Tensor &rhs);
Tensor smaller(const Tensor &lhs, const Tensor &rhs);

// The name of the only operation of a body, if it is applied to the body's two arguments in order, or in any order if
// it commutes. Empty for other bodies. "return" is a body that gives its second argument.
std::string bodyOf(const Region &region);
// The number that changes no other in a reduction by a body; nothing if there is none.
std::optional<double> neutral(const std::string &body, DType dtype);
// Whether a known scalar is that number.
bool isNeutral(const std::string &body, const Tensor &x);

// Combines the entries along the last axis by a body, neighbours first, in their order.
std::vector<Tensor> foldLast(const Call &call, const Region &body, std::vector<Tensor> xs);
// Writes updates [n, ...] at entries `places` [n] of x [m, ...], combined by a body with what is there, one after the
// other. Places outside are left out.
std::vector<Tensor> scatterBy(const Call &call, const Region &body, const std::vector<Tensor> &xs, const Tensor &places,
                              const std::vector<Tensor> &updates, std::int64_t entries);

// A function of Calque as an operation of one or two operands.
template <Tensor (*F)(const Operand &)> Results unary(const Call &call) { return F(call.tensor(0)); }
template <Tensor (*F)(const Operand &, const Operand &)> Results binary(const Call &call) {
  return F(call.tensor(0), call.tensor(1));
}

} // namespace calque::stablehlo
#endif
