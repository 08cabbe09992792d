// Transformations of programs that are built.
#include "test/fuzz/Builder.h"
#include "test/fuzz/Cost.h"

#include <algorithm>

namespace calque::fuzz {

using Kind = Transform::Kind;

namespace {
bool differentiates(Kind kind) { return kind == Kind::Jvp || kind == Kind::Vjp; }
} // namespace

Builder::Builder(Strategies &strategies, Pool &pool, std::uint64_t seed, const std::vector<ArrayRef> &arguments,
                 std::size_t orders, int depth)
    : Builder(strategies, pool, seed) {
  this->depth = depth;
  acts = false;
  Tape around{0, {}, {}};
  for (const ArrayRef &argument : arguments) {
    if (is_inexact(argument->type.dtype))
      around.sources.push_back(numInputs);
    program.inputs[numInputs].data.type = argument->type;
    interpreter.meaning.values[numInputs++] = argument;
  }
  program.numArguments = numInputs;
  openTapes = orders;
  tapes.assign(orders, around);
  followActive();
}

void Builder::transformation() {
  static constexpr Kind kinds[] = {Kind::Checkpoint, Kind::Vmap, Kind::Vmap,
                                   Kind::Jvp,        Kind::Vjp,  Kind::CustomGradient};
  if (depth >= kMostDepth)
    return operation();
  for (int attempt = 0; attempt < 4; ++attempt) {
    Kind kind = kinds[random.below(6)];
    if (differentiates(kind) && (tapes.size() >= kMostOrders || palette.mostElements > 1000))
      continue;
    int before = numInputs;
    if (tryTransformation(kind))
      return;
    numInputs = before;
    strategies.typeOf = [this](int value) { return program.typeOf(value); };
  }
}

bool Builder::tryTransformation(Kind kind) {
  bool isSmall = differentiates(kind) || !tapes.empty();
  // Of a custom gradient the arguments are like the result.
  TensorType common{DType::Bool, {}};
  auto fits = [&](const TensorType &type) {
    bool isRight = !differentiates(kind) || is_inexact(type.dtype);
    if (kind == Kind::CustomGradient) // whose products of cotangents are those of elements
      isRight = common.dtype == DType::Bool ? is_floating(type.dtype) : type == common;
    return isRight && countOf(type) > 0 && (!isSmall || countOf(type) <= 16);
  };
  Step step{OpId::Checkpoint, {}, {}, {}, 0, {}};
  Transform transform{kind, nullptr, {}, {}, {}};
  std::int64_t examples = -1;
  int count = 1 + random.below(3);
  for (int i = 0; i < count; ++i) {
    bool isCaptured = i > 0 && random.chance(0.25),
         isStacked = kind == Kind::Vmap && !isCaptured && (i == 0 || random.chance(0.6));
    auto axisOf = [&](const TensorType &type) {
      std::vector<std::int64_t> axes;
      for (std::int64_t axis = 0; axis < type.rank(); ++axis)
        if (std::int64_t size = type.dims[static_cast<std::size_t>(axis)];
            size > 0 && (examples < 0 ? size <= 8 : size == examples))
          axes.push_back(axis);
      return axes;
    };
    auto isWanted = [&](const TensorType &type) {
      if (isCaptured)
        return countOf(type) > 0 && (!isSmall || countOf(type) <= 16);
      return fits(type) && (!isStacked || !axisOf(type).empty());
    };
    int value = existing(isWanted);
    if (value < 0) {
      TensorType type{palette.source(random.chance(0.5)), palette.shape(random)};
      if (isStacked && examples > 0)
        type.dims.insert(type.dims.begin(), examples);
      if (kind == Kind::CustomGradient && common.dtype != DType::Bool && !isCaptured)
        type = common;
      if (!isWanted(type) || countOf(type) > palette.mostElements)
        return false;
      value = input(data(type));
    }
    if (value < 0)
      return false;
    const TensorType &type = program.typeOf(value);
    if (kind == Kind::CustomGradient && !isCaptured)
      common = type;
    step.operands.push_back(value);
    transform.captured.push_back(isCaptured);
    if (kind != Kind::Vmap)
      continue;
    transform.inAxes.emplace_back();
    if (isStacked) {
      std::int64_t axis = random.of(axisOf(type));
      examples = type.dims[static_cast<std::size_t>(axis)];
      transform.inAxes.back() = random.chance(0.3) ? axis - type.rank() : axis;
    }
  }
  std::vector<ArrayRef> arguments;
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    arguments.push_back(exampleOf(interpreter.meaning.values[step.operands[i]], transform.axisOf(i), 0));
  Builder inner(strategies, pool, random.next(), arguments, tapes.size() + differentiates(kind), depth + 1);
  std::optional<Program> made = inner.body(transform);
  strategies.typeOf = [this](int value) { return program.typeOf(value); };
  if (!made)
    return false;
  transform.body = std::make_shared<const Program>(std::move(*made));
  const Program &body = *transform.body;
  switch (kind) {
  case Kind::Checkpoint:
    break;
  case Kind::Vmap:
    step.op = OpId::Batch;
    for (int result : body.results) {
      std::int64_t rank = body.typeOf(result).rank(),
                   axis = random.chance(0.6) ? 0 : random.below(static_cast<int>(rank) + 1);
      transform.outAxes.push_back(random.chance(0.2) ? axis - rank - 1 : axis);
    }
    break;
  case Kind::Jvp:
    step.op = OpId::Jvp;
    for (int argument : argumentsOf(transform))
      step.operands.push_back(anyOf(body.typeOf(argument)));
    break;
  case Kind::Vjp:
    step.op = OpId::Gradient;
    for (int result : body.results)
      step.operands.push_back(anyOf(body.typeOf(result)));
    break;
  case Kind::CustomGradient:
    step.op = OpId::CustomGradient;
    break;
  default:
    throw std::logic_error("a branch or a loop is drawn otherwise");
  }
  if (std::find(step.operands.begin(), step.operands.end(), -1) != step.operands.end())
    return false;
  return appendTransform(std::move(step), std::move(transform), differentiates(kind) ? 7e4 : 4e5);
}

bool Builder::appendTransform(Step step, Transform transform, double mostCost) {
  step.transform = std::move(transform);
  step.firstResult = program.numValues();
  Program longer = program;
  longer.steps.push_back(step);
  if (!fuzz::check(longer))
    return false;
  for (const TensorType &type : longer.steps.back().types)
    if (countOf(type) > palette.mostElements)
      return false;
  return costOf(longer, numSteps(), numSteps() + 1) <= mostCost && append(std::move(step), 0.2);
}

void Builder::growBody() {
  int steps = 1 + random.below(4);
  for (int i = 0; i < steps; ++i) {
    if (tapes.size() == openTapes && tapes.size() < kMostOrders && palette.mostElements < 1000 && random.chance(0.2))
      openTape();
    if (random.chance(0.12))
      transformation();
    else if (random.chance(0.1))
      controlFlow();
    else if (random.chance(0.06))
      userOperation();
    else if (random.chance(0.06))
      tryOperation(schema::schemaOf(OpId::RandomUniform)); // another number in each iteration
    else if (mayAct() && random.chance(0.3))
      effect();
    else
      operation();
    if (tapes.size() > openTapes && random.chance(0.3))
      closeTape(true);
  }
  while (tapes.size() > openTapes)
    closeTape(false);
}

std::optional<Program> Builder::body(const Transform &transform) {
  growBody();
  program.results = bodyResults(transform);
  if (program.results.empty())
    return std::nullopt;
  Program pruned = prune(program);
  return fuzz::check(pruned) ? std::optional(std::move(pruned)) : std::nullopt;
}

std::vector<int> Builder::bodyResults(const Transform &transform) {
  Kind kind = transform.kind;
  std::vector<int> values = valuesOfSteps(), arguments;
  for (int i = 0; i < program.numArguments; ++i)
    arguments.push_back(i);
  std::erase_if(values, [&](int value) { return countOf(program.typeOf(value)) == 0; });
  if (kind == Kind::Vjp)
    std::erase_if(values, [&](int value) { return !is_inexact(program.typeOf(value).dtype); });
  if (kind == Kind::CustomGradient) {
    // The first argument's type is that of all.
    values.insert(values.begin(), arguments.begin(), arguments.end());
    std::erase_if(values, [&](int value) { return program.typeOf(value) != program.typeOf(0); });
    std::vector<int> results{values.back()};
    for (int argument : argumentsOf(transform))
      if (is_floating(program.typeOf(argument).dtype))
        results.push_back(random.of(values));
    return results;
  }
  std::vector<int> results;
  if (values.empty())
    return random.chance(0.2) ? std::vector<int>{0} : results;
  results.push_back(values.back());
  for (int i = 0; i < 2; ++i)
    if (random.chance(0.3))
      results.push_back(random.chance(0.15) ? random.of(arguments) : random.of(values));
  if (kind == Kind::Vjp)
    std::erase_if(results, [&](int value) { return !is_inexact(program.typeOf(value).dtype); });
  return results;
}

} // namespace calque::fuzz
