// One call of a public function of linear algebra.
#ifndef CALQUE_FRONTEND_OPERATIONS_MATRIXCALL_H
#define CALQUE_FRONTEND_OPERATIONS_MATRIXCALL_H

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/operations/MatrixBatches.h"
#include "schema/TypeRules.h"

#include <span>
#include <utility>
#include <vector>

namespace calque::detail {

// What it applies has its line and its name.
class MatrixCall {
public:
  MatrixCall(const Operand &x, const char *function)
      : function(detail::calledName(function)), where(detail::userLine(x.where())), site(where, function) {}

  Operand operand(const Tensor &x) const { return {x, where}; }

  // While the result lives, errors of operations begin with `text`, which says what an operand of theirs is: "eigh: B".
  // They begin with what the user has called where that is not `own`.
  CalledAs named(std::string_view own, const char *text) const { return CalledAs(function == own ? text : function); }

  Tensor apply(schema::OpId op, std::span<const Tensor> operands,
               std::span<const schema::Attribute> attributes = {}) const {
    return detail::apply(op, operands, attributes, where);
  }

  std::vector<Tensor> applyAll(schema::OpId op, const Tensor &x) const {
    return detail::applyAll(op, {&x, 1}, {}, where);
  }

  void requireMatrix(const Tensor &x) const {
    if (x.rank() < 2)
      throw ShapeError(absl::StrCat(function, ": takes matrices, which have rank 2 or more, not ", typeOf(x)), where);
  }

  void requireSquare(const Tensor &x) const {
    const Shape shape = x.shape();
    if (mayDiffer(shape[shape.size() - 2], shape.back()))
      throw ShapeError(absl::StrCat(function, ": takes square matrices, not ", typeOf(x)), where);
  }

  // Floating-point or complex numbers of one type.
  void requireOneType(std::initializer_list<Tensor> operands) const {
    const schema::TensorType *first = nullptr;
    for (const Tensor &x : operands) {
      const schema::TensorType &type = *implOf(x, where).type;
      schema::Fault fault = schema::requireFloating({&type, 1});
      if (!fault && first)
        fault = schema::sameDType(*first, type);
      if (fault) {
        fault.message = absl::StrCat(function, ": ", fault.message);
        throwFault(fault, where);
      }
      first = first ? first : &type;
    }
  }

  Tensor transposed(const Tensor &x) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(x.rank()));
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>(i);
    std::swap(order[order.size() - 2], order.back());
    return transpose(operand(x), order);
  }

  // The conjugate transposed one, which of real matrices is the transposed one.
  Tensor adjoint(const Tensor &x) const {
    const Tensor turned = transposed(x);
    return is_complex(x.dtype()) ? conj(operand(turned)) : turned;
  }

  const char *const function; // that the user has called, in errors
  const SourceLocation where;

private:
  const CallSite site;
};

// The index along the rows [n, 1], or the columns [1, n], of matrices.
inline Tensor indexOf(const Tensor &x, bool ofRows) {
  Shape shape(2, 1);
  const Shape own = x.shape();
  shape[ofRows ? 0 : 1] = own[own.size() - (ofRows ? 2 : 1)];
  return iota(shape, DType::Int64, ofRows ? 0 : 1);
}

} // namespace calque::detail
#endif
