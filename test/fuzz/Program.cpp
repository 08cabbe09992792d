#include "test/fuzz/Program.h"

#include "test/fuzz/Extern.h"
#include "test/fuzz/Random.h"

#include <algorithm>
#include <climits>
#include <set>

namespace calque::fuzz {

std::int64_t countOf(const TensorType &type) { return type.numElements(); }

Real roundTo(DType dtype, Real value) {
  if (dtype == DType::Bool)
    return value != 0;
  if (is_floating(dtype))
    return dispatch(dtype, [&]<typename T>(std::type_identity<T>) { return static_cast<Real>(static_cast<T>(value)); });
  // Of what is an integer below 2^64 in magnitude the lowest bits; the rest is the caller's to avoid.
  Real whole = std::fmod(std::trunc(value), 0x1p64L);
  auto bits = whole < 0 ? -static_cast<std::uint64_t>(-whole) : static_cast<std::uint64_t>(whole);
  return dispatch(dtype, [&]<typename T>(std::type_identity<T>) {
    return static_cast<Real>(static_cast<T>(static_cast<std::int64_t>(bits)));
  });
}

const Facts &factsOf(OpId op) {
  static const auto *facts = new std::vector<Facts>{
#include "test/fuzz/Facts.inc"
  };
  return (*facts)[static_cast<std::size_t>(op)];
}

//===-- Structure -------------------------------------------------------------------------------===//

bool Program::leavesOpen(std::size_t dimension, std::int64_t size) const {
  return seed % 3 == 1 && size != 1 && mix(seed, dimension) % 4 != 0;
}

bool Program::leavesOpen() const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Input &input) {
    bool any = false;
    for (std::size_t i = 0; i < input.data.type.dims.size(); ++i)
      any |= input.kind == Input::Kind::Parameter && leavesOpen(i, input.data.type.dims[i]);
    return any;
  });
}

int Program::numValues() const {
  return steps.empty() ? static_cast<int>(inputs.size())
                       : steps.back().firstResult + static_cast<int>(steps.back().types.size());
}

int Program::stepOf(int value) const {
  if (value < static_cast<int>(inputs.size()))
    return -1;
  auto after =
      std::upper_bound(steps.begin(), steps.end(), value, [](int v, const Step &step) { return v < step.firstResult; });
  // Steps without results share their number with the next one that has some.
  int index = static_cast<int>(after - steps.begin()) - 1;
  while (index > 0 && steps[static_cast<std::size_t>(index)].types.empty())
    --index;
  return index;
}

const TensorType &Program::typeOf(int value) const {
  int step = stepOf(value);
  if (step < 0)
    return inputs[static_cast<std::size_t>(value)].data.type;
  const Step &at = steps[static_cast<std::size_t>(step)];
  return at.types[static_cast<std::size_t>(value - at.firstResult)];
}

std::vector<int> argumentsOf(const Transform &transform) {
  std::vector<int> arguments;
  for (std::size_t i = 0; i < transform.captured.size(); ++i)
    if (!transform.captured[i])
      arguments.push_back(static_cast<int>(i));
  return arguments;
}

bool passesDerivatives(const Step &step) {
  return step.transform || step.op == OpId::Extern || schema::schemaOf(step.op).differentiable;
}

bool isReachedFrom(const std::vector<bool> &marked, const Step &step) {
  bool isOperation = !step.transform && !step.tape && step.op != OpId::Extern;
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    if (marked[step.operands[i]] && (!isOperation || schema::receivesCotangent(step.op, i)))
      return true;
  return false;
}

bool hasEffects(const Step &step) {
  if (!step.transform)
    return step.op != OpId::VariableRead && step.op != OpId::Extern && !schema::schemaOf(step.op).pure;
  bool any = false;
  eachBody(*step.transform, [&](const Program &body) { any |= std::ranges::any_of(body.steps, hasEffects); });
  return any;
}

bool hasTapes(const Program &program) {
  return std::ranges::any_of(program.steps, [](const Step &step) {
    bool any = step.tape.has_value();
    if (step.transform)
      eachBody(*step.transform, [&](const Program &body) { any |= hasTapes(body); });
    return any;
  });
}

