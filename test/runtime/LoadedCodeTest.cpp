// Tests runtime/LoadedCode.h with code for x86-64 that is written out by hand.
#include "runtime/LoadedCode.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <iterator>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace calque::runtime;

namespace {

using Kind = Fixup::Kind;
using Part = Fixup::Part;
using Target = Fixup::Target;

Image imageOf(std::initializer_list<int> code) {
  Image image;
  for (int value : code)
    image.code.push_back(static_cast<std::byte>(value));
  image.symbols = {{"entry", 0}};
  return image;
}

// mov eax, value; ret
Image returning(int value) { return imageOf({0xb8, value, 0, 0, 0, 0xc3}); }

// sub rsp, 8; call import; add rsp, 8; ret
Image calling(std::string name) {
  Image image = imageOf({0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3});
  image.imports = {std::move(name)};
  image.fixups = {{.kind = Kind::Relative32, .part = Part::Code, .target = Target::Import, .offset = 5, .addend = -4}};
  return image;
}

// sub rsp, 8; call *address of import(rip); add rsp, 8; ret
Image callingByAddress(std::string name) {
  Image image = imageOf({0x48, 0x83, 0xec, 8, 0xff, 0x15, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3});
  image.imports = {std::move(name)};
  image.fixups = {
      {.kind = Kind::Relative32, .part = Part::Code, .target = Target::ImportAddress, .offset = 6, .addend = -4}};
  return image;
}

// mov eax, data[at](rip); ret
Image loading(int at, std::initializer_list<int> data) {
  Image image = imageOf({0x8b, 0x05, 0, 0, 0, 0, 0xc3});
  for (int value : data)
    image.data.push_back(static_cast<std::byte>(value));
  image.fixups = {
      {.kind = Kind::Relative32, .part = Part::Code, .target = Target::Data, .offset = 2, .addend = at - 4}};
  return image;
}

// Adds the function `data`, which returns the address of the data: lea rax, data(rip); ret.
void addAddressOfData(Image &image) {
  std::uint64_t at = image.code.size();
  for (int value : {0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3})
    image.code.push_back(static_cast<std::byte>(value));
  image.symbols.push_back({"data", at});
  image.fixups.push_back(
      {.kind = Kind::Relative32, .part = Part::Code, .target = Target::Data, .offset = at + 3, .addend = -4});
}

std::vector<LoadResult> loadAll(const std::vector<Image> &images,
                                const RuntimeFunction *functions = calque_rt_functions()) {
  std::vector<const Image *> pointers;
  for (const Image &image : images)
    pointers.push_back(&image);
  return LoadedCode::load(pointers, functions);
}

LoadResult load(const Image &image, const RuntimeFunction *functions = calque_rt_functions()) {
  return loadAll({image}, functions)[0];
}

int run(const LoadedCode &code, const char *symbol = "entry") {
  return reinterpret_cast<int (*)()>(code.find(symbol))();
}

// The mapping of an address in /proc/self/maps: "r-xp", or nothing.
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::string protection;
};
Mapping mappingOf(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    char dash;
    std::istringstream(line) >> std::hex >> mapping.begin >> dash >> mapping.end >> mapping.protection;
    auto value = reinterpret_cast<std::uintptr_t>(address);
    if (mapping.begin <= value && value < mapping.end)
      return mapping;
  }
  return {};
}

std::uintptr_t pageOf(const LoadedCode &code) {
  return reinterpret_cast<std::uintptr_t>(code.find("entry")) / static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
}

class LoadedCodeTest : public testing::Test {
protected:
  void SetUp() override {
    if (hostMachine() != Machine::X86_64)
      GTEST_SKIP() << "native code for this processor can't be loaded yet";
  }
};

TEST_F(LoadedCodeTest, Runs) {
  LoadResult loaded = load(returning(42));
  ASSERT_TRUE(loaded.code) << loaded.error;
  EXPECT_EQ(run(*loaded.code), 42);
  EXPECT_EQ(loaded.code->find("exit"), nullptr);
}

TEST_F(LoadedCodeTest, ReadsItsData) {
  LoadResult loaded = load(loading(0, {0x44, 0x33, 0x22, 0x11}));
  ASSERT_TRUE(loaded.code) << loaded.error;
  EXPECT_EQ(run(*loaded.code), 0x11223344);
}

