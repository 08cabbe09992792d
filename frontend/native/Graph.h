// The control flow of a lambda as a graph of states, each a decision or an end, with parameters.
#ifndef CALQUE_FRONTEND_NATIVE_GRAPH_H
#define CALQUE_FRONTEND_NATIVE_GRAPH_H

#include "frontend/native/Path.h"

#include <optional>
#include <set>
#include <string>

namespace calque::detail::native {

struct Origin {
  enum class From { Outside, Parameter, Local, None } from = From::None;
  // The number of a value from outside, the number of a parameter, or the distance to the state's first value.
  Value number = 0;
  bool operator==(const Origin &) const = default;
};

struct GraphStep {
  Kind kind = 0;
  absl::InlinedVector<Origin, 3> operands;
  Value local = 0; // of its first result
};

struct Edge {
  std::vector<GraphStep> steps;
  int to = -1;
  std::vector<Origin> arguments; // for the parameters of `to`
  std::vector<int> resets;       // the counters that begin anew where control takes the edge
};

// Every way into a state ends with the steps of the edge and then the state's own steps. Values are local to a state
// and its edges. The first edge is for a condition that is false, the second for one that is true.
//
// Host code may end a loop by counting, and no tensor shows the count. So an edge may lead to a gate: a state without
// steps, which decides by a counter. Each time that control comes to one of the counter's gates, the counter goes up by
// one. Control takes the gate's first edge, and where the counter has reached its limit the second one; the counter
// then begins anew. It also begins anew on the edges that name it in `resets`.
struct State {
  static constexpr std::size_t kNumEdges = 2;

  std::vector<GraphStep> steps;
  bool isEnd = false, throws = false;
  Kind end = 0;
  std::vector<Origin> results;
  Origin condition;
  int counter = -1;        // of a gate
  schema::SourceLine line; // of the condition; of a gate, of the decision before it
  std::size_t numParameters = 0;
  Edge edges[kNumEdges]; // of the start, only the first
  // The number of iterations that were followed, if the state begins a loop. std::nullopt: the state ends a loop, which
  // it is in, after iterations that are all known.
  std::optional<std::size_t> iterations = 0;
  LoopMarks marks; // of a decision

  bool isGate() const { return counter >= 0; }
  template <typename Visit> void forEachEdge(Visit visit) const {
    for (std::size_t slot = 0; slot < kNumEdges; ++slot)
      if (edges[slot].to >= 0)
        visit(slot, edges[slot]);
  }
};

struct Graph {
  static constexpr int kStart = 0;
  std::vector<State> states;
  std::vector<std::size_t> limits; // of the counters
  // loops: for each state, the states of the loop that it begins, or empty. Control enters the loop only through its
  // first state. innermost: for each state, the first state of the innermost loop around it, or -1.
  std::vector<std::set<int>> loops;
  std::vector<int> innermost;

  std::size_t size() const { return states.size(); }
  const State &operator[](int state) const { return states[static_cast<std::size_t>(state)]; }
  State &operator[](int state) { return states[static_cast<std::size_t>(state)]; }
  // The decision or end to which an edge leads where its gates have not reached their limits.
  int behindGates(int state) const {
    while (state >= 0 && (*this)[state].isGate())
      state = (*this)[state].edges[0].to;
    return state;
  }
  // The gates on an edge of a decision.
  std::vector<int> gatesOn(int state, bool side) const;
  const std::set<int> &loopOf(int state) const { return loops[static_cast<std::size_t>(state)]; }

  void findLoops();
};

// The place at which a graph does not explain a path.
struct Disagreement {
  std::size_t decisions = 0; // the number of decisions before
  // The edge on which control was.
  int from = Graph::kStart;
  std::size_t slot = 0;
  bool isOfValues = false; // the path has the same operations with other values
};
std::optional<Disagreement> disagreement(const Graph &graph, const Path &path);

// Follows decisions through a graph, and counts.
class Navigator {
public:
  explicit Navigator(const Graph &graph) : graph(graph), counts(graph.limits.size()) {}

  struct Hop {
    int from;
    std::size_t slot;
  };
  using Hops = absl::InlinedVector<Hop, 3>;
  // The edges along which the start, or a decision, leads, in order. There are several where there are gates.
  const Hops &begin();
  const Hops &take(bool side);
  // The decision or end to which they led; -1 where it is not known.
  int state() const { return state_; }
  bool isAtEnd() const { return state_ < 0 || graph[state_].isEnd; }
  const std::vector<std::size_t> &counters() const { return counts; }
  // What the gates among the edges decided: 'r' where the limit was reached, else 'n'. Empty if none was reached.
  std::string gates() const;

private:
  void hop(int from, std::size_t slot);

  const Graph &graph;
  int state_ = Graph::kStart;
  std::vector<std::size_t> counts;
  Hops hops;
};

} // namespace calque::detail::native
#endif
