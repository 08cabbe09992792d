// Public shapes and the sizes that the schema knows, and how operations take sizes that only a call knows.
#ifndef CALQUE_FRONTEND_CORE_SHAPE_H
#define CALQUE_FRONTEND_CORE_SHAPE_H

#include "frontend/core/TensorImpl.h"

#include <atomic>

namespace calque::detail {

// The tensor that a size is of which is not known while tracing.
struct SizeOrigin {
  SizeOrigin(std::shared_ptr<const TensorImpl> tensor, std::int64_t axis, SourceLocation where)
      : tensor(std::move(tensor)), axis(axis), where(where) {}

  const std::shared_ptr<const TensorImpl> tensor;
  const std::int64_t axis;    // -1: the number of elements
  const SourceLocation where; // what asked the tensor for its sizes
  mutable std::atomic<std::int64_t> references{1};
};

// The shape of a tensor, for what asks at a line.
Shape shapeOf(const std::shared_ptr<const TensorImpl> &x, SourceLocation where);
// That of a type, in which a size that is not known is kDynamic.
Shape shapeOf(const schema::Dims &dims);
// Sizes that must be known: StateError, and for kDynamic ValueError.
schema::Dims knownDims(const Shape &shape, SourceLocation where);
// The same, schema::kOpenSize where one is not known.
schema::Dims openDims(const Shape &shape);

// The dimension that an axis means, of a tensor of this rank. ValueError, by the name of the function, if there is
// none.
std::size_t dimensionOf(std::int64_t axis, std::int64_t rank, const char *function, SourceLocation where);

// A size that is not known, as the int64 scalar that it is in each call. ValueError for kDynamic.
Tensor sizeAsTensor(const Size &size, SourceLocation where);

// Applies the `open` form of an operation: its operands, then the tensors of which sizes are taken; the attributes
// shape and sizes, then its `others`.
Tensor applyOpen(schema::OpId open, std::span<const Tensor> operands, const Shape &shape,
                 std::initializer_list<schema::Attribute> others, SourceLocation where);

} // namespace calque::detail
#endif
