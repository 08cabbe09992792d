#include "test/fuzz/Kernels.h"

namespace calque::fuzz {

ArrayRef arrayOf(const Data &data) {
  auto array = std::make_shared<Array>();
  array->type = data.type;
  for (Real value : data.values)
    array->elements.push_back({value, 0, 0});
  return array;
}

ArrayRef exampleOf(const ArrayRef &operand, std::optional<std::int64_t> axis, std::int64_t example) {
  if (!axis)
    return operand;
  Shape shape = operand->type.dims;
  std::int64_t at = normal(*axis, shape.size()), inner = stridesOf(shape)[at] * partsOf(operand->type.dtype),
               size = shape[at];
  auto result = std::make_shared<Array>();
  result->type = operand->type;
  result->type.dims.erase(result->type.dims.begin() + at);
  for (std::int64_t i = 0; i < countOf(result->type); ++i)
    result->elements.push_back(
        operand->elements[static_cast<std::size_t>(i / inner * inner * size + example * inner + i % inner)]);
  return result;
}

ArrayRef stackOf(const std::vector<ArrayRef> &examples, const TensorType &type, std::int64_t axis) {
  auto result = std::make_shared<Array>();
  result->type = type;
  std::int64_t at = normal(axis, type.dims.size()), inner = stridesOf(type.dims)[at] * partsOf(type.dtype),
               size = type.dims[at];
  for (std::int64_t i = 0; i < countOf(type); ++i)
    result->elements.push_back(examples[static_cast<std::size_t>(i / inner % size)]
                                   ->elements[static_cast<std::size_t>(i / (inner * size) * inner + i % inner)]);
  return result;
}

} // namespace calque::fuzz
