#include "test/fuzz/Interpreter.h"

#include "test/fuzz/ControlFlow.h"
#include "test/fuzz/Derivatives.h"
#include "test/fuzz/Extern.h"
#include "test/fuzz/Kernels.h"

#include <algorithm>

namespace calque::fuzz {

void Interpreter::run() {
  while (meaning.values.size() < program.inputs.size())
    meaning.values.push_back(arrayOf(program.inputs[meaning.values.size()].data));
  while (meaning.variables.size() < program.variables.size())
    meaning.variables.push_back(arrayOf(program.variables[meaning.variables.size()].data));
  for (; done < program.steps.size() && !meaning.failure; ++done) {
    try {
      step(static_cast<int>(done));
    } catch (Failure &failure) {
      failure.step = static_cast<int>(done);
      meaning.failure = std::move(failure);
      beforeFailure = meaning.variables;
      for (std::size_t i = 0; i < meaning.variables.size(); ++i)
        meaning.variables[i] = arrayOf(program.variables[i].data);
    }
  }
}

void Interpreter::step(int index) {
  const Step &step = program.steps[index];
  auto variable = [&]() -> ArrayRef & { return meaning.variables[std::get<std::int64_t>(step.attributes[0])]; };
  if (step.tape) {
    for (ArrayRef &result : gradientOf(program, meaning.values, index))
      meaning.values.push_back(std::move(result));
    return;
  }
  if (step.transform)
    return step.isControlFlow() ? controlFlow(index) : transform(index);
  switch (step.op) {
  case OpId::HostCall: // of the identity
    meaning.values.push_back(meaning.values[step.operands[0]]);
    return;
  case OpId::VariableRead:
    meaning.values.push_back(variable());
    return;
  case OpId::VariableAssign:
    assign(step, variable());
    return;
  case OpId::Print:
    for (const Num &element : meaning.values[step.operands[0]]->elements)
      if (element.apart > 0)
        throw Undecided("what is printed is not known exactly");
    return;
  case OpId::Assert:
    for (const Num &element : meaning.values[step.operands[0]]->elements) {
      if (element.off > 0 || element.apart > 0)
        throw Undecided("an assertion is not known exactly");
      if (element.value == 0)
        throw Failure{"AssertionError", std::get<std::string>(step.attributes[0])};
    }
    return;
  default:
    break;
  }
  for (std::size_t r = 0; r < step.types.size(); ++r) {
    auto result = std::make_shared<Array>();
    result->type = step.types[r];
    result->elements.resize(static_cast<std::size_t>(countOf(result->type)));
    Call call{step, {}, *result, true, r};
    for (int operand : step.operands)
      call.x.push_back(meaning.values[operand].get());
    if (step.op == OpId::Extern)
      evaluateExtern(call, r);
    else
      evaluate(call);
    meaning.values.push_back(std::move(result));
  }
}

void Interpreter::assign(const Step &step, ArrayRef &variable) {
  const ArrayRef &value = meaning.values[step.operands[0]];
  std::int64_t how = std::get<std::int64_t>(step.attributes[1]);
  if (how == 0) {
    variable = value;
    return;
  }
  auto result = std::make_shared<Array>();
  result->type = variable->type;
  result->elements.resize(variable->elements.size());
  Step update{how == 1 ? OpId::Add : OpId::Sub, {}, {}, {result->type}, 0, {}, {}};
  evaluate({update, {variable.get(), value.get()}, *result, true});
  variable = std::move(result);
}

void Interpreter::transform(int index) {
  const Step &step = program.steps[index];
  const Transform &transform = *step.transform;
  const Program &body = *transform.body;
  std::vector<std::vector<ArrayRef>> examples; // by result
  examples.resize(body.results.size());
  for (std::int64_t example = 0; example < numExamples(program, step); ++example) {
    Interpreter inner(body, isExample || transform.kind == Transform::Kind::Vmap);
    for (int i = 0; i < body.numArguments; ++i)
      inner.meaning.values.push_back(
          exampleOf(meaning.values[step.operands[i]], transform.axisOf(static_cast<std::size_t>(i)), example));
    inner.run();
    if (inner.meaning.failure)
      throw Undecided("a transformed function fails");
    for (std::size_t r = 0; r < examples.size(); ++r)
      examples[r].push_back(inner.meaning.values[body.results[r]]);
  }
  std::vector<ArrayRef> results;
  std::size_t count = transform.kind == Transform::Kind::CustomGradient ? 1 : examples.size();
  for (std::size_t r = 0; r < count; ++r)
    results.push_back(transform.kind == Transform::Kind::Vmap
                          ? stackOf(examples[r], step.types[r], transform.outAxes[r])
                          : examples[r][0]);
  if (transform.kind == Transform::Kind::Jvp || transform.kind == Transform::Kind::Vjp)
    for (ArrayRef &derivative : derivativesOf(program, meaning.values, index))
      results.push_back(std::move(derivative));
  for (ArrayRef &result : results)
    meaning.values.push_back(std::move(result));
}

void Interpreter::controlFlow(int index) {
  const Step &step = program.steps[index];
  const Transform &transform = *step.transform;
  std::vector<ArrayRef> variables = meaning.variables;
  auto run = [&](const Program &body, const ArrayRefs &arguments) {
    Interpreter inner(body, isExample);
    inner.meaning.values = arguments;
    inner.meaning.variables = variables;
    inner.run();
    if (inner.meaning.failure)
      throw Undecided("a branch or a loop fails");
    variables = inner.meaning.variables;
    ArrayRefs results;
    for (int result : body.results)
      results.push_back(inner.meaning.values[result]);
    return results;
  };
  // What is computed for an example that has no use for it, as derivatives of it are.
  auto runUnused = [&](const Program &body, const ArrayRefs &arguments) {
    Interpreter inner(body, isExample);
    inner.meaning.values = arguments;
    inner.run();
    bool isFinite = !inner.meaning.failure;
    for (const ArrayRef &value : inner.meaning.values)
      isFinite = isFinite && std::ranges::all_of(value->elements, [](const Num &x) { return std::isfinite(x.value); });
    if (!isFinite)
      throw Undecided("what an example does not take is not finite");
  };
  ArrayRefs operands;
  for (int operand : step.operands)
    operands.push_back(meaning.values[operand]);
  ArrayRefs results = runControlFlow(program, step, operands,
                                     {run, [&](const Program &condition, const ArrayRefs &arguments, std::int64_t) {
                                        return exactly(*run(condition, arguments)[0]) != 0;
                                      }});
  if (isExample) {
    ArrayRefs arguments(operands.begin(), operands.begin() + transform.body->numArguments);
    if (transform.kind == Transform::Kind::Branch)
      eachBody(transform, [&](const Program &body) { runUnused(body, arguments); });
    std::copy_n(results.begin(), transform.numCarried, arguments.begin() + transform.firstCarried());
    if (transform.kind == Transform::Kind::While || transform.kind == Transform::Kind::Range)
      runUnused(*transform.body, arguments);
  }
  meaning.variables = std::move(variables);
  for (ArrayRef &result : results)
    meaning.values.push_back(std::move(result));
}

} // namespace calque::fuzz
