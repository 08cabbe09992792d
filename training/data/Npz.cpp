// Zip files of arrays, as NumPy has them: PKWARE's APPNOTE.TXT, of which entries are stored or deflated.
//
// A file ends with its directory and a record of where that is: the one of 32 bits, before which there is a locator of
// the one of 64 bits where a number does not fit. The directory names each entry's place, sizes and checksum; the entry
// begins with a header of its own, whose name and extra field are passed over.
#include "Support.h"
#include "calque/data/npy.h"
#include "data/Npy.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <memory>
#include <zlib.h>

namespace calque::data {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator = 0x07064b50;
constexpr std::uint64_t kSee64 = 0xffffffff; // the number is in the field of 64 bits
constexpr unsigned kStored = 0, kDeflated = 8;
constexpr std::size_t kFewest = 64; // of an array, of which NumPy's headers are multiples

//===-- Reading ---------------------------------------------------------------------------------===//

class Zip {
public:
  explicit Zip(const FileReader &file, std::string content) : file(file), bytes(std::move(content)) {}

  std::map<std::string, Tensor> arrays() const {
    auto [count, at] = directory();
    std::map<std::string, Tensor> arrays;
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string place = absl::StrCat("entry ", i, " of the directory: ");
      if (number(at, 4, place) != kEntry)
        file.fail(absl::StrCat(place, "it does not begin with its magic number"));
      const auto flags = number(at + 8, 2, place), method = number(at + 10, 2, place), crc = number(at + 16, 4, place);
      std::uint64_t packed = number(at + 20, 4, place), size = number(at + 24, 4, place);
      const std::uint64_t nameSize = number(at + 28, 2, place), extra = number(at + 30, 2, place),
                          comment = number(at + 32, 2, place);
      std::uint64_t local = number(at + 42, 4, place);
      std::string name(part(at + 46, nameSize, place));
      read64(at + 46 + nameSize, extra, {&size, &packed, &local}, place);
      at += 46 + nameSize + extra + comment;
      const std::string entry = absl::StrCat("array '", name, "': ");
      if (number(local, 4, entry) != kLocal)
        file.fail(absl::StrCat(entry, "the entry does not begin with its magic number"));
      if (flags & 1)
        file.fail(absl::StrCat(entry, "the entry is encrypted"));
      const std::uint64_t begin = local + 30 + number(local + 26, 2, entry) + number(local + 28, 2, entry);
      const std::string_view data = part(begin, packed, entry);
      if ((used += packed) > bytes.size())
        file.fail(absl::StrCat(entry, "the entries overlap: they have more bytes than the file"));
      const std::string content = unpack(data, static_cast<unsigned>(method), size, entry);
      if (crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size()) != crc)
        file.fail(absl::StrCat(entry, "is damaged: its checksum is wrong"));
      if (name.ends_with(".npy"))
        name.resize(name.size() - 4);
      arrays[name] = arrayIn(content, file, entry);
    }
    return arrays;
  }

private:
  std::string_view part(std::uint64_t begin, std::uint64_t count, const std::string &place) const {
    if (begin > bytes.size() || count > bytes.size() - begin)
      file.fail(absl::StrCat(place, "it says that there are ", count, " bytes at byte ", begin, ", and the file has ",
                             bytes.size()));
    return std::string_view(bytes).substr(begin, count);
  }
  std::uint64_t number(std::uint64_t at, std::size_t width, const std::string &place) const {
    std::uint64_t value = 0;
    std::memcpy(&value, part(at, width, place).data(), width); // little-endian
    return value;
  }

  // The number of entries, and where the first is.
  std::pair<std::uint64_t, std::uint64_t> directory() const {
    const std::string place = "the record at the end: ";
    // A comment of up to 64 kB may follow.
    for (std::size_t at = bytes.size() < 22 ? 0 : bytes.size() - 21; at-- > 0 && bytes.size() - at <= 22 + 0xffff;) {
      if (number(at, 4, place) != kEnd)
        continue;
      std::uint64_t count = number(at + 10, 2, place), begin = number(at + 16, 4, place);
      if (at >= 20 && number(at - 20, 4, place) == kLocator) {
        const std::uint64_t end64 = number(at - 12, 8, place);
        if (number(end64, 4, place) != kEnd64)
          file.fail(absl::StrCat(place, "it names a place where there is no record of 64 bits"));
        count = number(end64 + 32, 8, place);
        begin = number(end64 + 48, 8, place);
      }
      return {count, begin};
    }
    file.fail("truncated, or no .npz file: there is no directory of a zip file at its end");
  }

  // Extra fields may hold those of some numbers that did not fit, in order.
  void read64(std::uint64_t at, std::uint64_t count, std::initializer_list<std::uint64_t *> numbers,
              const std::string &place) const {
    const std::uint64_t end = at + count;
    part(at, count, place);
    while (at + 4 <= end) {
      const std::uint64_t kind = number(at, 2, place), size = number(at + 2, 2, place);
      at += 4;
      if (kind == 1) {
        std::uint64_t from = at;
        for (std::uint64_t *each : numbers)
          if (*each == kSee64) {
            *each = number(from, 8, place);
            from += 8;
          }
        return;
      }
      at += size;
    }
  }

  std::string unpack(std::string_view packed, unsigned method, std::uint64_t size, const std::string &place) const {
    if (method == kStored)
      return std::string(packed);
    if (method != kDeflated)
      file.fail(absl::StrCat(place, "method ", method, " of compression is not known"));
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw std::bad_alloc();
    std::unique_ptr<z_stream, int (*)(z_stream *)> closed(&stream, inflateEnd);
    if (size / kMostExpansion > packed.size())
      file.fail(absl::StrCat(place, "the directory says ", size, " bytes, which ", packed.size(), " can't hold"));
    // The size may be forged, so memory grows with what comes out, and that with what goes in. What the array's header
    // says must fit the size before more comes out.
    std::string content;
    bool isChecked = false;
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    std::size_t left = packed.size();
    for (int result = Z_OK; result != Z_STREAM_END;) {
      const std::size_t before = content.size(), piece = std::min(nextPiece(before), size - before + 1);
      content.resize(before + piece);
      stream.next_out = reinterpret_cast<Bytef *>(content.data() + before);
      stream.avail_out = static_cast<uInt>(piece);
      const auto in = static_cast<uInt>(std::min<std::size_t>(left, 1 << 30));
      stream.avail_in = in;
      result = inflate(&stream, Z_NO_FLUSH);
      left -= in - stream.avail_in;
      content.resize(before + piece - stream.avail_out);
      if (result == Z_MEM_ERROR)
        throw std::bad_alloc();
      if ((result != Z_OK && result != Z_STREAM_END) || content.size() > size)
        file.fail(absl::StrCat(place, "the compressed data are damaged"));
      if (!isChecked && result == Z_OK && content.size() >= kFewest)
        isChecked = checkArray(content, size, file, place);
    }
    if (content.size() != size)
      file.fail(absl::StrCat(place, "the directory says ", size, " bytes, and there are ", content.size()));
    return content;
  }

  const FileReader &file;
  const std::string bytes;
};

