#include "runtime/MachineLimits.h"

#include "runtime/Buffer.h"
#include "runtime/Cpu.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace calque::runtime {

namespace {

using Clock = std::chrono::steady_clock;

double secondsOf(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The number of sums, so many that no addition waits for the one before.
constexpr int kSums = 12;

// Clang compiles the inlined functions before it knows for which CPU they are, so that it would measure short vectors.
#if defined(__x86_64__) && !defined(__clang__)
#define CALQUE_WIDE_VECTORS
#endif

// A vector of `Bytes` bytes. If the CPU has no such vectors, the compiler takes several instructions.
template <int Bytes> struct VectorOf {
  typedef float Type __attribute__((vector_size(Bytes)));
};

// Makes the compiler believe that a vector is read and changed, so that every round counts.
template <typename Vector> [[gnu::always_inline]] inline void keep(Vector &vector) {
#if defined(__aarch64__)
  asm volatile("" : "+w"(vector));
#else
  asm volatile("" : "+v"(vector));
#endif
}

template <int Bytes> [[gnu::always_inline]] inline float multiplyAndAdd(std::int64_t rounds, float factor) {
  using Vector = typename VectorOf<Bytes>::Type;
  const Vector x = Vector{} + factor;
  // Variables, because an array would be in memory.
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{}, k{}, l{};
  for (std::int64_t round = 0; round < rounds; ++round) {
    auto add = [&](Vector &sum) {
      sum = sum * x + x;
      keep(sum);
    };
    add(a), add(b), add(c), add(d), add(e), add(f), add(g), add(h), add(i), add(j), add(k), add(l);
  }
  return (a + b + c + d + e + f + g + h + i + j + k + l)[0];
}

#if defined(CALQUE_WIDE_VECTORS)
[[gnu::target("avx512f,avx512vl,fma,prefer-vector-width=512"),
  gnu::optimize("fp-contract=fast")]] float multiplyAndAdd512(std::int64_t rounds, float factor) {
  return multiplyAndAdd<64>(rounds, factor);
}
[[gnu::target("avx2,fma"), gnu::optimize("fp-contract=fast")]] float multiplyAndAdd256(std::int64_t rounds,
                                                                                       float factor) {
  return multiplyAndAdd<32>(rounds, factor);
}
#endif
float multiplyAndAdd128(std::int64_t rounds, float factor) { return multiplyAndAdd<16>(rounds, factor); }

struct Multiplier {
  float (*run)(std::int64_t rounds, float factor);
  int lanes;
};
Multiplier multiplier() {
#if defined(CALQUE_WIDE_VECTORS)
  switch (hostCpu()) {
  case Cpu::Avx512:
  case Cpu::Avx512Vnni:
    return {multiplyAndAdd512, 16};
  case Cpu::Avx2:
    return {multiplyAndAdd256, 8};
  default:
    break;
  }
#endif
  return {multiplyAndAdd128, 4};
}

// The least time of several runs of a loop with a piece for each thread.
template <typename Body> double leastTime(int threads, Body &&body) {
  constexpr int kRuns = 30; // the first ones wake the threads, and find the memory cold
  double least = 0;
  for (int i = 0; i < kRuns; ++i) {
    Clock::time_point start = Clock::now();
    parallelFor(threads, 1, [&](std::int64_t thread, std::int64_t) { body(thread); });
    double seconds = secondsOf(start);
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

} // namespace

MachineLimits measureLimits() {
  MachineLimits limits;
  int threads = threadCount();
  Multiplier multiply = multiplier();
  constexpr std::int64_t kRounds = 1 << 20;
  volatile float sink = 0;
  double seconds = leastTime(threads, [&](std::int64_t) { sink = multiply.run(kRounds, 0.5f); });
  limits.operations = 2.0 * kRounds * kSums * multiply.lanes * threads / seconds;

  constexpr std::size_t kBytes = std::size_t(64) << 20;
  Buffer from = Buffer::allocate(kBytes), into = Buffer::allocate(kBytes);
  std::memset(from.data(), 1, kBytes);
  std::size_t part = kBytes / static_cast<std::size_t>(threads);
  seconds = leastTime(threads, [&](std::int64_t thread) {
    std::size_t start = static_cast<std::size_t>(thread) * part;
    std::memcpy(static_cast<char *>(into.data()) + start, static_cast<const char *>(from.data()) + start, part);
  });
  limits.copiedBytes = 2.0 * static_cast<double>(part * static_cast<std::size_t>(threads)) / seconds;
  return limits;
}

} // namespace calque::runtime
