// How the learner finds what the host counts: it takes one edge again and again, and looks at where the host does
// otherwise; then it finds by runs that take another edge in between what that does to the count.
#include "frontend/native/Learner.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace calque::detail::native {

namespace {

// How often a counted edge is taken before another one, to see what that does to the count.
constexpr std::size_t kBefore = 3;
// The most decisions of a run that looks for a count.
constexpr std::size_t kMostDecisions = 40'000;
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// The shortest ways by decisions from a state, as far as no counter reaches its limit.
std::vector<std::optional<Decisions>> waysFrom(const Graph &graph, int from) {
  std::vector<std::optional<Decisions>> ways(graph.size());
  if (from < 0)
    return ways;
  ways[static_cast<std::size_t>(from)] = "";
  std::deque<int> open{from};
  while (!open.empty()) {
    const int q = open.front();
    open.pop_front();
    if (graph[q].isEnd)
      continue;
    for (char side : {'0', '1'})
      if (const int to = graph.behindGates(graph[q].edges[side == '1'].to);
          to >= 0 && !ways[static_cast<std::size_t>(to)]) {
        ways[static_cast<std::size_t>(to)] = *ways[static_cast<std::size_t>(q)] + side;
        open.push_back(to);
      }
  }
  return ways;
}
std::optional<Decisions> wayTo(const Graph &graph, int from, int to) {
  return waysFrom(graph, from)[static_cast<std::size_t>(to)];
}

// Makes decisions that lead through a graph.
class Walker {
public:
  explicit Walker(const Graph &graph) : graph(graph), navigator(graph) { look(navigator.begin()); }

  const Decisions &decisions() const { return made; }
  int state() const { return navigator.state(); }
  bool isLost() const { return lost || made.size() > kMostDecisions; }

  void take(const Decisions &more) {
    for (char side : more) {
      if (navigator.isAtEnd()) {
        lost = true;
        return;
      }
      made += side;
      look(navigator.take(side == '1'));
    }
  }
  void goTo(int state) {
    std::optional<Decisions> way = navigator.state() < 0 ? std::nullopt : wayTo(graph, navigator.state(), state);
    if (way)
      take(*way);
    lost = lost || !way;
  }
  // Takes an edge: that of a decision, or of a gate behind it, which may take many times around.
  void takeEdge(int owner, bool side, std::pair<int, std::size_t> edge) {
    const std::size_t before = made.size();
    do {
      goTo(owner);
      if (isLost())
        return;
      take(side ? "1" : "0");
    } while (!isLost() && std::ranges::find(lastHops, edge) == lastHops.end() && made.size() < before + kMostDecisions);
  }

private:
  void look(const Navigator::Hops &hops) {
    lastHops.clear();
    for (auto [from, slot] : hops)
      lastHops.emplace_back(from, slot);
  }

  const Graph &graph;
  Navigator navigator;
  Decisions made;
  bool lost = false;
  std::vector<std::pair<int, std::size_t>> lastHops; // of the last decision
};

Decisions firstOf(const Path &path, std::size_t count) {
  Decisions decisions;
  for (std::size_t i = 0; i < std::min(count, path.decisions.size()); ++i)
    decisions += path.decisions[i].taken ? '1' : '0';
  return decisions;
}

// Calls visit(hop, number of the decision) for the edges that decisions take.
template <typename Visit> void forEachHop(const Graph &graph, const Decisions &decisions, Visit visit) {
  Navigator navigator(graph);
  for (auto [from, slot] : navigator.begin())
    visit(std::pair(from, slot), std::size_t(0));
  for (std::size_t i = 0; i < decisions.size() && !navigator.isAtEnd(); ++i)
    for (auto [from, slot] : navigator.take(decisions[i] == '1'))
      visit(std::pair(from, slot), i + 1);
}

} // namespace

//===-- Gates in the graph ----------------------------------------------------------------------===//

int Learner::addGateState(int owner, const std::string &edges, int counter) {
  State gate;
  gate.counter = counter;
  gate.line = graph[owner].line;
  graph.states.push_back(std::move(gate));
  representatives.push_back(nullptr);
  const int state = static_cast<int>(graph.size()) - 1;
  gatePlaces[state] = {owner, edges};
  return state;
}

const Learner::Gate *Learner::gateAt(const Place &place) const {
  auto found = std::ranges::find(gates, place, &Gate::place);
  return found == gates.end() ? nullptr : &*found;
}

