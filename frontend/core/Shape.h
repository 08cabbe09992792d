// Converts between public shapes and the schema's sizes, and passes unknown sizes to operations.
#ifndef CALQUE_FRONTEND_CORE_SHAPE_H
#define CALQUE_FRONTEND_CORE_SHAPE_H

#include "frontend/core/TensorImpl.h"

#include <atomic>

namespace calque::detail {

// The tensor whose size is unknown while tracing, and the dimension.
struct SizeOrigin {
  SizeOrigin(std::shared_ptr<const TensorImpl> tensor, std::int64_t axis, SourceLocation where)
      : tensor(std::move(tensor)), axis(axis), where(where) {}

  const std::shared_ptr<const TensorImpl> tensor;
  const std::int64_t axis;    // -1: the number of elements
  const SourceLocation where; // the line that read the tensor's sizes
  mutable std::atomic<std::int64_t> references{1};
};

// The shape of a tensor; `where` is the line that reads it.
Shape shapeOf(const std::shared_ptr<const TensorImpl> &x, SourceLocation where);
// The shape of a type, with kDynamic for an unknown size.
Shape shapeOf(const schema::Dims &dims);
// The sizes of a shape that must be known. StateError for an unknown size of a tensor, ValueError for kDynamic.
schema::Dims knownDims(const Shape &shape, SourceLocation where);
// The sizes of any shape: an unknown size is schema::kOpenSize.
schema::Dims openDims(const Shape &shape);

// The dimension of a tensor of this rank to which an axis refers. ValueError, with the name of the function, if there
// is none.
std::size_t dimensionOf(std::int64_t axis, std::int64_t rank, const char *function, SourceLocation where);

// An unknown size as an int64 scalar, whose value each call computes. ValueError for kDynamic.
Tensor sizeAsTensor(const Size &size, SourceLocation where);

// Applies the operation that a record names as `open`. Operands: those of the operation, then the tensors from which
// sizes are taken. Attributes: shape and sizes, then `others`.
Tensor applyOpen(schema::OpId open, std::span<const Tensor> operands, const Shape &shape,
                 std::initializer_list<schema::Attribute> others, SourceLocation where);

} // namespace calque::detail
#endif
