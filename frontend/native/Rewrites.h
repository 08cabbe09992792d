// Rewrites of a graph before it is emitted: counts become parameters, and steps that follow a loop or a branch move out
// of it.
#ifndef CALQUE_FRONTEND_NATIVE_REWRITES_H
#define CALQUE_FRONTEND_NATIVE_REWRITES_H

#include "frontend/native/Operands.h"

#include <functional>

namespace calque::detail::native {

// Operations on int64 scalars.
struct CounterWords {
  Kind add = 0, equal = 0;
  std::function<Value(std::int64_t)> constant;
  std::function<std::size_t(Kind)> numResults;
};

// Makes each gate a decision on a counter, which the states around it have as a parameter.
void addCounters(Graph &graph, std::vector<std::vector<Sample>> &samples, const CounterWords &words);

// Two loops, one in the other, may have one begin: where the outer one's first iteration is known, or the host counts
// it, nothing is decided before the inner loop. Gives the outer loop a begin of its own: a state with one edge.
void separateLoops(Graph &graph, std::vector<std::vector<Sample>> &samples);

// Gives the steps of edges that leave a loop a state of their own behind it, which has one edge. So they are not part
// of the loop's last iteration.
void moveStepsBehindLoops(Graph &graph, std::vector<std::vector<Sample>> &samples,
                          const std::vector<Node *> &representatives, const CounterWords &words);

// Gives the steps with which all ways into a loop end, or all ways to its next iteration, a state of their own, which
// has one edge. So what follows a branch is not part of the branch: derivatives may begin or be asked there.
void joinSteps(Graph &graph, std::vector<std::vector<Sample>> &samples);

} // namespace calque::detail::native
#endif
