#include "frontend/native/Routes.h"
#include "frontend/native/Uses.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <set>

namespace calque::detail::native {

namespace {

constexpr int kUnreached = -1;
// How often a path of those that are all run comes to a state.
constexpr int kMostVisits = 3;
// How many random paths there are, whatever they take: fewer where their steps weigh more.
constexpr std::size_t kLeastSamples = 64, kLeastWeighty = 16;

class Routes {
public:
  Routes(const Graph &graph, const Limits &limits, absl::FunctionRef<bool(const Decisions &)> follow,
         std::vector<std::size_t> &iterations)
      : graph(graph), limits(limits), follow(follow), iterations(iterations),
        first(graph.behindGates(graph[Graph::kStart].edges[0].to)) {
    iterations.assign(graph.size(), 0);
    waysFrom.resize(graph.size());
    findEnds();
    access = from(first);
  }

  bool run(RouteOrder &order) {
    constexpr bool (Routes::*kinds[])() = {&Routes::all,    &Routes::loops, &Routes::merges,
                                           &Routes::counts, &Routes::uses,  &Routes::randomly};
    if (!endless())
      return false;
    for (std::size_t i = 0; i < std::size(kinds) && !order.before; ++i) {
      const std::size_t kind = (order.first + i) % std::size(kinds);
      if (!(this->*kinds[kind])()) {
        order.first = kind;
        return false;
      }
    }
    return farLoops(order); // what takes longest
  }

private:
  static std::size_t at(int state) { return static_cast<std::size_t>(state); }
  int size() const { return static_cast<int>(graph.size()); }
  // As far as no counter has reached its limit.
  int to(int state, char side) const { return graph.behindGates(graph[state].edges[side == '1'].to); }
  // The states that control comes to from one.
  template <typename Visit> void forEachNext(int state, Visit visit) const {
    graph[state].forEachEdge([&](std::size_t, const Edge &edge) { visit(edge.to); });
  }

  // The least number of decisions from each state to an end.
  void findEnds() {
    toEnd.assign(graph.size(), kUnreached);
    for (bool changed = true; changed;) {
      changed = false;
      for (int q = 1; q < size(); ++q) {
        int best = graph[q].isEnd ? 0 : kUnreached;
        forEachNext(q, [&](int next) {
          if (toEnd[at(next)] != kUnreached && (best == kUnreached || toEnd[at(next)] + 1 < best))
            best = toEnd[at(next)] + 1;
        });
        if (best != toEnd[at(q)]) {
          toEnd[at(q)] = best;
          changed = true;
        }
      }
    }
  }
  // The shortest way from a state to an end, or to where a count alone leads on: there the run finds its end by itself.
  Decisions finish(int state) const {
    Decisions decisions;
    while (!graph[state].isEnd) {
      auto distance = [&](char side) {
        int next = toEnd[at(to(state, side))];
        return next == kUnreached ? std::numeric_limits<int>::max() : next;
      };
      char side = distance('0') < distance('1') ? '0' : '1';
      if (distance(side) >= toEnd[at(state)])
        break;
      decisions += side;
      state = to(state, side);
    }
    return decisions;
  }
  // The shortest ways from a state to all others; nothing for those that it does not lead to.
  const std::vector<std::optional<Decisions>> &from(int state) const {
    std::vector<std::optional<Decisions>> &ways = waysFrom[at(state)];
    if (!ways.empty())
      return ways;
    ways.resize(graph.size());
    ways[at(state)] = "";
    std::deque<int> queue{state};
    while (!queue.empty()) {
      int q = queue.front();
      queue.pop_front();
      if (graph[q].isEnd)
        continue;
      for (char side : {'0', '1'})
        if (!ways[at(to(q, side))]) {
          ways[at(to(q, side))] = *ways[at(q)] + side;
          queue.push_back(to(q, side));
        }
    }
    return ways;
  }

