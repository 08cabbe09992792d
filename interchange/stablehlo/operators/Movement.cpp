// Operations that move, repeat and leave out elements, and constants.
#include "stablehlo/Support.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

// In a body that is applied to many elements, a scalar stays what it is.
bool staysScalar(const Call &call) {
  if (!call.isLifted())
    return false;
  if (!call.type().dims.empty())
    call.refuse("it makes a tensor in a body of scalars that is applied to many elements at once");
  return true;
}

Results constant(const Call &call) {
  const Attribute &value = call.attribute("value");
  if (value.kind != Attribute::Kind::Elements)
    call.refuse("attribute 'value' is expected to have elements");
  const Dense &dense = *value.dense;
  if (dense.isSplat && !dense.type.dims.empty())
    return broadcast_to(dense.elements, dense.type.shape());
  return dense.elements;
}

Results broadcastInDim(const Call &call) {
  if (staysScalar(call))
    return call.value(0);
  const Shape shape = call.shape();
  const Tensor x =
      placed(call, call.tensor(0), call.integers("broadcast_dimensions"), static_cast<std::int64_t>(shape.size()));
  return broadcast_to(x, shape);
}

Results dynamicBroadcastInDim(const Call &call) {
  const Shape shape = call.sizes(1);
  const Tensor x =
      placed(call, call.tensor(0), call.integers("broadcast_dimensions"), static_cast<std::int64_t>(shape.size()));
  return broadcast_to(x, shape);
}

Results reshaped(const Call &call) {
  if (staysScalar(call))
    return call.value(0);
  const Value &given = call.value(0);
  const Type &type = call.type();
  // A size stays one: tensor<i32> to tensor<1xi32> and back.
  if (given.hasElements() && type.dims.size() <= 1)
    return Value::ofElements(*given.elements(), type.dims.empty(), given.dtype(),
                             reshape(given.tensor(), type.shape()));
  return reshape(call.tensor(0), call.shape());
}

// Sizes of which one at most may be computed by the call.
Results dynamicReshape(const Call &call) {
  const auto elements = call.value(1).elements();
  if (!elements)
    return reshape(call.tensor(0), call.sizes(1));
  Shape shape;
  int computed = 0;
  for (const std::optional<Size> &each : *elements) {
    computed += !each;
    shape.push_back(each ? *each : Size(-1));
  }
  if (computed > 1)
    call.refuse("two sizes are computed from sizes that only the call knows");
  return reshape(call.tensor(0), shape);
}

Results transposed(const Call &call) {
  const Numbers order = call.integers("permutation");
  call.requireCount(order, call.rank(0), "the permutation");
  call.requireAxes(order, call.rank(0), "the permutation's numbers");
  return transpose(call.tensor(0), order);
}

Results sliced(const Call &call) {
  const Value &given = call.value(0);
  const Numbers starts = call.integers("start_indices"), limits = call.integers("limit_indices");
  const std::int64_t rank = given.rank();
  const Numbers steps = call.integers("strides", Numbers(static_cast<std::size_t>(rank), 1));
  for (const Numbers *each : {&starts, &limits, &steps})
    call.requireCount(*each, rank, "a list of a slice");
  if (given.hasElements() && rank == 1) {
    const auto all = *given.elements();
    Value::Elements part;
    if (starts[0] < 0 || steps[0] < 1 || limits[0] > static_cast<std::int64_t>(all.size()))
      call.refuse("a slice is outside of the " + std::to_string(all.size()) + " elements");
    for (std::int64_t i = starts[0]; i < limits[0]; i += steps[0])
      part.push_back(all[static_cast<std::size_t>(i)]);
    return Value::ofElements(part, false, given.dtype(), slice(given.tensor(), starts, limits, steps));
  }
  return sliceOf(call.tensor(0), starts, limits, steps);
}

Results realDynamicSlice(const Call &call) {
  const Numbers starts = call.known(1), limits = call.known(2), steps = call.known(3);
  for (const Numbers *each : {&starts, &limits, &steps})
    call.requireCount(*each, call.rank(0), "a list of a slice");
  return sliceOf(call.tensor(0), starts, limits, steps);
}

// Starts are scalars, one for each dimension.
std::vector<Operand> starts(const Call &call, std::size_t from) {
  std::vector<Operand> all;
  for (const Tensor &each : call.tensors(from)) {
    if (each.rank() != 0)
      call.refuse("a start has rank " + std::to_string(each.rank()) + ", expected a scalar");
    all.emplace_back(is_unsigned(each.dtype()) || each.dtype() == DType::Int32 ? cast(each, DType::Int64) : each);
  }
  return all;
}
Results dynamicSlice(const Call &call) {
  return dynamic_slice(call.tensor(0), starts(call, 1), call.integers("slice_sizes"));
}
Results dynamicUpdateSlice(const Call &call) {
  return dynamic_update_slice(call.tensor(0), call.tensor(1), starts(call, 2));
}

