// Discrete Fourier transforms.
#include "runtime/Buffer.h"
#include "runtime/libraries/Batches.h"
#include "runtime/libraries/FourierPlan.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace calque::runtime;

namespace calque::runtime {

namespace {

// How many sequences a piece of a loop transforms: those of about so many numbers.
int64_t sequencesOf(int64_t numbers) {
  constexpr int64_t kPieceNumbers = 1 << 13;
  return std::max<int64_t>(1, kPieceNumbers / std::max<int64_t>(1, numbers));
}

// Memory of lanes for passes of a length.
template <typename T> FourierMemory<T> lanesFor(int64_t length) {
  return FourierMemory<T>(4 * length * fourierKernels().of<T>().lanes);
}

// Memory for the time of a call, of the pool: fresh pages would take as long as the transform.
template <typename T> class PooledNumbers {
public:
  explicit PooledNumbers(int64_t count) : buffer(Buffer::allocate(static_cast<std::size_t>(count) * sizeof(T))) {}
  T *get() const { return static_cast<T *>(buffer.data()); }

private:
  Buffer buffer;
};

//===-- Dense sequences -------------------------------------------------------------------------===//

template <typename T>
void rowsInLanes(const FourierPlan<T> &plan, int64_t examples, const T *from, int64_t fromRow, T *to, int64_t toRow,
                 FourierForm<T> form) {
  const FourierKernels<T> &kernels = fourierKernels().of<T>();
  const int64_t lanes = kernels.lanes;
  parallelFor((examples + lanes - 1) / lanes, sequencesOf(plan.n * lanes), [&](int64_t begin, int64_t end) {
    const FourierMemory<T> scratch = lanesFor<T>(plan.n);
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * lanes, count = std::min(lanes, examples - first);
      kernels.rows(plan.first.passes(), count, {from + first * fromRow, fromRow, 2, to + first * toRow, toRow, 2}, form,
                   scratch.get());
    }
  });
}

template <typename T>
void rowsWhole(const FourierPlan<T> &plan, int64_t examples, const T *from, int64_t fromRow, T *to, int64_t toRow,
               FourierForm<T> form) {
  const FourierKernels<T> &kernels = fourierKernels().of<T>();
  parallelFor(examples, sequencesOf(plan.n), [&](int64_t begin, int64_t end) {
    const FourierMemory<T> scratch = lanesFor<T>(plan.first.passes().length);
    for (int64_t k = begin; k < end; ++k)
      kernels.whole(plan.first.passes(), plan.twiddles.get(), from + k * fromRow, to + k * toRow, form, scratch.get());
  });
}

// Columns beside each other in rows that are `stride` apart, in groups of as many as there are lanes. Where rows are
// far from each other, several groups are worked on at once in memory of their own, because a row that is touched costs
// as much as a few of its lines. The last group may overlap the one before, so that both are in one block.
template <typename T> class ColumnBlocks {
public:
  ColumnBlocks(int64_t length, int64_t width, int64_t stride)
      : length(length), width(width), stride(stride), lanes(fourierKernels().of<T>().lanes),
        isFar(stride * static_cast<int64_t>(sizeof(T)) >= kFarBytes && length > 1 && width > lanes),
        together(isFar ? togetherOf(2 * length * lanes * static_cast<int64_t>(sizeof(T))) : 1),
        groups((width + lanes - 1) / lanes), overlaps(width % lanes != 0 && groups > 1 ? 1 : 0) {}

  int64_t blocks() const { return (groups - overlaps + together - 1) / together; }
  int64_t numbers() const { return length * together * lanes; }
  // The numbers of memory of lanes that a block takes, and of memory of its own, twice.
  int64_t scratch() const { return 4 * length * lanes + (isFar ? 2 * own() : 0); }

  // Runs group(index, column, to, stride) for the groups of a block, and brings the results to `to`.
  template <typename Group> void toColumns(int64_t block, T *to, T *memory, Group &&group) const {
    const int64_t begin = block * together, end = endOf(block), first = columnOf(begin);
    if (!isFar) {
      for (int64_t i = begin; i < end; ++i)
        group(i, columnOf(i), to + 2 * columnOf(i), stride);
      return;
    }
    const int64_t count = columnOf(end - 1) + lanes - first;
    T *results = memory + 4 * length * lanes + own();
    for (int64_t i = begin; i < end; ++i)
      group(i, columnOf(i), results + 2 * (columnOf(i) - first), 2 * count);
    for (int64_t j = 0; j < length; ++j)
      std::copy_n(results + 2 * j * count, 2 * count, to + j * stride + 2 * first);
  }

  // Transforms the columns of a block.
  void run(int64_t block, const FourierPasses<T> &passes, const T *from, T *to, FourierForm<T> form, T *memory) const {
    const FourierKernels<T> &kernels = fourierKernels().of<T>();
    if (width < lanes)
      return kernels.rows(passes, width, {from, 2, stride, to, 2, stride}, form, memory);
    const int64_t first = columnOf(block * together), count = columnOf(endOf(block) - 1) + lanes - first;
    T *gathered = memory + 4 * length * lanes;
    for (int64_t j = 0; isFar && j < length; ++j)
      std::copy_n(from + j * stride + 2 * first, 2 * count, gathered + 2 * j * count);
    toColumns(block, to, memory, [&](int64_t, int64_t column, T *results, int64_t toStride) {
      const T *columns = isFar ? gathered + 2 * (column - first) : from + 2 * column;
      kernels.columns(passes, columns, isFar ? 2 * count : stride, results, toStride, form, memory);
    });
  }

private:
  static constexpr int64_t kFarBytes = 4096, kTogether = 4, kMostTogether = 16, kTogetherBytes = 1 << 18;
  // As many groups, of so many bytes, as the cache holds beside their results.
  static int64_t togetherOf(int64_t bytes) {
    return std::clamp(kTogetherBytes / std::max<int64_t>(1, bytes), kTogether, kMostTogether);
  }
  int64_t own() const { return 2 * length * (together + 1) * lanes; }
  int64_t columnOf(int64_t group) const { return std::max<int64_t>(0, std::min(group * lanes, width - lanes)); }
  int64_t endOf(int64_t block) const { return block + 1 == blocks() ? groups : (block + 1) * together; }

  const int64_t length, width, stride, lanes;
  const bool isFar;
  const int64_t together, groups, overlaps;
};

template <typename T>
void inTwoSteps(const FourierPlan<T> &plan, const T *from, T *to, FourierForm<T> form, T *matrix) {
  const FourierKernels<T> &kernels = fourierKernels().of<T>();
  const FourierPasses<T> first = plan.first.passes(), second = plan.second.passes();
  const int64_t count = first.length, length = second.length;
  const ColumnBlocks<T> columns(count, length, 2 * length), rows(length, count, 2 * count);
  parallelFor(columns.blocks(), sequencesOf(columns.numbers()), [&](int64_t begin, int64_t end) {
    const PooledNumbers<T> scratch(columns.scratch());
    for (int64_t block = begin; block < end; ++block)
      columns.run(block, first, from, matrix, {form.sign, 1}, scratch.get());
  });
  parallelFor(rows.blocks(), sequencesOf(rows.numbers()), [&](int64_t begin, int64_t end) {
    const PooledNumbers<T> scratch(rows.scratch());
    for (int64_t block = begin; block < end; ++block)
      rows.toColumns(block, to, scratch.get(), [&](int64_t group, int64_t row, T *results, int64_t stride) {
        kernels.secondStep(second, matrix + 2 * length * row, &plan.twiddles[2 * group * length], plan.fine.get(),
                           results, stride, form, scratch.get());
      });
  });
}

template <typename T> void byChirp(const FourierPlan<T> &plan, const T *from, T *to, FourierForm<T> form, T *memory) {
  const FourierKernels<T> &kernels = fourierKernels().of<T>();
  const int64_t n = plan.n, m = plan.longer->n;
  T *a = memory, *b = memory + 2 * m;
  kernels.multiply(from, plan.chirp.get(), a, n, form.sign);
  std::fill(a + 2 * n, a + 2 * m, T(0));
  transformRows<T>(*plan.longer, 1, a, 2 * m, b, 2 * m, {1, 1});
  kernels.multiply(b, plan.spectrum.get(), a, m, 1);
  transformRows<T>(*plan.longer, 1, a, 2 * m, b, 2 * m, {-1, form.scale});
  kernels.multiply(b, form.sign < 0 ? plan.conjugate.get() : plan.chirp.get(), to, n, form.sign);
}

// Sequences that take memory of their own, one by one. Few of them share the threads, many of them have one each.
template <typename T, typename Body> void oneByOne(int64_t examples, int64_t numbers, Body &&body) {
  if (examples < threadCount()) {
    const PooledNumbers<T> memory(numbers);
    for (int64_t k = 0; k < examples; ++k)
      body(k, memory.get());
    return;
  }
  parallelFor(examples, sequencesOf(numbers / 2), [&](int64_t begin, int64_t end) {
    const PooledNumbers<T> memory(numbers);
    for (int64_t k = begin; k < end; ++k)
      body(k, memory.get());
  });
}

} // namespace

