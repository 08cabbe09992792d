#include "frontend/saving/TensorFile.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/file_writer.h"
#include "calque/safetensors.h"
#include "frontend/core/CallNames.h"
#include "frontend/saving/TensorHeader.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace calque::detail {

namespace {

// The metadata that says that there is a digest, and the digest. They have two names, so that damage to one name does
// not make the file look like one without a digest.
constexpr const char *kFormat = "calque.format", *kFormatVersion = "1", *kDigest = "calque.sha256";
// The digest's name as it stands in the header. It stands there once, because quotes inside of names and texts are
// escaped.
const std::string kDigestText = "\"calque.sha256\":\"";
constexpr std::size_t kDigits = 2 * SHA256_DIGEST_SIZE;
// The data begin at a multiple of this, so that they are aligned if Python maps the file into memory.
constexpr std::uint64_t kAlignment = 64;
// The number of bytes that are hashed at once, while they are in the CPU's caches.
constexpr std::size_t kPiece = std::size_t(1) << 18;

class Sha256 {
public:
  Sha256() { sha256_init(&context); }
  void add(const void *bytes, std::size_t count) {
    sha256_update(&context, count, static_cast<const std::uint8_t *>(bytes));
  }
  std::string hex() {
    char digest[SHA256_DIGEST_SIZE];
    sha256_digest(&context, sizeof digest, reinterpret_cast<std::uint8_t *>(digest));
    return absl::BytesToHexString({digest, sizeof digest});
  }

private:
  sha256_ctx context;
};

std::string lengthBytes(std::uint64_t length) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length); // little-endian, as the machines that Calque compiles for
  return bytes;
}

// The text as a string of JSON. ValueError if the text is not UTF-8.
std::string quoted(const std::string &text, const char *what, SourceLocation where) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception &) {
    throw ValueError(absl::StrCat("a tensor file: ", what, " '", absl::CHexEscape(text), "' is not UTF-8"), where);
  }
}

} // namespace

//===-- Entries ---------------------------------------------------------------------------------===//

TensorEntry TensorEntry::of(std::string name, const Tensor &x, SourceLocation where) {
  const TensorImpl &impl = implOf(x, where);
  if (impl.trace)
    throwLeaked(impl, where);
  return {std::move(name), std::string(codeOf(impl.type->dtype)), impl.type->dims, x.bytes(where), impl.buffer};
}

TensorEntry TensorEntry::ofBytes(std::string name, std::span<const std::byte> bytes) {
  return {std::move(name), "U8", {static_cast<std::int64_t>(bytes.size())}, bytes};
}

std::optional<DType> TensorEntry::dtype() const {
  for (const DTypeInfo &info : kDTypes)
    if (codeOf(info.dtype) == code)
      return info.dtype;
  return std::nullopt;
}

std::string TensorEntry::type() const { return code + schema::shapeString(dims); }

const TensorEntry *TensorFile::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &entries_[found->second];
}

Tensor TensorFile::tensor(const TensorEntry &entry, SourceLocation where) const {
  std::optional<DType> dtype = entry.dtype();
  if (!dtype) {
    const std::string known =
        absl::StrJoin(kDTypes, ", ", [](std::string *out, const DTypeInfo &info) { *out += codeOf(info.dtype); });
    fail(absl::StrCat("'", entry.name, "' is ", entry.type(), ", and tensors of Calque are ", known), where);
  }
  return makeEager(sharedType(*dtype, entry.dims), entry.buffer);
}

void TensorFile::fail(const std::string &fault, SourceLocation where) const {
  throw DataError(absl::StrCat(path_, ": ", fault), userLine(where));
}

//===-- Writing ---------------------------------------------------------------------------------===//

