// The sizes of tensors. While tracing, some sizes may be unknown.
//
//   Shape shape = x.shape();                  // [?,3] in a trace in which the first size is unknown
//   Tensor noise = random::normal(x.shape()); // a shape can be passed on,
//   Tensor rows = reshape(x, {shape[0], -1}); // and so can each of its sizes
//   Tensor average = sum(x) / shape[0];       // an operation takes a size as a number that each call knows
//   Size rows = batched ? shape[0] : Size(1); // the other side of a conditional is a Size too: `: 1` does not compile
//   if (shape[0].is_known())
//     std::cout << shape[0] * 2;              // C++ can compute with a known size only: StateError for another
#ifndef CALQUE_SHAPE_H
#define CALQUE_SHAPE_H

#include "calque/error.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque {

namespace detail {
struct SizeOrigin;
CALQUE_API void retain(const SizeOrigin *origin) noexcept;
CALQUE_API void release(const SizeOrigin *origin) noexcept;
[[noreturn]] CALQUE_API void throwIsNoSize(bool isNegative, SourceLocation where);
} // namespace detail

// The size of one dimension: a number, or unknown while tracing. An unknown size refers to its tensor, so that
// operations can read the size from the tensor in each call. Converting an unknown size to a C++ number is a StateError
// that names the tensor; under `reduce_retracing`, the conversion ends the relaxed trace.
class CALQUE_API Size {
public:
  constexpr Size() = default; // 0
  // ValueError for a number that int64 does not hold, and for the least int64, which stands for an unknown size.
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  constexpr Size(T number, SourceLocation where = SourceLocation::current())
      : value_(static_cast<std::int64_t>(number)) {
    if ((std::unsigned_integral<T> && value_ < 0) || value_ == kUnknown)
      detail::throwIsNoSize(!std::unsigned_integral<T>, where);
  }
  constexpr Size(const Size &other) noexcept : value_(other.value_), origin_(other.origin_) {
    if (origin_)
      detail::retain(origin_);
  }
  constexpr Size(Size &&other) noexcept : value_(other.value_), origin_(std::exchange(other.origin_, nullptr)) {
    if (origin_)
      other.value_ = 0;
  }
  // A temporary size can't be assigned: `x.shape()[0] = 2` would change a copy.
  constexpr Size &operator=(Size other) & noexcept {
    std::swap(value_, other.value_);
    std::swap(origin_, other.origin_);
    return *this;
  }
  constexpr ~Size() {
    if (origin_)
      detail::release(origin_);
  }

  // The value of kDynamic: an unknown size of no tensor.
  static constexpr Size unknown() {
    Size size;
    size.value_ = kUnknown;
    return size;
  }

  constexpr bool is_known() const { return value_ != kUnknown; }
  // The number. StateError for an unknown size.
  constexpr operator std::int64_t() const { return is_known() ? value_ : asked(); }
  // "3"; "?" for an unknown size.
  std::string str() const;

  Size &operator+=(std::int64_t other) & { return *this = Size(number() + other, SourceLocation()); }
  Size &operator-=(std::int64_t other) & { return *this = Size(number() - other, SourceLocation()); }
  Size &operator*=(std::int64_t other) & { return *this = Size(number() * other, SourceLocation()); }
  Size &operator/=(std::int64_t other) & { return *this = Size(number() / other, SourceLocation()); }
  Size &operator++() & { return *this += 1; }
  Size &operator--() & { return *this -= 1; }

  // Whether two sizes are equal. `size == kDynamic` is true for an unknown size of a tensor and for kDynamic. An
  // unknown size of a tensor equals itself. Comparing an unknown size with any other size is a StateError.
  friend bool operator==(const Size &a, const Size &b) {
    return a.is_known() && b.is_known() ? a.value_ == b.value_ : equalUnknown(a, b);
  }
  template <typename T>
    requires std::is_arithmetic_v<T>
  friend bool operator==(const Size &a, T b) {
    if constexpr (std::unsigned_integral<T>)
      return a.number() >= 0 && static_cast<std::uint64_t>(a.value_) == b;
    else
      return a.number() == b;
  }

  const detail::SizeOrigin *origin() const { return origin_; }
  // Takes over one reference to the origin.
  static Size of(const detail::SizeOrigin *origin) {
    Size size = unknown();
    size.origin_ = origin;
    return size;
  }

private:
  static constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t number() const { return *this; }
  std::int64_t asked() const;
  static bool equalUnknown(const Size &a, const Size &b);

  std::int64_t value_ = 0;
  const detail::SizeOrigin *origin_ = nullptr; // of an unknown size other than kDynamic
};

// The size of a TensorSpec's dimension that may have any size.
inline constexpr Size kDynamic = Size::unknown();

// Operators on two sizes, for which the operators of numbers and of tensors would be ambiguous. For a size and a
// number, C++ converts the size.
template <std::same_as<Size> S> std::int64_t operator+(const S &a, const S &b) { return a + std::int64_t(b); }
template <std::same_as<Size> S> std::int64_t operator-(const S &a, const S &b) { return a - std::int64_t(b); }
template <std::same_as<Size> S> std::int64_t operator*(const S &a, const S &b) { return a * std::int64_t(b); }
template <std::same_as<Size> S> std::int64_t operator/(const S &a, const S &b) { return a / std::int64_t(b); }
template <std::same_as<Size> S> std::int64_t operator%(const S &a, const S &b) { return a % std::int64_t(b); }
template <std::same_as<Size> S> std::int64_t operator-(const S &a) { return -std::int64_t(a); }
template <std::same_as<Size> S> bool operator<(const S &a, const S &b) { return a < std::int64_t(b); }
template <std::same_as<Size> S> bool operator>(const S &a, const S &b) { return a > std::int64_t(b); }
template <std::same_as<Size> S> bool operator<=(const S &a, const S &b) { return a <= std::int64_t(b); }
template <std::same_as<Size> S> bool operator>=(const S &a, const S &b) { return a >= std::int64_t(b); }

