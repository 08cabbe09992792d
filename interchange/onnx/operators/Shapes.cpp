// Constants, shapes, and what gives a tensor another shape.
#include "onnx/Support.h"

#include "calque/init_scope.h"

#include <cmath>

namespace calque::onnx {

namespace {

Results constant(const Call &call) {
  if (call.hasAttribute("value"))
    return call.tensor("value");
  if (call.hasAttribute("sparse_value"))
    return call.sparse("sparse_value");
  if (call.hasAttribute("value_float"))
    return scalar(call.number("value_float", 0));
  if (call.hasAttribute("value_floats"))
    return ofNumbers(call.numbers("value_floats"), DType::Float32, Shape{Size(call.numbers("value_floats").size())});
  if (call.hasAttribute("value_int"))
    return ofIntegers({call.integer("value_int")}, {});
  if (call.hasAttribute("value_ints"))
    return ofIntegers(call.integers("value_ints"));
  if (call.hasAttribute("value_string") || call.hasAttribute("value_strings"))
    call.refuse("Calque does not have the element type STRING");
  call.refuse("a constant without a value");
}

Results constantOfShape(const Call &call) {
  const Shape shape = call.sizes(0);
  const Tensor value = call.hasAttribute("value") ? call.tensor("value") : scalar(0.0f);
  return broadcast_to(reshape(value, {}), shape);
}

Results shapeOf(const Call &call) {
  const Shape shape = call.value(0).shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  auto place = [&](const char *name, std::int64_t otherwise) {
    const std::int64_t given = call.integer(name, otherwise);
    return std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  Value::Elements sizes;
  for (std::int64_t i = place("start", 0), end = place("end", rank); i < end; ++i)
    sizes.emplace_back(shape[static_cast<std::size_t>(i)]);
  return Value::ofElements(sizes, false, DType::Int64);
}

Results sizeOf(const Call &call) {
  const Shape shape = call.value(0).shape();
  if (!shape.is_known())
    return calque::size(call.tensor(0));
  std::int64_t count = 1;
  for (const Size &each : shape)
    count *= each;
  return ofIntegers({count}, {});
}

Results eyeLike(const Call &call) {
  const Value &x = call.value(0);
  if (x.rank() != 2)
    call.refuse("its input has rank " + std::to_string(x.rank()) + ", expected 2");
  const Shape shape = x.shape();
  return eye(shape[0], shape[1], call.integer("k", 0), call.type("dtype", x.dtype()));
}

// The numbers as the specification says: start + i * delta for ceil((limit - start) / delta) of them.
Results rangeOf(const Call &call) {
  const DType dtype = call.value(0).dtype();
  const auto limit = call.value(1).elements();
  if (limit && limit->size() == 1 && (*limit)[0] && !(*limit)[0]->is_known() && call.integer(0) == 0 &&
      call.integer(2) == 1)
    return iota({*(*limit)[0]}, dtype, 0);
  if (is_floating(dtype)) {
    const double start = call.number(0), end = call.number(1), step = call.number(2);
    if (step == 0)
      call.refuse("the step is 0");
    const double count = std::max(0.0, std::ceil((end - start) / step));
    if (!(count < 1e15))
      call.refuse("a range of " + std::to_string(count) + " numbers");
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = start + static_cast<double>(i) * step;
    return ofNumbers(numbers, dtype, Shape{Size(numbers.size())});
  }
  const std::int64_t start = call.integer(0), end = call.integer(1), step = call.integer(2);
  if (step == 0)
    call.refuse("the step is 0");
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = start; step > 0 ? i < end : i > end; i += step)
    numbers.push_back(i);
  InitScope now;
  return back(ofIntegers(numbers), dtype);
}

Results reshaped(const Call &call) {
  const Value &x = call.value(0);
  Shape shape = call.sizes(1, true);
  const bool allowZero = call.flag("allowzero", false);
  const Shape given = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i].is_known() && shape[i] == 0 && !allowZero) {
      if (i >= given.size())
        call.refuse("size " + std::to_string(i) + " of the shape is 0, but the input has rank " +
                    std::to_string(given.size()));
      shape[i] = given[i];
    }
  if (x.hasElements() && shape.size() <= 1 && (shape.empty() || x.elements()->size() > 0))
    return Value::ofElements(*x.elements(), shape.empty(), x.dtype(), x.tensor());
  return reshape(call.tensor(0), shape);
}

