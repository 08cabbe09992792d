#include "sparse/Dependence.h"
#include "sparse/Places.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>

namespace calque::sparse::detail {

using Id = IndexSets::Id;

namespace {

// Loops are followed until so many elements have been looked at.
constexpr std::size_t kMostWork = 200'000'000;

bool isInteger(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64 || dtype == DType::Bool; }

template <typename T> std::vector<double> numbersOf(std::span<const std::byte> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}
std::vector<double> numbersOf(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
  case DType::Float32:
    return numbersOf<float>(bytes);
  case DType::Float64:
    return numbersOf<double>(bytes);
  case DType::Int32:
    return numbersOf<std::int32_t>(bytes);
  case DType::Int64: {
    std::vector<double> numbers = numbersOf<std::int64_t>(bytes);
    // Two large ones may be one double.
    const bool isExact = std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::fabs(x) < 0x1p52; });
    return isExact ? numbers : std::vector<double>();
  }
  case DType::Bool:
    return numbersOf<std::uint8_t>(bytes);
  default:
    return {};
  }
}

// The value of an expression of integers, or none for what is not computed here.
std::optional<double> valueOf(const ElementExpression &e, const std::vector<double> &operands) {
  if (e.function.empty())
    return operands[e.operand];
  if (e.function == "constant")
    return e.number;
  std::vector<double> x;
  for (const ElementExpression &inner : e.inner) {
    const std::optional<double> value = valueOf(inner, operands);
    if (!value)
      return std::nullopt;
    x.push_back(*value);
  }
  const std::string_view f = e.function;
  if (x.size() == 1)
    return f == "neg"          ? std::optional(-x[0])
           : f == "logicalNot" ? std::optional(double(x[0] == 0))
           : f == "castTo"     ? std::optional(x[0])
                               : std::nullopt;
  if (x.size() == 3 && f == "select")
    return x[0] != 0 ? x[1] : x[2];
  if (x.size() != 2)
    return std::nullopt;
  if (f == "add")
    return x[0] + x[1];
  if (f == "sub")
    return x[0] - x[1];
  if (f == "mul")
    return x[0] * x[1];
  if (f == "less")
    return x[0] < x[1];
  if (f == "lessEqual")
    return x[0] <= x[1];
  if (f == "equal")
    return x[0] == x[1];
  if (f == "notEqual")
    return x[0] != x[1];
  if (f == "minimum")
    return std::min(x[0], x[1]);
  if (f == "maximum")
    return std::max(x[0], x[1]);
  if (f == "logicalAnd")
    return x[0] != 0 && x[1] != 0;
  if (f == "logicalOr")
    return x[0] != 0 || x[1] != 0;
  return std::nullopt;
}
// Whether a type holds an integer, and double all of its neighbours.
bool fits(double value, DType dtype) {
  const double most = dtype == DType::Int64 ? 0x1p52 : dtype == DType::Int32 ? 0x1p31 - 1 : 1;
  return value == std::floor(value) && std::fabs(value) <= most;
}

} // namespace

std::int64_t Dependence::count() const { return countOf(sizes); }

Id Dependences::all(const Operands &operands) {
  std::vector<Id> ids;
  for (const Dependence *each : operands)
    ids.insert(ids.end(), each->sets.begin(), each->sets.end());
  return sets_.unite(ids);
}

Dependence Dependences::united(const Dependence &a, const Dependence &b) {
  Dependence made = a;
  made.known.clear();
  if (a.sets.size() == 1 && b.sets.size() == 1) {
    made.sets = {sets_.unite(a.sets[0], b.sets[0])};
    return made;
  }
  const std::size_t count = std::max(a.sets.size(), b.sets.size());
  made.sets.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    made.sets[i] = sets_.unite(a.at(static_cast<std::int64_t>(i)), b.at(static_cast<std::int64_t>(i)));
  work_ += count;
  return made;
}

void Dependences::elementwise(const ProgramOperation &op, const Operands &in, Dependence &result, DType dtype) {
  std::vector<Sizes> strides;
  bool isKnown = isInteger(dtype);
  for (const Dependence *each : in) {
    strides.push_back(broadcastStrides(each->sizes, result.sizes));
    isKnown = isKnown && !each->known.empty();
  }
  const bool isProduct = op.name == "mul", isChoice = op.name == "where" && !in[0]->known.empty();
  result.sets.resize(static_cast<std::size_t>(result.count()));
  if (isKnown)
    result.known.resize(result.sets.size());
  std::vector<double> numbers(in.size());
  std::vector<std::int64_t> places(in.size());
  forEach(result.sizes, [&](std::int64_t number, const Sizes &index) {
    for (std::size_t k = 0; k < in.size(); ++k)
      places[k] = placeOf(index, strides[k]);
    Id set = 0;
    bool isZero = false; // a factor of 0 that is known
    for (std::size_t k = 0; k < in.size(); ++k) {
      isZero = isZero || (isProduct && !in[k]->known.empty() && in[k]->knownAt(places[k]) == 0);
      if (!isChoice || k == (in[0]->knownAt(places[0]) != 0 ? 1U : 2U))
        set = sets_.unite(set, in[k]->at(places[k]));
      if (isKnown)
        numbers[k] = in[k]->knownAt(places[k]);
    }
    result.sets[static_cast<std::size_t>(number)] = isZero ? 0 : set;
    if (isKnown && !result.known.empty()) {
      const std::optional<double> value = valueOf(*op.expression, numbers);
      if (value && fits(*value, dtype))
        result.known[static_cast<std::size_t>(number)] = *value;
      else
        result.known.clear();
    }
  });
  work_ += result.sets.size() * in.size();
}