bool hasControlFlow(const Program &program, int begin, int end, bool isLoop) {
  bool any = false;
  for (int i = begin; i < end; ++i)
    if (const Step &step = program.steps[i]; step.transform) {
      any |= step.isControlFlow() && !(isLoop && step.transform->kind == Transform::Kind::Branch);
      eachBody(*step.transform, [&](const Program &body) {
        any |= hasControlFlow(body, 0, static_cast<int>(body.steps.size()), isLoop);
      });
    }
  return any;
}

namespace {
constexpr int kMostNative = 3; // in a program, as their ways multiply

Program withNative(const Program &program, double share, Random &random, int &left) {
  Program made = program;
  for (Step &step : made.steps) {
    if (!step.transform)
      continue;
    Transform &transform = *step.transform;
    if (step.isControlFlow() && transform.kind != Transform::Kind::Scan && left > 0 && random.chance(share)) {
      transform.native = true;
      --left;
    }
    auto inner = [&](std::shared_ptr<const Program> &body) {
      body = std::make_shared<const Program>(withNative(*body, share, random, left));
    };
    inner(transform.body);
    std::ranges::for_each(transform.alternatives, inner);
  }
  return made;
}
} // namespace

Program withNative(const Program &program, double share) {
  bool callsHost = false;
  eachStep(program, [&](const Step &step) { callsHost |= step.op == OpId::HostCall; });
  Random random(mix(program.seed, 1));
  int left = callsHost ? 0 : kMostNative;
  return withNative(program, share, random, left);
}

bool hasNative(const Program &program) {
  bool found = false;
  eachStep(program, [&](const Step &step) { found |= step.transform && step.transform->native; });
  return found;
}

std::vector<OpId> operationsOf(const Program &program) {
  std::vector<OpId> all;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    all.push_back(step.op);
    if (step.tape) {
      all.push_back(OpId::Known); // of an eager tape
      if (hasControlFlow(program, step.tape->begin, static_cast<int>(i), true))
        all.insert(all.end(), {OpId::StackPush, OpId::StackPop});
    }
    if (!step.transform)
      continue;
    if (step.op == OpId::Batch)
      all.push_back(OpId::Unbatch);
    if (step.transform->kind == Transform::Kind::Scan &&
        step.types.size() > static_cast<std::size_t>(step.transform->numCarried))
      all.push_back(OpId::UpdateAt);
    eachBody(*step.transform, [&](const Program &body) {
      std::vector<OpId> inside = operationsOf(body);
      all.insert(all.end(), inside.begin(), inside.end());
    });
  }
  return all;
}

std::int64_t numExamples(const Program &program, const Step &step) {
  for (std::size_t i = 0; i < step.transform->inAxes.size(); ++i)
    if (std::optional<std::int64_t> axis = step.transform->inAxes[i]) {
      const Shape &shape = program.typeOf(step.operands[i]).dims;
      return shape[static_cast<std::size_t>(*axis < 0 ? *axis + static_cast<std::int64_t>(shape.size()) : *axis)];
    }
  return 1;
}

