// Tests runtime/CodeCache.h: what is kept, and everything that a file system and other processes can do to it.
#include "runtime/CodeCache.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace calque::runtime;
namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t kMuch = std::uint64_t(1) << 30;

CacheKey keyOf(int number) {
  std::string text = "key " + std::to_string(number);
  return cacheKey(std::as_bytes(std::span(text)));
}

Bytes filled(std::size_t size, int value) { return Bytes(size, static_cast<std::byte>(value)); }

std::string hex(const CacheKey &key) {
  std::string text;
  for (std::byte each : key) {
    text += "0123456789abcdef"[static_cast<int>(each) >> 4];
    text += "0123456789abcdef"[static_cast<int>(each) & 15];
  }
  return text;
}

void setMode(const fs::path &path, mode_t mode) { ASSERT_EQ(chmod(path.c_str(), mode), 0); }

// When a file was used: so many seconds ago.
void setAge(const fs::path &path, std::int64_t seconds) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec -= seconds;
  const timespec times[] = {now, now};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}
std::int64_t ageOf(const fs::path &path) {
  struct stat status;
  EXPECT_EQ(lstat(path.c_str(), &status), 0);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec - status.st_mtim.tv_sec;
}

Bytes contentsOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
void write(const fs::path &path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Does something in a process of its own. Returns its exit status: 0 where it returns true, 1 where it does not.
pid_t start(const std::function<bool()> &work) {
  pid_t child = fork();
  if (child == 0)
    std::_Exit(work() ? 0 : 1);
  return child;
}
int wait(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class CodeCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "calque-cache-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(pattern.data()));
    root = pattern;
    directory = root / "cache";
  }
  void TearDown() override { fs::remove_all(root); }

  fs::path fileOf(int number) const { return directory / hex(keyOf(number)); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const fs::directory_entry &each : fs::directory_iterator(directory))
      names.push_back(each.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path root, directory;
};

TEST(CacheKeys, AreSha256) {
  std::string text = "abc";
  EXPECT_EQ(hex(cacheKey(std::as_bytes(std::span(text)))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(CodeCacheTest, KeepsWhatIsStored) {
  CodeCache cache(directory, kMuch);
  EXPECT_FALSE(cache.load(keyOf(1)));
  EXPECT_FALSE(fs::exists(directory));
  cache.store(keyOf(1), filled(1000, 7));
  cache.store(keyOf(2), {});
  EXPECT_EQ(cache.load(keyOf(1)), filled(1000, 7));
  EXPECT_EQ(cache.load(keyOf(2)), Bytes());
  EXPECT_FALSE(cache.load(keyOf(3)));
  cache.store(keyOf(1), filled(20, 8));
  CodeCache other(directory, kMuch);
  EXPECT_EQ(other.load(keyOf(1)), filled(20, 8));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(CodeCacheTest, IsForItsUserAlone) {
  directory = root / "a" / "b" / "cache";
  mode_t before = umask(0);
  CodeCache(directory, kMuch).store(keyOf(1), filled(10, 1));
  umask(before);
  struct stat status;
  for (const fs::path &each : {root / "a", root / "a" / "b", directory}) {
    ASSERT_EQ(stat(each.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u) << each;
  }
  ASSERT_EQ(stat(fileOf(1).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(CodeCacheTest, ListsItsEntries) {
  CodeCache cache(directory, kMuch);
  EXPECT_TRUE(cache.entries().empty());
  for (int i = 0; i < 3; ++i) {
    cache.store(keyOf(i), filled(static_cast<std::size_t>(i) * 2100, i));
    setAge(fileOf(i), i == 1 ? 10 : 100 + i);
  }
  cache.store(keyOf(3), filled(5, 5));
  Bytes bytes = contentsOf(fileOf(3));
  bytes[0] ^= std::byte(1);
  write(fileOf(3), bytes);
  write(directory / "README", bytes);
  std::vector<CacheEntry> entries = cache.entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key, keyOf(1));
  EXPECT_EQ(entries[0].bytes, 4096u); // in blocks, as the limit counts
  EXPECT_EQ(entries[1].key, keyOf(0));
  EXPECT_EQ(entries[2].key, keyOf(2));
  EXPECT_EQ(entries[2].bytes, 8192u);
  auto age = std::chrono::system_clock::now() - entries[0].used;
  EXPECT_GE(age, std::chrono::seconds(9));
  EXPECT_LE(age, std::chrono::minutes(1));
}

//===-- Damage -----------------------------------------------------------------------------------===//

TEST_F(CodeCacheTest, FindsEveryDamagedByte) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(100, 3));
  const Bytes bytes = contentsOf(fileOf(1));
  ASSERT_GT(bytes.size(), 100u);
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int mask : {0x01, 0x80, 0xff}) {
      Bytes damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(mask);
      write(fileOf(1), damaged);
      EXPECT_FALSE(cache.load(keyOf(1))) << at;
      EXPECT_FALSE(fs::exists(fileOf(1))) << at; // it is dropped
    }
  write(fileOf(1), bytes);
  EXPECT_EQ(cache.load(keyOf(1)), filled(100, 3));
}

TEST_F(CodeCacheTest, FindsWhatIsCutShortOrGoesOn) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(100, 3));
  Bytes bytes = contentsOf(fileOf(1));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    write(fileOf(1), std::span(bytes).first(length));
    EXPECT_FALSE(cache.load(keyOf(1))) << length;
    EXPECT_FALSE(fs::exists(fileOf(1))) << length;
  }
  bytes.push_back(std::byte(3));
  write(fileOf(1), bytes);
  EXPECT_FALSE(cache.load(keyOf(1)));
  cache.store(keyOf(1), filled(4, 4));
  EXPECT_EQ(cache.load(keyOf(1)), filled(4, 4));
}

// An older version's entry is one whose number of the version differs, as a damaged byte of it.
TEST_F(CodeCacheTest, FindsWhatIsUnderAnotherKeysName) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(100, 3));
  fs::copy_file(fileOf(1), fileOf(2));
  EXPECT_FALSE(cache.load(keyOf(2)));
  EXPECT_FALSE(fs::exists(fileOf(2)));
  EXPECT_TRUE(cache.load(keyOf(1)));
}