TEST_F(LoadedCodeTest, WritesEachKindOfFixup) {
  Image image = returning(7);
  image.data.resize(40);
  image.imports = {"abs"};
  image.symbols.push_back({"end", 5});
  auto add = [&](Kind kind, Target target, std::uint64_t offset, std::int64_t addend) {
    image.fixups.push_back({.kind = kind, .part = Part::Data, .target = target, .offset = offset, .addend = addend});
  };
  add(Kind::Absolute64, Target::Code, 0, 5);
  add(Kind::Relative64, Target::Code, 8, 5);
  add(Kind::Absolute64, Target::Import, 16, 0);
  add(Kind::Absolute64, Target::Data, 24, 40);
  add(Kind::Relative32, Target::Code, 32, 0);
  add(Kind::Relative32, Target::Data, 36, 0);
  addAddressOfData(image);
  LoadResult loaded = load(image);
  ASSERT_TRUE(loaded.code) << loaded.error;
  auto *data = reinterpret_cast<char *(*)()>(loaded.code->find("data"))();
  auto *code = static_cast<char *>(loaded.code->find("entry"));
  std::int64_t wide[4];
  std::int32_t narrow[2];
  std::memcpy(wide, data, sizeof wide);
  std::memcpy(narrow, data + 32, sizeof narrow);
  EXPECT_EQ(wide[0], reinterpret_cast<std::int64_t>(code + 5));
  EXPECT_EQ(wide[0], reinterpret_cast<std::int64_t>(loaded.code->find("end")));
  EXPECT_EQ(wide[1], code + 5 - (data + 8));
  EXPECT_EQ(reinterpret_cast<int (*)(int)>(wide[2])(-3), 3);
  EXPECT_EQ(wide[3], reinterpret_cast<std::int64_t>(data + 40));
  EXPECT_EQ(narrow[0], code - (data + 32));
  EXPECT_EQ(narrow[1], -36);
}

int answer() { return 24; }

TEST_F(LoadedCodeTest, CallsTheRuntimeBeforeLibraries) {
  const RuntimeFunction functions[] = {{"rand", reinterpret_cast<void *>(&answer)}, {nullptr, nullptr}};
  for (const Image &image : {calling("rand"), callingByAddress("rand")}) {
    LoadResult loaded = load(image, functions);
    ASSERT_TRUE(loaded.code) << loaded.error;
    EXPECT_EQ(run(*loaded.code), 24);
  }
}

TEST_F(LoadedCodeTest, CallsTheCLibrary) {
  for (const Image &image : {calling("getpid"), callingByAddress("getpid")})
    for (const RuntimeFunction *functions : {calque_rt_functions(), static_cast<const RuntimeFunction *>(nullptr)}) {
      LoadResult loaded = load(image, functions);
      ASSERT_TRUE(loaded.code) << loaded.error;
      EXPECT_EQ(run(*loaded.code), getpid());
    }
}

// A distance of more than 2 GiB in either direction goes through a jump.
TEST_F(LoadedCodeTest, CallsWhatIsOutOfReach) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "this sanitizer allows no memory there";
#endif
  int places = 0;
  for (std::uintptr_t place : {std::uintptr_t(0x10'0000'0000), std::uintptr_t(0x6000'0000'0000)}) {
    void *far = mmap(reinterpret_cast<void *>(place), 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (far == MAP_FAILED) // a sanitizer has it
      continue;
    ++places;
    Image code = returning(77);
    std::memcpy(far, code.code.data(), code.code.size());
    ASSERT_EQ(mprotect(far, 4096, PROT_READ | PROT_EXEC), 0);
    const RuntimeFunction functions[] = {{"far", far}, {nullptr, nullptr}};
    {
      std::vector<LoadResult> loaded = loadAll({calling("far"), callingByAddress("far")}, functions);
      for (const LoadResult &each : loaded) {
        ASSERT_TRUE(each.code) << each.error;
        auto distance =
            reinterpret_cast<std::intptr_t>(far) - reinterpret_cast<std::intptr_t>(each.code->find("entry"));
        EXPECT_GT(std::abs(distance), std::intptr_t(1) << 32);
        EXPECT_EQ(run(*each.code), 77);
      }
    }
    munmap(far, 4096);
  }
  if (places == 0)
    GTEST_SKIP() << "both places are taken";
}

TEST_F(LoadedCodeTest, PlacesImagesSideBySide) {
  Image aligned = returning(3), data = loading(0, {5, 0, 0, 0}), wide = loading(4, {9, 0, 0, 0, 6, 0, 0, 0});
  aligned.codeAlignment = 64;
  data.dataAlignment = 128;
  std::vector<LoadResult> loaded = loadAll({returning(1), aligned, data, wide, calling("getpid")});
  std::vector<int> values;
  for (const LoadResult &each : loaded) {
    ASSERT_TRUE(each.code) << each.error;
    EXPECT_EQ(pageOf(*each.code), pageOf(*loaded[0].code));
    values.push_back(run(*each.code));
  }
  EXPECT_EQ(values, (std::vector<int>{1, 3, 5, 6, getpid()}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loaded[1].code->find("entry")) % 64, 0u);
}