namespace {

// Gives the arguments of a transformation's program their types. False where it does not take them.
bool giveTypes(std::shared_ptr<const Program> &program, const std::vector<TensorType> &types) {
  if (program->numArguments != static_cast<int>(types.size()))
    return false;
  bool same = true;
  for (std::size_t i = 0; i < types.size(); ++i)
    same &= program->inputs[i].data.type == types[i];
  if (same)
    return true;
  auto changed = std::make_shared<Program>(*program);
  for (std::size_t i = 0; i < types.size(); ++i)
    changed->inputs[i].data.type = types[i];
  if (!check(*changed))
    return false;
  program = std::move(changed);
  return true;
}

// The same as typesOf of a branch or a loop whose program has these arguments and results.
std::optional<std::vector<TensorType>> typesOfControlFlow(const Transform &transform,
                                                          const std::vector<TensorType> &arguments,
                                                          const std::vector<TensorType> &others,
                                                          std::vector<TensorType> results, std::int64_t examples) {
  using Kind = Transform::Kind;
  const TensorType decision{DType::Bool, {}}, index{DType::Int64, {}};
  if (transform.kind == Kind::Branch) {
    if (others.size() != 1 || others[0].rank() != 0 || is_floating(others[0].dtype) ||
        (others[0] == decision && transform.alternatives.size() != 1))
      return std::nullopt;
    for (const std::shared_ptr<const Program> &alternative : transform.alternatives) {
      std::vector<TensorType> types;
      for (int result : alternative->results)
        types.push_back(alternative->typeOf(result));
      if (types != results)
        return std::nullopt;
    }
    return results;
  }
  auto first = static_cast<std::size_t>(transform.firstCarried()),
       count = static_cast<std::size_t>(transform.numCarried);
  if (arguments.size() < first + count || results.size() < count ||
      !std::equal(results.begin(), results.begin() + transform.numCarried,
                  arguments.begin() + transform.firstCarried()))
    return std::nullopt;
  if (transform.kind == Kind::Scan) {
    for (std::size_t i = 0; i < transform.inAxes.size(); ++i)
      if (transform.inAxes[i] && (*transform.inAxes[i] != 0 || i < count))
        return std::nullopt;
    for (std::size_t r = count; r < results.size(); ++r)
      results[r].dims.insert(results[r].dims.begin(), examples);
    return others.empty() && transform.alternatives.empty() ? std::optional(results) : std::nullopt;
  }
  if (results.size() != count || !count)
    return std::nullopt;
  if (transform.kind == Kind::While) {
    if (!others.empty() || transform.alternatives.size() != 1)
      return std::nullopt;
    const Program &condition = *transform.alternatives[0];
    if (condition.results.size() != 1 || condition.typeOf(condition.results[0]) != decision)
      return std::nullopt;
    return results;
  }
  if (arguments[0] != index || others.size() != 1 || !is_integer(others[0].dtype) || others[0].rank() != 0 ||
      !transform.alternatives.empty() || transform.stride == 0)
    return std::nullopt;
  return results;
}

// The types of a transformation's results; none where it does not take such operands. Gives the body's inputs their
// types.
std::optional<std::vector<TensorType>> typesOf(Transform &transform, const std::vector<TensorType> &operands) {
  using Kind = Transform::Kind;
  auto count = static_cast<std::size_t>(transform.body->numArguments);
  if (operands.size() < count || transform.captured.size() != count ||
      (transform.kind == Kind::Vmap || transform.kind == Kind::Scan) != !transform.inAxes.empty())
    return std::nullopt;
  std::vector<TensorType> given(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(count));
  std::int64_t examples = -1;
  for (std::size_t i = 0; i < transform.inAxes.size(); ++i) {
    if (i >= count)
      return std::nullopt;
    if (!transform.inAxes[i])
      continue;
    std::int64_t axis = *transform.inAxes[i] + (*transform.inAxes[i] < 0 ? given[i].rank() : 0);
    if (transform.captured[i] || axis < 0 || axis >= given[i].rank() ||
        (examples >= 0 && given[i].dims[static_cast<std::size_t>(axis)] != examples))
      return std::nullopt;
    examples = given[i].dims[static_cast<std::size_t>(axis)];
    given[i].dims.erase(given[i].dims.begin() + axis);
  }
  // Without examples there is nothing that the interpreter could run.
  if (!transform.inAxes.empty() && (examples < 1 || transform.inAxes.size() != count))
    return std::nullopt;
  if (transform.kind == Kind::Vmap && transform.outAxes.size() != transform.body->results.size())
    return std::nullopt;
  if (!giveTypes(transform.body, given))
    return std::nullopt;
  for (std::shared_ptr<const Program> &alternative : transform.alternatives)
    if (!giveTypes(alternative, given))
      return std::nullopt;
  const Program &body = *transform.body;
  std::vector<TensorType> results;
  for (int result : body.results)
    results.push_back(body.typeOf(result));
  std::vector<TensorType> others(operands.begin() + static_cast<std::ptrdiff_t>(count), operands.end());
  if (transform.isControlFlow())
    return typesOfControlFlow(transform, given, others, std::move(results), examples);
  std::vector<TensorType> arguments, floating;
  for (int argument : argumentsOf(transform)) {
    arguments.push_back(given[static_cast<std::size_t>(argument)]);
    if (is_floating(arguments.back().dtype))
      floating.push_back(arguments.back());
  }
  bool differentiates = transform.kind == Kind::Jvp || transform.kind == Kind::Vjp;
  if (arguments.empty() || (differentiates && floating.size() != arguments.size()))
    return std::nullopt;
  switch (transform.kind) {
  case Kind::Checkpoint:
    break;
  case Kind::Vmap:
    for (std::size_t r = 0; r < results.size(); ++r) {
      std::int64_t axis = transform.outAxes[r] + (transform.outAxes[r] < 0 ? results[r].rank() + 1 : 0);
      if (axis < 0 || axis > results[r].rank())
        return std::nullopt;
      results[r].dims.insert(results[r].dims.begin() + axis, examples);
    }
    break;
  case Kind::Jvp:
    if (others != arguments)
      return std::nullopt;
    others = results;
    results.insert(results.end(), others.begin(), others.end());
    return results;
  case Kind::Vjp:
    for (const TensorType &type : results)
      if (!is_floating(type.dtype))
        return std::nullopt;
    if (others != results)
      return std::nullopt;
    results.insert(results.end(), arguments.begin(), arguments.end());
    return results;
  case Kind::CustomGradient:
    if (floating.empty() || results.size() != 1 + floating.size())
      return std::nullopt;
    for (std::size_t i = 0; i < floating.size(); ++i)
      if (floating[i] != results[0] || results[i + 1] != results[0])
        return std::nullopt;
    results.resize(1);
    break;
  default:
    return std::nullopt;
  }
  if (!others.empty())
    return std::nullopt;
  return results;
}

// Whether ranges of steps that a tape does not see, and those of its persistent use, fit with functions.
bool tapesFit(const Program &program) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (!program.steps[i].tape)
      continue;
    const TapeUse &tape = *program.steps[i].tape;
    auto index = static_cast<int>(i);
    if (tape.tapeOf >= 0) {
      if (tape.tapeOf >= index || !program.steps[tape.tapeOf].tape)
        return false;
      const TapeUse &owner = *program.steps[tape.tapeOf].tape;
      if (owner.begin != tape.begin || owner.tapeOf >= 0 || owner.pauseEnd > owner.pauseBegin ||
          tape.pauseEnd > tape.pauseBegin)
        return false;
      for (const Nested &nested : program.nested)
        if ((nested.begin <= tape.tapeOf && tape.tapeOf < nested.end) != (nested.begin <= index && index < nested.end))
          return false;
    }
    if (tape.pauseEnd <= tape.pauseBegin)
      continue;
    if (tape.pauseBegin < tape.begin || tape.pauseEnd > index)
      return false;
    // What a gradient is a function of, the values of steps that its own tape saw and this one did not or what they
    // came from, is its rules' choice.
    for (int inner = tape.begin; inner < index; ++inner)
      if (const Step &step = program.steps[inner];
          step.tape && !tape.isPaused(inner) && step.tape->begin < tape.pauseEnd && tape.pauseBegin < inner)
        return false;
    for (int s = tape.pauseBegin; s < tape.pauseEnd; ++s)
      if (program.steps[s].op == OpId::VariableRead || program.steps[s].op == OpId::VariableAssign)
        return false;
    for (const Nested &nested : program.nested) {
      bool holdsTape = nested.begin <= tape.begin && index < nested.end;
      bool within = tape.pauseBegin <= nested.begin && nested.end <= tape.pauseEnd;
      bool apart = nested.end <= tape.pauseBegin || tape.pauseEnd <= nested.begin;
      if (!holdsTape && !within && !apart)
        return false;
    }
  }
  return true;
}

} // namespace

