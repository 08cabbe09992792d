#include "data/File.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <zlib.h>

namespace calque::data {

void FileReader::Close::operator()(gzFile_s *file) const { gzclose(file); }

FileReader::FileReader(const std::string &path, SourceLocation where, Compression compression)
    : path(path), where(where) {
  calque::detail::requirePath(path, where);
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

std::string FileReader::readSome(std::uint64_t count) {
  std::string bytes;
  while (bytes.size() < count && !isAtEnd) {
    const std::size_t before = bytes.size(), piece = std::min(nextPiece(before), count - before);
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

} // namespace calque::data