namespace {
// Returns the header, and puts the entries into the order of their data. `digestAt` gets the digest's place in the
// file.
std::string headerOf(std::vector<TensorEntry> &entries, const TensorFile::Metadata &metadata, std::size_t &digestAt,
                     SourceLocation where) {
  // Large elements first, so that each tensor is aligned for its elements.
  std::sort(entries.begin(), entries.end(), [](const TensorEntry &a, const TensorEntry &b) {
    const std::size_t bitsOfA = bitsOf(a.code), bitsOfB = bitsOf(b.code);
    return bitsOfA != bitsOfB ? bitsOfA > bitsOfB : a.name < b.name;
  });
  std::string header = absl::StrCat("{\"", kMetadata, "\":{\"", kFormat, "\":\"", kFormatVersion, "\",", kDigestText);
  digestAt = sizeof(std::uint64_t) + header.size();
  absl::StrAppend(&header, std::string(kDigits, '0'), "\"");
  for (const auto &[name, text] : metadata)
    absl::StrAppend(&header, ",", quoted(name, "the name", where), ":", quoted(text, "the text", where));
  header += "}";
  std::set<std::string_view> names;
  std::uint64_t offset = 0;
  for (const TensorEntry &entry : entries) {
    if (entry.name == kMetadata || !names.insert(entry.name).second)
      throw ValueError(absl::StrCat("a tensor file: the name '", entry.name, "' is ",
                                    entry.name == kMetadata ? "the format's own" : "given to two tensors"),
                       where);
    absl::StrAppend(&header, ",", quoted(entry.name, "the name", where), ":{\"dtype\":\"", entry.code, "\",\"shape\":[",
                    absl::StrJoin(entry.dims, ","), "],\"data_offsets\":[", offset, ",", offset + entry.bytes.size(),
                    "]}");
    offset += entry.bytes.size();
  }
  header += "}";
  header.append((kAlignment - (sizeof(std::uint64_t) + header.size()) % kAlignment) % kAlignment, ' ');
  if (header.size() > kMostHeaderBytes)
    throw ValueError(absl::StrCat("a tensor file: the names, types and texts have ", header.size(),
                                  " bytes, and the format takes at most ", kMostHeaderBytes),
                     where);
  return header;
}

void writeTo(FileWriter &file, const std::string &header, std::size_t digestAt,
             const std::vector<TensorEntry> &entries) {
  Sha256 sum;
  auto put = [&](const void *bytes, std::size_t count) {
    sum.add(bytes, count);
    file.write(bytes, count);
  };
  const std::string length = lengthBytes(header.size());
  put(length.data(), length.size());
  put(header.data(), header.size());
  for (const TensorEntry &entry : entries)
    for (std::size_t at = 0; at < entry.bytes.size(); at += kPiece)
      put(entry.bytes.data() + at, std::min(kPiece, entry.bytes.size() - at));
  file.overwrite(digestAt, sum.hex());
  file.finish();
}
} // namespace

void TensorFile::write(const std::string &path, std::vector<TensorEntry> entries, const Metadata &metadata,
                       SourceLocation where) {
  std::size_t digestAt = 0;
  const std::string header = headerOf(entries, metadata, digestAt, where);
  FileWriter::removeUnfinishedBeside(path);
  FileWriter file(path, where);
  writeTo(file, header, digestAt, entries);
}

void TensorFile::write(FileWriter &file, std::vector<TensorEntry> entries, const Metadata &metadata,
                       SourceLocation where) {
  std::size_t digestAt = 0;
  const std::string header = headerOf(entries, metadata, digestAt, where);
  writeTo(file, header, digestAt, entries);
}

//===-- Reading ---------------------------------------------------------------------------------===//

