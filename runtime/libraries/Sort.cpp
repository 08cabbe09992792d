// The order of elements along rows: of all, for argsort, and of the first ones, for top_k.
#include "runtime/libraries/KernelCall.h"
#include "runtime/libraries/Order.h"

namespace {
using namespace calque::runtime;

// A row of this many elements is sorted by all threads.
constexpr int64_t kLongRow = 1 << 17;

// The first `count` places of the order of each row.
void orderRows(int64_t rows, const KernelTensor &given, const KernelTensor &result, int64_t count, bool descending) {
  const int64_t length = given.sizes[0];
  if (count == 0)
    return;
  auto *order = result.as<int64_t>();
  // A piece, which one thread sorts, is many rows or one.
  constexpr int64_t kPieceElements = 4096;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, length));
  calque::dispatch(given.dtype, [&]<typename T>(std::type_identity<T>) {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    const auto *x = given.as<Stored>();
    auto sortRow = [&](int64_t row) { Row(x + row * length, length, descending).first(order + row * count, count); };
    if (length >= kLongRow && rows < threadCount()) {
      for (int64_t row = 0; row < rows; ++row)
        sortRow(row);
      return;
    }
    parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        sortRow(row);
    });
  });
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_argsort(const int64_t *words) {
  KernelCall call(words);
  const int64_t rows = call.number();
  const KernelTensor given = call.tensor(1), result = call.tensor(1);
  orderRows(rows, given, result, given.sizes[0], call.number() != 0);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_top_indices(const int64_t *words) {
  KernelCall call(words);
  const int64_t rows = call.number();
  const KernelTensor given = call.tensor(1), result = call.tensor(1);
  const int64_t count = call.number();
  orderRows(rows, given, result, count, call.number() != 0);
}
