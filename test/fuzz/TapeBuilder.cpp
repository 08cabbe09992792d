// Tapes of programs that are built.
#include "test/fuzz/Builder.h"
#include "test/fuzz/Cost.h"

#include <algorithm>

namespace calque::fuzz {

void Builder::openTape() {
  Tape tape{numSteps(), {}, {}};
  int count = 1 + random.below(2);
  for (int i = 0; i < count; ++i) {
    auto fits = [&](const TensorType &type) {
      return is_inexact(type.dtype) && countOf(type) <= 16 && countOf(type) > 0;
    };
    int value = random.chance(0.6) ? existing(fits) : -1;
    if (i == 0 && !tapes.empty() && !tapes.back().sources.empty() && random.chance(0.7))
      value = tapes.back().sources[0];
    // What a variable holds is watched again where the tape reads it.
    if (int step = value < 0 ? -1 : program.stepOf(value); step >= 0 && program.steps[step].op == OpId::VariableRead)
      value = -1;
    if (value < 0) {
      TensorType type{palette.source(random.chance(0.5)), palette.shape(random)};
      if (!fits(type))
        type.dims = {};
      Data values{type, {}};
      for (std::int64_t e = 0; e < countOf(type); ++e)
        values.values.push_back(roundTo(type.dtype, random.uniform(0.3, 2.3)));
      value = input(std::move(values));
    }
    if (value >= 0 && std::find(tape.sources.begin(), tape.sources.end(), value) == tape.sources.end())
      tape.sources.push_back(value);
  }
  tapes.push_back(std::move(tape));
  followActive();
}

void Builder::followActive() {
  active.assign(static_cast<std::size_t>(program.numValues()), false);
  if (tapes.empty())
    return;
  for (int source : tapes.back().sources)
    active[source] = true;
  for (int i = tapes.back().begin; i < numSteps(); ++i) {
    const Step &step = program.steps[i];
    bool any = isReachedFrom(active, step);
    if (tapes.back().isPaused(i))
      continue;
    if (step.op == OpId::VariableRead) {
      auto index = static_cast<int>(std::get<std::int64_t>(step.attributes[0]));
      any = program.variables[index].trainable &&
            std::find(tapes.back().variables.begin(), tapes.back().variables.end(), index) !=
                tapes.back().variables.end();
    } else if (!passesDerivatives(step)) {
      any = false;
    }
    for (std::size_t r = 0; r < step.types.size(); ++r)
      if (any && is_inexact(step.types[r].dtype))
        active[step.firstResult + r] = true;
  }
}

void Builder::pause(Tape &tape) {
  int begin = tape.begin + random.below(numSteps() - tape.begin), end = begin + 1 + random.below(numSteps() - begin);
  for (int i = begin; i < end; ++i)
    if (OpId op = program.steps[i].op; op == OpId::VariableRead || op == OpId::VariableAssign)
      return;
  // An inner tape sees all of the steps, or is itself among them.
  for (int i = tape.begin; i < numSteps(); ++i)
    if (const Step &step = program.steps[i];
        step.tape && (i < begin || i >= end) && step.tape->begin < end && begin < i)
      return;
  tape.pauseBegin = begin;
  tape.pauseEnd = end;
}

void Builder::closeTape(bool mayAskAgain) {
  if (Tape &open = tapes.back(); open.asked < 0 && numSteps() - open.begin > 2 && random.chance(0.2))
    pause(open);
  Tape tape = tapes.back();
  followActive();
  // Targets on which a source acts, and which a step of the tape computed.
  std::vector<int> targets, sources;
  for (int value : valuesOfSteps())
    if (active[value] && program.stepOf(value) >= tape.begin &&
        program.steps[program.stepOf(value)].op != OpId::VariableRead)
      targets.push_back(value);
  // What an inner gradient is a function of, the results of what it differentiates or their operands, is its rules'
  // choice.
  std::vector<int> between;
  if (std::none_of(program.steps.begin() + tape.begin, program.steps.end(),
                   [](const Step &step) { return step.tape || step.transform; }))
    between = targets;
  tapes.pop_back();
  std::vector<bool> wasActive = std::move(active);
  followActive();
  if (targets.empty() || (tape.sources.empty() && tape.variables.empty()))
    return;
  TapeUse use{tape.begin, 1, random.chance(0.2), {}};
  use.tapeOf = tape.asked;
  use.pauseBegin = tape.pauseBegin;
  use.pauseEnd = tape.pauseEnd;
  Step step{OpId::Gradient, {}, {}, {}, 0, {}};
  step.operands = {random.chance(0.7) ? targets.back() : random.of(targets)};
  std::vector<int> derivatives;
  for (int value : targets)
    if (program.steps[program.stepOf(value)].tape)
      derivatives.push_back(value);
  if (!derivatives.empty() && random.chance(0.6))
    step.operands = {derivatives.back()};
  if (random.chance(0.2)) {
    step.operands.push_back(random.of(targets));
    use.numTargets = 2;
  }
  if (use.seeded)
    for (int t = 0; t < use.numTargets; ++t) {
      TensorType type = program.typeOf(step.operands[t]);
      int seed = random.chance(0.5) ? existing([&](const TensorType &other) { return other == type; }) : -1;
      if (seed < 0)
        seed = input(data(type));
      if (seed < 0)
        return;
      step.operands.push_back(seed);
    }
  // A seed or source is any value of its time; a source within the tape is one on which another acts.
  double budget = 1.5e6 / std::max(1.0, costOf(program, tape.begin, numSteps())) / 22;
  auto affordable = [&](const TensorType &type) {
    budget -= static_cast<double>(countOf(type));
    return budget >= 0 && countOf(type) > 0;
  };
  sources = tape.sources;
  if (random.chance(0.25) && !between.empty())
    sources.push_back(random.of(between));
  for (int source : sources)
    if (affordable(program.typeOf(source)))
      step.operands.push_back(source);
  for (int variable : tape.variables)
    if (affordable(program.variables[variable].data.type))
      use.variableSources.push_back(variable);
  if (step.operands.size() == static_cast<std::size_t>(use.numTargets) * (use.seeded ? 2 : 1) &&
      use.variableSources.empty())
    return;
  step.tape = std::move(use);
  if (!append(std::move(step), 0.5) || failed())
    return;
  // What asks it again may be of the gradient that it gave.
  bool isPersistent = tape.pauseEnd == tape.pauseBegin && tapes.size() + 1 < kMostOrders &&
                      orderOf(program, tape.begin, numSteps()) < kMostOrders;
  if (mayAskAgain && isPersistent && random.chance(0.4)) {
    if (tape.asked < 0)
      tape.asked = numSteps() - 1;
    tapes.push_back(std::move(tape));
    followActive();
  }
}

} // namespace calque::fuzz
