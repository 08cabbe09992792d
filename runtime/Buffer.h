// The memory of tensors: a shared handle to a block, and the process-wide pool of blocks.
//
// The pool keeps freed blocks with their pages mapped, so that a steady loop of calls reaches neither `operator new`
// nor `mmap`: a fresh block of 16 MiB costs milliseconds of page faults, a reused one a list operation.
//
//   Buffer sums = Buffer::allocate(1000 * sizeof(float)); // aligned to 64 bytes, contents arbitrary
//   auto *values = static_cast<float *>(sums.data());
//   Buffer alias = sums;                                  // the same block: no copy
//   if (!sums.unique())
//     sums = Buffer::allocate(sums.bytes());              // only a block that is not shared may be written
//
//   Buffer lent = Buffer::foreign(rows.data(), rows.size(), [owner] {}); // `owner` lives as long as the last handle
#ifndef CALQUE_RUNTIME_BUFFER_H
#define CALQUE_RUNTIME_BUFFER_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace calque::runtime {

// The header of a block, which handles point to. Blocks keep it while they wait in the pool.
struct BufferBlock {
  std::atomic<uint32_t> references{1};
  uint32_t sizeClass = 0; // of the pool, or the mark of foreign memory
  size_t bytes = 0;       // as asked for
  void *data = nullptr;
  BufferBlock *next = nullptr; // while in the pool
};

// A handle: empty, or one of the owners of a block. A copy costs one atomic increment and shares the block. Handles to
// one block may be copied and destroyed on different threads; one handle must be used by one thread at a time.
class Buffer {
public:
  Buffer() noexcept = default;
  Buffer(const Buffer &other) noexcept : block(other.block) {
    if (block)
      block->references.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer &&other) noexcept : block(std::exchange(other.block, nullptr)) {}
  Buffer &operator=(Buffer other) noexcept {
    std::swap(block, other.block);
    return *this;
  }
  ~Buffer() {
    if (block)
      drop(block);
  }

  // A block of at least `bytes` bytes, aligned to CALQUE_BUFFER_ALIGNMENT, whose contents are arbitrary. Zero bytes are
  // legal. Blocks of 2 MiB and more are aligned to 2 MiB and ask for huge pages. Throws std::bad_alloc.
  static Buffer allocate(size_t bytes);

  // A handle to memory that the pool does not own. `release` is called once, on the thread that destroys the last
  // handle; it must not throw. If this function throws std::bad_alloc, the caller still owns the memory and `release`
  // is not called.
  static Buffer foreign(void *data, size_t bytes, std::function<void()> release);

  void *data() const noexcept { return block ? block->data : nullptr; }
  size_t bytes() const noexcept { return block ? block->bytes : 0; }

  // The number of handles that share the block. Other threads may change it at any time, except for a count of 1,
  // because then only this handle can be copied. A count of 1 also makes the accesses through destroyed handles
  // visible.
  size_t useCount() const noexcept { return block ? block->references.load(std::memory_order_acquire) : 0; }
  bool unique() const noexcept { return useCount() == 1; }
  // Whether `foreign` made the handle, so that the pool does not own the memory.
  bool isForeign() const noexcept;

  explicit operator bool() const noexcept { return block != nullptr; }

private:
  explicit Buffer(BufferBlock *block) noexcept : block(block) {}

  static void drop(BufferBlock *block) noexcept {
    // A sole owner needs no atomic decrement, because no other thread can make a handle.
    if (block->references.load(std::memory_order_acquire) == 1 ||
        block->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      recycle(block);
  }
  static void recycle(BufferBlock *block) noexcept;

  BufferBlock *block = nullptr;
};

struct PoolStatistics {
  size_t liveBytes;         // in blocks that handles hold, rounded up to their size classes; no foreign memory
  size_t cachedBytes;       // in blocks that wait for reuse
  size_t systemAllocations; // how often the pool has asked the system since the process began
};
PoolStatistics poolStatistics();

// Returns every waiting block to the system.
void trimPool();

// Up to 64 MiB may always wait for reuse. If more wait, blocks go back to the system as buffers are freed: first the
// blocks that were not in use for a period, and then so many that no more wait, beyond the 64 MiB, than were live at
// once in this period or the last one. A loop that uses its memory once in a period never asks the system.
void setPoolPeriod(std::chrono::milliseconds period); // 10 s by default

// The most bytes that wait for reuse, 1 GiB by default. Beyond it blocks go back to the system: those of other sizes
// first, then the freed block itself. A lower limit takes effect at once.
void setPoolLimit(size_t bytes);
size_t poolLimit();

} // namespace calque::runtime
#endif
