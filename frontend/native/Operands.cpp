#include "frontend/native/Operands.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <map>

namespace calque::detail::native {

namespace {

using From = Origin::From;

constexpr std::size_t kMostParameters = 256, kMostRounds = 1000;

// A prologue has turned out too long.
struct Shortened {};

// A node of the tree as what comes into a state.
struct Visit {
  int state;
  const Node *node;       // null at the start
  Value base;             // the first value of the state
  int parent;             // the visit before; -1 at the start
  std::size_t slot;       // the edge of the parent's state
  std::size_t number = 0; // among the visits of the state
};

// By the number of a visit; kNoValue: not known.
struct Parameter {
  std::vector<Value> seen;
  std::vector<Value> derived; // what the arguments found so far say
};

// What an operand is at some visits.
using Occurrence = std::vector<std::pair<int, Value>>;

class OperandInference {
public:
  OperandInference(Graph &graph, const Node &root, const std::vector<Node *> &representatives, PrologueLimits &limits,
                   std::size_t &budget)
      : graph(graph), root(root), representatives(representatives), limits(limits), budget(budget) {}

  std::vector<std::vector<Sample>> run() {
    findVisits();
    findPrologues();
    parameters.assign(graph.size(), {});
    changes.assign(graph.size(), 1);
    resolvedAt.clear();
    for (State &state : graph.states)
      for (Edge &edge : state.edges)
        edge.arguments.clear(); // of an attempt that ended
    for (std::size_t round = 0;; ++round) {
      if (round == kMostRounds)
        throw NotCaptured{"what an iteration takes from earlier ones does not come to an end", {}};
      changed = false;
      for (std::size_t state = 0; state < graph.size(); ++state)
        resolveState(static_cast<int>(state));
      if (isLate)
        derive();
      if (!changed) {
        if (isLate)
          break;
        isLate = true;
        derive();
      }
    }
    for (std::size_t i = 0; i < graph.size(); ++i)
      graph.states[i].numParameters = parameters[i].size();
    for (State &state : graph.states)
      for (Edge &edge : state.edges)
        if (edge.to >= 0)
          edge.arguments.resize(graph[edge.to].numParameters);
    return samples();
  }

private:
  void findVisits() {
    visits.push_back({Graph::kStart, nullptr, 0, -1, 0});
    ofState.assign(graph.size(), {});
    enter(root, 0, 0);
    for (std::size_t i = 1; i < visits.size(); ++i) {
      if (graph[visits[i].state].isGate())
        continue;
      for (bool side : {false, true})
        if (const Node *child = visits[i].node->child(side))
          enter(*child, static_cast<int>(i), side);
    }
  }
  // A node comes into the gates on the way to its state, too: all its steps follow them.
  void enter(const Node &node, int parent, std::size_t slot) {
    int to = graph[visitAt(parent).state].edges[slot].to;
    for (std::size_t gate = 0; to >= 0 && graph[to].isGate(); ++gate) {
      addVisit({to, &node, node.valueBefore(node.steps.size()), parent, slot});
      parent = static_cast<int>(visits.size()) - 1;
      slot = gate < node.gates.size() && node.gates[gate] == 'r';
      to = graph[to].edges[slot].to;
    }
    if (to < 0)
      return;
    const State &state = graph[to];
    if (state.isEnd != node.isEnd || (state.isEnd && state.end != node.end))
      throw Conflict{&node, representatives[static_cast<std::size_t>(to)]};
    addVisit({to, &node, node.endValue, parent, slot});
  }
  void addVisit(Visit visit) {
    std::vector<int> &own = ofState[static_cast<std::size_t>(visit.state)];
    const auto here = static_cast<int>(visits.size());
    visit.number = own.size();
    own.push_back(here);
    through[{visitAt(visit.parent).state, visit.slot}].push_back(here);
    visits.push_back(visit);
  }