//===-- Writing ---------------------------------------------------------------------------------===//

std::string little(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string deflated(const std::string &content, SourceLocation where) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw MemoryError("zlib has no memory", where);
  std::unique_ptr<z_stream, int (*)(z_stream *)> closed(&stream, deflateEnd);
  std::string packed;
  std::size_t left = content.size();
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  for (int result = Z_OK; result != Z_STREAM_END;) {
    const std::size_t before = packed.size(), piece = 1 << 20;
    packed.resize(before + piece);
    stream.next_out = reinterpret_cast<Bytef *>(packed.data() + before);
    stream.avail_out = piece;
    const auto in = static_cast<uInt>(std::min<std::size_t>(left, 1 << 30));
    stream.avail_in = in;
    result = deflate(&stream, left == in ? Z_FINISH : Z_NO_FLUSH);
    left -= in - stream.avail_in;
    packed.resize(before + piece - stream.avail_out);
  }
  return packed;
}

} // namespace

std::map<std::string, Tensor> read_npz(const std::string &path, SourceLocation where) {
  where = CallSite::resolve(where);
  FileReader file(path, where, Compression::None);
  return readWithinMemory(path, where, [&] { return Zip(file, file.readAll()).arrays(); });
}

// All sizes and places are in the fields of 64 bits, so that there is one way for small files and large ones.
void write_npz(const std::string &path, const std::map<std::string, Tensor> &arrays, NpzOptions options,
               SourceLocation where) {
  where = CallSite::resolve(where);
  FileWriter file(path, where);
  std::uint64_t at = 0;
  std::string directory;
  auto write = [&](const std::string &bytes) {
    file.write(bytes);
    at += bytes.size();
  };
  for (const auto &[name, x] : arrays) {
    const std::string content = npyOf(x, where), entry = name + ".npy";
    const std::string packed = options.compressed ? deflated(content, where) : content;
    if (entry.size() > 0xffff)
      throw ValueError(absl::StrCat("write_npz: a name has ", entry.size(), " bytes, which a zip file doesn't hold"),
                       where);
    const std::uint64_t crc = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size()), begin = at;
    const std::string sizes = little(content.size(), 8) + little(packed.size(), 8);
    // Version 4.5; names in UTF-8; the time 1980-01-01, so that equal arrays give equal files.
    const std::string common = little(45, 2) + little(0x800, 2) + little(options.compressed ? kDeflated : kStored, 2) +
                               little(0, 2) + little(0x21, 2) + little(crc, 4) + little(kSee64, 4) + little(kSee64, 4) +
                               little(entry.size(), 2);
    write(little(kLocal, 4) + common + little(20, 2) + entry + little(1, 2) + little(16, 2) + sizes);
    write(packed);
    directory += little(kEntry, 4) + little(45, 2) + common + little(28, 2) + little(0, 8) + little(0, 2) +
                 little(kSee64, 4) + entry + little(1, 2) + little(24, 2) + sizes + little(begin, 8);
  }
  const std::uint64_t begin = at;
  write(directory);
  const std::uint64_t end64 = at;
  write(little(kEnd64, 4) + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(arrays.size(), 8) +
        little(arrays.size(), 8) + little(directory.size(), 8) + little(begin, 8));
  write(little(kLocator, 4) + little(0, 4) + little(end64, 8) + little(1, 4));
  write(little(kEnd, 4) + little(0, 4) + little(0xffff, 2) + little(0xffff, 2) + little(kSee64, 4) + little(kSee64, 4) +
        little(0, 2));
  file.finish();
}

} // namespace calque::data
