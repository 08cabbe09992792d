// The public functions: the generated ones and those written over them.
#include "calque/functions.h"

#include "calque/call_site.h"
#include "frontend/Apply.h"
#include "frontend/TensorImpl.h"
#include "ir/schema/TypeRules.h"

#include <array>

namespace calque {

#include "frontend/Functions.cpp.inc"

using schema::OpId;

Tensor operator!(const Tensor &x) {
  // An operator has no argument that could carry its line; the line of the tensor is the nearest.
  return logical_not(Operand(x, detail::implOf(x).where));
}

namespace {
Tensor broadcastBatch(const Tensor &x, const Shape &batch, SourceLocation where) {
  const Shape &own = x.shape();
  bool fits = own.size() == batch.size() + 2;
  for (std::size_t i = 0; fits && i < batch.size(); ++i)
    fits = own[i] == batch[i] || own[i] != 1; // a known and an unknown size are compared at the call
  if (fits)
    return x;
  Shape shape = batch;
  shape.insert(shape.end(), own.end() - 2, own.end());
  for (std::int64_t size : shape)
    if (size == kDynamic)
      throw ShapeError("matmul: " + schema::shapeString(own) +
                           " can't be broadcast to batches whose number is not known while tracing",
                       where);
  return broadcast_to(Operand(x, where), shape);
}

// The batch dimensions of a matrix product, broadcast as in NumPy.
Shape mergeBatches(const Shape &a, const Shape &b, const std::string &shapes, SourceLocation where) {
  Shape batch(std::max(a.size(), b.size()) - 2, 1);
  for (const Shape *shape : {&a, &b}) {
    std::size_t offset = batch.size() - (shape->size() - 2);
    for (std::size_t i = 0; i + 2 < shape->size(); ++i) {
      std::int64_t size = (*shape)[i], &merged = batch[offset + i];
      if (size != 1 && merged != 1 && !schema::mergeDims(size, merged))
        throw ShapeError("matmul: the batch dimensions of " + shapes + " don't broadcast: sizes " +
                             std::to_string(merged) + " and " + std::to_string(size) +
                             " must be equal, or one of them 1",
                         where);
      merged = merged == 1 ? size : size == 1 ? merged : *schema::mergeDims(size, merged);
    }
  }
  return batch;
}
} // namespace

Tensor matmul(const Operand &a, const Operand &b, MatmulOptions options) {
  SourceLocation where = detail::userLine(a.where());
  CallSite library(where); // shape() below is called by the library, not by user code
  const Operand *operands[] = {&a, &b};
  std::vector<Tensor> tensors = detail::adoptNumbers(operands);
  Tensor lhs = tensors[0], rhs = tensors[1];
  std::string shapes = schema::shapeString(lhs.shape()) + " and " + schema::shapeString(rhs.shape());
  if (lhs.rank() < 2 || rhs.rank() < 2)
    throw ShapeError("matmul: both operands need rank 2 or more; their shapes are " + shapes, where);
  std::int64_t lhsInner = lhs.rank() - (options.transpose_a ? 2 : 1),
               rhsInner = rhs.rank() - (options.transpose_b ? 1 : 2);
  std::int64_t inner = lhs.shape()[lhsInner], other = rhs.shape()[rhsInner];
  if (!schema::mergeDims(inner, other))
    throw ShapeError("matmul: the inner dimensions are " + std::to_string(inner) + " and " + std::to_string(other) +
                         " and must be equal; the shapes are " + shapes +
                         (options.transpose_a ? ", the first transposed" : "") +
                         (options.transpose_b ? ", the second transposed" : ""),
                     where);

  std::vector<std::int64_t> batchAxes;
  if (lhs.rank() > 2 || rhs.rank() > 2) {
    Shape batch = mergeBatches(lhs.shape(), rhs.shape(), shapes, where);
    lhs = broadcastBatch(lhs, batch, where);
    rhs = broadcastBatch(rhs, batch, where);
    for (std::size_t i = 0; i < batch.size(); ++i)
      batchAxes.push_back(static_cast<std::int64_t>(i));
  }
  auto rank = static_cast<std::int64_t>(batchAxes.size()) + 2;
  std::array<Tensor, 2> pair{lhs, rhs};
  std::array<schema::Attribute, 4> attributes{
      schema::Attribute(batchAxes), schema::Attribute(batchAxes),
      schema::Attribute(std::vector<std::int64_t>{rank - (options.transpose_a ? 2 : 1)}),
      schema::Attribute(std::vector<std::int64_t>{rank - (options.transpose_b ? 1 : 2)})};
  return detail::apply(OpId::Contract, pair, attributes, where);
}

void print(std::string label, const Operand &x) {
  Tensor value = x.toTensor();
  schema::Attribute attribute = std::move(label);
  detail::apply(OpId::Print, {&value, 1}, {&attribute, 1}, x.where());
}

void assert_true(const Operand &condition, std::string message) {
  Tensor value = condition.toTensor();
  schema::Attribute attribute = std::move(message);
  detail::apply(OpId::Assert, {&value, 1}, {&attribute, 1}, condition.where());
}

} // namespace calque
