// A pool of memory for small objects that are made and freed often, on any thread. Each thread has a free list, and
// threads exchange batches of blocks. The pool keeps all memory, so that a steady program does not call operator new. A
// std::pmr pool serves one thread, or takes a lock for each block. Abseil has no pool.
//
//   std::allocate_shared<TensorImpl>(PoolAllocator<TensorImpl>());
#ifndef CALQUE_FRONTEND_CORE_OBJECTPOOL_H
#define CALQUE_FRONTEND_CORE_OBJECTPOOL_H

#include "runtime/Fork.h"

#include <cstddef>
#include <mutex>
#include <new>

namespace calque::detail {

template <std::size_t Size> class BlockPool {
public:
  static void *take() {
    if (!local.first && !refill())
      return ::operator new(Size);
    Block *block = local.first;
    local.first = block->next;
    --local.count;
    return block;
  }

  static void give(void *memory) noexcept {
    auto *block = static_cast<Block *>(memory);
    block->next = local.first;
    local.first = block;
    // After its End, a thread keeps no blocks.
    if (++local.count == (local.ended ? 1 : 2 * kBatch)) [[unlikely]]
      share(local.ended ? 1 : kBatch);
    else if (local.count == 1)
      watchEnd();
  }

private:
  struct Block {
    Block *next, *nextBatch;
    unsigned count; // of the batch that it begins
  };
  static_assert(Size >= sizeof(Block));
  static constexpr unsigned kBatch = 64;

  struct Local {
    Block *first = nullptr;
    unsigned count = 0;
    bool ended = false;
  };
  static inline constinit thread_local Local local;

  struct Shared {
    runtime::ForkMutex mutex;
    Block *batches = nullptr;
  };
  static inline constinit Shared shared; // trivially destructible, so that it outlives every thread

  static bool refill() {
    std::lock_guard lock(shared.mutex);
    Block *batch = shared.batches;
    if (!batch)
      return false;
    shared.batches = batch->nextBatch;
    local.first = batch;
    local.count = batch->count;
    return true;
  }
  static void share(unsigned count) noexcept {
    Block *batch = local.first, *last = batch;
    for (unsigned i = 1; i < count; ++i)
      last = last->next;
    local.first = last->next;
    local.count -= count;
    last->next = nullptr;
    batch->count = count;
    std::lock_guard lock(shared.mutex);
    batch->nextBatch = shared.batches;
    shared.batches = batch;
  }

  // At its end, a thread shares the blocks of its list.
  struct End {
    ~End() {
      local.ended = true;
      if (local.count)
        share(local.count);
    }
  };
  static void watchEnd() noexcept {
    if (local.ended)
      return;
    static thread_local End end;
    (void)end;
  }
};

template <typename T> struct PoolAllocator {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  PoolAllocator() = default;
  template <typename U> PoolAllocator(const PoolAllocator<U> &) {}
  template <typename U> bool operator==(const PoolAllocator<U> &) const { return true; }

#ifdef __SANITIZE_ADDRESS__ // the sanitizer must see every use of freed memory
  T *allocate(std::size_t n) { return static_cast<T *>(::operator new(n * sizeof(T))); }
  void deallocate(T *memory, std::size_t) noexcept { ::operator delete(memory); }
#else
  T *allocate(std::size_t n) {
    return static_cast<T *>(n == 1 ? BlockPool<sizeof(T)>::take() : ::operator new(n * sizeof(T)));
  }
  void deallocate(T *memory, std::size_t n) noexcept {
    if (n == 1)
      BlockPool<sizeof(T)>::give(memory);
    else
      ::operator delete(memory);
  }
#endif
};

} // namespace calque::detail
#endif
