#include "runtime/Print.h"

#include "calque/dtype.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace calque::runtime {
namespace {

constexpr int64_t MostElements = 1000; // that are printed in full
constexpr int64_t EdgeItems = 3;
constexpr size_t LineWidth = 75;
constexpr int Precision = 8; // digits behind the point

// A float as decimal text in parts, so that columns of them can be aligned.
struct Decimal {
  std::string whole, fraction; // with the sign; without the point
  std::string exponent;        // "e-05", or empty for positional notation
};

// The decimal digits of `value`: `precision` of them behind the point, or the fewest that read back as the same value.
template <typename T> Decimal toDecimal(T value, std::chars_format format, int precision = -1) {
  char digits[512]; // DBL_MAX in positional notation has 309 digits
  char *end = precision < 0 ? std::to_chars(digits, digits + sizeof digits, value, format).ptr
                            : std::to_chars(digits, digits + sizeof digits, value, format, precision).ptr;
  std::string_view text(digits, static_cast<size_t>(end - digits));
  Decimal result;
  size_t exponent = std::min(text.find('e'), text.size());
  result.exponent = text.substr(exponent);
  text = text.substr(0, exponent);
  size_t point = std::min(text.find('.'), text.size());
  result.whole = text.substr(0, point);
  result.fraction = text.substr(std::min(point + 1, text.size()));
  return result;
}

void trimZeros(std::string &fraction) { fraction.erase(fraction.find_last_not_of('0') + 1); }

// The shortest positional notation. For a large float, zeros follow the shortest digits, where to_chars would write all
// exact digits.
template <typename T> Decimal positional(T value) {
  Decimal result = toDecimal(value, std::chars_format::scientific);
  int exponent = 0;
  const char *first = result.exponent.data() + (result.exponent[1] == '+' ? 2 : 1);
  std::from_chars(first, result.exponent.data() + result.exponent.size(), exponent);
  if (exponent < 0)
    return toDecimal(value, std::chars_format::fixed);
  auto places = static_cast<size_t>(exponent);
  result.fraction.resize(std::max(result.fraction.size(), places), '0');
  result.whole += result.fraction.substr(0, places);
  result.fraction.erase(0, places);
  result.exponent.clear();
  return result;
}

// A truth value in memory: a byte that is 0 or 1.
enum class Truth : uint8_t {};

// What is printed of an element. Of a half it is the float with the fewest digits that reads back as the same half.
template <typename T> T shownOf(T value) { return value; }
template <typename T>
  requires detail::kIsHalf<T>
float shownOf(T value) {
  if (!std::isfinite(float(value)))
    return value;
  for (int precision = 0;; ++precision) {
    char digits[32];
    const char *end =
        std::to_chars(digits, digits + sizeof digits, float(value), std::chars_format::scientific, precision).ptr;
    float shown = 0;
    std::from_chars(digits, end, shown);
    if (T(shown).bits() == value.bits())
      return shown;
  }
}

// The magnitude from which on NumPy uses an exponent: `limit`, or less where the type has fewer digits.
template <typename T> detail::Arithmetic<T> exponentLimit(double limit) {
  return static_cast<detail::Arithmetic<T>>(std::min(limit, std::pow(10.0, std::numeric_limits<T>::digits10)));
}

// The text of a tensor of rank 0. NumPy's scalars have other bounds than its arrays, and no fixed precision.
std::string scalarText(Truth value) { return value != Truth() ? "True" : "False"; }

template <std::integral T> std::string scalarText(T value) { return std::to_string(value); }

template <typename T>
  requires detail::kIsFloating<T>
std::string scalarText(T element) {
  const auto value = shownOf(element);
  if (std::isnan(value))
    return "nan"; // whatever its sign
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  double magnitude = std::abs(static_cast<double>(value));
  double limit = std::is_same_v<T, double> ? 1e16 : static_cast<double>(exponentLimit<T>(1e16));
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < limit)) {
    Decimal parts = positional(value);
    return parts.whole + "." + (parts.fraction.empty() ? "0" : parts.fraction);
  }
  Decimal parts = toDecimal(value, std::chars_format::scientific);
  return parts.whole + (parts.fraction.empty() ? "" : ".") + parts.fraction + parts.exponent;
}

// As Python's complex numbers: "(1+2j)", and "2j" without a real part.
template <typename T>
  requires detail::kIsComplex<T>
