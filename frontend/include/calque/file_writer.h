// For libraries on top of Calque: files that are written whole or not at all, and errors for files that don't fit into
// memory.
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

// DataError for a path with a NUL byte, where the system would end the path.
CALQUE_API void requirePath(const std::string &path, SourceLocation where);

// Throws "<path>: there is not enough memory for what is in it", a MemoryError.
[[noreturn]] CALQUE_API void failForMemory(const std::string &path, SourceLocation where);
// Throws a MemoryError with the text of `error`, and with the path unless the text already names the file.
[[noreturn]] CALQUE_API void failForMemory(const std::string &path, const MemoryError &error, SourceLocation where);

// Returns the result of `read`. If the file needs more memory than there is, throws a MemoryError that names the file.
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

// Writes a temporary file beside the path, and moves it to the path when it is complete and on the disk. If the process
// is killed or the system goes down, the path has the old file or the new one. The destructor removes a file that is
// not finished. If the path is a link, the link is kept; a file that is replaced keeps its permissions. A path that is
// no regular file is refused.
class CALQUE_API FileWriter {
public:
  // DataError for a file that can't be made; write(), overwrite() and finish() throw it for a file that can't be
  // written.
  FileWriter(std::string path, SourceLocation where);
  // Reserves a path that has no file for this writer. Null if a file is there, or if another writer has the path, in
  // this process or another one.
  static std::unique_ptr<FileWriter> reserve(std::string path, SourceLocation where);
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  void write(const void *bytes, std::size_t count);
  void write(const std::string &bytes) { write(bytes.data(), bytes.size()); }
  // Replaces bytes that were written.
  void overwrite(std::uint64_t position, const std::string &bytes);
  void finish();

  // Removes the unfinished files that ended processes have left in a directory.
  static void removeUnfinished(const std::string &directory);
  // Does the same for the directory of a path, unless it was done there within the last minute.
  static void removeUnfinishedBeside(const std::string &path);

private:
  struct Reserved {};
  FileWriter(std::string path, SourceLocation where, Reserved);
  [[noreturn]] void fail(const std::string &fault) const;

  const std::string path;
  std::string target; // the path after following links
  const SourceLocation where;
  std::string temporary;
  std::FILE *file = nullptr;
  std::uint64_t written = 0;
};

} // namespace calque::detail
#endif