TEST_F(LoadedCodeTest, LoadsTheOthersWhereOneIsRefused) {
  std::vector<LoadResult> loaded = loadAll({returning(1), calling("no_such_function"), Image(), returning(4)});
  EXPECT_EQ(loaded[1].error, "native code calls 'no_such_function', which no library has");
  EXPECT_EQ(loaded[2].error, "native code is empty");
  for (std::size_t i : {1, 2})
    EXPECT_FALSE(loaded[i].code);
  EXPECT_EQ(run(*loaded[0].code), 1);
  EXPECT_EQ(run(*loaded[3].code), 4);
  EXPECT_EQ(loadAll({}).size(), 0u);
}

// Linux allows a process 65,530 mappings by default.
TEST_F(LoadedCodeTest, TakesFewMappings) {
  auto count = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  auto before = count();
  std::vector<LoadResult> loaded;
  for (int i = 0; i < 2000; ++i)
    ASSERT_TRUE(loaded.emplace_back(load(loading(0, {i % 100, 0, 0, 0}))).code);
  EXPECT_LT(count(), before + 40);
  for (int i = 0; i < 2000; ++i)
    EXPECT_EQ(run(*loaded[static_cast<std::size_t>(i)].code), i % 100);
}

TEST_F(LoadedCodeTest, ReusesThePagesOfWhatIsGone) {
  LoadResult first = load(loading(0, {1, 0, 0, 0})), second = load(loading(0, {2, 0, 0, 0}));
  std::uintptr_t page = pageOf(*first.code);
  first.code.reset();
  for (int i = 3; i < 100; ++i) {
    LoadResult next = load(loading(0, {i, 0, 0, 0}));
    EXPECT_EQ(pageOf(*next.code), page);
    EXPECT_EQ(mappingOf(next.code->find("entry")).protection, "r-xp");
    EXPECT_EQ(run(*next.code), i);
  }
  EXPECT_EQ(run(*second.code), 2);
}

// Pages of images that were loaded together are free one by one.
TEST_F(LoadedCodeTest, KeepsAPageAsLongAsAnImageOnIt) {
  Image large = returning(1);
  large.code.resize(3 * 4096);
  LoadResult other = load(returning(0)); // holds the mapping
  std::vector<LoadResult> loaded = loadAll({large, returning(2), large, returning(3)});
  const std::uintptr_t begin = pageOf(*loaded[0].code), last = pageOf(*loaded[3].code);
  ASSERT_GT(last, begin);
  loaded[0] = loaded[2] = {};
  LoadResult next = load(large);
  EXPECT_EQ(pageOf(*next.code), begin);
  EXPECT_EQ(run(*loaded[1].code), 2);
  EXPECT_EQ(run(*loaded[3].code), 3);
  loaded.clear();
  EXPECT_LE(pageOf(*load(large).code), last);
  EXPECT_EQ(run(*next.code), 1);
}

