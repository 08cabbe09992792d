#include "ir/ElementType.h"

#include "ir/Types.h"
#include "schema/Schema.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace calque::ir {

Type toMlir(DType dtype, MLIRContext *context) {
  if (dtype == schema::kStackType)
    return StackType::get(context);
  if (!is_dtype(dtype))
    return {};
  return dispatch_all(dtype, [&]<typename T>(std::type_identity<T>) -> Type {
    if constexpr (std::is_same_v<T, bool>)
      return IntegerType::get(context, 1);
    else if constexpr (std::is_same_v<T, float>)
      return Float32Type::get(context);
    else if constexpr (std::is_same_v<T, double>)
      return Float64Type::get(context);
    else if constexpr (std::is_same_v<T, complex64>)
      return ComplexType::get(Float32Type::get(context));
    else if constexpr (std::is_same_v<T, complex128>)
      return ComplexType::get(Float64Type::get(context));
    else if constexpr (std::is_same_v<T, float16>)
      return Float16Type::get(context);
    else if constexpr (std::is_same_v<T, bfloat16>)
      return BFloat16Type::get(context);
    else if constexpr (std::is_unsigned_v<T>)
      return IntegerType::get(context, 8 * sizeof(T), IntegerType::Unsigned);
    else
      return IntegerType::get(context, 8 * sizeof(T));
  });
}

std::optional<DType> toDType(Type type) {
  if (isa<StackType>(type))
    return schema::kStackType;
  for (const DTypeInfo &info : kDTypes)
    if (type == toMlir(info.dtype, type.getContext()))
      return info.dtype;
  return std::nullopt;
}

ElementType::ElementType(Type type) : element(getElementTypeOrSelf(type)) {
  if (std::optional<DType> dtype = toDType(element); dtype && is_dtype(*dtype)) {
    const DTypeInfo &info = info_of(*dtype);
    kind = info.kind;
    inMemory = static_cast<int64_t>(info.size);
    ofValue = kind == DTypeKind::Bool ? 1 : static_cast<unsigned>(8 * info.size);
    return;
  }
  kind = isa<FloatType>(element) ? DTypeKind::Float : DTypeKind::Integer;
  ofValue = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  inMemory = (ofValue + 7) / 8;
}

unsigned ElementType::digits() const {
  auto floating = dyn_cast<FloatType>(element);
  return floating ? floating.getFPMantissaWidth() : ofValue;
}

Type ElementType::accumulator() const {
  std::optional<DType> dtype = toDType(element);
  return dtype && is_dtype(*dtype) ? toMlir(info_of(*dtype).accumulator, element.getContext()) : element;
}

IntegerType ElementType::asBits() const { return IntegerType::get(element.getContext(), ofValue); }

FloatType ElementType::asFloat() const {
  for (const DTypeInfo &info : kDTypes)
    if (info.kind == DTypeKind::Float && 8 * info.size == ofValue)
      return cast<FloatType>(toMlir(info.dtype, element.getContext()));
  return {};
}

TypedAttr ElementType::extreme(bool isLeast, bool isUnsigned) const {
  if (auto floating = dyn_cast<FloatType>(element))
    return FloatAttr::get(floating, APFloat::getInf(floating.getFloatSemantics(), isLeast));
  if (isUnsigned)
    return IntegerAttr::get(element, isLeast ? APInt::getMinValue(ofValue) : APInt::getMaxValue(ofValue));
  return IntegerAttr::get(element, isLeast ? APInt::getSignedMinValue(ofValue) : APInt::getSignedMaxValue(ofValue));
}

bool ElementType::isWithin(const ElementType &other) const {
  if (element == other.element || isBool())
    return true;
  if (other.isBool() || (isFloat() && !other.isFloat()))
    return false;
  if (other.isFloat()) {
    const auto &all = cast<FloatType>(other.element).getFloatSemantics();
    if (!isFloat()) // the range, too: float16 has no numbers as large as 2^16
      return digits() - !isUnsigned() <= other.digits() &&
             static_cast<int>(digits() - !isUnsigned()) <= APFloat::semanticsMaxExponent(all);
    const auto &own = cast<FloatType>(element).getFloatSemantics();
    return digits() <= other.digits() && APFloat::semanticsMaxExponent(own) <= APFloat::semanticsMaxExponent(all);
  }
  if (isUnsigned() == other.isUnsigned())
    return ofValue <= other.ofValue;
  return isUnsigned() && ofValue < other.ofValue;
}

} // namespace calque::ir
