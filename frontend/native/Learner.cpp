#include "frontend/native/Learner.h"

#include <algorithm>

namespace calque::detail::native {

namespace {
// Decisions that are kept beyond those that were asked for, as further evidence.
constexpr std::size_t kBeyond = 8;
constexpr std::size_t kMostKeptSteps = 400'000;
constexpr std::size_t kMostRounds = 400;
// A path that is longer than this when it leaves the graph is taken for a loop that the host ends.
constexpr std::size_t kLongPath = 300;

constexpr char kUnlike[] = "its iterations or paths are not alike";
} // namespace

const Path &Learner::follow(const Decisions &decisions) {
  if (auto found = paths.find(decisions); found != paths.end())
    return found->second;
  if (++runs > limits.runs)
    throw NotCaptured{"it would have to be run too often", {}};
  last = run(decisions);
  steps += last.steps.size() + 10;
  if (steps > limits.allSteps)
    throw NotCaptured{kUnlike, graph.size() > 1 ? graph[1].line : schema::SourceLine()};
  if (keptSteps + last.steps.size() > kMostKeptSteps)
    return last;
  keptSteps += last.steps.size() + 1;
  return paths[decisions] = std::move(last);
}

void Learner::record(const Decisions &decisions) { tree.insert(follow(decisions), decisions.size() + kBeyond); }

void Learner::addEvidence(const Decisions &decisions) {
  record(decisions);
  int state = graph[Graph::kStart].edges[0].to;
  for (std::size_t i = 0; i < decisions.size() && !graph[state].isEnd; ++i) {
    record(representatives[static_cast<std::size_t>(state)]->access() + decisions.substr(i));
    state = graph[state].edges[decisions[i] == '1'].to;
  }
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
  stateOf[&node] = static_cast<int>(graph.size()) - 1;
  return static_cast<int>(graph.size()) - 1;
}

// The state of a node: a known one that agrees with it, if there is one. A loop is preferred, and then what has most
// evidence.
int Learner::classify(Node &node) {
  int best = -1;
  bool bestIsLoop = false;
  std::size_t mostEvidence = 0;
  absl::flat_hash_set<const Node *> above;
  for (const Node *each = node.parent; each; each = each->parent)
    above.insert(each);
  for (std::size_t q = 1; q < graph.size(); ++q) {
    const Node &other = *representatives[q];
    bool isLoop = above.contains(&other);
    std::size_t evidence = 0;
    if (!agree(node, other, isLoop, evidence))
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
  stateOf.clear();
  explained.clear();
  graph.states.emplace_back();
  graph.states[0].numEdges = 1;
  representatives.push_back(nullptr);
  auto expand = [&](Node &node) {
    if (node.isEnd)
      return;
    for (char side : {'0', '1'})
      if (!node.child(side == '1'))
        record(node.access() + side);
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
  }
  samples_ = inferOperands(graph, tree.root(), representatives, prologueLimits);
}

bool Learner::explains(const Decisions &decisions) {
  if (!explained.insert(decisions).second)
    return true;
  // Again, also where it was run before: that must give the same.
  if (confirmed.insert(decisions).second)
    paths.erase(decisions);
  const Path &path = follow(decisions);
  std::optional<std::size_t> after = graph.disagreement(path);
  if (!after)
    return true;
  Decisions shorter;
  for (std::size_t i = 0; i < std::min(*after, path.decisions.size()); ++i)
    shorter += path.decisions[i].taken ? '1' : '0';
  if (shorter.size() > kLongPath)
    throw NotCaptured{"the host ends or changes the loop after many iterations, by what no tensor shows",
                      path.decisions[shorter.size() - 1].line};
  addEvidence(shorter);
  return false;
}

bool Learner::check() {
  return forEachRoute(graph, limits, [&](const Decisions &decisions) { return explains(decisions); });
}

const Graph &Learner::learn() {
  record("");
  paths.clear(); // the same must come again
  record("");
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    try {
      build();
      if (check()) {
        if (getenv("CFDBG"))
          fprintf(stderr, "rounds %zu runs %zu steps %zu states %zu\n", round, runs, steps, graph.size());
        return graph;
      }
    } catch (const Conflict &conflict) {
      for (const Node *node : {conflict.a, conflict.b})
        if (node)
          addEvidence(node->access());
    }
  }
  if (getenv("CFDBG"))
    fprintf(stderr, "too many rounds: runs %zu steps %zu states %zu\n", runs, steps, graph.size());
  if (getenv("CFDBG"))
    fprintf(stderr, "too many rounds: runs %zu steps %zu states %zu\n", runs, steps, graph.size());
  throw NotCaptured{kUnlike, graph.size() > 1 ? graph[1].line : schema::SourceLine()};
}

} // namespace calque::detail::native
