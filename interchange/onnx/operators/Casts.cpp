// Conversions of element types.
#include "onnx/Support.h"

namespace calque::onnx {

namespace {

Results castTo(const Call &call, DType dtype) {
  // They are of floats with 8 bits and less, which Calque does not have.
  call.ignore({"saturate", "round_mode"});
  const Value &x = call.value(0);
  if (x.hasElements() && (dtype == DType::Int64 || dtype == DType::Int32))
    return Value::ofElements(*x.elements(), x.rank() == 0, dtype, cast(x.tensor(), dtype));
  return pointwise(call, [&](const Tensor &each) { return cast(each, dtype); });
}

constexpr Operator kTable[] = {
    {"Cast", {6, 9, 13, 19, 21, 23, 24, 25}, 1, 1, 0, [](const Call &call) { return castTo(call, call.type("to")); }},
    {"CastLike",
     {15, 19, 21, 23, 24, 25},
     2,
     2,
     0,
     [](const Call &call) { return castTo(call, call.value(1).dtype()); }},
};

} // namespace

Table castOperators() { return kTable; }

} // namespace calque::onnx