bool check(Program &program) {
  int next = static_cast<int>(program.inputs.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step &step = program.steps[i];
    step.firstResult = next;
    std::vector<TensorType> operands;
    for (int operand : step.operands) {
      if (operand < 0 || operand >= next)
        return false;
      // Types of earlier steps are known by now.
      operands.push_back(program.typeOf(operand));
    }
    step.types.clear();
    if (step.tape) {
      const TapeUse &tape = *step.tape;
      std::size_t targets = static_cast<std::size_t>(tape.numTargets) * (tape.seeded ? 2 : 1);
      if (tape.begin < 0 || tape.begin > static_cast<int>(i) || tape.numTargets < 1 || operands.size() < targets)
        return false;
      for (int t = 0; t < tape.numTargets; ++t)
        if (!is_floating(operands[t].dtype) || (tape.seeded && operands[t] != operands[tape.numTargets + t]))
          return false;
      for (std::size_t s = targets; s < operands.size(); ++s)
        step.types.push_back(operands[s]);
      for (int variable : tape.variableSources) {
        if (variable < 0 || variable >= static_cast<int>(program.variables.size()))
          return false;
        step.types.push_back(program.variables[variable].data.type);
      }
      for (const TensorType &type : step.types)
        if (!is_floating(type.dtype))
          return false;
      if (step.types.empty())
        return false;
    } else if (step.transform) {
      // Of one tensor that is two arguments, tapes inside would see one: custom_gradient gives its function what it is
      // given, and so do all functions what they capture.
      std::set<int> seen;
      for (std::size_t o = 0; o < operands.size(); ++o) {
        bool isItself = step.transform->kind == Transform::Kind::CustomGradient ||
                        (o < step.transform->captured.size() && step.transform->captured[o]);
        if (isItself && !seen.insert(step.operands[o]).second)
          return false;
      }
      std::optional<std::vector<TensorType>> types = typesOf(*step.transform, operands);
      if (!types || types->empty())
        return false;
      step.types = std::move(*types);
    } else if (step.op == OpId::Extern) {
      step.types = typesOfExtern(std::get<std::int64_t>(step.attributes[0]), operands);
      if (step.types.empty())
        return false;
    } else if (step.op == OpId::HostCall) {
      step.types = {operands.at(0)};
    } else if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign) {
      std::int64_t variable = std::get<std::int64_t>(step.attributes[0]);
      if (variable < 0 || variable >= static_cast<std::int64_t>(program.variables.size()))
        return false;
      const TensorType &type = program.variables[variable].data.type;
      if (step.op == OpId::VariableRead)
        step.types = {type};
      else if (operands[0] != type ||
               (std::get<std::int64_t>(step.attributes[1]) && schema::inferTypes(OpId::Add, {{type, type}}, {}).fault))
        return false;
    } else {
      schema::Inference inference = schema::inferTypes(step.op, operands, step.attributes);
      if (inference.fault)
        return false;
      step.types = std::move(inference.types);
    }
    next += static_cast<int>(step.types.size());
  }
  for (int result : program.results)
    if (result < 0 || result >= next)
      return false;

  // Tapes end after their last step, functions before their end.
  std::vector<std::pair<int, int>> ranges;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].tape)
      ranges.emplace_back(program.steps[i].tape->begin, static_cast<int>(i) + 1);
  for (const Nested &nested : program.nested) {
    if (nested.begin < 0 || nested.end > static_cast<int>(program.steps.size()) || nested.begin >= nested.end)
      return false;
    ranges.emplace_back(nested.begin, nested.end);
  }
  for (const auto &[begin, end] : ranges)
    for (const auto &[otherBegin, otherEnd] : ranges)
      if (begin < otherBegin && otherBegin < end && end < otherEnd)
        return false;
  // A tape is asked where it began: in the same function or outside of it.
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    for (const Nested &nested : program.nested)
      if (program.steps[i].tape && nested.begin <= static_cast<int>(i) && static_cast<int>(i) < nested.end &&
          program.steps[i].tape->begin < nested.begin)
        return false;
  return !program.results.empty() && tapesFit(program);
}