template <typename T>
void transformRows(const FourierPlan<T> &plan, int64_t examples, const T *from, int64_t fromRow, T *to, int64_t toRow,
                   FourierForm<T> form) {
  using Way = typename FourierPlan<T>::Way;
  switch (plan.way) {
  case Way::Lanes:
    return rowsInLanes(plan, examples, from, fromRow, to, toRow, form);
  case Way::Whole:
    return rowsWhole(plan, examples, from, fromRow, to, toRow, form);
  case Way::TwoSteps:
    return oneByOne<T>(examples, 2 * plan.n, [&](int64_t k, T *memory) {
      inTwoSteps(plan, from + k * fromRow, to + k * toRow, form, memory);
    });
  case Way::Bluestein:
    return oneByOne<T>(examples, 4 * plan.longer->n,
                       [&](int64_t k, T *memory) { byChirp(plan, from + k * fromRow, to + k * toRow, form, memory); });
  }
}
template void transformRows(const FourierPlan<float> &, int64_t, const float *, int64_t, float *, int64_t,
                            FourierForm<float>);
template void transformRows(const FourierPlan<double> &, int64_t, const double *, int64_t, double *, int64_t,
                            FourierForm<double>);

namespace {

//===-- Columns ---------------------------------------------------------------------------------===//

// Sequences of n numbers in `width` columns.
template <typename T>
void transformColumns(int64_t examples, int64_t n, int64_t width, const T *from, T *to, FourierForm<T> form) {
  const auto plan = fourierPlan<T>(n, FourierUse::Columns);
  const int64_t size = 2 * n * width;
  if (plan->way == FourierPlan<T>::Way::Lanes) {
    const ColumnBlocks<T> columns(n, width, 2 * width);
    const int64_t blocks = columns.blocks();
    return parallelFor(examples * blocks, sequencesOf(columns.numbers()), [&](int64_t begin, int64_t end) {
      const PooledNumbers<T> scratch(columns.scratch());
      for (int64_t at = begin; at < end; ++at)
        columns.run(at % blocks, plan->first.passes(), from + at / blocks * size, to + at / blocks * size, form,
                    scratch.get());
    });
  }
  // Some columns become rows, for the chirp.
  const int64_t some = fourierKernels().of<T>().lanes, groups = (width + some - 1) / some;
  parallelFor(examples * groups, 1, [&](int64_t begin, int64_t end) {
    const PooledNumbers<T> memory(4 * n * some);
    T *rows = memory.get(), *results = rows + 2 * n * some;
    for (int64_t at = begin; at < end; ++at) {
      const int64_t first = at % groups * some, count = std::min(some, width - first);
      const int64_t offset = at / groups * size + 2 * first;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t v = 0; v < count; ++v)
          std::copy_n(from + offset + 2 * j * width + 2 * v, 2, rows + 2 * (v * n + j));
      transformRows<T>(*plan, count, rows, 2 * n, results, 2 * n, form);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t v = 0; v < count; ++v)
          std::copy_n(results + 2 * (v * n + j), 2, to + offset + 2 * j * width + 2 * v);
    }
  });
}

