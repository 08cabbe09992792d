// What the kernels of linear algebra share: how a batch of matrices is worked on.
#ifndef CALQUE_RUNTIME_LIBRARIES_BATCHES_H
#define CALQUE_RUNTIME_LIBRARIES_BATCHES_H

#include "runtime/Buffer.h"
#include "runtime/Cpu.h"
#include "runtime/MatrixFailure.h"
#include "runtime/ThreadPool.h"
#include "runtime/libraries/KernelCall.h"
#include "runtime/libraries/Lapack.h"
#include "runtime/libraries/SmallMatrices.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace calque::runtime {

// Up to this size a matrix is one of SmallMatrices.h. All of it depends on sizes alone, never on the number of examples
// or threads, so that an example has the same bits in any batch.
inline constexpr int64_t kMostInLanes = 16, kMostSmall = kMostSmallRows;

inline const SmallKernelTable &smallKernels() {
  static const SmallKernelTable &table = []() -> const SmallKernelTable & {
#if defined(__x86_64__)
    const Cpu cpu = hostCpu();
    if (runs(cpu, Cpu::Avx512))
      return kSmallAvx512;
    if (runs(cpu, Cpu::Avx2))
      return kSmallAvx2;
#endif
    return kSmallBaseline;
  }();
  return table;
}

// The kernel for a float type, whose C++ type is given on.
template <typename Body> void dispatchFloat(DType dtype, Body &&body) {
  if (dtype == DType::Float32)
    body(std::type_identity<float>());
  else
    body(std::type_identity<double>());
}

// Memory of vectors, for the time of a piece: large ones of the pool, whose pages are there.
template <typename T> class Scratch {
public:
  explicit Scratch(int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(std::max<int64_t>(count, 1)) * kPlaces;
    if (bytes >= kPooledBytes)
      buffer = Buffer::allocate(bytes);
    memory = static_cast<T *>(buffer ? buffer.data() : ::operator new(bytes, std::align_val_t(kLaneBytes)));
  }
  ~Scratch() {
    if (!buffer)
      ::operator delete(memory, std::align_val_t(kLaneBytes));
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  T *get() const { return memory; }
  T &operator[](int64_t i) const { return memory[i]; }

private:
  // OpenBLAS' cgemv and zgemv of AVX2 and AVX-512, which LAPACK's functions of complex matrices call, read the element
  // behind the last one of a vector, without a use for it (its issue 4013). That vector may be the last row of a matrix
  // in columns, so that this is as far behind the matrix as a column is long: never farther than the matrix is large.
  // Memory that is not written to takes no pages.
  static constexpr std::size_t kPlaces =
      std::is_floating_point_v<T> || std::is_integral_v<T> ? sizeof(T) : 2 * sizeof(T);
  static constexpr std::size_t kPooledBytes = 1 << 16;
  Buffer buffer;
  T *memory;
};

// How many matrices a piece of a loop has, of which one takes so many operations.
inline int64_t pieceOf(int64_t operations) {
  constexpr int64_t kPieceOperations = 1 << 15;
  return std::max<int64_t>(1, kPieceOperations / std::max<int64_t>(1, operations));
}

// Runs body(first, count, scratch) on groups of small matrices: of as many as there are lanes, or one by one.
// `elements` is the memory that a matrix of the group takes, in elements.
template <typename T, typename Body>
void forGroups(int64_t examples, bool inLanes, int64_t elements, int64_t operations, Body &&body) {
  const int64_t size = inLanes ? kLanes<T> : 1, groups = (examples + size - 1) / size;
  parallelFor(groups, pieceOf(size * operations), [&](int64_t begin, int64_t end) {
    Scratch<T> scratch(size * elements);
    for (int64_t group = begin; group < end; ++group)
      body(group * size, std::min(size, examples - group * size), scratch.get());
  });
}

// The first matrix, in the order of the batch, that fails, and what it says.
class FirstFailure {
public:
  // Of so many matrices of a size.
  FirstFailure(int64_t examples, int64_t size) : examples(examples), size(size) {}
  // `place` is that of runtime/MatrixFailure.h.
  void note(int64_t example, int64_t place = 0, bool isZeros = false) {
    // Seldom; so a lock costs nothing.
    while (lock.exchange(true, std::memory_order_acquire))
      ;
    if (example < first) {
      first = example;
      what = MatrixFailure{place, size, isZeros}.what();
    }
    lock.store(false, std::memory_order_release);
  }
  // Reports it to the call, if there is one.
  void report(CalqueCallFrame *frame, int32_t site) const {
    if (first != std::numeric_limits<int64_t>::max())
      calque_rt_fail(frame, site, what, MatrixFailure::which(first, examples));
  }

private:
  const int64_t examples, size;
  std::atomic<bool> lock = false;
  int64_t first = std::numeric_limits<int64_t>::max(), what = 0;
};

// The functions of LAPACK for a call, or null after a failure at the site, which names the size and the largest one
// that needs no library.
template <typename T> const Lapack<T> *requireLapack(CalqueCallFrame *frame, int32_t site, int64_t n, int64_t most) {
  const Lapack<T> *lapack = Lapack<T>::get();
  if (!lapack)
    calque_rt_fail(frame, site, n, most);
  return lapack;
}

// The dimension as LAPACK takes it. Sizes whose square is no int32 are refused before.
inline LapackInt lapackInt(int64_t size) { return static_cast<LapackInt>(size); }

} // namespace calque::runtime
#endif
