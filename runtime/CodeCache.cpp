#include "runtime/CodeCache.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/SystemMemory.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string_view>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace calque::runtime {

namespace {

//===-- Files ------------------------------------------------------------------------------------===//

class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(File &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  File &operator=(File &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~File() { close(); }
  explicit operator bool() const { return descriptor >= 0; }
  int get() const { return descriptor; }
  // Closes the file. Returns whether the system has taken everything that was written.
  bool close() { return descriptor < 0 || ::close(std::exchange(descriptor, -1)) == 0; }

private:
  int descriptor;
};

bool readAll(int file, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = read(file, bytes.data(), bytes.size());
    if (count == 0 || (count < 0 && errno != EINTR))
      return false;
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

bool writeAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      return false;
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

// Another user who can write a file that is executed can run code as this user. Installed files may belong to root.
bool isTrusted(const struct stat &status, bool isInstalled) {
  bool isOurs = status.st_uid == geteuid() || (isInstalled && status.st_uid == 0);
  return isOurs && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Empty if the directory is not there, or another user could write to it.
File openDirectory(const std::string &path, bool isInstalled) {
  File directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!directory || fstat(directory.get(), &status) || !isTrusted(status, isInstalled))
    return File(-1);
  return directory;
}

void makeDirectories(const std::string &path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

struct DirectoryReader {
  // Reads from the beginning, even if another reader has the directory open.
  explicit DirectoryReader(int directory) {
    int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    stream = own < 0 ? nullptr : fdopendir(own);
    if (!stream && own >= 0)
      close(own);
  }
  ~DirectoryReader() {
    if (stream)
      closedir(stream);
  }
  DirectoryReader(const DirectoryReader &) = delete;
  DirectoryReader &operator=(const DirectoryReader &) = delete;
  const char *next() {
    dirent *entry = stream ? readdir(stream) : nullptr;
    return entry ? entry->d_name : nullptr;
  }
  DIR *stream;
};

//===-- Names ------------------------------------------------------------------------------------===//

// Files that are being written have another kind of name, so that nothing takes them for entries.
constexpr const char *kUnfinished = "unfinished-";

std::string nameOf(const CacheKey &key) {
  return absl::BytesToHexString({reinterpret_cast<const char *>(key.data()), key.size()});
}

std::optional<CacheKey> keyNamed(std::string_view name) {
  CacheKey key;
  if (name.size() != 2 * key.size())
    return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    unsigned char value = 0;
    const char *digits = name.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
      return std::nullopt;
    key[i] = static_cast<std::byte>(value);
  }
  return nameOf(key) == name ? std::optional(key) : std::nullopt;
}

//===-- The form of an entry ---------------------------------------------------------------------===//

// Numbers have their lowest byte first.
constexpr std::string_view kMagic = "calque\n\x1a";
constexpr std::uint32_t kVersion = 1;
// magic, version, checksum of all that follows, key, length of the contents
constexpr std::size_t kChecksumAt = 12, kKeyAt = 16, kLengthAt = 48, kHeaderBytes = 56;
using Header = std::array<std::byte, kHeaderBytes>;

template <typename T> void put(Header &header, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    header[at + i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint32_t checksum(std::span<const std::byte> header, std::span<const std::byte> contents) {
  uLong sum = crc32_z(0, reinterpret_cast<const Bytef *>(header.data()), header.size());
  if (!contents.empty()) // a null pointer would mean something else
    sum = crc32_z(sum, reinterpret_cast<const Bytef *>(contents.data()), contents.size());
  return static_cast<std::uint32_t>(sum);
}

Header headerOf(const CacheKey &key, std::span<const std::byte> contents) {
  Header header{};
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  put(header, kMagic.size(), kVersion);
  std::copy(key.begin(), key.end(), header.begin() + kKeyAt);
  put(header, kLengthAt, static_cast<std::uint64_t>(contents.size()));
  put(header, kChecksumAt, checksum(std::span(header).subspan(kKeyAt), contents));
  return header;
}

// The bytes that a file takes on a disk with the usual size of blocks.
std::uint64_t bytesOnDisk(std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

//===-- Time -------------------------------------------------------------------------------------===//

using Clock = std::chrono::system_clock;

Clock::time_point timeOf(const timespec &time) {
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::seconds(time.tv_sec) +
                                                                       std::chrono::nanoseconds(time.tv_nsec)));
}

// An entry that was used within this time is not marked again.
constexpr std::chrono::minutes kMarkedEvery{1};
// A file that is unfinished for longer belongs to a process that ended while it wrote.
constexpr std::chrono::hours kUnfinishedFor{1};

// The system's own time for a file may have passed some milliseconds ago.
void markAsUsed(int file) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[] = {now, now};
  futimens(file, times);
}

void markAsUsedAgain(int file, const struct stat &status) {
  Clock::duration age = Clock::now() - timeOf(status.st_mtim);
  if (age > kMarkedEvery || age < -kMarkedEvery)
    markAsUsed(file);
}

//===-- Settings ---------------------------------------------------------------------------------===//

constexpr std::uint64_t kShares = 32;

bool isAbsolute(const char *path) { return path && path[0] == '/'; }

} // namespace

CacheKey cacheKey(std::span<const std::byte> text) {
  CacheKey key;
  static_assert(std::tuple_size_v<CacheKey> == SHA256_DIGEST_SIZE);
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t *>(text.data()));
  sha256_digest(&context, key.size(), reinterpret_cast<std::uint8_t *>(key.data()));
  return key;
}

CacheSettings cacheSettings() {
  CacheSettings settings;
  const char *cache = secure_getenv("CALQUE_CACHE"), *size = secure_getenv("CALQUE_CACHE_SIZE");
  const char *caches = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  if (std::string_view text = cache ? cache : ""; text == "off" || text == "0")
    settings.directory = "";
  else if (isAbsolute(cache))
    settings.directory = text;
  else if (!text.empty())
    settings.error = absl::StrCat("CALQUE_CACHE is '", cache, "' and must be 'off', '0' or an absolute path");
  else if (isAbsolute(caches)) // the XDG specification says to ignore relative paths
    settings.directory = absl::StrCat(caches, "/calque");
  else if (isAbsolute(home))
    settings.directory = absl::StrCat(home, "/.cache/calque");
  if (size && *size) {
    std::optional<std::uint64_t> bytes = bytesNamed(size);
    if (bytes)
      settings.maxBytes = *bytes;
    else
      settings.error = absl::StrCat("CALQUE_CACHE_SIZE is '", size,
                                    "' and must be a number of bytes above 0, such as 100000, 512M or 2G");
  }
  return settings;
}

//===-- The cache --------------------------------------------------------------------------------===//

CodeCache::CodeCache(std::string directory, std::uint64_t maxBytes)
    : path(std::move(directory)), maxBytes(maxBytes), share(maxBytes / kShares) {
  // Starts at a random share. So a process that stores little counts the entries rarely, and many such processes
  // together count them as often as one process that stores as much.
  std::uint64_t random = 0;
  (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
  unseen = share ? random % share : 0;
}

std::vector<CodeCache::Entry> CodeCache::load(std::span<const CacheKey> keys) const {
  std::vector<Entry> entries(keys.size());
  File directory = path.empty() || keys.empty() ? File(-1) : openDirectory(path, isInstalled);
  if (directory)
    std::ranges::transform(keys, entries.begin(), [&](const CacheKey &key) { return loadFrom(directory.get(), key); });
  return entries;
}

CodeCache::Entry CodeCache::loadFrom(int directory, const CacheKey &key) const {
  const std::string name = nameOf(key);
  // If a pipe has this name, open() must not wait for its other end.
  File file(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno != ELOOP) // a symbolic link
    return std::nullopt;
  Entry entry = [&]() -> Entry {
    struct stat status;
    if (!file || fstat(file.get(), &status) || !S_ISREG(status.st_mode) || !isTrusted(status, isInstalled))
      return std::nullopt;
    auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes < kHeaderBytes || bytes > maxBytes)
      return std::nullopt;
    std::vector<std::byte> contents(bytes);
    if (!readAll(file.get(), contents))
      return std::nullopt;
    Header header;
    std::copy_n(contents.begin(), kHeaderBytes, header.begin());
    contents.erase(contents.begin(), contents.begin() + kHeaderBytes);
    if (header != headerOf(key, contents))
      return std::nullopt;
    if (!isInstalled)
      markAsUsedAgain(file.get(), status);
    return contents;
  }();
  if (!entry && !isInstalled) // else it would be in the way each time
    unlinkat(directory, name.c_str(), 0);
  return entry;
}

void CodeCache::store(const CacheKey &key, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytesOnDisk(kHeaderBytes + bytes.size());
  rlimit largest;
  // The system would end the process for a file that is larger than allowed.
  bool fits = getrlimit(RLIMIT_FSIZE, &largest) == 0 && kHeaderBytes + bytes.size() <= largest.rlim_cur;
  if (path.empty() || isInstalled || size > maxBytes - share || !fits)
    return;
  File directory = openDirectory(path, false);
  if (!directory) {
    makeDirectories(path);
    directory = openDirectory(path, false);
  }
  std::uint64_t random = 0;
  if (!directory || getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    return;
  // The file is written under another name and renamed, so that it appears as a whole, and readers of an earlier entry
  // still see all of that entry.
  const std::string unfinished = absl::StrCat(kUnfinished, absl::Hex(random, absl::kZeroPad16));
  File file(openat(directory.get(), unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file)
    return;
  bool isWritten = writeAll(file.get(), headerOf(key, bytes)) && writeAll(file.get(), bytes);
  markAsUsed(file.get());
  bool isStored = isWritten && file.close() &&
                  renameat(directory.get(), unfinished.c_str(), directory.get(), nameOf(key).c_str()) == 0;
  if (!isStored)
    unlinkat(directory.get(), unfinished.c_str(), 0);
  else if (unseen.fetch_add(size) + size >= share)
    evict(directory.get());
}

void CodeCache::evict(int directory) {
  std::unique_lock lock(evicting, std::try_to_lock);
  if (!lock)
    return;
  unseen = 0;
  struct Found {
    Clock::time_point used;
    std::uint64_t size;
    std::string name;
  };
  std::vector<Found> found;
  std::uint64_t total = 0;
  DirectoryReader reader(directory);
  while (const char *name = reader.next()) {
    bool isUnfinished = std::string_view(name).starts_with(kUnfinished);
    struct stat status;
    if ((!isUnfinished && !keyNamed(name)) || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW))
      continue;
    Clock::time_point used = timeOf(status.st_mtim);
    if (!isUnfinished) {
      found.push_back({used, bytesOnDisk(static_cast<std::uint64_t>(status.st_size)), name});
      total += found.back().size;
    } else if (Clock::now() - used > kUnfinishedFor) {
      unlinkat(directory, name, 0);
    }
  }
  if (total <= maxBytes - share)
    return;
  std::sort(found.begin(), found.end(), [](const Found &a, const Found &b) { return a.used < b.used; });
  for (const Found &each : found) {
    if (total <= maxBytes - maxBytes / 8)
      break;
    unlinkat(directory, each.name.c_str(), 0);
    total -= each.size;
  }
}

std::vector<CacheEntry> CodeCache::entries() const {
  std::vector<CacheEntry> entries;
  File directory = path.empty() ? File(-1) : openDirectory(path, isInstalled);
  if (!directory)
    return entries;
  DirectoryReader reader(directory.get());
  while (const char *name = reader.next()) {
    std::optional<CacheKey> key = keyNamed(name);
    if (!key)
      continue;
    File file(openat(directory.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    Header header, expected = headerOf(*key, {});
    if (!file || fstat(file.get(), &status) || !S_ISREG(status.st_mode) || !isTrusted(status, isInstalled) ||
        !readAll(file.get(), header))
      continue;
    std::uint64_t bytes = static_cast<std::uint64_t>(status.st_size) - kHeaderBytes;
    put(expected, kLengthAt, bytes);
    std::copy_n(header.begin() + kChecksumAt, sizeof(std::uint32_t), expected.begin() + kChecksumAt);
    if (header == expected)
      entries.push_back({*key, bytesOnDisk(kHeaderBytes + bytes), timeOf(status.st_mtim)});
  }
  std::sort(entries.begin(), entries.end(), [](const CacheEntry &a, const CacheEntry &b) { return a.used > b.used; });
  return entries;
}

} // namespace calque::runtime
