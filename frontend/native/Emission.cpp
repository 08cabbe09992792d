#include "frontend/native/Emission.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"
#include "frontend/native/Following.h"
#include "frontend/native/ParameterTypes.h"
#include "frontend/native/UnknownSizes.h"
#include "frontend/native/Ways.h"

#include <algorithm>
#include <map>
#include <set>

namespace calque::detail::native {

namespace {

// Where control may be after a piece of the graph: at one of some states, with its arguments.
struct Outcome {
  std::map<int, std::vector<Tensor>>
      arguments; // of each state that it may be at; none: it is nowhere, since all throws
  Tensor chosen; // the state, where there are several: an int32 scalar
};

// The most regions inside of regions.
constexpr int kMostNesting = 200;
constexpr std::size_t kMostRegions = 3000; // altogether: cases that lead into each other are repeated in each other
// Of a loop that its learner has not followed as such.
constexpr std::size_t kLeastIterations = 20;

class GraphEmission {
public:
  GraphEmission(const Graph &graph, const std::vector<std::vector<Sample>> &samples, const Vocabulary &vocabulary,
                bool counts)
      : graph(graph), vocabulary(vocabulary), types(graph, samples, vocabulary), counts(counts), ways(graph),
        sizes(graph, vocabulary) {}

  std::vector<Tensor> run() {
    requireLoops();
    States ends = ways.reach(graph[Graph::kStart].edges[0].to, {});
    std::erase_if(ends, [&](int q) { return !graph[q].isEnd || graph[q].throws; });
    if (ends.empty())
      throw NotCaptured{"every path throws", graph[1].line};
    if (ends.size() > 1)
      throw NotCaptured{absl::StrCat("its paths return results of different types or structures, ",
                                     typesOf(*ends.begin()), " and ", typesOf(*std::next(ends.begin()))),
                        graph[1].line};
    Values start{Graph::kStart, {}, {}};
    Outcome outcome = go(start, 0, ends);
    Values end{*ends.begin(), complete(*ends.begin(), outcome.arguments.at(*ends.begin())), {}};
    prologue(end);
    std::vector<Tensor> results;
    for (const Origin &result : graph[end.state].results)
      results.push_back(value(end, result));
    return results;
  }

private:
  // A range or a tensor may be gone through in no loop, where the first iteration returns.
  void requireLoops() const {
    for (int q = 1; q < static_cast<int>(graph.size()); ++q)
      if (graph[q].marks.isCheckpointed && !graph[q].marks.isDeclared && ways.loopOf(q, {}).empty())
        throw NotCaptured{"checkpointed() is about the C++ loop whose condition it is given, and this condition is in "
                          "no loop on tensors",
                          graph[q].line};
  }

  // What an end returns, as messages say it.
  std::string typesOf(int end) const {
    std::string_view text = vocabulary.messageOf(graph[end].end);
    std::string_view types = text.substr(text.find(kTypesOfEnd) + 1);
    return types.empty() ? "none" : std::string(types);
  }

  // The values of a state.
  struct Values {
    int state;
    std::vector<Tensor> parameters;
    std::vector<Tensor> locals; // by distance
  };

  SourceLocation lineOf(int state) const { return locationOf(graph[state].line); }

  Tensor value(const Values &values, const Origin &operand) const {
    switch (operand.from) {
    case Origin::From::Outside:
      return vocabulary.outside(operand.number);
    case Origin::From::Parameter:
      return values.parameters[static_cast<std::size_t>(operand.number)];
    case Origin::From::Local:
      return values.locals[static_cast<std::size_t>(operand.number)];
    case Origin::From::None:
      break;
    }
    return Tensor();
  }

  void steps(Values &values, const std::vector<GraphStep> &list) {
    for (const GraphStep &step : list) {
      if (vocabulary.hasEffect(step.kind))
        requireNotBeyond();
      std::vector<Tensor> operands;
      for (const Origin &operand : step.operands)
        operands.push_back(value(values, operand));
      std::vector<Tensor> results = vocabulary.apply(step.kind, operands);
      const auto first = static_cast<std::size_t>(step.local);
      values.locals.resize(std::max(values.locals.size(), first + std::max<std::size_t>(results.size(), 1)));
      std::ranges::move(results, values.locals.begin() + step.local);
    }
  }
  void prologue(Values &values) { steps(values, graph[values.state].steps); }