Learner::Place Learner::placeOf(EdgeOf edge) const {
  const auto [from, slot] = edge;
  if (!graph[from].isGate())
    return {representatives[static_cast<std::size_t>(from)], slot ? "1" : "0"};
  const auto &[owner, edges] = gatePlaces.at(from);
  return {representatives[static_cast<std::size_t>(owner)], edges + (slot ? 'r' : 'n')};
}

void Learner::markGates(const Decisions &decisions) {
  Navigator navigator(lastComplete);
  navigator.begin();
  Node *node = &tree.root();
  for (char side : decisions) {
    if (navigator.isAtEnd() || !node->child(side == '1'))
      return;
    navigator.take(side == '1');
    node = node->children[side == '1'];
    node->gates = navigator.gates();
  }
}

void Learner::markGates() {
  Navigator start(lastComplete);
  start.begin();
  std::vector<std::pair<Node *, Navigator>> work{{&tree.root(), start}};
  while (!work.empty()) {
    auto [node, at] = std::move(work.back());
    work.pop_back();
    if (node->isEnd || at.isAtEnd())
      continue;
    for (bool side : {false, true})
      if (node->child(side)) {
        Navigator next = at;
        next.take(side);
        node->children[side]->gates = next.gates();
        work.emplace_back(node->children[side], std::move(next));
      }
  }
}

//===-- Finding counts --------------------------------------------------------------------------===//

bool Learner::isCounted(const Disagreement &at, const Decisions &decisions) {
  if (at.isOfValues || at.from == Graph::kStart)
    return false; // a count shows in what is done
  const bool again = std::exchange(lastEvidence, decisions) == decisions;
  const bool isOfGate = graph[at.from].isGate();
  const bool isLong = decisions.size() > unrolled;
  if ((!isOfGate || at.slot == 1) && isLong && isCountAt(at, 2 * decisions.size() + 8))
    return true;
  int reached = -1; // the last counter at its limit
  forEachHop(graph, decisions, [&](EdgeOf hop, std::size_t) {
    if (graph[hop.first].isGate() && hop.second == 1)
      reached = graph[hop.first].counter;
  });
  if (reached < 0 && notCounted.size() > 3 && isLong)
    suspected = graph[at.from].line;
  // A count that is not always the same.
  if (reached >= 0 && again) {
    dropCounter(reached);
    return true;
  }
  if (!isOfGate)
    return false;
  const int counter = graph[at.from].counter;
  if (!split(counter, decisions))
    dropCounter(counter);
  return true;
}

bool Learner::isCountAt(const Disagreement &at, std::size_t most, bool mayBeElsewhere) {
  const EdgeOf edge{at.from, at.slot};
  if (at.from == Graph::kStart || notCounted.contains(placeOf(edge)))
    return false;
  const int owner = ownerOf(at.from);
  const bool side = placeOf(edge).second[0] == '1';
  if (!wayTo(graph, graph.behindGates(graph[at.from].edges[at.slot].to), owner))
    return false; // it is in no loop
  Walker walker(graph);
  for (std::size_t i = 0; i < most && !walker.isLost(); ++i)
    walker.takeEdge(owner, side, edge);
  const Path &path = follow(walker.decisions());
  const std::optional<Disagreement> found = disagreement(graph, path);
  if (!found || found->isOfValues)
    return false;
  const Decisions access = firstOf(path, found->decisions);
  if (EdgeOf(found->from, found->slot) != edge)
    return mayBeElsewhere && access.size() > unrolled && isCountAt(*found, most, false);
  std::size_t uses = 0;
  forEachHop(graph, access, [&](EdgeOf hop, std::size_t) { uses += hop == edge; });
  if (uses > unrolled) {
    addCounter(edge, uses, access);
    return true;
  }
  if (tree.find(access))
    return false;
  addEvidence(access);
  return true;
}

void Learner::addCounter(EdgeOf edge, std::size_t limit, const Decisions &access) {
  const int counter = static_cast<int>(counters.size());
  counters.push_back({limit, placeOf(edge), true, {}});
  graph.limits.push_back(kNever);
  std::vector<std::pair<EdgeOf, Decisions>> all = learnEffects(counter, {edge});
  all.insert(all.begin(), {edge, access});
  graph.limits[static_cast<std::size_t>(counter)] = limit;
  for (const auto &[where, way] : all)
    addGate(where, counter, way);
  applyKnownEffects();
  lastComplete = graph;
  markGates();
}

