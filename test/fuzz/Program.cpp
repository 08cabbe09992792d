#include "test/fuzz/Program.h"

#include "test/fuzz/Random.h"

#include <algorithm>
#include <cstring>

namespace calque::fuzz {

std::int64_t partsOf(DType dtype) { return is_complex(dtype) ? 2 : 1; }
std::int64_t countOf(const TensorType &type) { return type.numElements() * partsOf(type.dtype); }

Real roundTo(DType dtype, Real value) {
  dtype = real_of(dtype);
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
      for (int inner = step.tape->begin; inner < static_cast<int>(i); ++inner)
        if (OpId op = program.steps[static_cast<std::size_t>(inner)].op; op == OpId::Sigmoid)
          all.push_back(OpId::SigmoidSlope);
        else if (op == OpId::Softplus)
          all.push_back(OpId::SoftplusSlope);
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
  std::int64_t count = constant.type.numElements();
  std::size_t size = size_of(constant.type.dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte *at = constant.bytes.data() + (constant.splat ? 0 : static_cast<std::size_t>(i) * size);
    dispatch_all(constant.type.dtype, [&]<typename T>(std::type_identity<T>) {
      if constexpr (calque::detail::kIsComplex<T>) {
        T number;
        std::memcpy(&number, at, sizeof(T));
        data.values.insert(data.values.end(), {static_cast<Real>(number.real()), static_cast<Real>(number.imag())});
      } else {
        using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
        data.values.push_back(static_cast<T>(*reinterpret_cast<const Stored *>(at)));
      }
    });
  }
  return data;
}

} // namespace calque::fuzz
