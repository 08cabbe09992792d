#include "test/fuzz/Differences.h"

#include "test/fuzz/Extern.h"
#include "test/fuzz/Kernels.h"

#include <algorithm>

namespace calque::fuzz {

namespace {

// What values are while others move; of a transformation's step also its body's, one for each example.
struct Environment {
  std::vector<ArrayRef> values;
  std::vector<std::shared_ptr<const std::vector<Environment>>> bodies; // by step
};

// Where a value goes: by these multiples of how far the sources move.
struct Move {
  int value;
  std::vector<std::pair<std::size_t, Real>> by; // of elements
};

struct Element {
  Real value = 0, doubt = 0; // `doubt`: what the differences themselves may be off by
};
using Elements = std::vector<std::vector<Element>>; // by result

using Numbers = std::vector<Real>;

bool isDoubtful(const Element &element) { return !(element.doubt <= std::max<Real>(1, std::fabs(element.value)) / 64); }

// The derivatives of some numbers at 0, or of their weighed sum.
std::vector<Element> derive(const std::function<Numbers(Real)> &f, Real h, const Numbers *weights, bool withDoubt) {
  Numbers plus1 = f(h), minus1 = f(-h), plus2 = f(2 * h), minus2 = f(-2 * h), plusHalf, minusHalf, here;
  if (withDoubt) {
    plusHalf = f(h / 2);
    minusHalf = f(-h / 2);
    here = f(0);
  }
  auto at = [&](std::size_t first, std::size_t last, const Numbers *weights) {
    auto difference = [&](const Numbers &a, const Numbers &b) {
      Real sum = 0;
      for (std::size_t i = first; i < last; ++i)
        if (Real d = a[i] - b[i]; d != 0)
          sum += weights ? (*weights)[i] * d : d;
      return sum;
    };
    Element result;
    result.value = (8 * difference(plus1, minus1) - difference(plus2, minus2)) / (12 * h);
    if (!withDoubt)
      return result;
    Real finer = (8 * difference(plusHalf, minusHalf) - difference(plus1, minus1)) / (6 * h);
    auto bend = [&](const Numbers &above, const Numbers &below, Real by) { return (difference(above, here) - difference(here, below)) / by; };
    // Of a smooth function the bend halves with the step; at a kink it stays.
    Real kink = 2 * bend(plusHalf, minusHalf, h / 2) - bend(plus1, minus1, h);
    result.doubt = 8 * std::fabs(result.value - finer) + 4 * std::fabs(kink);
    result.value = finer;
    return result;
  };
  std::vector<Element> elements;
  if (!weights) {
    for (std::size_t i = 0; i < plus1.size(); ++i)
      elements.push_back(at(i, i + 1, nullptr));
    return elements;
  }
  elements.push_back(at(0, plus1.size(), weights));
  // A weight of zero does not hide a derivative that is infinite.
  for (std::size_t i = 0; withDoubt && i < plus1.size(); ++i)
    if ((*weights)[i] == 0 && isDoubtful(at(i, i + 1, nullptr)))
      elements[0].doubt = kUnknown;
  return elements;
}

// How far elements near a value are moved.
Real stepAt(Real value) { return std::ldexp(std::max<Real>(1, std::fabs(value)), -11); }

ArrayRef zerosOf(const TensorType &type) {
  auto array = std::make_shared<Array>();
  array->type = type;
  array->elements.resize(static_cast<std::size_t>(countOf(type)));
  return array;
}
ArrayRef arrayOf(const TensorType &type, const std::vector<Element> &elements) {
  auto array = std::make_shared<Array>();
  array->type = type;
  for (const Element &element : elements)
    array->elements.push_back({element.value, 0, 0});
  return array;
}

class Differences {
public:
  Differences(const Program &program, unsigned run, std::uint64_t salt = 0) : program(program), run(run), salt(salt) {}

  // The environment with the steps [begin, end) computed without rounding.
  Environment smooth(std::vector<ArrayRef> values, int begin, int end) const {
    values.resize(static_cast<std::size_t>(program.numValues()));
    Environment environment{std::move(values), {}};
    environment.bodies.resize(program.steps.size());
    for (int i = begin; i < end; ++i)
      advance(environment, environment, i);
    return environment;
  }

