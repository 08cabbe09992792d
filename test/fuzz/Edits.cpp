#include "test/fuzz/Edits.h"

#include <algorithm>

namespace calque::fuzz {

namespace {
void countDown(std::vector<int> &values, int gone) {
  for (int &value : values)
    value -= value > gone;
}
bool isUsed(const Program &program, int value) {
  auto in = [&](const std::vector<int> &values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return in(program.results) ||
         std::any_of(program.steps.begin(), program.steps.end(), [&](const Step &step) { return in(step.operands); });
}
} // namespace

Program withInput(const Program &program, int value, Data data) {
  Program result = program;
  int fresh = static_cast<int>(program.inputs.size());
  result.inputs.push_back({Input::Kind::Parameter, std::move(data)});
  auto rename = [&](int &v) { v = v == value ? fresh : v >= fresh ? v + 1 : v; };
  for (Step &step : result.steps) {
    step.firstResult += 1;
    for (int &operand : step.operands)
      rename(operand);
  }
  for (int &v : result.results)
    rename(v);
  return result;
}

std::optional<Program> withoutArgument(const Program &program, std::size_t index, std::size_t argument) {
  Program result = program;
  Step &step = result.steps[index];
  Transform &transform = *step.transform;
  bool isPlain = transform.kind == Transform::Kind::Checkpoint || transform.kind == Transform::Kind::Vmap ||
                 transform.captured[argument];
  bool isNeeded = transform.captured.size() == 1 && transform.isControlFlow();
  eachBody(transform, [&](const Program &body) { isNeeded |= isUsed(body, static_cast<int>(argument)); });
  if (!isPlain || isNeeded)
    return std::nullopt;
  auto at = static_cast<std::ptrdiff_t>(argument);
  auto shorten = [&](std::shared_ptr<const Program> &program) {
    Program body = *program;
    body.inputs.erase(body.inputs.begin() + at);
    --body.numArguments;
    for (Step &inner : body.steps) {
      countDown(inner.operands, static_cast<int>(argument));
      --inner.firstResult;
    }
    countDown(body.results, static_cast<int>(argument));
    program = std::make_shared<const Program>(std::move(body));
  };
  shorten(transform.body);
  for (std::shared_ptr<const Program> &alternative : transform.alternatives)
    shorten(alternative);
  step.operands.erase(step.operands.begin() + at);
  transform.captured.erase(transform.captured.begin() + at);
  if (!transform.inAxes.empty())
    transform.inAxes.erase(transform.inAxes.begin() + at);
  return result;
}

std::optional<Program> withoutResult(const Program &program, std::size_t index, std::size_t result) {
  const Step &step = program.steps[index];
  int value = step.firstResult + static_cast<int>(result);
  using Kind = Transform::Kind;
  const Kind kind = step.transform->kind;
  bool isPlain = kind == Kind::Checkpoint || kind == Kind::Vmap || kind == Kind::Branch ||
                 (kind == Kind::Scan && static_cast<int>(result) >= step.transform->numCarried);
  if (!isPlain || step.types.size() < 2 || isUsed(program, value))
    return std::nullopt;
  Program shorter = program;
  Transform &transform = *shorter.steps[index].transform;
  auto at = static_cast<std::ptrdiff_t>(result);
  auto shorten = [&](std::shared_ptr<const Program> &program) {
    Program body = *program;
    body.results.erase(body.results.begin() + at);
    program = std::make_shared<const Program>(std::move(body));
  };
  shorten(transform.body);
  for (std::shared_ptr<const Program> &alternative : transform.alternatives)
    shorten(alternative);
  if (!transform.outAxes.empty())
    transform.outAxes.erase(transform.outAxes.begin() + at);
  for (Step &other : shorter.steps)
    countDown(other.operands, value);
  countDown(shorter.results, value);
  for (std::size_t s = index + 1; s < shorter.steps.size(); ++s)
    --shorter.steps[s].firstResult;
  return shorter;
}

std::optional<Program> inlined(const Program &program, std::size_t index, std::size_t number) {
  const Step &from = program.steps[index];
  const Transform &transform = *from.transform;
  using Kind = Transform::Kind;
  bool isPlain = transform.kind == Kind::Checkpoint || transform.kind == Kind::CustomGradient ||
                 transform.kind == Kind::Branch || transform.kind == Kind::While || transform.kind == Kind::Range;
  bool isBranch = transform.kind == Kind::Branch;
  if (!isPlain || number > (isBranch ? transform.alternatives.size() : 0))
    return std::nullopt;
  const Program &body = number ? *transform.alternatives[number - 1] : *transform.body;
  auto more = static_cast<int>(body.steps.size()) - 1, at = static_cast<int>(index);
  Program result = program;
  result.steps.clear();
  std::vector<int> renamed, inner;
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    renamed.push_back(static_cast<int>(i));
  for (std::size_t i = static_cast<std::size_t>(body.numArguments); i < body.inputs.size(); ++i)
    result.inputs.push_back(body.inputs[i]);
  auto next = static_cast<int>(result.inputs.size());
  auto append = [&](Step step, std::vector<int> &names) {
    for (int &operand : step.operands)
      operand = names[operand];
    step.firstResult = next;
    for (std::size_t r = 0; r < step.types.size(); ++r)
      names.push_back(next++);
    result.steps.push_back(std::move(step));
  };
  auto later = [&](int &step) { step += step > at ? more : 0; };
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (s != index) {
      Step step = program.steps[s];
      if (step.tape)
        for (int *place : {&step.tape->begin, &step.tape->tapeOf, &step.tape->pauseBegin, &step.tape->pauseEnd})
          later(*place);
      append(std::move(step), renamed);
      continue;
    }
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
      inner.push_back(i < static_cast<std::size_t>(body.numArguments)
                          ? renamed[from.operands[i]]
                          : static_cast<int>(program.inputs.size() + i) - body.numArguments);
    for (Step step : body.steps) {
      if (step.tape) {
        step.tape->begin += at;
        step.tape->pauseBegin += at;
        step.tape->pauseEnd += at;
        step.tape->tapeOf += step.tape->tapeOf < 0 ? 0 : at;
      }
      append(std::move(step), inner);
    }
    for (std::size_t r = 0; r < from.types.size(); ++r)
      renamed.push_back(inner[body.results[r]]);
  }
  for (Nested &nested : result.nested) {
    later(nested.begin);
    later(nested.end);
  }
  for (int &value : result.results)
    value = renamed[value];
  return result;
}

Program resized(const Program &program, std::int64_t from, std::int64_t to) {
  Program result = program;
  auto shrinkData = [&](Data &data) {
    Data smaller{data.type, {}};
    for (std::int64_t &size : smaller.type.dims)
      if (size == from)
        size = to;
    for (std::int64_t i = 0; i < countOf(smaller.type); ++i) {
      const std::int64_t parts = partsOf(data.type.dtype);
      std::int64_t rest = i / parts, at = i % parts, stride = parts;
      for (std::size_t d = data.type.dims.size(); d-- > 0; stride *= data.type.dims[d]) {
        at += rest % smaller.type.dims[d] * stride;
        rest /= smaller.type.dims[d];
      }
      smaller.values.push_back(data.values[static_cast<std::size_t>(at)]);
    }
    data = std::move(smaller);
  };
  for (std::size_t i = static_cast<std::size_t>(program.numArguments); i < result.inputs.size(); ++i)
    shrinkData(result.inputs[i].data);
  for (VariableInput &variable : result.variables)
    shrinkData(variable.data);
  for (Step &step : result.steps) {
    if (step.transform) {
      auto resize = [&](std::shared_ptr<const Program> &body) {
        auto smaller = std::make_shared<Program>(resized(*body, from, to));
        // Their types change with those of what is around them; asked anew, for a body that has changed.
        for (int i = 0; i < smaller->numArguments; ++i)
          smaller->inputs[i].data.type = {DType::Bool, {-1}};
        body = std::move(smaller);
      };
      resize(step.transform->body);
      for (std::shared_ptr<const Program> &alternative : step.transform->alternatives)
        resize(alternative);
    }
    for (Attribute &attribute : step.attributes)
      if (Ints *values = std::get_if<Ints>(&attribute))
        for (std::int64_t &value : *values)
          if (value == from)
            value = to;
  }
  return result;
}

} // namespace calque::fuzz