CALQUE_API std::ostream &operator<<(std::ostream &os, const Size &size);

// The sizes of a tensor's dimensions, outermost first; empty for a scalar. A container with the interface of
// std::vector, which allocates no memory up to six dimensions. It converts from std::vector<std::int64_t>, and to it if
// all sizes are known.
class CALQUE_API Shape {
public:
  using value_type = Size;
  using reference = Size &;
  using const_reference = const Size &;
  using iterator = Size *;
  using const_iterator = const Size *;
  using difference_type = std::ptrdiff_t;
  using size_type = std::size_t;

  Shape() = default;
  Shape(std::initializer_list<Size> sizes);
  explicit Shape(std::size_t rank, const Size &size = 0);
  template <std::input_iterator It>
  Shape(It first, It last, [[maybe_unused]] SourceLocation where = SourceLocation::current()) {
    for (; first != last; ++first)
      if constexpr (std::integral<std::iter_value_t<It>>)
        push_back(Size(*first, where));
      else
        push_back(Size(*first));
  }
  template <typename Sizes>
    requires std::same_as<Sizes, std::vector<std::int64_t>>
  Shape(const Sizes &sizes, SourceLocation where = SourceLocation::current())
      : Shape(sizes.begin(), sizes.end(), where) {}
  Shape(const Shape &other) = default;
  Shape(Shape &&other) noexcept
      : small_(std::move(other.small_)), large_(std::move(other.large_)), rank_(std::exchange(other.rank_, 0)) {}
  Shape &operator=(const Shape &other) & = default;
  Shape &operator=(Shape &&other) & noexcept {
    small_ = std::move(other.small_);
    large_ = std::move(other.large_);
    rank_ = std::exchange(other.rank_, 0);
    return *this;
  }

  // StateError for an unknown size.
  operator std::vector<std::int64_t>() const;

  std::size_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  Size *begin() & { return data(); }
  Size *end() & { return data() + rank_; }
  const Size *begin() const & { return data(); }
  const Size *end() const & { return data() + rank_; }
  // Each x.shape() is another Shape, so x.shape().begin() and x.shape().end() would not belong together.
  const Size *begin() const && = delete;
  const Size *end() const && = delete;

  // ValueError for a dimension that the shape does not have.
  Size &operator[](std::size_t dimension) & { return data()[checked(dimension)]; }
  const Size &operator[](std::size_t dimension) const & { return data()[checked(dimension)]; }
  Size operator[](std::size_t dimension) && { return data()[checked(dimension)]; }
  Size &front() & { return data()[checked(0)]; }
  const Size &front() const & { return data()[checked(0)]; }
  Size front() && { return data()[checked(0)]; }
  Size &back() & { return data()[checked(rank_ - 1)]; }
  const Size &back() const & { return data()[checked(rank_ - 1)]; }
  Size back() && { return data()[checked(rank_ - 1)]; }

  void push_back(Size size);
  void pop_back();
  void clear() { *this = Shape(); }
  Size *insert(const Size *at, Size size);
  template <std::input_iterator It>
  Size *insert(const Size *at, It first, It last, SourceLocation where = SourceLocation::current()) {
    const std::ptrdiff_t position = at - data();
    const Shape more(first, last, where); // a copy, because first and last may point into this shape
    for (std::size_t i = 0; i < more.size(); ++i)
      insert(data() + position + i, more[i]);
    return data() + position;
  }
  Size *erase(const Size *at) { return erase(at, at + 1); }
  Size *erase(const Size *first, const Size *last);

  // Whether all sizes are known.
  bool is_known() const {
    bool known = true;
    for (const Size &size : *this)
      known = known && size.is_known();
    return known;
  }
  // Whether the two shapes may be equal. An unknown size may be any size.
  bool is_compatible_with(const Shape &other) const;
  // "[2,?,3]".
  std::string str() const;

  // Shapes with different ranks or with different known sizes are different. Otherwise the sizes are compared, with the
  // errors above.
  friend bool operator==(const Shape &a, const Shape &b) { return a.equals(b); }

private:
  static constexpr std::size_t kSmall = 6;
  Size *data() { return large_.empty() ? small_.data() : large_.data(); }
  const Size *data() const { return large_.empty() ? small_.data() : large_.data(); }
  std::size_t checked(std::size_t dimension) const {
    if (dimension >= rank_)
      throwNoDimension(dimension);
    return dimension;
  }
  [[noreturn]] void throwNoDimension(std::size_t dimension) const;
  bool equals(const Shape &other) const;

  std::array<Size, kSmall> small_;
  std::vector<Size> large_; // all sizes, if there are more than kSmall
  std::size_t rank_ = 0;
};

CALQUE_API std::ostream &operator<<(std::ostream &os, const Shape &shape);

} // namespace calque
#endif
