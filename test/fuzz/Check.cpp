// Whether a program is one, and the types of its steps.
#include "test/fuzz/Program.h"

#include "test/fuzz/Extern.h"

#include <algorithm>
#include <climits>
#include <set>

namespace calque::fuzz {

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
    if (others.size() != 1 || others[0].rank() != 0 || is_inexact(others[0].dtype) ||
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
  bool differentiates = transform.kind == Kind::Jvp || transform.kind == Kind::Vjp;
  std::vector<TensorType> arguments, floating;
  for (int argument : argumentsOf(transform)) {
    arguments.push_back(given[static_cast<std::size_t>(argument)]);
    if (differentiates ? is_inexact(arguments.back().dtype) : is_floating(arguments.back().dtype))
      floating.push_back(arguments.back());
  }
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
      if (!is_inexact(type.dtype))
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
        if (!is_inexact(operands[t].dtype) || (tape.seeded && operands[t] != operands[tape.numTargets + t]))
          return false;
      for (std::size_t s = targets; s < operands.size(); ++s)
        step.types.push_back(operands[s]);
      for (int variable : tape.variableSources) {
        if (variable < 0 || variable >= static_cast<int>(program.variables.size()))
          return false;
        step.types.push_back(program.variables[variable].data.type);
      }
      for (const TensorType &type : step.types)
        if (!is_inexact(type.dtype))
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

} // namespace calque::fuzz