  // The lambda shows whether a way that ends nowhere in the graph has an end.
  bool endless() {
    for (int q = 1; q < size(); ++q)
      if (toEnd[at(q)] == kUnreached && access[at(q)]) {
        std::mt19937 random(1);
        Decisions decisions = *access[at(q)];
        for (int i = 0; i < 64; ++i)
          decisions += random() % 2 ? '1' : '0';
        if (!follow(decisions))
          return false;
        throw NotCaptured{"no decision leads out of the loop", graph[q].line};
      }
    return true;
  }

  // All paths that come to no state more than a few times, if there are not too many. Else those that decide all alike,
  // and those that decide once otherwise.
  bool all() {
    std::size_t count = 0;
    std::vector<int> visits(graph.size());
    Decisions decisions;
    bool isWhole = true;
    std::vector<Decisions> routes;
    auto visit = [&](auto &self, int q) -> void {
      if (!isWhole)
        return;
      if (graph[q].isEnd) {
        routes.push_back(decisions);
        isWhole = ++count <= limits.paths;
        return;
      }
      if (visits[at(q)] == kMostVisits) {
        routes.push_back(decisions + finish(q));
        isWhole = ++count <= limits.paths;
        return;
      }
      ++visits[at(q)];
      for (char side : {'0', '1'}) {
        decisions += side;
        self(self, to(q, side));
        decisions.pop_back();
      }
      --visits[at(q)];
    };
    visit(visit, first);
    if (!isWhole) {
      routes.clear();
      for (char side : {'0', '1'}) {
        Decisions alike = straight(first, side, "");
        routes.push_back(alike);
        for (std::size_t i = 0; i < alike.size(); ++i) {
          Decisions flipped = alike.substr(0, i) + (alike[i] == '0' ? '1' : '0');
          routes.push_back(straight(stateAfter(flipped), side, flipped));
        }
      }
    }
    return std::ranges::all_of(routes, [&](const Decisions &route) { return follow(route); });
  }
  int stateAfter(const Decisions &decisions) const {
    int q = first;
    for (char side : decisions)
      if (!graph[q].isEnd)
        q = to(q, side);
    return q;
  }
  // Goes on with one side as long as that leads to no state a second time, and then to the end.
  Decisions straight(int q, char side, Decisions decisions) const {
    std::vector<bool> seen(graph.size());
    while (!graph[q].isEnd && !seen[at(q)]) {
      seen[at(q)] = true;
      decisions += side;
      q = to(q, side);
    }
    return decisions + finish(q);
  }

  // The limits of the counters of which a decision's edges, or those of its loop, have a gate.
  std::set<std::size_t> limitsOf(int q) const {
    std::set<std::size_t> found;
    const int loop = graph.innermost[at(q)];
    for (int state = 1; state < size(); ++state)
      if (graph[state].isGate() && loop >= 0 && graph.loopOf(loop).contains(state))
        found.insert(graph.limits[at(graph[state].counter)]);
    return found;
  }

