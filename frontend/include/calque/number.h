// C++ numbers as operations take them.
#ifndef CALQUE_NUMBER_H
#define CALQUE_NUMBER_H

#include "calque/dtype.h"
#include "calque/error.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace calque {

// A number of any arithmetic type, kept exactly (a long double as a double), until it is known what element type it is
// to have. Where operations take numbers, conversion follows one rule:
// - float32 and float64 take any number, rounded to the nearest;
// - int32 and int64 take integers that they can hold (ValueError for another) and bools, but no floating-point numbers,
//   whole ones included (DTypeError);
// - bool takes bools alone (DTypeError).
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

  bool isFloat() const { return kind_ == Kind::Float || kind_ == Kind::Double; }
  bool isBool() const { return kind_ == Kind::Bool; }
  // The element type that it has alone: float32, int32 or bool.
  DType defaultDType() const { return isBool() ? DType::Bool : isFloat() ? DType::Float32 : DType::Int32; }
  // Rounded to the nearest.
  double toDouble() const {
    return isFloat() ? float_ : kind_ == Kind::Unsigned ? static_cast<double>(bits()) : static_cast<double>(int_);
  }
  // The shortest text that reads back as the same number: "1e-10".
  std::string str() const;
  // Writes an element of that type. DTypeError and ValueError by the rule above.
  void convert(DType dtype, void *element, SourceLocation where) const;

private:
  enum class Kind : std::uint8_t { Bool, Int, Unsigned, Float, Double };
  std::uint64_t bits() const { return static_cast<std::uint64_t>(int_); }
  template <typename T> T rounded() const;

  Kind kind_ = Kind::Bool;
  union {
    std::int64_t int_ = 0; // of Unsigned, which int64 does not hold, the same bits
    double float_;
  };
};

} // namespace calque
#endif
