#include "frontend/native/Learner.h"
#include "absl/hash/hash.h"
#include "schema/HashTables.h"

#include <algorithm>

namespace calque::detail::native {

namespace {
// Decisions that are kept beyond those that were asked for, as further evidence.
constexpr std::size_t kBeyond = 8;
constexpr std::size_t kMostKeptSteps = 400'000;
constexpr std::size_t kMostAttacks = 250;
// If a path that is longer than this leaves the graph, the host may end a loop.
constexpr std::size_t kLongPath = 300;

constexpr char kUnlike[] =
    "its iterations or paths are not alike, as where a C++ number counts, or a std::vector or another "
    "C++ container grows in a loop: for (Tensor i : range(n)) counts by a tensor, and a "
    "TensorArray or scan() keeps what each iteration gives";
} // namespace

void Learner::giveUp(const schema::SourceLine &line) const {
  throw NotCaptured{suspected ? kCountsText : kUnlike, suspected.value_or(line), true};
}

const Path &Learner::follow(const Decisions &decisions) {
  if (auto found = paths.find(decisions); found != paths.end())
    return *found->second;
  if (++runs > limits.runs)
    throw NotCaptured{"it would have to be run too often", {}};
  last = run(decisions);
  steps += last.steps.size() + 10;
  if (runs > 1) {
    weighedSteps += last.steps.size();
    recorded += last.recorded;
  }
  shortest = std::min(shortest, last.steps.size());
  if (steps > limits.allSteps)
    giveUp(graph.size() > 1 ? graph[1].line : schema::SourceLine());
  if (keptSteps + last.steps.size() > kMostKeptSteps)
    return last;
  keptSteps += last.steps.size() + 1;
  return *paths.try_emplace(decisions, std::make_unique<Path>(std::move(last))).first->second;
}

// Only what is asked for is added where there are counts.
void Learner::record(const Decisions &decisions) {
  tree.insert(follow(decisions), decisions.size() + (gates.empty() && unrolled > 1 ? kBeyond : 0));
  if (!gates.empty())
    markGates(decisions);
}

std::vector<std::size_t> Learner::countsAfter(const Decisions &decisions) const {
  Navigator navigator(graph);
  navigator.begin();
  for (std::size_t i = 0; i < decisions.size() && !navigator.isAtEnd(); ++i)
    navigator.take(decisions[i] == '1');
  return navigator.counters();
}

void Learner::addEvidence(const Decisions &decisions) {
  record(decisions);
  // Where a state's own counts are others, what follows the next limit says nothing about it.
  std::vector<int> states;
  std::vector<std::vector<std::size_t>> counts;
  std::vector<std::size_t> nextGate; // by state on the way
  Navigator navigator(graph);
  navigator.begin();
  states.push_back(navigator.state());
  counts.push_back(navigator.counters());
  std::size_t done = 0;
  for (std::size_t i = 0; i < decisions.size() && !navigator.isAtEnd(); ++i) {
    navigator.take(decisions[i] == '1');
    if (!navigator.gates().empty())
      for (; done < states.size(); ++done)
        nextGate.push_back(i);
    states.push_back(navigator.state());
    counts.push_back(navigator.counters());
  }
  nextGate.resize(states.size(), decisions.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i] >= 0 && i < nextGate[i]) {
      const Decisions access = representatives[static_cast<std::size_t>(states[i])]->access();
      const bool isInPhase = nextGate[i] < decisions.size() && countsAfter(access) == counts[i];
      record(access + decisions.substr(i, isInPhase ? Decisions::npos : nextGate[i] - i));
    }
}

int Learner::addState(Node &node) {
  if (graph.size() > limits.states)
    giveUp(node.line);
  State state;
  state.isEnd = node.isEnd;
  state.throws = node.throws;
  state.end = node.end;
  state.line = node.line;
  graph.states.push_back(std::move(state));
  representatives.push_back(&node);
  return static_cast<int>(graph.size()) - 1;
}

// The state of a node: a known one that agrees with it, if there is one. A loop is preferred, and then what has most
// evidence.
int Learner::classify(Node &node) {
  int best = -1;
  bool bestIsLoop = false;
  std::size_t mostEvidence = 0;
  HashSet<const Node *> above;
  for (const Node *each = node.parent; each; each = each->parent)
    above.insert(each);
  for (std::size_t q = 1; q < graph.size(); ++q) {
    if (!representatives[q])
      continue;
    const Node &other = *representatives[q];
    bool isLoop = above.contains(&other);
    std::size_t evidence = 0;
    if (apart.contains({&node, &other}) || !agree(node, other, isLoop, evidence))
      continue;
    if (best < 0 || std::pair(isLoop, evidence) > std::pair(bestIsLoop, mostEvidence)) {
      best = static_cast<int>(q);
      bestIsLoop = isLoop;
      mostEvidence = evidence;
    }
  }
  return best >= 0 ? best : addState(node);
}

void Learner::expand(Node &node) {
  if (node.isEnd)
    return;
  for (char side : {'0', '1'})
    if (!node.child(side == '1')) {
      record(node.access() + side);
      if (!node.child(side == '1'))
        throw NotCaptured{"it recurses too deeply", node.line};
    }
}