  // The longest common end of all ways into a state.
  void findPrologues() {
    prologues.assign(graph.size(), ~std::size_t(0));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t q = 1; q < graph.size(); ++q) {
        std::size_t length = prologueOf(q);
        changed |= length != prologues[q];
        prologues[q] = length;
      }
    }
    for (std::size_t q = 1; q < graph.size(); ++q)
      if (!graph[static_cast<int>(q)].isGate())
        for (int visit : ofState[q])
          visits[static_cast<std::size_t>(visit)].base = nodeOf(visit).valueBefore(prologues[q]);
  }
  std::size_t prologueOf(std::size_t q) const {
    const std::vector<int> &own = ofState[q];
    if (own.empty() || graph[static_cast<int>(q)].isGate())
      return 0;
    const Node &first = nodeOf(own[0]);
    std::size_t length = std::min(prologues[q], first.steps.size());
    if (auto limit = limits.find(representatives[q]); limit != limits.end())
      length = std::min(length, limit->second);
    for (int visit : own) {
      const Node &node = nodeOf(visit);
      const std::size_t most = std::min(length, node.steps.size());
      std::size_t same = 0;
      while (same < most &&
             node.steps[node.steps.size() - 1 - same].kind == first.steps[first.steps.size() - 1 - same].kind)
        ++same;
      length = same;
    }
    // A step that some ways compute within, and others take from before, is not in common.
    for (bool again = true; again;) {
      again = false;
      for (int visit : own)
        if (std::optional<std::size_t> shorter = mixed(first, nodeOf(visit), length)) {
          length = *shorter;
          again = true;
          break;
        }
    }
    return length;
  }

  // The length at which the last steps of two nodes have the same operands among themselves; nothing if they have.
  static std::optional<std::size_t> mixed(const Node &a, const Node &b, std::size_t length) {
    const Value beginA = a.valueBefore(length), beginB = b.valueBefore(length);
    auto check = [&](Value x, Value y) -> std::optional<std::size_t> {
      Value fromA = x - beginA, fromB = y - beginB;
      if (x < 0)
        fromA = -1;
      if (y < 0)
        fromB = -1;
      if ((fromA < 0 && fromB < 0) || fromA == fromB)
        return std::nullopt;
      // The definition leaves the prologue, and with it all before.
      Value local = std::max(fromA, fromB);
      std::size_t kept = 0;
      while (kept < length && a.valueBefore(kept + 1) - beginA > local)
        ++kept;
      return kept;
    };
    for (std::size_t i = 0; i < length; ++i) {
      const PathStep &x = a.steps[a.steps.size() - length + i], &y = b.steps[b.steps.size() - length + i];
      for (std::size_t j = 0; j < x.operands.size(); ++j)
        if (auto shorter = check(x.operands[j], y.operands[j]))
          return shorter;
    }
    if (!a.isEnd)
      return check(a.condition, b.condition);
    for (std::size_t i = 0; i < a.results.size(); ++i)
      if (auto shorter = check(a.results[i], b.results[i]))
        return shorter;
    return std::nullopt;
  }

  const Node &nodeOf(int visit) const { return *visits[static_cast<std::size_t>(visit)].node; }
  const Visit &visitAt(int visit) const { return visits[static_cast<std::size_t>(visit)]; }

