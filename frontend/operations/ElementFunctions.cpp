// Public functions of elements that are made of several operations.
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/TensorImpl.h"

#include <cmath>
#include <limits>

namespace calque {

using schema::OpId;

// The operands are sorted by where(), and not by maximum() and abs(), so that the derivatives at ties are those of the
// function.
Tensor logaddexp(const Operand &x, const Operand &y) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "logaddexp");
  const Operand *operands[] = {&x, &y};
  std::vector<Tensor> tensors = detail::adoptNumbers(OpId::Sub, operands);
  const Operand first(tensors[0], where), second(tensors[1], where);
  const Tensor isFirst = greater_equal(first, second);
  const Tensor larger = calque::where(isFirst, first, second), smaller = calque::where(isFirst, second, first);
  // Equal infinities have no difference.
  const Tensor isInfinite = logical_and(equal(larger, smaller), isinf(Operand(larger, where)));
  return larger + softplus(calque::where(isInfinite, 0, sub(Operand(smaller, where), larger)));
}

Tensor nan_to_num(const Operand &x, NanToNumOptions options) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "nan_to_num");
  const Tensor value = x.toTensor();
  if (is_complex(value.dtype()))
    return complex(nan_to_num(real(value), options), nan_to_num(imag(value), options));
  const Tensor isInfinite = isinf(Operand(value, where)); // refuses other types
  const double largest = dispatch(value.dtype(), []<typename T>(std::type_identity<T>) {
    return static_cast<double>(std::numeric_limits<T>::max());
  });
  auto number = [&](double each) { return Operand(Operand(each, where).toTensor(value.dtype()), where); };
  const Tensor bound = calque::where(greater(value, 0), number(options.posinf.value_or(largest)),
                                     number(options.neginf.value_or(-largest)));
  return calque::where(isnan(value), number(options.nan), calque::where(isInfinite, bound, value));
}

Tensor count_leading_zeros(const Operand &x) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "count_leading_zeros");
  const Tensor value = x.toTensor(), length = bit_length(Operand(value, where)); // refuses other types
  const auto bits = static_cast<std::int64_t>(8 * size_of(value.dtype()));
  return sub(Operand(bits, where), Operand(length, where));
}

Tensor polygamma(std::int64_t n, const Operand &x) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "polygamma");
  const Tensor value = x.toTensor();
  if (n == 0)
    return digamma(Operand(value, where));
  if (n == 1)
    return trigamma(Operand(value, where));
  if (!is_floating(value.dtype()))
    throw DTypeError(absl::StrCat("polygamma: takes ", names_of({DTypeKind::Float}), ", not ", detail::typeOf(value)),
                     where);
  const std::int64_t last = value.dtype() == DType::Float64 ? 170 : value.dtype() == DType::Float16 ? 8 : 34;
  if (n < 0 || n > last)
    throw ValueError(
        absl::StrCat("polygamma: the order of ", name_of(value.dtype()), " is from 0 to ", last, ", not ", n), where);
  const double factorial = std::round(std::tgamma(static_cast<double>(n) + 1));
  return zeta(Operand(static_cast<double>(n) + 1, where), Operand(value, where)) * (n % 2 ? factorial : -factorial);
}

Frexp frexp(const Operand &x) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "frexp");
  const Tensor value = x.toTensor();
  const Tensor exponent = detail::apply(OpId::FrexpExponent, {&value, 1}, {}, where); // refuses other types
  return {detail::apply(OpId::FrexpMantissa, {&value, 1}, {}, where), cast(Operand(exponent, where), DType::Int32)};
}

Tensor ldexp(const Operand &x, const Operand &exponent) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "ldexp");
  const Tensor value = x.toTensor(), n = exponent.toTensor();
  if (!is_integer(n.dtype()))
    throw DTypeError(absl::StrCat("ldexp: exponents are integers, not ", detail::typeOf(n)), where);
  // Halves have not all whole numbers that matter.
  const DType dtype = is_half(value.dtype()) ? DType::Float32 : value.dtype();
  // Beyond these numbers results are 0 or infinite, and float32 has all up to them.
  const Tensor bounded =
      size_of(n.dtype()) == 1 ? n : maximum(minimum(Operand(n, where), 20000), is_unsigned(n.dtype()) ? 0 : -20000);
  const Tensor operands[] = {dtype == value.dtype() ? value : cast(Operand(value, where), dtype),
                             cast(Operand(bounded, where), is_floating(dtype) ? dtype : DType::Float32)};
  const Tensor result = detail::apply(OpId::Scalb, operands, {}, where); // refuses other types
  return dtype == value.dtype() ? result : cast(Operand(result, where), value.dtype());
}

namespace {
bool hasIntegers(const Operand &x) { return is_integer(x.isNumber() ? x.defaultDType() : x.tensor().dtype(x.where())); }
} // namespace

Tensor operator&(const Operand &x, const Operand &y) {
  return hasIntegers(x) && hasIntegers(y) ? bitwise_and(x, y) : logical_and(x, y);
}
Tensor operator|(const Operand &x, const Operand &y) {
  return hasIntegers(x) && hasIntegers(y) ? bitwise_or(x, y) : logical_or(x, y);
}
Tensor operator^(const Operand &x, const Operand &y) {
  return hasIntegers(x) && hasIntegers(y) ? bitwise_xor(x, y) : logical_xor(x, y);
}
Tensor operator~(const Operand &x) { return hasIntegers(x) ? bitwise_not(x) : logical_not(x); }

} // namespace calque
