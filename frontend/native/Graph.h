// The control flow of a lambda as a graph of states, each a decision or an end, with parameters.
#ifndef CALQUE_FRONTEND_NATIVE_GRAPH_H
#define CALQUE_FRONTEND_NATIVE_GRAPH_H

#include "frontend/native/Path.h"

#include <optional>

namespace calque::detail::native {

struct Source {
  enum class From { Outside, Parameter, Local, None } from = From::None;
  // The value of what comes from outside, the number of a parameter, or the distance to the state's first value.
  Value number = 0;
  bool operator==(const Source &) const = default;
};

struct GraphStep {
  Kind kind = 0;
  absl::InlinedVector<Source, 3> operands;
  Value local = 0; // of its first result
};

struct Edge {
  std::vector<GraphStep> steps;
  int to = -1;
  std::vector<Source> arguments; // for the parameters of `to`
};

// A state's steps come first in all that leads to it, behind the steps of the edge. Values are local to a state and its
// edges.
struct State {
  std::vector<GraphStep> steps;
  bool isEnd = false, throws = false;
  Kind end = 0;
  std::vector<Source> results;
  Source condition;
  schema::SourceLine line; // of the condition
  std::size_t numParameters = 0;
  Edge edges[2]; // for a condition that is false, and true; the start has the first alone

  std::size_t numEdges = 2;
};

struct Graph {
  static constexpr int kStart = 0;
  std::vector<State> states;

  std::size_t size() const { return states.size(); }
  const State &operator[](int state) const { return states[static_cast<std::size_t>(state)]; }
  State &operator[](int state) { return states[static_cast<std::size_t>(state)]; }

  // Where the graph does not explain a path: after how many decisions. Nothing if it explains all.
  std::optional<std::size_t> disagreement(const Path &path) const;
};

} // namespace calque::detail::native
#endif