  // Each way around a loop, often, and the ways out after some iterations.
  bool loops() {
    std::set<int> followed;
    for (int q = 1; q < size(); ++q) {
      if (graph[q].isEnd || !access[at(q)])
        continue;
      for (char side : {'0', '1'}) {
        const std::vector<std::optional<Decisions>> &back = from(to(q, side));
        if (!back[at(q)])
          continue;
        const Decisions around = side + *back[at(q)];
        auto repeated = [&](std::size_t times) {
          Decisions decisions;
          decisions.reserve(times * around.size());
          for (std::size_t i = 0; i < times; ++i)
            decisions += around;
          return decisions;
        };
        // One way around is followed far, the others less.
        const int loop = graph.innermost[at(q)];
        const bool isFar = loop >= 0 && followed.insert(loop).second;
        const std::size_t steps = std::min(limits.steps, Limits().steps) / (isFar ? 1 : 16);
        const std::size_t longest = std::clamp<std::size_t>(steps / weightOf(q, around), 20, 512);
        for (std::size_t times : {std::min<std::size_t>(64, longest), longest})
          if (!follow(*access[at(q)] + repeated(times) + finish(q)))
            return false;
        for (const Decisions &other : otherAccesses(q))
          if (!follow(other + repeated(std::max<std::size_t>(longest / 4, 20)) + finish(q)))
            return false;
        // Each way out: an edge from where one can come back to where one can't.
        const std::vector<std::optional<Decisions>> &ahead = from(q);
        for (int out = 1; out < size(); ++out) {
          if (graph[out].isEnd || !ahead[at(out)] || !from(out)[at(q)])
            continue;
          for (char exit : {'0', '1'}) {
            if (from(to(out, exit))[at(q)])
              continue;
            std::vector<std::size_t> times{3, 7, 20};
            if (isFar)
              times.push_back(100);
            for (std::size_t limit : limitsOf(q)) // around a count
              for (std::size_t near = limit; limit && near > 0 && near + 3 > limit; --near)
                times.push_back(near);
            for (std::size_t each : times)
              if (each <= longest &&
                  !follow(*access[at(q)] + repeated(each) + *ahead[at(out)] + exit + finish(to(out, exit))))
                return false;
            // What is behind it may ask how often it went round. Where steps weigh much, not each number is tried.
            const std::size_t apart = std::min<std::size_t>(1 + limits.weight / 64, 6);
            for (std::size_t count = 1; isFar && count <= std::min<std::size_t>(longest, 24); count += apart)
              if (!follow(stayingWalk(*access[at(q)] + repeated(count) + *ahead[at(out)] + exit, to(out, exit), count)))
                return false;
            if (isFar &&
                !afterLoop(*access[at(q)] + repeated(std::min<std::size_t>(longest, 25)) + *ahead[at(out)] + exit,
                           to(out, exit)))
              return false;
          }
        }
      }
    }
    return true;
  }
  // One way around each loop, as often as the limits allow; less often where a run takes long.
  bool farLoops(const RouteOrder &order) {
    std::set<int> followed;
    auto isTooFar = [&](int loop) { return !order.tooFar || graph[loop].line.line == order.tooFar->line; };
    const bool isAnyTooFar =
        std::ranges::any_of(graph.innermost, [&](int loop) { return loop >= 0 && isTooFar(loop); });
    for (int q = 1; q < size(); ++q) {
      const int loop = graph[q].isEnd ? -1 : graph.innermost[at(q)];
      if (loop < 0 || !access[at(q)])
        continue;
      for (char side : {'0', '1'}) {
        const std::optional<Decisions> back = from(to(q, side))[at(q)];
        if (!back || !followed.insert(loop).second)
          continue;
        if (order.before && isAnyTooFar && !isTooFar(loop)) {
          iterations[at(loop)] = (*order.before)[at(loop)];
          continue;
        }
        const Decisions around = side + *back;
        const std::size_t most = std::clamp<std::size_t>(limits.steps / weightOf(q, around), 20, limits.iterations);
        std::size_t longest = 0;
        for (std::size_t times : {most / 8, most}) {
          if (order.before && times < most)
            continue; // its pace is known
          const auto start = std::chrono::steady_clock::now();
          Decisions decisions = *access[at(q)];
          for (longest = 0; longest < std::max<std::size_t>(times, 20); ++longest)
            decisions += around;
          if (!follow(decisions + finish(q)))
            return false;
          if (std::chrono::steady_clock::now() - start > limits.longRun)
            break;
        }
        iterations[at(loop)] = longest;
      }
    }
    return true;
  }
  // Every decision that comes behind a loop, and twice around each loop there.
  bool afterLoop(const Decisions &before, int into) {
    const std::vector<std::optional<Decisions>> &ahead = from(into);
    for (int below = 1; below < size(); ++below) {
      if (graph[below].isEnd || !ahead[at(below)])
        continue;
      for (char next : {'0', '1'}) {
        const Decisions way = before + *ahead[at(below)];
        std::optional<Decisions> back = from(to(below, next))[at(below)];
        if (!follow(way + (back ? next + *back + next + *back : Decisions()) + next + finish(to(below, next))))
          return false;
      }
    }
    return true;
  }
  // Ways to a state that take another edge into a state that there are several into: what the host has counted or set
  // before may differ.
  std::vector<Decisions> otherAccesses(int q) const {
    std::vector<Decisions> ways;
    for (int p = 1; p < size(); ++p) {
      if (graph[p].isEnd || !access[at(p)])
        continue;
      for (char side : {'0', '1'}) {
        const int into = to(p, side);
        if (graph[into].isEnd || *access[at(into)] == *access[at(p)] + side || from(into)[at(p)])
          continue; // the way that is taken already, or one around a loop
        if (std::optional<Decisions> rest = from(into)[at(q)])
          ways.push_back(*access[at(p)] + side + *rest);
      }
    }
    return ways;
  }
  // What a way from a state costs.
  std::size_t weightOf(int q, const Decisions &decisions) const {
    std::size_t count = 0;
    for (char side : decisions) {
      count += graph[q].steps.size();
      std::size_t slot = side == '1';
      do {
        const Edge &edge = graph[q].edges[slot];
        count += edge.steps.size();
        q = edge.to;
        slot = 0;
      } while (graph[q].isGate());
    }
    return limits.weight * count + decisions.size();
  }
  // What a path costs.
  std::size_t weightOf(const Decisions &decisions) const { return limits.weight * stepsOn(graph, decisions) + 10; }

