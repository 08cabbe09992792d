// Public functions of elements that are made of several operations.
#include "calque/call_site.h"
#include "calque/functions.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"

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
    throw DTypeError(absl::StrCat("nan_to_num: takes ", names_of({DTypeKind::Float}), ", not ", detail::typeOf(value)),
                     where);
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
