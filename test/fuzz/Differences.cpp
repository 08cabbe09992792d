#include "test/fuzz/Differences.h"

#include "test/fuzz/ControlFlow.h"
#include "test/fuzz/Extern.h"

#include <algorithm>

namespace calque::fuzz {

namespace {
ArrayRef arrayOf(const TensorType &type, const std::vector<Element> &elements) {
  auto array = std::make_shared<Array>();
  array->type = type;
  for (const Element &element : elements)
    array->elements.push_back({element.value, 0, 0});
  return array;
}
} // namespace

Environment Differences::smooth(std::vector<ArrayRef> values, int begin, int end) const {
  values.resize(static_cast<std::size_t>(program.numValues()));
  Environment environment{&program, std::move(values), {}};
  environment.bodies.resize(program.steps.size());
  for (int i = begin; i < end; ++i)
    advance(environment, environment, i);
  return environment;
}

Elements Differences::gradient(const Environment &base, int index, bool withDoubt) const {
  const Step &step = program.steps[index];
  auto targets = static_cast<std::size_t>(step.tape->numTargets);
  std::size_t first = targets * (step.tape->seeded ? 2 : 1);
  std::vector<int> targetValues(step.operands.begin(), step.operands.begin() + static_cast<std::ptrdiff_t>(targets)),
      seeds;
  if (step.tape->seeded)
    seeds.assign(step.operands.begin() + static_cast<std::ptrdiff_t>(targets),
                 step.operands.begin() + static_cast<std::ptrdiff_t>(first));
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

Elements Differences::derivatives(const Step &step, const Environment &environment, const Environment &body,
                                  bool withDoubt) const {
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
      result.push_back(
          differences.cotangents(body, seen, {argument}, inner.results, weights, inner.typeOf(argument), withDoubt));
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
    std::vector<Element> hidden =
        derive([&](Real by) { return differences.targetsAt(body, seen, affected, others, inner.results, by); },
               std::ldexp(Real(1), -11), nullptr, true);
    all.resize(hidden.size());
    std::vector<Move> every = moves;
    for (std::size_t i = 0; i < every.size(); ++i)
      every[i].by.insert(every[i].by.end(), others[i].by.begin(), others[i].by.end());
    bool hides = differences.isSingular(body, nullptr, nullptr, seen, affected) &&
                 differences.hidesSingularity(body, seen, affected, moves,
                                              farthest > 0 ? std::ldexp(1 / farthest, -11) : 0, every);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (hides || isDoubtful(hidden[i]))
        all[i].doubt = kUnknown;
  }
  auto at = all.begin();
  for (int target : inner.results) {
    auto count = static_cast<std::ptrdiff_t>(countOf(inner.typeOf(target)));
    result.emplace_back(static_cast<std::size_t>(count));
    if (all.empty())
      continue;
    if (is_inexact(inner.typeOf(target).dtype))
      result.back().assign(at, at + count);
    at += count;
  }
  return result;
}

Numbers Differences::numbersOf(const std::vector<ArrayRef> &arrays) {
  Numbers numbers;
  for (const ArrayRef &array : arrays)
    for (const Num &element : array->elements)
      numbers.push_back(element.value);
  return numbers;
}

std::vector<Element> Differences::cotangents(const Environment &base, const Seen &seen, const std::vector<int> &moved,
                                             const std::vector<int> &targets, const std::vector<int> &seeds,
                                             const TensorType &type, bool withDoubt) const {
  std::vector<ArrayRef> weights;
  for (int seed : seeds)
    weights.push_back(base.values[seed]);
  Numbers numbers = numbersOf(weights);
  if (seeds.empty())
    for (int target : targets) {
      const TensorType &of = program.typeOf(target);
      for (std::int64_t e = 0; e < countOf(of); ++e) // of complex numbers, the real parts
        numbers.push_back(e % partsOf(of.dtype) == 0);
    }
  return cotangents(base, seen, moved, targets, numbers, type, withDoubt);
}

std::vector<Element> Differences::cotangents(const Environment &base, const Seen &seen, const std::vector<int> &moved,
                                             const std::vector<int> &targets, const Numbers &weights,
                                             const TensorType &type, bool withDoubt) const {
  std::vector<Element> result(static_cast<std::size_t>(countOf(type)));
  std::vector<bool> affected = affectedBy(moved, seen);
  bool reaches = false;
  for (int target : targets)
    reaches |= affected[target];
  if (!reaches)
    return result;
  bool mayHide = withDoubt && isSingular(base, nullptr, nullptr, seen, affected);
  for (std::size_t e = 0; e < result.size(); ++e) {
    std::vector<Move> moves;
    for (int value : moved)
      moves.push_back({value, {{e, 1}}});
    Real h = stepAt(base.values[moved[0]]->elements[e].value);
    auto derivative = [&](Real step) {
      return derive([&](Real by) { return targetsAt(base, seen, affected, moves, targets, by); }, step, &weights,
                    withDoubt)[0];
    };
    result[e] = derivative(h);
    // A step that is wide beside 1 sees nothing of a sine's periods; a narrow one is lost beside a huge number.
    if (constexpr Real narrow = 0x1p-10L; withDoubt && h > 128 * narrow)
      result[e].doubt += h < std::ldexp(narrow, 40) ? distance(derivative(narrow).value, result[e].value) : kUnknown;
    if (mayHide && hidesSingularity(base, seen, affected, moves, h, moves))
      result[e].doubt = kUnknown;
  }
  return result;
}

std::vector<int> Differences::readsIn(const TapeUse &tape, int end, int variable) const {
  std::vector<int> reads;
  for (int i = tape.begin; i < end; ++i)
    if (!tape.isPaused(i) && program.steps[i].op == OpId::VariableRead &&
        std::get<std::int64_t>(program.steps[i].attributes[0]) == variable)
      reads.push_back(program.steps[i].firstResult);
  return reads;
}

bool Differences::passes(const Step &step, int result) {
  return step.op != OpId::VariableRead && passesDerivatives(step) &&
         is_inexact(step.types[static_cast<std::size_t>(result)].dtype);
}

bool Differences::isResultBeside(int value, int step, int end) const {
  int maker = program.stepOf(value);
  if (maker < 0 || program.steps[maker].op == OpId::VariableRead)
    return false;
  return std::ranges::any_of(program.nested, [&](const Nested &nested) {
    return nested.end <= end && nested.begin <= maker && maker < nested.end && nested.begin <= step &&
           step < nested.end;
  });
}

std::vector<bool> Differences::affectedBy(const std::vector<int> &moved, const Seen &seen) const {
  std::vector<bool> affected(static_cast<std::size_t>(program.numValues()));
  for (int value : moved)
    affected[value] = true;
  auto isHidden = [&](int i) {
    return std::ranges::any_of(moved, [&](int value) { return seen.tape && isResultBeside(value, i, seen.end); });
  };
  for (int i = seen.begin; i < seen.end; ++i) {
    const Step &step = program.steps[i];
    bool any = isReachedFrom(affected, step) && !isHidden(i);
    for (std::size_t r = 0; r < step.types.size(); ++r)
      if (any && seen(i) && passes(step, static_cast<int>(r)))
        affected[step.firstResult + r] = true;
  }
  return affected;
}

Environment Differences::environmentAt(const Environment &base, const Seen &seen, const std::vector<bool> &affected,
                                       const std::vector<Move> &moves, Real by) const {
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
  return environment;
}

Numbers Differences::targetsAt(const Environment &base, const Seen &seen, const std::vector<bool> &affected,
                               const std::vector<Move> &moves, const std::vector<int> &targets, Real by) const {
  Environment environment = environmentAt(base, seen, affected, moves, by);
  std::vector<ArrayRef> values;
  for (int target : targets)
    values.push_back(environment.values[target]);
  return numbersOf(values);
}

void Differences::advanceAffected(Environment &environment, const Environment &hidden,
                                  const std::vector<bool> &affected, int index) const {
  const Step &step = program.steps[index];
  bool any = false;
  for (std::size_t r = 0; r < step.types.size(); ++r)
    any |= affected[step.firstResult + r];
  if (any && isReachedFrom(affected, step) && step.op != OpId::VariableRead)
    advance(environment, hidden, index);
}

Environment Differences::moved(const Environment &base, const std::vector<ArrayRef> &arguments,
                               const std::vector<bool> &isMoved) const {
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

std::vector<std::shared_ptr<Array>> Differences::computed(const Step &step,
                                                          const std::vector<const Array *> &operands) {
  std::vector<std::shared_ptr<Array>> results;
  for (const TensorType &type : step.types) {
    auto result = std::make_shared<Array>();
    result->type = type;
    result->elements.resize(static_cast<std::size_t>(countOf(type)));
    Call call{step, operands, *result, false, results.size()};
    try {
      if (step.op == OpId::Extern)
        evaluateExtern(call, results.size());
      else
        evaluate(call);
    } catch (const Failure &) {
      throw Undecided("a step fails on unrounded values");
    }
    results.push_back(std::move(result));
  }
  return results;
}

bool Differences::hidesSingularity(const Environment &base, const Seen &seen, const std::vector<bool> &affected,
                                   const std::vector<Move> &moves, Real by, const std::vector<Move> &all) const {
  Real before = mostDoubt; // of what is computed from NaN nothing is known, which says nothing here
  Environment moved = environmentAt(base, seen, affected, moves, by);
  Environment spoilt = environmentAt(base, seen, affected, all, std::numeric_limits<Real>::quiet_NaN());
  mostDoubt = before;
  return isSingular(base, &moved, &spoilt, seen, affected);
}

bool Differences::isSingular(const Environment &base, const Environment *moved, const Environment *spoilt,
                             const Seen &seen, const std::vector<bool> &affected) const {
  for (int i = seen.begin; i < seen.end; ++i)
    if (seen(i) && isSingularAt(base, moved, spoilt, affected, i))
      return true;
  return false;
}

bool Differences::isSingularAt(const Environment &base, const Environment *moved, const Environment *spoilt,
                               const std::vector<bool> &affected, int index) const {
  const Step &step = program.steps[index];
  if (step.transform) {
    const Transform &transform = *step.transform;
    std::vector<int> movedArguments;
    for (int i = 0; i < transform.body->numArguments; ++i) {
      bool isCarried = i >= transform.firstCarried() && i < transform.firstCarried() + transform.numCarried;
      if (isCarried ? std::ranges::any_of(step.operands, [&](int operand) { return affected[operand]; })
                    : affected[step.operands[i]])
        movedArguments.push_back(i);
    }
    auto example = [&](const Environment *environment, std::size_t i) {
      return environment ? &(*environment->bodies[index])[i] : nullptr;
    };
    for (std::size_t i = 0; i < base.bodies[index]->size(); ++i) {
      const Program &body = *example(&base, i)->program;
      Differences inner(body, run, saltOf(step));
      Seen seen{0, static_cast<int>(body.steps.size()), nullptr};
      if (inner.isSingular(*example(&base, i), example(moved, i), example(spoilt, i), seen,
                           inner.affectedBy(movedArguments, seen)))
        return true;
    }
    return false;
  }
  bool isOperation = !step.tape && !step.types.empty() && step.op != OpId::VariableRead && step.op != OpId::HostCall &&
                     passesDerivatives(step);
  // A step that is wide beside a divisor sees nothing of a remainder's periods.
  if (step.op == OpId::Mod || step.op == OpId::Fmod)
    for (const Num &divisor : base.values[step.operands[1]]->elements)
      if (std::fabs(divisor.value) < 16 * stepAt(divisor.value))
        return true;
  for (std::size_t o = 0; o < step.operands.size() && isOperation; ++o) {
    int value = step.operands[o];
    const Array &operand = *base.values[value];
    if (!affected[value] || !is_inexact(operand.type.dtype))
      continue;
    auto at = [&](Real by) {
      Array changed = operand;
      for (std::size_t e = 0; e < changed.elements.size(); ++e) {
        Real &element = changed.elements[e].value;
        if (!moved || (std::isnan(spoilt->values[value]->elements[e].value) &&
                       distance(moved->values[value]->elements[e].value, element) == 0))
          element += by * stepAt(element);
      }
      std::vector<const Array *> operands;
      for (int other : step.operands)
        operands.push_back(base.values[other].get());
      operands[o] = &changed;
      std::vector<ArrayRef> results;
      for (std::shared_ptr<Array> &result : computed(step, operands))
        if (is_inexact(result->type.dtype))
          results.push_back(std::move(result));
      return numbersOf(results);
    };
    Numbers here = at(0);
    for (Real side : {-1, 1}) {
      Numbers far = at(side), near = at(side / 4);
      for (std::size_t i = 0; i < here.size(); ++i) {
        Real wide = distance(far[i], here[i]), narrow = distance(near[i], here[i]);
        // A root's difference halves where its step is a quarter.
        if (!std::isfinite(wide) || 4 * narrow > 1.5L * wide + 1e-9L * std::max<Real>(1, std::fabs(here[i])))
          return true;
      }
    }
  }
  return false;
}

void Differences::advance(Environment &environment, const Environment &hidden, int index) const {
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
  if (step.isControlFlow())
    return controlFlow(environment, hidden, index);
  if (step.transform)
    return transform(environment, hidden, index);
  // No gradient passes through either.
  if (step.op == OpId::VariableRead || step.op == OpId::HostCall) {
    environment.values[step.firstResult] = hidden.values[step.firstResult];
    return;
  }
  std::vector<const Array *> operands;
  for (int operand : step.operands)
    operands.push_back(environment.values[operand].get());
  std::vector<std::shared_ptr<Array>> results = computed(step, operands);
  for (std::size_t r = 0; r < results.size(); ++r) {
    for (std::size_t e = 0; e < results[r]->elements.size(); ++e) {
      Num &element = results[r]->elements[e];
      if (run && element.off > kTiny)
        element.value += noise(step.firstResult + static_cast<int>(r), e) * element.off;
      element.off = element.apart = 0;
    }
    environment.values[step.firstResult + r] = std::move(results[r]);
  }
}

void Differences::transform(Environment &environment, const Environment &hidden, int index) const {
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
  mostDoubt = std::max(mostDoubt, inner.mostDoubt);
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
    results.push_back(isFirst ? bodies->front().values[body.results[0]] : byPullback(environment, hidden, index));
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
  default:
    throw std::logic_error("a branch or a loop is no transformation");
  }
  for (std::size_t r = 0; r < results.size(); ++r)
    environment.values[step.firstResult + r] = std::move(results[r]);
  environment.bodies[index] = std::move(bodies);
}

void Differences::controlFlow(Environment &environment, const Environment &hidden, int index) const {
  const Step &step = program.steps[index];
  const bool isFirst = &environment == &hidden;
  auto bodies = std::make_shared<std::vector<Environment>>();
  auto smoothed = [&](const Differences &inner, ArrayRefs arguments) {
    const Program &body = inner.program;
    for (auto i = static_cast<std::size_t>(body.numArguments); i < body.inputs.size(); ++i)
      arguments.push_back(fuzz::arrayOf(body.inputs[i].data));
    return inner.smooth(std::move(arguments), 0, static_cast<int>(body.steps.size()));
  };
  auto body = [&](const Program &body, const ArrayRefs &arguments) {
    Differences inner(body, run, saltOf(step) + 7919 * bodies->size());
    if (isFirst) {
      bodies->push_back(smoothed(inner, arguments));
    } else {
      const Environment &before = (*hidden.bodies[index])[bodies->size()];
      std::vector<bool> isMoved;
      for (std::size_t i = 0; i < arguments.size(); ++i)
        isMoved.push_back(
            !std::ranges::equal(arguments[i]->elements, before.values[i]->elements,
                                [](const Num &a, const Num &b) { return distance(a.value, b.value) == 0; }));
      bodies->push_back(inner.moved(before, arguments, isMoved));
    }
    mostDoubt = std::max(mostDoubt, inner.mostDoubt);
    ArrayRefs results;
    for (int result : body.results)
      results.push_back(bodies->back().values[result]);
    return results;
  };
  // What decides does not move.
  auto decides = [&](const Program &condition, const ArrayRefs &arguments, std::int64_t done) {
    if (!isFirst)
      return done < static_cast<std::int64_t>(hidden.bodies[index]->size());
    Environment decided = smoothed(Differences(condition, run, saltOf(step)), arguments);
    return exactly(*decided.values[condition.results[0]]) != 0;
  };
  ArrayRefs operands;
  for (int operand : step.operands)
    operands.push_back(environment.values[operand]);
  ArrayRefs results = runControlFlow(program, step, operands, {body, decides});
  std::ranges::move(results, environment.values.begin() + step.firstResult);
  environment.bodies[index] = std::move(bodies);
}

ArrayRef Differences::byPullback(const Environment &environment, const Environment &hidden, int index) const {
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

void Differences::noteDoubt(const Elements &found) const {
  for (const std::vector<Element> &result : found)
    for (const Element &element : result)
      mostDoubt = std::max(
          mostDoubt, isDoubtful(element) ? kUnknown : element.doubt / std::max<Real>(1, std::fabs(element.value)));
}

Real Differences::noise(int value, std::size_t element) const {
  std::uint64_t x =
      (static_cast<std::uint64_t>(run) << 40) ^ (static_cast<std::uint64_t>(value) << 24) ^ element ^ salt << 44;
  x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 29) * 0x94d049bb133111ebull;
  return static_cast<Real>(static_cast<std::int64_t>(x ^ x >> 32)) * 0x1p-63L;
}

} // namespace calque::fuzz
