#include "frontend/native/Rewrites.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace calque::detail::native {

namespace {

using From = Origin::From;

Origin parameter(std::size_t k) { return {From::Parameter, static_cast<Value>(k)}; }
Origin local(Value number) { return {From::Local, number}; }

// The number of values of steps.
Value valuesOf(const std::vector<GraphStep> &steps, const CounterWords &words) {
  Value count = 0;
  for (const GraphStep &step : steps)
    count += static_cast<Value>(std::max<std::size_t>(words.numResults(step.kind), 1));
  return count;
}

// Gives the values that an edge takes, and those of its steps, other sources.
template <typename Rename> void rename(Edge &edge, Rename rename) {
  for (GraphStep &step : edge.steps) {
    step.local = rename(local(step.local)).number;
    for (Origin &operand : step.operands)
      operand = rename(operand);
  }
  for (Origin &argument : edge.arguments)
    argument = rename(argument);
}

int addState(Graph &graph, std::vector<std::vector<Sample>> &samples, schema::SourceLine line) {
  State state;
  state.line = line;
  graph.states.push_back(std::move(state));
  samples.emplace_back();
  return static_cast<int>(graph.size()) - 1;
}

class Counters {
public:
  Counters(Graph &graph, std::vector<std::vector<Sample>> &samples, const CounterWords &words)
      : graph(graph), samples(samples), words(words), zero(words.constant(0)), one(words.constant(1)) {}

  void run() {
    for (int counter = 0; counter < static_cast<int>(graph.limits.size()); ++counter)
      carry(counter);
    for (State &state : graph.states)
      for (Edge &edge : state.edges)
        edge.resets.clear();
  }

private:
  Origin outside(Value value) const { return {From::Outside, value}; }
  int count() const { return static_cast<int>(graph.size()); }
  bool resets(const Edge &edge, int counter) const {
    return std::ranges::find(edge.resets, counter) != edge.resets.end();
  }
  // A gate's second edge is taken where the counter has come to its limit, and begins anew.
  bool beginsAnew(int from, std::size_t slot, int counter) const {
    return resets(graph[from].edges[slot], counter) || (graph[from].counter == counter && slot == 1);
  }

  // The states that have a counter: it may have counted there, and one of its gates may come before it begins anew.
  std::vector<bool> carriers(int counter) const {
    std::vector<bool> ahead(graph.size()), behind(graph.size());
    for (int q = 0; q < count(); ++q)
      if (graph[q].counter == counter)
        ahead[static_cast<std::size_t>(q)] = behind[static_cast<std::size_t>(q)] = true;
    for (bool changed = true; std::exchange(changed, false);)
      for (int q = 1; q < count(); ++q)
        graph[q].forEachEdge([&](std::size_t slot, const Edge &edge) {
          if (beginsAnew(q, slot, counter))
            return;
          const auto from = static_cast<std::size_t>(q), to = static_cast<std::size_t>(edge.to);
          changed |= (ahead[to] && !ahead[from]) || (behind[from] && !behind[to]);
          ahead[from] = ahead[from] || ahead[to];
          behind[to] = behind[to] || behind[from];
        });
    std::vector<bool> both(graph.size());
    for (std::size_t q = 0; q < both.size(); ++q)
      both[q] = ahead[q] && behind[q];
    return both;
  }

  void carry(int counter) {
    const std::vector<bool> carries = carriers(counter);
    std::vector<std::size_t> number(graph.size()); // of the counter among the parameters
    for (int q = 0; q < count(); ++q)
      if (carries[static_cast<std::size_t>(q)]) {
        number[static_cast<std::size_t>(q)] = graph[q].numParameters++;
        samples[static_cast<std::size_t>(q)].push_back({nullptr, zero});
      }
    for (int from = 0; from < count(); ++from)
      for (std::size_t slot = 0; slot < State::kNumEdges; ++slot) {
        Edge &edge = graph[from].edges[slot];
        if (edge.to < 0 || !carries[static_cast<std::size_t>(edge.to)])
          continue;
        Origin value = outside(zero);
        if (carries[static_cast<std::size_t>(from)] && !beginsAnew(from, slot, counter))
          value = parameter(number[static_cast<std::size_t>(from)]);
        if (graph[edge.to].counter == counter) { // counts
          const Value next = valuesOf(graph[from].steps, words) + valuesOf(edge.steps, words);
          edge.steps.push_back({words.add, {value, outside(one)}, next});
          value = local(next);
        }
        edge.arguments.push_back(value);
      }
    const auto limit = static_cast<std::int64_t>(graph.limits[static_cast<std::size_t>(counter)]);
    for (int q = 0; q < count(); ++q)
      if (graph[q].counter == counter) {
        State &gate = graph[q];
        for (Edge &edge : gate.edges)
          rename(edge, [](Origin source) { return source.from == From::Local ? local(source.number + 1) : source; });
        gate.steps.push_back(
            {words.equal, {parameter(number[static_cast<std::size_t>(q)]), outside(words.constant(limit))}, 0});
        gate.condition = local(0);
        gate.counter = -1;
      }
  }

