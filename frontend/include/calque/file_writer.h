// For libraries on top of Calque: files that are written whole or not at all, and errors of files that are too large.
//
//   detail::FileWriter file(path, where);
//   file.write(bytes);
//   file.finish(); // now the path has the new file, and before it had the old one or none
//
//   return detail::readWithinMemory(path, where, [&] { return parse(path); });
#ifndef CALQUE_FILE_WRITER_H
#define CALQUE_FILE_WRITER_H

#include "calque/error.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace calque::detail {

// DataError for a path with a NUL byte, which the system takes to that alone.
CALQUE_API void requirePath(const std::string &path, SourceLocation where);

// Throws "<path>: there is not enough memory for what is in it", a MemoryError.
[[noreturn]] CALQUE_API void failForMemory(const std::string &path, SourceLocation where);
// The same with the text of another MemoryError, unless that names the file already.
[[noreturn]] CALQUE_API void failForMemory(const std::string &path, const MemoryError &error, SourceLocation where);

// What `read` gives. A file that needs more memory than there is becomes a MemoryError that names the file.
template <typename F>
auto readWithinMemory(const std::string &path, SourceLocation where, F &&read) -> decltype(read()) {
  try {
    return std::forward<F>(read)();
  } catch (const std::bad_alloc &) {
    failForMemory(path, where);
  } catch (const MemoryError &error) {
    failForMemory(path, error, where);
  }
}

// Writes beside the path, and moves the file there when it is whole and on the disk, so that a process that is killed,
// or a system that goes down, leaves the old file or the new one. What is not finished is removed. Links stay, and so
// do the rights of a file that is written anew; what is no regular file is refused.
class CALQUE_API FileWriter {
public:
  // DataError for a file that can't be made or, below, written.
  FileWriter(std::string path, SourceLocation where);
  // For a path that has no file, and has this writer's alone from now on: none where there is one, or another writer
  // has the path, of this process or another.
  static std::unique_ptr<FileWriter> reserve(std::string path, SourceLocation where);
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  void write(const void *bytes, std::size_t count);
  void write(const std::string &bytes) { write(bytes.data(), bytes.size()); }
  // In the place of bytes that are written.
  void overwrite(std::uint64_t position, const std::string &bytes);
  void finish();

  // Removes what processes that ended while they wrote files of a directory have left there.
  static void removeUnfinished(const std::string &directory);
  // The same before a file is written, unless it was done there within the last minute.
  static void removeUnfinishedBeside(const std::string &path);

private:
  struct Reserved {};
  FileWriter(std::string path, SourceLocation where, Reserved);
  [[noreturn]] void fail(const std::string &fault) const;

  const std::string path;
  std::string target; // where the path leads
  const SourceLocation where;
  std::string temporary;
  std::FILE *file = nullptr;
  std::uint64_t written = 0;
};

} // namespace calque::detail
#endif