  // The derivatives of a gradient step in an environment.
  Elements gradient(const Environment &base, int index, bool withDoubt) const {
    const Step &step = program.steps[index];
    auto targets = static_cast<std::size_t>(step.tape->numTargets);
    std::size_t first = targets * (step.tape->seeded ? 2 : 1);
    std::vector<int> targetValues(step.operands.begin(), step.operands.begin() + static_cast<std::ptrdiff_t>(targets)), seeds;
    if (step.tape->seeded)
      seeds.assign(step.operands.begin() + static_cast<std::ptrdiff_t>(targets), step.operands.begin() + static_cast<std::ptrdiff_t>(first));
    Elements result;
    for (std::size_t r = 0; r < step.types.size(); ++r) {
      std::vector<int> moved;
      if (first + r < step.operands.size()) {
        moved = {step.operands[first + r]};
      } else {
        int variable = step.tape->variableSources[first + r - step.operands.size()];
        if (program.variables[variable].trainable)
          moved = readsIn(*step.tape, index, variable);
      }
      Seen seen{step.tape->begin, index, &*step.tape};
      result.push_back(cotangents(base, seen, moved, targetValues, seeds, step.types[r], withDoubt));
    }
    return result;
  }

  // The derivatives of a jvp or vjp, around its body's environment.
  Elements derivatives(const Step &step, const Environment &environment, const Environment &body, bool withDoubt) const {
    const Transform &transform = *step.transform;
    const Program &inner = *transform.body;
    Differences differences(inner, run, saltOf(step));
    Seen seen{0, static_cast<int>(inner.steps.size()), nullptr};
    std::vector<int> arguments = argumentsOf(transform), targets;
    auto next = static_cast<std::size_t>(inner.numArguments);
    Elements result;
    if (transform.kind == Transform::Kind::Vjp) {
      std::vector<ArrayRef> seeds;
      for (std::size_t r = 0; r < inner.results.size(); ++r)
        seeds.push_back(environment.values[step.operands[next++]]);
      Numbers weights = numbersOf(seeds);
      for (int argument : arguments)
        result.push_back(differences.cotangents(body, seen, {argument}, inner.results, weights, inner.typeOf(argument), withDoubt));
      return result;
    }
    std::vector<Move> moves, others;
    Real farthest = 0, nearest = kUnknown;
    for (int argument : arguments) {
      const Array &at = *body.values[argument], &tangent = *environment.values[step.operands[next++]];
      Move move{argument, {}}, other{argument, {}};
      for (std::size_t e = 0; e < tangent.elements.size(); ++e) {
        if (tangent.elements[e].value == 0)
          other.by.emplace_back(e, std::max<Real>(1, std::fabs(at.elements[e].value)));
        if (Real by = tangent.elements[e].value; by != 0) {
          move.by.emplace_back(e, by);
          Real far = std::fabs(by) / std::max<Real>(1, std::fabs(at.elements[e].value));
          farthest = std::max(farthest, far);
          nearest = std::min(nearest, far);
        }
      }
      moves.push_back(std::move(move));
      others.push_back(std::move(other));
    }
    std::vector<bool> affected = differences.affectedBy(arguments, seen);
    std::vector<Element> all;
    if (farthest > 0)
      all = derive([&](Real by) { return differences.targetsAt(body, seen, affected, moves, inner.results, by); },
                   std::ldexp(1 / farthest, -11), nullptr, withDoubt);
    // What moves a million times less than another does not move.
    for (Element &element : all)
      if (nearest < std::ldexp(farthest, -20))
        element.doubt = kUnknown;
    // A tangent of zero does not hide a derivative that is infinite.
    if (withDoubt) {
      std::vector<Element> hidden = derive([&](Real by) { return differences.targetsAt(body, seen, affected, others, inner.results, by); },
                                           std::ldexp(Real(1), -11), nullptr, true);
      all.resize(hidden.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        if (isDoubtful(hidden[i]))
          all[i].doubt = kUnknown;
    }
    auto at = all.begin();
    for (int target : inner.results) {
      auto count = static_cast<std::ptrdiff_t>(countOf(inner.typeOf(target)));
      result.emplace_back(static_cast<std::size_t>(count));
      if (all.empty())
        continue;
      if (is_floating(inner.typeOf(target).dtype))
        result.back().assign(at, at + count);
      at += count;
    }
    return result;
  }

private:
  // The steps that a tape, or a transformation, sees.
  struct Seen {
    int begin, end;
    const TapeUse *tape;
    bool operator()(int step) const { return !tape || !tape->isPaused(step); }
  };

  static Numbers numbersOf(const std::vector<ArrayRef> &arrays) {
    Numbers numbers;
    for (const ArrayRef &array : arrays)
      for (const Num &element : array->elements)
        numbers.push_back(element.value);
    return numbers;
  }

  std::vector<Element> cotangents(const Environment &base, const Seen &seen, const std::vector<int> &moved, const std::vector<int> &targets,
                                  const std::vector<int> &seeds, const TensorType &type, bool withDoubt) const {
    std::vector<ArrayRef> weights;
    for (int seed : seeds)
      weights.push_back(base.values[seed]);
    Numbers numbers = numbersOf(weights);
    if (seeds.empty())
      for (int target : targets)
        numbers.insert(numbers.end(), static_cast<std::size_t>(countOf(program.typeOf(target))), 1);
    return cotangents(base, seen, moved, targets, numbers, type, withDoubt);
  }
  std::vector<Element> cotangents(const Environment &base, const Seen &seen, const std::vector<int> &moved, const std::vector<int> &targets,
                                  const Numbers &weights, const TensorType &type, bool withDoubt) const {
    std::vector<Element> result(static_cast<std::size_t>(countOf(type)));
    std::vector<bool> affected = affectedBy(moved, seen);
    bool reaches = false;
    for (int target : targets)
      reaches |= affected[target];
    if (!reaches)
      return result;
    for (std::size_t e = 0; e < result.size(); ++e) {
      std::vector<Move> moves;
      for (int value : moved)
        moves.push_back({value, {{e, 1}}});
      result[e] = derive([&](Real by) { return targetsAt(base, seen, affected, moves, targets, by); },
                         stepAt(base.values[moved[0]]->elements[e].value), &weights, withDoubt)[0];
    }
    return result;
  }

  std::vector<int> readsIn(const TapeUse &tape, int end, int variable) const {
    std::vector<int> reads;
    for (int i = tape.begin; i < end; ++i)
      if (!tape.isPaused(i) && program.steps[i].op == OpId::VariableRead && std::get<std::int64_t>(program.steps[i].attributes[0]) == variable)
        reads.push_back(program.steps[i].firstResult);
    return reads;
  }

  // Whether a step passes a derivative on: what is hidden keeps its value while sources move.
  static bool passes(const Step &step, int result) {
    return step.op != OpId::VariableRead && passesDerivatives(step) && is_floating(step.types[static_cast<std::size_t>(result)].dtype);
  }

  // The values that move with some others, as far as is seen.
  std::vector<bool> affectedBy(const std::vector<int> &moved, const Seen &seen) const {
    std::vector<bool> affected(static_cast<std::size_t>(program.numValues()));
    for (int value : moved)
      affected[value] = true;
    for (int i = seen.begin; i < seen.end; ++i) {
      const Step &step = program.steps[i];
      bool any = false;
      for (int operand : step.operands)
        any |= affected[operand];
      for (std::size_t r = 0; r < step.types.size(); ++r)
        if (any && seen(i) && passes(step, static_cast<int>(r)))
          affected[step.firstResult + r] = true;
    }
    return affected;
  }

  // The targets' elements where the sources are moved.
  Numbers targetsAt(const Environment &base, const Seen &seen, const std::vector<bool> &affected, const std::vector<Move> &moves,
                    const std::vector<int> &targets, Real by) const {
    Environment environment = base;
    auto apply = [&](const Move &move) {
      if (move.by.empty())
        return;
      auto array = std::make_shared<Array>(*environment.values[move.value]);
      for (auto [element, factor] : move.by)
        array->elements[element].value += by * factor;
      environment.values[move.value] = std::move(array);
    };
    for (const Move &move : moves)
      if (program.stepOf(move.value) < seen.begin)
        apply(move);
    for (int i = seen.begin; i < seen.end; ++i) {
      const Step &step = program.steps[i];
      if (seen(i))
        advanceAffected(environment, base, affected, i);
      for (const Move &move : moves)
        if (move.value >= step.firstResult && move.value < step.firstResult + static_cast<int>(step.types.size()))
          apply(move);
    }
    std::vector<ArrayRef> values;
    for (int target : targets)
      values.push_back(environment.values[target]);
    return numbersOf(values);
  }

  void advanceAffected(Environment &environment, const Environment &hidden, const std::vector<bool> &affected, int index) const {
    const Step &step = program.steps[index];
    bool any = false, computes = false;
    for (std::size_t r = 0; r < step.types.size(); ++r)
      any |= affected[step.firstResult + r];
    for (int operand : step.operands)
      computes |= affected[operand];
    if (any && computes && step.op != OpId::VariableRead)
      advance(environment, hidden, index);
  }

  // The environment of a body some of whose arguments have moved.
  Environment moved(const Environment &base, const std::vector<ArrayRef> &arguments, const std::vector<bool> &isMoved) const {
    Environment environment = base;
    std::vector<int> values;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (isMoved[i]) {
        values.push_back(static_cast<int>(i));
        environment.values[i] = arguments[i];
      }
    Seen seen{0, static_cast<int>(program.steps.size()), nullptr};
    std::vector<bool> affected = affectedBy(values, seen);
    for (int i = 0; i < seen.end; ++i)
      advanceAffected(environment, base, affected, i);
    return environment;
  }

  // Computes a step of an environment; what is hidden comes from another. Where both are the same one, nothing is hidden.
  void advance(Environment &environment, const Environment &hidden, int index) const {
    const Step &step = program.steps[index];
    if (step.types.empty())
      return;
    if (step.tape) {
      Elements found = gradient(environment, index, &environment == &hidden);
      noteDoubt(found);
      for (std::size_t r = 0; r < step.types.size(); ++r)
        environment.values[step.firstResult + r] = arrayOf(step.types[r], found[r]);
      return;
    }
    if (step.transform)
      return transform(environment, hidden, index);
    // No gradient passes through either.
    if (step.op == OpId::VariableRead || step.op == OpId::HostCall) {
      environment.values[step.firstResult] = hidden.values[step.firstResult];
      return;
    }
    std::vector<std::shared_ptr<Array>> results;
    for (const TensorType &type : step.types) {
      results.push_back(std::make_shared<Array>());
      results.back()->type = type;
      results.back()->elements.resize(static_cast<std::size_t>(countOf(type)));
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      Call call{step, {}, *results[r], false};
      for (int operand : step.operands)
        call.x.push_back(environment.values[operand].get());
      try {
        if (step.op == OpId::Extern)
          evaluateExtern(call, r);
        else
          evaluate(call);
      } catch (const Failure &) {
        throw Undecided("a step fails on unrounded values");
      }
      for (std::size_t e = 0; e < results[r]->elements.size(); ++e) {
        Num &element = results[r]->elements[e];
        if (run && element.off > kTiny)
          element.value += noise(step.firstResult + static_cast<int>(r), e) * element.off;
        element.off = element.apart = 0;
      }
      environment.values[step.firstResult + r] = std::move(results[r]);
    }
  }

  void transform(Environment &environment, const Environment &hidden, int index) const {
    const Step &step = program.steps[index];
    const Transform &transform = *step.transform;
    const Program &body = *transform.body;
    Differences inner(body, run, saltOf(step));
    bool isFirst = &environment == &hidden;
    auto count = static_cast<std::size_t>(body.numArguments);
    std::vector<bool> isMoved(count);
    for (std::size_t i = 0; i < count; ++i)
      isMoved[i] = environment.values[step.operands[i]] != hidden.values[step.operands[i]];
    auto bodies = std::make_shared<std::vector<Environment>>();
    std::int64_t examples = numExamples(program, step);
    for (std::int64_t example = 0; example < examples; ++example) {
      std::vector<ArrayRef> arguments;
      for (std::size_t i = 0; i < count; ++i)
        arguments.push_back(exampleOf(environment.values[step.operands[i]], transform.axisOf(i), example));
      if (isFirst) {
        for (std::size_t i = count; i < body.inputs.size(); ++i)
          arguments.push_back(fuzz::arrayOf(body.inputs[i].data));
        bodies->push_back(inner.smooth(std::move(arguments), 0, static_cast<int>(body.steps.size())));
      } else {
        bodies->push_back(inner.moved((*hidden.bodies[index])[static_cast<std::size_t>(example)], arguments, isMoved));
      }
    }
    inDoubt |= inner.inDoubt;
    std::vector<ArrayRef> results;
    std::size_t numValues = body.results.size();
    switch (transform.kind) {
    case Transform::Kind::Vmap:
      for (std::size_t r = 0; r < numValues; ++r) {
        std::vector<ArrayRef> all;
        for (const Environment &example : *bodies)
          all.push_back(example.values[body.results[r]]);
        results.push_back(stackOf(all, step.types[r], transform.outAxes[r]));
      }
      break;
    case Transform::Kind::CustomGradient:
      results.push_back(isFirst ? bodies->front().values[body.results[0]]
                                : byPullback(environment, hidden, index));
      break;
    case Transform::Kind::Checkpoint:
    case Transform::Kind::Jvp:
    case Transform::Kind::Vjp:
      for (int result : body.results)
        results.push_back(bodies->front().values[result]);
      if (transform.kind != Transform::Kind::Checkpoint) {
        Elements found = derivatives(step, environment, bodies->front(), isFirst);
        noteDoubt(found);
        for (const std::vector<Element> &elements : found)
          results.push_back(arrayOf(step.types[results.size()], elements));
      }
      break;
    }
    for (std::size_t r = 0; r < results.size(); ++r)
      environment.values[step.firstResult + r] = std::move(results[r]);
    environment.bodies[index] = std::move(bodies);
  }

  // What moves as a pullback says that it does: along the arguments, with the weights that it has where they have not moved.
  ArrayRef byPullback(const Environment &environment, const Environment &hidden, int index) const {
    const Step &step = program.steps[index];
    const Program &body = *step.transform->body;
    const Environment &at = hidden.bodies[index]->front();
    auto result = std::make_shared<Array>(*hidden.values[step.firstResult]);
    std::size_t next = 1;
    for (int argument : argumentsOf(*step.transform)) {
      if (!is_floating(body.typeOf(argument).dtype))
        continue;
      const Array &weights = *at.values[body.results[next++]];
      const Array &from = *hidden.values[step.operands[argument]], &to = *environment.values[step.operands[argument]];
      for (std::size_t e = 0; e < result->elements.size(); ++e)
        if (Real by = to.elements[e].value - from.elements[e].value; by != 0)
          result->elements[e].value += weights.elements[e].value * by;
    }
    return result;
  }

  // Derivatives of another order are taken of these, which stand at a kink where they are in doubt: differences halve there what a
  // rule gives to one side, and where operands of maximum move together the kink is not seen again.
  void noteDoubt(const Elements &found) const {
    for (const std::vector<Element> &result : found)
      for (const Element &element : result)
        inDoubt |= isDoubtful(element);
  }

  std::uint64_t saltOf(const Step &step) const { return salt * 1000003 + static_cast<std::uint64_t>(step.firstResult) + 1; }

public:
  // In [-1, 1], the same for the same element of a run.
  Real noise(int value, std::size_t element) const {
    std::uint64_t x = (static_cast<std::uint64_t>(run) << 40) ^ (static_cast<std::uint64_t>(value) << 24) ^ element ^ salt << 44;
    x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 29) * 0x94d049bb133111ebull;
    return static_cast<Real>(static_cast<std::int64_t>(x ^ x >> 32)) * 0x1p-63L;
  }

