#include "data/File.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace calque::data {

//===-- Reading ---------------------------------------------------------------------------------===//

void FileReader::Close::operator()(gzFile_s *file) const { gzclose(file); }

FileReader::FileReader(const std::string &path, SourceLocation where, Compression compression)
    : path(path), where(where) {
  errno = 0;
  if (compression == Compression::None)
    plain.reset(std::fopen(path.c_str(), "rb"));
  else // zlib also reads files that are not compressed
    compressed.reset(gzopen(path.c_str(), "rb"));
  if (!plain && !compressed)
    fail(errno ? std::strerror(errno) : "can't be opened");
  if (compression == Compression::Gzip && gzdirect(compressed.get()) == 1)
    fail("not compressed by gzip, as it should be");
}

std::size_t FileReader::read(void *out, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    errno = 0;
    const std::size_t piece = std::min<std::size_t>(count - done, 1 << 20);
    char *to = static_cast<char *>(out) + done;
    std::size_t got = 0;
    if (plain) {
      got = std::fread(to, 1, piece, plain.get());
      if (got == 0 && std::ferror(plain.get()))
        fail(absl::StrCat("can't be read: ", std::strerror(errno)));
    } else {
      const int result = gzread(compressed.get(), to, static_cast<unsigned>(piece));
      int code = Z_OK;
      const char *message = gzerror(compressed.get(), &code);
      if (code == Z_BUF_ERROR)
        fail("truncated: the compressed data have no end");
      if (result < 0 || code < 0)
        fail(code == Z_ERRNO ? absl::StrCat("can't be read: ", std::strerror(errno))
                             : absl::StrCat("not sound as gzip: ", message));
      got = static_cast<std::size_t>(result);
    }
    if (got == 0)
      break;
    done += got;
  }
  position_ += done;
  return done;
}

std::string FileReader::readSome(std::uint64_t count) {
  constexpr std::uint64_t kPiece = std::uint64_t(1) << 20;
  std::string bytes;
  while (bytes.size() < count) {
    const std::size_t before = bytes.size(), piece = std::min(kPiece, count - before);
    bytes.resize(before + piece);
    const std::size_t got = read(bytes.data() + before, piece);
    if (got < piece) {
      bytes.resize(before + got);
      break;
    }
  }
  return bytes;
}

void FileReader::fail(const std::string &fault) const {
  throw DataError(absl::StrCat(path, ": ", fault), CallSite::resolve(where));
}

//===-- Writing ---------------------------------------------------------------------------------===//

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
  temporary = absl::StrCat(target, ".", ::getpid(), ".", count.fetch_add(1));
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (!file)
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
  if (exists) // who may read it now may read it afterwards, and no others
    ::fchmod(descriptor, before.st_mode & 07777);
}

FileWriter::~FileWriter() {
  if (!file)
    return;
  std::fclose(file);
  ::unlink(temporary.c_str());
}

void FileWriter::write(const void *bytes, std::size_t count) {
  if (count && std::fwrite(bytes, 1, count, file) != count)
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
}

void FileWriter::finish() {
  if (std::fflush(file) || ::fsync(::fileno(file)) || ::rename(temporary.c_str(), target.c_str()))
    fail(absl::StrCat("can't be written: ", std::strerror(errno)));
  std::fclose(std::exchange(file, nullptr));
}

void FileWriter::fail(const std::string &fault) const {
  throw DataError(absl::StrCat(path, ": ", fault), CallSite::resolve(where));
}

} // namespace calque::data
