// What the functions of calque/arrays.h share.
#ifndef CALQUE_FRONTEND_OPERATIONS_ARRAYCALLS_H
#define CALQUE_FRONTEND_OPERATIONS_ARRAYCALLS_H

#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace calque::detail {

// A call of a public function that consists of several operations. While it lives, the operations have the line of the
// user and the name of the function, so that they need no line of their own.
struct ArrayCall {
  ArrayCall(const Operand &x, const char *function) : ArrayCall(x.where(), function) {}
  ArrayCall(SourceLocation line, const char *function)
      : where(userLine(line)), function(function), site(where, function) {}

  std::size_t dimension(std::int64_t axis, const Tensor &x) const {
    return dimensionOf(axis, x.rank(), function, where);
  }
  std::int64_t axis(std::int64_t axis, const Tensor &x) const { return static_cast<std::int64_t>(dimension(axis, x)); }
  // The dimensions to which axes refer. ValueError for one that is named twice.
  std::vector<std::int64_t> axes(const AxisList &list, const Tensor &x) const;

  const SourceLocation where;
  const char *const function;

private:
  CallSite site;
};

// An operand of floats, or of floats or complex numbers. DTypeError for others.
Tensor floatsOf(const Operand &x, const ArrayCall &call);
Tensor floatsOrComplexOf(const Operand &x, const ArrayCall &call);
// f(x), which for 16 bits is computed in float32 and rounded once.
template <typename F> Tensor inFull(const Tensor &x, F f) {
  return is_half(x.dtype()) ? cast(f(cast(x, DType::Float32)), x.dtype()) : f(x);
}
// The DTypeError of such an operand: says how to come to floats.
[[noreturn]] void refuseType(const char *function, std::initializer_list<DTypeKind> kinds, const Tensor &x,
                             SourceLocation where);

// A number for each element whose order is the opposite one. Exact: integers don't overflow.
Tensor inReverse(const Tensor &x);

// Combines the elements of integers one after the other, if they are known now.
std::optional<std::int64_t> foldKnown(const Tensor &integers, std::int64_t initial,
                                      std::int64_t (*combine)(std::int64_t, std::int64_t));

// Two operands as tensors. A number adopts the element type of the tensor beside it.
std::array<Tensor, 2> paired(const Operand &a, const Operand &b);

// 0, 1, ... before `size` along an axis of a tensor of this rank, whose other sizes are 1.
Tensor indicesAlong(const Size &size, std::int64_t axis, std::int64_t rank, DType dtype = DType::Int64);

// x with dimensions of size 1 in front of it.
Tensor withRank(const Tensor &x, std::int64_t rank);

// Makes one dimension of `axis` and the next one, whose sizes may be unknown.
Tensor mergeDims(const Tensor &x, std::int64_t axis);

// Entries start to end - 1 along an axis. The sizes of other dimensions may be unknown; `end` must not exceed the size.
Tensor rowsAlong(const Tensor &x, std::int64_t axis, std::int64_t start, std::int64_t end);

// Combines each entry along an axis with all entries before it, by an operation that is associative, for tensors of one
// size along the axis. Takes log n steps, each of which combines the entries with those d before them, for d = 1, 2, 4
// and so on: time n log n. `combine` takes the earlier and the later entries.
using Combine = std::function<std::vector<Tensor>(const std::vector<Tensor> &, const std::vector<Tensor> &)>;
std::vector<Tensor> scanByDoubling(std::vector<Tensor> entries, std::int64_t axis, const Combine &combine);

// Whether a size is known, and is this number.
bool isKnownTo(const Size &size, std::int64_t number);

} // namespace calque::detail
#endif