TEST_F(CodeCacheTest, FindsWhatIsNoFile) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(100, 3));
  cache.store(keyOf(2), filled(100, 3));
  fs::rename(fileOf(2), root / "elsewhere");
  fs::create_symlink(root / "elsewhere", fileOf(2));
  ASSERT_EQ(mkfifo(fileOf(3).c_str(), 0600), 0);
  fs::create_directory(fileOf(4));
  for (int i : {2, 3, 4}) {
    EXPECT_FALSE(cache.load(keyOf(i))) << i;
    cache.store(keyOf(i), filled(10, i));
  }
  EXPECT_EQ(cache.load(keyOf(2)), filled(10, 2));
  EXPECT_EQ(cache.load(keyOf(3)), filled(10, 3));
  EXPECT_FALSE(cache.load(keyOf(4))); // a directory is not taken away
  EXPECT_EQ(cache.load(keyOf(1)), filled(100, 3));
  EXPECT_EQ(files().size(), 4u); // nothing unfinished
}

//===-- Other users ------------------------------------------------------------------------------===//

TEST_F(CodeCacheTest, RefusesWhatOthersMayWrite) {
  CodeCache cache(directory, kMuch);
  for (mode_t mode : {0620, 0602, 0666}) {
    cache.store(keyOf(1), filled(10, 1));
    setMode(fileOf(1), mode);
    EXPECT_FALSE(cache.load(keyOf(1))) << mode;
    EXPECT_FALSE(fs::exists(fileOf(1)));
  }
  cache.store(keyOf(1), filled(10, 1));
  for (mode_t mode : {0720, 0702, 0777}) {
    setMode(directory, mode);
    EXPECT_FALSE(cache.load(keyOf(1)));
    EXPECT_TRUE(cache.entries().empty());
    cache.store(keyOf(2), filled(10, 2));
    EXPECT_FALSE(fs::exists(fileOf(2)));
  }
  setMode(directory, 0755); // others may look
  EXPECT_TRUE(cache.load(keyOf(1)));
}