  void resolveState(int q) {
    State &state = graph[q];
    const std::vector<int> &own = ofState[static_cast<std::size_t>(q)];
    const std::size_t prologue = prologues[static_cast<std::size_t>(q)];
    const std::size_t before = resolvedAt[{q, State::kNumEdges}];
    if (q != Graph::kStart && !own.empty() && !state.isGate() && before != changes[static_cast<std::size_t>(q)]) {
      std::vector<StepsOf> ways;
      for (int visit : own)
        ways.push_back({visit, &nodeOf(visit), nodeOf(visit).steps.size() - prologue});
      resolveSteps(q, ways, prologue, state.steps, before > 0);
      if (state.isEnd) {
        state.results.resize(nodeOf(own[0]).results.size());
        for (std::size_t i = 0; i < state.results.size(); ++i)
          state.results[i] = resolveEach(q, own, [&](int visit) { return nodeOf(visit).results[i]; });
      } else {
        state.condition = resolveEach(q, own, [&](int visit) { return nodeOf(visit).condition; });
      }
      resolvedAt[{q, State::kNumEdges}] = changes[static_cast<std::size_t>(q)];
    }
    // A limit is reached on few paths. Its edge takes the parameters that the others have made.
    for (std::size_t slot = 0; slot < State::kNumEdges; ++slot)
      if (state.edges[slot].to >= 0 && (isLate || !state.isGate() || slot == 0))
        resolveEdge(q, slot);
  }

  // Steps of a node, seen from a visit of the state that they belong to.
  struct StepsOf {
    int visit;
    const Node *node;
    std::size_t first;
  };

  // Again, what is no parameter stays what it is.
  void resolveSteps(int q, const std::vector<StepsOf> &ways, std::size_t count, std::vector<GraphStep> &steps,
                    bool isAgain) {
    steps.resize(count);
    Occurrence occurrence;
    for (std::size_t i = 0; i < count; ++i) {
      const PathStep &step = ways[0].node->steps[ways[0].first + i];
      steps[i].kind = step.kind;
      steps[i].local = step.first - visitAt(ways[0].visit).base;
      steps[i].operands.resize(step.operands.size());
      for (std::size_t j = 0; j < step.operands.size(); ++j) {
        if (isAgain && steps[i].operands[j].from != From::Parameter)
          continue;
        occurrence.clear();
        for (const StepsOf &way : ways)
          occurrence.emplace_back(way.visit, way.node->steps[way.first + i].operands[j]);
        steps[i].operands[j] = resolve(q, occurrence);
      }
    }
  }

  template <typename ValueAt> Origin resolveEach(int q, const std::vector<int> &own, ValueAt valueAt) {
    Occurrence occurrence;
    for (int visit : own)
      occurrence.emplace_back(visit, valueAt(visit));
    return resolve(q, occurrence);
  }

  void resolveEdge(int q, std::size_t slot) {
    Edge &edge = graph[q].edges[slot];
    const std::size_t to = static_cast<std::size_t>(edge.to);
    auto found = through.find({q, slot});
    if (found == through.end())
      return;
    const std::vector<int> &through = found->second;
    // By what its steps and arguments depend on.
    std::size_t &resolved = resolvedAt[{q, slot}];
    const std::size_t now = changes[static_cast<std::size_t>(q)] + changes[to];
    if (resolved == now)
      return;
    const bool isBeforeGate = graph[edge.to].isGate();
    auto stepsOf = [&](int visit) { return isBeforeGate ? 0 : nodeOf(visit).steps.size() - prologues[to]; };
    const std::size_t count = stepsOf(through[0]);
    std::vector<StepsOf> ways;
    for (int visit : through) {
      const Node &node = nodeOf(visit), &first = nodeOf(through[0]);
      bool same = stepsOf(visit) == count;
      for (std::size_t i = 0; same && i < count; ++i)
        same = node.steps[i].kind == first.steps[i].kind;
      if (!same)
        throw Conflict{&node, &first};
      ways.push_back({visitAt(visit).parent, &node, 0});
    }
    resolveSteps(q, ways, count, edge.steps, resolved > 0);
    Occurrence occurrence;
    for (std::size_t k = 0; k < parameters[to].size(); ++k) {
      if (edge.arguments.size() <= k)
        edge.arguments.resize(k + 1);
      occurrence.clear();
      for (int visit : through)
        if (const Value value = parameters[to][k].seen[visitAt(visit).number]; value != kNoValue)
          occurrence.emplace_back(visitAt(visit).parent, value);
      if (!occurrence.empty())
        edge.arguments[k] = resolve(q, occurrence);
    }
    resolved = now;
  }

