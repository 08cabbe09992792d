#include "runtime/Round.h"

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <chrono>

namespace calque::runtime {

namespace {

class Loop {
public:
  Loop(std::span<RoundStep> steps, uint32_t *order, RoundItem *items, bool measures)
      : steps(steps), order(order), items(items), measures(measures), threads(threadCount()) {}

  void run() {
    for (size_t i = 0; i < steps.size(); ++i)
      if (isAlone(i))
        runWhole(steps[i]);
    // Long loops first, then short steps, which fill the gaps.
    addLoops();
    int64_t cycles = addShort();
    if (threads == 1 || count < 2 || (numLoops == 0 && cycles < kShortCycles)) {
      for (uint32_t i = 0; i < numSteps; ++i)
        runWhole(steps[order[i]]);
      return;
    }
    parallelFor(count, 1, [this](int64_t begin, int64_t end) {
      for (int64_t number = begin; number < end; ++number)
        runPiece(number);
    });
  }

private:
  static int64_t piecesOf(const RoundStep &step) { return pieceCount(step.pieces.count, step.pieces.grain); }
  bool isChained(size_t i) const { return steps[i].follows || (i + 1 < steps.size() && steps[i + 1].follows); }
  bool isLoop(size_t i) const { return !isChained(i) && steps[i].pieces.body && piecesOf(steps[i]) != 1; }
  // Whether a step must run before the others, with all threads for itself.
  bool isAlone(size_t i) const {
    return !isChained(i) && !steps[i].pieces.body && (steps[i].cycles == 0 || steps[i].cycles >= kParallelCycles);
  }

  void addLoops() {
    for (size_t i = 0; i < steps.size(); ++i)
      if (isLoop(i) && steps[i].pieces.count > 0) {
        order[numSteps] = static_cast<uint32_t>(i);
        count += piecesOf(steps[i]);
        items[numItems++] = {count, numSteps, numSteps + 1};
        ++numSteps;
      }
    numLoops = numSteps;
  }

  // Adds the short steps, as many in a piece as are worth a piece. Returns the cycles of all.
  int64_t addShort() {
    int64_t all = 0, own = kPieceCycles;
    for (size_t i = 0; i < steps.size(); ++i)
      if (!isAlone(i) && !isLoop(i)) {
        if (own >= kPieceCycles && !steps[i].follows) {
          items[numItems++] = {++count, numSteps, numSteps};
          own = 0;
        }
        order[numSteps++] = static_cast<uint32_t>(i);
        items[numItems - 1].lastStep = numSteps;
        own += std::max(steps[i].cycles, kPieceCycles / 16);
        all += steps[i].cycles;
      }
    return all;
  }

  // How many of the numbers below a limit leave the remainder `thread` when they are divided by the number of threads,
  // and how many leave a smaller remainder.
  int64_t countOf(int64_t limit, int64_t thread) const { return (limit + threads - 1 - thread) / threads; }
  int64_t countBelow(int64_t limit, int64_t thread) const {
    return limit / threads * thread + std::min(limit % threads, thread);
  }

  // The pieces are counted through all items, and dealt to the threads one by one. Within an item, the pieces of the
  // first thread come first. So each thread has a part of each item, as the pool would give it.
  void runPiece(int64_t number) {
    // The pool gives all threads equally many numbers, and the first threads one more if some are left.
    int64_t least = count / threads, longer = count % threads, behind = number - longer * (least + 1),
            thread = behind < 0 ? number / (least + 1) : longer + behind / least,
            place = behind < 0 ? number % (least + 1) : behind % least;
    const RoundItem *item = std::partition_point(
        items, items + numItems, [&](const RoundItem &each) { return countOf(each.end, thread) <= place; });
    int64_t begin = item == items ? 0 : std::prev(item)->end;
    if (item->firstStep >= numLoops) {
      for (uint32_t i = item->firstStep; i < item->lastStep; ++i)
        runWhole(steps[order[i]]);
      return;
    }
    RoundStep &step = steps[order[item->firstStep]];
    int64_t piece = countBelow(item->end, thread) - countBelow(begin, thread) + place - countOf(begin, thread),
            grain = std::max<int64_t>(step.pieces.grain, 1), first = piece * grain;
    timed(step, [&] {
      step.pieces.body(const_cast<int64_t *>(step.words), first, std::min(first + grain, step.pieces.count));
    });
  }

  void runWhole(RoundStep &step) {
    timed(step, [&] { step.kernel->run(step.words); });
  }

  template <typename F> void timed(RoundStep &step, F &&run) {
    if (!measures)
      return run();
    auto start = std::chrono::steady_clock::now();
    run();
    std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
    step.nanoseconds.fetch_add(time.count(), std::memory_order_relaxed);
  }

  std::span<RoundStep> steps;
  uint32_t *order; // the steps of the items
  RoundItem *items;
  bool measures;
  int64_t threads, count = 0; // of pieces
  uint32_t numSteps = 0, numLoops = 0;
  size_t numItems = 0;
};

} // namespace

void runRound(std::span<RoundStep> steps, uint32_t *order, RoundItem *items, bool measures) {
  Loop(steps, order, items, measures).run();
}

} // namespace calque::runtime
