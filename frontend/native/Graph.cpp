#include "frontend/native/Graph.h"

namespace calque::detail::native {

namespace {
// Follows a path through a graph.
class Walk {
public:
  Walk(const Graph &graph, const Path &path) : graph(graph), path(path) {}

  std::optional<std::size_t> run() {
    const Edge *edge = &graph[Graph::kStart].edges[0];
    for (decided = 0;; ++decided) {
      const bool isLast = decided == path.decisions.size();
      const std::size_t limit = isLast ? path.steps.size() : path.decisions[decided].position;
      if (!steps(edge->steps, limit))
        return decided;
      const State &state = graph[edge->to];
      std::vector<Value> next;
      next.reserve(edge->arguments.size());
      for (const Source &argument : edge->arguments)
        next.push_back(valueOf(argument));
      parameters = std::move(next);
      base = position < path.steps.size() ? path.steps[position].first : path.numValues;
      if (!steps(state.steps, limit) || position != limit || state.isEnd != isLast)
        return decided;
      if (isLast)
        return state.end == path.end && areEqual(state.results, path.results) ? std::nullopt : std::optional(decided);
      const Decision &decision = path.decisions[decided];
      if (valueOf(state.condition) != decision.condition)
        return decided;
      edge = &state.edges[decision.taken];
    }
  }

private:
  Value valueOf(const Source &operand) const {
    switch (operand.from) {
    case Source::From::Outside:
      return operand.number;
    case Source::From::Parameter:
      return parameters[static_cast<std::size_t>(operand.number)];
    case Source::From::Local:
      return base + operand.number;
    case Source::From::None:
      return kNoValue;
    }
    return kNoValue;
  }
  template <typename Operands, typename Values> bool areEqual(const Operands &operands, const Values &values) const {
    return std::equal(operands.begin(), operands.end(), values.begin(), values.end(),
                      [&](const Source &operand, Value value) { return valueOf(operand) == value; });
  }
  bool steps(const std::vector<GraphStep> &wanted, std::size_t limit) {
    for (const GraphStep &step : wanted) {
      if (position == limit)
        return false;
      const Step &given = path.steps[position];
      if (step.kind != given.kind || !areEqual(step.operands, given.operands))
        return false;
      ++position;
    }
    return true;
  }

  const Graph &graph;
  const Path &path;
  std::size_t position = 0, decided = 0;
  Value base = 0;
  std::vector<Value> parameters;
};
} // namespace

std::optional<std::size_t> Graph::disagreement(const Path &path) const { return Walk(*this, path).run(); }

} // namespace calque::detail::native
