#include "frontend/native/Uses.h"

#include <utility>

namespace calque::detail::native {

namespace {
std::size_t at(int state) { return static_cast<std::size_t>(state); }
} // namespace

std::vector<std::vector<std::optional<Decisions>>> waysToUses(const Graph &graph) {
  const int size = static_cast<int>(graph.size());
  std::vector<std::vector<std::optional<Decisions>>> ways(graph.size());
  for (int q = 0; q < size; ++q)
    ways[at(q)].resize(graph[q].numParameters);
  auto isParameter = [](const Origin &source) { return source.from == Origin::From::Parameter; };
  for (bool changed = true; std::exchange(changed, false);)
    for (int q = 1; q < size; ++q) {
      auto offer = [&](const Origin &source, const Decisions &way) {
        if (!isParameter(source))
          return;
        std::optional<Decisions> &known = ways[at(q)][static_cast<std::size_t>(source.number)];
        if (known && known->size() <= way.size())
          return;
        known = way;
        changed = true;
      };
      auto offerAll = [&](const std::vector<GraphStep> &steps, const Decisions &way) {
        for (const GraphStep &step : steps)
          for (const Origin &operand : step.operands)
            offer(operand, way);
      };
      offerAll(graph[q].steps, "");
      offer(graph[q].condition, "");
      for (const Origin &result : graph[q].results)
        offer(result, "");
      // Behind a gate, what follows without the limit.
      for (std::size_t slot = 0; slot < (graph[q].isGate() ? 1 : State::kNumEdges); ++slot) {
        const Edge &edge = graph[q].edges[slot];
        if (edge.to < 0)
          continue;
        const Decisions side = graph[q].isGate() ? "" : slot ? "1" : "0";
        offerAll(edge.steps, side);
        for (std::size_t k = 0; k < edge.arguments.size(); ++k)
          if (const std::optional<Decisions> &next = ways[at(edge.to)][k])
            offer(edge.arguments[k], side + *next);
      }
    }
  return ways;
}

std::size_t stepsOn(const Graph &graph, const Decisions &decisions) {
  std::size_t count = 0;
  Navigator navigator(graph);
  auto add = [&](const Navigator::Hops &hops) {
    for (auto [from, slot] : hops)
      count += graph[from].edges[slot].steps.size() + 1;
    if (navigator.state() >= 0)
      count += graph[navigator.state()].steps.size();
  };
  add(navigator.begin());
  for (std::size_t i = 0; i < decisions.size() && !navigator.isAtEnd(); ++i)
    add(navigator.take(decisions[i] == '1'));
  return count;
}

} // namespace calque::detail::native
