#include "AllocationCounter.h"

#include <atomic>
#include <cstdlib>
#include <new>

static constinit std::atomic<size_t> count{0};

size_t calque::test::allocationCount() { return count.load(); }

static void *allocate(size_t bytes) {
  ++count;
  return std::malloc(bytes ? bytes : 1);
}

static void *allocate(size_t bytes, std::align_val_t alignment) {
  ++count;
  size_t unit = static_cast<size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}

static void *orThrow(void *memory) {
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

// The array forms are not here: the standard's call these, a sanitizer's are a set of their own.
void *operator new(size_t bytes) { return orThrow(allocate(bytes)); }
void *operator new(size_t bytes, const std::nothrow_t &) noexcept { return allocate(bytes); }
void *operator new(size_t bytes, std::align_val_t alignment) { return orThrow(allocate(bytes, alignment)); }
void *operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return allocate(bytes, alignment);
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t, const std::nothrow_t &) noexcept { std::free(memory); }
