// Operators of ai.onnx.ml on numbers.
#include "onnx/Support.h"

namespace calque::onnx {

namespace {

Results binarizer(const Call &call) {
  const Tensor x = call.tensor(0);
  return cast(x > scalarOf(call.number("threshold", 0), x.dtype()), x.dtype());
}

// Each key becomes its value; what is no key becomes a default.
Results labelEncoder(const Call &call) {
  auto list = [&](const std::string &what) -> Tensor {
    if (call.hasAttribute(what + "_tensor"))
      return call.tensor(std::string_view(what + "_tensor"));
    if (call.hasAttribute(what + "_int64s"))
      return ofIntegers(call.integers(std::string_view(what + "_int64s")));
    if (call.hasAttribute(what + "_floats")) {
      const std::vector<double> numbers = call.numbers(std::string_view(what + "_floats"));
      return ofNumbers(numbers, DType::Float32, Shape{Size(numbers.size())});
    }
    call.refuse("its " + what + " are strings, which Calque does not have");
  };
  const Tensor x = call.tensor(0), keys = list("keys"), values = list("values");
  call.ignore({"default_string"});
  const Tensor otherwise = call.hasAttribute("default_tensor") ? reshape(call.tensor("default_tensor"), {})
                           : values.dtype() == DType::Float32
                               ? scalarOf(call.number("default_float", 0), DType::Float32)
                               : ofIntegers({call.integer("default_int64", -1)}, {});
  const std::int64_t count = keys.shape()[0];
  if (count == 0)
    return broadcast_to(otherwise, x.shape());
  // Of equal keys the last one counts. NaN is a key like others.
  Tensor same = expand_dims(x, {-1}) == keys;
  if (is_floating(x.dtype()))
    same = logical_or(same, logical_and(isnan(expand_dims(x, {-1})), isnan(keys)));
  const Tensor place =
      calque::max(Operand(where(same, iota({count}, DType::Int64, 0), ofIntegers({-1}, {}))), AxisList({-1}));
  return where(place < 0, otherwise, gather(values, maximum(place, 0)));
}

constexpr Operator kTable[] = {
    {"Binarizer", {1}, 1, 1, 0, binarizer, {}, "ai.onnx.ml"},
    {"LabelEncoder", {2, 4}, 1, 1, 0, labelEncoder, {}, "ai.onnx.ml"},
};

} // namespace

Table classicalOperators() { return kTable; }

} // namespace calque::onnx