  //===-- Outcomes as results of operations -----------------------------------------------------===//

  // What a parameter is on ways on which nothing looks at it.
  Tensor unusedValue(int state, std::size_t parameter) const {
    const schema::TensorType &type = types.of(state, parameter);
    if (type.isStatic())
      return zeros(Shape(type.dims), type.dtype, lineOf(state));
    const std::optional<Shape> shape = sizes.shapeOf(state, parameter, around);
    if (!shape)
      throw NotCaptured{"a value whose sizes only the call knows, " + type.str() +
                            ", leaves the loop or branch at one of several places",
                        graph[state].line};
    return zeros(*shape, type.dtype, lineOf(state));
  }
  std::vector<Tensor> complete(int state, std::vector<Tensor> arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (!arguments[i].defined())
        arguments[i] = unusedValue(state, i);
    return arguments;
  }
  static Tensor number(int n, SourceLocation where) { return full({}, Operand(n, where), DType::Int32); }

  Produced flat(const Outcome &outcome, const States &order, SourceLocation where) const {
    Produced produced;
    if (order.size() > 1)
      produced.tensors.push_back(outcome.chosen.defined()       ? outcome.chosen
                                 : outcome.arguments.size() > 0 ? number(outcome.arguments.begin()->first, where)
                                                                : number(*order.begin(), where));
    for (int state : order) {
      auto found = outcome.arguments.find(state);
      for (std::size_t i = 0; i < graph[state].numParameters; ++i)
        produced.tensors.push_back(
            found != outcome.arguments.end() && found->second[i].defined() ? found->second[i] : unusedValue(state, i));
    }
    return produced;
  }
  Outcome outcomeOf(const std::vector<Tensor> &tensors, const States &order) const {
    Outcome outcome;
    auto next = tensors.begin();
    if (order.size() > 1)
      outcome.chosen = *next++;
    for (int state : order) {
      auto end = next + static_cast<std::ptrdiff_t>(graph[state].numParameters);
      outcome.arguments[state].assign(next, end);
      next = end;
    }
    return outcome;
  }

  //===-- Values that pass by -------------------------------------------------------------------===//

  // Whether two handles are of one value.
  static bool areSame(const Tensor &a, const Tensor &b) {
    const TensorImpl &x = *a.impl(), &y = *b.impl();
    return &x == &y || (x.trace && x.trace == y.trace && x.value == y.value);
  }
  static bool isVisible(const Tensor &x) { return !x.impl()->trace || currentTrace()->sees(x.impl()->trace); }

  // A branch on a condition. What all ways to a state have from before stays the value that it was: derivatives with
  // respect to it would not know it as a result.
  template <typename Side>
  Outcome branch(const Tensor &condition, const States &order, bool mayGoBeyond, SourceLocation where, Side side) {
    Outcome given[2];
    const Tensor before = beyond;
    auto body = [&](std::size_t number) -> BranchBody {
      return [&, number] {
        return nested(where, [&] {
          beyond = before;
          given[number] = side(number);
          Produced produced = flat(given[number], order, where);
          if (mayGoBeyond)
            produced.tensors.push_back(beyondOr(false, where));
          return produced;
        });
      };
    };
    std::vector<Tensor> results = runCond("if", condition, body(1), body(0), where);
    beyond = mayGoBeyond ? results.back() : before;
    Outcome outcome = outcomeOf(results, order);
    for (auto &[state, arguments] : outcome.arguments)
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        Tensor common;
        bool isCommon = true;
        for (const Outcome &each : given)
          if (auto found = each.arguments.find(state); found != each.arguments.end() && found->second[i].defined()) {
            const Tensor &x = found->second[i];
            isCommon = isCommon && isVisible(x) && (!common.defined() || areSame(common, x));
            common = x;
          }
        if (isCommon && common.defined())
          arguments[i] = common;
      }
    join(outcome, given);
    return outcome;
  }

