#include "calque/file_writer.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace calque::detail {

namespace {

// What is being written is called <file>.<process>.<number> and then this.
constexpr const char *kUnfinished = ".unfinished";
// A file that was written to this long ago is locked, unless its process has ended.
constexpr std::chrono::minutes kLockedWithin{1};

// A name is on the disk when its directory is. Some file systems don't know how, and a directory that can't be read
// can't be opened either.
bool syncDirectoryOf(const std::string &path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return true;
  absl::Cleanup close = [directory] { ::close(directory); };
  return ::fsync(directory) == 0 || errno != EIO;
}

} // namespace

FileWriter::FileWriter(std::string given, SourceLocation where) : path(std::move(given)), where(where) {
  static std::atomic<unsigned> count{0}; // tells apart what threads write to one path
  // A link stays one, and what it leads to is written.
  std::error_code fault;
  const std::filesystem::path real = std::filesystem::canonical(path, fault);
  target = fault ? path : real.string();
  struct stat before{};
  const bool exists = ::stat(target.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode))
    fail("can't be written: it is no regular file");
  int descriptor = -1;
  do { // another process may have had this number, and ended while it wrote
    temporary = absl::StrCat(target, ".", ::getpid(), ".", count.fetch_add(1), kUnfinished);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (!file)
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
  ::flock(descriptor, LOCK_EX | LOCK_NB); // for removeUnfinished
  if (exists)                             // who may read it now may read it afterwards, and no others
    ::fchmod(descriptor, before.st_mode & 07777);
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
  for (std::filesystem::directory_iterator at(directory, fault), end; !fault && at != end; at.increment(fault)) {
    const std::string name = at->path();
    if (!name.ends_with(kUnfinished))
      continue;
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
      continue;
    absl::Cleanup close = [descriptor] { ::close(descriptor); };
    struct stat status{};
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - kLockedWithin);
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_mtime < now &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      ::unlink(name.c_str());
  }
}

void FileWriter::fail(const std::string &fault) const {
  throw DataError(absl::StrCat(path, ": ", fault), CallSite::resolve(where));
}

} // namespace calque::detail
