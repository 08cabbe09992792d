#include "runtime/Image.h"

#include <concepts>
#include <cstring>
#include <string_view>
#include <utility>

namespace calque::runtime {

namespace {

constexpr std::string_view kMagic = "calque-image\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFixupBytes = 24;

// Numbers are stored with their lowest byte first, texts and lists behind their lengths.
class Writer {
public:
  void raw(std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
  template <std::unsigned_integral T> void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void block(std::span<const std::byte> block) {
    number<std::uint64_t>(block.size());
    raw(block);
  }
  void text(std::string_view text) { block(std::as_bytes(std::span(text))); }

  std::vector<std::byte> bytes;
};

// Once something is missing, everything that follows is zero or empty.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : rest(bytes) {}

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
  std::span<const std::byte> block() { return raw(number<std::uint64_t>()); }
  std::string text() {
    std::span<const std::byte> taken = block();
    return std::string(reinterpret_cast<const char *>(taken.data()), taken.size());
  }
  // The length of a list whose entries take at least so many bytes each: never more than there can be.
  std::size_t count(std::size_t entryBytes) {
    std::uint64_t count = number<std::uint64_t>();
    if (count <= rest.size() / entryBytes)
      return count;
    complete = false;
    rest = {};
    return 0;
  }
  // A number that stands for one of the values up to the last one.
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

std::vector<std::byte> copied(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

std::vector<std::byte> serialize(const Image &image) {
  Writer writer;
  writer.raw(std::as_bytes(std::span(kMagic)));
  writer.number(kVersion);
  writer.number(static_cast<std::uint32_t>(image.machine));
  writer.number(image.codeAlignment);
  writer.number(image.dataAlignment);
  writer.block(image.code);
  writer.block(image.data);
  writer.number<std::uint64_t>(image.fixups.size());
  for (const Fixup &fixup : image.fixups) {
    writer.number(static_cast<std::uint8_t>(fixup.kind));
    writer.number(static_cast<std::uint8_t>(fixup.part));
    writer.number(static_cast<std::uint8_t>(fixup.target));
    writer.number(std::uint8_t(0));
    writer.number(fixup.import);
    writer.number(fixup.offset);
    writer.number(static_cast<std::uint64_t>(fixup.addend));
  }
  writer.number<std::uint64_t>(image.imports.size());
  for (const std::string &name : image.imports)
    writer.text(name);
  writer.number<std::uint64_t>(image.symbols.size());
  for (const Image::Symbol &symbol : image.symbols) {
    writer.text(symbol.name);
    writer.number(symbol.offset);
  }
  return std::move(writer.bytes);
}

ParsedImage parseImage(std::span<const std::byte> bytes) {
  ParsedImage result;
  Reader reader(bytes);
  std::span<const std::byte> magic = reader.raw(kMagic.size());
  if (magic.size() != kMagic.size() || std::memcmp(magic.data(), kMagic.data(), kMagic.size())) {
    result.error = "these bytes are no native code of Calque";
    return result;
  }
  if (reader.number<std::uint32_t>() != kVersion) {
    result.error = "this native code is in the form of another version";
    return result;
  }
  Image image;
  image.machine = static_cast<Machine>(reader.number<std::uint32_t>());
  image.codeAlignment = reader.number<std::uint32_t>();
  image.dataAlignment = reader.number<std::uint32_t>();
  image.code = copied(reader.block());
  image.data = copied(reader.block());
  image.fixups.resize(reader.count(kFixupBytes));
  for (Fixup &fixup : image.fixups) {
    fixup.kind = reader.choice(Fixup::Kind::Absolute64);
    fixup.part = reader.choice(Fixup::Part::Data);
    fixup.target = reader.choice(Fixup::Target::ImportAddress);
    reader.known &= reader.number<std::uint8_t>() == 0;
    fixup.import = reader.number<std::uint32_t>();
    fixup.offset = reader.number<std::uint64_t>();
    fixup.addend = static_cast<std::int64_t>(reader.number<std::uint64_t>());
  }
  image.imports.resize(reader.count(sizeof(std::uint64_t)));
  for (std::string &name : image.imports)
    name = reader.text();
  image.symbols.resize(reader.count(2 * sizeof(std::uint64_t)));
  for (Image::Symbol &symbol : image.symbols) {
    symbol.name = reader.text();
    symbol.offset = reader.number<std::uint64_t>();
  }
  if (!reader.complete)
    result.error = "this native code is cut short";
  else if (!reader.known || !reader.rest.empty())
    result.error = "this native code is damaged";
  else
    result.image = std::move(image);
  return result;
}

} // namespace calque::runtime
