#include "data/Idx.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "calque/data/datasets.h"
#include "data/File.h"

#include <algorithm>
#include <array>
#include <bit>

namespace calque::data {
namespace {

std::size_t sizeOf(unsigned type) {
  switch (type) {
  case IdxFile::UInt8:
  case IdxFile::Int8:
    return 1;
  case IdxFile::Int16:
    return 2;
  case IdxFile::Int32:
  case IdxFile::Float32:
    return 4;
  case IdxFile::Float64:
    return 8;
  }
  return 0;
}

std::string hex(unsigned value) { return absl::StrFormat("0x%08X", value); }

unsigned bigEndian(const unsigned char *bytes) {
  return unsigned(bytes[0]) << 24 | unsigned(bytes[1]) << 16 | unsigned(bytes[2]) << 8 | bytes[3];
}

IdxFile read(const std::string &path, unsigned expected, SourceLocation where,
             const std::function<void(const Shape &)> &check) {
  FileReader reader(path, where);
  auto header = [&](unsigned char *out) {
    if (reader.read(out, 4) != 4)
      reader.fail("truncated: it ends within its header");
    return bigEndian(out);
  };
  std::array<unsigned char, 4> word;
  unsigned magic = header(word.data());
  std::size_t elementSize = sizeOf(word[2]);
  if (word[0] || word[1] || !elementSize || (expected && magic != expected))
    reader.fail(absl::StrCat("wrong magic number ", hex(magic),
                             expected ? absl::StrCat(", which should be ", hex(expected)) : "; this is no IDX file"));

  IdxFile file{static_cast<IdxFile::Type>(word[2]), {}, {}};
  std::size_t total = elementSize;
  constexpr std::size_t kTooMany = SIZE_MAX;
  for (int i = 0; i < word[3]; ++i) {
    std::array<unsigned char, 4> size;
    file.shape.push_back(header(size.data()));
    if (__builtin_mul_overflow(total, static_cast<std::size_t>(file.shape.back()), &total))
      total = kTooMany;
  }
  if (check)
    check(file.shape);
  auto appendSize = [](std::string *text, const Size &size) { text->append(size.str()); };
  std::string sizes =
      file.shape.empty() ? "one element" : absl::StrCat(absl::StrJoin(file.shape, "x", appendSize), " elements");
  const std::string bytes = total == kTooMany ? "more than 2^64" : absl::StrCat(total);
  if (!reader.mayHold(total))
    reader.fail(
        absl::StrCat("truncated: its header says ", sizes, ", and there are ", reader.rest(), " bytes of ", bytes));
  // A header may be wrong about the size, so memory grows with the bytes that are read.
  while (file.bytes.size() < total) {
    std::size_t before = file.bytes.size(), piece = std::min<std::size_t>(nextPiece(before), total - before);
    file.bytes.resize(before + piece);
    std::size_t got = reader.read(file.bytes.data() + before, piece);
    if (got != piece)
      reader.fail(
          absl::StrCat("truncated: its header says ", sizes, ", and there are ", before + got, " bytes of ", bytes));
  }
  unsigned char more;
  if (reader.read(&more, 1))
    reader.fail(absl::StrCat("its header says ", sizes, ", and there are more bytes than ", total));
  return file;
}

Tensor tensorOf(const IdxFile &file, SourceLocation where) {
  const unsigned char *bytes = file.bytes.data();
  std::size_t step = sizeOf(file.type), count = file.bytes.size() / step;
  auto convert = [&](auto decode) {
    std::vector<decltype(decode(bytes))> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = decode(bytes + i * step);
    return tensor(values, file.shape, where);
  };
  switch (file.type) {
  case IdxFile::UInt8:
    return convert([](const unsigned char *p) { return static_cast<std::int32_t>(*p); });
  case IdxFile::Int8:
    return convert([](const unsigned char *p) { return static_cast<std::int32_t>(static_cast<signed char>(*p)); });
  case IdxFile::Int16:
    return convert(
        [](const unsigned char *p) { return static_cast<std::int32_t>(static_cast<std::int16_t>(p[0] << 8 | p[1])); });
  case IdxFile::Int32:
    return convert([](const unsigned char *p) { return static_cast<std::int32_t>(bigEndian(p)); });
  case IdxFile::Float32:
    return convert([](const unsigned char *p) { return std::bit_cast<float>(bigEndian(p)); });
  case IdxFile::Float64:
    break;
  }
  return convert([](const unsigned char *p) {
    return std::bit_cast<double>(std::uint64_t(bigEndian(p)) << 32 | bigEndian(p + 4));
  });
}

} // namespace

IdxFile readIdxFile(const std::string &path, unsigned magic, SourceLocation where,
                    const std::function<void(const Shape &)> &check) {
  return readWithinMemory(path, where, [&] { return read(path, magic, where, check); });
}

Tensor read_idx(const std::string &path, SourceLocation where) {
  return readWithinMemory(path, where, [&] { return tensorOf(read(path, 0, where, nullptr), where); });
}

} // namespace calque::data
