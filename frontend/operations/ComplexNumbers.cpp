// Parts of complex numbers. Real numbers are complex ones, too.
#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"

namespace calque {

using schema::OpId;

namespace {

// The operation on complex numbers. Of real ones it is what `ofReal` makes.
template <typename F> Tensor partOf(const char *function, OpId op, const Operand &x, F ofReal) {
  const SourceLocation where = detail::userLine(x.where());
  CallSite site(where, function);
  const Tensor value = x.toTensor();
  if (is_complex(value.dtype()))
    return detail::apply(op, {&value, 1}, {}, where);
  if (!is_floating(value.dtype()))
    throw DTypeError(absl::StrCat(function, ": takes ", names_of({DTypeKind::Float, DTypeKind::Complex}), ", not ",
                                  detail::typeOf(value), "; use cast(x, DType::Float32)"),
                     where);
  return ofReal(Operand(value, where));
}

} // namespace

Tensor real(const Operand &x) {
  return partOf("real", OpId::RealPart, x, [](const Operand &value) { return value.tensor(); });
}

Tensor imag(const Operand &x) {
  return partOf("imag", OpId::ImagPart, x, [](const Operand &value) { return zeros_like(value); });
}

Tensor conj(const Operand &x) {
  return partOf("conj", OpId::Conj, x, [](const Operand &value) { return value.tensor(); });
}

Tensor angle(const Operand &x) {
  // NaN stays NaN.
  return partOf("angle", OpId::Angle, x, [](const Operand &value) {
    return atan2(Operand(zeros_like(value), value.where()), stop_gradient(value));
  });
}

} // namespace calque
