#include "test/fuzz/Builder.h"

#include "test/fuzz/Extern.h"

#include <algorithm>

namespace calque::fuzz {

Builder::Builder(Strategies &strategies, Pool &pool, std::uint64_t seed)
    : strategies(strategies), pool(pool), palette(pool.palette), random(seed), interpreter(program) {
  program.seed = seed;
  // Numbers come before the steps: places for inputs, which are filled when they are needed.
  program.inputs.resize(kMostInputs);
  program.results = {0};
  interpreter.run();
  strategies.typeOf = [this](int value) { return program.typeOf(value); };
}

Made Builder::build() {
  int steps = 2 + random.below(9);
  bool differentiates = random.chance(0.6);
  for (int i = 0; i < steps && !failed(); ++i) {
    if (differentiates && tapes.size() < kMostOrders && palette.mostElements < 1000 &&
        random.chance(tapes.empty() ? 0.6 : 0.2))
      openTape();
    // Two at once make a gradient of a gradient.
    if (tapes.size() == 1 && tapes[0].begin == numSteps() && random.chance(0.35))
      openTape();
    if (double kind = random.uniform(0, 1); kind < 0.15)
      effect();
    else if (kind < 0.24)
      transformation();
    else if (kind < 0.34)
      controlFlow();
    else if (kind < 0.38)
      userOperation();
    else
      operation();
    if (!tapes.empty() && random.chance(0.2))
      closeTape(true);
  }
  while (!tapes.empty() && !failed())
    closeTape(false);
  // After a failure nothing may be seen to have happened.
  if (failed() && random.chance(0.5))
    assign();
  return finish();
}

//===-- Values ----------------------------------------------------------------------------------===//

std::vector<int> Builder::valuesOfSteps() const {
  std::vector<int> values;
  for (const Step &step : program.steps)
    for (std::size_t r = 0; r < step.types.size(); ++r)
      values.push_back(step.firstResult + static_cast<int>(r));
  return values;
}

bool Builder::usable(int value) const {
  int step = program.stepOf(value);
  return step < 0 || tapes.empty() || program.steps[step].op != OpId::VariableRead || step >= tapes.back().begin;
}

int Builder::existing(const std::function<bool(const TensorType &)> &fits) {
  std::vector<int> found;
  for (int value = 0; value < numInputs; ++value)
    if (fits(program.typeOf(value)))
      found.push_back(value);
  for (int value : valuesOfSteps())
    if (fits(program.typeOf(value)) && usable(value)) {
      found.push_back(value);
      if (depends(value))
        found.insert(found.end(), 3, value);
    }
  if (found.empty())
    return -1;
  if (random.chance(0.5))
    return found[found.size() - 1 -
                 static_cast<std::size_t>(random.below(std::min<int>(4, static_cast<int>(found.size()))))];
  return random.of(found);
}

Data Builder::data(const TensorType &type, OpId op) {
  Data data{type, {}};
  const Facts &facts = factsOf(op);
  int style = random.below(10);
  Real same = random.below(7) - 3;
  for (std::int64_t i = 0; i < countOf(type); ++i) {
    Real value = 0;
    if (type.dtype == DType::Bool) {
      value = style < 3 || random.chance(0.5);
    } else if (is_integer(type.dtype)) {
      static const Real special[] = {INT32_MIN, INT32_MAX, -1, 0, 1, 0x1p62L, -0x1p63L};
      value = style < 4 ? random.below(3) : style < 7 ? random.below(19) - 9 : style < 8 ? 1 + random.below(9) : same;
      if (style == 9 && random.chance(0.3))
        value = special[random.below(type.dtype == DType::Int64 ? 7 : 5)];
    } else {
      constexpr Real infinity = std::numeric_limits<Real>::infinity();
      static const Real special[] = {
          std::numeric_limits<Real>::quiet_NaN(), infinity, -infinity, 0.0L, -0.0L, 1e-30L, -3e20L, 88.5L, 0.5L};
      if (style < 4)
        value = random.uniform(facts.low, facts.high);
      else if (style < 7)
        value = (random.below(25) - 12) / 4.0L;
      else if (style < 8)
        value = random.uniform(0.5, 2.5);
      else
        value = same;
      if (style == 9 && random.chance(0.3) && tapes.empty())
        value = special[random.below(9)];
    }
    data.values.push_back(roundTo(type.dtype, value));
  }
  return data;
}

int Builder::input(Data data) {
  if (numInputs == kMostInputs)
    return -1;
  program.inputs[numInputs].data = std::move(data);
  program.inputs[numInputs].kind = isBody() || random.chance(0.3) ? Input::Kind::Capture : Input::Kind::Parameter;
  interpreter.meaning.values[numInputs] = arrayOf(program.inputs[numInputs].data);
  return numInputs++;
}

int Builder::anyOf(const TensorType &type) {
  int value = random.chance(0.5) ? existing([&](const TensorType &other) { return other == type; }) : -1;
  return value >= 0 ? value : input(data(type));
}

bool Builder::append(Step step, double wanted) {
  if (failed()) // what comes after is not interpreted, and taking it back would take back the failure
    return false;
  std::size_t values = interpreter.meaning.values.size();
  std::vector<ArrayRef> variables = interpreter.meaning.variables;
  step.firstResult = static_cast<int>(values);
  program.steps.push_back(std::move(step));
  bool good = fuzz::check(program);
  if (good) {
    try {
      interpreter.run();
      good = failed() ? !isBody() && random.chance(0.05) : isGood(values) || random.chance(wanted);
    } catch (const Undecided &) {
      good = false;
    }
  }
  if (good) {
    followActive();
    return true;
  }
  program.steps.pop_back();
  interpreter.forget(program.steps.size(), values);
  interpreter.meaning.variables = std::move(variables);
  return false;
}

bool Builder::isGood(std::size_t firstValue) const {
  for (std::size_t value = firstValue; value < interpreter.meaning.values.size(); ++value) {
    const Array &array = *interpreter.meaning.values[value];
    if (array.elements.empty())
      return false;
    for (const Num &element : array.elements)
      if (!std::isfinite(element.value) || !(element.off < 1e-3L * (1 + std::fabs(element.value))) ||
          (is_inexact(array.type.dtype) && std::fabs(element.value) > 1e5L))
        return false;
  }
  return true;
}

//===-- Operations ------------------------------------------------------------------------------===//

void Builder::operation() {
  using List = std::vector<const schema::OperationSchema *>;
  auto drawnOf = [](Numbers numbers) {
    auto *list = new List;
    for (const schema::OperationSchema &schema : schema::operations())
      if (Strategies::draws(schema.id, numbers))
        list->push_back(&schema);
    return list;
  };
  static const List *real = drawnOf(Numbers::Wide), *withComplex = drawnOf(Numbers::Complex);
  const List *drawn = palette.numbers == Numbers::Complex ? withComplex : real;
  for (int attempt = 0; attempt < 6; ++attempt) {
    const schema::OperationSchema *schema = random.of(*drawn);
    // While a tape records, mostly what it follows.
    if (!tapes.empty() && !schema->differentiable && random.chance(0.75))
      continue;
    for (int tries = 0; tries < 30; ++tries)
      if (tryOperation(*schema))
        return;
  }
}

bool Builder::tryOperation(const schema::OperationSchema &schema) {
  Draw draw;
  const std::vector<Draw> &calls = pool.calls[static_cast<std::size_t>(schema.id)];
  if (!calls.empty() && random.chance(0.9)) {
    draw = random.of(calls);
    for (Operand &operand : draw.operands)
      if (random.chance(0.85))
        operand.value = existing([&](const TensorType &type) { return type == operand.type; });
  } else if (!strategies.draw(schema, palette, random, [this](const auto &fits) { return existing(fits); }, draw)) {
    return false;
  }
  if (!tapes.empty() && schema.differentiable && random.chance(0.7)) {
    bool any = false;
    for (const Operand &operand : draw.operands)
      any |= operand.value >= 0 && depends(operand.value);
    if (!any)
      return false;
  }
  std::vector<TensorType> types;
  std::int64_t work = 1;
  for (const Operand &operand : draw.operands) {
    types.push_back(operand.type);
    if (countOf(operand.type) > palette.mostElements)
      return false;
    work *= std::max<std::int64_t>(countOf(operand.type), 1);
  }
  schema::Inference inference = schema::inferTypes(schema.id, types, draw.attributes);
  for (const TensorType &type : inference.types)
    if (countOf(type) > palette.mostElements || type.rank() > 6)
      return false;
  if (!schema.elementwise && work > 3'000'000)
    return false;
  int fresh = 0;
  for (const Operand &operand : draw.operands)
    fresh += operand.value < 0;
  if (numInputs + fresh > kMostInputs)
    return false;
  int before = numInputs;
  Step step{schema.id, {}, draw.attributes, {}, 0, {}};
  for (const Operand &operand : draw.operands)
    step.operands.push_back(operand.value >= 0 ? operand.value : input(data(operand.type, schema.id)));
  if (append(std::move(step), 0.1))
    return true;
  numInputs = before;
  return false;
}

void Builder::userOperation() {
  std::int64_t which = random.below(static_cast<int>(kExternOperations));
  int before = numInputs;
  auto fits = [](const TensorType &type) { return is_floating(type.dtype); };
  int first = existing(fits);
  if (first < 0)
    first = input(data({palette.type(random.chance(0.5) ? DType::Float64 : DType::Float32), palette.shape(random)}));
  if (first < 0)
    return;
  Step step{OpId::Extern, {first}, {which}, {}, 0, {}};
  while (static_cast<int>(step.operands.size()) < numOperandsOfExtern(which)) {
    step.operands.push_back(anyOf(program.typeOf(first)));
    if (step.operands.back() < 0)
      return;
  }
  if (!append(std::move(step), 0.2))
    numInputs = before;
}

//===-- Effects ---------------------------------------------------------------------------------===//

void Builder::effect() {
  switch (random.below(9)) {
  case 8: {
    int value = existing([](const TensorType &) { return true; });
    if (value >= 0)
      append({OpId::HostCall, {value}, {}, {}, 0, {}}, 0.3);
    return;
  }
  case 0: {
    int condition = existing([](const TensorType &type) { return type.dtype == DType::Bool; });
    if (condition < 0)
      condition = input(Data{TensorType{DType::Bool, Shape(1, 2)}, {1, 1}});
    if (condition < 0)
      return;
    // It holds mostly; if it does not, the call fails.
    append({OpId::Assert, {condition}, {std::string("assertion ") + std::to_string(numSteps())}, {}, 0, {}});
    return;
  }
  case 1: {
    int value = existing([](const TensorType &type) { return type.numElements() <= 20; });
    if (value < 0)
      return;
    for (const Num &element : interpreter.meaning.values[value]->elements)
      if (element.apart != 0)
        return;
    append({OpId::Print, {value}, {std::string("p") + std::to_string(numSteps())}, {}, 0, {}});
    return;
  }
  case 2:
  case 3:
  case 4:
    return assign();
  default:
    return read();
  }
}

int Builder::variable(const TensorType &type) {
  std::vector<int> fitting;
  for (std::size_t i = 0; i < program.variables.size(); ++i)
    if (program.variables[i].data.type == type)
      fitting.push_back(static_cast<int>(i));
  if (!fitting.empty() && random.chance(0.8))
    return random.of(fitting);
  if (program.variables.size() == 4 || isBody())
    return -1;
  program.variables.push_back({random.chance(0.3), is_inexact(type.dtype) && random.chance(0.8), data(type)});
  interpreter.meaning.variables.push_back(arrayOf(program.variables.back().data));
  return static_cast<int>(program.variables.size()) - 1;
}

void Builder::assign() {
  int value = -1, index = -1;
  if (isBody()) { // which has the variables of the program around it
    if (!program.variables.empty()) {
      index = random.below(static_cast<int>(program.variables.size()));
      value = resultLike(program.variables[static_cast<std::size_t>(index)].data.type, -1);
    }
  } else {
    value = existing([](const TensorType &) { return true; });
    index = value < 0 ? -1 : variable(program.typeOf(value));
  }
  if (value < 0 || index < 0)
    return;
  std::int64_t how = program.typeOf(value).dtype == DType::Bool || random.chance(0.6) ? 0 : 1 + random.below(2);
  Step step{OpId::VariableAssign, {value}, {std::int64_t(index), how}, {}, 0, {}};
  if (!failed()) {
    append(std::move(step));
    return;
  }
  step.firstResult = program.numValues();
  program.steps.push_back(std::move(step));
}

void Builder::read() {
  int index = program.variables.empty() || random.chance(0.3)
                  ? variable({random.of(palette.dtypes), palette.shape(random)})
                  : random.below(static_cast<int>(program.variables.size()));
  if (index < 0)
    return;
  if (!append({OpId::VariableRead, {}, {std::int64_t(index)}, {}, 0, {}}))
    return;
  if (!tapes.empty() && is_inexact(program.variables[index].data.type.dtype) && random.chance(0.7)) {
    std::vector<int> &variables = tapes.back().variables;
    if (std::find(variables.begin(), variables.end(), index) == variables.end())
      variables.push_back(index);
    followActive();
  }
}

//===-- The end ---------------------------------------------------------------------------------===//

Made Builder::finish() {
  std::vector<int> values = valuesOfSteps();
  std::vector<bool> used(static_cast<std::size_t>(program.numValues()));
  for (const Step &step : program.steps)
    for (int operand : step.operands)
      used[operand] = true;
  program.results.clear();
  int failing = failed() ? interpreter.meaning.failure->step : numSteps();
  for (int value : values) {
    // Of a failed call what failed must be needed, else compiled code may do without it.
    bool isFailure = program.stepOf(value) == failing;
    bool isKnown = value < static_cast<int>(interpreter.meaning.values.size());
    if (isFailure || (isKnown && (!used[value] ? random.chance(0.9) : random.chance(0.2))))
      program.results.push_back(value);
  }
  if (program.results.empty() && !values.empty() && !failed())
    program.results.push_back(values.back());
  if (!numInputs && program.results.empty())
    input(data({palette.type(DType::Float32), {}}));
  if (program.results.empty() || (numInputs && random.chance(0.05)))
    program.results.push_back(random.below(numInputs)); // an argument that is returned
  if (random.chance(0.05))
    program.results.push_back(program.results[0]);
  if (program.results.size() > 6)
    program.results.erase(program.results.begin(), program.results.end() - 6);
  if (failed() && !program.steps[failing].types.empty()) {
    int value = program.steps[failing].firstResult;
    if (std::find(program.results.begin(), program.results.end(), value) == program.results.end())
      program.results.push_back(value);
  }
  program.eagerNested = random.chance(0.4);
  Made made;
  made.program = prune(program);
  if (made.program.steps.empty() || !fuzz::check(made.program))
    return made;
  for (int i = 0; i < 2; ++i) {
    if (!random.chance(0.3))
      continue;
    int begin = random.below(static_cast<int>(made.program.steps.size()));
    int end = begin + 1 + random.below(static_cast<int>(made.program.steps.size()) - begin);
    Program nested = made.program;
    nested.nested.push_back({begin, end});
    if (fuzz::check(nested))
      made.program = std::move(nested);
  }
  Interpreter again(made.program);
  again.run();
  made.meaning = std::move(again.meaning);
  return made;
}

} // namespace calque::fuzz
