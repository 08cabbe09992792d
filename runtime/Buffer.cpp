#include "runtime/Buffer.h"

#include "runtime/Fork.h"
#include "runtime/SystemMemory.h"
#include "runtime/abi.h"

#include <algorithm>
#include <bit>
#include <ctime>
#include <new>
#include <sys/mman.h>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
#define CALQUE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALQUE_ASAN 1
#endif
#endif
#ifdef CALQUE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace calque::runtime {
namespace {

constexpr size_t Alignment = CALQUE_BUFFER_ALIGNMENT;
constexpr size_t HugePage = size_t(2) << 20;
// This many bytes may wait for reuse without a look at the clock.
constexpr size_t AlwaysKept = size_t(64) << 20;

// Size classes: 64, 128, 192, 256, then four a power of two (320, 384, 448, 512, 640, ...), so that at most a fifth of
// a block is unused above 256 bytes and every size is a multiple of the alignment.
constexpr unsigned NumSmallClasses = 4;
constexpr unsigned FirstLog = 8;
constexpr unsigned LastLog = 46;
constexpr unsigned NumClasses = NumSmallClasses + 4 * (LastLog - FirstLog);
constexpr size_t LargestBytes = size_t(1) << LastLog;
constexpr uint32_t ForeignClass = ~uint32_t(0);

constexpr unsigned sizeClassOf(size_t bytes) {
  if (bytes <= NumSmallClasses * Alignment)
    return bytes == 0 ? 0 : unsigned((bytes - 1) / Alignment);
  unsigned log = unsigned(std::bit_width(bytes - 1)) - 1;
  unsigned step = unsigned((bytes - 1) >> (log - 2)) & 3;
  return NumSmallClasses + 4 * (log - FirstLog) + step;
}

constexpr size_t capacityOf(unsigned sizeClass) {
  if (sizeClass < NumSmallClasses)
    return (sizeClass + 1) * Alignment;
  unsigned log = FirstLog + (sizeClass - NumSmallClasses) / 4, step = (sizeClass - NumSmallClasses) % 4;
  return (size_t(1) << log) + (size_t(step + 1) << (log - 2));
}
static_assert(sizeClassOf(LargestBytes) == NumClasses - 1 && capacityOf(NumClasses - 1) == LargestBytes);
static_assert(capacityOf(sizeClassOf(257)) == 320 && capacityOf(sizeClassOf(256)) == 256);
static_assert(capacityOf(sizeClassOf(HugePage)) == HugePage && capacityOf(sizeClassOf(HugePage + 1)) % 4096 == 0);

// One list of waiting blocks, last in first out: the block that is warmest in the caches is used next. Each list has a
// lock of its own on its own cache line; it is held for a few instructions.
class alignas(64) SizeClass {
public:
  // Counts one more live block and hands out a waiting one, or null.
  BufferBlock *take() {
    Lock lock(*this);
    ++liveBlocks;
    return pop();
  }

  void give(BufferBlock *block) {
    Lock lock(*this);
    --liveBlocks;
    block->next = waiting;
    waiting = block;
    ++waitingBlocks;
  }

  // No longer counts a live block that goes back to the system, or that could not be made after take().
  void forget() {
    Lock lock(*this);
    --liveBlocks;
  }

  BufferBlock *takeWaiting() {
    Lock lock(*this);
    return pop();
  }

  // The number of waiting blocks that have not been in use since the last call.
  size_t unused() {
    Lock lock(*this);
    return std::exchange(fewestWaiting, waitingBlocks);
  }

  size_t live() {
    Lock lock(*this);
    return liveBlocks;
  }

  void lock() {
    for (unsigned tries = 0; locked.exchange(true, std::memory_order_acquire);)
      while (locked.load(std::memory_order_relaxed))
        if (++tries > 64) // the holder may have lost its CPU
          std::this_thread::yield();
  }
  void unlock() { locked.store(false, std::memory_order_release); }

private:
  struct Lock {
    explicit Lock(SizeClass &owner) : owner(owner) { owner.lock(); }
    ~Lock() { owner.unlock(); }
    SizeClass &owner;
  };

  BufferBlock *pop() {
    BufferBlock *block = waiting;
    if (block) {
      waiting = block->next;
      fewestWaiting = std::min(fewestWaiting, --waitingBlocks);
    }
    return block;
  }