  // Whether derivatives that others were taken of are known.
  bool isInDoubt() const { return inDoubt; }

private:
  const Program &program;
  unsigned run;
  std::uint64_t salt;
  mutable bool inDoubt = false; // found on the way
};

Real epsilonIn(const Program &program, int begin, int end) {
  Real epsilon = 0;
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    for (const TensorType &type : step.types)
      epsilon = std::max(epsilon, epsilonOf(type.dtype));
    if (step.transform)
      epsilon = std::max(epsilon, epsilonIn(*step.transform->body, 0, static_cast<int>(step.transform->body->steps.size())));
  }
  return epsilon;
}

bool isFinite(const ArrayRef &array) {
  return !array || std::all_of(array->elements.begin(), array->elements.end(), [](const Num &element) { return std::isfinite(element.value); });
}
// Whether all values in the bodies of transformations are finite.
bool isFiniteInside(const Environment &environment) {
  for (const auto &bodies : environment.bodies)
    if (bodies)
      for (const Environment &body : *bodies)
        if (!std::all_of(body.values.begin(), body.values.end(), isFinite) || !isFiniteInside(body))
          return false;
  return true;
}

// How many differences of differences some steps are.
int orderIn(const Program &program, int begin, int end) {
  int order = 0;
  for (int i = begin; i < end; ++i) {
    const Step &step = program.steps[i];
    if (step.tape)
      order = std::max(order, 1 + orderIn(program, step.tape->begin, i));
    if (step.transform) {
      bool derives = step.transform->kind == Transform::Kind::Jvp || step.transform->kind == Transform::Kind::Vjp;
      order = std::max(order, derives + orderIn(*step.transform->body, 0, static_cast<int>(step.transform->body->steps.size())));
    }
  }
  return order;
}
// The least that derivatives of such an order are off by: each order divides the roundings of long double by another step.
Real noiseOf(int order) { return std::ldexp(Real(1), -60 + 11 * order); }

constexpr unsigned kRuns = 4; // the first without noise

// Derivatives with bounds from those of all runs.
std::vector<ArrayRef> bounded(const std::vector<Elements> &runs, std::span<const TensorType> types, Real epsilon, int order) {
  std::vector<ArrayRef> results;
  for (std::size_t r = 0; r < types.size(); ++r) {
    auto array = std::make_shared<Array>();
    array->type = types[r];
    Real most = 0, largest = 1;
    std::vector<Real> spreads;
    for (std::size_t e = 0; e < runs[0][r].size(); ++e) {
      Real spread = 0;
      for (unsigned run = 1; run < kRuns; ++run)
        spread = std::max(spread, distance(runs[run][r][e].value, runs[0][r][e].value));
      spreads.push_back(spread);
      most = std::max(most, spread);
      largest = std::max(largest, std::fabs(runs[0][r][e].value));
    }
    for (std::size_t e = 0; e < runs[0][r].size(); ++e) {
      const auto &[value, doubt] = runs[0][r][e];
      // A rule such as s (1 - s) loses what is small beside 1: hence a bound that does not shrink with the derivative.
      Real rounding = 32 * spreads[e] + 4 * most + (256 * epsilon + noiseOf(order)) * largest;
      // Beside a pole differences are of the other side and may be off by more than they doubt.
      bool known = std::isfinite(value) && doubt <= std::max<Real>(1, std::fabs(value)) && std::fabs(value) < largestOf(types[r].dtype);
      array->elements.push_back(known ? Num{value, rounding + doubt, 2 * rounding} : Num{0, kUnknown, kUnknown});
    }
    results.push_back(std::move(array));
  }
  return results;
}

} // namespace

