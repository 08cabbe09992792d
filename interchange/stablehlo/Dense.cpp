// The elements of constants: numbers in brackets, bytes as hexadecimal digits, or one number for all.
#include "stablehlo/Attributes.h"

#include "calque/error.h"
#include "calque/functions.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace calque::stablehlo {

std::size_t countOf(const Type &type, const Scanner &scan) {
  std::uint64_t count = 1;
  bool isEmpty = false;
  for (std::int64_t size : type.dims) {
    if (size == Type::kOpen)
      scan.refuse("elements have the type " + type.str() + ", whose sizes are not all known");
    isEmpty = isEmpty || size == 0;
  }
  for (std::int64_t size : type.dims)
    if (!isEmpty && __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count))
      scan.refuse(type.str() + " has more elements than memory can hold");
  if (!isEmpty && count > (std::uint64_t(1) << 48))
    scan.refuse(type.str() + " has more elements than memory can hold");
  return isEmpty ? 0 : static_cast<std::size_t>(count);
}

namespace {

void require(const Type &type, const Scanner &scan) {
  if (!type.dtype)
    scan.refuse("the element type " + type.element + ", which Calque does not have");
}

// Whether x has no digits behind the point that a whole number would lose.
template <typename T> void append(std::vector<std::byte> &bytes, T x) {
  const auto *first = reinterpret_cast<const std::byte *>(&x);
  bytes.insert(bytes.end(), first, first + sizeof x);
}

class Elements {
public:
  Elements(std::string_view text, DType dtype, const Scanner &scan)
      : at_(text.data()), end_(text.data() + text.size()), dtype_(dtype), scan_(scan) {}

  // The bytes of all numbers, and their count.
  std::vector<std::byte> bytes;
  std::size_t count = 0;
  int deepest = 0;

  void read() {
    int depth = 0;
    for (skip(); at_ < end_; skip()) {
      if (*at_ == '[') {
        deepest = std::max(deepest, ++depth);
        ++at_;
      } else if (*at_ == ']') {
        --depth;
        ++at_;
      } else if (*at_ == ',') {
        ++at_;
      } else {
        element();
        ++count;
      }
      if (depth < 0)
        break;
    }
    if (depth != 0)
      scan_.refuse("brackets in elements don't match");
  }

private:
  void skip() {
    while (at_ < end_) {
      if (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')
        ++at_;
      else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '/')
        while (at_ < end_ && *at_ != '\n')
          ++at_;
      else
        return;
    }
  }
  std::string_view token() {
    const char *begin = at_;
    while (at_ < end_ && std::string_view(" \n\t\r,[]()").find(*at_) == std::string_view::npos)
      ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  [[noreturn]] void wrong(std::string_view text) const {
    scan_.refuse("'" + std::string(text.substr(0, 40)) + "' is no element of the type " + name_of(dtype_));
  }
  template <typename T> T whole(std::string_view text) const {
    T value{};
    const bool isNegative = text.starts_with("-");
    const std::string_view digits = isNegative ? text.substr(1) : text;
    std::uint64_t magnitude = 0;
    const bool isHex = digits.starts_with("0x");
    const char *first = digits.data() + (isHex ? 2 : 0), *last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(first, last, magnitude, isHex ? 16 : 10);
    if (error != std::errc() || end != last)
      wrong(text);
    value = static_cast<T>(isNegative ? std::uint64_t(0) - magnitude : magnitude);
    const bool fits = isHex        ? sizeof(T) == 8 || magnitude >> (8 * sizeof(T) % 64) == 0
                      : isNegative ? static_cast<std::int64_t>(value) == static_cast<std::int64_t>(-magnitude)
                      : std::is_signed_v<T> && sizeof(T) == 8 ? magnitude >> 63 == 0
                                                              : static_cast<std::uint64_t>(value) == magnitude;
    if (!fits)
      wrong(text);
    return value;
  }
  // A number, or its bits.
  template <typename T, typename Bits> void real(std::string_view text) {
    if (text.starts_with("0x")) {
      append(bytes, whole<Bits>(text));
      return;
    }
    double value = 0;
    const char *first = text.data() + (text.starts_with("+") ? 1 : 0), *last = text.data() + text.size();
    if constexpr (std::is_same_v<T, float>) {
      float narrow = 0; // rounded once
      const auto [end, error] = std::from_chars(first, last, narrow);
      if (end == last && !text.empty() && error == std::errc()) {
        append(bytes, narrow);
        return;
      }
    }
    const auto [end, error] = std::from_chars(first, last, value);
    if (end != last || text.empty())
      wrong(text);
    if (error == std::errc::result_out_of_range)
      value = std::strtod(std::string(text).c_str(), nullptr);
    append(bytes, static_cast<T>(value));
  }
  void part() {
    skip();
    const std::string_view text = token();
    if (dtype_ == DType::Complex64)
      real<float, std::uint32_t>(text);
    else
      real<double, std::uint64_t>(text);
  }
  void element() {
    if (is_complex(dtype_)) {
      const char *begin = at_;
      auto expect = [&](char c) {
        skip();
        if (at_ >= end_ || *at_ != c)
          wrong(std::string_view(begin, static_cast<std::size_t>(end_ - begin)));
        ++at_;
      };
      expect('(');
      part();
      expect(',');
      part();
      expect(')');
      return;
    }
    const std::string_view text = token();
    if (text.empty())
      wrong(std::string_view(at_, static_cast<std::size_t>(end_ - at_)));
    switch (dtype_) {
    case DType::Bool:
      if (text != "true" && text != "false" && text != "0" && text != "1" && text != "-1")
        wrong(text);
      return append(bytes, static_cast<unsigned char>(text != "false" && text != "0"));
    case DType::Int8:
      return append(bytes, whole<std::int8_t>(text));
    case DType::Int16:
      return append(bytes, whole<std::int16_t>(text));
    case DType::Int32:
      return append(bytes, whole<std::int32_t>(text));
    case DType::Int64:
      return append(bytes, whole<std::int64_t>(text));
    case DType::UInt8:
      return append(bytes, whole<std::uint8_t>(text));
    case DType::UInt16:
      return append(bytes, whole<std::uint16_t>(text));
    case DType::UInt32:
      return append(bytes, whole<std::uint32_t>(text));
    case DType::UInt64:
      return append(bytes, whole<std::uint64_t>(text));
    case DType::Float16:
      return real<float16, std::uint16_t>(text);
    case DType::BFloat16:
      return real<bfloat16, std::uint16_t>(text);
    case DType::Float32:
      return real<float, std::uint32_t>(text);
    default:
      return real<double, std::uint64_t>(text);
    }
  }

  const char *at_;
  const char *end_;
  DType dtype_;
  const Scanner &scan_;
};

// Constants of so many elements have them one by one: sizes and places must be known while tracing.
constexpr std::size_t kSmall = 256;

Dense made(const Type &type, std::span<const std::byte> bytes, bool isSplat, std::size_t count) {
  if (isSplat && count <= kSmall) {
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < count; ++i)
      all.insert(all.end(), bytes.begin(), bytes.end());
    return {type, tensor_from_bytes(*type.dtype, all, type.shape()), false};
  }
  return {type, tensor_from_bytes(*type.dtype, bytes, isSplat ? Shape{} : type.shape()), isSplat};
}

} // namespace

