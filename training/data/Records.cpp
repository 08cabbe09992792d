#include "data/Records.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <cstring>

namespace calque::data {
namespace {

constexpr std::array<std::uint32_t, 256> kCrcs = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
  }
  return table;
}();

template <typename T> std::string littleEndian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}
template <typename T> T fromLittleEndian(const char *bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << 8 * i;
  return value;
}

} // namespace

std::uint32_t maskedCrc(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (char byte : bytes)
    crc = kCrcs[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ crc >> 8;
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

std::string headerOf(std::string_view record) {
  const std::string length = littleEndian(static_cast<std::uint64_t>(record.size()));
  return length + littleEndian(maskedCrc(length));
}
std::string footerOf(std::string_view record) { return littleEndian(maskedCrc(record)); }

RecordReader::RecordReader(const std::string &path, SourceLocation where, Compression compression)
    : file(path, where, compression) {}

bool RecordReader::next(std::string &record) {
  return readWithinMemory(file.path, file.where, [&] { return read(record); });
}

bool RecordReader::read(std::string &record) {
  const std::uint64_t begin = file.position();
  auto place = [&] { return absl::StrCat("record ", count_, ", at byte ", begin, ", "); };
  std::array<char, 12> header;
  const std::size_t got = file.read(header.data(), header.size());
  if (got == 0)
    return false;
  if (got < header.size())
    file.fail(absl::StrCat(place(), "is truncated: the file ends within its header"));
  if (fromLittleEndian<std::uint32_t>(header.data() + 8) != maskedCrc({header.data(), 8}))
    file.fail(absl::StrCat(place(), "is damaged: the checksum of its length is wrong, or this is no TFRecord file"));
  const auto length = fromLittleEndian<std::uint64_t>(header.data());
  record.clear();
  if (file.mayHold(length))
    record = file.readSome(length);
  std::array<char, 4> footer;
  if (record.size() < length || file.read(footer.data(), footer.size()) < footer.size())
    file.fail(absl::StrCat(place(), "is truncated: the file ends within its ", length, " bytes of data"));
  if (fromLittleEndian<std::uint32_t>(footer.data()) != maskedCrc(record))
    file.fail(absl::StrCat(place(), "is damaged: the checksum of its data is wrong"));
  ++count_;
  return true;
}

} // namespace calque::data
