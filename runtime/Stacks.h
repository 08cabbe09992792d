// The memory of stacks (calque.stack_push), which lives as long as a call.
#ifndef CALQUE_RUNTIME_STACKS_H
#define CALQUE_RUNTIME_STACKS_H

#include "runtime/Buffer.h"
#include "runtime/abi.h"

#include <algorithm>
#include <new>
#include <vector>

namespace calque::runtime {

// An entry of a stack. Its elements follow it.
struct alignas(16) Entry {
  double below; // the stack without it
  size_t bytes; // of its elements; a pop of another number of bytes fails
};

// Stands directly before an entry that knows its sizes. The sizes stand before this struct, the last size next to it.
struct alignas(16) EntrySizes {
  int64_t bytes, rank;
  static const EntrySizes &of(const Entry *entry) { return reinterpret_cast<const EntrySizes *>(entry)[-1]; }
  const int64_t *sizes() const { return reinterpret_cast<const int64_t *>(this) - rank; }
};

// A stack is the address of its uppermost entry plus kStacks, which is larger than all addresses; 0 if it is empty. A
// float64 holds all these numbers exactly. So the sum of two stacks, neither of them empty, is no stack, wherever the
// machine's addresses lie.
inline constexpr double kStacks = 0x1p51;
inline double stackOf(const Entry *entry) { return kStacks + static_cast<double>(reinterpret_cast<uintptr_t>(entry)); }
inline Entry *entryOf(double stack) {
  return stack < kStacks ? nullptr : reinterpret_cast<Entry *>(static_cast<uintptr_t>(stack - kStacks));
}
inline bool isSumOfStacks(double stack) { return stack >= 2 * kStacks; }

// The memory of the entries of one call. An entry is never freed alone: all entries made after a mark are freed at
// once.
class Stacks {
public:
  struct Mark {
    size_t block, used, bytes;
  };
  Mark mark() const { return {blocks.size(), used, allBytes}; }
  void release(Mark mark) {
    blocks.resize(mark.block);
    used = mark.used;
    allBytes = mark.bytes;
  }
  // The bytes of all entries.
  size_t bytes() const { return allBytes; }
  // The bytes of an entry whose elements take `elements` bytes.
  static size_t bytesOf(size_t elements) {
    return (sizeof(Entry) + elements + alignof(Entry) - 1) / alignof(Entry) * alignof(Entry);
  }
  // Throws std::bad_alloc; then nothing has changed.
  Entry *allocate(size_t elements) {
    const size_t bytes = bytesOf(elements);
    if (allBytes + bytes > limit)
      passLimit();
    if (blocks.empty() || blocks.back().bytes() - used < bytes) {
      // Blocks grow with what is there, so that their number stays small.
      size_t next = blocks.empty() ? kFirstBlock : std::min(2 * blocks.back().bytes(), kLargestBlock);
      blocks.push_back(Buffer::allocate(std::max(next, bytes)));
      used = 0;
    }
    void *at = static_cast<char *>(blocks.back().data()) + used;
    used += bytes;
    allBytes += bytes;
    return new (at) Entry{0, elements};
  }

  // An entry that knows its sizes. Programs run on its elements as on those of any buffer.
  Entry *allocateSized(size_t bytes, const int64_t *sizes, size_t rank) {
    const size_t before = rank * sizeof(int64_t) + sizeof(EntrySizes) + sizeof(Entry);
    char *at = reinterpret_cast<char *>(
        allocate(before + CALQUE_BUFFER_ALIGNMENT + std::max<size_t>(bytes, 1) + CALQUE_BUFFER_ALIGNMENT) + 1);
    auto elements = (reinterpret_cast<uintptr_t>(at) + before + CALQUE_BUFFER_ALIGNMENT - 1) / CALQUE_BUFFER_ALIGNMENT *
                    CALQUE_BUFFER_ALIGNMENT;
    auto *entry = new (reinterpret_cast<char *>(elements) - sizeof(Entry)) Entry{0, bytes};
    auto *own = new (reinterpret_cast<char *>(entry) - sizeof(EntrySizes))
        EntrySizes{static_cast<int64_t>(bytes), static_cast<int64_t>(rank)};
    std::copy(sizes, sizes + rank, reinterpret_cast<int64_t *>(own) - rank);
    return entry;
  }

  // With more bytes than these the call is to end, as if there was no memory. Not if `mayGoOn`, where it is given, says
  // so: then there is no limit any more.
  size_t limit = ~size_t(0);
  const bool *mayGoOn = nullptr;
  bool isPassed = false;

  // The bytes for which there was no memory, until the error of the loop that asked for them is noted.
  size_t lacking = 0;

private:
  void passLimit(); // throws std::bad_alloc

  static constexpr size_t kFirstBlock = 4096, kLargestBlock = size_t(64) << 20;
  std::vector<Buffer> blocks;
  size_t used = 0, allBytes = 0; // of the last block, and of all
};

} // namespace calque::runtime
#endif
