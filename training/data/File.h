// Files that are read from their beginning to their end, and files that are written whole or not at all.
#ifndef CALQUE_TRAINING_DATA_FILE_H
#define CALQUE_TRAINING_DATA_FILE_H

#include "calque/error.h"

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
};

// Writes beside the path, and moves the file there when it is whole. What is not finished is removed. Links stay, and
// so do the rights of a file that is written anew; what is no regular file is refused.
class FileWriter {
public:
  // DataError for a file that can't be made or, below, written.
  FileWriter(std::string path, SourceLocation where);
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  void write(const void *bytes, std::size_t count);
  void write(const std::string &bytes) { write(bytes.data(), bytes.size()); }
  void finish();

private:
  [[noreturn]] void fail(const std::string &fault) const;

  const std::string path;
  std::string target; // where the path leads
  const SourceLocation where;
  std::string temporary;
  std::FILE *file;
};

} // namespace calque::data
#endif
