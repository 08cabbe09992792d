// Files that are read from their beginning to their end.
#ifndef CALQUE_TRAINING_DATA_FILE_H
#define CALQUE_TRAINING_DATA_FILE_H

#include "calque/error.h"
#include "calque/file_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

struct gzFile_s;

namespace calque::data {

enum class Compression : std::uint8_t {
  Any, // gzip where the file begins as such a file does
  None,
  Gzip
};

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
  std::string readSome(std::uint64_t count);
  std::string readAll() { return readSome(UINT64_MAX); }
  // How many bytes were read.
  std::uint64_t position() const { return position_; }
  // Throws "<path>: <fault>", a DataError.
  [[noreturn]] void fail(const std::string &fault) const;

  const std::string path;
  const SourceLocation where;

private:
  struct Close {
    void operator()(gzFile_s *file) const;
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<gzFile_s, Close> compressed;
  std::unique_ptr<std::FILE, Close> plain;
  std::uint64_t position_ = 0;
  bool isAtEnd = false;
};

using calque::detail::FileWriter;

} // namespace calque::data
#endif
