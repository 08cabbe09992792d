// A number for an element of any type, kept exactly. Attributes and constants consist of such numbers.
#ifndef CALQUE_SCHEMA_SCALAR_H
#define CALQUE_SCHEMA_SCALAR_H

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace calque::schema {

class Scalar {
public:
  using Variant = std::variant<bool, std::int64_t, std::uint64_t, double>;

  constexpr Scalar() = default; // the integer 0
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T number) : value_(kept(number)) {}

  const Variant &value() const { return value_; }
  bool isFloat() const { return std::holds_alternative<double>(value_); }
  // The number as C++ converts it. Every number but 0 becomes true.
  template <typename T> T as() const {
    return std::visit([](auto number) { return static_cast<T>(number); }, value_);
  }
  // Floating-point numbers are compared by their bits, so that NaN equals itself and 0 differs from -0.
  friend bool operator==(const Scalar &a, const Scalar &b) {
    return a.value_.index() == b.value_.index() && a.bits() == b.bits();
  }
  std::uint64_t bits() const {
    if (const double *number = std::get_if<double>(&value_))
      return std::bit_cast<std::uint64_t>(*number);
    return std::visit([](auto number) { return static_cast<std::uint64_t>(number); }, value_);
  }

private:
  // Of the type that holds all numbers of T.
  template <typename T> static constexpr auto kept(T number) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(number);
    else if constexpr (std::is_same_v<T, bool>)
      return number;
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<std::uint64_t>(number);
    else
      return static_cast<std::int64_t>(number);
  }

  Variant value_ = std::int64_t(0);
};

} // namespace calque::schema
#endif
