// Where control may go in a graph: what comes from a state, the loops that states begin, and their order.
#ifndef CALQUE_FRONTEND_NATIVE_WAYS_H
#define CALQUE_FRONTEND_NATIVE_WAYS_H

#include "frontend/native/Graph.h"

#include <set>
#include <vector>

namespace calque::detail::native {

using States = std::set<int>;

class Ways {
public:
  explicit Ways(const Graph &graph) : graph(graph) {}

  template <typename Visit> void forEachNext(int q, Visit visit) const {
    graph[q].forEachEdge([&](std::size_t, const Edge &edge) { visit(edge.to); });
  }
  // The states that come from one on, up to targets.
  States reach(int q, const States &targets) const;
  // The targets that come from a state on.
  States exits(int q, const States &targets) const;
  // The states of the loop that a state begins; empty if it begins none.
  States loopOf(int q, const States &targets) const;
  // So that none leads to an earlier one, but by a loop.
  std::vector<int> inOrder(States states, const States &targets) const;
  // Whether each way around a loop leads through a condition that ends the loop after iterations that are all known: a
  // division of the graph may begin it elsewhere.
  bool isEnded(int q, const States &loop) const;
  // Whether another loop is in a loop.
  bool hasInnerLoop(int q, const States &loop) const;
  // Whether a decision in a loop, and in no other loop inside of it, has a checkpoint.
  bool isCheckpointed(int q, const States &loop) const;

  static States joined(const States &a, const States &b);

private:
  const Graph &graph;
};

} // namespace calque::detail::native
#endif