Dense elementsOfBytes(std::string_view bytes, const Type &type, const Scanner &scan) {
  require(type, scan);
  const std::size_t count = countOf(type, scan), width = size_of(*type.dtype);
  const auto given = std::as_bytes(std::span(bytes));
  if (*type.dtype == DType::Bool) {
    // Bits, eight in a byte; or bytes.
    const bool isPacked = given.size() == (count + 7) / 8 && given.size() != count;
    if (!isPacked && given.size() != count && given.size() != 1)
      scan.refuse("elements have " + std::to_string(given.size()) + " bytes, but " + type.str() + " takes " +
                  std::to_string(count) + " or an eighth of them");
    if (given.size() == 1 && (given[0] == std::byte(0xFF) || given[0] == std::byte(0))) {
      const auto one = static_cast<std::byte>(given[0] != std::byte(0));
      return made(type, std::span(&one, 1), true, count);
    }
    std::vector<std::byte> bools(count);
    for (std::size_t i = 0; i < count; ++i)
      bools[i] =
          std::byte(isPacked ? (std::to_integer<unsigned>(given[i / 8]) >> (i % 8)) & 1U : given[i] != std::byte(0));
    return made(type, bools, false, count);
  }
  if (given.size() == width && count != 1)
    return made(type, given, true, count);
  if (given.size() / width != count || given.size() % width != 0)
    scan.refuse("elements have " + std::to_string(given.size()) + " bytes, but " + type.str() + " takes " +
                std::to_string(count) + " times " + std::to_string(width));
  return made(type, given, false, count);
}

Dense readElements(std::string_view text, const Type &type, const Scanner &scan) {
  require(type, scan);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
    text.remove_prefix(1);
  if (text.starts_with("\"")) {
    if (!text.starts_with("\"0x") || text.size() < 4 || text.back() != '"')
      scan.refuse("the bytes of elements don't begin with 0x");
    const std::string_view digits = text.substr(3, text.size() - 4);
    std::string bytes;
    bytes.reserve(digits.size() / 2);
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      unsigned value = 0;
      if (std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16).ptr != digits.data() + i + 2)
        scan.refuse("the bytes of elements are no hexadecimal digits");
      bytes += static_cast<char>(value);
    }
    if (digits.size() % 2 != 0)
      scan.refuse("the bytes of elements have an odd number of digits");
    return elementsOfBytes(bytes, type, scan);
  }
  const std::size_t count = countOf(type, scan);
  Elements read(text, *type.dtype, scan);
  read.read();
  if (read.count == 1 && read.deepest == 0)
    return made(type, read.bytes, !type.dims.empty(), count);
  if (read.count != count || (count != 0 && static_cast<std::size_t>(read.deepest) != type.dims.size()))
    scan.refuse(std::to_string(read.count) + " elements in " + std::to_string(read.deepest) +
                " brackets are given, but the type is " + type.str());
  return made(type, read.bytes, false, count);
}

} // namespace calque::stablehlo
