// The parts of a checkpoint, and its files: <name>-<number>.safetensors in a directory.
#ifndef CALQUE_FRONTEND_SAVING_CHECKPOINTSTATE_H
#define CALQUE_FRONTEND_SAVING_CHECKPOINTSTATE_H

#include "absl/strings/str_cat.h"
#include "frontend/saving/Restoration.h"

#include <ctime>
#include <exception>
#include <thread>

namespace calque::detail {

struct CheckpointState {
  std::vector<Checkpoint::Entry> parts;
  std::int64_t counter = 0; // the number of the last save

  // Waits for a save in progress, and warns if it has failed.
  ~CheckpointState();

  void visit(CheckpointVisitor &visitor) const;
  CheckpointItems items() const;

  // The values at the time of the save.
  struct Snapshot {
    std::vector<TensorEntry> entries;
    TensorFile::Metadata metadata;
  };
  Snapshot snapshot(SourceLocation where) const;

  // Writes to `file`, or to the reserved file if there is one, and then calls `then`. With enable_async, another thread
  // does so.
  void write(const std::string &file, std::shared_ptr<FileWriter> reserved, CheckpointOptions options,
             SourceLocation where, std::function<void()> then);
  // Writes <name>-<number> into a directory, and returns its path. `number` is above the numbers in the directory.
  // Without it, the file gets the next number that no file has, even if others save there at the same time.
  std::string writeNumbered(const std::string &directory, const std::string &name, std::optional<std::int64_t> number,
                            CheckpointOptions options, SourceLocation where, std::function<void()> then);
  void wait();
  // Restores from a file. Null if there is no path. With `counts`, later saves count on from the number in the file.
  std::shared_ptr<Restoration> restored(const std::optional<std::string> &path, bool counts, SourceLocation where);
  std::shared_ptr<Restoration> restoredFrom(const std::string &path, bool counts, SourceLocation where);

private:
  std::thread writer;
  std::exception_ptr fault; // of the writer, until it is joined
};

// StateError in a trace.
void refuseTrace(const char *what, SourceLocation where);
// Throws "<path>: <fault>", a DataError.
[[noreturn]] inline void fail(const std::string &fault, const std::string &path, SourceLocation where) {
  throw DataError(absl::StrCat(path, ": ", fault), where);
}

//===-- Files -----------------------------------------------------------------------------------===//

inline constexpr const char *kCheckpointEnding = ".safetensors";

struct NumberedFile {
  std::int64_t number;
  std::string name; // without the number
  timespec written;
  // The path without the ending.
  std::string path(const std::string &directory) const;
};
// The numbered files of one name or of all names, in the order of their numbers. An empty directory is the current one.
std::vector<NumberedFile> numberedFiles(const std::string &directory, const std::optional<std::string> &name);
std::string pathIn(const std::string &directory, const std::string &name);
void makeDirectory(const std::string &directory, SourceLocation where);

} // namespace calque::detail
#endif