Results flattened(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t rank = x.rank();
  std::int64_t axis = call.integer("axis", 1);
  axis = axis == rank ? rank : call.axis(axis, rank);
  const Shape shape = x.shape();
  // Of the two sizes one may follow from the other, unless there are no elements.
  Size rows = 1, columns = 1;
  auto multiply = [&](Size &all, std::int64_t from, std::int64_t to) {
    bool isKnown = true;
    for (std::int64_t i = from; i < to; ++i)
      isKnown = isKnown && shape[static_cast<std::size_t>(i)].is_known();
    if (!isKnown && to - from == 1) {
      all = shape[static_cast<std::size_t>(from)];
      return;
    }
    for (std::int64_t i = from; isKnown && i < to; ++i)
      all *= shape[static_cast<std::size_t>(i)];
    if (!isKnown)
      all = -1;
  };
  multiply(rows, 0, axis);
  multiply(columns, axis, rank);
  return reshape(x, {rows, columns});
}

// Axes were an attribute before version 13.
std::vector<std::int64_t> axesOf(const Call &call) {
  if (call.version() >= 13)
    return call.has(1) ? call.integers(1) : std::vector<std::int64_t>();
  if (call.size() > 1)
    call.refuse("axes are an attribute in operator set " + std::to_string(call.version()));
  return call.integers("axes");
}

Results squeezed(const Call &call) {
  const Value &x = call.value(0);
  const auto axes = axesOf(call);
  if (x.hasElements() && x.rank() == 1 && x.elements()->size() == 1)
    return Value::ofElements(*x.elements(), true, x.dtype(), squeeze(x.tensor(), axes));
  return squeeze(call.tensor(0), call.axes(axes, x.rank()));
}

Results unsqueezed(const Call &call) {
  const Value &x = call.value(0);
  const auto axes = axesOf(call);
  if (axes.empty())
    return x;
  if (x.hasElements() && x.rank() == 0 && axes.size() == 1)
    return Value::ofElements(*x.elements(), false, x.dtype(), expand_dims(x.tensor(), axes));
  return expand_dims(call.tensor(0), axes);
}

Results expanded(const Call &call) {
  const Tensor x = call.tensor(0);
  return broadcast_to(x, broadcastShape(x.shape(), call.sizes(1)));
}

Results identity(const Call &call) { return call.has(0) ? Results(call.value(0)) : Results(Value()); }

constexpr Operator kTable[] = {
    {"Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, 0, 0, 0, constant},
    {"ConstantOfShape", {9, 20, 21, 23, 24, 25}, 1, 1, 0b1, constantOfShape},
    {"Expand", {8, 13}, 2, 2, 0b10, expanded},
    {"EyeLike", {9, 22}, 1, 1, 0, eyeLike},
    {"Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, 1, 1, 0, flattened},
    {"Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, 1, 1, 0, identity},
    {"Range", {11}, 3, 3, 0b111, rangeOf},
    {"Reshape", {5, 13, 14, 19, 21, 23, 24, 25}, 2, 2, 0b10, reshaped},
    {"Shape", {1, 13, 15, 19, 21, 23, 24, 25}, 1, 1, 0, shapeOf},
    {"Size", {1, 13, 19, 21, 23, 24, 25}, 1, 1, 0, sizeOf},
    {"Squeeze", {1, 11, 13, 21, 23, 24, 25}, 1, 2, 0b10, squeezed},
    {"Unsqueeze", {1, 11, 13, 21, 23, 24, 25}, 1, 2, 0b10, unsqueezed},
};

} // namespace

Table shapeOperators() { return kTable; }

} // namespace calque::onnx