Program select(const Program &program, const std::vector<bool> &kept) {
  Program result = program;
  result.steps.clear();
  std::vector<int> renamed(static_cast<std::size_t>(program.numValues()), -1), newIndex(program.steps.size() + 1);
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    renamed[i] = static_cast<int>(i);
  int next = static_cast<int>(program.inputs.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    newIndex[i] = static_cast<int>(result.steps.size());
    if (!kept[i])
      continue;
    Step step = program.steps[i];
    for (int &operand : step.operands)
      operand = renamed[operand];
    if (step.tape) {
      TapeUse &tape = *step.tape;
      tape.begin = newIndex[tape.begin];
      tape.pauseBegin = newIndex[tape.pauseBegin];
      tape.pauseEnd = newIndex[tape.pauseEnd];
      if (tape.tapeOf >= 0)
        tape.tapeOf = kept[static_cast<std::size_t>(tape.tapeOf)] ? newIndex[tape.tapeOf] : -1;
    }
    for (std::size_t r = 0; r < step.types.size(); ++r)
      renamed[step.firstResult + r] = next + static_cast<int>(r);
    step.firstResult = next;
    next += static_cast<int>(step.types.size());
    result.steps.push_back(std::move(step));
  }
  newIndex[program.steps.size()] = static_cast<int>(result.steps.size());
  for (int &value : result.results)
    value = renamed[value];
  std::erase(result.results, -1);
  for (Nested &nested : result.nested)
    nested = {newIndex[nested.begin], newIndex[nested.end]};
  std::erase_if(result.nested, [](const Nested &nested) { return nested.begin >= nested.end; });
  return result;
}