Results concatenated(const Call &call) {
  const std::int64_t axis = call.axis(call.integer("dimension"), call.rank(0));
  bool hasElements = false;
  for (std::size_t i = 0; i < call.size(); ++i)
    hasElements = hasElements || call.value(i).hasElements();
  if (hasElements && call.rank(0) == 1) {
    Value::Elements all;
    bool isKnown = true;
    for (std::size_t i = 0; i < call.size(); ++i) {
      const auto part = call.value(i).elements();
      const Size count = call.value(i).shape()[0];
      isKnown = isKnown && (part || count.is_known());
      if (part)
        all.insert(all.end(), part->begin(), part->end());
      else if (count.is_known()) // what is computed from sizes
        all.resize(all.size() + static_cast<std::size_t>(std::int64_t(count)));
    }
    if (isKnown)
      return Value::ofElements(all, false, call.value(0).dtype(), concat(call.tensors(), 0));
  }
  return call.size() == 1 ? call.tensor(0) : concat(call.tensors(), axis);
}

Results padded(const Call &call) {
  return padOf(call, call.tensor(0), call.tensor(1), call.integers("edge_padding_low"),
               call.integers("edge_padding_high"), call.integers("interior_padding"));
}
Results dynamicPad(const Call &call) {
  return padOf(call, call.tensor(0), call.tensor(1), call.known(2), call.known(3), call.known(4));
}

Results reversed(const Call &call) {
  const Numbers axes = call.integers("dimensions");
  call.requireAxes(axes, call.rank(0), "its dimensions");
  return axes.empty() ? call.tensor(0) : reverse(call.tensor(0), axes);
}

Tensor counted(const Call &call, const Shape &shape) {
  const std::int64_t axis = call.axis(call.integer("iota_dimension"), static_cast<std::int64_t>(shape.size()));
  const DType dtype = call.dtype();
  if (is_complex(dtype) || is_half(dtype))
    return cast(iota(shape, DType::Int32, axis), dtype);
  return iota(shape, dtype, axis);
}
Results counts(const Call &call) { return counted(call, call.shape()); }
Results dynamicCounts(const Call &call) { return counted(call, call.sizes(0)); }

Results bitcasted(const Call &call) {
  const Tensor x = call.tensor(0);
  if (call.isLifted() && size_of(x.dtype()) != size_of(call.dtype()))
    call.refuse("it changes the width of elements in a body of scalars that is applied to many elements at once");
  // A truth value is one bit, and takes a byte here.
  if (call.dtype() == DType::Bool && x.dtype() != DType::Bool) {
    const Tensor plain = bitcast(x, DType::UInt8);
    const Tensor bits = bitwise_and(right_shift(expand_dims(plain, {plain.rank()}), iota({8}, DType::UInt8)), 1);
    return reshape(not_equal(bits, 0), call.shape());
  }
  if (x.dtype() == DType::Bool && call.dtype() != DType::Bool) {
    const Tensor words = left_shift(cast(reshape(x, {-1, 8}), DType::UInt8), iota({8}, DType::UInt8));
    Shape bytes = call.shape();
    if (size_of(call.dtype()) != 1)
      bytes.push_back(Size(size_of(call.dtype())));
    return bitcast(reshape(cast(sum(words, 1), DType::UInt8), bytes), call.dtype());
  }
  return bitcast(x, call.dtype());
}

Results broadcastOf(const Call &call) {
  const Numbers sizes = call.integers("broadcast_sizes");
  const Tensor x = call.tensor(0);
  Shape shape(sizes);
  for (const Size &each : x.shape())
    shape.push_back(each);
  return broadcast_to(x, shape);
}

constexpr Operator kTable[] = {
    {"chlo.constant", 0, 0, constant, Trait::Elementwise},
    {"stablehlo.bitcast_convert", 1, 1, bitcasted, Trait::Elementwise},
    {"stablehlo.broadcast", 1, 1, broadcastOf},
    {"stablehlo.broadcast_in_dim", 1, 1, broadcastInDim, Trait::Elementwise},
    {"stablehlo.concatenate", 1, kAnyNumber, concatenated},
    {"stablehlo.constant", 0, 0, constant, Trait::Elementwise},
    {"stablehlo.dynamic_broadcast_in_dim", 2, 2, dynamicBroadcastInDim},
    {"stablehlo.dynamic_iota", 1, 1, dynamicCounts},
    {"stablehlo.dynamic_pad", 5, 5, dynamicPad},
    {"stablehlo.dynamic_reshape", 2, 2, dynamicReshape},
    {"stablehlo.dynamic_slice", 1, kAnyNumber, dynamicSlice},
    {"stablehlo.dynamic_update_slice", 2, kAnyNumber, dynamicUpdateSlice},
    {"stablehlo.iota", 0, 0, counts},
    {"stablehlo.pad", 2, 2, padded},
    {"stablehlo.real_dynamic_slice", 4, 4, realDynamicSlice},
    {"stablehlo.reshape", 1, 1, reshaped, Trait::Elementwise},
    {"stablehlo.reverse", 1, 1, reversed},
    {"stablehlo.slice", 1, 1, sliced},
    {"stablehlo.transpose", 1, 1, transposed},
};

} // namespace

Table movementOperators() { return kTable; }

} // namespace calque::stablehlo