  // Behind each way into a state that there are several into, every decision that can come.
  bool merges() {
    std::size_t budget = limits.merged;
    std::vector<int> ways(graph.size());
    for (int q = 0; q < size(); ++q)
      forEachNext(q, [&](int next) { ++ways[at(next)]; });
    for (int q = 1; q < size(); ++q) {
      if (graph[q].isEnd || !access[at(q)])
        continue;
      for (char side : {'0', '1'}) {
        int into = to(q, side);
        if (ways[at(into)] < 2)
          continue;
        const std::vector<std::optional<Decisions>> &ahead = from(into);
        for (int below = 1; below < size(); ++below) {
          if (graph[below].isEnd || !ahead[at(below)])
            continue;
          for (char next : {'0', '1'}) {
            if (budget-- == 0)
              return true;
            if (!follow(*access[at(q)] + side + *ahead[at(below)] + next + finish(to(below, next))))
              return false;
          }
        }
      }
    }
    return true;
  }

  // Ways to each count and on from it: several times, since what goes on is not what happened to be the same on the
  // first way; and at random, since the count is not that of one side alone.
  bool counts() {
    for (int q = 1; q < size(); ++q)
      for (const char side : {'0', '1'})
        for (int gate : gatesOn(q, side))
          for (std::size_t number = 0; number < 3; ++number)
            if (!follow(throughLimit(gate, q, side, number)))
              return false;
    std::mt19937 random(54321);
    for (int q = 1; q < size(); ++q)
      for (const std::size_t limit : limitsBehind(q))
        for (std::size_t i = 0; i < (limit > 200 ? 6 : 16); ++i) {
          Decisions decisions;
          Navigator navigator(graph);
          navigator.begin();
          auto go = [&](bool side) {
            decisions += side ? '1' : '0';
            navigator.take(side);
          };
          auto isAtEnd = [&] { return navigator.isAtEnd(); };
          for (std::size_t n = i ? random() % 40 : 0; n > 0 && !isAtEnd(); --n) {
            const bool side = random() & 1;
            if (from(to(navigator.state(), side ? '1' : '0'))[at(q)])
              go(side);
            else if (from(to(navigator.state(), side ? '0' : '1'))[at(q)])
              go(!side);
            else
              break;
          }
          if (isAtEnd())
            continue;
          std::optional<Decisions> rest = from(navigator.state())[at(q)];
          if (!rest)
            continue;
          for (char side : *rest)
            if (!isAtEnd())
              go(side == '1');
          // Sides that stay in the loop that counts.
          const int own = graph.innermost[at(q)];
          const std::size_t most = 2 * (limit + 4) * (own >= 0 ? graph.loopOf(own).size() : 1);
          for (std::size_t n = 0; n < most && !isAtEnd(); ++n) {
            const bool side = random() & 1;
            go(own >= 0 && !graph.loopOf(own).contains(to(navigator.state(), side ? '1' : '0')) ? !side : side);
          }
          for (std::size_t n = random() % 8; n > 0 && !isAtEnd(); --n)
            go(random() & 1);
          if (!follow(decisions + (navigator.state() < 0 ? Decisions() : finish(navigator.state()))))
            return false;
        }
    return true;
  }
  std::set<std::size_t> limitsBehind(int q) const {
    std::set<std::size_t> found;
    for (const char side : {'0', '1'})
      for (int gate : gatesOn(q, side))
        found.insert(graph.limits[at(graph[gate].counter)]);
    return found;
  }
  std::vector<int> gatesOn(int q, char side) const {
    return graph[q].isGate() || graph[q].isEnd || !access[at(q)] ? std::vector<int>() : graph.gatesOn(q, side == '1');
  }
  // A way that makes one decision again and again until a gate's counter has reached its limit there some times, with
  // others between.
  Decisions throughLimit(int gate, int q, char side, std::size_t seed) const {
    std::mt19937 random(static_cast<unsigned>(seed + 99));
    Decisions decisions;
    Navigator navigator(graph);
    navigator.begin();
    std::size_t times = 0;
    auto go = [&](char each) {
      if (navigator.isAtEnd())
        return;
      decisions += each;
      for (auto [from, slot] : navigator.take(each == '1'))
        times += from == gate && slot == 1;
    };
    while (times < 3 && decisions.size() < 20'000 && !navigator.isAtEnd()) {
      const std::optional<Decisions> way = from(navigator.state())[at(q)];
      if (!way)
        break;
      std::ranges::for_each(*way, go);
      const std::size_t before = times;
      go(side);
      if (times > before)
        for (std::size_t n = seed ? random() % 4 : 0; n > 0; --n)
          go(random() & 1 ? '1' : '0');
    }
    return decisions + (navigator.isAtEnd() ? Decisions() : finish(navigator.state()));
  }
  // Goes on at random, and seldom leaves a loop.
  Decisions stayingWalk(Decisions decisions, int q, std::size_t seed, std::size_t length = 40) const {
    std::mt19937 random(static_cast<unsigned>(seed));
    for (; length > 0 && !graph[q].isEnd; --length) {
      bool side = random() & 1;
      const int loop = graph.innermost[at(q)];
      if (loop >= 0 && !graph.loopOf(loop).contains(to(q, side ? '1' : '0')) && random() % 16)
        side = !side;
      decisions += side ? '1' : '0';
      q = to(q, side ? '1' : '0');
    }
    return decisions + finish(q);
  }

