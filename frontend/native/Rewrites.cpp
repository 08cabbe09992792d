#include "frontend/native/Rewrites.h"

#include <algorithm>
#include <map>
#include <optional>

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
  Counters(Graph &graph, std::vector<std::vector<Sample>> &samples, const std::vector<Node *> &representatives,
           const CounterWords &words)
      : graph(graph), samples(samples), representatives(representatives), words(words), zero(words.constant(0)),
        one(words.constant(1)) {}

  void run() {
    const int count = static_cast<int>(graph.size());
    for (int q = 1; q < count; ++q)
      for (std::size_t i = 0; i < 3; ++i)
        if (std::size_t limit = std::exchange(graph[q].limits[i], 0)) {
          graph.findLoops();
          if (i == 0)
            countArrivals(q, limit);
          else
            countUses(q, i - 1, limit);
        }
  }

private:
  Origin outside(Value value) const { return {From::Outside, value}; }

  std::size_t addCounter(int state) {
    samples[static_cast<std::size_t>(state)].push_back({nullptr, zero});
    return graph[state].numParameters++;
  }

  // Adds a counter to the states of a loop, which other ways into it begin at 0. Returns its number, by state.
  std::vector<std::size_t> carry(const std::set<int> &loop) {
    std::vector<std::size_t> counter(graph.size());
    for (int state : loop)
      counter[static_cast<std::size_t>(state)] = addCounter(state);
    for (int from = 0; from < static_cast<int>(graph.size()); ++from)
      for (Edge &edge : graph[from].edges)
        if (edge.to >= 0 && loop.contains(edge.to))
          edge.arguments.push_back(loop.contains(from) ? parameter(counter[static_cast<std::size_t>(from)])
                                                       : outside(zero));
    return counter;
  }

  GraphStep advance(Origin counter, Value number) const { return {words.add, {counter, outside(one)}, number}; }

  // A state that compares its last parameter.
  void compare(State &gate, std::size_t limit) {
    gate.steps.push_back(
        {words.equal,
         {parameter(gate.numParameters - 1), outside(words.constant(static_cast<std::int64_t>(limit)))},
         0});
    gate.condition = local(0);
  }

  void countArrivals(int begin, std::size_t limit) {
    const std::set<int> loop = graph.loopOf(begin);
    const int gate = addState(graph, samples, graph[begin].line);
    const std::size_t own = graph[begin].numParameters;
    std::vector<std::size_t> counter = carry(loop);
    samples[static_cast<std::size_t>(gate)] = samples[static_cast<std::size_t>(begin)];
    graph[gate].numParameters = own + 1;
    // All ways back lead through the gate.
    for (int from : loop)
      for (std::size_t slot = 0; slot < State::kNumEdges; ++slot) {
        Edge &edge = graph[from].edges[slot];
        if (edge.to != begin)
          continue;
        if (slot == State::kArrived && from == begin) {
          edge.arguments.back() = outside(zero);
          continue;
        }
        const Value next = valuesOf(graph[from].steps, words) + valuesOf(edge.steps, words);
        edge.steps.push_back(advance(edge.arguments.back(), next));
        edge.arguments.back() = local(next);
        edge.to = gate;
      }
    compare(graph[gate], limit);
    Edge onwards;
    onwards.to = begin;
    for (std::size_t k = 0; k <= own; ++k)
      onwards.arguments.push_back(parameter(k));
    Edge leaves = std::exchange(graph[begin].edges[State::kArrived], {});
    rename(leaves, [&](Origin source) { return source.from == From::Local ? local(source.number + 1) : source; });
    graph[gate].edges[0] = std::move(onwards);
    graph[gate].edges[1] = std::move(leaves);
  }

  void countUses(int q, std::size_t side, std::size_t limit) {
    const std::set<int> loop = graph.loopOf(graph.innermost[static_cast<std::size_t>(q)]);
    const int gate = addState(graph, samples, graph[q].line);
    std::vector<std::size_t> counter = carry(loop);
    const std::size_t own = graph[q].numParameters; // with the counter
    const Value prologue = valuesOf(graph[q].steps, words);
    Edge normal = std::exchange(graph[q].edges[side], {}),
         last = std::exchange(graph[q].edges[State::kUsed + side], {});
    if (loop.contains(last.to))
      last.arguments.back() = outside(zero);
    // The gate takes all that the state has.
    Edge into;
    into.to = gate;
    std::vector<Sample> &gateSamples = samples[static_cast<std::size_t>(gate)];
    gateSamples = samples[static_cast<std::size_t>(q)];
    for (std::size_t k = 0; k < own; ++k)
      into.arguments.push_back(parameter(k));
    const Node *node = representatives[static_cast<std::size_t>(q)];
    const Value begin = node->endValue - prologue;
    std::vector<std::size_t> place(static_cast<std::size_t>(prologue));
    for (const GraphStep &step : graph[q].steps)
      for (std::size_t r = 0; r < words.numResults(step.kind); ++r) {
        const Value number = step.local + static_cast<Value>(r);
        place[static_cast<std::size_t>(number)] = into.arguments.size();
        into.arguments.push_back(local(number));
        gateSamples.push_back({node, begin + number});
      }
    into.steps.push_back(advance(parameter(own - 1), prologue));
    into.arguments.push_back(local(prologue));
    gateSamples.push_back({nullptr, zero});
    graph[gate].numParameters = into.arguments.size();
    auto inGate = [&](Origin source) {
      if (source.from == From::Parameter && source.number == static_cast<Value>(own - 1))
        return parameter(graph[gate].numParameters - 1); // the counter
      if (source.from != From::Local)
        return source;
      return source.number < prologue ? parameter(place[static_cast<std::size_t>(source.number)])
                                      : local(source.number - prologue + 1);
    };
    rename(normal, inGate);
    rename(last, inGate);
    compare(graph[gate], limit);
    graph[gate].edges[0] = std::move(normal);
    graph[gate].edges[1] = std::move(last);
    graph[q].edges[side] = std::move(into);
  }

  Graph &graph;
  std::vector<std::vector<Sample>> &samples;
  const std::vector<Node *> &representatives;
  const CounterWords &words;
  const Value zero, one;
};

} // namespace

void addCounters(Graph &graph, std::vector<std::vector<Sample>> &samples, const std::vector<Node *> &representatives,
                 const CounterWords &words) {
  Counters(graph, samples, representatives, words).run();
}

void moveStepsBehindLoops(Graph &graph, std::vector<std::vector<Sample>> &samples,
                          const std::vector<Node *> &representatives, const CounterWords &words) {
  graph.findLoops();
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
          samples[static_cast<std::size_t>(behind)].push_back(
              source.from == From::Parameter
                  ? samples[static_cast<std::size_t>(from)][static_cast<std::size_t>(source.number)]
                  : Sample{node, node->endValue - prologue + source.number});
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
