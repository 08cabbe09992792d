// Finds what the states of a graph have in common and which values they take from before: their steps, parameters and
// the arguments of their edges.
#ifndef CALQUE_FRONTEND_NATIVE_OPERANDS_H
#define CALQUE_FRONTEND_NATIVE_OPERANDS_H

#include "absl/container/flat_hash_map.h"
#include "frontend/native/Graph.h"
#include "frontend/native/Tree.h"

namespace calque::detail::native {

// Two nodes that the graph takes for one state, and that can't be.
struct Conflict {
  const Node *a, *b;
};

// A value that a parameter has on some path, and the node whose path it is on.
struct Sample {
  const Node *node = nullptr;
  Value value = kNoValue;
};

// How many of a state's last steps are not common to all ways into it, though they are alike; by what the state is
// known by.
using PrologueLimits = absl::flat_hash_map<const Node *, std::size_t>;

// Completes a graph whose states have edges with targets only, by the nodes of a tree. `representatives` has a node for
// each state. Returns the samples of each state's parameters. Throws a Conflict; NotCaptured where loop variables do
// not close.
std::vector<std::vector<Sample>> inferOperands(Graph &graph, const Node &root,
                                               const std::vector<Node *> &representatives, PrologueLimits &limits);

} // namespace calque::detail::native
#endif