  // How often of 16 times each decision is true on one random way: programs decide most things one way most of the
  // time, so that a value stays what it is for long.
  std::vector<unsigned> preferences(std::mt19937 &random) const {
    constexpr unsigned kOften[] = {1, 1, 4, 8, 12, 15, 15};
    std::vector<unsigned> preference(graph.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> byLine; // an unrolled loop has many states of a line
    const bool isByLine = random() & 1;
    for (int q = 0; q < size(); ++q) {
      const unsigned own = kOften[random() % std::size(kOften)];
      preference[at(q)] =
          isByLine ? byLine.try_emplace({graph[q].line.line, graph[q].line.column}, own).first->second : own;
    }
    return preference;
  }
  // A random way to a state.
  std::optional<Decisions> randomAccess(int q, std::mt19937 &random) const {
    const std::vector<unsigned> preference = preferences(random);
    Decisions decisions;
    int state = first;
    for (std::size_t length = random() % 24; length > 0 && state != q; --length) {
      const char side = random() % 16 < preference[at(state)] ? '1' : '0';
      const char chosen = graph[state].isEnd || !reaches(to(state, side), q) ? (side == '1' ? '0' : '1') : side;
      if (graph[state].isEnd || !reaches(to(state, chosen), q))
        return std::nullopt;
      decisions += chosen;
      state = to(state, chosen);
    }
    const std::optional<Decisions> rest = from(state)[at(q)];
    return rest ? std::optional(decisions + *rest) : std::nullopt;
  }
  bool reaches(int state, int q) const { return from(state)[at(q)].has_value(); }
  // Each value that an edge gives on, to where something looks at it, after different ways: what an edge gives is known
  // from the paths that look at it, and of two variables that are equal on these it may be either.
  bool uses() {
    const std::vector<std::vector<std::optional<Decisions>>> ways = waysToUses(graph);
    std::mt19937 random(777);
    std::size_t budget = limits.stepsOfSamples;
    for (std::size_t round = 0; round < 3; ++round)
      for (int q = 1; q < size(); ++q) {
        if (graph[q].isEnd || !access[at(q)])
          continue;
        for (char side : {'0', '1'}) {
          const int next = to(q, side);
          if (next < 0)
            continue;
          for (std::size_t k = 0; k < graph[next].numParameters; ++k) {
            const std::optional<Decisions> before = round == 0 && k == 0 ? access[at(q)] : randomAccess(q, random);
            if (!before || !ways[at(next)][k])
              continue;
            const Decisions way = *before + side + *ways[at(next)][k];
            const Decisions route = way + finish(stateAfter(way));
            const std::size_t cost = weightOf(route);
            if (budget < cost)
              return true;
            budget -= cost;
            if (!follow(route))
              return false;
          }
        }
      }
    return true;
  }

  // Short random ways, and long ones that seldom leave a loop: what the host has counted or set in one loop may matter
  // in another one.
  bool randomly() {
    std::mt19937 random(12345);
    std::size_t budget = limits.stepsOfSamples;
    const std::size_t least = std::max(kLeastSamples / limits.weight, kLeastWeighty);
    for (std::size_t i = 0; i < limits.samples; ++i) {
      Decisions decisions;
      int q = first;
      if (i % 4 == 1) {
        decisions = stayingWalk("", first, i, 40 + random() % 260);
        q = stateAfter(decisions);
      } else if (i % 4) {
        const std::vector<unsigned> preference = preferences(random);
        for (std::size_t length = 8 + random() % 120; length > 0 && !graph[q].isEnd; --length) {
          const char side = random() % 16 < preference[at(q)] ? '1' : '0';
          decisions += side;
          q = to(q, side);
        }
      } else {
        for (std::size_t length = 8 + random() % 64; length > 0 && !graph[q].isEnd; --length) {
          const char side = random() & 1 ? '1' : '0';
          decisions += side;
          q = to(q, side);
        }
      }
      decisions += finish(q);
      const std::size_t cost = weightOf(decisions);
      if (i >= least && budget < cost)
        break;
      budget -= std::min(budget, cost);
      if (!follow(decisions))
        return false;
    }
    return true;
  }

  const Graph &graph;
  const Limits &limits;
  absl::FunctionRef<bool(const Decisions &)> follow;
  std::vector<std::size_t> &iterations;
  const int first;
  std::vector<int> toEnd;
  std::vector<std::optional<Decisions>> access;
  mutable std::vector<std::vector<std::optional<Decisions>>> waysFrom; // where they have been asked for
};

} // namespace

bool forEachRoute(const Graph &graph, const Limits &limits, absl::FunctionRef<bool(const Decisions &)> follow,
                  std::vector<std::size_t> &iterations, RouteOrder &order) {
  return Routes(graph, limits, follow, iterations).run(order);
}

} // namespace calque::detail::native