  Graph &graph;
  std::vector<std::vector<Sample>> &samples;
  const CounterWords &words;
  const Value zero, one;
};

} // namespace

void addCounters(Graph &graph, std::vector<std::vector<Sample>> &samples, const CounterWords &words) {
  Counters(graph, samples, words).run();
}

void moveStepsBehindLoops(Graph &graph, std::vector<std::vector<Sample>> &samples,
                          const std::vector<Node *> &representatives, const CounterWords &words) {
  graph.findLoops();
  const Value zero = words.constant(0);
  auto leaves = [&](int from, int to) {
    for (std::size_t q = 1; q < graph.loops.size(); ++q)
      if (graph.loops[q].contains(from) && !graph.loops[q].contains(to))
        return true;
    return false;
  };
  const int count = static_cast<int>(graph.size());
  for (int from = 1; from < count; ++from)
    for (std::size_t side = 0; side < 2; ++side) {
      const int to = graph[from].edges[side].to;
      if (to < 0 || graph[to].throws || graph[from].edges[side].steps.empty() || !leaves(from, to))
        continue;
      const int behind = addState(graph, samples, graph[from].line);
      Edge edge = std::exchange(graph[from].edges[side], {});
      const Value prologue = valuesOf(graph[from].steps, words);
      std::vector<Origin> taken;
      rename(edge, [&](Origin source) {
        if (source.from == From::Local && source.number >= prologue)
          return local(source.number - prologue);
        if (source.from != From::Local && source.from != From::Parameter)
          return source;
        auto found = std::ranges::find(taken, source);
        if (found == taken.end()) {
          taken.push_back(source);
          found = taken.end() - 1;
          const Node *node = from < static_cast<int>(representatives.size())
                                 ? representatives[static_cast<std::size_t>(from)]
                                 : nullptr;
          // What a gate computes is about its counter.
          samples[static_cast<std::size_t>(behind)].push_back(
              source.from == From::Parameter
                  ? samples[static_cast<std::size_t>(from)][static_cast<std::size_t>(source.number)]
                  : Sample{node, node ? node->endValue - prologue + source.number : zero});
        }
        return parameter(static_cast<std::size_t>(found - taken.begin()));
      });
      graph[behind].numParameters = taken.size();
      graph[behind].edges[0] = std::move(edge);
      graph[from].edges[side].to = behind;
      graph[from].edges[side].arguments = std::move(taken);
    }
}

