// Steps that depend on none of each other, run side by side: the pieces of all of them are one loop of the pool's
// threads. A training step updates a hundred parameters; one after the other these are as many loops, each of which
// wakes the threads and waits for the last of them, and the small ones run on one thread.
//
// A step whose kernel is one loop (Kernel::pieces) has the pieces that it has alone, so that its bits are the same.
// Other short steps are a piece each, several of which are done together, and so is a short step with those that follow
// it. A step of which neither is known runs before the others, as it would alone. Each thread begins with a part of
// each loop, the same one as if that were alone.
#ifndef CALQUE_RUNTIME_ROUND_H
#define CALQUE_RUNTIME_ROUND_H

#include "runtime/Kernels.h"

#include <atomic>
#include <span>

namespace calque::runtime {

// Work is worth threads from so many cycles on, and a piece, which one thread takes at a time, has at least so many;
// for loops alone, too. Of short steps alone a round wakes the threads for no less than kShortCycles: most of what they
// touch is in the caches, so that they take a third of what is estimated.
inline constexpr int64_t kParallelCycles = 40'000, kPieceCycles = 10'000, kShortCycles = 3 * kParallelCycles;

struct RoundStep {
  const Kernel *kernel;
  const int64_t *words; // all that the kernel takes
  int64_t cycles;       // an estimate; 0: not known
  bool follows;         // one thread runs it behind the step before
  Pieces pieces;        // of a kernel that has them
  std::atomic<int64_t> nanoseconds{0};
};

// What threads take pieces of: a loop, or some short steps that are one piece.
struct RoundItem {
  int64_t end;                  // of its pieces among those of all items
  uint32_t firstStep, lastStep; // among those that `order` names, the last one not included
};

// Runs the steps. `order` and `items` have room for as many entries as there are steps. Measures each step where
// `measures` is set: its nanoseconds are the sum of all threads'.
void runRound(std::span<RoundStep> steps, uint32_t *order, RoundItem *items, bool measures);

} // namespace calque::runtime
#endif
