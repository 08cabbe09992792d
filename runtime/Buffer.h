// The memory of a tensor: a shared handle over one block, and the process-wide pool that blocks come from.
//
// The pool keeps what is returned to it, with its pages touched, so that a steady loop of calls reaches neither
// `operator new` nor `mmap`: a fresh 16 MiB costs milliseconds of page faults, a reused one costs a list operation.
//
//   Buffer sums = Buffer::allocate(1000 * sizeof(float)); // aligned to 64 bytes, contents arbitrary
//   auto *values = static_cast<float *>(sums.data());
//   Buffer alias = sums;                                  // the same block: no copy
//   if (!sums.unique())
//     sums = Buffer::allocate(sums.bytes());              // writing needs a block of one's own
//
//   Buffer lent = Buffer::foreign(rows.data(), rows.size(), [owner] {}); // `owner` lives as long as the last handle
#ifndef CALQUE_RUNTIME_BUFFER_H
#define CALQUE_RUNTIME_BUFFER_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace calque::runtime {

// What a handle points to. Blocks of the pool keep this header while they wait there.
struct BufferBlock {
  std::atomic<uint32_t> references{1};
  uint32_t sizeClass = 0; // of the pool, or the mark of foreign memory
  size_t bytes = 0;       // as asked for
  void *data = nullptr;
  BufferBlock *next = nullptr; // while in the pool
};

// A handle: empty, or one of the owners of a block. Copying it is cheap (one atomic increment) and shares the block.
// Different handles to one block may be copied and dropped on different threads; one handle is used by one at a time.
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

  // Memory that belongs to someone else. `release` is called once, when the last handle goes and on that thread; it
  // must not throw. If this function throws std::bad_alloc, the memory is still the caller's and `release` is not
  // called.
  static Buffer foreign(void *data, size_t bytes, std::function<void()> release);

  void *data() const noexcept { return block ? block->data : nullptr; }
  size_t bytes() const noexcept { return block ? block->bytes : 0; }

  // How many handles share the block. Another thread's copy or drop may change it at any time, except that a count of 1
  // stays: only this handle could be copied. What other handles read and wrote before they went is then visible.
  size_t useCount() const noexcept { return block ? block->references.load(std::memory_order_acquire) : 0; }
  bool unique() const noexcept { return useCount() == 1; }

  explicit operator bool() const noexcept { return block != nullptr; }

private:
  explicit Buffer(BufferBlock *block) noexcept : block(block) {}

  static void drop(BufferBlock *block) noexcept {
    // A sole owner needs no read-modify-write: nobody else can make a new handle.
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

// How many bytes may wait for reuse (1 GiB at the start). Beyond it blocks go back to the system: other sizes first,
// then the returned block itself. A lower limit takes effect at once.
void setPoolLimit(size_t bytes);
size_t poolLimit();

} // namespace calque::runtime
#endif