namespace {

// The states of the loop that one edge closes: those that come to it without the loop's begin.
std::set<int> bodyOf(const std::vector<std::vector<int>> &before, int begin, int from) {
  std::set<int> body{begin};
  std::vector<int> work{from};
  while (!work.empty()) {
    const int state = work.back();
    work.pop_back();
    if (body.insert(state).second)
      work.insert(work.end(), before[static_cast<std::size_t>(state)].begin(),
                  before[static_cast<std::size_t>(state)].end());
  }
  return body;
}

// Notes the gates that end the innermost loop around them, in which their counters do not begin anew.
void findEndingGates(Graph &graph) {
  for (int q = 1; q < static_cast<int>(graph.size()); ++q) {
    State &gate = graph[q];
    const int begin = gate.isGate() ? graph.innermost[static_cast<std::size_t>(q)] : -1;
    if (begin < 0)
      continue;
    const std::set<int> &loop = graph.loopOf(begin);
    bool isReset = false;
    for (int state : loop)
      graph[state].forEachEdge([&](std::size_t, const Edge &edge) {
        isReset =
            isReset || (loop.contains(edge.to) && std::ranges::find(edge.resets, gate.counter) != edge.resets.end());
      });
    if (!isReset && !loop.contains(gate.edges[1].to))
      gate.iterations = std::nullopt;
  }
}

// Of the edges that close loops with one begin: those of an inner loop, and the line of the outer loop. The edges of
// the outer loop pass a decision that ends that loop, or a gate of the counter that does, and those of the inner loop
// do not.
struct InnerLoop {
  std::vector<std::pair<int, std::size_t>> edges;
  schema::SourceLine lineAround;
};
InnerLoop innerLoopAt(const Graph &graph, int begin) {
  std::vector<std::vector<int>> before(graph.size());
  for (int q = 0; q < static_cast<int>(graph.size()); ++q)
    graph[q].forEachEdge(
        [&](std::size_t, const Edge &edge) { before[static_cast<std::size_t>(edge.to)].push_back(q); });
  std::vector<std::pair<std::pair<int, std::size_t>, std::set<int>>> closing;
  for (int q : graph.loopOf(begin))
    graph[q].forEachEdge([&](std::size_t slot, const Edge &edge) {
      if (edge.to == begin)
        closing.emplace_back(std::pair(q, slot), bodyOf(before, begin, q));
    });
  for (int ending : graph.loopOf(begin)) {
    bool leaves = false;
    graph[ending].forEachEdge(
        [&](std::size_t, const Edge &edge) { leaves = leaves || !graph.loopOf(begin).contains(edge.to); });
    if (ending == begin || graph[ending].iterations || !leaves)
      continue;
    std::vector<std::pair<int, std::size_t>> inner;
    for (const auto &[edge, body] : closing)
      if (std::ranges::none_of(body, [&](int q) {
            return q == ending || (graph[q].isGate() && graph[q].counter == graph[ending].counter);
          }))
        inner.push_back(edge);
    if (!inner.empty() && inner.size() < closing.size())
      return {std::move(inner), graph[ending].line};
  }
  return {};
}

} // namespace

void separateLoops(Graph &graph, std::vector<std::vector<Sample>> &samples) {
  for (bool changed = true; std::exchange(changed, false);) {
    graph.findLoops();
    findEndingGates(graph);
    for (int q = 1; q < static_cast<int>(graph.size()) && !changed; ++q) {
      if (graph.loopOf(q).empty())
        continue;
      const auto [inner, lineAround] = innerLoopAt(graph, q);
      if (inner.empty())
        continue;
      const int begin = addState(graph, samples, lineAround);
      samples[static_cast<std::size_t>(begin)] = samples[static_cast<std::size_t>(q)];
      graph[begin].numParameters = graph[q].numParameters;
      graph[begin].iterations = graph[q].iterations.value_or(0);
      for (int from = 0; from < begin; ++from)
        for (std::size_t slot = 0; slot < State::kNumEdges; ++slot)
          if (graph[from].edges[slot].to == q && std::ranges::find(inner, std::pair(from, slot)) == inner.end())
            graph[from].edges[slot].to = begin;
      Edge &onwards = graph[begin].edges[0];
      onwards.to = q;
      for (std::size_t k = 0; k < graph[q].numParameters; ++k)
        onwards.arguments.push_back(parameter(k));
      changed = true;
    }
  }
}

namespace {

// The steps with which several edges end.
class EqualEnd {
public:
  explicit EqualEnd(std::vector<Edge *> edges) : edges(std::move(edges)) {
    for (length = this->edges[0]->steps.size(); length > 0 && !isEqualFrom(1);)
      --length;
  }
  std::size_t size() const { return length; }