namespace {
// The values with those that were computed before as far off as they may be.
std::vector<ArrayRef> perturbed(const std::vector<ArrayRef> &values, const std::vector<int> &before, const Differences &differences, unsigned run) {
  std::vector<ArrayRef> result = values;
  for (int value : before) {
    auto array = std::make_shared<Array>(*values[value]);
    for (std::size_t e = 0; e < array->elements.size() && run; ++e)
      if (array->elements[e].off > kTiny)
        array->elements[e].value += differences.noise(value, e) * array->elements[e].off;
    result[value] = std::move(array);
  }
  return result;
}
bool areBounded(const std::vector<ArrayRef> &values, const std::vector<int> &before) {
  return std::all_of(before.begin(), before.end(), [&](int value) {
    return std::all_of(values[value]->elements.begin(), values[value]->elements.end(), [](const Num &element) { return std::isfinite(element.off); });
  });
}
} // namespace

std::vector<ArrayRef> gradientOf(const Program &program, const std::vector<ArrayRef> &values, int index) {
  const Step &step = program.steps[index];
  std::vector<int> before;
  for (int i = step.tape->begin; i <= index; ++i)
    for (int operand : program.steps[i].operands)
      if (program.stepOf(operand) < step.tape->begin && std::find(before.begin(), before.end(), operand) == before.end())
        before.push_back(operand);
  std::vector<Elements> runs;
  bool isKnown = areBounded(values, before);
  for (unsigned run = 0; run < kRuns; ++run) {
    Differences differences(program, run);
    Environment environment = differences.smooth(isKnown ? perturbed(values, before, differences, run) : values, step.tape->begin, index);
    runs.push_back(differences.gradient(environment, index, run == 0));
    isKnown &= !differences.isInDoubt() && isFiniteInside(environment);
  }
  std::vector<ArrayRef> results = bounded(runs, step.types, epsilonIn(program, step.tape->begin, index + 1), 1 + orderIn(program, step.tape->begin, index));
  // A rule multiplies with what it was given: no change times NaN is NaN, which differences don't see.
  for (int i = step.tape->begin; i <= index; ++i) {
    for (int operand : program.steps[i].operands)
      isKnown &= isFinite(values[operand]);
    for (std::size_t r = 0; i < index && r < program.steps[i].types.size(); ++r)
      isKnown &= isFinite(values[program.steps[i].firstResult + static_cast<int>(r)]);
  }
  if (!isKnown)
    for (ArrayRef &result : results) {
      auto unknown = std::make_shared<Array>(*result);
      unknown->elements.assign(unknown->elements.size(), Num{0, kUnknown, kUnknown});
      result = std::move(unknown);
    }
  return results;
}