TEST_F(CodeCacheTest, RefusesWhatIsAnotherUsers) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives files away";
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(10, 1));
  ASSERT_EQ(chown(fileOf(1).c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.load(keyOf(1)));
  cache.store(keyOf(1), filled(10, 1));
  EXPECT_TRUE(cache.load(keyOf(1)));
  ASSERT_EQ(chown(directory.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.load(keyOf(1)));
  EXPECT_TRUE(cache.entries().empty());
  cache.store(keyOf(2), filled(10, 2));
  EXPECT_FALSE(fs::exists(fileOf(2)));
}

//===-- What is installed ------------------------------------------------------------------------===//

TEST_F(CodeCacheTest, IsReadAndLeftAsItIsWhereItWasInstalled) {
  {
    CodeCache cache(directory, kMuch);
    cache.store(keyOf(1), filled(10, 1));
    cache.store(keyOf(2), filled(10, 2));
  }
  Bytes bytes = contentsOf(fileOf(2));
  bytes.back() ^= std::byte(1);
  write(fileOf(2), bytes);
  setAge(fileOf(1), 1000);
  CodeCache installed(directory);
  EXPECT_EQ(installed.load(keyOf(1)), filled(10, 1));
  EXPECT_GE(ageOf(fileOf(1)), 1000);
  EXPECT_FALSE(installed.load(keyOf(2)));
  installed.store(keyOf(3), filled(10, 3));
  EXPECT_EQ(files().size(), 2u);
  for (mode_t mode : {0664, 0646}) {
    setMode(fileOf(1), mode);
    EXPECT_FALSE(installed.load(keyOf(1))) << mode;
    EXPECT_TRUE(fs::exists(fileOf(1)));
  }
  EXPECT_FALSE(CodeCache(root / "missing").load(keyOf(1)));
}

TEST_F(CodeCacheTest, IsRootsOrTheUsersWhereItWasInstalled) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives files away";
  CodeCache(directory, kMuch).store(keyOf(1), filled(10, 1));
  setMode(root, 0755);
  setMode(directory, 0755);
  setMode(fileOf(1), 0644);
  auto asUser = [&](const std::function<bool()> &work) {
    return wait(start([&] {
      return setgroups(0, nullptr) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
             work();
    }));
  };
  EXPECT_EQ(asUser([&] { return CodeCache(directory).load(keyOf(1)) == filled(10, 1); }), 0);
  EXPECT_EQ(asUser([&] { return !CodeCache(directory, kMuch).load(keyOf(1)); }), 0);
  ASSERT_EQ(chown(fileOf(1).c_str(), 12345, 12345), 0);
  EXPECT_EQ(asUser([&] { return !CodeCache(directory).load(keyOf(1)); }), 0);
  EXPECT_FALSE(CodeCache(directory).load(keyOf(1)));
}

//===-- What can't be written --------------------------------------------------------------------===//

// Root may write everywhere.
bool becomeUser(const fs::path &root, const fs::path &directory) {
  if (geteuid() != 0)
    return true;
  for (const fs::path &each : {root, directory})
    if (chown(each.c_str(), 65534, 65534))
      return false;
  for (const fs::directory_entry &each : fs::directory_iterator(directory))
    if (chown(each.path().c_str(), 65534, 65534))
      return false;
  return setgroups(0, nullptr) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
}

TEST_F(CodeCacheTest, ReadsADirectoryThatCannotBeWritten) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(10, 1));
  cache.store(keyOf(2), filled(10, 2));
  Bytes bytes = contentsOf(fileOf(2));
  bytes.back() ^= std::byte(1);
  write(fileOf(2), bytes);
  setMode(directory, 0500);
  EXPECT_EQ(wait(start([&] {
              if (!becomeUser(root, directory))
                return false;
              cache.store(keyOf(3), filled(10, 3));
              return cache.load(keyOf(1)) == filled(10, 1) && !cache.load(keyOf(2)) && !cache.load(keyOf(3)) &&
                     cache.entries().size() == 2;
            })),
            0);
  EXPECT_EQ(files().size(), 2u);
  setMode(directory, 0700);
}

TEST_F(CodeCacheTest, MakesNoDirectoryWhereItMayNot) {
  fs::create_directory(root / "home");
  setMode(root / "home", 0500);
  directory = root / "home" / ".cache" / "calque";
  EXPECT_EQ(wait(start([&] {
              if (!becomeUser(root, root / "home"))
                return false;
              CodeCache cache(directory, kMuch);
              cache.store(keyOf(1), filled(10, 1));
              return !cache.load(keyOf(1)) && cache.entries().empty();
            })),
            0);
  EXPECT_TRUE(fs::is_empty(root / "home"));
  setMode(root / "home", 0700);
  write(root / "file", filled(1, 1));
  CodeCache below(root / "file" / "cache", kMuch);
  below.store(keyOf(1), filled(10, 1));
  EXPECT_FALSE(below.load(keyOf(1)));
  CodeCache off("", kMuch);
  off.store(keyOf(1), filled(10, 1));
  EXPECT_FALSE(off.load(keyOf(1)));
  EXPECT_TRUE(off.entries().empty());
}

