// Operators of ai.onnx.ml on numbers.
#include "onnx/Support.h"

#include "calque/linalg.h"

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

// A list of an attribute as float32, for the columns of a table.
Tensor listOf(const Call &call, std::string_view name) {
  const std::vector<double> numbers = call.numbers(name);
  return ofNumbers(numbers, DType::Float32, Shape{Size(numbers.size())});
}

// (x - offset) * scale, where each is one number or one for each column.
Results scaled(const Call &call) {
  Tensor x = back(call.tensor(0), DType::Float32);
  if (call.hasAttribute("offset"))
    x = x - listOf(call, "offset");
  if (call.hasAttribute("scale"))
    x = x * listOf(call, "scale");
  return x;
}

// Rows divided by their largest element, the sum of their magnitudes or their length; a row of zeros stays.
Results normalizedRows(const Call &call) {
  const Tensor x = back(call.tensor(0), DType::Float32);
  const std::string norm = call.text("norm", "MAX");
  const AxisList last({-1});
  Tensor size;
  if (norm == "MAX")
    size = calque::max(Operand(x), last, true);
  else if (norm == "L1")
    size = sum(abs(x), last, true);
  else if (norm == "L2")
    size = sqrt(sum(square(x), last, true));
  else
    call.refuse("attribute 'norm' is '" + norm + "', expected 'MAX', 'L1' or 'L2'");
  return x / where(size == 0, scalarOf(1, DType::Float32), size);
}

Results linearRegression(const Call &call) {
  const std::string transform = call.text("post_transform", "NONE");
  if (transform != "NONE")
    call.refuse("attribute 'post_transform' is '" + transform + "', expected 'NONE'");
  const Tensor x = back(call.tensor(0), DType::Float32);
  const std::int64_t targets = call.integer("targets", 1);
  const Tensor weights = listOf(call, "coefficients");
  if (targets < 1 || std::int64_t(weights.shape()[0]) % targets)
    call.refuse("attribute 'targets' is " + std::to_string(targets) + ", and there are " +
                std::to_string(std::int64_t(weights.shape()[0])) + " coefficients");
  const Tensor y = matmul(x, reshape(weights, {targets, -1}), {.transpose_b = true});
  return call.hasAttribute("intercepts") ? y + listOf(call, "intercepts") : y;
}

constexpr Operator kTable[] = {
    {"Binarizer", {1}, 1, 1, 0, binarizer, {}, "ai.onnx.ml"},
    {"LabelEncoder", {2, 4}, 1, 1, 0, labelEncoder, {}, "ai.onnx.ml"},
    {"LinearRegressor", {1}, 1, 1, 0, linearRegression, {}, "ai.onnx.ml"},
    {"Normalizer", {1}, 1, 1, 0, normalizedRows, {}, "ai.onnx.ml"},
    {"Scaler", {1}, 1, 1, 0, scaled, {}, "ai.onnx.ml"},
};

} // namespace

Table classicalOperators() { return kTable; }

} // namespace calque::onnx