  std::atomic<bool> locked{false};
  BufferBlock *waiting = nullptr;
  size_t liveBlocks = 0;
  size_t waitingBlocks = 0;
  size_t fewestWaiting = 0; // since the last unused()
};

// Initialised at compile time and never destroyed, because buffers may be made before main() and freed after the
// destructors of static objects. Waiting blocks stay reachable from here, so leak checkers do not report them.
struct Pool {
  SizeClass classes[NumClasses];
  alignas(64) std::atomic<size_t> cachedBytes{0}; // never less than what the lists hold
  std::atomic<size_t> limit{size_t(1) << 30};
  std::atomic<size_t> systemBytes{0}; // of all blocks, live or waiting
  // The most bytes of live blocks in this period and the one before.
  std::atomic<size_t> mostLive{0}, mostLiveBefore{0};
  std::atomic<int64_t> period{10'000}, nextSweep{0}; // in ms
  std::atomic<size_t> systemAllocations{0};
  std::atomic<unsigned> evictNext{0};
};
constinit Pool pool;

// Locks all classes for a fork. No other code holds more than one of these locks.
void lockAll() {
  for (SizeClass &each : pool.classes)
    each.lock();
}
void unlockAll() {
  for (SizeClass &each : pool.classes)
    each.unlock();
}
constinit ForkHandlers atForks{&lockAll, &unlockAll, &unlockAll};
[[maybe_unused]] const bool knowsForks = atFork(atForks);

// Maps pages aligned to HugePage, by cutting the ends off a larger mapping. Null if there is no memory.
void *mapHuge(size_t capacity) {
  void *mapping = mmap(nullptr, capacity + HugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return nullptr;
  char *begin = static_cast<char *>(mapping);
  size_t before = -reinterpret_cast<uintptr_t>(begin) % HugePage;
  if (before)
    munmap(begin, before);
  if (before != HugePage)
    munmap(begin + before + capacity, HugePage - before);
  madvise(begin + before, capacity, MADV_HUGEPAGE); // may fail: the block is only slower then
  return begin + before;
}

bool isMapped(unsigned sizeClass) { return capacityOf(sizeClass) >= HugePage; }

// Other threads may change both numbers in between: a result that is too small is better than a difference below zero.
size_t liveBytes() {
  size_t cached = pool.cachedBytes.load(std::memory_order_relaxed);
  size_t all = pool.systemBytes.load(std::memory_order_relaxed);
  return all - std::min(all, cached);
}

void noteLive(size_t live) {
  size_t most = pool.mostLive.load(std::memory_order_relaxed);
  while (most < live && !pool.mostLive.compare_exchange_weak(most, live, std::memory_order_relaxed)) {
  }
}

// Whether the system has memory for a block. The system gives more addresses than it has memory, and ends a process
// that writes to too many. To ask takes little time compared with writing to a large block.
bool hasMemoryFor(size_t capacity) {
  constexpr size_t Large = size_t(64) << 20;
  return capacity < Large || capacity <= availableMemory();
}

// A block from the system, or null. The header of a small block is in front of it. The header of a mapped block is
// apart from it, to keep the block's alignment.
BufferBlock *makeBlock(unsigned sizeClass) {
  BufferBlock *block;
  if (isMapped(sizeClass)) {
    block = new (std::nothrow) BufferBlock;
    if (!block)
      return nullptr;
    if (hasMemoryFor(capacityOf(sizeClass)))
      block->data = mapHuge(capacityOf(sizeClass));
    if (!block->data) {
      delete block;
      return nullptr;
    }
  } else {
    static_assert(sizeof(BufferBlock) <= Alignment);
    void *memory = ::operator new(Alignment + capacityOf(sizeClass), std::align_val_t(Alignment), std::nothrow);
    if (!memory)
      return nullptr;
    block = new (memory) BufferBlock;
    block->data = static_cast<char *>(memory) + Alignment;
  }
  block->sizeClass = sizeClass;
  pool.systemAllocations.fetch_add(1, std::memory_order_relaxed);
  pool.systemBytes.fetch_add(capacityOf(sizeClass), std::memory_order_relaxed);
  return block;
}

void returnToSystem(BufferBlock *block) {
  size_t capacity = capacityOf(block->sizeClass);
  pool.systemBytes.fetch_sub(capacity, std::memory_order_relaxed);
  ASAN_UNPOISON_MEMORY_REGION(block->data, capacity); // the shadow outlives the mapping
  if (isMapped(block->sizeClass)) {
    munmap(block->data, capacity);
    delete block;
  } else {
    block->~BufferBlock();
    ::operator delete(block, std::align_val_t(Alignment));
  }
}

bool evictOne(unsigned sizeClass) {
  BufferBlock *block = pool.classes[sizeClass].takeWaiting();
  if (!block)
    return false;
  pool.cachedBytes.fetch_sub(capacityOf(sizeClass), std::memory_order_relaxed);
  returnToSystem(block);
  return true;
}

// As many bytes may wait as were live at once lately. Live bytes are noted only if more bytes wait than are always
// kept, so that the noted number may be too small by AlwaysKept.
size_t allowedBytes() {
  size_t live =
      std::max(pool.mostLive.load(std::memory_order_relaxed), pool.mostLiveBefore.load(std::memory_order_relaxed));
  return std::min(live + AlwaysKept, pool.limit.load(std::memory_order_relaxed));
}

bool overLimit() { return pool.cachedBytes.load(std::memory_order_relaxed) > allowedBytes(); }

// Evicts blocks of all classes except one, in turn, until the limit holds, so that sizes that the program no longer
// uses make room for those that it uses.
void evictExcept(unsigned kept) {
  for (unsigned empty = 0; empty < NumClasses && overLimit();) {
    unsigned sizeClass = pool.evictNext.fetch_add(1, std::memory_order_relaxed) % NumClasses;
    empty = sizeClass != kept && evictOne(sizeClass) ? 0 : empty + 1;
  }
}

// Returns blocks that were not in use since the last sweep, the large ones first, as long as more wait than are always
// kept. Each class notes the fewest blocks that waited since then: this many blocks were in use at no time.
void sweep() {
  for (unsigned sizeClass = NumClasses; sizeClass-- > 0;)
    for (size_t blocks = pool.classes[sizeClass].unused(); blocks > 0; --blocks)
      if (pool.cachedBytes.load(std::memory_order_relaxed) <= AlwaysKept || !evictOne(sizeClass))
        break;
  pool.mostLiveBefore.store(pool.mostLive.exchange(liveBytes(), std::memory_order_relaxed), std::memory_order_relaxed);
}

int64_t millisecondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void sweepIfDue() {
  int64_t now = millisecondsNow(), due = pool.nextSweep.load(std::memory_order_relaxed);
  if (now < due || !pool.nextSweep.compare_exchange_strong(due, now + pool.period.load(std::memory_order_relaxed),
                                                           std::memory_order_relaxed))
    return;
  sweep();
}

struct ForeignBlock : BufferBlock {
  std::function<void()> release;
};

} // namespace

Buffer Buffer::allocate(size_t bytes) {
  if (bytes > LargestBytes)
    throw std::bad_alloc();
  unsigned sizeClass = sizeClassOf(bytes);
  BufferBlock *block = pool.classes[sizeClass].take();
  if (block) {
    pool.cachedBytes.fetch_sub(capacityOf(sizeClass), std::memory_order_relaxed);
  } else {
    block = makeBlock(sizeClass);
    if (!block) { // blocks that wait in other classes may hold the memory
      trimPool();
      block = makeBlock(sizeClass);
    }
    if (!block) {
      pool.classes[sizeClass].forget();
      throw std::bad_alloc();
    }
    ASAN_POISON_MEMORY_REGION(block->data, capacityOf(sizeClass));
  }
  block->bytes = bytes;
  block->references.store(1, std::memory_order_relaxed);
  ASAN_UNPOISON_MEMORY_REGION(block->data, bytes);
  return Buffer(block);
}

Buffer Buffer::foreign(void *data, size_t bytes, std::function<void()> release) {
  auto *block = new ForeignBlock;
  block->sizeClass = ForeignClass;
  block->data = data;
  block->bytes = bytes;
  block->release = std::move(release);
  return Buffer(block);
}

bool Buffer::isForeign() const noexcept { return block && block->sizeClass == ForeignClass; }

void Buffer::recycle(BufferBlock *block) noexcept {
  unsigned sizeClass = block->sizeClass;
  if (sizeClass == ForeignClass) {
    auto *foreign = static_cast<ForeignBlock *>(block);
    if (foreign->release)
      foreign->release();
    delete foreign;
    return;
  }

  size_t capacity = capacityOf(sizeClass);
  // The block is counted before it is in the list, so that a thread that takes it at once can't make the sum negative.
  size_t cached = pool.cachedBytes.fetch_add(capacity, std::memory_order_relaxed) + capacity;
  if (cached > std::min(AlwaysKept, pool.limit.load(std::memory_order_relaxed))) [[unlikely]] {
    noteLive(liveBytes() + capacity);
    sweepIfDue();
    size_t allowed = allowedBytes();
    if (cached > allowed && capacity <= allowed)
      evictExcept(sizeClass);
    if (overLimit()) {
      pool.cachedBytes.fetch_sub(capacity, std::memory_order_relaxed);
      pool.classes[sizeClass].forget();
      returnToSystem(block);
      return;
    }
  }
  ASAN_POISON_MEMORY_REGION(block->data, capacity);
  pool.classes[sizeClass].give(block);
}

PoolStatistics poolStatistics() {
  PoolStatistics statistics{0, pool.cachedBytes.load(std::memory_order_relaxed),
                            pool.systemAllocations.load(std::memory_order_relaxed)};
  for (unsigned sizeClass = 0; sizeClass < NumClasses; ++sizeClass)
    statistics.liveBytes += pool.classes[sizeClass].live() * capacityOf(sizeClass);
  return statistics;
}

void trimPool() {
  for (unsigned sizeClass = 0; sizeClass < NumClasses; ++sizeClass)
    while (evictOne(sizeClass)) {
    }
}

void setPoolPeriod(std::chrono::milliseconds period) {
  pool.period.store(period.count(), std::memory_order_relaxed);
  pool.nextSweep.store(millisecondsNow() + period.count(), std::memory_order_relaxed);
}

void setPoolLimit(size_t bytes) {
  pool.limit.store(bytes, std::memory_order_relaxed);
  evictExcept(NumClasses);
}

size_t poolLimit() { return pool.limit.load(std::memory_order_relaxed); }

} // namespace calque::runtime