  Origin resolve(int q, const Occurrence &occurrence) {
    bool isOutside = true, anyLocal = false, allLocal = true;
    const Value first = occurrence[0].second;
    Value local = -1, firstLocal = -1;
    int localVisit = -1, otherVisit = -1;
    bool sameLocal = true;
    for (auto [visit, value] : occurrence) {
      isOutside = isOutside && value < 0 && value == first;
      Value distance = value >= 0 ? value - visitAt(visit).base : -1;
      if (distance >= 0) {
        sameLocal = sameLocal && (!anyLocal || distance == firstLocal);
        if (!anyLocal)
          firstLocal = local = distance;
        local = std::min(local, distance);
        anyLocal = true;
        localVisit = visit;
      } else {
        allLocal = false;
        otherVisit = visit;
      }
    }
    if (isOutside)
      return {From::Outside, first};
    if (anyLocal) {
      if (allLocal && sameLocal)
        return {From::Local, firstLocal};
      shorten(q, local);
      throw Conflict{visitAt(localVisit).node,
                     otherVisit >= 0 ? visitAt(otherVisit).node : visitAt(occurrence[0].first).node};
    }
    if (q == Graph::kStart)
      throw Conflict{visitAt(occurrence[0].first).node, nullptr};
    std::size_t chosen = choose(q, occurrence);
    for (auto [visit, value] : occurrence) {
      Value &seen = parameters[static_cast<std::size_t>(q)][chosen].seen[visitAt(visit).number];
      if (seen != kNoValue)
        continue;
      seen = value;
      ++changes[static_cast<std::size_t>(q)];
      changed = true;
    }
    return {From::Parameter, static_cast<Value>(chosen)};
  }

  // Where a value of the prologue is at times another one from before, the prologue begins behind it.
  void shorten(int q, Value local) {
    const std::vector<int> &own = ofState[static_cast<std::size_t>(q)];
    const std::size_t prologue = prologues[static_cast<std::size_t>(q)];
    if (own.empty() || prologue == 0)
      return;
    const Node &node = nodeOf(own[0]);
    const Value begin = node.valueBefore(prologue);
    if (local >= node.endValue - begin)
      return; // it is a step of an edge
    std::size_t kept = 0;
    while (kept < prologue && node.valueBefore(kept + 1) - begin > local)
      ++kept;
    limits[representatives[static_cast<std::size_t>(q)]] = kept;
    throw Shortened();
  }

  // A parameter that has these values: one that is known to have some of them and has no other; else one to which the
  // arguments give them; else one that has the same value at another visit, because it passes through; else a new one.
  std::size_t choose(int q, const Occurrence &occurrence) {
    std::vector<Parameter> &all = parameters[static_cast<std::size_t>(q)];
    const std::size_t comparisons = all.size() * occurrence.size();
    if (budget < comparisons)
      throw NotCaptured{"no set of variables has been found that explains which values its iterations and paths take",
                        graph[q].line, true};
    budget -= comparisons;
    auto contradicts = [&](const std::vector<Value> &known, const std::pair<int, Value> &at, bool &overlaps) {
      const Value value = known[visitAt(at.first).number];
      if (value == kNoValue)
        return false;
      overlaps = true;
      return value != at.second;
    };
    auto fits = [&](const Parameter &parameter, bool withDerived, bool &overlaps) {
      for (const auto &at : occurrence) {
        bool isSeen = false;
        if (contradicts(parameter.seen, at, isSeen))
          return false;
        if (!isSeen && withDerived && contradicts(parameter.derived, at, isSeen))
          return false;
        overlaps |= isSeen;
      }
      return true;
    };
    for (bool withDerived : {false, true})
      for (std::size_t i = 0; i < all.size(); ++i)
        if (bool overlaps = false; fits(all[i], withDerived, overlaps) && overlaps)
          return i;
    // The more of the values it has at others, the better: one may be a constant that counts begin with.
    std::size_t best = all.size(), most = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (bool overlaps = false; fits(all[i], true, overlaps)) {
        HashSet<Value> known;
        known.insert(all[i].seen.begin(), all[i].seen.end());
        const auto count = static_cast<std::size_t>(
            std::ranges::count_if(occurrence, [&](const auto &at) { return known.contains(at.second); }));
        if (count > most && known.contains(occurrence[0].second)) {
          best = i;
          most = count;
        }
      }
    if (best < all.size())
      return best;
    if (all.size() == kMostParameters)
      throw NotCaptured{"each iteration takes other values from outside of the loop than the one before",
                        graph[q].line};
    const std::size_t count = ofState[static_cast<std::size_t>(q)].size();
    all.push_back({std::vector<Value>(count, kNoValue), std::vector<Value>(count, kNoValue)});
    return all.size() - 1;
  }