TEST_F(CodeCacheTest, WritesNoFileThatIsTooLarge) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(5000, 1));
  EXPECT_EQ(wait(start([&] { // a file beyond the limit is a signal that ends the process
              rlimit limit{4000, 4000};
              if (setrlimit(RLIMIT_FSIZE, &limit))
                return false;
              cache.store(keyOf(2), filled(5000, 2));
              cache.store(keyOf(3), filled(1000, 3));
              return !cache.load(keyOf(2)) && cache.load(keyOf(3)) == filled(1000, 3);
            })),
            0);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(CodeCacheTest, LeavesNothingOnAFullDisk) {
  constexpr int kNoMount = 77;
  fs::create_directory(directory);
  pid_t child = start([&] {
    if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
        mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=64k,mode=0700"))
      std::_Exit(kNoMount);
    CodeCache cache(directory, kMuch);
    cache.store(keyOf(1), filled(20000, 1));
    cache.store(keyOf(2), filled(100000, 2));
    bool kept = cache.load(keyOf(1)) == filled(20000, 1) && !cache.load(keyOf(2)) && files().size() == 1;
    cache.store(keyOf(1), filled(100000, 3)); // what was there stays
    cache.store(keyOf(3), filled(1000, 3));   // and there is place for others
    return kept && cache.load(keyOf(1)) == filled(20000, 1) && cache.load(keyOf(3)) && files().size() == 2;
  });
  int status = wait(child);
  if (status == kNoMount)
    GTEST_SKIP() << "this process may not mount a small disk";
  EXPECT_EQ(status, 0);
}

//===-- The size ---------------------------------------------------------------------------------===//

constexpr std::size_t kBlock = 4096, kHalf = 2048;

TEST_F(CodeCacheTest, EvictsWhatWasNotUsedForLongest) {
  CodeCache cache(directory, 16 * kBlock);
  for (int i = 0; i < 12; ++i) {
    cache.store(keyOf(i), filled(kHalf, i));
    setAge(fileOf(i), 1000 - 10 * i);
  }
  EXPECT_EQ(files().size(), 12u);
  EXPECT_EQ(cache.load(keyOf(0)), filled(kHalf, 0)); // marks it as used
  EXPECT_EQ(cache.load(keyOf(2)), filled(kHalf, 2));
  for (int i = 12; i < 16; ++i)
    cache.store(keyOf(i), filled(kHalf, i));
  // An eighth is free after an eviction.
  EXPECT_EQ(files().size(), 14u);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(fs::exists(fileOf(i)), i != 1 && i != 3) << i;
}

TEST_F(CodeCacheTest, StaysBelowItsSize) {
  CodeCache cache(directory, 20 * kBlock);
  for (int i = 0; i < 200; ++i) {
    cache.store(keyOf(i), filled(static_cast<std::size_t>(i % 5) * kHalf, i));
    std::uint64_t total = 0;
    for (const fs::directory_entry &each : fs::directory_iterator(directory))
      total += (each.file_size() + kBlock - 1) / kBlock * kBlock;
    EXPECT_LE(total, 20 * kBlock);
    EXPECT_TRUE(cache.load(keyOf(i)));
  }
}

TEST_F(CodeCacheTest, KeepsNothingThatIsLargerThanItself) {
  CodeCache small(directory, 8 * kBlock);
  small.store(keyOf(1), filled(kHalf, 1));
  small.store(keyOf(2), filled(8 * kBlock, 2));
  EXPECT_FALSE(small.load(keyOf(2)));
  EXPECT_TRUE(small.load(keyOf(1)));
  for (std::uint64_t size : {std::uint64_t(0), std::uint64_t(1), std::uint64_t(31), std::uint64_t(kBlock) - 1}) {
    CodeCache tiny(root / "tiny", size);
    tiny.store(keyOf(1), filled(1, 1));
    EXPECT_FALSE(tiny.load(keyOf(1)));
  }
}

