// Branches and loops of programs that are built.
#include "test/fuzz/Builder.h"
#include "test/fuzz/ControlFlow.h"
#include "test/fuzz/Cost.h"

#include <algorithm>

namespace calque::fuzz {

using Kind = Transform::Kind;

void Builder::controlFlow() {
  static constexpr Kind kinds[] = {Kind::Branch, Kind::While, Kind::Range, Kind::Scan};
  if (depth >= kMostDepth)
    return operation();
  for (int attempt = 0; attempt < 4; ++attempt) {
    int inputs = numInputs, steps = numSteps();
    if (tryControlFlow(kinds[random.below(4)]))
      return;
    if (numSteps() == steps) // what would decide may have been computed
      numInputs = inputs;
  }
}

bool Builder::drawCarried(Step &step, Transform &transform, int count) {
  for (int i = 0; i < count; ++i) {
    auto fits = [&](const TensorType &type) { return countOf(type) > 0 && (tapes.empty() || countOf(type) <= 16); };
    int value = existing(fits);
    if (value < 0) {
      TensorType type{random.of(palette.dtypes), palette.shape(random)};
      value = fits(type) ? input(data(type)) : -1;
    }
    if (value < 0)
      return false;
    step.operands.push_back(value);
    transform.captured.push_back(false);
    ++transform.numCarried;
  }
  return true;
}

bool Builder::drawCaptured(Step &step, Transform &transform, int count) {
  for (int i = 0; i < count; ++i) {
    int value =
        existing([&](const TensorType &type) { return countOf(type) > 0 && (tapes.empty() || countOf(type) <= 16); });
    if (value < 0)
      return false;
    if (std::ranges::find(step.operands, value) != step.operands.end())
      continue;
    step.operands.push_back(value);
    transform.captured.push_back(true);
  }
  return true;
}

bool Builder::drawSlices(Step &step, Transform &transform, int count) {
  transform.inAxes.resize(step.operands.size());
  std::int64_t slices = -1;
  for (int i = 0; i < count; ++i) {
    auto fits = [&](const TensorType &type) {
      return type.rank() > 0 && countOf(type) > 0 && (slices < 0 ? type.dims[0] <= 8 : type.dims[0] == slices) &&
             (tapes.empty() || countOf(type) <= 16);
    };
    int value = existing(fits);
    if (value < 0) {
      TensorType type{random.of(palette.dtypes), palette.shape(random, random.below(2))};
      type.dims.insert(type.dims.begin(), slices < 0 ? 1 + random.below(4) : slices);
      value = fits(type) ? input(data(type)) : -1;
    }
    if (value < 0)
      return false;
    slices = program.typeOf(value).dims[0];
    step.operands.push_back(value);
    transform.captured.push_back(false);
    transform.inAxes.emplace_back(0);
  }
  return true;
}

int Builder::decision() {
  int value = existing(
      [](const TensorType &type) { return type.dtype != DType::Bool && !is_complex(type.dtype) && countOf(type) > 0; });
  if (value < 0)
    return -1;
  const TensorType scalar{program.typeOf(value).dtype, {}};
  if (program.typeOf(value) != scalar) {
    if (!append({OpId::Sum, {value}, {Ints(), false}, {}, 0, {}}))
      return -1;
    value = program.numValues() - 1;
  }
  // What holds at first, and not for ever.
  Real now = interpreter.meaning.values[value]->elements[0].value;
  bool isLess = random.chance(0.6);
  Real far = is_integer(scalar.dtype) ? 1 + random.below(3) : random.uniform(0.1, 2);
  int bound = input(Data{scalar, {roundTo(scalar.dtype, now + (isLess ? far : -far) * (random.chance(0.8) ? 1 : -1))}});
  if (bound < 0 || !append({isLess ? OpId::Less : OpId::Greater, {value, bound}, {}, {}, 0, {}}))
    return -1;
  return program.numValues() - 1;
}

std::unique_ptr<Builder> Builder::builderOf(const Step &step, const Transform &transform) {
  std::vector<ArrayRef> arguments;
  for (std::size_t i = 0; i < transform.captured.size(); ++i) {
    const ArrayRef &value = interpreter.meaning.values[step.operands[i]];
    arguments.push_back(
        exampleOf(value, transform.axisOf(i), transform.reverse && transform.axisOf(i) ? value->type.dims[0] - 1 : 0));
  }
  std::unique_ptr<Builder> made(new Builder(strategies, pool, random.next(), arguments, tapes.size(), depth + 1));
  made->acts = mayAct();
  made->program.variables = program.variables;
  made->interpreter.meaning.variables = interpreter.meaning.variables;
  return made;
}

int Builder::resultLike(const TensorType &type, int argument) {
  std::vector<int> fitting = valuesOfSteps();
  std::erase_if(fitting, [&](int value) { return program.typeOf(value) != type; });
  // A loop variable may get the value of another, as it is.
  if (argument >= 0 && random.chance(0.1))
    return anyOf(type);
  if (!fitting.empty() && random.chance(0.85))
    return random.chance(0.6) ? fitting.back() : random.of(fitting);
  if (argument < 0)
    argument = anyOf(type);
  if (argument < 0 || random.chance(0.15))
    return argument;
  static const std::vector<OpId> unary = {OpId::Tanh, OpId::Sin, OpId::Sigmoid, OpId::Neg},
                                 binary = {OpId::Add, OpId::Mul, OpId::Sub, OpId::Maximum};
  bool isUnary = is_inexact(type.dtype) && random.chance(0.5);
  Step step{isUnary ? random.of(unary) : random.of(binary), {argument}, {}, {}, 0, {}};
  if (type.dtype == DType::Bool)
    step.op = OpId::LogicalNot;
  else if (!isUnary)
    step.operands.push_back(anyOf(type));
  if (step.operands.back() < 0 || !append(std::move(step)))
    return argument;
  return program.numValues() - 1;
}

std::shared_ptr<const Program> Builder::bodyOf(const Step &step, const Transform &transform,
                                               const std::vector<TensorType> &types, bool isWhole) {
  std::unique_ptr<Builder> made = builderOf(step, transform);
  Builder &inner = *made;
  inner.growBody();
  std::vector<int> results;
  for (std::size_t r = 0; r < types.size(); ++r) {
    bool isCarried = static_cast<int>(r) < transform.numCarried;
    results.push_back(inner.resultLike(types[r], isCarried ? transform.firstCarried() + static_cast<int>(r) : -1));
    if (results.back() < 0)
      return nullptr;
  }
  std::vector<int> values = inner.valuesOfSteps();
  std::erase_if(values, [&](int value) { return countOf(inner.program.typeOf(value)) == 0; });
  for (int more = isWhole ? 0 : 1 + inner.random.below(2); more > 0 && !values.empty(); --more)
    results.push_back(inner.random.chance(0.6) ? values.back() : inner.random.of(values));
  inner.program.results = std::move(results);
  if (inner.program.results.empty())
    return nullptr;
  auto body = std::make_shared<Program>(prune(inner.program));
  return fuzz::check(*body) ? body : nullptr;
}

std::shared_ptr<const Program> Builder::conditionOf(const Step &step, const Transform &transform) {
  std::unique_ptr<Builder> made = builderOf(step, transform);
  Builder &inner = *made;
  if (inner.mayAct() && inner.random.chance(0.3))
    inner.read();
  int decided = inner.decision();
  if (decided < 0)
    return nullptr;
  inner.program.results = {decided};
  auto body = std::make_shared<Program>(prune(inner.program));
  return fuzz::check(*body) ? body : nullptr;
}

bool Builder::tryControlFlow(Kind kind) {
  Step step{kind == Kind::Branch ? OpId::Cond : OpId::While, {}, {}, {}, 0, {}};
  Transform transform{kind, nullptr, {}, {}, {}};
  if (mayAct() && program.variables.empty() && random.chance(0.5))
    variable({random.of(palette.dtypes), palette.shape(random)});
  // What decides comes last among the operands.
  int last = -1;
  auto number = [&](DType dtype, std::int64_t value) { return input(Data{{dtype, {}}, {static_cast<Real>(value)}}); };
  auto isDrawn = [&] {
    switch (kind) {
    case Kind::Branch:
      last = random.chance(0.5) ? decision() : number(DType::Bool, random.below(2));
      if (random.chance(0.3))
        last = number(random.chance(0.5) ? DType::Int32 : DType::Int64, random.below(5) - 1);
      return last >= 0 && drawCaptured(step, transform, 1 + random.below(3));
    case Kind::While:
      transform.most = 1 + random.below(kMostIterations);
      return drawCarried(step, transform, 1 + random.below(2)) && drawCaptured(step, transform, random.below(3));
    case Kind::Range: {
      std::int64_t begin = random.below(4) - 1, count = random.below(kMostIterations + 1);
      transform.stride = random.chance(0.7) ? 1 : random.chance(0.5) ? -1 : 2;
      step.operands.push_back(number(DType::Int64, begin));
      transform.captured.push_back(false);
      last = number(random.chance(0.5) ? DType::Int32 : DType::Int64, begin + count * transform.stride);
      return step.operands[0] >= 0 && last >= 0 && drawCarried(step, transform, 1 + random.below(2)) &&
             drawCaptured(step, transform, random.below(3));
    }
    default:
      transform.reverse = random.chance(0.3);
      if (!drawCarried(step, transform, random.below(3)) || !drawSlices(step, transform, 1 + random.below(2)) ||
          !drawCaptured(step, transform, random.below(2)))
        return false;
      transform.inAxes.resize(step.operands.size());
      return true;
    }
  };
  if (!isDrawn())
    return false;
  std::vector<TensorType> types;
  for (int i = 0; i < transform.numCarried; ++i)
    types.push_back(program.typeOf(step.operands[static_cast<std::size_t>(transform.firstCarried() + i)]));
  bool mayStack = kind == Kind::Scan && (types.empty() || random.chance(0.7));
  transform.body = bodyOf(step, transform, types, kind != Kind::Branch && !mayStack);
  bool isMade = transform.body != nullptr;
  if (isMade && kind == Kind::While) {
    transform.alternatives.push_back(conditionOf(step, transform));
    isMade = transform.alternatives.back() != nullptr;
  }
  if (isMade && kind == Kind::Branch) {
    for (int result : transform.body->results)
      types.push_back(transform.body->typeOf(result));
    int more = program.typeOf(last).dtype == DType::Bool ? 1 : random.below(4);
    for (int i = 0; i < more && isMade; ++i) {
      transform.alternatives.push_back(bodyOf(step, transform, types, true));
      isMade = transform.alternatives.back() != nullptr;
    }
  }
  strategies.typeOf = [this](int value) { return program.typeOf(value); };
  if (last >= 0)
    step.operands.push_back(last);
  return isMade && appendTransform(std::move(step), std::move(transform), tapes.empty() ? 4e5 : 1e5);
}

} // namespace calque::fuzz
