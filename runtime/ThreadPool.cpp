#include "runtime/ThreadPool.h"

#include "runtime/Fork.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <vector>

namespace calque::runtime {
namespace {

constexpr int MaxThreads = 1024;

// In a training step loops follow each other within microseconds, and waking a sleeping thread takes about 50 of them.
// So a thread waits for work, or for the end of the others' work, for this time before it sleeps.
constexpr std::chrono::microseconds SpinTime{100};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until `done` holds, for at most SpinTime. False if the time is over.
template <typename Done> bool spinUntil(Done done) {
  constexpr int StepsPerLook = 32; // reading the clock costs about as much as these steps
  auto end = std::chrono::steady_clock::time_point();
  for (;;) {
    for (int step = 0; step < StepsPerLook; ++step) {
      if (done())
        return true;
      relax();
    }
    auto now = std::chrono::steady_clock::now();
    if (end == std::chrono::steady_clock::time_point())
      end = now + SpinTime;
    else if (now >= end)
      return false;
  }
}

// The bits that say how a thread rounds, and whether it takes numbers below the normal range for 0. The register also
// has the bits for traps and for exceptions that have happened, which remain each thread's own.
#if defined(__x86_64__)
constexpr uint64_t ModeBits = 0xe040; // flush to zero, rounding; denormals are zeros
uint64_t controlWord() { return __builtin_ia32_stmxcsr(); }
void setControlWord(uint64_t word) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
constexpr uint64_t ModeBits = 0x1c00000; // flush to zero, rounding
uint64_t controlWord() {
  uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
void setControlWord(uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#endif
uint64_t floatingPointMode() { return controlWord() & ModeBits; }
void setFloatingPointMode(uint64_t mode) {
  uint64_t word = controlWord();
  if ((word & ModeBits) != mode) // in a steady loop it has not changed, and to write it is slow
    setControlWord((word & ~ModeBits) | mode);
}

struct Job {
  int64_t count = 0, grain = 0, pieces = 0;
  int threads = 1;
  CalqueLoopBody body = nullptr;
  void *context = nullptr;
  uint64_t mode = 0; // of the caller, so that the results are those of one thread

  void run(int64_t piece) const {
    int64_t begin = piece * grain;
    body(context, begin, count - begin > grain ? begin + grain : count);
  }
};

// The gate is one word with the number of the job and of the workers inside, so that the caller waits only for workers
// that have entered. A worker that wakes too late finds the gate closed and touches nothing.
//
//   bits 31..16 number of the job | 15 the caller sleeps | 14 open | 13 stop | 12..0 workers inside
constexpr uint32_t JobUnit = 1u << 16, CallerSleeps = 1u << 15, Open = 1u << 14, Stop = 1u << 13, InsideMask = Stop - 1;
static_assert(MaxThreads <= InsideMask);

// Initialised at compile time and never destroyed, because loops may run before main() and in static destructors.
struct Shared {
  // Held by the caller whose loop the workers run. Only its holder writes to the members up to `gate`.
  alignas(64) std::atomic<bool> busy{false};
  Job job;
  alignas(64) std::atomic<uint32_t> gate{0};
  std::atomic<int> sleepers{0};                  // workers that wait for the gate to change and need a wake-up
  std::atomic<uint32_t> lastIsOut{0};            // what a sleeping caller waits for
  alignas(64) std::atomic<int> wantedThreads{0}; // 0: not yet asked for
};
constinit Shared shared;

// Each thread begins with a part of the pieces of its own, the same one in each loop, because the next kernel wants the
// data that a kernel leaves in the caches of a core. A thread that has finished its own part takes pieces that others
// have left.
struct alignas(64) Part {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};
constinit Part parts[MaxThreads];

// Whether this thread is inside of a piece that the pool has given it.
constinit thread_local bool runsPieces = false;

void sharePieces(const Job &job) {
  int64_t begin = 0, least = job.pieces / job.threads, longer = job.pieces % job.threads;
  for (int thread = 0; thread < job.threads; ++thread) {
    int64_t end = begin + least + (thread < longer);
    parts[thread].next.store(begin, std::memory_order_relaxed);
    parts[thread].end = end;
    begin = end;
  }
}

void runPieces(const Job &job, int thread) {
  for (int i = 0; i < job.threads; ++i) {
    Part &part = parts[(thread + i) % job.threads];
    // Writes only to parts that have pieces left.
    while (part.next.load(std::memory_order_relaxed) < part.end) {
      int64_t piece = part.next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= part.end)
        break;
      job.run(piece);
    }
  }
}

// Enters if the gate is open for another job than the last one served.
bool enter(uint32_t &served) {
  uint32_t gate = shared.gate.load(std::memory_order_acquire);
  while ((gate & Open) && gate / JobUnit != served)
    if (shared.gate.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire)) {
      served = gate / JobUnit;
      return true;
    }
  return false;
}

void leave() {
  uint32_t before = shared.gate.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & InsideMask) == 1 && (before & CallerSleeps)) {
    shared.lastIsOut.store(1, std::memory_order_release);
    shared.lastIsOut.notify_one();
  }
}

