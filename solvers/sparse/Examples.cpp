#include "sparse/Examples.h"

#include "calque/arrays.h"

#include <algorithm>

namespace calque::sparse::internal {

Examples::Examples(std::vector<Operand> operands) {
  std::int32_t rank = 0;
  for (const Operand &operand : operands)
    rank = std::max(rank, operand.tensor.rank - operand.ownRank);
  sizes_.assign(static_cast<std::size_t>(rank), 1);
  for (const Operand &operand : operands) {
    const std::int32_t own = operand.tensor.rank - operand.ownRank;
    std::vector<std::int64_t> strides(static_cast<std::size_t>(rank), 0);
    std::int64_t stride = 1;
    for (std::int32_t axis = own - 1; axis >= 0; --axis) {
      const auto at = static_cast<std::size_t>(rank - own + axis);
      const std::int64_t size = operand.tensor.sizes[axis];
      if (size != 1) {
        strides[at] = stride;
        sizes_[at] = size;
      }
      stride *= size;
    }
    strides_.push_back(std::move(strides));
  }
  for (const std::int64_t size : sizes_)
    count_ *= size;
}

std::int64_t Examples::of(std::size_t i, std::int64_t example) const {
  std::int64_t at = 0;
  for (std::size_t axis = sizes_.size(); axis-- > 0; example /= sizes_[axis])
    at += example % sizes_[axis] * strides_[i][axis];
  return at;
}

namespace {

constexpr std::int32_t kRankOfValues = 1, kRankOfRight = 2;

// The number of axes of examples, of which vmap's is the first one if `isMapped`.
std::int64_t examplesOf(const Tensor &x, std::int32_t ownRank, bool isMapped) {
  return x.rank() - ownRank - (isMapped ? 1 : 0);
}

// Of a right-hand side for each example, columns for all.
Tensor columnsOf(const Tensor &right) {
  const std::int64_t examples = right.rank() - kRankOfRight;
  std::vector<std::int64_t> order{examples};
  for (std::int64_t axis = 0; axis < right.rank(); ++axis)
    if (axis != examples)
      order.push_back(axis);
  std::int64_t count = 1;
  for (std::int64_t axis = 0; axis < right.rank(); ++axis)
    count *= axis == examples ? 1 : std::int64_t(right.shape()[static_cast<std::size_t>(axis)]);
  return reshape(transpose(right, order), {right.shape()[static_cast<std::size_t>(examples)], count});
}
Tensor examplesOfColumns(const Tensor &columns, const Shape &shape) {
  const auto examples = static_cast<std::int64_t>(shape.size()) - kRankOfRight;
  Shape turned{shape[static_cast<std::size_t>(examples)]};
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
    if (axis != examples)
      turned.push_back(shape[static_cast<std::size_t>(axis)]);
    order.push_back(axis < examples ? axis + 1 : axis == examples ? 0 : axis);
  }
  return transpose(reshape(columns, turned), order);
}

} // namespace

std::vector<TensorSpec<>> typesOfSolution(const std::vector<TensorSpec<>> &in) {
  const Shape values = in.front().shape(), right = in.back().shape();
  const std::size_t ofValues = values.size() - kRankOfValues, ofRight = right.size() - kRankOfRight;
  const std::size_t rank = std::max(ofValues, ofRight);
  Shape shape;
  for (std::size_t axis = rank; axis > 0; --axis) { // from the end
    const Size a = axis <= ofValues ? values[ofValues - axis] : Size(1),
               b = axis <= ofRight ? right[ofRight - axis] : Size(1);
    shape.push_back(a == 1 ? b : a);
  }
  shape.insert(shape.end(), right.end() - kRankOfRight, right.end());
  return {TensorSpec<>(in.back().dtype(), shape)};
}

std::vector<Tensor> mapped(const Operation &op, std::vector<Tensor> in, const std::vector<bool> &batched) {
  const bool hasRight = in.back().rank() - (batched.back() ? 1 : 0) >= kRankOfRight;
  const std::size_t tables = hasRight ? in.size() - 1 : in.size();
  Size count = kDynamic;
  for (std::size_t i = 1; i < tables; ++i)
    if (batched[i]) {
      Shape one = in[i].shape();
      count = one[0];
      one.erase(one.begin());
      in[i] = count == 0 ? zeros(one, in[i].dtype()) : gather(in[i], 0);
    }
  if (!batched.front() && !(hasRight && batched.back())) { // only tables have examples
    const Tensor one = op(in)[0];
    Shape all = one.shape();
    all.insert(all.begin(), count);
    return {broadcast_to(one, all)};
  }
  if (!hasRight)
    return op(in);
  Tensor &values = in.front(), &right = in.back();
  if (values.rank() == kRankOfValues) { // one matrix
    const Shape shape = right.shape();
    right = columnsOf(right);
    return {examplesOfColumns(op(in)[0], shape)};
  }
  // The axis of vmap is the first one of both, before axes of examples that an inner vmap has made.
  const std::int64_t ofValues = examplesOf(values, kRankOfValues, batched.front()),
                     ofRight = examplesOf(right, kRankOfRight, batched.back());
  auto align = [](Tensor &x, bool isMapped, std::int64_t missing) {
    for (; isMapped && missing > 0; --missing)
      x = expand_dims(x, {1});
  };
  align(values, batched.front(), ofRight - ofValues);
  align(right, batched.back(), ofValues - ofRight);
  return op(in);
}

} // namespace calque::sparse::internal
