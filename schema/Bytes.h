// Writes and reads numbers, texts and lists as bytes, which are the same on every machine.
#ifndef CALQUE_SCHEMA_BYTES_H
#define CALQUE_SCHEMA_BYTES_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace calque::runtime {

// Numbers are stored with their lowest byte first, texts and lists behind their lengths.
class ByteWriter {
public:
  void raw(std::span<const std::byte> more) {
    std::size_t at = bytes.size();
    bytes.resize(at + more.size());
    if (!more.empty())
      std::memcpy(bytes.data() + at, more.data(), more.size());
  }
  template <std::unsigned_integral T> void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  // Writes a number in as few bytes as it needs: 7 bits in each byte, the lowest first.
  void compact(std::uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes.push_back(static_cast<std::byte>(value | 128));
    bytes.push_back(static_cast<std::byte>(value));
  }
  void block(std::span<const std::byte> block) {
    number<std::uint64_t>(block.size());
    raw(block);
  }
  void text(std::string_view text) { block(std::as_bytes(std::span(text))); }

  std::vector<std::byte> bytes;
};

// Reads what ByteWriter has written. From the first missing byte on, everything is zero or empty.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest(bytes) {}

  std::span<const std::byte> raw(std::uint64_t size) {
    if (size > rest.size()) {
      complete = false;
      rest = {};
      return {};
    }
    std::span<const std::byte> taken = rest.first(size);
    rest = rest.subspan(size);
    return taken;
  }
  template <std::unsigned_integral T> T number() {
    T value = 0;
    std::span<const std::byte> taken = raw(sizeof(T));
    for (std::size_t i = 0; i < taken.size(); ++i)
      value = static_cast<T>(value | static_cast<T>(taken[i]) << (8 * i));
    return value;
  }
  // Accepts a number only in the form in which ByteWriter writes it.
  std::uint64_t compact() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto taken = number<std::uint8_t>();
      std::uint64_t bits = taken & 127;
      if (bits << shift >> shift != bits || (shift && !taken))
        break;
      value |= bits << shift;
      if (taken < 128)
        return value;
    }
    known = false;
    return 0;
  }
  std::span<const std::byte> block() { return raw(number<std::uint64_t>()); }
  std::string text() {
    std::span<const std::byte> taken = block();
    return std::string(reinterpret_cast<const char *>(taken.data()), taken.size());
  }
  // The length of a list whose entries take at least `entryBytes` bytes each. It is 0 if the remaining bytes can't hold
  // so many entries.
  std::size_t count(std::size_t entryBytes) { return atMost(number<std::uint64_t>(), entryBytes); }
  std::size_t compactCount(std::size_t entryBytes) { return atMost(compact(), entryBytes); }
  std::size_t atMost(std::uint64_t count, std::size_t entryBytes) {
    if (count <= rest.size() / entryBytes)
      return count;
    complete = false;
    rest = {};
    return 0;
  }
  // Reads the number of an enumerator, which is at most the last one's.
  template <typename Enum> Enum choice(Enum last) {
    auto value = number<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) {
      known = false;
      value = 0;
    }
    return static_cast<Enum>(value);
  }

  std::span<const std::byte> rest;
  bool complete = true, known = true;
};

} // namespace calque::runtime
#endif
