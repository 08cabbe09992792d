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

std::int64_t numExamples(const Program &program, const Step &step) {
  for (std::size_t i = 0; i < step.transform->inAxes.size(); ++i)
    if (std::optional<std::int64_t> axis = step.transform->inAxes[i]) {
      const Shape &shape = program.typeOf(step.operands[i]).dims;
      return shape[static_cast<std::size_t>(*axis < 0 ? *axis + static_cast<std::int64_t>(shape.size()) : *axis)];
    }
  return 1;
}

namespace {

// The types of a transformation's results; none where it does not take such operands. Gives the body's inputs their
// types.
std::optional<std::vector<TensorType>> typesOf(Transform &transform, const std::vector<TensorType> &operands) {
  using Kind = Transform::Kind;
  auto count = static_cast<std::size_t>(transform.body->numArguments);
  if (operands.size() < count || transform.captured.size() != count ||
      (transform.kind == Kind::Vmap) != !transform.inAxes.empty())
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
  if (transform.kind == Kind::Vmap &&
      (examples < 1 || transform.inAxes.size() != count || transform.outAxes.size() != transform.body->results.size()))
    return std::nullopt;
  bool same = true;
  for (std::size_t i = 0; i < count; ++i)
    same &= transform.body->inputs[i].data.type == given[i];
  if (!same) {
    auto body = std::make_shared<Program>(*transform.body);
    for (std::size_t i = 0; i < count; ++i)
      body->inputs[i].data.type = given[i];
    if (!check(*body))
      return std::nullopt;
    transform.body = std::move(body);
  }
  const Program &body = *transform.body;
  std::vector<TensorType> results;
  for (int result : body.results)
    results.push_back(body.typeOf(result));
  std::vector<TensorType> arguments, floating;
  for (int argument : argumentsOf(transform)) {
    arguments.push_back(given[static_cast<std::size_t>(argument)]);
    if (is_floating(arguments.back().dtype))
      floating.push_back(arguments.back());
  }
  bool differentiates = transform.kind == Kind::Jvp || transform.kind == Kind::Vjp;
  if (arguments.empty() || (differentiates && floating.size() != arguments.size()))
    return std::nullopt;
  std::vector<TensorType> others(operands.begin() + static_cast<std::ptrdiff_t>(count), operands.end());
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
      // given.
      if (step.transform->kind == Transform::Kind::CustomGradient &&
          std::set<int>(step.operands.begin(), step.operands.end()).size() < operands.size())
        return false;
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

Program prune(const Program &program) {
  std::vector<bool> needed(static_cast<std::size_t>(program.numValues())), kept(program.steps.size());
  std::vector<bool> variables(program.variables.size());
  for (int result : program.results)
    needed[result] = true;
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    const Step &step = program.steps[i];
    kept[i] =
        !schema::schemaOf(step.op).pure && step.op != OpId::VariableRead && step.op != OpId::Extern && !step.transform;
    for (std::size_t r = 0; r < step.types.size(); ++r)
      kept[i] = kept[i] || needed[step.firstResult + r];
    if (!kept[i])
      continue;
    for (int operand : step.operands)
      needed[operand] = true;
    if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign)
      variables[std::get<std::int64_t>(step.attributes[0])] = true;
    if (step.tape)
      for (int variable : step.tape->variableSources)
        variables[variable] = true;
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
  std::vector<int> newVariable(variables.size());
  std::vector<VariableInput> keptVariables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    newVariable[i] = static_cast<int>(keptVariables.size());
    if (variables[i])
      keptVariables.push_back(result.variables[i]);
  }
  result.variables = std::move(keptVariables);
  for (Step &step : result.steps) {
    step.firstResult -= gone;
    for (int &operand : step.operands)
      operand = down[operand];
    if (step.op == OpId::VariableRead || step.op == OpId::VariableAssign)
      step.attributes[0] = static_cast<std::int64_t>(newVariable[std::get<std::int64_t>(step.attributes[0])]);
    if (step.tape)
      for (int &variable : step.tape->variableSources)
        variable = newVariable[variable];
  }
  for (int &value : result.results)
    value = down[value];
  return result;
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