//===-- Real numbers ----------------------------------------------------------------------------===//

// The frequencies up to n / 2 of n real numbers; those that are not their own conjugates times `inner`.
template <typename T> void realToHalf(int64_t examples, int64_t n, const T *from, T *to, T scale, T inner) {
  const FourierKernels<T> &kernels = fourierKernels().of<T>();
  const int64_t half = n / 2 + 1;
  if (n % 2 == 0) {
    const auto plan = fourierPlan<T>(n / 2, FourierUse::Pairs);
    const int64_t batch = std::max(kernels.lanes, sequencesOf(n));
    auto run = [&](int64_t first, int64_t count) {
      transformRows<T>(*plan, count, from + first * n, n, to + 2 * first * half, 2 * half, {1, scale});
      for (int64_t k = first; k < first + count; ++k)
        kernels.split(to + 2 * k * half, n / 2, plan->half.get(), inner);
    };
    if (examples <= batch)
      return run(0, examples);
    return parallelFor(examples, batch, [&](int64_t begin, int64_t end) { run(begin, end - begin); });
  }
  const auto plan = fourierPlan<T>(n, FourierUse::Dense);
  const int64_t batch = std::max(kernels.lanes, sequencesOf(n));
  parallelFor(examples, batch, [&](int64_t begin, int64_t end) {
    const PooledNumbers<T> memory(4 * n * batch);
    T *whole = memory.get(), *results = whole + 2 * n * batch;
    for (int64_t i = 0; i < (end - begin) * n; ++i) {
      whole[2 * i] = from[begin * n + i];
      whole[2 * i + 1] = 0;
    }
    transformRows<T>(*plan, end - begin, whole, 2 * n, results, 2 * n, {1, scale});
    for (int64_t k = begin; k < end; ++k) {
      const T *row = results + 2 * (k - begin) * n;
      T *out = to + 2 * k * half;
      out[0] = row[0];
      out[1] = 0;
      for (int64_t i = 2; i < 2 * half; ++i)
        out[i] = row[i] * inner;
    }
  });
}

