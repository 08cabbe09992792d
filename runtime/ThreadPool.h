// The threads behind `calque_rt_parallel_for`: one pool for the process. C++ and Abseil have none.
//
// A loop over [0, count) is cut into pieces of `grain` iterations, the last one maybe shorter; the body runs once for
// each. The cut depends on count and grain alone, so a body that combines its partial results by piece gives the same
// bits on any number of threads. Each thread begins with a part of the pieces of its own, the same in each loop, and
// then takes what others have left: which thread runs which piece, and in which order, is not fixed.
//
//   std::vector<double> partial(pieceCount(values.size(), 4096));
//   parallelFor(values.size(), 4096, [&](int64_t begin, int64_t end) {
//     partial[begin / 4096] = std::accumulate(values.begin() + begin, values.begin() + end, 0.0);
//   });
//   double sum = std::accumulate(partial.begin(), partial.end(), 0.0);
//
// The threads round as the caller does, and flush numbers below the normal range to 0 where it does.
//
// The calling thread works too. A loop with one piece, on one thread, or begun while the pool is busy (by another
// thread, or by the loop that it is nested in) runs on its caller alone and wakes nobody. Bodies must not throw.
#ifndef CALQUE_RUNTIME_THREADPOOL_H
#define CALQUE_RUNTIME_THREADPOOL_H

#include "runtime/abi.h"

#include <memory>
#include <type_traits>

namespace calque::runtime {

// The most threads that a loop uses, its caller included. Less than 1 means the default: CALQUE_NUM_THREADS, else
// OMP_NUM_THREADS, else the number of hardware threads. Takes effect with the next loop; callable at any time.
void setThreadCount(int count);
int threadCount();

// The number of pieces of a loop. A grain below 1 counts as 1.
constexpr int64_t pieceCount(int64_t count, int64_t grain) {
  return count <= 0 ? 0 : (count - 1) / (grain < 1 ? 1 : grain) + 1;
}

// `calque_rt_parallel_for` for a callable body(begin, end).
template <typename Body> void parallelFor(int64_t count, int64_t grain, Body &&body) {
  using Callable = std::remove_reference_t<Body>;
  calque_rt_parallel_for(
      count, grain, [](void *context, int64_t begin, int64_t end) { (*static_cast<Callable *>(context))(begin, end); },
      const_cast<void *>(static_cast<const void *>(std::addressof(body))));
}

} // namespace calque::runtime
#endif