// `thread` is 0 for the caller of a loop, and counts the workers from 1 on.
void workerMain(uint32_t served, int thread) {
  runsPieces = true;
  auto somethingIsOn = [&] {
    uint32_t gate = shared.gate.load(std::memory_order_acquire);
    return (gate & Stop) || ((gate & Open) && gate / JobUnit != served);
  };
  for (;;) {
    if (enter(served)) {
      setFloatingPointMode(shared.job.mode);
      runPieces(shared.job, thread);
      leave();
    }
    if (spinUntil(somethingIsOn)) {
      if (shared.gate.load(std::memory_order_acquire) & Stop)
        return;
      continue;
    }
    // Sequentially consistent on both sides, so that either the caller sees the sleeper or the sleeper sees the new
    // gate.
    shared.sleepers.fetch_add(1);
    uint32_t gate = shared.gate.load();
    if (!(gate & Stop) && !((gate & Open) && gate / JobUnit != served))
      shared.gate.wait(gate);
    shared.sleepers.fetch_sub(1);
  }
}

// Whether this process was forked from one that has the threads.
constinit std::atomic<bool> isForked{false};

// A forked process lacks the other threads. So a loop of another thread has no workers in it, and no longer holds the
// pool.
void inForkedProcess() {
  isForked.store(true, std::memory_order_relaxed);
  if (runsPieces) // of a loop of this thread
    return;
  shared.gate.store(shared.gate.load(std::memory_order_relaxed) / JobUnit * JobUnit, std::memory_order_relaxed);
  shared.busy.store(false, std::memory_order_relaxed);
}
constinit ForkHandlers atForks{nullptr, nullptr, &inForkedProcess};
[[maybe_unused]] const bool knowsForks = atFork(atForks);

// The worker threads. The holder of `busy` calls all members but the destructor.
class Workers {
public:
  ~Workers() {
    leaveToParent();
    if (runsPieces) { // exit() within a piece: this thread can't wait for itself
      for (std::thread &thread : threads)
        thread.detach();
      shared.wantedThreads.store(1, std::memory_order_relaxed); // for loops of the destructors to come
      return;
    }
    while (shared.busy.exchange(true, std::memory_order_acquire))
      std::this_thread::yield();
    stop(); // `busy` stays set: from here on, loops run on their callers
  }

  void resize(size_t count) {
    leaveToParent();
    if (started == count)
      return;
    ForkSection section;
    if (count < started)
      stop();
    started = count;
    try {
      threads.reserve(count);
      uint32_t served = shared.gate.load(std::memory_order_relaxed) / JobUnit;
      while (threads.size() < count)
        threads.emplace_back(workerMain, served, static_cast<int>(threads.size()) + 1);
    } catch (...) {
      // Fewer threads do the same work, and no exception may pass through generated code.
    }
  }

  size_t size() const { return threads.size(); }

private:
  // A forked process has none of its parent's threads, and can neither join nor detach them.
  void leaveToParent() {
    if (!isForked.exchange(false, std::memory_order_relaxed))
      return;
    static auto *const kept = new std::vector<std::thread>; // never destroyed
    std::move(threads.begin(), threads.end(), std::back_inserter(*kept));
    threads.clear();
    started = 0;
    shared.sleepers.store(0);
  }

