// Memory for native code. All code of a process shares a few large mappings, because Linux limits their number.
//
//   std::optional<CodePages> pages = takeCodePages(image.code.size(), image.data.size());
//   if (!pages)
//     report(errno);
//   write(pages->code, pages->data);
//   if (!protect(*pages))
//     report(errno);
//
// No page is ever writable and executable at the same time. Code of several images may be side by side in the same
// pages, each with a part of its own; a page is free for others when nobody holds a part of it any more.
#ifndef CALQUE_RUNTIME_CODEMEMORY_H
#define CALQUE_RUNTIME_CODEMEMORY_H

#include <cstddef>
#include <optional>
#include <utility>

namespace calque::runtime {

// A part of the memory for code. Its pages stay until the part is destroyed.
class CodePart {
public:
  CodePart() = default;
  // A part of memory that belongs to a living part.
  CodePart(std::byte *begin, std::size_t bytes);
  CodePart(CodePart &&other) noexcept
      : begin(std::exchange(other.begin, nullptr)), bytes(std::exchange(other.bytes, 0)) {}
  CodePart &operator=(CodePart &&other) noexcept {
    std::swap(begin, other.begin);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~CodePart();
  std::byte *data() const { return begin; }
  std::size_t size() const { return bytes; }

private:
  friend class CodeMemory;
  std::byte *begin = nullptr;
  std::size_t bytes = 0;
};

// Whole pages for code, and others for constants that it reads; both are in one mapping.
struct CodePages {
  CodePart code, data;
};

// Writable pages, in which no two bytes are 2^31 or more bytes apart; empty, with `errno`, if there are none.
// `codeBytes` is above 0, and both together are at most 2^30.
std::optional<CodePages> takeCodePages(std::size_t codeBytes, std::size_t dataBytes);

// Makes code executable and constants readable. Neither can be written any more. Returns false, with `errno`, if that
// fails.
bool protect(const CodePages &pages);

} // namespace calque::runtime
#endif
