// Runs steps that do not depend on each other side by side: the pieces of all of them are one loop of the pool's
// threads. A training step updates a hundred parameters. One after the other, these would be a hundred loops, each of
// which wakes the threads and waits for the last of them, and small loops would run on one thread.
//
// A step whose kernel is one loop (Kernel::pieces) is cut into the same pieces as if it ran alone, so that its bits are
// the same. A short step is one piece, together with the steps that follow it; one thread may take several short steps
// at a time. A step that is neither one loop nor known to be short runs before the others, as it would alone. Each
// thread begins with the part of each loop that it would have if the loop ran alone.
#ifndef CALQUE_RUNTIME_ROUND_H
#define CALQUE_RUNTIME_ROUND_H

#include "runtime/Kernels.h"

#include <atomic>
#include <span>

namespace calque::runtime {

// Threads share work of kParallelCycles or more. A piece, which one thread takes at a time, has kPieceCycles or more.
// Both also hold for a loop that runs alone. A round that has only short steps wakes the threads for kShortCycles or
// more: most of what short steps touch is in the caches, so that they take a third of the estimate.
inline constexpr int64_t kParallelCycles = 40'000, kPieceCycles = 10'000, kShortCycles = 3 * kParallelCycles;

struct RoundStep {
  const Kernel *kernel;
  const int64_t *words; // all that the kernel takes
  int64_t cycles;       // an estimate; 0: not known
  bool follows;         // one thread runs it after the step before
  Pieces pieces;        // of a kernel that has them
  std::atomic<int64_t> nanoseconds{0};
};

// An item of a round, of which threads take pieces: a loop, or some short steps that are one piece.
struct RoundItem {
  int64_t end;                  // the number of pieces of this item and all items before it
  uint32_t firstStep, lastStep; // positions in `order`; the last one is not included
};

// Runs the steps. `order` and `items` have room for as many entries as there are steps. With `measures`, each step's
// nanoseconds receive the time of its pieces, added up over all threads.
void runRound(std::span<RoundStep> steps, uint32_t *order, RoundItem *items, bool measures);

} // namespace calque::runtime
#endif
