// C++ numbers as operands of operations.
#ifndef CALQUE_NUMBER_H
#define CALQUE_NUMBER_H

#include "calque/dtype.h"
#include "calque/error.h"
#include "calque/source_location.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace calque {

namespace detail {
// C++ has two types with 64 bits, long and long long. std::int64_t is one of them; OtherInt64 is the other.
using OtherInt64 = std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>;
template <> struct DTypeOf<OtherInt64> : DTypeOf<std::int64_t> {};
} // namespace detail

// The element type of a C++ double that no tensor or argument determines: float32 unless set. A trace keeps the default
// type with which it was made. ValueError for an element type that is not floating-point.
CALQUE_API DType default_dtype();
CALQUE_API void set_default_dtype(DType dtype, SourceLocation where = SourceLocation::current());

// A number of any arithmetic type. Its value is kept exactly (a long double is rounded to a double) until its element
// type is known. Wherever an operation takes a number, one rule converts it:
// - complex types take any number, their parts rounded to the nearest;
// - floating-point types take any real number, rounded to the nearest;
// - integer types take bools, and integers that they can hold (else ValueError), but no floating-point numbers, not
//   even whole ones (else DTypeError);
// - bool takes bools alone (else DTypeError).
class CALQUE_API Number {
public:
  // Zero of any element type.
  constexpr Number() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr Number(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = std::is_same_v<T, float> ? Kind::Float : Kind::Double;
      float_ = static_cast<double>(number);
    } else {
      kind_ = std::is_same_v<T, bool> ? Kind::Bool : Kind::Int;
      int_ = static_cast<std::int64_t>(number);
      if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
        if (int_ < 0)
          kind_ = Kind::Unsigned;
    }
  }

  // std::complex of float or double.
  template <typename T>
    requires detail::kIsComplex<T>
  constexpr Number(const T &number) : Number(number.real()) {
    imag_ = static_cast<double>(number.imag());
    kind_ = kind_ == Kind::Float ? Kind::ComplexFloat : Kind::ComplexDouble;
  }

  // A half is a float: it has no more digits.
  template <typename T>
    requires detail::kIsHalf<T>
  constexpr Number(T number) : Number(float(number)) {}

  // A number with a point, complex ones included.
  bool isFloat() const { return kind_ >= Kind::Float; }
  bool isDouble() const { return kind_ == Kind::Double || kind_ == Kind::ComplexDouble; }
  bool isComplex() const { return kind_ >= Kind::ComplexFloat; }
  bool isBool() const { return kind_ == Kind::Bool; }
  // The element type of the number without a tensor beside it: float32 for a float, the default type for a double,
  // int32 or bool; the complex type of such parts for a complex number.
  DType defaultDType() const {
    if (isComplex())
      return promote(kind_ == Kind::ComplexFloat ? DType::Float32 : default_dtype(), DType::Complex64);
    return isBool()                ? DType::Bool
           : kind_ == Kind::Float  ? DType::Float32
           : kind_ == Kind::Double ? default_dtype()
                                   : DType::Int32;
  }
  // Rounded to the nearest; the real part of a complex number.
  double toDouble() const {
    return isFloat() ? float_ : kind_ == Kind::Unsigned ? static_cast<double>(bits()) : static_cast<double>(int_);
  }
  // The shortest text that reads back as the same number: "1e-10".
  std::string str() const;
  // Writes an element of that type. DTypeError and ValueError by the rule above.
  void convert(DType dtype, void *element, SourceLocation where) const;

private:
  enum class Kind : std::uint8_t { Bool, Int, Unsigned, Float, Double, ComplexFloat, ComplexDouble };
  std::uint64_t bits() const { return static_cast<std::uint64_t>(int_); }
  template <typename T> T rounded() const;

  Kind kind_ = Kind::Bool;
  union {
    std::int64_t int_ = 0; // for Unsigned, the bits of the unsigned number
    double float_;
  };
  double imag_ = 0;
};

} // namespace calque
#endif
