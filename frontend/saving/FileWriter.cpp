#include "calque/file_writer.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "runtime/Fork.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace calque::detail {

namespace {

// The ending of files that are being written. Such a file is <file>.<process>.<number>.unfinished, or <file>.unfinished
// if it reserves the path. Its writer locks it, so that the end of the process frees it.
constexpr const char *kUnfinished = ".unfinished";
constexpr std::chrono::minutes kLookedFor{1};

enum class Lock : std::uint8_t {
  Taken,
  Free,   // and now taken by this descriptor
  Unknown // the file system has no locks
};
Lock lock(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return Lock::Free;
  return errno == EWOULDBLOCK ? Lock::Taken : Lock::Unknown;
}
// Whether a path still leads to an open file. Another process may have moved or removed the file before this one locked
// it.
bool isAt(const std::string &path, int descriptor) {
  struct stat at{}, opened{};
  return ::lstat(path.c_str(), &at) == 0 && ::fstat(descriptor, &opened) == 0 && at.st_ino == opened.st_ino &&
         at.st_dev == opened.st_dev;
}

// Writes a file's directory to the disk, and with it the file's name. False if the disk fails. Some file systems can't
// do this, and a directory that may not be read can't be opened; neither counts as a failure.
bool syncDirectoryOf(const std::string &path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return true;
  absl::Cleanup close = [directory] { ::close(directory); };
  return ::fsync(directory) == 0 || errno != EIO;
}

} // namespace

void requirePath(const std::string &path, SourceLocation where) {
  if (const std::size_t at = path.find('\0'); at != std::string::npos)
    throw DataError(absl::StrCat("'", path.substr(0, at), "\\0", path.substr(at + 1),
                                 "' is no path: it has a NUL byte, where the system takes it to end"),
                    CallSite::resolve(where));
}

void failForMemory(const std::string &path, SourceLocation where) {
  throw MemoryError(absl::StrCat(path, ": there is not enough memory for what is in it"), CallSite::resolve(where));
}

void failForMemory(const std::string &path, const MemoryError &error, SourceLocation where) {
  const std::string text = error.what(), message = text.substr(0, text.find('\n'));
  if (text.starts_with(path))
    throw;
  throw MemoryError(absl::StrCat(path, ": ", message), CallSite::resolve(where));
}

FileWriter::FileWriter(std::string given, SourceLocation where) : path(std::move(given)), where(where) {
  static std::atomic<unsigned> count{0}; // tells apart the files that threads write for one path
  requirePath(path, where);
  // A symbolic link stays a link, and the file to which it leads is written.
  std::error_code fault;
  const std::filesystem::path real = std::filesystem::canonical(path, fault);
  target = fault ? path : real.string();
  struct stat before{};
  const bool exists = ::stat(target.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode))
    fail("can't be written: it is no regular file");
  int descriptor = -1;
  for (;;) { // an earlier process with this number may have ended while it wrote
    temporary = absl::StrCat(target, ".", ::getpid(), ".", count.fetch_add(1), kUnfinished);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST)
      continue;
    if (descriptor < 0 || (lock(descriptor) != Lock::Taken && isAt(temporary, descriptor)))
      break;
    ::close(descriptor); // another process has removed the file before it was locked
  }
  file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (!file)
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
  if (exists) // the same users may read the file as before
    ::fchmod(descriptor, before.st_mode & 07777);
}

FileWriter::FileWriter(std::string given, SourceLocation where, Reserved)
    : path(std::move(given)), target(path), where(where), temporary(path + kUnfinished) {}

std::unique_ptr<FileWriter> FileWriter::reserve(std::string path, SourceLocation where) {
  requirePath(path, where);
  std::unique_ptr<FileWriter> writer(new FileWriter(std::move(path), where, Reserved()));
  const char *const name = writer->temporary.c_str();
  for (;;) {
    int descriptor = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool isNew = descriptor >= 0;
    if (!isNew && errno == EEXIST) {
      descriptor = ::open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (descriptor < 0 && errno == ENOENT)
        continue;
      if (descriptor < 0) // the file is somebody else's
        return nullptr;
    }
    if (descriptor < 0)
      writer->fail(absl::StrCat("can't be written: ", std::strerror(errno)));
    absl::Cleanup close = [descriptor] { ::close(descriptor); };
    const Lock found = lock(descriptor);
    if (found == Lock::Taken || (found == Lock::Unknown && !isNew))
      return nullptr;
    if (!isAt(writer->temporary, descriptor))
      continue;
    struct stat before{};
    if (::lstat(writer->target.c_str(), &before) == 0) { // another writer has just finished the file
      ::unlink(name);
      return nullptr;
    }
    // If an ended process has left contents, they are dropped.
    if (::ftruncate(descriptor, 0) || !(writer->file = ::fdopen(descriptor, "wb")))
      writer->fail(absl::StrCat("can't be written: ", std::strerror(errno)));
    std::move(close).Cancel();
    return writer;
  }
}

FileWriter::~FileWriter() {
  if (!file)
    return;
  std::fclose(file);
  ::unlink(temporary.c_str());
}

void FileWriter::write(const void *bytes, std::size_t count) {
  rlimit largest;
  written += count;
  // The system would end the process for a file that is larger than allowed.
  if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && written > largest.rlim_cur)
    fail(absl::StrCat("can't be written: ", std::strerror(EFBIG)));
  if (count && std::fwrite(bytes, 1, count, file) != count)
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
}

void FileWriter::overwrite(std::uint64_t position, const std::string &bytes) {
  if (::fseeko(file, static_cast<off_t>(position), SEEK_SET) ||
      std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || ::fseeko(file, 0, SEEK_END))
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
}

void FileWriter::finish() {
  if (std::fflush(file) || ::fsync(::fileno(file)) || ::rename(temporary.c_str(), target.c_str()))
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
  std::fclose(std::exchange(file, nullptr));
  if (!syncDirectoryOf(target))
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
}

void FileWriter::removeUnfinished(const std::string &directory) {
  std::error_code fault;
  for (std::filesystem::directory_iterator at(directory.empty() ? "." : directory, fault), end; !fault && at != end;
       at.increment(fault)) {
    const std::string name = at->path();
    if (!name.ends_with(kUnfinished))
      continue;
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
      continue;
    absl::Cleanup close = [descriptor] { ::close(descriptor); };
    struct stat status{};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && lock(descriptor) == Lock::Free &&
        isAt(name, descriptor))
      ::unlink(name.c_str());
  }
}

void FileWriter::removeUnfinishedBeside(const std::string &path) {
  using Clock = std::chrono::steady_clock;
  static runtime::ForkMutex mutex;
  static auto &seen = *new std::map<std::string, Clock::time_point>; // threads may save while the program ends
  const std::string directory = std::filesystem::path(path).parent_path();
  const Clock::time_point now = Clock::now();
  {
    std::lock_guard guard(mutex);
    const auto [found, isNew] = seen.try_emplace(directory, now);
    if (!isNew && now - found->second < kLookedFor)
      return;
    found->second = now;
  }
  removeUnfinished(directory);
}

void FileWriter::fail(const std::string &fault) const {
  throw DataError(absl::StrCat(path, ": ", fault), CallSite::resolve(where));
}

} // namespace calque::detail
