// The generated public functions, and public functions that are made of operations.
#include "calque/functions.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/gradients/CustomGradient.h"
#include "frontend/operations/MatrixBatches.h"

#include <array>

namespace calque {

#include "frontend/Functions.cpp.inc"

using schema::OpId;

Tensor operator!(const Variable &x) { return !x.value(SourceLocation()); }
Tensor operator!(const Tensor &x) {
  // An operator has no argument for its line. The tensor's line is the nearest one.
  return logical_not(Operand(x, detail::implOf(x).where));
}

namespace {
// A product with a vector: the vector becomes a row on the left or a column on the right, and the new dimension is left
// out of the product.
Tensor matmulOfVectors(const Tensor &a, const Tensor &b, MatmulOptions options, SourceLocation where) {
  const bool isRow = a.rank() == 1, isColumn = b.rank() == 1;
  Tensor product =
      matmul(isRow ? expand_dims(Operand(a, where), 0) : a, isColumn ? expand_dims(Operand(b, where), 1) : b, options);
  if (isColumn)
    product = squeeze(Operand(product, where), -1);
  return isRow ? squeeze(Operand(product, where), isColumn ? -1 : -2) : product;
}
} // namespace

Tensor matmul(const Operand &a, const Operand &b, MatmulOptions options) {
  SourceLocation where = detail::userLine(a.where());
  CallSite library(where, "matmul");
  const Operand *operands[] = {&a, &b};
  std::vector<Tensor> tensors = detail::adoptNumbers(OpId::Contract, operands);
  Tensor lhs = tensors[0], rhs = tensors[1];
  const Shape left = lhs.shape(), right = rhs.shape();
  std::string shapes = absl::StrCat(left.str(), " and ", right.str());
  if (lhs.rank() == 0 || rhs.rank() == 0)
    throw ShapeError(absl::StrCat("matmul: a scalar is no matrix and no vector; the shapes are ", shapes,
                                  "; a * b multiplies by a scalar"),
                     where);
  if ((lhs.rank() == 1 && options.transpose_a) || (rhs.rank() == 1 && options.transpose_b))
    throw ShapeError(absl::StrCat("matmul: a vector has no two dimensions to transpose; the shapes are ", shapes),
                     where);
  const std::int64_t lhsInner = lhs.rank() - (options.transpose_a ? 2 : 1),
                     rhsInner = rhs.rank() - (options.transpose_b || rhs.rank() == 1 ? 1 : 2);
  const Size &inner = left[lhsInner], &other = right[rhsInner];
  if (detail::mayDiffer(inner, other))
    throw ShapeError(absl::StrCat("matmul: the inner dimensions are ", inner.str(), " and ", other.str(),
                                  " and must be equal; the shapes are ", shapes,
                                  options.transpose_a ? ", the first transposed" : "",
                                  options.transpose_b ? ", the second transposed" : ""),
                     where);
  if (lhs.rank() == 1 || rhs.rank() == 1)
    return matmulOfVectors(lhs, rhs, options, where);

  // If one matrix on the right serves all of a batch, nothing is repeated, and the matrix's gradient is one product as
  // well.
  bool isOneMatrix = rhs.rank() == 2;
  std::vector<std::int64_t> batchAxes;
  if ((lhs.rank() > 2 || rhs.rank() > 2) && !isOneMatrix) {
    Shape batch = detail::mergeBatches(left, right, "matmul", shapes, where);
    lhs = detail::broadcastBatch(lhs, batch, where);
    rhs = detail::broadcastBatch(rhs, batch, where);
    for (std::size_t i = 0; i < batch.size(); ++i)
      batchAxes.push_back(static_cast<std::int64_t>(i));
  }
  std::array<Tensor, 2> pair{lhs, rhs};
  std::array<schema::Attribute, 4> attributes{
      schema::Attribute(batchAxes), schema::Attribute(batchAxes),
      schema::Attribute(std::vector<std::int64_t>{lhs.rank() - (options.transpose_a ? 2 : 1)}),
      schema::Attribute(std::vector<std::int64_t>{rhs.rank() - (options.transpose_b ? 1 : 2)})};
  Tensor product = detail::apply(OpId::Contract, pair, attributes, where);
  if (detail::gradientOverridesActive()) [[unlikely]]
    detail::overrideGradient(detail::kMatmul, tensors, {&product, 1}, where);
  return product;
}

} // namespace calque
