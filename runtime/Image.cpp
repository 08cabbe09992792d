#include "runtime/Image.h"

#include "schema/Bytes.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace calque::runtime {

namespace {

constexpr std::string_view kMagic = "calque-image\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFixupBytes = 24;

std::vector<std::byte> copied(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

std::vector<std::byte> serialize(const Image &image) {
  ByteWriter writer;
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
  ByteReader reader(bytes);
  std::span<const std::byte> magic = reader.raw(kMagic.size());
  if (magic.size() != kMagic.size() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
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
