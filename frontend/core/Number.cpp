#include "calque/number.h"

#include "absl/strings/str_cat.h"
#include "frontend/core/CallNames.h"

#include <charconv>
#include <cstring>
#include <utility>

namespace calque {

std::string Number::str() const {
  char text[64];
  std::to_chars_result end{};
  switch (kind_) {
  case Kind::Bool:
    return int_ ? "true" : "false";
  case Kind::Int:
    return absl::StrCat(int_);
  case Kind::Unsigned:
    return absl::StrCat(bits());
  case Kind::Float:
    end = std::to_chars(text, text + sizeof(text), static_cast<float>(float_));
    break;
  case Kind::Double:
    end = std::to_chars(text, text + sizeof(text), float_);
    break;
  case Kind::ComplexFloat:
    return absl::StrCat("(", Number(static_cast<float>(float_)).str(), ",", Number(static_cast<float>(imag_)).str(),
                        ")");
  case Kind::ComplexDouble:
    return absl::StrCat("(", Number(float_).str(), ",", Number(imag_).str(), ")");
  }
  return std::string(text, end.ptr);
}

// Rounded once: an integer by way of a double would be rounded twice.
template <typename T> T Number::rounded() const {
  return isFloat() ? static_cast<T>(float_) : kind_ == Kind::Unsigned ? static_cast<T>(bits()) : static_cast<T>(int_);
}

void Number::convert(DType dtype, void *element, SourceLocation where) const {
  if (!is_dtype(dtype))
    throw InternalError("an unknown element type", detail::userLine(where));
  if (isComplex() && !calque::is_complex(dtype))
    throw DTypeError(absl::StrCat("the complex number ", str(), " can't become ", name_of(dtype),
                                  ": it needs a complex tensor beside it, which complex(x, 0) makes of a real one"),
                     detail::userLine(where));
  if (isFloat() && !is_inexact(dtype))
    throw DTypeError(absl::StrCat("the number ", str(), " can't become ", name_of(dtype),
                                  ": a floating-point number needs a floating-point tensor beside it, "
                                  "which cast(x, DType::Float32) makes of an integer one"),
                     detail::userLine(where));
  if (dtype == DType::Bool && !isBool())
    throw DTypeError(absl::StrCat("the number ", str(), " can't become bool"), detail::userLine(where));
  dispatch_all(dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (kind_ == Kind::Unsigned ? !std::in_range<T>(bits()) : !std::in_range<T>(int_))
        throw ValueError(absl::StrCat("the number ", str(), " does not fit ", name_of(dtype)), detail::userLine(where));
    const T value = [&] {
      if constexpr (detail::kIsComplex<T>)
        return T(rounded<typename T::value_type>(), static_cast<typename T::value_type>(imag_));
      else
        return rounded<T>();
    }();
    std::memcpy(element, &value, sizeof(value));
  });
}

} // namespace calque
