// The order of elements along rows, for argsort.
#include "runtime/ThreadPool.h"
#include "runtime/libraries/KernelCall.h"

#include <algorithm>
#include <numeric>

namespace {

// Whether one element comes before another: NaN is larger than all numbers, and equal to itself.
template <typename T> bool isLess(T a, T b) {
  if constexpr (calque::detail::kIsFloating<T>)
    return a < b || (b != b && a == a);
  else
    return a < b;
}

// Stable, so that the order is one and the same whatever the algorithm. Where there is no memory for a merge, the
// standard library sorts in place.
template <typename T> void sortRow(const T *x, int64_t *order, int64_t length, bool descending) {
  std::iota(order, order + length, 0);
  if (descending)
    std::stable_sort(order, order + length, [x](int64_t a, int64_t b) { return isLess(x[b], x[a]); });
  else
    std::stable_sort(order, order + length, [x](int64_t a, int64_t b) { return isLess(x[a], x[b]); });
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_argsort(const int64_t *words) {
  calque::runtime::KernelCall call(words);
  const int64_t rows = call.number();
  const calque::runtime::KernelTensor given = call.tensor(1), result = call.tensor(1);
  const bool descending = call.number() != 0;
  const int64_t length = given.sizes[0];
  auto *order = result.as<int64_t>();
  // A piece, which one thread sorts, is many rows or one long one.
  constexpr int64_t kPieceElements = 4096;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, length));
  calque::dispatch(given.dtype, [&]<typename T>(std::type_identity<T>) {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    const auto *x = given.as<Stored>();
    calque::runtime::parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        sortRow(x + row * length, order + row * length, length, descending);
    });
  });
}