std::string scalarText(T element) {
  auto textOf = [](auto part) {
    std::string text = scalarText(part);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  std::string imaginary = textOf(element.imag()) + "j";
  if (element.real() == 0 && !std::signbit(element.real()))
    return imaginary;
  return "(" + textOf(element.real()) + (imaginary[0] == '-' ? "" : "+") + imaginary + ")";
}

std::string rightAligned(const std::string &text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// The format of a tensor's elements. It follows from all elements that are shown, so that they have one width.
template <typename T> class ElementFormat;

template <> class ElementFormat<Truth> {
public:
  explicit ElementFormat(const std::vector<Truth> &) {}
  std::string operator()(Truth value) const { return value != Truth() ? " True" : "False"; }
};

template <std::integral T> class ElementFormat<T> {
public:
  explicit ElementFormat(const std::vector<T> &shown) {
    for (T value : shown)
      width = std::max(width, std::to_string(value).size());
  }
  std::string operator()(T value) const { return rightAligned(std::to_string(value), width); }

private:
  size_t width = 0;
};

template <typename T>
  requires detail::kIsFloating<T>
class ElementFormat<T> {
  using Float = detail::Arithmetic<T>;

public:
  // `plus`: positive numbers have a sign, too.
  explicit ElementFormat(const std::vector<T> &shown, bool plus = false) : plus(plus) {
    Float largest = 0, least = std::numeric_limits<Float>::infinity();
    bool anyFinite = false, anyOther = false, negativeInfinity = false;
    for (T element : shown) {
      const Float value = shownOf(element);
      (std::isfinite(value) ? anyFinite : anyOther) = true;
      negativeInfinity |= std::isinf(value) && value < 0;
      if (Float magnitude = std::abs(value); std::isfinite(value) && magnitude != 0) {
        largest = std::max(largest, magnitude);
        least = std::min(least, magnitude);
      }
    }
    scientific =
        largest != 0 && (largest >= exponentLimit<T>(1e8) || least < Float(1e-4) || largest / least > Float(1000));
    for (T value : shown)
      if (std::isfinite(Float(value))) {
        Decimal parts = shortest(shownOf(value));
        left = std::max(left, parts.whole.size());
        right = std::max(right, parts.fraction.size());
        exponentSize = std::max(exponentSize, parts.exponent.size());
      }
    // The words nan and inf may be wider than the numbers.
    size_t behind = right + exponentSize + 1, word = anyOther ? 3 + (negativeInfinity || plus) : 0;
    left = std::max(left, word > behind ? word - behind : 0);
  }

  std::string operator()(T element) const {
    const Float value = shownOf(element);
    if (!std::isfinite(value))
      return rightAligned((plus && !(value < 0) ? "+" : "") + scalarText(element), left + 1 + right + exponentSize);
    Decimal parts = shortest(value);
    if (scientific && parts.fraction.size() < right) {
      // More digits may have others in front: 3e-45 is 2.8e-45.
      const bool hasPlus = parts.whole[0] == '+';
      parts = toDecimal(value, std::chars_format::scientific, static_cast<int>(right));
      if (hasPlus)
        parts.whole.insert(0, 1, '+');
    }
    if (parts.exponent.size() < exponentSize)
      parts.exponent.insert(2, exponentSize - parts.exponent.size(), '0');
    parts.fraction.resize(std::max(parts.fraction.size(), right), ' ');
    return rightAligned(parts.whole, left) + "." + parts.fraction + parts.exponent;
  }

private:
  // The fewest digits that read back as the same value, or the value rounded to the precision where these are more.
  Decimal shortest(Float value) const {
    Decimal parts = scientific ? toDecimal(value, std::chars_format::scientific) : positional(value);
    if (parts.fraction.size() > Precision) {
      parts = toDecimal(value, scientific ? std::chars_format::scientific : std::chars_format::fixed, Precision);
      trimZeros(parts.fraction);
    }
    if (plus && parts.whole[0] != '-')
      parts.whole.insert(0, 1, '+');
    return parts;
  }

  bool scientific, plus;
  size_t left = 0, right = 0, exponentSize = 0;
};

// The parts each in a format of their own, the imaginary one with its sign.
template <typename T>
  requires detail::kIsComplex<T>
class ElementFormat<T> {
  using Part = typename T::value_type;

public:
  explicit ElementFormat(const std::vector<T> &shown)
      : real(parts(shown, [](const T &z) { return z.real(); })),
        imag(parts(shown, [](const T &z) { return z.imag(); }), true) {}

  std::string operator()(const T &element) const {
    std::string text = imag(element.imag());
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    return real(element.real()) + text;
  }

private:
  static std::vector<Part> parts(const std::vector<T> &shown, Part (*part)(const T &)) {
    std::vector<Part> all;
    for (const T &element : shown)
      all.push_back(part(element));
    return all;
  }

  ElementFormat<Part> real, imag;
};

template <typename T> class Formatter {
public:
  Formatter(std::span<const int64_t> dims, const T *data, int64_t count)
      : dims(dims), data(data), shortened(count > MostElements), element(shown(count)) {}

  std::string run(int64_t count) {
    block(data, count, 0);
    return std::move(text);
  }

private:
  // Calls `visit(index)` for each index of a dimension that is shown, and visit(-1) for the gap in its middle.
  template <typename Visit> void forEachShown(int64_t size, Visit visit) const {
    bool gap = shortened && size > 2 * EdgeItems;
    for (int64_t index = 0; index < size; ++index) {
      if (gap && index == EdgeItems) {
        visit(int64_t(-1));
        index = size - EdgeItems;
      }
      visit(index);
    }
  }

  std::vector<T> shown(int64_t count) const {
    std::vector<T> elements;
    collect(elements, data, count, 0);
    return elements;
  }

  void collect(std::vector<T> &elements, const T *from, int64_t count, size_t axis) const {
    if (axis == dims.size()) {
      elements.push_back(*from);
      return;
    }
    int64_t stride = count / dims[axis];
    forEachShown(dims[axis], [&](int64_t index) {
      if (index >= 0)
        collect(elements, from + index * stride, stride, axis + 1);
    });
  }

  // Appends the block of `count` elements at `from` with the dimensions from `axis` on.
  void block(const T *from, int64_t count, size_t axis) {
    text += '[';
    if (axis + 1 == dims.size()) {
      row(from);
    } else {
      int64_t stride = count / dims[axis];
      bool first = true;
      forEachShown(dims[axis], [&](int64_t index) {
        if (!first) {
          text.append(dims.size() - axis - 1, '\n');
          text.append(axis + 1, ' ');
        }
        first = false;
        if (index < 0)
          text += "...";
        else
          block(from + index * stride, stride, axis + 1);
      });
    }
    text += ']';
  }

  // Appends a row. A line breaks before an element that does not fit with all closing brackets, but not before its
  // first.
  void row(const T *from) {
    size_t indent = dims.size(), line = indent;
    bool first = true;
    forEachShown(dims.back(), [&](int64_t index) {
      std::string word = index < 0 ? "..." : element(from[index]);
      line += !first; // the space between
      if (line + word.size() + dims.size() > LineWidth && line > indent) {
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
        text.append(indent, ' ');
        line = indent;
      } else if (!first) {
        text += ' ';
      }
      first = false;
      text += word;
      line += word.size();
    });
  }

  std::span<const int64_t> dims;
  const T *data;
  bool shortened;
  ElementFormat<T> element;
  std::string text;
};

template <typename T> std::string format(std::span<const int64_t> dims, const void *data) {
  auto *elements = static_cast<const T *>(data);
  if (dims.empty())
    return scalarText(*elements);
  int64_t count = 1;
  for (int64_t size : dims)
    count *= size;
  return count ? Formatter<T>(dims, elements, count).run(count) : "[]";
}

} // namespace

std::string formatTensor(int32_t dtype, std::span<const int64_t> dims, const void *data) {
  if (is_dtype(static_cast<DType>(dtype)))
    return dispatch_all(static_cast<DType>(dtype), [&]<typename T>(std::type_identity<T>) {
      using Stored = std::conditional_t<std::is_same_v<T, bool>, Truth, T>;
      return format<Stored>(dims, data);
    });
  throw std::invalid_argument("formatTensor: no dtype has the code " + std::to_string(dtype));
}

bool PrintedLine::copyText(const std::string &text) {
  while (copied < text.size()) {
    const char *at = text.c_str() + copied++;
    if (*at == '{' && at[1] == '}') {
      ++copied;
      return true;
    }
    line += *at;
    if ((*at == '{' || *at == '}') && at[1] == *at)
      ++copied;
  }
  return false;
}

std::optional<std::string> PrintedLine::add(const std::string &text, int32_t dtype, std::span<const int64_t> dims,
                                            const void *data) {
  if (!std::exchange(hasBegun, true) && !copyText(text) && dtype >= 0 && !text.empty())
    line += ' '; // a label
  if (dtype >= 0)
    line += formatTensor(dtype, dims, data);
  if (copyText(text)) // another tensor follows
    return std::nullopt;
  return std::exchange(*this, {}).line;
}

} // namespace calque::runtime

extern "C" __attribute__((visibility("default"))) void calque_rt_print(const int64_t *words) {
  auto *frame = reinterpret_cast<CalqueCallFrame *>(words[0]);
  if (std::atomic_ref<int32_t>(frame->error.failed).load(std::memory_order_acquire))
    return;
  auto *host = static_cast<calque::runtime::HostCallbacks *>(frame->host);
  if (!host || !host->print)
    return;
  // noexcept, so that an exception ends the process here and does not unwind into code without unwind tables.
  [&]() noexcept {
    host->print(frame->host, frame->first_site + static_cast<int32_t>(words[1]), static_cast<int32_t>(words[2]),
                static_cast<int32_t>(words[3]), words + 5, reinterpret_cast<const void *>(words[4]));
  }();
}
