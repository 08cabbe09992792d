// Completes the states of a graph: finds the steps that all ways into a state have in common, the parameters through
// which a state takes values from before it, and the arguments of its edges.
#ifndef CALQUE_FRONTEND_NATIVE_OPERANDS_H
#define CALQUE_FRONTEND_NATIVE_OPERANDS_H

#include "frontend/native/Graph.h"
#include "frontend/native/Tree.h"
#include "schema/HashTables.h"

namespace calque::detail::native {

// Thrown for two nodes that are one state in the graph, but differ.
struct Conflict {
  const Node *a, *b;
};

// A value that a parameter has on a path, and the node at which the path is.
struct Sample {
  const Node *node = nullptr;
  Value value = kNoValue;
};

// The number of a state's last steps that do not belong to its prologue, although they are the same on all ways into
// the state. The key is the state's representative node.
using PrologueLimits = HashMap<const Node *, std::size_t>;

// Completes a graph whose edges have only their targets, from the nodes of a tree. `representatives` has a node for
// each state. Returns the samples of each state's parameters. Throws a Conflict. NotCaptured if no fixed set of loop
// variables has all values that an iteration takes from earlier ones. `budget`: how many comparisons of values may be
// made, less those that are made.
std::vector<std::vector<Sample>> inferOperands(Graph &graph, const Node &root,
                                               const std::vector<Node *> &representatives, PrologueLimits &limits,
                                               std::size_t &budget);

} // namespace calque::detail::native
#endif
