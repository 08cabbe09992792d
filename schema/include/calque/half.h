// Floating-point numbers of 16 bits: float16 (IEEE 754's binary16) and bfloat16 (the upper half of a float32). They are
// stored as such and computed with as float32: C++ converts a half to float by itself, and back where it is told to.
#ifndef CALQUE_HALF_H
#define CALQUE_HALF_H

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace calque {

namespace detail {

// How a floating-point type of 16 bits is laid out, beside its sign.
template <int Exponent, int Fraction> struct HalfLayout {
  static constexpr int kFraction = Fraction, kBias = (1 << (Exponent - 1)) - 1, kSmallest = 1 - kBias;
  static constexpr std::uint16_t kInfinity = static_cast<std::uint16_t>(((1 << Exponent) - 1) << Fraction);

  // Rounded once, to the nearest, ties to even. What is too large becomes infinity; NaN stays NaN, with its sign.
  static constexpr std::uint16_t bitsOf(double number) {
    const auto given = std::bit_cast<std::uint64_t>(number);
    const auto sign = static_cast<std::uint16_t>(given >> 48 & 0x8000U);
    const std::uint64_t magnitude = given & ~(std::uint64_t(1) << 63);
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    if (exponent == 1024)
      return static_cast<std::uint16_t>(sign | kInfinity | (magnitude << 12 ? 1U << (Fraction - 1) : 0U));
    // The significand as a whole number of units of the result's last place, and the bits that do not fit.
    const int unit = (exponent < kSmallest ? kSmallest : exponent) - Fraction; // 2^unit
    const std::uint64_t significand = (magnitude & ((std::uint64_t(1) << 52) - 1)) | (std::uint64_t(1) << 52);
    const int dropped = unit - (exponent - 52);
    if (dropped > 54 || exponent == -1023) // less than half of the smallest number, as are float64's subnormal numbers
      return sign;
    std::uint64_t kept = significand >> dropped;
    const std::uint64_t rest = significand & ((std::uint64_t(1) << dropped) - 1), half = std::uint64_t(1)
                                                                                         << (dropped - 1);
    kept += rest > half || (rest == half && (kept & 1));
    // A carry goes on into the exponent, as it has to.
    const std::uint64_t bits =
        exponent < kSmallest ? kept : kept + (static_cast<std::uint64_t>(exponent - kSmallest) << Fraction);
    return static_cast<std::uint16_t>(sign | (bits < kInfinity ? bits : kInfinity));
  }

  // Exact.
  static constexpr float valueOf(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16, magnitude = bits & 0x7fffU;
    if (magnitude >= kInfinity)
      return std::bit_cast<float>(sign | 0x7f800000U | (magnitude - kInfinity) << (23 - Fraction));
    if (Exponent == 8)
      return std::bit_cast<float>(sign | magnitude << 16);
    if (magnitude >> Fraction == 0) { // subnormal
      constexpr float unit = std::bit_cast<float>(static_cast<std::uint32_t>(127 + kSmallest - Fraction) << 23);
      const float value = static_cast<float>(magnitude) * (Exponent == 8 ? 1 : unit);
      return sign ? -value : value;
    }
    return std::bit_cast<float>(sign | ((magnitude << (23 - Fraction)) + ((127U - kBias) << 23)));
  }
};

template <typename Layout> class Half {
public:
  constexpr Half() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr explicit Half(T number) : bits_(Layout::bitsOf(static_cast<double>(number))) {}
  static constexpr Half from_bits(std::uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
  }

  constexpr std::uint16_t bits() const { return bits_; }
  constexpr operator float() const { return Layout::valueOf(bits_); }

  // As those of float. Without them a half would be a tensor's element as much as a float to an operator.
#define CALQUE_HALF_OPERATOR(op)                                                                                       \
  friend constexpr auto operator op(Half a, Half b) { return float(a) op float(b); }                                   \
  template <typename T>                                                                                                \
    requires std::is_arithmetic_v<T>                                                                                   \
  friend constexpr auto operator op(Half a, T b) {                                                                     \
    return float(a) op b;                                                                                              \
  }                                                                                                                    \
  template <typename T>                                                                                                \
    requires std::is_arithmetic_v<T>                                                                                   \
  friend constexpr auto operator op(T a, Half b) {                                                                     \
    return a op float(b);                                                                                              \
  }
  CALQUE_HALF_OPERATOR(+)
  CALQUE_HALF_OPERATOR(-)
  CALQUE_HALF_OPERATOR(*)
  CALQUE_HALF_OPERATOR(/)
  CALQUE_HALF_OPERATOR(==)
  CALQUE_HALF_OPERATOR(!=)
  CALQUE_HALF_OPERATOR(<)
  CALQUE_HALF_OPERATOR(<=)
  CALQUE_HALF_OPERATOR(>)
  CALQUE_HALF_OPERATOR(>=)
#undef CALQUE_HALF_OPERATOR
  constexpr Half operator-() const { return from_bits(bits_ ^ 0x8000U); }

private:
  std::uint16_t bits_ = 0;
};

} // namespace detail

// 1 sign, 5 bits of exponent, 11 significant bits: up to 65,504, and 2^-24 as the smallest number.
using float16 = detail::Half<detail::HalfLayout<5, 10>>;
// 1 sign, 8 bits of exponent, 8 significant bits: the range of float32.
using bfloat16 = detail::Half<detail::HalfLayout<8, 7>>;

namespace detail {
template <typename T> inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
// A C++ type with numbers after the point.
template <typename T> inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsHalf<T>;
// A number, of which tensors are made.
template <typename T> inline constexpr bool kIsNumber = std::is_arithmetic_v<T> || kIsHalf<T>;
// What C++ computes with: float for a half, else the type itself.
template <typename T> using Arithmetic = std::conditional_t<kIsHalf<T>, float, T>;
} // namespace detail

} // namespace calque

template <typename Layout> class std::numeric_limits<calque::detail::Half<Layout>> {
  using Half = calque::detail::Half<Layout>;

public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int radix = 2, digits = Layout::kFraction + 1, digits10 = Layout::kFraction * 3 / 10,
                       max_digits10 = 2 + digits * 3 / 10, min_exponent = Layout::kSmallest + 1,
                       max_exponent = Layout::kBias + 1, max_exponent10 = (Layout::kBias + 1) * 3 / 10,
                       min_exponent10 = Layout::kSmallest * 3 / 10;
  static constexpr Half min() { return Half::from_bits(1 << Layout::kFraction); }
  static constexpr Half max() { return Half::from_bits(Layout::kInfinity - 1); }
  static constexpr Half lowest() { return Half::from_bits(0x8000U | (Layout::kInfinity - 1)); }
  static constexpr Half epsilon() {
    return Half(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(127 - Layout::kFraction) << 23)));
  }
  static constexpr Half denorm_min() { return Half::from_bits(1); }
  static constexpr Half infinity() { return Half::from_bits(Layout::kInfinity); }
  static constexpr Half quiet_NaN() { return Half::from_bits(Layout::kInfinity | 1U << (Layout::kFraction - 1)); }
};
#endif
