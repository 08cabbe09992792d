// The control flow of a lambda as a graph of states, each a decision or an end, with parameters.
#ifndef CALQUE_FRONTEND_NATIVE_GRAPH_H
#define CALQUE_FRONTEND_NATIVE_GRAPH_H

#include "frontend/native/Path.h"

#include <array>
#include <optional>
#include <set>

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
};

// Every way into a state ends with the steps of the edge and then the state's own steps. Values are local to a state
// and its edges.
//
// Host code may end a loop by counting, and no tensor shows the count. So a state has up to five edges. Two are for a
// condition that is false, and true. One is taken before the state's steps, when control arrives from inside of the
// loop for the n-th time. Two are taken when the first, and the second edge, is used for the n-th time. Counts begin
// when the loop begins.
struct State {
  static constexpr std::size_t kArrived = 2, kUsed = 3, kNumEdges = 5;

  std::vector<GraphStep> steps;
  bool isEnd = false, throws = false;
  Kind end = 0;
  std::vector<Origin> results;
  Origin condition;
  schema::SourceLine line; // of the condition
  std::size_t numParameters = 0;
  Edge edges[kNumEdges];             // of the start, only the first
  std::size_t limits[3] = {0, 0, 0}; // n for arrivals, and for the uses of each side; 0: no such edge
  // The number of iterations that were followed, if the state begins a loop. std::nullopt: all of them, because host
  // code ends the loop.
  std::optional<std::size_t> iterations = 0;

  template <typename Visit> void forEachEdge(Visit visit) const {
    for (std::size_t slot = 0; slot < kNumEdges; ++slot)
      if (edges[slot].to >= 0)
        visit(slot, edges[slot]);
  }
};

struct Graph {
  static constexpr int kStart = 0;
  std::vector<State> states;
  // loops: for each state, the states of the loop that it begins, or empty. Control enters the loop only through its
  // first state. innermost: for each state, the first state of the innermost loop around it, or -1.
  std::vector<std::set<int>> loops;
  std::vector<int> innermost;

  std::size_t size() const { return states.size(); }
  const State &operator[](int state) const { return states[static_cast<std::size_t>(state)]; }
  State &operator[](int state) { return states[static_cast<std::size_t>(state)]; }
  const std::set<int> &loopOf(int state) const { return loops[static_cast<std::size_t>(state)]; }

  void findLoops();
};

// The place at which a graph does not explain a path.
struct Disagreement {
  std::size_t decisions = 0; // the number of decisions before
  // The edge on which control was, and the number of explained steps of the edge and its target.
  int from = Graph::kStart;
  std::size_t slot = 0, steps = 0;
  // How often control had arrived at the edge's target from inside of its loop, including this time, and how often it
  // had used the edge.
  std::size_t arrivals = 0, uses = 0;
  bool isOfValues = false; // the path has the same operations with other values
};
std::optional<Disagreement> disagreement(const Graph &graph, const Path &path);

// Follows decisions through a graph, and counts.
class Navigator {
public:
  explicit Navigator(const Graph &graph) : graph(graph), arrivals_(graph.size()), uses_(graph.size(), {0, 0}) {}

  struct Hop {
    int from;
    std::size_t slot;
  };
  // The edges along which the start, or a decision, leads, in order. There are several if a count is reached.
  const absl::InlinedVector<Hop, 2> &begin();
  const absl::InlinedVector<Hop, 2> &take(bool side);
  int state() const { return state_; }
  std::size_t arrivals(int state) const { return arrivals_[static_cast<std::size_t>(state)]; }
  std::size_t uses(int state, std::size_t side) const { return uses_[static_cast<std::size_t>(state)][side]; }

private:
  void hop(int from, std::size_t slot);

  const Graph &graph;
  int state_ = Graph::kStart;
  std::vector<std::size_t> arrivals_;
  std::vector<std::array<std::size_t, 2>> uses_;
  absl::InlinedVector<Hop, 2> hops;
};

} // namespace calque::detail::native
#endif
