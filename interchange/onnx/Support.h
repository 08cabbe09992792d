// What several families of operators compute with.
#ifndef CALQUE_INTERCHANGE_ONNX_SUPPORT_H
#define CALQUE_INTERCHANGE_ONNX_SUPPORT_H

#include "onnx/Operators.h"

#include "calque/arrays.h"
#include "calque/functions.h"

#include <algorithm>

namespace calque::onnx {

// Entries start, start + step, ... before end along an axis, whose size may be unknown if the other axes' are. start
// and end are inside, and step is positive.
Tensor sliceAlong(const Tensor &x, std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step = 1);
// Entries at places that are known, along an axis.
Tensor pick(const Tensor &x, const std::vector<std::int64_t> &places, std::int64_t axis);

// Known numbers as a tensor of an element type, made at once.
Tensor ofNumbers(const std::vector<double> &numbers, DType dtype, const Shape &shape);
Tensor ofIntegers(const std::vector<std::int64_t> &numbers, const Shape &shape);
inline Tensor ofIntegers(const std::vector<std::int64_t> &numbers) {
  return ofIntegers(numbers, Shape{Size(numbers.size())});
}
// A scalar of an element type, rounded to the nearest.
Tensor scalarOf(double number, DType dtype);

// x as a tensor of at least `rank` dimensions, with sizes of 1 in front.
Tensor atLeast(const Tensor &x, std::int64_t rank);
// A vector of the channels of [N,C,...], so that it broadcasts to images of a rank.
Tensor perChannel(const Tensor &x, std::int64_t rank);
// The shape to which two shapes broadcast. An unknown size meets only a known 1 or itself.
Shape broadcastShape(const Shape &a, const Shape &b);
// x as float32 if it is a half, for operators that say they compute so. `back` gives the type again.
inline Tensor widened(const Tensor &x) { return is_half(x.dtype()) ? cast(x, DType::Float32) : x; }
inline Tensor back(const Tensor &x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }
// Sums and products of narrow integers in their own type, as ONNX has them.
Tensor sumOf(const Tensor &x, const AxisList &axes, bool keepdims = false);

// A function of Calque as an operator of one or two inputs.
template <Tensor (*F)(const Operand &)> Results unary(const Call &call) {
  const Value &x = call.value(0);
  return x.isImages() ? Value::ofImages(F(x.images())) : Value(F(call.tensor(0)));
}
template <Tensor (*F)(const Operand &, const Operand &)> Results binary(const Call &call) {
  return F(call.tensor(0), call.tensor(1));
}
// The same for what is written in terms of the input. The channels of images stay last.
template <typename F> Results pointwise(const Call &call, const F &f) {
  const Value &x = call.value(0);
  return x.isImages() ? Value::ofImages(f(x.images())) : Value(f(call.tensor(0)));
}

} // namespace calque::onnx
#endif