void Learner::build() {
  graph = {};
  graph.states.emplace_back();
  for (const Counter &counter : counters)
    graph.limits.push_back(counter.limit);
  representatives.assign(1, nullptr);
  gatePlaces.clear();
  explained.clear();
  expand(tree.root());
  const int first = addState(tree.root());
  graph.states[0].edges[0].to = first;
  for (int q = 1; q < static_cast<int>(graph.size()); ++q) {
    if (graph[q].isGate() || graph[q].isEnd)
      continue;
    Node &node = *representatives[static_cast<std::size_t>(q)];
    expand(node);
    for (bool side : {false, true}) {
      const int to = targetOf(q, side ? "1" : "0", *node.children[side]); // may move the states
      graph[q].edges[side].to = to;
    }
  }
  graph.findLoops();
  applyKnownEffects();
  lastComplete = graph;
  markGates();
  samples_ = inferOperands(graph, tree.root(), representatives, prologueLimits, inference);
}

int Learner::targetOf(int owner, const std::string &edges, Node &behind) {
  expand(behind);
  const Gate *gate = gateAt({representatives[static_cast<std::size_t>(owner)], edges});
  if (!gate)
    return classify(behind);
  const int state = addGateState(owner, edges, gate->counter);
  Node *reached = tree.find(gate->access);
  int to = targetOf(owner, edges + 'n', behind);
  graph[state].edges[0].to = to;
  if (reached) {
    to = targetOf(owner, edges + 'r', *reached);
    graph[state].edges[1].to = to;
  }
  return state;
}

bool Learner::explains(const Decisions &decisions) {
  if (!explained.insert(decisions).second)
    return true;
  // Again, also where it was run before: that must give the same.
  if (confirmed.insert(decisions).second)
    paths.erase(decisions);
  const Path &path = follow(decisions);
  std::optional<Disagreement> at = disagreement(graph, path);
  if (!at)
    return true;
  shown.push_back(decisions);
  Decisions shorter;
  for (std::size_t i = 0; i < std::min(at->decisions, path.decisions.size()); ++i)
    shorter += path.decisions[i].taken ? '1' : '0';
  if (isCounted(*at, shorter))
    return false;
  if (shorter.size() > kLongPath && (!at->isOfValues || gates.empty()))
    suspected = path.decisions[shorter.size() - 1].line;
  // Where values alone differ, the states are right, and the path shows by itself what they take.
  if (at->isOfValues && std::exchange(lastOfValues, shorter) != shorter)
    record(shorter);
  else
    addEvidence(shorter);
  return false;
}

bool Learner::check() {
  Limits own = limits;
  own.weight = std::max<std::size_t>(recorded / (weighedSteps + 1), 1);
  // Fewer where each run is long, because the host goes through many iterations or its steps have regions.
  for (std::size_t *count : {&own.paths, &own.merged})
    *count = std::min(*count, limits.stepsOfRuns / (own.weight * shortest + 1));
  auto follow = [&](const Decisions &decisions) { return explains(decisions); };
  // What refuted graphs before does it again, one after the other.
  while (repeated < before.shown.size())
    if (!follow(before.shown[repeated++]))
      return false;
  if (before.graph != 0 && before.graph == shapeOf(graph))
    order.before = &before.iterations;
  return forEachRoute(graph, own, follow, iterations, order);
}

std::uint64_t Learner::shapeOf(const Graph &graph) {
  std::vector<std::size_t> shape(graph.limits);
  // Values from outside have other numbers in another trace.
  auto addOrigin = [&](const Origin &origin) {
    shape.push_back(static_cast<std::size_t>(origin.from) +
                    (origin.from == Origin::From::Outside ? 0 : 8 * static_cast<std::size_t>(origin.number)));
  };
  auto add = [&](const std::vector<GraphStep> &steps) {
    shape.push_back(steps.size());
    for (const GraphStep &step : steps)
      std::ranges::for_each(step.operands, addOrigin);
  };
  for (const State &state : graph.states) {
    shape.insert(shape.end(), {state.numParameters, static_cast<std::size_t>(state.counter + 1), state.isEnd});
    add(state.steps);
    addOrigin(state.condition);
    std::ranges::for_each(state.results, addOrigin);
    for (const Edge &edge : state.edges) {
      shape.push_back(static_cast<std::size_t>(edge.to + 1));
      add(edge.steps);
      std::ranges::for_each(edge.arguments, addOrigin);
    }
  }
  return absl::HashOf(shape) | 1;
}

Learner::Learnt Learner::result(const CounterWords &words) const {
  Learnt learnt{graph, samples_};
  for (std::size_t q = 1; q < graph.size(); ++q) {
    State &state = learnt.graph.states[q];
    state.iterations = iterations[q];
    if (!representatives[q])
      continue;
    state.marks = representatives[q]->marks;
    if (state.marks.isDeclared)
      state.iterations = std::nullopt;
  }
  separateLoops(learnt.graph, learnt.samples);
  addCounters(learnt.graph, learnt.samples, words);
  moveStepsBehindLoops(learnt.graph, learnt.samples, representatives, words);
  joinSteps(learnt.graph, learnt.samples);
  return learnt;
}

void Learner::learn() {
  record("");
  paths.clear(); // the same must come again
  record("");
  for (std::size_t round = 0; round < kMostAttacks; ++round) {
    try {
      build();
      if (applyEffects() && check())
        return;
    } catch (const Conflict &conflict) {
      for (const Node *node : {conflict.a, conflict.b})
        if (node)
          addEvidence(node->access());
      // A path whose values differed has shown that states do, too.
      if (const Decisions shown = std::exchange(lastOfValues, {}); !shown.empty())
        addEvidence(shown);
    }
  }
  giveUp(graph.size() > 1 ? graph[1].line : schema::SourceLine());
}

} // namespace calque::detail::native
