#include "data/File.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace calque::data {

void FileReader::Close::operator()(gzFile_s *file) const { gzclose(file); }

FileReader::FileReader(const std::string &path, SourceLocation where, Compression compression)
    : path(path), where(where) {
  calque::detail::requirePath(path, where);
  errno = 0;
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail(std::strerror(errno));
  if (compression == Compression::None)
    plain.reset(::fdopen(descriptor, "rb"));
  else // zlib also reads files that are not compressed
    compressed.reset(gzdopen(descriptor, "rb"));
  if (!plain && !compressed) {
    ::close(descriptor);
    failForMemory(path, where);
  }
  if (compression == Compression::Gzip && gzdirect(compressed.get()) == 1)
    fail("not compressed by gzip, as it should be");
}

std::size_t FileReader::read(void *out, std::size_t count) {
  std::size_t done = 0;
  while (done < count && !isAtEnd) {
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
    isAtEnd = got == 0;
    done += got;
  }
  position_ += done;
  return done;
}

void FileReader::append(std::string &bytes, std::uint64_t count) {
  for (std::uint64_t done = 0; done < count && !isAtEnd;) {
    const std::size_t before = bytes.size(), piece = std::min(nextPiece(before), count - done);
    bytes.resize(before + piece);
    const std::size_t got = read(bytes.data() + before, piece);
    bytes.resize(before + got);
    done += got;
  }
}

bool FileReader::isCompressed() const { return compressed && gzdirect(compressed.get()) == 0; }

std::uint64_t FileReader::mostLeft() const {
  struct stat status{};
  if (::fstat(descriptor, &status) || !S_ISREG(status.st_mode))
    return UINT64_MAX;
  auto most = static_cast<std::uint64_t>(status.st_size);
  if (isCompressed() && __builtin_mul_overflow(most, kMostExpansion, &most))
    return UINT64_MAX;
  return most - std::min(most, position_);
}

bool FileReader::mayHold(std::uint64_t count) const {
  constexpr std::uint64_t kFew = 1 << 16; // no more than a buffer, for which the system isn't asked
  return count <= kFew || count <= mostLeft();
}

std::optional<std::uint64_t> FileReader::left() const {
  const std::uint64_t most = plain ? mostLeft() : UINT64_MAX;
  return most == UINT64_MAX ? std::nullopt : std::optional(most);
}

std::string FileReader::rest() const { return absl::StrCat(isCompressed() ? "at most " : "", mostLeft()); }

void FileReader::fail(const std::string &fault) const {
  throw DataError(absl::StrCat(path, ": ", fault), CallSite::resolve(where));
}

} // namespace calque::data