bool Learner::addGate(EdgeOf edge, int counter, const Decisions &access) {
  tree.insert(follow(access), access.size());
  if (!tree.find(access))
    return false;
  gates.push_back({placeOf(edge), counter, access});
  // For the sake of counting; the next graph has it whole.
  const int gate = addGateState(ownerOf(edge.first), gates.back().place.second, counter);
  graph[gate].edges[0].to = std::exchange(graph[edge.first].edges[edge.second].to, gate);
  return true;
}

void Learner::dropCounter(int counter) {
  Counter &dropped = counters[static_cast<std::size_t>(counter)];
  dropped.isUsed = false;
  dropped.limit = kNever;
  notCounted.insert(dropped.first);
  graph.limits[static_cast<std::size_t>(counter)] = kNever;
  for (const Gate &gate : gates)
    if (gate.counter == counter)
      // What is behind was seen as what follows a count.
      if (Node *before = tree.find(gate.access.substr(0, gate.access.size() - 1)))
        before->children[gate.access.back() == '1'] = nullptr;
  std::erase_if(gates, [&](const Gate &gate) { return gate.counter == counter || !tree.find(gate.access); });
  lastComplete = graph;
  markGates();
}

//===-- What edges do to a count ----------------------------------------------------------------===//

std::vector<std::pair<Learner::EdgeOf, Decisions>> Learner::learnEffects(int counter, std::vector<EdgeOf> counted) {
  Counter &known = counters[static_cast<std::size_t>(counter)];
  std::vector<std::pair<EdgeOf, Decisions>> found;
  // The counter never reaches its limit here, so that a run shows by itself where it does.
  Graph open = graph;
  open.limits[static_cast<std::size_t>(counter)] = kNever;
  auto isCounted = [&](EdgeOf edge) {
    return std::ranges::find(counted, edge) != counted.end() ||
           open[open[edge.first].edges[edge.second].to].counter == counter;
  };
  // The first counted edge, as the graph has it now.
  std::optional<EdgeOf> first;
  for (int q = 1; q < static_cast<int>(open.size()) && !first; ++q)
    open[q].forEachEdge([&](std::size_t slot, const Edge &) {
      if (!first && isCounted({q, slot}) &&
          (counted.empty() ? placeOf({q, slot}) == known.first : EdgeOf(q, slot) == counted[0]))
        first = EdgeOf(q, slot);
    });
  if (!first)
    return found;
  const int owner = ownerOf(first->first);
  const bool side = placeOf(*first).second[0] == '1';
  auto takeFirst = [&](Walker &walker, std::size_t times) {
    for (std::size_t i = 0; i < times && !walker.isLost(); ++i)
      walker.takeEdge(owner, side, *first);
  };
  // Where the run of decisions leaves the graph, and how often was counted up to there, and since an edge was taken.
  struct Left {
    EdgeOf edge;
    Decisions access;
    std::size_t count = 0, since = 0;
  };
  auto leaves = [&](const Decisions &decisions, EdgeOf edge, std::size_t position) -> std::optional<Left> {
    const Path &path = follow(decisions);
    const std::optional<Disagreement> at = disagreement(open, path);
    if (!at || at->isOfValues)
      return std::nullopt;
    Left left{{at->from, at->slot}, firstOf(path, at->decisions), 0, 0};
    forEachHop(open, left.access, [&](EdgeOf hop, std::size_t i) {
      if (auto place = known.begins.find(placeOf(hop));
          hop.first != Graph::kStart && place != known.begins.end() && place->second)
        left.count = 0;
      if (isCounted(hop))
        ++left.count, ++left.since;
      if (i == position && hop == edge)
        left.since = 0;
    });
    return left;
  };
  for (int q = 1; q < static_cast<int>(open.size()); ++q)
    for (std::size_t slot = open[q].isGate() ? 1 : 0; slot < State::kNumEdges; ++slot) {
      const EdgeOf edge{q, slot};
      if (open[q].edges[slot].to < 0 || isCounted(edge) || known.begins.contains(placeOf(edge)))
        continue;
      Walker walker(open);
      takeFirst(walker, std::min(kBefore, known.limit - 1));
      walker.takeEdge(ownerOf(q), placeOf(edge).second[0] == '1', edge);
      const std::size_t position = walker.decisions().size();
      takeFirst(walker, known.limit + 2);
      bool &begins = known.begins[placeOf(edge)]; // not on edges that are not between two iterations
      if (walker.isLost())
        continue;
      const std::optional<Left> left = leaves(walker.decisions(), edge, position);
      if (!left || left->count == known.limit)
        continue;
      // Of another counter not all is known yet.
      if (left->edge != edge && open[left->edge.first].isGate() && open[left->edge.first].counter != counter &&
          !isCounted(left->edge)) {
        known.begins.erase(placeOf(edge));
        continue;
      }
      begins = left->since == known.limit;
      if (begins || left->count + 1 != known.limit)
        continue;
      // The host counts on the way. At the limit it shows where.
      Walker last(open);
      takeFirst(last, known.limit - 1);
      last.takeEdge(ownerOf(q), placeOf(edge).second[0] == '1', edge);
      last.goTo(owner);
      if (last.isLost())
        continue;
      const std::optional<Left> shown = leaves(last.decisions(), edge, 0);
      if (!shown || isCounted(shown->edge) || shown->edge.first == Graph::kStart)
        continue;
      counted.push_back(shown->edge);
      found.emplace_back(shown->edge, shown->access);
    }
  return found;
}

