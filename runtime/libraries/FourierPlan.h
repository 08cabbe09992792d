// Plans of Fourier transforms: how a length is divided, and the roots of unity that this takes.
#ifndef CALQUE_RUNTIME_LIBRARIES_FOURIERPLAN_H
#define CALQUE_RUNTIME_LIBRARIES_FOURIERPLAN_H

#include "runtime/Cpu.h"
#include "runtime/libraries/FourierKernels.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace calque::runtime {

// The kernels of this CPU, or of the one that CALQUE_TARGET names, as native code is, if this one can run them.
inline const FourierKernelTable &fourierKernels() {
  static const FourierKernelTable &table = []() -> const FourierKernelTable & {
#if defined(__x86_64__)
    Cpu cpu = hostCpu();
    if (const char *name = std::getenv("CALQUE_TARGET"))
      if (const std::optional<Cpu> named = cpuNamed(name); named && runs(cpu, *named))
        cpu = *named;
    if (runs(cpu, Cpu::Avx512))
      return kFourierAvx512;
    if (runs(cpu, Cpu::Avx2))
      return kFourierAvx2;
#endif
    return kFourierBaseline;
  }();
  return table;
}

// Numbers, aligned for vectors.
template <typename T> class FourierMemory {
public:
  FourierMemory() = default;
  explicit FourierMemory(int64_t count);
  T *get() const { return numbers.get(); }
  T &operator[](int64_t i) const { return numbers[i]; }

private:
  struct Free {
    void operator()(T *numbers) const;
  };
  std::unique_ptr<T[], Free> numbers;
};

// The passes of a length whose prime factors are at most kMostRadix.
template <typename T> class FourierDivision {
public:
  FourierDivision() = default;
  explicit FourierDivision(int64_t length);
  FourierPasses<T> passes() const { return {length, static_cast<int64_t>(all.size()), all.data()}; }
  // The radices of the passes; empty for a length with a larger prime factor, and for 1.
  static std::vector<int64_t> radices(int64_t length);

private:
  int64_t length = 1;
  std::vector<FourierPass<T>> all;
  FourierMemory<T> numbers; // twiddles and roots of the passes
};

// How sequences of one length are transformed. The length and the form of the sequences alone decide, so that a
// sequence has the same bits in any batch, on any number of threads.
template <typename T> struct FourierPlan {
  enum class Way {
    Lanes,     // several sequences at once, one in each lane
    Whole,     // one sequence, whose residues modulo the number of lanes are the lanes
    TwoSteps,  // one sequence as a matrix [count, length]: its columns, and then its rows
    Bluestein, // a convolution by a chirp, of a longer, smooth length
  };
  int64_t n;
  Way way;
  FourierDivision<T> first;  // of n, of n / lanes, or of the columns
  FourierDivision<T> second; // of the rows
  FourierMemory<T> twiddles; // of Whole, or the coarse ones of TwoSteps
  FourierMemory<T> fine;
  // Of Bluestein: exp(-pi i j j / n) and its conjugate for each j, and the transform of the latter, over the longer
  // length; and the plan of that.
  FourierMemory<T> chirp, conjugate, spectrum;
  std::shared_ptr<const FourierPlan> longer;
  // Of real numbers, twice as many: exp(-2 pi i k / (2 n)) for k <= n / 2.
  FourierMemory<T> half;
};

// What sequences a plan is for.
enum class FourierUse {
  Dense,   // each one dense in memory
  Columns, // beside each other
  Pairs,   // dense ones that are pairs of real numbers
};

// The plan of a length, which is made at the first call. Plans are kept: the latest ones, up to a number and a size.
// Threads may call at once.
template <typename T> std::shared_ptr<const FourierPlan<T>> fourierPlan(int64_t n, FourierUse use);

// Transforms dense sequences: `examples` of them, each `fromRow` or `toRow` real numbers behind the one before.
template <typename T>
void transformRows(const FourierPlan<T> &plan, int64_t examples, const T *from, int64_t fromRow, T *to, int64_t toRow,
                   FourierForm<T> form);

} // namespace calque::runtime
#endif