class TensorFile::Reader {
public:
  Reader(TensorFile &file, SourceLocation where) : file(file), where(where) {
    requirePath(file.path_, where);
    // Opening a pipe must not wait for its other end.
    descriptor = ::open(file.path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
      fail(absl::StrCat("can't be opened: ", std::strerror(errno)));
  }
  ~Reader() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  Reader(const Reader &) = delete;
  Reader &operator=(const Reader &) = delete;

  // Reads the header, and checks it against the file's length.
  void readHeader() {
    struct stat status{};
    if (::fstat(descriptor, &status) || !S_ISREG(status.st_mode))
      fail("can't be read: it is no regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::uint64_t length = 0;
    if (size < sizeof length)
      fail("truncated: it ends within its header");
    read(&length, sizeof length);
    if (length > kMostHeaderBytes)
      fail(absl::StrCat("this is no safetensors file: its header has ", length, " bytes, and may have ",
                        kMostHeaderBytes));
    if (length > size - sizeof length)
      fail(absl::StrCat("truncated, or no safetensors file: its header has ", length, " bytes, and there are ",
                        size - sizeof length));
    header.resize(length);
    read(header.data(), length);
    if (const std::string fault = parseHeader(header, parsed); !fault.empty())
      fail(absl::StrCat("its header is damaged: ", fault));
    const std::uint64_t expected = parsed.numBytes(), given = size - sizeof length - length;
    if (expected != given)
      fail(absl::StrCat(given < expected ? "truncated: " : "", "its header says ", expected,
                        " bytes of data, and there are ", given));
    file.metadata_ = std::move(parsed.metadata);
    takeDigest();
  }

  void readData(Digest wanted) {
    if (wanted == Digest::Required && !digest)
      fail("it has no SHA-256, which says whether the file is as it was written");
    Sha256 sum;
    if (digest) {
      const std::string length = lengthBytes(header.size());
      sum.add(length.data(), length.size());
      sum.add(header.data(), header.size());
    }
    for (TensorHeader::Entry &each : parsed.entries) {
      const std::size_t count = each.end - each.begin;
      TensorEntry entry{std::move(each.name), std::move(each.code), std::move(each.dims), {}};
      try {
        entry.buffer = runtime::Buffer::allocate(count);
      } catch (const std::bad_alloc &) {
        throw MemoryError(
            absl::StrCat(file.path_, ": there is no memory for ", entry.type(), ", which has ", count, " bytes"),
            userLine(where));
      }
      auto *data = static_cast<std::byte *>(entry.buffer.data());
      entry.bytes = {data, count};
      for (std::size_t at = 0; at < count; at += kPiece) {
        const std::size_t piece = std::min(kPiece, count - at);
        read(data + at, piece);
        if (digest)
          sum.add(data + at, piece);
      }
      file.byName.emplace(entry.name, file.entries_.size());
      file.entries_.push_back(std::move(entry));
    }
    if (digest && sum.hex() != *digest)
      fail("it is damaged: its SHA-256 is not the one that was written into it");
    file.hasDigest_ = digest.has_value();
    for (const TensorEntry &entry : file.entries_)
      if (entry.code == codeOf(DType::Bool))
        for (std::size_t i = 0; i < entry.bytes.size(); ++i)
          if (entry.bytes[i] > std::byte(1))
            fail(absl::StrCat("'", entry.name, "' is ", entry.type(), ", and element ", i, " is ",
                              static_cast<int>(entry.bytes[i]), ", which is no bool"));
  }

private:
  [[noreturn]] void fail(const std::string &message) const { file.fail(message, where); }

  void read(void *out, std::size_t count) {
    for (auto *to = static_cast<char *>(out); count > 0;) {
      const ssize_t got = ::read(descriptor, to, count);
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0) // 0 if another process has made the file shorter
        fail(absl::StrCat("can't be read: ", std::strerror(got ? errno : EIO)));
      to += got;
      count -= static_cast<std::size_t>(got);
    }
  }

  void takeDigest() {
    const bool isCalques = file.metadata_.contains(kFormat);
    auto found = file.metadata_.find(kDigest);
    if (!isCalques && found == file.metadata_.end())
      return;
    const std::size_t at = header.find(kDigestText);
    if (!isCalques || found == file.metadata_.end() || found->second.size() != kDigits || at == std::string::npos)
      fail("it is damaged: its SHA-256 is not as Calque writes it");
    if (const std::string &version = file.metadata_.at(kFormat); version != kFormatVersion)
      fail(absl::StrCat("version '", version, "' of Calque's tensor files is not known; this is version ",
                        kFormatVersion));
    digest = found->second;
    header.replace(at + kDigestText.size(), kDigits, kDigits, '0');
    file.metadata_.erase(kFormat);
    file.metadata_.erase(kDigest);
  }

  TensorFile &file;
  const SourceLocation where;
  int descriptor = -1;
  std::string header;
  TensorHeader parsed;
  std::optional<std::string> digest;
};

TensorFile TensorFile::read(const std::string &path, SourceLocation where, Digest digest) {
  return readWithinMemory(path, where, [&] {
    TensorFile file(path);
    Reader reader(file, where);
    reader.readHeader();
    reader.readData(digest);
    return file;
  });
}

TensorFile::Metadata TensorFile::readMetadata(const std::string &path, SourceLocation where) {
  return readWithinMemory(path, where, [&] {
    TensorFile file(path);
    Reader(file, where).readHeader();
    return std::move(file.metadata_);
  });
}

} // namespace calque::detail
