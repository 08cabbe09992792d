// Files that are read from their beginning to their end.
#ifndef CALQUE_TRAINING_DATA_FILE_H
#define CALQUE_TRAINING_DATA_FILE_H

#include "calque/error.h"
#include "calque/file_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct gzFile_s;

namespace calque::data {

enum class Compression : std::uint8_t {
  Any, // gzip where the file begins as such a file does
  None,
  Gzip
};

// Deflate makes at most so many bytes of one: 258 of 2 bits.
inline constexpr std::uint64_t kMostExpansion = 1032;

// For how many bytes memory is taken next, when so many have been read of a length that may be wrong: as many again,
// and few for a small file.
inline std::uint64_t nextPiece(std::uint64_t before) { return std::max<std::uint64_t>(before, 1 << 12); }

class FileReader {
public:
  // DataError for a file that can't be opened.
  FileReader(const std::string &path, SourceLocation where, Compression compression = Compression::Any);

  // Reads up to `count` bytes; less at the end. DataError where the file can't be read, or is not sound as gzip.
  std::size_t read(void *out, std::size_t count);
  // The next `count` bytes, or as many as there are. A header may be wrong about them, so memory grows with what is
  // read.
  std::string readSome(std::uint64_t count) {
    std::string bytes;
    append(bytes, count);
    return bytes;
  }
  void append(std::string &bytes, std::uint64_t count);
  std::string readAll() { return readSome(UINT64_MAX); }
  // How many bytes were read.
  std::uint64_t position() const { return position_; }
  // Whether so many bytes may follow: not more than are left of a plain file, and not more than deflate can make of a
  // compressed one. A header that asks for more is wrong, which shows before anything is read or unpacked. Pipes have
  // no length, and may have any number.
  bool mayHold(std::uint64_t count) const;
  // How many may follow, for messages: "12", "at most 1032".
  std::string rest() const;
  // How many follow in a plain file, which is no pipe; else none.
  std::optional<std::uint64_t> left() const;
  // Throws "<path>: <fault>", a DataError.
  [[noreturn]] void fail(const std::string &fault) const;

  const std::string path;
  const SourceLocation where;

private:
  // UINT64_MAX where it is not known.
  std::uint64_t mostLeft() const;
  bool isCompressed() const;
  struct Close {
    void operator()(gzFile_s *file) const;
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<gzFile_s, Close> compressed;
  std::unique_ptr<std::FILE, Close> plain;
  int descriptor = -1; // of the one or the other, which closes it
  std::uint64_t position_ = 0;
  bool isAtEnd = false;
};

using calque::detail::failForMemory;
using calque::detail::FileWriter;
using calque::detail::readWithinMemory;

} // namespace calque::data
#endif