TEST_F(CodeCacheTest, MarksUseAtMostOnceAMinute) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(10, 1));
  setAge(fileOf(1), 30);
  EXPECT_TRUE(cache.load(keyOf(1)));
  EXPECT_GE(ageOf(fileOf(1)), 29);
  setAge(fileOf(1), 90);
  EXPECT_TRUE(cache.load(keyOf(1)));
  EXPECT_LE(ageOf(fileOf(1)), 29);
  setAge(fileOf(1), -1000); // by a clock that was wrong
  EXPECT_TRUE(cache.load(keyOf(1)));
  EXPECT_GE(ageOf(fileOf(1)), -1);
}

TEST_F(CodeCacheTest, LeavesOthersFilesAndTakesAwayUnfinishedOnes) {
  CodeCache cache(directory, 8 * kBlock);
  cache.store(keyOf(0), filled(kHalf, 0));
  write(directory / "README", filled(10, 1));
  write(directory / "unfinished-old", filled(10, 1));
  write(directory / "unfinished-new", filled(10, 1));
  setAge(directory / "README", 100000);
  setAge(directory / "unfinished-old", 4000);
  for (int i = 1; i < 20; ++i)
    cache.store(keyOf(i), filled(kHalf, i));
  EXPECT_TRUE(fs::exists(directory / "README"));
  EXPECT_TRUE(fs::exists(directory / "unfinished-new"));
  EXPECT_FALSE(fs::exists(directory / "unfinished-old"));
}

//===-- Several at a time ------------------------------------------------------------------------===//

// Entries are of one value each, and their sizes follow from it.
bool isWhole(const std::optional<Bytes> &bytes) {
  return !bytes || (!bytes->empty() &&
                    *bytes == filled(static_cast<std::size_t>((*bytes)[0]) * 100, static_cast<int>((*bytes)[0])));
}

bool storeAndLoad(CodeCache &cache, int seed, int rounds) {
  bool good = true;
  for (int i = 0; i < rounds; ++i) {
    int value = 1 + (i * 7 + seed * 13) % 100;
    cache.store(keyOf((i + seed) % 5), filled(static_cast<std::size_t>(value) * 100, value));
    good &= isWhole(cache.load(keyOf((i * 3) % 5)));
  }
  return good;
}

TEST_F(CodeCacheTest, IsSharedByProcesses) {
  for (std::uint64_t size : {kMuch, std::uint64_t(6 * kBlock)}) {
    std::vector<pid_t> children;
    for (int seed = 0; seed < 3; ++seed)
      children.push_back(start([&, seed] {
        CodeCache cache(directory, size);
        return storeAndLoad(cache, seed, 300);
      }));
    CodeCache cache(directory, size);
    EXPECT_TRUE(storeAndLoad(cache, 3, 300));
    for (pid_t child : children)
      EXPECT_EQ(wait(child), 0);
    for (const std::string &name : files())
      EXPECT_FALSE(name.starts_with("unfinished-")) << name;
  }
}

TEST_F(CodeCacheTest, IsSharedByThreads) {
  for (std::uint64_t size : {kMuch, std::uint64_t(6 * kBlock)}) {
    CodeCache cache(directory, size);
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int seed = 0; seed < 3; ++seed)
      threads.emplace_back([&, seed] { good += storeAndLoad(cache, seed, 200); });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(good, 3);
  }
}

TEST_F(CodeCacheTest, SurvivesProcessesThatAreKilled) {
  CodeCache cache(directory, kMuch);
  for (int round = 0; round < 20; ++round) {
    pid_t child = start([&] {
      while (true)
        storeAndLoad(cache, round, 100);
      return false;
    });
    for (int i = 0; i < 50 * (1 + round); ++i)
      EXPECT_TRUE(isWhole(cache.load(keyOf(i % 5))));
    kill(child, SIGKILL);
    wait(child);
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(isWhole(cache.load(keyOf(i))));
  }
  cache.store(keyOf(1), filled(300, 3));
  EXPECT_EQ(cache.load(keyOf(1)), filled(300, 3));
}

TEST_F(CodeCacheTest, IsMadeAnewWhereItWasTakenAway) {
  CodeCache cache(directory, kMuch);
  cache.store(keyOf(1), filled(10, 1));
  fs::remove_all(directory);
  EXPECT_FALSE(cache.load(keyOf(1)));
  cache.store(keyOf(1), filled(10, 1));
  EXPECT_TRUE(cache.load(keyOf(1)));
}

} // namespace
