// Complex numbers as tensors have them: the real part, then the imaginary part, as C, Fortran and NumPy lay them out.
// std::complex<float> and std::complex<double> are the same in memory and convert to and from these by themselves. This
// header does without <complex>, which includes streams.
#ifndef CALQUE_COMPLEX_H
#define CALQUE_COMPLEX_H

#include <type_traits>

namespace calque {

namespace detail {

// A type of a real and an imaginary part, each an R: std::complex<R>.
template <typename T, typename R>
concept ComplexOf = requires(const T &z) {
  requires std::is_same_v<typename T::value_type, R>;
  requires std::is_same_v<std::remove_cvref_t<decltype(z.real())>, R>;
  requires std::is_same_v<std::remove_cvref_t<decltype(z.imag())>, R>;
  requires sizeof(T) == 2 * sizeof(R);
  requires std::is_trivially_copyable_v<T>;
};

template <typename R> class Complex {
public:
  using value_type = R;

  constexpr Complex() = default;
  constexpr Complex(R real, R imag) : real_(real), imag_(imag) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr explicit Complex(T number) : real_(static_cast<R>(number)) {}
  template <ComplexOf<R> T> constexpr Complex(const T &z) : real_(z.real()), imag_(z.imag()) {}
  template <ComplexOf<R> T> constexpr operator T() const { return T(real_, imag_); }

  constexpr R real() const { return real_; }
  constexpr R imag() const { return imag_; }
  friend constexpr bool operator==(Complex, Complex) = default;

private:
  R real_ = 0, imag_ = 0;
};

// A complex number of C++, of either precision.
template <typename T> inline constexpr bool kIsComplex = ComplexOf<T, float> || ComplexOf<T, double>;

} // namespace detail

using complex64 = detail::Complex<float>;
using complex128 = detail::Complex<double>;

} // namespace calque
#endif
