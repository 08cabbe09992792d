#include "frontend/native/Graph.h"

#include <algorithm>

namespace calque::detail::native {

//===-- Loops -----------------------------------------------------------------------------------===//

void Graph::findLoops() {
  const int count = static_cast<int>(size());
  std::vector<std::vector<int>> before(size());
  for (int q = 0; q < count; ++q)
    (*this)[q].forEachEdge(
        [&](std::size_t, const Edge &edge) { before[static_cast<std::size_t>(edge.to)].push_back(q); });
  // The states that every way to a state leads through.
  std::vector<std::vector<bool>> dominators(size(), std::vector<bool>(size(), true));
  dominators[kStart].assign(size(), false);
  dominators[kStart][kStart] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t q = 1; q < size(); ++q) {
      std::vector<bool> common(size(), !before[q].empty());
      for (int from : before[q])
        for (std::size_t i = 0; i < size(); ++i)
          common[i] = common[i] && dominators[static_cast<std::size_t>(from)][i];
      common[q] = true;
      if (common != dominators[q]) {
        dominators[q] = std::move(common);
        changed = true;
      }
    }
  }
  loops.assign(size(), {});
  innermost.assign(size(), -1);
  for (int q = 1; q < count; ++q)
    for (int from : before[static_cast<std::size_t>(q)]) {
      if (!dominators[static_cast<std::size_t>(from)][static_cast<std::size_t>(q)])
        continue;
      std::set<int> &loop = loops[static_cast<std::size_t>(q)];
      loop.insert(q);
      std::vector<int> work{from};
      while (!work.empty()) {
        int state = work.back();
        work.pop_back();
        if (loop.insert(state).second)
          for (int each : before[static_cast<std::size_t>(state)])
            work.push_back(each);
      }
    }
  for (int q = 1; q < count; ++q)
    for (int state : loopOf(q)) {
      int &known = innermost[static_cast<std::size_t>(state)];
      if (known < 0 || loopOf(q).size() < loopOf(known).size())
        known = q;
    }
}

std::vector<int> Graph::gatesOn(int state, bool side) const {
  std::vector<int> found, open{(*this)[state].edges[side].to};
  while (!open.empty()) {
    const int gate = open.back();
    open.pop_back();
    if (gate < 0 || !(*this)[gate].isGate())
      continue;
    found.push_back(gate);
    (*this)[gate].forEachEdge([&](std::size_t, const Edge &edge) { open.push_back(edge.to); });
  }
  return found;
}

//===-- Ways through a graph --------------------------------------------------------------------===//

const Navigator::Hops &Navigator::begin() {
  hops.clear();
  hop(Graph::kStart, 0);
  return hops;
}

const Navigator::Hops &Navigator::take(bool side) {
  hops.clear();
  hop(state_, side);
  return hops;
}

void Navigator::hop(int from, std::size_t slot) {
  const Edge &edge = graph[from].edges[slot];
  hops.push_back({from, slot});
  for (int counter : edge.resets)
    counts[static_cast<std::size_t>(counter)] = 0;
  state_ = edge.to;
  if (state_ < 0 || !graph[state_].isGate())
    return;
  const auto counter = static_cast<std::size_t>(graph[state_].counter);
  const bool isReached = ++counts[counter] == graph.limits[counter];
  if (isReached)
    counts[counter] = 0;
  hop(state_, isReached);
}

std::string Navigator::gates() const {
  std::string decided;
  for (auto [from, slot] : hops)
    if (graph[from].isGate())
      decided += slot ? 'r' : 'n';
  return decided.find('r') == std::string::npos ? std::string() : decided;
}

namespace {
// Follows a path through a graph.
class Walk {
public:
  Walk(const Graph &graph, const Path &path) : graph(graph), path(path), navigator(graph) {}

  std::optional<Disagreement> run() {
    bool agrees = follow(navigator.begin());
    while (agrees && at.decisions < path.decisions.size()) {
      const Decision &decision = path.decisions[at.decisions];
      if (navigator.state() < 0)
        return at;
      const State &state = graph[navigator.state()];
      agrees = !state.isEnd && valueOf(state.condition) == decision.condition;
      at.isOfValues = !state.isEnd;
      if (!agrees)
        break;
      ++at.decisions;
      agrees = follow(navigator.take(decision.taken));
    }
    if (navigator.state() < 0)
      return at;
    const State &state = graph[navigator.state()];
    if (agrees && state.isEnd && state.end == path.end) {
      at.isOfValues = true;
      agrees = areEqual(state.results, path.results);
      if (agrees)
        return std::nullopt;
    }
    return at;
  }

private:
  bool follow(const Navigator::Hops &hops) {
    const bool isLast = at.decisions == path.decisions.size();
    const std::size_t limit = isLast ? path.steps.size() : path.decisions[at.decisions].position;
    for (auto [from, slot] : hops) {
      const Edge &edge = graph[from].edges[slot];
      at.from = from;
      at.slot = slot;
      at.isOfValues = false;
      if (!steps(edge.steps, limit))
        return false;
      std::vector<Value> next;
      next.reserve(edge.arguments.size());
      for (const Origin &argument : edge.arguments)
        next.push_back(valueOf(argument));
      parameters = std::move(next);
      base = position < path.steps.size() ? path.steps[position].first : path.numValues;
    }
    if (navigator.state() < 0)
      return false;
    const State &state = graph[navigator.state()];
    return steps(state.steps, limit) && position == limit && state.isEnd == isLast;
  }
  Value valueOf(const Origin &source) const {
    switch (source.from) {
    case Origin::From::Outside:
      return source.number;
    case Origin::From::Parameter:
      return parameters[static_cast<std::size_t>(source.number)];
    case Origin::From::Local:
      return base + source.number;
    case Origin::From::None:
      return kNoValue;
    }
    return kNoValue;
  }
  template <typename Sources, typename Values> bool areEqual(const Sources &sources, const Values &values) const {
    return std::equal(sources.begin(), sources.end(), values.begin(), values.end(),
                      [&](const Origin &source, Value value) { return valueOf(source) == value; });
  }
  bool steps(const std::vector<GraphStep> &wanted, std::size_t limit) {
    at.isOfValues = false;
    for (const GraphStep &step : wanted) {
      if (position == limit || step.kind != path.steps[position].kind)
        return false;
      at.isOfValues = !areEqual(step.operands, path.steps[position].operands);
      if (at.isOfValues)
        return false;
      ++position;
    }
    return true;
  }

  const Graph &graph;
  const Path &path;
  Navigator navigator;
  std::size_t position = 0;
  Value base = 0;
  std::vector<Value> parameters;
  Disagreement at;
};
} // namespace

std::optional<Disagreement> disagreement(const Graph &graph, const Path &path) { return Walk(graph, path).run(); }

} // namespace calque::detail::native