std::vector<Dependence> Dependences::branches(const ProgramOperation &op, const Operands &in) {
  std::vector<Dependence> given;
  for (std::size_t i = 1; i < in.size(); ++i)
    given.push_back(*in[i]);
  std::vector<Dependence> made = run(*op.attribute<std::shared_ptr<const RecordedProgram>>("then"), given);
  const std::vector<Dependence> other = run(*op.attribute<std::shared_ptr<const RecordedProgram>>("otherwise"), given);
  const Dependence condition{{}, {all({in[0]})}, {}, true};
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = united(united(made[i], other[i]), condition);
  return made;
}

// A loop is followed while its condition is known. From then on the sets of all iterations are united, until they do
// not grow. No iteration adds an index that no operand has: so what all operands have is always enough.
std::vector<Dependence> Dependences::loop(const ProgramOperation &op, const Operands &in) {
  const auto &condition = op.attribute<std::shared_ptr<const RecordedProgram>>("condition");
  const auto &body = op.attribute<std::shared_ptr<const RecordedProgram>>("body");
  const std::size_t count = op.num_results;
  std::vector<Dependence> state;
  for (const Dependence *each : in)
    state.push_back(*each);
  const Id everything = all(in);
  auto found = [&] {
    return std::vector<Dependence>(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(count));
  };
  bool isFollowed = true;
  while (true) {
    if (work_ > kMostWork) {
      std::vector<Dependence> whole = found();
      for (Dependence &each : whole) {
        each.sets = {everything};
        each.known.clear();
      }
      return whole;
    }
    ++work_;
    const Dependence goesOn = run(*condition, state)[0];
    if (isFollowed && !goesOn.known.empty() && goesOn.isConstant()) {
      if (goesOn.knownAt(0) == 0)
        return found();
    } else if (isFollowed) {
      isFollowed = false;
      for (std::size_t i = 0; i < count; ++i)
        state[i].known.clear();
    }
    const std::vector<Dependence> next = run(*body, state);
    bool hasGrown = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (isFollowed) {
        state[i] = next[i];
        continue;
      }
      Dependence both = united(united(state[i], next[i]), Dependence{{}, {all({&goesOn})}, {}, true});
      for (std::int64_t k = 0; k < (both.sets.size() == 1 ? 1 : both.count()); ++k)
        hasGrown = hasGrown || both.at(k) != state[i].at(k);
      state[i] = std::move(both);
    }
    if (!isFollowed && !hasGrown)
      return found();
  }
}

std::vector<Dependence> Dependences::apply(const ProgramOperation &op, const Operands &in,
                                           const RecordedProgram &program) {
  std::vector<Dependence> results(op.num_results);
  bool isSized = true;
  for (std::size_t i = 0; i < op.num_results; ++i) {
    const ProgramType &type = program.types[op.first_result + i];
    results[i].isWhole =
        !type.dtype || std::find(type.sizes.begin(), type.sizes.end(), kUnknownSize) != type.sizes.end();
    results[i].sets = {0};
    if (!results[i].isWhole)
      results[i].sizes = type.sizes;
    isSized = isSized && !results[i].isWhole;
  }
  if (op.name == "constant" && isSized) {
    const auto &constant = op.attribute<ProgramConstant>("value");
    results[0].known = numbersOf(*constant.type.dtype, constant.bytes);
    return results;
  }
  if (op.name == "iota" && isSized) {
    const auto axis = static_cast<std::size_t>(axisOf(op, results[0].sizes.size()));
    forEach(results[0].sizes,
            [&](std::int64_t, const Sizes &index) { results[0].known.push_back(static_cast<double>(index[axis])); });
    return results;
  }
  bool isConstant = true, isKnown = true;
  for (const Dependence *each : in) {
    isConstant = isConstant && each->isConstant();
    isKnown = isKnown && !each->known.empty();
    isSized = isSized && !each->isWhole;
  }
  if (isConstant && !isKnown && op.name != "broadcast_like" && op.name != "reshape_like")
    return results;
  if (op.name == "while")
    return loop(op, in);
  if (op.name == "cond")
    return branches(op, in);
  if (isSized && !results.empty() && !in.empty()) {
    if (moved(op, in, results))
      return results;
    if (results.size() == 1) {
      if (op.expression) {
        elementwise(op, in, results[0], program.types[op.first_result].dtype.value());
        return results;
      }
      if (selected(op, in, results[0]) || (!isConstant && added(op, in, results[0])))
        return results;
    }
  }
  for (Dependence &each : results) {
    each.sets = {all(in)};
    each.known.clear();
  }
  return results;
}

std::vector<Dependence> Dependences::run(const RecordedProgram &program, const std::vector<Dependence> &parameters) {
  std::vector<Dependence> values(program.types.size());
  std::vector<std::size_t> lastUse(program.types.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    values[program.parameters[i]] = parameters[i];
  for (std::size_t i = 0; i < program.operations.size(); ++i)
    for (ProgramValue operand : program.operations[i].operands)
      lastUse[operand] = i;
  for (ProgramValue result : program.results)
    lastUse[result] = program.operations.size();
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const ProgramOperation &op = program.operations[i];
    Operands operands;
    for (ProgramValue each : op.operands)
      operands.push_back(&values[each]);
    std::vector<Dependence> results = apply(op, operands, program);
    for (std::size_t k = 0; k < results.size(); ++k)
      values[op.first_result + k] = std::move(results[k]);
    for (ProgramValue each : op.operands)
      if (lastUse[each] == i)
        values[each].sets = {0}, values[each].known.clear();
  }
  std::vector<Dependence> results;
  for (ProgramValue each : program.results)
    results.push_back(values[each]);
  return results;
}

} // namespace calque::sparse::detail
