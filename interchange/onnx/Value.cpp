#include "onnx/Value.h"

#include "calque/init_scope.h"

#include <limits>

namespace calque::onnx {

Tensor channelsLast(const Tensor &x) {
  std::vector<std::int64_t> order{0};
  for (std::int64_t i = 2; i < x.rank(); ++i)
    order.push_back(i);
  order.push_back(1);
  return transpose(x, order);
}
Tensor channelsSecond(const Tensor &x) {
  std::vector<std::int64_t> order{0, x.rank() - 1};
  for (std::int64_t i = 1; i < x.rank() - 1; ++i)
    order.push_back(i);
  return transpose(x, order);
}

Value Value::ofSequence(std::vector<Value> values) {
  Value value;
  value.sequence_ = std::make_shared<const std::vector<Value>>(std::move(values));
  return value;
}
Value Value::ofImages(Tensor channelsLast) {
  Value value;
  value.last_ = std::move(channelsLast);
  return value;
}
Value Value::ofElements(Elements elements, bool isScalar, DType dtype, Tensor computed) {
  std::vector<std::int64_t> numbers;
  for (const std::optional<Size> &each : elements)
    if (each && each->is_known())
      numbers.push_back(std::int64_t(*each));
  if (numbers.size() == elements.size()) {
    const Shape shape = isScalar ? Shape{} : Shape{Size(numbers.size())};
    if (dtype == DType::Int64)
      return tensor_from_bytes(DType::Int64, std::as_bytes(std::span(numbers)), shape);
    const std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
    return tensor_from_bytes(DType::Int32, std::as_bytes(std::span(narrow)), shape);
  }
  Value value;
  value.tensor_ = std::move(computed);
  value.elements_ = std::move(elements);
  value.isScalar_ = isScalar;
  value.elementType_ = dtype;
  return value;
}

Tensor Value::tensor() const {
  if (last_.defined())
    return channelsSecond(last_);
  // A value with some elements that only its tensor has, has that tensor, too.
  if (tensor_.defined() || !elements_)
    return tensor_;
  std::vector<Tensor> parts;
  for (const std::optional<Size> &each : *elements_)
    parts.push_back(cast(Operand(*each).toTensor(DType::Int64), elementType_));
  return isScalar_ ? parts[0] : stack(parts);
}
DType Value::dtype() const {
  return tensor_.defined() ? tensor_.dtype() : last_.defined() ? last_.dtype() : elementType_;
}
Shape Value::shape() const {
  if (tensor_.defined())
    return tensor_.shape();
  if (elements_)
    return isScalar_ ? Shape{} : Shape{Size(elements_->size())};
  const Shape last = last_.shape();
  Shape shape{last[0], last[last.size() - 1]};
  for (std::size_t i = 1; i + 1 < last.size(); ++i)
    shape.push_back(last[i]);
  return shape;
}
bool Value::isKnown() const { return tensor_.defined() ? tensor_.is_known() : last_.defined() && last_.is_known(); }

std::optional<Value::Elements> Value::elements() const {
  if (elements_)
    return elements_;
  if (!tensor_.defined() || tensor_.rank() > 1)
    return {};
  if (tensor_.dtype() != DType::Int64 && tensor_.dtype() != DType::Int32)
    return {};
  if (!tensor_.is_known())
    return {};
  Elements elements;
  for (std::int64_t each : hostIntegers(tensor_))
    elements.push_back(each == std::numeric_limits<std::int64_t>::min() ? std::nullopt : std::optional(Size(each)));
  return elements;
}

namespace {
template <typename To, typename From> std::vector<To> hostAs(const Tensor &x) {
  const From *first = x.data<From>();
  return std::vector<To>(first, first + std::int64_t(x.size()));
}
template <typename To> std::vector<To> host(const Tensor &x) {
  switch (x.dtype()) {
  case DType::Bool:
    return hostAs<To, bool>(x);
  case DType::Int8:
    return hostAs<To, std::int8_t>(x);
  case DType::Int16:
    return hostAs<To, std::int16_t>(x);
  case DType::Int32:
    return hostAs<To, std::int32_t>(x);
  case DType::Int64:
    return hostAs<To, std::int64_t>(x);
  case DType::UInt8:
    return hostAs<To, std::uint8_t>(x);
  case DType::UInt16:
    return hostAs<To, std::uint16_t>(x);
  case DType::UInt32:
    return hostAs<To, std::uint32_t>(x);
  case DType::UInt64:
    return hostAs<To, std::uint64_t>(x);
  case DType::Float32:
    return hostAs<To, float>(x);
  case DType::Float64:
    return hostAs<To, double>(x);
  default:
    break;
  }
  InitScope now; // halves are known tensors, and become floats at once
  return hostAs<To, float>(cast(x, DType::Float32));
}
} // namespace

std::vector<std::int64_t> hostIntegers(const Tensor &x) { return host<std::int64_t>(x); }
std::vector<double> hostNumbers(const Tensor &x) { return host<double>(x); }

} // namespace calque::onnx
