#include "runtime/CodeMemory.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace calque::runtime {

namespace {

std::size_t pageBytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t pagesFor(std::size_t bytes) { return (bytes + pageBytes() - 1) / pageBytes(); }

} // namespace

// Pages of one mapping that are for code, or for constants.
class Region {
public:
  Region(std::byte *begin, std::size_t numPages) : begin(begin), holders(numPages), numFree(numPages) {}

  // The first of so many free pages behind each other, or null.
  std::byte *find(std::size_t count) const {
    if (count > numFree)
      return nullptr;
    auto found = std::search_n(holders.begin(), holders.end(), count, 0u);
    return found == holders.end() && count ? nullptr : begin + (found - holders.begin()) * std::ptrdiff_t(pageBytes());
  }
  void hold(const std::byte *at, std::size_t bytes) {
    forEachPage(at, bytes, [&](std::uint32_t &count) { numFree -= count++ == 0; });
  }
  void release(const std::byte *at, std::size_t bytes) {
    forEachPage(at, bytes, [&](std::uint32_t &count) { numFree += --count == 0; });
  }
  bool contains(const std::byte *at) const {
    return !std::less<>()(at, begin) && std::less<>()(at, begin + holders.size() * pageBytes());
  }
  bool isFree() const { return numFree == holders.size(); }

private:
  template <typename F> void forEachPage(const std::byte *at, std::size_t bytes, F &&each) {
    auto offset = static_cast<std::size_t>(at - begin);
    for (std::size_t page = offset / pageBytes(), end = pagesFor(offset + bytes); page < end; ++page)
      each(holders[page]);
  }

  std::byte *begin;
  std::vector<std::uint32_t> holders; // of parts of each page
  std::size_t numFree;
};

class CodeMemory {
public:
  // Never destroyed, because code may be until the process ends.
  static CodeMemory &ofProcess() {
    static auto *memory = new CodeMemory;
    return *memory;
  }

  std::optional<CodePages> take(std::size_t codeBytes, std::size_t dataBytes) {
    std::optional<CodePages> pages;
    {
      std::lock_guard lock(mutex);
      const std::size_t numCode = pagesFor(codeBytes), numData = pagesFor(dataBytes);
      auto takeFrom = [&](Chunk &chunk) {
        std::byte *code = chunk.code.find(numCode), *data = chunk.data.find(numData);
        if (code && data)
          pages.emplace(CodePages{grant(chunk.code, code, numCode), grant(chunk.data, data, numData)});
        return pages.has_value();
      };
      if (std::none_of(chunks.rbegin(), chunks.rend(), [&](auto &each) { return takeFrom(each.second); }))
        if (Chunk *added = add(std::max(numCode, kChunkPages), std::max(numData, kChunkPages)))
          takeFrom(*added);
    }
    if (pages && !(allow(pages->code, PROT_READ | PROT_WRITE) && allow(pages->data, PROT_READ | PROT_WRITE)))
      pages.reset();
    return pages;
  }

  void hold(const std::byte *begin, std::size_t bytes) {
    std::lock_guard lock(mutex);
    regionOf(chunkOf(begin)->second, begin).hold(begin, bytes);
  }
  void release(const std::byte *begin, std::size_t bytes) {
    std::lock_guard lock(mutex);
    auto chunk = chunkOf(begin);
    regionOf(chunk->second, begin).release(begin, bytes);
    if (chunk->second.code.isFree() && chunk->second.data.isFree()) {
      munmap(chunk->first, chunk->second.bytes);
      chunks.erase(chunk);
    }
  }

  static bool allow(const CodePart &part, int protection) {
    return part.size() == 0 || mprotect(part.data(), part.size(), protection) == 0;
  }

private:
  // Two parts of 2 MiB; what is larger gets a chunk of its own size.
  static constexpr std::size_t kChunkPages = 512;

  struct Chunk {
    std::size_t bytes;
    Region code, data;
  };

  Chunk *add(std::size_t codePages, std::size_t dataPages) {
    std::size_t bytes = (codePages + dataPages) * pageBytes();
    // What nobody has taken can't be touched. Neighbours of equal protection are one mapping of the system.
    void *mapping = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
      return nullptr;
    auto *begin = static_cast<std::byte *>(mapping);
    try {
      Chunk chunk{bytes, {begin, codePages}, {begin + codePages * pageBytes(), dataPages}};
      return &chunks.try_emplace(begin, std::move(chunk)).first->second;
    } catch (const std::bad_alloc &) {
      munmap(mapping, bytes);
      throw;
    }
  }

  static CodePart grant(Region &region, std::byte *begin, std::size_t numPages) {
    CodePart part;
    part.begin = begin;
    part.bytes = numPages * pageBytes();
    region.hold(begin, part.bytes);
    return part;
  }

  using Chunks = std::map<std::byte *, Chunk, std::less<>>;
  Chunks::iterator chunkOf(const std::byte *at) { return std::prev(chunks.upper_bound(at)); }
  static Region &regionOf(Chunk &chunk, const std::byte *at) {
    return chunk.code.contains(at) ? chunk.code : chunk.data;
  }

  std::mutex mutex;
  Chunks chunks; // by where they begin
};

CodePart::CodePart(std::byte *begin, std::size_t bytes) : begin(begin), bytes(bytes) {
  if (bytes)
    CodeMemory::ofProcess().hold(begin, bytes);
}

CodePart::~CodePart() {
  if (bytes)
    CodeMemory::ofProcess().release(begin, bytes);
}

std::optional<CodePages> takeCodePages(std::size_t codeBytes, std::size_t dataBytes) {
  return CodeMemory::ofProcess().take(codeBytes, dataBytes);
}

bool protect(const CodePages &pages) {
  return CodeMemory::allow(pages.code, PROT_READ | PROT_EXEC) && CodeMemory::allow(pages.data, PROT_READ);
}

} // namespace calque::runtime