// The n real numbers whose frequencies up to n / 2 are given: with the weight `inner` those that are not their own
// conjugates.
template <typename T> void halfToReal(int64_t examples, int64_t n, const T *from, T *to, T scale, T inner) {
  const FourierKernels<T> &kernels = fourierKernels().of<T>();
  const int64_t half = n / 2 + 1, batch = std::max(kernels.lanes, sequencesOf(n));
  if (n % 2 == 0) {
    const auto plan = fourierPlan<T>(n / 2, FourierUse::Pairs);
    auto run = [&](int64_t first, int64_t count) {
      const PooledNumbers<T> memory(n * count);
      for (int64_t k = 0; k < count; ++k)
        kernels.join(from + 2 * (first + k) * half, memory.get() + k * n, n / 2, plan->half.get(), inner);
      transformRows<T>(*plan, count, memory.get(), n, to + first * n, n, {-1, scale});
    };
    if (examples <= batch)
      return run(0, examples);
    return parallelFor(examples, batch, [&](int64_t begin, int64_t end) { run(begin, end - begin); });
  }
  const auto plan = fourierPlan<T>(n, FourierUse::Dense);
  parallelFor(examples, batch, [&](int64_t begin, int64_t end) {
    const PooledNumbers<T> memory(4 * n * batch);
    T *whole = memory.get(), *results = whole + 2 * n * batch;
    for (int64_t k = begin; k < end; ++k) {
      const T *row = from + 2 * k * half;
      T *x = whole + 2 * (k - begin) * n;
      x[0] = row[0];
      x[1] = 0;
      for (int64_t j = 1; j < half; ++j) {
        const T re = row[2 * j] * (inner / 2), im = row[2 * j + 1] * (inner / 2);
        x[2 * j] = x[2 * (n - j)] = re;
        x[2 * j + 1] = im;
        x[2 * (n - j) + 1] = -im;
      }
    }
    transformRows<T>(*plan, end - begin, whole, 2 * n, results, 2 * n, {-1, scale});
    for (int64_t i = 0; i < (end - begin) * n; ++i)
      to[begin * n + i] = results[2 * i];
  });
}

// What results are multiplied by: see Calque_FourierOp.
template <typename T> T scaleOf(int64_t divisor, int64_t n) {
  if (divisor == 0)
    return 1;
  return static_cast<T>(divisor == 1 ? 1 / std::sqrt(static_cast<double>(n)) : 1 / static_cast<double>(n));
}

} // namespace
} // namespace calque::runtime

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_fourier(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(3), result = call.tensor(3);
  const int64_t inverse = call.number(), divisor = call.number();
  const int64_t n = given.sizes[0], width = given.sizes[1];
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *from = given.as<T>();
    T *to = result.as<T>();
    const FourierForm<T> form{static_cast<T>(inverse ? -1 : 1), scaleOf<T>(divisor, n)};
    if (width == 1)
      transformRows<T>(*fourierPlan<T>(n, FourierUse::Dense), examples, from, 2 * n, to, 2 * n, form);
    else
      transformColumns<T>(examples, n, width, from, to, form);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_real_fourier(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(1), result = call.tensor(2);
  const int64_t divisor = call.number();
  const auto inner = std::bit_cast<double>(call.number());
  const int64_t n = given.sizes[0];
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    realToHalf<T>(examples, n, given.as<T>(), result.as<T>(), scaleOf<T>(divisor, n), static_cast<T>(inner));
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_fourier_to_real(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(1);
  const int64_t n = call.number(), divisor = call.number();
  const auto inner = std::bit_cast<double>(call.number());
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    halfToReal<T>(examples, n, given.as<T>(), result.as<T>(), scaleOf<T>(divisor, n), static_cast<T>(inner));
  });
}
