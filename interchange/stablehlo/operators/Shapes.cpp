// Sizes, tuples, and operations that give their operands.
#include "stablehlo/Support.h"

namespace calque::stablehlo {

namespace {

Results dimensionSize(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("dimension"), x.rank());
  const Size size = x.shape()[static_cast<std::size_t>(axis)];
  if (size.is_known())
    return as(ofIntegers({std::int64_t(size)}, {}), DType::Int32);
  return Value::ofElements({size}, true, DType::Int32, cast(calque::size(x, axis), DType::Int32));
}

Results setDimensionSize(const Call &call) {
  const Tensor x = call.tensor(0);
  const auto axis = static_cast<std::size_t>(call.axis(call.integer("dimension"), x.rank()));
  const Numbers size = call.known(1);
  const Shape shape = x.shape();
  if (size.size() != 1 || !shape[axis].is_known() || size[0] != shape[axis])
    call.refuse("a size that is set to another one than the tensor has");
  return x;
}

Results tupled(const Call &call) {
  std::vector<Value> all;
  for (std::size_t i = 0; i < call.size(); ++i)
    all.push_back(call.value(i));
  return Value::ofSequence(std::move(all));
}
Results element(const Call &call) {
  const Value &tuple = call.value(0);
  const std::int64_t index = call.integer("index");
  if (!tuple.isSequence())
    call.refuse("its operand is no tuple");
  if (index < 0 || index >= static_cast<std::int64_t>(tuple.sequence().size()))
    call.refuse("element " + std::to_string(index) + " of a tuple of " + std::to_string(tuple.sequence().size()));
  return tuple.sequence()[static_cast<std::size_t>(index)];
}

Results same(const Call &call) {
  Results all;
  for (std::size_t i = 0; i < call.size(); ++i)
    all.push_back(call.value(i));
  return all;
}
// A token orders effects. Those of operations here are in the order of the text.
Results token(const Call &) { return Value(); }

// A module runs as one replica of one partition.
Results first(const Call &call) { return zeros(call.shape(), call.dtype()); }

constexpr Operator kTable[] = {
    {"sdy.sharding_constraint", 1, 1, same, Trait::Elementwise},
    {"stablehlo.after_all", 0, kAnyNumber, token},
    {"stablehlo.create_token", 0, 0, token},
    {"stablehlo.get_dimension_size", 1, 1, dimensionSize},
    {"stablehlo.get_tuple_element", 1, 1, element},
    {"stablehlo.optimization_barrier", 0, kAnyNumber, same},
    {"stablehlo.partition_id", 0, 0, first},
    {"stablehlo.replica_id", 0, 0, first},
    {"stablehlo.set_dimension_size", 2, 2, setDimensionSize},
    {"stablehlo.tuple", 0, kAnyNumber, tupled},
};

} // namespace

Table shapeOperators() { return kTable; }

} // namespace calque::stablehlo