  void derive() {
    for (std::vector<Parameter> &all : parameters)
      for (Parameter &parameter : all)
        std::ranges::fill(parameter.derived, kNoValue);
    for (std::size_t v = 1; v < visits.size(); ++v) {
      const Visit &visit = visits[v], &before = visitAt(visit.parent);
      const Edge &edge = graph[before.state].edges[visit.slot];
      std::vector<Parameter> &all = parameters[static_cast<std::size_t>(visit.state)];
      for (std::size_t k = 0; k < std::min(all.size(), edge.arguments.size()); ++k) {
        const Origin &argument = edge.arguments[k];
        Value value = kNoValue;
        if (argument.from == From::Outside)
          value = argument.number;
        else if (argument.from == From::Local)
          value = before.base + argument.number;
        else if (argument.from == From::Parameter) {
          const Parameter &from =
              parameters[static_cast<std::size_t>(before.state)][static_cast<std::size_t>(argument.number)];
          value = from.seen[before.number] != kNoValue ? from.seen[before.number] : from.derived[before.number];
        }
        if (value != kNoValue)
          all[k].derived[visit.number] = value;
      }
    }
  }

  std::vector<std::vector<Sample>> samples() const {
    std::vector<std::vector<Sample>> result(graph.size());
    for (std::size_t q = 0; q < graph.size(); ++q)
      for (const Parameter &parameter : parameters[q]) {
        const auto first = std::ranges::find_if(parameter.seen, [](Value value) { return value != kNoValue; });
        const int visit = ofState[q][static_cast<std::size_t>(first - parameter.seen.begin())];
        result[q].push_back({visitAt(visit).node, *first});
      }
    return result;
  }

  Graph &graph;
  const Node &root;
  const std::vector<Node *> &representatives;
  PrologueLimits &limits;
  std::size_t &budget;
  std::vector<Visit> visits;
  std::vector<std::vector<int>> ofState;                           // visits
  std::vector<std::size_t> prologues;                              // the number of steps, by state
  std::map<std::pair<int, std::size_t>, std::vector<int>> through; // the visits that come along an edge
  std::vector<std::vector<Parameter>> parameters;
  // How often what is seen of a state's parameters has changed, and had when its steps, or an edge's, were resolved.
  std::vector<std::size_t> changes;
  std::map<std::pair<int, std::size_t>, std::size_t> resolvedAt;
  bool changed = false;
  bool isLate = false; // what others have found is derived
};

} // namespace

std::vector<std::vector<Sample>> inferOperands(Graph &graph, const Node &root,
                                               const std::vector<Node *> &representatives, PrologueLimits &limits,
                                               std::size_t &budget) {
  for (;;)
    try {
      return OperandInference(graph, root, representatives, limits, budget).run();
    } catch (const Shortened &) {
    }
}

} // namespace calque::detail::native