TEST_F(LoadedCodeTest, RunsWhileOthersAreLoadedAndGo) {
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&wrong, t] {
        std::vector<LoadResult> mine(10);
        for (int round = 0; round < 500; ++round) {
          auto at = static_cast<std::size_t>(round) % mine.size();
          mine[at] = load(loading(0, {static_cast<int>(at) + 10 * t, 0, 0, 0}));
          for (std::size_t i = 0; i < mine.size(); ++i)
            if (mine[i].code)
              wrong += run(*mine[i].code) != static_cast<int>(i) + 10 * t;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(LoadedCodeTest, IsNeverWritableAndUnmappedAtTheEnd) {
  Image image = loading(0, {1, 0, 0, 0});
  addAddressOfData(image);
  LoadResult loaded = load(image);
  ASSERT_TRUE(loaded.code) << loaded.error;
  std::shared_ptr<const LoadedCode> second = loaded.code;
  void *code = second->find("entry"), *data = reinterpret_cast<void *(*)()>(second->find("data"))();
  EXPECT_EQ(mappingOf(code).protection, "r-xp");
  EXPECT_EQ(mappingOf(data).protection, "r--p");
  loaded.code.reset();
  EXPECT_EQ(run(*second), 1);
  second.reset();
  EXPECT_NE(mappingOf(code).protection, "r-xp");
}

//===-- What is refused --------------------------------------------------------------------------===//

std::string errorOf(const Image &image) {
  LoadResult loaded = load(image);
  EXPECT_FALSE(loaded.code);
  return loaded.error;
}

TEST_F(LoadedCodeTest, RefusesWhatDoesNotFit) {
  for (auto part : {Part::Code, Part::Data})
    for (auto kind : {Kind::Relative32, Kind::Relative64, Kind::Absolute64})
      for (std::uint64_t offset :
           {kind == Kind::Relative32 ? 13ull : 9ull, 16ull, 17ull, ~0ull, ~0ull - 3, ~0ull - 7, 1ull << 63})
        for (bool empty : {false, true}) {
          Image image = returning(1);
          image.code.resize(16);
          if (!empty)
            image.data.resize(16);
          image.fixups = {{.kind = kind, .part = part, .target = Target::Code, .offset = offset}};
          EXPECT_EQ(errorOf(image), "native code has a fixup outside of it") << offset;
        }
  for (std::uint32_t import : {1u, 2u, ~0u})
    for (auto target : {Target::Import, Target::ImportAddress}) {
      Image image = calling("abs");
      image.fixups[0].import = import;
      image.fixups[0].target = target;
      EXPECT_EQ(errorOf(image), "native code has a fixup for an import that it does not have");
    }
  for (std::uint64_t offset : {std::uint64_t(6), ~std::uint64_t(0)}) {
    Image image = returning(1);
    image.symbols[0].offset = offset;
    EXPECT_EQ(errorOf(image), "native code has a symbol outside of it");
  }
  for (std::uint32_t alignment : {0u, 3u, 8192u, 1u << 31, ~0u})
    for (bool data : {false, true}) {
      Image image = returning(1);
      (data ? image.dataAlignment : image.codeAlignment) = alignment;
      EXPECT_EQ(errorOf(image), "native code has an alignment that memory can't have");
    }
  Image far = loading(0, {1, 0, 0, 0});
  for (std::int64_t addend : {std::int64_t(1) << 31, -(std::int64_t(1) << 40), INT64_MAX, INT64_MIN}) {
    far.fixups[0].addend = addend;
    EXPECT_EQ(errorOf(far), "native code has a fixup whose target is out of reach");
  }
  Image foreign = returning(1);
  foreign.machine = static_cast<Machine>(183);
  EXPECT_EQ(errorOf(foreign), "native code is for another processor");
  EXPECT_EQ(errorOf(Image()), "native code is empty");
}

TEST_F(LoadedCodeTest, RefusesUnknownImports) {
  EXPECT_EQ(errorOf(calling("no_such_function")), "native code calls 'no_such_function', which no library has");
}

TEST_F(LoadedCodeTest, RefusesWhatIsTooLarge) {
  Image image = returning(1);
  image.data.resize(std::size_t(1) << 28);
  std::vector<const Image *> many(5, &image);
  std::vector<LoadResult> loaded = LoadedCode::load(many, nullptr);
  for (const LoadResult &each : loaded) {
    EXPECT_FALSE(each.code);
    EXPECT_EQ(each.error, "native code is too large to be loaded");
  }
}

TEST_F(LoadedCodeTest, SaysWhenThereIsNoMemory) {
  Image image = returning(1);
  image.data.resize(std::size_t(1) << 26);
  std::vector<const Image *> many(10, &image);
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit less = before;
  less.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t(1) << 28);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
  std::vector<LoadResult> loaded = LoadedCode::load(many, nullptr);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  for (const LoadResult &each : loaded)
    EXPECT_FALSE(each.code);
  EXPECT_EQ(loaded[0].error, "there is no memory for native code: Cannot allocate memory");
}

// Linux can be told that what was writable never becomes executable.
TEST_F(LoadedCodeTest, SaysWhenMemoryMayNotBecomeExecutable) {
  constexpr int kSet = 65, kGet = 66, kRefuseGain = 1; // PR_SET_MDWE, PR_GET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
  if (prctl(kGet, 0, 0, 0, 0) != 0)
    GTEST_SKIP() << "this Linux can't be told so";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto inChild = [&] {
    prctl(kSet, kRefuseGain, 0, 0, 0);
    LoadResult loaded = load(returning(1));
    std::cerr << (loaded.code ? "loaded" : loaded.error) << std::endl;
    std::_Exit(0);
  };
  EXPECT_EXIT(inChild(), testing::ExitedWithCode(0), "^native code can't be made executable: ");
}

} // namespace