  void stop() {
    shared.gate.fetch_or(Stop);
    shared.gate.notify_all();
    for (std::thread &thread : threads)
      thread.join();
    threads.clear();
    shared.gate.fetch_and(~Stop);
  }

  std::vector<std::thread> threads;
  size_t started = 0; // the number that resize() last asked for, even if the system refused some
};

Workers &workers() {
  static Workers workers;
  return workers;
}

void runOnWorkersToo() {
  sharePieces(shared.job);
  shared.lastIsOut.store(0, std::memory_order_relaxed);
  // The gate is closed and no worker is inside, so no other thread writes to it.
  uint32_t number = shared.gate.load(std::memory_order_relaxed) / JobUnit;
  shared.gate.store((number + 1) * JobUnit | Open);
  if (int sleepers = shared.sleepers.load()) {
    if (shared.job.pieces - 1 >= sleepers)
      shared.gate.notify_all();
    else
      for (int64_t helper = 1; helper < shared.job.pieces; ++helper)
        shared.gate.notify_one();
  }

  runPieces(shared.job, 0);

  auto nobodyIsInside = [] { return (shared.gate.load(std::memory_order_acquire) & InsideMask) == 0; };
  shared.gate.fetch_and(~Open, std::memory_order_acq_rel);
  if (spinUntil(nobodyIsInside))
    return;
  // The last worker to leave after this sees the bit and wakes the caller.
  if (shared.gate.fetch_or(CallerSleeps, std::memory_order_acq_rel) & InsideMask)
    while (shared.lastIsOut.load(std::memory_order_acquire) == 0)
      shared.lastIsOut.wait(0, std::memory_order_acquire);
}

// A positive number at the start of an environment variable ("4,2" asks for four threads and nested twos), or 0.
int numberFrom(const char *variable) {
  const char *text = std::getenv(variable);
  long value = text ? std::strtol(text, nullptr, 10) : 0;
  return value < 1 ? 0 : value > MaxThreads ? MaxThreads : int(value);
}

int defaultThreadCount() {
  if (int count = numberFrom("CALQUE_NUM_THREADS"))
    return count;
  if (int count = numberFrom("OMP_NUM_THREADS"))
    return count;
  unsigned hardware = std::thread::hardware_concurrency(); // 0 if unknown
  return hardware < 1 ? 1 : hardware > MaxThreads ? MaxThreads : int(hardware);
}

} // namespace

void setThreadCount(int count) {
  if (count < 1)
    count = defaultThreadCount();
  shared.wantedThreads.store(count > MaxThreads ? MaxThreads : count, std::memory_order_relaxed);
}

int threadCount() {
  int count = shared.wantedThreads.load(std::memory_order_relaxed);
  if (count)
    return count;
  int fallback = defaultThreadCount();
  // Unless another thread has just set it.
  return shared.wantedThreads.compare_exchange_strong(count, fallback, std::memory_order_relaxed) ? fallback : count;
}

} // namespace calque::runtime

extern "C" __attribute__((visibility("default"))) void calque_rt_parallel_for(int64_t count, int64_t grain,
                                                                              CalqueLoopBody body, void *context) {
  using namespace calque::runtime;
  if (count <= 0)
    return;
  grain = grain < 1 ? 1 : grain;
  Job job{count, grain, pieceCount(count, grain), 1, body, context, 0};

  int threads = job.pieces == 1 ? 1 : threadCount();
  // A plain load first: a nested loop would otherwise take the cache line from the threads that need it.
  if (threads > 1 && !shared.busy.load(std::memory_order_relaxed) &&
      !shared.busy.exchange(true, std::memory_order_acquire)) {
    workers().resize(size_t(threads) - 1);
    if (workers().size()) {
      job.threads = static_cast<int>(workers().size()) + 1;
      job.mode = floatingPointMode();
      shared.job = job;
      runsPieces = true;
      runOnWorkersToo();
      runsPieces = false;
      shared.busy.store(false, std::memory_order_release);
      return;
    }
    shared.busy.store(false, std::memory_order_release);
  }
  for (int64_t piece = 0; piece < job.pieces; ++piece)
    job.run(piece);
}
