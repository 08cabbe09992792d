// Reductions by any body.
#include "stablehlo/Support.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

Tensor reducedBy(const std::string &body, const Tensor &x, const Numbers &axes) {
  const DType dtype = x.dtype();
  if (body == "add")
    return as(dtype == DType::Bool ? any(x, axes) : sum(x, axes), dtype);
  if (body == "multiply")
    return as(dtype == DType::Bool ? all(x, axes) : prod(x, axes), dtype);
  if (body == "maximum" || body == "or")
    return dtype == DType::Bool ? any(x, axes) : max(x, axes);
  return dtype == DType::Bool ? all(x, axes) : min(x, axes);
}

// Whether Calque has a reduction of that body.
bool isReduction(const std::string &body, DType dtype) {
  if (body == "add")
    return true;
  if (body == "multiply")
    return !is_complex(dtype);
  if (body == "maximum" || body == "minimum")
    return !is_complex(dtype);
  return (body == "and" || body == "or") && dtype == DType::Bool;
}

Tensor combined(const std::string &body, const Tensor &x, const Tensor &y) {
  const bool isBool = x.dtype() == DType::Bool;
  if (body == "add")
    return isBool ? logical_or(x, y) : add(x, y);
  if (body == "multiply")
    return isBool ? logical_and(x, y) : mul(x, y);
  if (body == "maximum")
    return larger(x, y);
  if (body == "minimum")
    return smaller(x, y);
  return body == "or" ? logical_or(x, y) : logical_and(x, y);
}

Results reduction(const Call &call) {
  const std::size_t count = call.size() / 2;
  if (call.size() % 2 != 0)
    call.refuse(std::to_string(call.size()) + " operands, expected pairs");
  const Numbers axes = call.integers("dimensions");
  const std::vector<Tensor> initial = call.tensors(count);
  std::vector<Tensor> xs = call.tensors(0, count);
  const std::int64_t rank = xs[0].rank();
  call.requireAxes(axes, rank, "its dimensions");
  for (const Tensor &each : xs)
    if (each.rank() != rank)
      call.refuse("operands of the ranks " + std::to_string(rank) + " and " + std::to_string(each.rank()));
  for (const Tensor &each : initial)
    if (each.rank() != 0)
      call.refuse("the beginning has rank " + std::to_string(each.rank()) + ", expected a scalar");
  const Region &body = call.region(0);
  const std::string name = count == 1 ? bodyOf(body) : "";
  const Shape shape = xs[0].shape();
  bool isEmpty = false;
  for (std::int64_t axis : axes) {
    const Size &size = shape[static_cast<std::size_t>(axis)];
    isEmpty = isEmpty || (size.is_known() && size == 0);
  }
  if (isEmpty) {
    Shape left;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end())
        left.push_back(shape[i]);
    Results all;
    for (const Tensor &each : initial)
      all.push_back(broadcast_to(each, left));
    return all;
  }
  if (isReduction(name, xs[0].dtype())) {
    const Tensor y = axes.empty() ? xs[0] : reducedBy(name, xs[0], axes);
    return isNeutral(name, initial[0]) ? y : combined(name, initial[0], y);
  }
  // The reduced dimensions as one, the last.
  if (axes.empty()) {
    for (Tensor &x : xs)
      x = expand_dims(x, {rank});
  } else {
    Numbers order, sorted = axes;
    Shape merged;
    std::ranges::sort(sorted);
    std::int64_t size = 1;
    for (std::int64_t i = 0; i < rank; ++i)
      if (std::ranges::find(axes, i) == axes.end()) {
        order.push_back(i);
        merged.push_back(shape[static_cast<std::size_t>(i)]);
      }
    for (std::int64_t axis : sorted) {
      order.push_back(axis);
      if (!shape[static_cast<std::size_t>(axis)].is_known())
        call.refuse("its body is none of add, multiply, maximum, minimum, and, or, and a dimension that it reduces has "
                    "an unknown size");
      size *= shape[static_cast<std::size_t>(axis)];
    }
    merged.push_back(Size(size));
    for (Tensor &x : xs)
      x = reshape(transpose(x, order), merged);
  }
  std::vector<Tensor> folded = foldLast(call, body, xs), both = initial;
  for (std::size_t i = 0; i < count; ++i)
    both[i] = broadcast_to(initial[i], folded[i].shape());
  both.insert(both.end(), folded.begin(), folded.end());
  return call.lift(body, both);
}

Results mapped(const Call &call) {
  std::vector<Tensor> made = call.lift(call.region(0), call.tensors());
  return made;
}

constexpr Operator kTable[] = {
    {"stablehlo.map", 1, kAnyNumber, mapped, Trait::None, 1},
    {"stablehlo.reduce", 2, kAnyNumber, reduction, Trait::None, 1},
};

} // namespace

Table reductionOperators() { return kTable; }

} // namespace calque::stablehlo