  // What each side gives as one value stays one.
  static void join(Outcome &outcome, const Outcome (&given)[2]) {
    std::map<std::vector<std::tuple<std::size_t, std::uint64_t, std::uint64_t>>, Tensor> known;
    for (auto &[state, arguments] : outcome.arguments)
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::vector<std::tuple<std::size_t, std::uint64_t, std::uint64_t>> names;
        for (std::size_t side = 0; side < 2; ++side)
          if (auto found = given[side].arguments.find(state);
              found != given[side].arguments.end() && found->second[i].defined()) {
            const TensorImpl &x = *found->second[i].impl();
            names.emplace_back(side, x.trace, x.trace ? static_cast<std::uint64_t>(schema::index(x.value)) : x.id);
          }
        if (!names.empty())
          arguments[i] = known.try_emplace(std::move(names), arguments[i]).first->second;
      }
  }

  // The arguments of a state after a loop: those that the last iteration has from before the loop are what they were.
  // `always`: there was an iteration. Without one, a variable that an iteration takes from another is still its own.
  void passBy(std::vector<Tensor> &after, const std::vector<Tensor> &ofBody, const std::vector<Tensor> &parameters,
              const std::vector<Tensor> &initial, const std::vector<bool> &isInvariant, bool always) const {
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!ofBody[i].defined())
        continue;
      if (always && isVisible(ofBody[i]))
        after[i] = ofBody[i];
      for (std::size_t k = 0; k < parameters.size(); ++k)
        if (isInvariant[k] && areSame(ofBody[i], parameters[k]) && (always || i == k))
          after[i] = initial[k];
    }
  }
  // Which parameters an iteration leaves as they are.
  static std::vector<bool> invariants(const Outcome &body, int q, const std::vector<Tensor> &parameters) {
    std::vector<bool> isInvariant(parameters.size());
    auto found = body.arguments.find(q);
    for (std::size_t k = 0; found != body.arguments.end() && k < parameters.size(); ++k)
      isInvariant[k] = !found->second[k].defined() || areSame(found->second[k], parameters[k]);
    return isInvariant;
  }

  //===-- Emission ------------------------------------------------------------------------------===//

  // What follows a decision, or the start, up to targets.
  Outcome go(Values values, std::size_t side, const States &targets) {
    const Edge &edge = graph[values.state].edges[side];
    steps(values, edge.steps);
    std::vector<Tensor> arguments;
    for (const Origin &argument : edge.arguments)
      arguments.push_back(value(values, argument));
    return arrive(edge.to, std::move(arguments), targets);
  }

  Outcome arrive(int q, std::vector<Tensor> arguments, const States &targets) {
    if (targets.contains(q)) {
      Outcome outcome;
      outcome.arguments.emplace(q, std::move(arguments));
      return outcome;
    }
    Values values{q, complete(q, std::move(arguments)), {}};
    if (graph[q].isEnd)
      return fail(values);
    const States loop = ways.loopOf(q, targets);
    return loop.empty() ? pass(std::move(values), targets) : iterate(std::move(values), loop, targets);
  }

  // What follows a state, which decides nothing if it has one edge.
  Outcome pass(Values values, const States &targets) {
    return graph[values.state].edges[1].to < 0 ? go(std::move(values), 0, targets) : decide(std::move(values), targets);
  }

  // An end that throws.
  Outcome fail(Values &values) {
    if (!graph[values.state].throws)
      throw NotCaptured{"its branches and loops overlap", graph[values.state].line};
    prologue(values);
    requireNotBeyond();
    const SourceLocation where = lastDecision;
    Tensor never = full({}, Operand(false, where), DType::Bool);
    assert_true(Operand(never, where), vocabulary.messageOf(graph[values.state].end));
    return {};
  }

  Outcome decide(Values values, const States &targets) {
    const int q = values.state;
    around.emplace_back(q, values.parameters);
    absl::Cleanup leave = [this] { around.pop_back(); };
    const SourceLocation where = lineOf(q);
    lastDecision = where;
    prologue(values);
    // Where both sides come to.
    States sides[2], both, merges;
    for (std::size_t side = 0; side < 2; ++side)
      sides[side] = ways.reach(graph[q].edges[side].to, targets);
    for (int state : sides[0])
      if (sides[1].contains(state) && !targets.contains(state))
        both.insert(state);
    for (std::size_t side = 0; side < 2; ++side) {
      if (both.contains(graph[q].edges[side].to))
        merges.insert(graph[q].edges[side].to);
      for (int state : sides[side])
        if (!both.contains(state) && !targets.contains(state))
          ways.forEachNext(state, [&](int next) {
            if (both.contains(next))
              merges.insert(next);
          });
    }
    // What throws has no continuation to share.
    std::erase_if(merges, [&](int state) { return graph[state].isEnd; });
    const States inner = Ways::joined(targets, merges);
    States order;
    for (std::size_t side = 0; side < 2; ++side)
      order.merge(ways.exits(graph[q].edges[side].to, inner));
    const bool mayGoBeyond = isScalar && std::ranges::any_of(graph[q].edges, [&](const Edge &edge) {
                               return edge.to >= 0 && hasLoop(ways.reach(edge.to, inner), inner);
                             });
    Outcome outcome = branch(value(values, graph[q].condition), order, mayGoBeyond, where,
                             [&](std::size_t side) { return go(values, side, inner); });
    return goOn(std::move(outcome), ways.inOrder(merges, targets), targets, where);
  }

  // Goes on from states at which control may be, in order.
  Outcome goOn(Outcome outcome, const std::vector<int> &order, const States &targets, SourceLocation where) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto here = outcome.arguments.find(order[i]);
      if (here == outcome.arguments.end())
        continue;
      States later = targets;
      later.insert(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end());
      std::vector<Tensor> arguments = here->second;
      if (outcome.arguments.size() == 1) {
        outcome = arrive(order[i], std::move(arguments), later);
        continue;
      }
      States next = ways.exits(order[i], later);
      for (const auto &[state, given] : outcome.arguments)
        if (state != order[i])
          next.insert(state);
      Outcome others = outcome;
      others.arguments.erase(order[i]);
      if (others.arguments.size() == 1)
        others.chosen = Tensor();
      Tensor isHere = equal(Operand(outcome.chosen, where), Operand(order[i], where));
      const bool mayGoBeyond = isScalar && hasLoop(ways.reach(order[i], later), later);
      outcome = branch(isHere, next, mayGoBeyond, where,
                       [&](std::size_t side) { return side == 1 ? arrive(order[i], arguments, later) : others; });
    }
    return outcome;
  }

  template <typename Body> Produced nested(SourceLocation where, Body body) {
    if (++regions > kMostRegions)
      throw NotCaptured{"its C++ flags and numbers make too many cases: keep them in tensors", detail::lineOf(where)};
    if (++nesting > kMostNesting)
      throw NotCaptured{"its branches are nested too deeply", detail::lineOf(where)};
    Produced produced = body();
    --nesting;
    return produced;
  }

  Outcome iterate(Values values, const States &loop, const States &targets) {
    const int q = values.state;
    around.emplace_back(q, values.parameters);
    absl::Cleanup leave = [this] { around.pop_back(); };
    const SourceLocation where = lineOf(q);
    // The ways out, but for those that throw.
    States out;
    std::size_t waysOut = 0, sideOut = 2;
    for (int state : loop)
      graph[state].forEachEdge([&](std::size_t side, const Edge &edge) {
        if (loop.contains(edge.to))
          return;
        ++waysOut;
        if (graph[edge.to].throws)
          return; // is part of the body
        out.insert(edge.to);
        sideOut = state == q ? side : 2;
      });
    if (out.empty())
      throw NotCaptured{"no decision leads out of the loop", graph[q].line};

    if (waysOut == 1 && sideOut < 2 && isCheap(q)) {
      // A condition before each iteration. What it computes is computed again where the body or what follows needs it.
      const std::size_t sideIn = 1 - sideOut;
      auto at = [&](const std::vector<Tensor> &variables) {
        Values now{q, variables, {}};
        prologue(now);
        return now;
      };
      Outcome body;
      std::vector<Tensor> parameters;
      std::vector<Tensor> last = countedWhile(
          q, loop,
          [&](const std::vector<Tensor> &variables) {
            Tensor condition = value(at(variables), graph[q].condition);
            return sideIn == 1 ? condition : logical_not(Operand(condition, where));
          },
          [&](const std::vector<Tensor> &variables) {
            parameters = variables;
            body = go(at(variables), sideIn, {q});
            return flat(body, {q}, where);
          },
          Produced{values.parameters, {}, {}, {}}, where);
      if (auto next = body.arguments.find(q); next != body.arguments.end())
        passBy(last, next->second, parameters, values.parameters, invariants(body, q, parameters), false);
      return go(at(last), sideOut, targets);
    }

    // A variable says where control is: at the loop's begin, or at one of the ways out.
    States order = out;
    order.insert(q);
    Outcome begin;
    begin.arguments[q] = values.parameters;
    const States inner = Ways::joined(targets, order);
    Outcome body;
    std::vector<Tensor> parameters;
    std::vector<Tensor> last = countedWhile(
        q, loop,
        [&](const std::vector<Tensor> &variables) { return equal(Operand(variables[0], where), Operand(q, where)); },
        [&](const std::vector<Tensor> &variables) {
          parameters = outcomeOf(variables, order).arguments.at(q);
          body = pass(Values{q, parameters, {}}, inner);
          return flat(body, order, where);
        },
        startOf(begin, q, order, where), where);
    Outcome outcome = outcomeOf(last, order);
    outcome.arguments.erase(q);
    for (auto &[state, arguments] : outcome.arguments)
      if (auto given = body.arguments.find(state); given != body.arguments.end())
        passBy(arguments, given->second, parameters, values.parameters, invariants(body, q, parameters), true);
    if (outcome.arguments.size() == 1)
      outcome.chosen = Tensor();
    States onwards = out;
    std::erase_if(onwards, [&](int state) { return targets.contains(state); });
    return goOn(std::move(outcome), ways.inOrder(onwards, targets), targets, where);
  }
  Produced startOf(Outcome begin, int q, const States &order, SourceLocation where) const {
    begin.chosen = number(q, where);
    return flat(begin, order, where);
  }

  //===-- How far loops go --------------------------------------------------------------------------===//

  // Fails the call if a loop has gone on farther than it was followed.
  void requireNotBeyond() {
    if (!beyond.defined())
      return;
    CalledAs name(recordedNameOf(LibraryCheck::LoopFollowed));
    assert_true(Operand(logical_not(Operand(beyond, beyondAt)), beyondAt), tooFarText(beyondAfter));
    beyond = Tensor();
  }
  Tensor beyondOr(bool otherwise, SourceLocation where) const {
    return beyond.defined() ? beyond : full({}, Operand(otherwise, where), DType::Bool);
  }

  // A loop of the program, which ends after as many iterations as were followed.
  std::vector<Tensor> countedWhile(int q, const States &loop, const LoopCondition &condition, const LoopBody &body,
                                   Produced initial, SourceLocation where) {
    auto inRegion = [&](const std::vector<Tensor> &variables) {
      return nested(where, [&] { return body(variables); });
    };
    const std::optional<std::size_t> most = ways.isEnded(q, loop) ? std::nullopt : graph[q].iterations;
    const WhileOptions options{.checkpoint = ways.isCheckpointed(q, loop)};
    if (!counts || (!most && !ways.hasInnerLoop(q, loop)))
      return runWhile("while", condition, inRegion, initial, options, where);
    // A loop on scalars is computed in registers, which a check inside of it would prevent.
    const bool isScalarLoop = isScalar || std::ranges::all_of(loop, [&](int state) { return hasScalars(state); });
    const bool carries = isScalarLoop && ways.hasInnerLoop(q, loop);
    const bool wasScalar = std::exchange(isScalar, isScalarLoop);
    const Tensor before = beyond;
    const std::size_t own = initial.tensors.size();
    auto ownOf = [&](const std::vector<Tensor> &variables) {
      return std::vector<Tensor>(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(own));
    };
    if (most)
      initial.tensors.push_back(full({}, Operand(0, where), DType::Int64));
    if (carries)
      initial.tensors.push_back(full({}, Operand(false, where), DType::Bool));
    std::vector<Tensor> last = runWhile(
        "while",
        [&](const std::vector<Tensor> &variables) {
          Tensor goesOn = condition(ownOf(variables));
          auto require = [&](const Tensor &also) {
            goesOn = logical_and(Operand(goesOn, where), Operand(also, where));
          };
          if (most)
            require(less(Operand(variables[own], where), Operand(mostOf(*most), where)));
          if (carries)
            require(logical_not(Operand(variables.back(), where)));
          return goesOn;
        },
        [&](const std::vector<Tensor> &variables) {
          beyond = Tensor();
          Produced produced = inRegion(ownOf(variables));
          if (most)
            produced.tensors.push_back(add(Operand(variables[own], where), Operand(1, where)));
          if (carries)
            produced.tensors.push_back(beyondOr(false, where));
          else
            requireNotBeyond();
          return produced;
        },
        initial, options, where);
    isScalar = wasScalar;
    beyond = before;
    auto mayBe = [&](const Tensor &now) {
      beyond = beyond.defined() ? logical_or(Operand(beyond, where), Operand(now, where)) : now;
    };
    if (most) {
      mayBe(greater_equal(Operand(last[own], where), Operand(mostOf(*most), where)));
      beyondAt = where;
      beyondAfter = *most;
    }
    if (carries)
      mayBe(last.back());
    if (!isScalar)
      requireNotBeyond();
    return ownOf(last);
  }
  // Every loop is followed for some iterations, also where it became one by how the graph was divided.
  static std::int64_t mostOf(std::size_t iterations) {
    return static_cast<std::int64_t>(std::max(iterations, kLeastIterations));
  }
  bool hasLoop(const States &states, const States &targets) const {
    return counts && std::ranges::any_of(states, [&](int state) {
             return !targets.contains(state) && !graph[state].isEnd && !ways.loopOf(state, targets).empty();
           });
  }
  // Whether a state and what follows it up to the next has scalars alone, and no effect.
  bool hasScalars(int q) const {
    auto areScalars = [&](const std::vector<GraphStep> &list) {
      return std::ranges::all_of(list, [&](const GraphStep &step) { return isOnScalars(step); });
    };
    return areScalars(graph[q].steps) &&
           std::ranges::all_of(graph[q].edges, [&](const Edge &edge) { return areScalars(edge.steps); });
  }
  bool isOnScalars(const GraphStep &step) const {
    const schema::TensorType *type = vocabulary.typeOf(step.kind, 0);
    return !vocabulary.hasEffect(step.kind) && type && type->rank() == 0;
  }

  // Whether a state's own steps may be run twice in an iteration: they have no effect, and scalars alone.
  bool isCheap(int q) const {
    return std::ranges::all_of(graph[q].steps, [&](const GraphStep &step) { return isOnScalars(step); });
  }

  const Graph &graph;
  const Vocabulary &vocabulary;
  const ParameterTypes types;
  const bool counts; // iterations
  const Ways ways;
  mutable UnknownSizes sizes;              // finds them where it is asked first
  std::vector<UnknownSizes::Known> around; // the states whose branches or iterations are being made
  SourceLocation lastDecision;
  int nesting = 0;
  std::size_t regions = 0;
  bool isScalar = false; // the loop around
  // Whether a loop before has gone on too far, which is checked later; undefined: none has. The last such loop, and how
  // many of its iterations were followed.
  Tensor beyond;
  SourceLocation beyondAt;
  std::size_t beyondAfter = 0;
};

} // namespace

std::vector<Tensor> emit(const Graph &graph, const std::vector<std::vector<Sample>> &samples,
                         const Vocabulary &vocabulary, bool counts) {
  return GraphEmission(graph, samples, vocabulary, counts).run();
}

} // namespace calque::detail::native