std::vector<ArrayRef> derivativesOf(const Program &program, const std::vector<ArrayRef> &values, int index) {
  const Step &step = program.steps[index];
  const Program &body = *step.transform->body;
  std::span<const TensorType> types = std::span(step.types).subspan(body.results.size());
  bool isKnown = areBounded(values, step.operands);
  for (int operand : step.operands)
    isKnown &= isFinite(values[operand]);
  std::vector<Elements> runs;
  for (unsigned run = 0; run < kRuns && isKnown; ++run) {
    Differences differences(program, run);
    Environment environment = differences.smooth(perturbed(values, step.operands, differences, run), index, index + 1);
    runs.push_back(differences.derivatives(step, environment, environment.bodies[index]->front(), run == 0));
    isKnown &= !differences.isInDoubt() && isFiniteInside(environment);
  }
  if (isKnown)
    return bounded(runs, types, epsilonIn(program, index, index + 1), orderIn(program, index, index + 1));
  std::vector<ArrayRef> results;
  for (const TensorType &type : types) {
    auto array = std::make_shared<Array>(*zerosOf(type));
    for (Num &element : array->elements)
      element = is_floating(type.dtype) ? Num{0, kUnknown, kUnknown} : Num();
    results.push_back(std::move(array));
  }
  return results;
}

ArrayRef exampleOf(const ArrayRef &operand, std::optional<std::int64_t> axis, std::int64_t example) {
  if (!axis)
    return operand;
  Shape shape = operand->type.dims;
  std::int64_t at = normal(*axis, shape.size()), inner = stridesOf(shape)[at], size = shape[at];
  auto result = std::make_shared<Array>();
  result->type = operand->type;
  result->type.dims.erase(result->type.dims.begin() + at);
  for (std::int64_t i = 0; i < countOf(result->type); ++i)
    result->elements.push_back(operand->elements[static_cast<std::size_t>(i / inner * inner * size + example * inner + i % inner)]);
  return result;
}

ArrayRef stackOf(const std::vector<ArrayRef> &examples, const TensorType &type, std::int64_t axis) {
  auto result = std::make_shared<Array>();
  result->type = type;
  std::int64_t at = normal(axis, type.dims.size()), inner = stridesOf(type.dims)[at], size = type.dims[at];
  for (std::int64_t i = 0; i < countOf(type); ++i)
    result->elements.push_back(examples[static_cast<std::size_t>(i / inner % size)]->elements[static_cast<std::size_t>(i / (inner * size) * inner + i % inner)]);
  return result;
}

} // namespace calque::fuzz
