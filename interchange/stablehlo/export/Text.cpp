#include "stablehlo/export/Text.h"

#include "calque/dtype.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace calque::stablehlo {

const char *nameOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "i1";
  case DType::Int8:
    return "i8";
  case DType::Int16:
    return "i16";
  case DType::Int32:
    return "i32";
  case DType::Int64:
    return "i64";
  case DType::UInt8:
    return "ui8";
  case DType::UInt16:
    return "ui16";
  case DType::UInt32:
    return "ui32";
  case DType::UInt64:
    return "ui64";
  case DType::Float16:
    return "f16";
  case DType::BFloat16:
    return "bf16";
  case DType::Float32:
    return "f32";
  case DType::Float64:
    return "f64";
  case DType::Complex64:
    return "complex<f32>";
  case DType::Complex128:
    return "complex<f64>";
  }
  return "";
}

std::string textOf(const ProgramType &type) {
  std::string text = "tensor<";
  for (std::int64_t size : type.sizes)
    text += (size == kUnknownSize ? "?" : std::to_string(size)) + "x";
  return text + nameOf(*type.dtype) + ">";
}

static std::string joined(const Ints &numbers) {
  std::string text;
  for (std::int64_t each : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text;
}
std::string listed(const Ints &numbers) { return "[" + joined(numbers) + "]"; }
std::string arrayOf(const Ints &numbers) {
  return numbers.empty() ? "array<i64>" : "array<i64: " + joined(numbers) + ">";
}

std::string quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string made = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 0x20 || byte == 0x7F) {
      made += '\\';
      made += kDigits[byte >> 4];
      made += kDigits[byte & 15];
    } else {
      made += c;
    }
  }
  return made + '"';
}

namespace {

template <typename T> T valueAt(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string hexOf(const std::byte *at, std::size_t width) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, width);
  std::array<char, 16> digits{};
  char *end = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr;
  const std::string text(digits.data(), end);
  return "0x" + std::string(2 * width - text.size(), '0') + text;
}

// The shortest decimal number that is read as the same one. MLIR's has a point, and no infinity and NaN: these are
// bits. A reader may take the number for a double first, so that what is not the same by that way is bits as well.
template <typename T, typename Wide = T> std::string real(const std::byte *at) {
  const auto value = static_cast<Wide>(valueAt<T>(at));
  std::array<char, 64> digits{};
  char *end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of("in") != std::string::npos || static_cast<Wide>(std::strtod(text.c_str(), nullptr)) != value)
    return hexOf(at, sizeof(T));
  if (text.find('.') == std::string::npos) {
    const std::size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

template <typename T> std::string whole(const std::byte *at) { return std::to_string(valueAt<T>(at)); }

std::string element(DType dtype, const std::byte *at) {
  switch (dtype) {
  case DType::Bool:
    return valueAt<std::uint8_t>(at) ? "true" : "false";
  case DType::Int8:
    return whole<std::int8_t>(at);
  case DType::Int16:
    return whole<std::int16_t>(at);
  case DType::Int32:
    return whole<std::int32_t>(at);
  case DType::Int64:
    return whole<std::int64_t>(at);
  case DType::UInt8:
    return whole<std::uint8_t>(at);
  case DType::UInt16:
    return whole<std::uint16_t>(at);
  case DType::UInt32:
    return whole<std::uint32_t>(at);
  case DType::UInt64:
    return whole<std::uint64_t>(at);
  case DType::Float16:
    return real<float16, float>(at);
  case DType::BFloat16:
    return real<bfloat16, float>(at);
  case DType::Float32:
    return real<float>(at);
  case DType::Float64:
    return real<double>(at);
  case DType::Complex64:
    return "(" + real<float>(at) + ", " + real<float>(at + 4) + ")";
  case DType::Complex128:
    return "(" + real<double>(at) + ", " + real<double>(at + 8) + ")";
  }
  return "";
}

std::string nested(const ProgramType &type, std::size_t axis, const std::byte *&at) {
  if (axis == type.sizes.size()) {
    const std::byte *here = at;
    at += size_of(*type.dtype);
    return element(*type.dtype, here);
  }
  std::string text = "[";
  for (std::int64_t i = 0; i < type.sizes[axis]; ++i)
    text += (i ? ", " : "") + nested(type, axis + 1, at);
  return text + "]";
}

// Bools are written one by one: what their bytes mean has changed between versions of MLIR.
constexpr std::size_t kSmall = 16;

} // namespace

std::string elementsOf(const ProgramType &type, std::span<const std::byte> bytes, bool isSplat) {
  std::size_t count = 1;
  for (std::int64_t size : type.sizes)
    count *= static_cast<std::size_t>(size);
  if (count == 0)
    return "dense<>";
  if (isSplat || count == 1)
    return "dense<" + element(*type.dtype, bytes.data()) + ">";
  if (count > kSmall && *type.dtype != DType::Bool)
    return "";
  const std::byte *at = bytes.data();
  return "dense<" + nested(type, 0, at) + ">";
}

void ConstantText::write(const Write &write) const {
  write("    " + name + " = stablehlo.constant ");
  if (small.empty()) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    constexpr std::size_t kPart = std::size_t(1) << 16;
    write("dense<\"0x");
    std::string digits;
    for (std::size_t from = 0; from < bytes.size(); from += kPart) {
      const auto part = bytes.subspan(from, std::min(kPart, bytes.size() - from));
      digits.resize(2 * part.size());
      for (std::size_t i = 0; i < part.size(); ++i) {
        const auto byte = std::to_integer<unsigned>(part[i]);
        digits[2 * i] = kDigits[byte >> 4];
        digits[2 * i + 1] = kDigits[byte & 15];
      }
      write(digits);
    }
    write("\">");
  } else {
    write(small);
  }
  write(" : " + textOf(type) + "\n");
}

} // namespace calque::stablehlo