bool Learner::applyEffects() {
  bool isKnown = true;
  std::vector<std::tuple<EdgeOf, int, Decisions>> found;
  for (int counter = 0; counter < static_cast<int>(counters.size()); ++counter) {
    Counter &known = counters[static_cast<std::size_t>(counter)];
    if (!known.isUsed)
      continue;
    const auto begun = [&] {
      return std::ranges::count_if(known.begins, [](const auto &each) { return each.second; });
    };
    const auto before = begun();
    for (auto &[edge, access] : learnEffects(counter, {}))
      found.emplace_back(edge, counter, std::move(access));
    isKnown = isKnown && begun() == before;
  }
  for (const auto &[edge, counter, access] : found) // no run is compared with the graph any more
    isKnown = !addGate(edge, counter, access) && isKnown;
  if (!isKnown) {
    applyKnownEffects();
    lastComplete = graph;
    markGates();
  }
  return isKnown;
}

void Learner::applyKnownEffects() {
  for (int q = 1; q < static_cast<int>(graph.size()); ++q)
    for (std::size_t slot = 0; slot < State::kNumEdges; ++slot) {
      Edge &edge = graph[q].edges[slot];
      edge.resets.clear();
      for (int counter = 0; edge.to >= 0 && counter < static_cast<int>(counters.size()); ++counter) {
        const Counter &known = counters[static_cast<std::size_t>(counter)];
        if (auto found = known.begins.find(placeOf({q, slot}));
            known.isUsed && found != known.begins.end() && found->second)
          edge.resets.push_back(counter);
      }
    }
}

bool Learner::split(int counter, const Decisions &decisions) {
  auto gate = std::ranges::find(gates, counter, &Gate::counter);
  if (gate == gates.end())
    return false;
  auto found = std::ranges::find(representatives, gate->place.first);
  if (found == representatives.end())
    return false;
  const int begin = graph.innermost[static_cast<std::size_t>(found - representatives.begin())];
  // The states on a way up to the loop.
  auto statesOf = [&](const Decisions &way) {
    std::vector<int> states;
    Navigator navigator(graph);
    navigator.begin();
    states.push_back(navigator.state());
    for (std::size_t i = 0; i < way.size() && states.back() != begin && !navigator.isAtEnd(); ++i) {
      navigator.take(way[i] == '1');
      states.push_back(navigator.state());
    }
    return states;
  };
  const std::vector<int> here = statesOf(decisions), there = statesOf(gate->access);
  // Back to where they come together.
  std::size_t i = here.size() - 1, j = there.size() - 1;
  if (begin < 0 || here[i] != begin || there[j] != begin)
    return false;
  while (i > 0 && j > 0 && here[i - 1] == there[j - 1] && decisions[i - 1] == gate->access[j - 1])
    --i, --j;
  if (i == 0 || j == 0)
    return false;
  const Node *node = tree.find(decisions.substr(0, i));
  const Node *representative = representatives[static_cast<std::size_t>(here[i])];
  return node && representative && node != representative && apart.insert({node, representative}).second;
}

} // namespace calque::detail::native
