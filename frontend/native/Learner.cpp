#include "frontend/native/Learner.h"
#include "schema/HashTables.h"

#include <algorithm>

namespace calque::detail::native {

namespace {
// Decisions that are kept beyond those that were asked for, as further evidence.
constexpr std::size_t kBeyond = 8;
constexpr std::size_t kMostKeptSteps = 400'000;
constexpr std::size_t kMostAttacks = 40;
// A path that is longer than this when it leaves the graph is taken for a loop that the host ends.
constexpr std::size_t kLongPath = 300;

// Counts up to this are unrolled.
constexpr std::size_t kUnrolled = 12;

constexpr char kUnlike[] =
    "its iterations or paths are not alike, as where a C++ number counts, or a std::vector or another "
    "C++ container grows in a loop: for (Tensor i : range(n)) counts by a tensor, and a "
    "TensorArray or scan() keeps what each iteration gives";
constexpr char kCounts[] =
    "the host ends or changes the loop by a count that no tensor shows and that is not always the "
    "same: for (Tensor i : range(n)) counts by a tensor";
} // namespace

const Path &Learner::follow(const Decisions &decisions) {
  if (auto found = paths.find(decisions); found != paths.end())
    return *found->second;
  if (++runs > limits.runs)
    throw NotCaptured{"it would have to be run too often", {}};
  last = run(decisions);
  steps += last.steps.size() + 10;
  shortest = std::min(shortest, last.steps.size());
  if (steps > limits.allSteps)
    throw NotCaptured{kUnlike, graph.size() > 1 ? graph[1].line : schema::SourceLine()};
  if (keptSteps + last.steps.size() > kMostKeptSteps)
    return last;
  keptSteps += last.steps.size() + 1;
  return *paths.try_emplace(decisions, std::make_unique<Path>(std::move(last))).first->second;
}

// Only what is asked for is added where there are counts, and nothing behind one that is reached in another way.
void Learner::record(const Decisions &decisions) {
  const Path &path = follow(decisions);
  if (bounds.empty())
    return tree.insert(path, decisions.size() + kBeyond);
  tree.insert(path, isComplete ? knownGates(decisions) : decisions.size());
}

std::size_t Learner::knownGates(const Decisions &decisions) const {
  Navigator navigator(graph);
  navigator.begin();
  for (std::size_t i = 0; i < decisions.size() && !graph[navigator.state()].isEnd; ++i) {
    for (auto [state, slot] : navigator.take(decisions[i] == '1'))
      if (slot >= State::kArrived) {
        const Node *node = tree.find(decisions.substr(0, i + 1));
        if (!node || node->gate != slot)
          return i;
      }
  }
  return decisions.size();
}

void Learner::addEvidence(const Decisions &decisions) {
  record(decisions);
  // A state's own count begins elsewhere: what follows the next one says nothing about it.
  std::vector<int> states;
  std::vector<std::size_t> nextGate; // by state on the way
  Navigator navigator(graph);
  navigator.begin();
  states.push_back(navigator.state());
  std::size_t done = 0;
  for (std::size_t i = 0; i < decisions.size() && !graph[navigator.state()].isEnd; ++i) {
    bool isGate = false;
    for (auto [state, slot] : navigator.take(decisions[i] == '1'))
      isGate |= slot >= State::kArrived;
    if (isGate)
      for (; done < states.size(); ++done)
        nextGate.push_back(i);
    states.push_back(navigator.state());
  }
  nextGate.resize(states.size(), decisions.size());
  for (std::size_t i = 0; i < states.size() && i < nextGate[i]; ++i)
    record(representatives[static_cast<std::size_t>(states[i])]->access() + decisions.substr(i, nextGate[i] - i));
}

int Learner::addState(Node &node) {
  if (graph.size() > limits.states)
    throw NotCaptured{kUnlike, node.line};
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

void Learner::build() {
  graph.states.clear();
  representatives.clear();
  explained.clear();
  graph.states.emplace_back();
  isComplete = false;
  representatives.push_back(nullptr);
  auto expand = [&](Node &node) {
    if (node.isEnd)
      return;
    for (char side : {'0', '1'})
      if (!node.child(side == '1')) {
        record(node.access() + side);
        if (!node.child(side == '1'))
          throw NotCaptured{"it recurses too deeply", node.line};
      }
  };
  expand(tree.root());
  graph.states[0].edges[0].to = addState(tree.root());
  for (std::size_t q = 1; q < graph.size(); ++q) {
    Node &node = *representatives[q];
    if (node.isEnd)
      continue;
    expand(node);
    for (bool side : {false, true}) {
      Node &child = *node.children[side];
      expand(child);
      int to = classify(child); // may move the states
      graph.states[q].edges[side].to = to;
    }
    for (const Bound &bound : bounds)
      if (bound.state == &node)
        if (Node *behind = tree.find(bound.access)) {
          expand(*behind);
          int to = classify(*behind);
          graph.states[q].edges[bound.slot].to = to;
          graph.states[q].limits[bound.slot - State::kArrived] = bound.count;
        }
  }
  graph.findLoops();
  isComplete = true;
  samples_ = inferOperands(graph, tree.root(), representatives, prologueLimits);
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
  Decisions shorter;
  for (std::size_t i = 0; i < std::min(at->decisions, path.decisions.size()); ++i)
    shorter += path.decisions[i].taken ? '1' : '0';
  if (isCounted(*at, shorter))
    return false;
  if (shorter.size() > kLongPath)
    throw NotCaptured{kCounts, path.decisions[shorter.size() - 1].line};
  addEvidence(shorter);
  return false;
}

bool Learner::isCounted(const Disagreement &at, const Decisions &decisions) {
  if (at.isOfValues)
    return false; // a count shows in what is done
  Navigator navigator(graph);
  navigator.begin();
  std::vector<Navigator::Hop> gates;
  for (char side : decisions)
    for (auto [state, slot] : navigator.take(side == '1'))
      if (slot >= State::kArrived)
        gates.push_back({state, slot});
  const bool again = std::exchange(lastEvidence, decisions) == decisions;
  auto hasLimit = [&](int state) {
    return std::ranges::any_of(graph[state].limits, [](std::size_t n) { return n > 0; });
  };
  if (gates.empty() && at.slot < 2 && at.from != Graph::kStart && !hasLimit(at.from) &&
      !hasLimit(graph[at.from].edges[at.slot].to)) {
    const int to = graph[at.from].edges[at.slot].to;
    const std::size_t own = graph[at.from].edges[at.slot].steps.size();
    if (at.arrivals > kUnrolled && graph.loopOf(to).contains(at.from) && at.steps >= own &&
        addBound(to, State::kArrived, at.arrivals, decisions))
      return true;
    if (at.uses > kUnrolled && graph.innermost[static_cast<std::size_t>(at.from)] >= 0 &&
        addBound(at.from, State::kUsed + at.slot, at.uses, decisions))
      return true;
  }
  if (gates.empty() && notCounted.size() > 3 && std::max(at.arrivals, at.uses) > kUnrolled)
    throw NotCaptured{kCounts, graph[at.from].line};
  // A count that is not always the same: of arrivals if it was of uses, or the other way round.
  if (!gates.empty() && again)
    return dropBound(gates.back().from, gates.back().slot);
  if (at.from != Graph::kStart && decisions.size() > kUnrolled) {
    const int to = graph[at.from].edges[at.slot].to;
    if (graph[to].limits[0] && graph.loopOf(to).contains(at.from))
      return split(to, State::kArrived, decisions) || dropBound(to, State::kArrived);
    if (at.slot < 2 && graph[at.from].limits[1 + at.slot])
      return split(at.from, State::kUsed + at.slot, decisions) || dropBound(at.from, State::kUsed + at.slot);
  }
  return false;
}

bool Learner::addBound(int state, std::size_t slot, std::size_t count, const Decisions &decisions) {
  Node *representative = representatives[static_cast<std::size_t>(state)];
  if (graph[state].limits[slot - State::kArrived] || notCounted.contains({representative, slot}))
    return false;
  tree.insert(follow(decisions), decisions.size());
  Node *node = tree.find(decisions);
  if (!node)
    return false;
  node->gate = slot;
  bounds.push_back({representative, slot, count, decisions});
  // What was seen behind the count on other ways goes.
  graph[state].limits[slot - State::kArrived] = count;
  graph[state].edges[slot].to = state; // for the sake of counting
  cutBehindCounts();
  return true;
}

void Learner::cutBehindCounts() {
  Navigator start(graph);
  start.begin();
  std::vector<std::pair<Node *, Navigator>> work{{&tree.root(), start}};
  while (!work.empty()) {
    auto [node, at] = std::move(work.back());
    work.pop_back();
    if (node->isEnd || graph[at.state()].isEnd)
      continue;
    for (bool side : {false, true}) {
      if (!node->child(side))
        continue;
      Navigator next = at;
      bool isGate = false;
      for (auto [state, slot] : next.take(side))
        isGate |= slot >= State::kArrived;
      if (!isGate)
        work.emplace_back(node->children[side], std::move(next));
      else if (!node->children[side]->gate)
        node->children[side] = nullptr;
    }
  }
}

bool Learner::split(int state, std::size_t slot, const Decisions &decisions) {
  const Node *representative = representatives[static_cast<std::size_t>(state)];
  auto bound = std::ranges::find_if(
      bounds, [&](const Bound &each) { return each.state == representative && each.slot == slot; });
  if (bound == bounds.end())
    return false;
  const int begin = graph.innermost[static_cast<std::size_t>(state)];
  // The states on a way up to the loop.
  auto statesOf = [&](const Decisions &way) {
    std::vector<int> states;
    Navigator navigator(graph);
    navigator.begin();
    states.push_back(navigator.state());
    for (std::size_t i = 0; i < way.size() && states.back() != begin && !graph[states.back()].isEnd; ++i) {
      navigator.take(way[i] == '1');
      states.push_back(navigator.state());
    }
    return states;
  };
  const std::vector<int> here = statesOf(decisions), there = statesOf(bound->access);
  // Back to where they come together.
  std::size_t i = here.size() - 1, j = there.size() - 1;
  if (here[i] != begin || there[j] != begin)
    return false;
  while (i > 0 && j > 0 && here[i - 1] == there[j - 1] && decisions[i - 1] == bound->access[j - 1])
    --i, --j;
  if (i == 0 || j == 0)
    return false;
  const Node *node = tree.find(decisions.substr(0, i));
  return node && node != representatives[static_cast<std::size_t>(here[i])] &&
         apart.insert({node, representatives[static_cast<std::size_t>(here[i])]}).second;
}

bool Learner::dropBound(int state, std::size_t slot) {
  Node *representative = representatives[static_cast<std::size_t>(state)];
  for (auto bound = bounds.begin(); bound != bounds.end(); ++bound)
    if (bound->state == representative && bound->slot == slot) {
      notCounted.insert({representative, slot});
      if (Node *node = tree.find(bound->access))
        node->gate = 0;
      // What is behind was seen as what follows a count.
      if (Node *before = tree.find(bound->access.substr(0, bound->access.size() - 1)))
        before->children[bound->access.back() == '1'] = nullptr;
      bounds.erase(bound);
      return true;
    }
  return false;
}

bool Learner::check() {
  // Fewer where each run is long, because the host goes through many iterations.
  Limits own = limits;
  for (std::size_t *count : {&own.paths, &own.merged, &own.samples})
    *count = std::min(*count, limits.stepsOfRuns / (shortest + 1));
  return forEachRoute(graph, own, [&](const Decisions &decisions) { return explains(decisions); }, iterations);
}

Learner::Learnt Learner::result(const CounterWords &words) const {
  Learnt learnt{graph, samples_};
  for (std::size_t q = 1; q < graph.size(); ++q) {
    State &state = learnt.graph.states[q];
    const bool isEnded = representatives[q]->isDeclared ||
                         (state.limits[0] && !graph.loops[q].contains(state.edges[State::kArrived].to));
    state.iterations = isEnded ? std::nullopt : std::optional(iterations[q]);
  }
  addCounters(learnt.graph, learnt.samples, representatives, words);
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
      if (check()) {
        return;
      }
    } catch (const Conflict &conflict) {
      for (const Node *node : {conflict.a, conflict.b})
        if (node)
          addEvidence(node->access());
    }
  }
  throw NotCaptured{kUnlike, graph.size() > 1 ? graph[1].line : schema::SourceLine()};
}

} // namespace calque::detail::native