  // Moves them to a new edge, which takes as parameters what the others give it.
  Edge take() {
    Edge end;
    end.to = edges[0]->to;
    std::vector<std::vector<Origin>> taken(edges.size()); // of each edge, by parameter
    auto renamed = [&](auto sourceOf) {
      std::vector<Origin> sources;
      for (const Edge *edge : edges)
        sources.push_back(sourceOf(*edge));
      for (std::size_t e = 0; e < edges.size(); ++e)
        if (isInside(*edges[e], sources[e]))
          return local(sources[e].number - firstOf(*edges[e]));
      const bool areOne = std::ranges::all_of(sources, [&](const Origin &source) { return source == sources[0]; });
      if (areOne && (sources[0].from == From::Outside || sources[0].from == From::None))
        return sources[0];
      auto [found, isNew] = numbers.try_emplace(keyOf(sources), taken[0].size());
      for (std::size_t e = 0; isNew && e < edges.size(); ++e)
        taken[e].push_back(sources[e]);
      return parameter(found->second);
    };
    for (std::size_t i = 0; i < length; ++i) {
      GraphStep step = stepOf(*edges[0], i);
      step.local -= firstOf(*edges[0]);
      for (std::size_t k = 0; k < step.operands.size(); ++k)
        step.operands[k] = renamed([&](const Edge &edge) { return stepOf(edge, i).operands[k]; });
      end.steps.push_back(std::move(step));
    }
    for (std::size_t k = 0; k < edges[0]->arguments.size(); ++k)
      end.arguments.push_back(renamed([&](const Edge &edge) { return edge.arguments[k]; }));
    for (std::size_t e = 0; e < edges.size(); ++e) {
      edges[e]->steps.resize(edges[e]->steps.size() - length);
      edges[e]->arguments = std::move(taken[e]);
    }
    return end;
  }

private:
  const GraphStep &stepOf(const Edge &edge, std::size_t i) const { return edge.steps[edge.steps.size() - length + i]; }
  Value firstOf(const Edge &edge) const { return stepOf(edge, 0).local; }
  bool isInside(const Edge &edge, const Origin &source) const {
    return source.from == From::Local && source.number >= firstOf(edge);
  }
  static std::vector<std::pair<int, Value>> keyOf(const std::vector<Origin> &sources) {
    std::vector<std::pair<int, Value>> key;
    for (const Origin &source : sources)
      key.emplace_back(static_cast<int>(source.from), source.number);
    return key;
  }

  // Whether the last `length` steps of all edges do the same. If not, `length` becomes smaller, or is to.
  bool isEqualFrom(std::size_t second) {
    const Edge &a = *edges[0];
    for (std::size_t e = second; e < edges.size(); ++e) {
      const Edge &b = *edges[e];
      length = std::min(length, b.steps.size());
      for (std::size_t i = 0; i < length; ++i)
        if (const std::size_t last = length - 1 - i; stepOf(a, last).kind != stepOf(b, last).kind) {
          length = i;
          break;
        }
    }
    if (length == 0)
      return true;
    // What one of them takes from these steps, all do; nothing where it is not looked at.
    for (std::size_t e = second; e < edges.size(); ++e) {
      const Edge &b = *edges[e];
      for (std::size_t i = 0; i < length; ++i)
        for (std::size_t k = 0; k < stepOf(a, i).operands.size(); ++k)
          if (!areAlike(b, stepOf(a, i).operands[k], stepOf(b, i).operands[k]))
            return false;
      for (std::size_t k = 0; k < a.arguments.size(); ++k)
        if (!areAlike(b, a.arguments[k], b.arguments[k]))
          return false;
    }
    return true;
  }
  bool areAlike(const Edge &b, const Origin &x, const Origin &y) const {
    const bool isOfA = isInside(*edges[0], x), isOfB = isInside(b, y);
    return isOfA == isOfB && (!isOfA || x.number - firstOf(*edges[0]) == y.number - firstOf(b));
  }

  std::vector<Edge *> edges;
  std::size_t length = 0;
  std::map<std::vector<std::pair<int, Value>>, std::size_t> numbers; // of parameters
};

} // namespace

void joinSteps(Graph &graph, std::vector<std::vector<Sample>> &samples) {
  graph.findLoops();
  const int count = static_cast<int>(graph.size());
  for (int q = 1; q < count; ++q)
    for (bool isInside : {false, true}) {
      if (graph.loopOf(q).empty())
        continue;
      const int before = addState(graph, samples, graph[q].line);
      std::vector<Edge *> edges;
      for (int from = 0; from < count; ++from)
        if (graph.loopOf(q).contains(from) == isInside)
          for (Edge &edge : graph[from].edges)
            if (edge.to == q)
              edges.push_back(&edge);
      std::optional<EqualEnd> end;
      if (edges.size() > 1)
        end.emplace(edges);
      if (!end || end->size() == 0) {
        graph.states.pop_back();
        samples.pop_back();
        continue;
      }
      graph[before].edges[0] = end->take();
      graph[before].numParameters = edges[0]->arguments.size();
      for (Edge *edge : edges)
        edge->to = before;
    }
}

} // namespace calque::detail::native