namespace {

// Notes the variables that a step uses.
void markVariables(const Step &step, std::vector<bool> &variables) {
  if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign)
    variables[std::get<std::int64_t>(step.attributes[0])] = true;
  if (step.tape)
    for (int variable : step.tape->variableSources)
      variables[variable] = true;
  if (step.isControlFlow())
    eachBody(*step.transform, [&](const Program &body) {
      for (const Step &inner : body.steps)
        markVariables(inner, variables);
    });
}

// The program with some of its variables, which are all that it uses.
Program withVariables(const Program &program, const std::vector<bool> &kept) {
  Program result = program;
  std::vector<int> renamed(kept.size());
  result.variables.clear();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    renamed[i] = static_cast<int>(result.variables.size());
    if (kept[i] && i < program.variables.size()) // a body has those that were there when it was made
      result.variables.push_back(program.variables[i]);
  }
  auto change = [&](std::shared_ptr<const Program> &body) {
    body = std::make_shared<const Program>(withVariables(*body, kept));
  };
  for (Step &step : result.steps) {
    if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign)
      step.attributes[0] = static_cast<std::int64_t>(renamed[std::get<std::int64_t>(step.attributes[0])]);
    if (step.tape)
      for (int &variable : step.tape->variableSources)
        variable = renamed[variable];
    if (step.isControlFlow()) {
      change(step.transform->body);
      for (std::shared_ptr<const Program> &alternative : step.transform->alternatives)
        change(alternative);
    }
  }
  return result;
}

} // namespace

Program prune(const Program &program) {
  std::vector<bool> needed(static_cast<std::size_t>(program.numValues())), kept(program.steps.size());
  std::vector<bool> variables(program.variables.size());
  for (int result : program.results)
    needed[result] = true;
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    const Step &step = program.steps[i];
    kept[i] = hasEffects(step);
    for (std::size_t r = 0; r < step.types.size(); ++r)
      kept[i] = kept[i] || needed[step.firstResult + r];
    if (!kept[i])
      continue;
    for (int operand : step.operands)
      needed[operand] = true;
    markVariables(step, variables);
  }
  Program result = select(program, kept);
  // Inputs: everything moves down.
  std::vector<bool> used(result.inputs.size());
  std::fill(used.begin(), used.begin() + result.numArguments, true);
  for (const Step &step : result.steps)
    for (int operand : step.operands)
      if (operand < static_cast<int>(used.size()))
        used[operand] = true;
  for (int value : result.results)
    if (value < static_cast<int>(used.size()))
      used[value] = true;
  std::vector<int> down(static_cast<std::size_t>(result.numValues()));
  int gone = 0;
  for (std::size_t v = 0; v < down.size(); ++v) {
    if (v < used.size() && !used[v])
      ++gone;
    down[v] = static_cast<int>(v) - gone;
  }
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i])
      inputs.push_back(std::move(result.inputs[i]));
  result.inputs = std::move(inputs);
  for (Step &step : result.steps) {
    step.firstResult -= gone;
    for (int &operand : step.operands)
      operand = down[operand];
  }
  for (int &value : result.results)
    value = down[value];
  // A body's variables are those of the program around it.
  return result.numArguments ? result : withVariables(result, variables);
}

Data dataOf(const schema::ConstantData &constant) {
  Data data{constant.type, {}};
  std::int64_t count = countOf(constant.type);
  std::size_t size = size_of(constant.type.dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte *at = constant.bytes.data() + (constant.splat ? 0 : static_cast<std::size_t>(i) * size);
    dispatch(constant.type.dtype, [&]<typename T>(std::type_identity<T>) {
      using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      data.values.push_back(static_cast<T>(*reinterpret_cast<const Stored *>(at)));
    });
  }
  return data;
}

} // namespace calque::fuzz
