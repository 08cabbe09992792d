#include "test/fuzz/Generator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace calque::fuzz {

using schema::AttributeKind;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

std::string_view hookReason(OpId op) {
  static const std::map<std::string_view, std::string_view> reasons = {
      {"variable_read", "its type is that of a variable, which is made with it"},
      {"variable_assign", "its operand has the type of a variable"},
      {"assert", "it must hold in most programs"},
      {"print", "its operand must be equal bit for bit in all ways"},
      {"host_call", "the program has a callable for it"},
      {"gradient", "a tape makes it, with what the tape saw as operands"},
  };
  auto found = reasons.find(schema::schemaOf(op).mnemonic);
  return found == reasons.end() ? std::string_view() : found->second;
}

std::string_view unmadeReason(OpId op) {
  static const std::map<std::string_view, std::string_view> reasons = {
      {"jvp", "a transformation makes it, with the values between its sources and targets as operands"},
      {"batch", "vmap makes it, and what follows is typed as one example"},
      {"unbatch", "vmap makes it, of the examples that a batch gave"},
      {"custom_gradient", "it holds a program, which is recorded with it"},
      {"checkpoint", "it holds a program, which is recorded with it"},
      {"extern", "the program defines it"},
  };
  auto found = reasons.find(schema::schemaOf(op).mnemonic);
  return found == reasons.end() ? std::string_view() : found->second;
}

namespace {

class Random {
public:
  explicit Random(std::uint64_t seed) : engine(seed) {}
  std::uint64_t next() { return engine(); }
  int below(int n) { return static_cast<int>(engine() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return static_cast<double>(engine() >> 11) * 0x1p-53 < p; }
  double uniform(double low, double high) { return low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53); }
  template <typename T> const T &of(const std::vector<T> &values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

private:
  std::mt19937_64 engine;
};

constexpr DType kDTypes[] = {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64};

// The sizes, shapes and types that programs of one palette prefer.
struct Palette {
  std::vector<std::int64_t> sizes;
  std::array<std::vector<Shape>, 5> shapes; // by rank
  std::vector<DType> dtypes;
  std::int64_t mostElements = 160;

  explicit Palette(std::uint64_t seed) {
    Random random(seed);
    bool large = random.chance(0.2);
    mostElements = large ? 6000 : 160;
    std::vector<std::int64_t> pool = {1, 2, 2, 3, 3, 4, 5, 7};
    if (large)
      pool = {1, 2, 3, 8, 9, 16, 17, 31, 33, 64};
    if (random.chance(0.1))
      pool = {0, 1, 2, 3};
    for (int i = 0; i < 3; ++i)
      sizes.push_back(random.of(pool));
    sizes.push_back(1);
    for (std::size_t rank = 0; rank < shapes.size(); ++rank)
      for (int tries = 0; tries < 20 && shapes[rank].size() < (rank == 2 ? 2 : 1); ++tries) {
        Shape shape;
        for (std::size_t d = 0; d < rank; ++d)
          shape.push_back(random.of(sizes));
        if (TensorType{DType::Bool, shape}.numElements() <= mostElements)
          shapes[rank].push_back(shape);
      }
    for (std::size_t rank = 0; rank < shapes.size(); ++rank)
      if (shapes[rank].empty())
        shapes[rank].push_back(Shape(rank, 1));
    dtypes = {random.chance(0.6) ? DType::Float32 : DType::Float64, kDTypes[random.below(5)]};
  }
  Shape shape(Random &random, int rank) const { return random.of(shapes[static_cast<std::size_t>(std::clamp(rank, 0, 4))]); }
  Shape shape(Random &random) const { return shape(random, random.below(5)); }
};

// How often the choices at one place of a draw led to a call that the type rule takes.
struct Choice {
  std::vector<double> taken, tried;
  explicit Choice(std::size_t n = 0) : taken(n, 1), tried(n, 2) {}
  int pick(Random &random) const {
    // Some choices at random, so that what is rarely right is still seen.
    if (random.chance(0.1))
      return random.below(static_cast<int>(taken.size()));
    double total = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      total += weight(i);
    double at = random.uniform(0, total);
    for (std::size_t i = 0; i < taken.size(); ++i)
      if ((at -= weight(i)) <= 0)
        return static_cast<int>(i);
    return static_cast<int>(taken.size()) - 1;
  }
  double weight(std::size_t i) const { return taken[i] / tried[i]; }
};

constexpr int kMostOperands = 4; // of which strategies are told apart
constexpr std::size_t kOperandStrategies = 11, kIntsStrategies = 14, kIntStrategies = 4;

struct OperationChoices {
  Choice dtype{5}, rank{5}, count{4};
  std::array<Choice, kMostOperands> operands;
  std::vector<Choice> attributes;
};

// What is drawn: operands by type, of which some are values that exist.
struct Operand {
  TensorType type;
  int value = -1;
};
struct Draw {
  std::vector<Operand> operands;
  std::vector<Attribute> attributes;
  std::vector<std::pair<Choice *, int>> choices;
  int choose(Choice &choice, Random &random) {
    int index = choice.pick(random);
    choices.emplace_back(&choice, index);
    return index;
  }
};

// Types that a message names: what a rule tells a user to pass.
std::vector<TensorType> typesIn(const std::string &message) {
  std::vector<TensorType> types;
  for (DType dtype : kDTypes) {
    std::string name = std::string(name_of(dtype)) + "[";
    for (std::size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
      if (at && std::isalnum(static_cast<unsigned char>(message[at - 1])))
        continue;
      TensorType type{dtype, {}};
      const char *text = message.c_str() + at + name.size();
      while (*text && *text != ']') {
        char *end = nullptr;
        type.dims.push_back(std::strtoll(text, &end, 10));
        if (end == text)
          break;
        text = *end == ',' ? end + 1 : end;
      }
      if (*text == ']')
        types.push_back(std::move(type));
    }
  }
  return types;
}

} // namespace

//===-- Draws -----------------------------------------------------------------------------------===//

struct Generator::Strategies {
  std::vector<OperationChoices> choices;

  Strategies() {
    for (const schema::OperationSchema &schema : schema::operations()) {
      OperationChoices operation;
      operation.operands.fill(Choice(kOperandStrategies));
      for (const schema::AttributeSchema &attribute : schema.attributes)
        operation.attributes.emplace_back(attribute.kind == AttributeKind::Ints     ? kIntsStrategies
                                          : attribute.kind == AttributeKind::Int    ? kIntStrategies
                                          : attribute.kind == AttributeKind::String ? 2
                                          : attribute.kind == AttributeKind::Type   ? 5
                                                                                    : 1);
      choices.push_back(std::move(operation));
    }
    // Fixed: what is learnt here is part of what a seed means.
    Random random(20);
    for (const schema::OperationSchema &schema : schema::operations()) {
      if (!hookReason(schema.id).empty() || !unmadeReason(schema.id).empty())
        continue;
      for (int i = 0; i < 400; ++i) {
        if (i % 50 == 0)
          palette = std::make_unique<Palette>(random.next());
        Draw draw;
        bool taken = this->draw(schema, *palette, random, {}, draw) &&
                     countOf(draw.operands.empty() ? TensorType() : draw.operands[0].type) < 10000;
        for (auto [choice, index] : draw.choices) {
          choice->tried[index] += 1;
          choice->taken[index] += taken;
        }
      }
    }
  }

  // Draws a call that the type rule takes; false for one that it refuses. Values that exist are preferred where types agree.
  bool draw(const schema::OperationSchema &schema, const Palette &palette, Random &random,
            const std::function<int(const std::function<bool(const TensorType &)> &)> &existing, Draw &draw) {
    OperationChoices &operation = choices[static_cast<std::size_t>(schema.id)];
    auto place = [&](const TensorType &type) {
      Operand operand{type, -1};
      if (existing)
        operand.value = existing([&](const TensorType &other) { return other == type; });
      return operand;
    };
    int count = schema.numOperands;
    if (count < 0)
      count = 1 + draw.choose(operation.count, random);
    DType firstType = DType::Float32;
    for (int k = 0; k < count; ++k) {
      if (k == 0) {
        firstType = kDTypes[draw.choose(operation.dtype, random)];
        // Few types, so that programs share eager code; where the rule does not take one, the draw comes to nothing.
        if (existing && random.chance(0.6))
          firstType = random.of(palette.dtypes);
        int rank = draw.choose(operation.rank, random);
        Operand operand{{firstType, palette.shape(random, rank)}, -1};
        if (existing && random.chance(0.8))
          operand.value = existing([&](const TensorType &type) { return type.dtype == firstType && type.rank() == rank; });
        draw.operands.push_back(operand);
        if (operand.value >= 0)
          draw.operands[0].type = typeOf(operand.value);
        continue;
      }
      const TensorType first = draw.operands[0].type;
      TensorType type = first;
      switch (draw.choose(operation.operands[static_cast<std::size_t>(std::min(k, kMostOperands) - 1)], random)) {
      case 0:
        break;
      case 1: // broadcast to the first
        for (std::int64_t &size : type.dims)
          if (random.chance(0.4))
            size = 1;
        if (random.chance(0.4))
          type.dims.erase(type.dims.begin(), type.dims.begin() + random.below(static_cast<int>(type.dims.size()) + 1));
        break;
      case 2:
        type.dims = palette.shape(random);
        break;
      case 3: // indices
        type = {random.chance(0.5) ? DType::Int64 : DType::Int32, palette.shape(random, random.below(3))};
        break;
      case 4:
        type = draw.operands.back().type;
        break;
      case 5:
        type = {kDTypes[random.below(5)], palette.shape(random)};
        break;
      case 6:
        type.dims.clear();
        break;
      case 7:
        for (std::size_t i = type.dims.size(); i > 1; --i)
          std::swap(type.dims[i - 1], type.dims[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
        break;
      case 8: // a part
        for (std::int64_t &size : type.dims)
          size = size ? 1 + random.below(static_cast<int>(size)) : 0;
        break;
      case 9:
        type.dtype = kDTypes[random.below(5)];
        break;
      case 10:
        type.dims = palette.shape(random, static_cast<int>(type.rank()));
        break;
      }
      draw.operands.push_back(place(type));
    }
    for (std::size_t a = 0; a < schema.attributes.size(); ++a)
      draw.attributes.push_back(attribute(schema.attributes[a].kind, operation.attributes[a], palette, random, draw));
    return repair(schema, place, draw, 2);
  }

  std::function<TensorType(int)> typeOf;

private:
  Attribute attribute(AttributeKind kind, Choice &choice, const Palette &palette, Random &random, Draw &draw) {
    Shape first = draw.operands.empty() ? palette.shape(random) : draw.operands[0].type.dims;
    Shape second = draw.operands.size() > 1 ? draw.operands[1].type.dims : first;
    int rank = static_cast<int>(first.size());
    switch (kind) {
    case AttributeKind::Bool:
      return random.chance(0.5);
    case AttributeKind::Int:
      switch (draw.choose(choice, random)) {
      case 0:
        return std::int64_t(rank ? random.below(rank) : 0);
      case 1:
        return std::int64_t(rank ? -1 - random.below(rank) : -1);
      case 2:
        return std::int64_t(random.below(4));
      default:
        return random.of(palette.sizes);
      }
    case AttributeKind::Float:
      return random.chance(0.5) ? 0.0 : (random.below(17) - 8) / 2.0;
    case AttributeKind::String:
      return std::string(draw.choose(choice, random) ? "same" : "valid");
    case AttributeKind::Type:
      return kDTypes[draw.choose(choice, random)];
    case AttributeKind::Constant: {
      auto data = std::make_shared<schema::ConstantData>();
      data->type = {random.of(palette.dtypes), palette.shape(random, random.below(3))};
      data->splat = random.chance(0.3);
      std::int64_t count = data->splat ? 1 : countOf(data->type);
      for (std::int64_t i = 0; i < count; ++i) {
        int value = random.below(17) - 8;
        auto append = [&](auto number) {
          data->bytes.resize(data->bytes.size() + sizeof(number));
          std::memcpy(data->bytes.data() + data->bytes.size() - sizeof(number), &number, sizeof(number));
        };
        switch (data->type.dtype) {
        case DType::Bool:
          append(static_cast<unsigned char>(value & 1));
          break;
        case DType::Int32:
          append(std::int32_t(value));
          break;
        case DType::Int64:
          append(std::int64_t(value));
          break;
        case DType::Float32:
          append(static_cast<float>(value) / 4);
          break;
        case DType::Float64:
          append(value / 4.0);
          break;
        }
      }
      return schema::ConstantRef(std::move(data));
    }
    case AttributeKind::Ints:
      return ints(draw.choose(choice, random), first, second, palette, random);
    }
    return false; // a kind that is new: the type rule will not take it, and a test names the operation
  }

  static Ints ints(int strategy, const Shape &first, const Shape &second, const Palette &palette, Random &random) {
    int rank = static_cast<int>(first.size());
    Ints result;
    auto perDimension = [&](auto value) {
      for (int i = 0; i < rank; ++i)
        result.push_back(value(i));
    };
    switch (strategy) {
    case 0:
      break;
    case 1: // some axes
    case 2:
      for (int i = 0; i < rank; ++i)
        if (random.chance(0.5))
          result.push_back(strategy == 1 ? i : i - rank);
      std::shuffle(result.begin(), result.end(), std::mt19937(static_cast<unsigned>(random.next())));
      break;
    case 3: // all axes
      perDimension([](int i) { return std::int64_t(i); });
      std::shuffle(result.begin(), result.end(), std::mt19937(static_cast<unsigned>(random.next())));
      break;
    case 4:
      perDimension([&](int) { return std::int64_t(random.below(3)); });
      break;
    case 5:
      perDimension([&](int) { return std::int64_t(1 + random.below(2)); });
      break;
    case 6: // places
      perDimension([&](int i) { return std::int64_t(random.below(static_cast<int>(first[static_cast<std::size_t>(i)]) + 1)); });
      break;
    case 7:
      result = first;
      break;
    case 8: // two sizes
      result = {1 + random.below(3), 1 + random.below(3)};
      break;
    case 9:
      result = palette.shape(random);
      break;
    case 10: { // as many elements
      std::int64_t count = TensorType{DType::Bool, first}.numElements();
      switch (random.below(4)) {
      case 0:
        result = {-1};
        break;
      case 1:
        result = {1, count};
        break;
      case 2:
        result = first;
        result.insert(result.begin() + random.below(rank + 1), 1);
        break;
      default:
        for (std::int64_t size : {2, 3, 5, 7})
          if (size && count % size == 0 && random.chance(0.5)) {
            result.push_back(size);
            count /= size;
          }
        result.push_back(random.chance(0.3) && count ? -1 : count);
      }
      break;
    }
    case 11: // broadcast further
      result = first;
      for (std::int64_t &size : result)
        if (size == 1)
          size = random.of(palette.sizes);
      if (random.chance(0.4))
        result.insert(result.begin(), random.of(palette.sizes));
      break;
    case 12: // one axis of either
      result = {random.below(std::max(1, static_cast<int>(random.chance(0.5) ? first.size() : second.size())))};
      break;
    default: // equal ones
      result = {1 + random.below(2)};
      result.push_back(result[0]);
    }
    return result;
  }

  // Asks the rule; where its message names a type, that in the place of an operand.
  template <typename Place> bool repair(const schema::OperationSchema &schema, const Place &place, Draw &draw, int depth) {
    std::vector<TensorType> types;
    for (const Operand &operand : draw.operands)
      types.push_back(operand.type);
    // An attribute of a kind that is not known here.
    for (std::size_t a = 0; a < schema.attributes.size(); ++a)
      if (draw.attributes[a].index() != static_cast<std::size_t>(schema.attributes[a].kind))
        return false;
    schema::Inference inference = schema::inferTypes(schema.id, types, draw.attributes);
    if (!inference.fault)
      return true;
    if (!depth)
      return false;
    for (const TensorType &type : typesIn(inference.fault.message))
      for (std::size_t k = 0; k < draw.operands.size(); ++k) {
        if (draw.operands[k].type == type)
          continue;
        Operand kept = draw.operands[k];
        draw.operands[k] = place(type);
        if (repair(schema, place, draw, depth - 1))
          return true;
        draw.operands[k] = kept;
      }
    return false;
  }

  std::unique_ptr<Palette> palette;
};

//===-- Programs --------------------------------------------------------------------------------===//

// Calls that programs of a palette have in common: eager code for each is compiled once.
struct Generator::Pool {
  static constexpr int kCalls = 4; // of one operation
  std::uint64_t seed;
  Palette palette;
  std::vector<std::vector<Draw>> calls;

  Pool(Strategies &strategies, std::uint64_t seed) : seed(seed), palette(seed), calls(schema::operations().size()) {
    Random random(mix(seed, 1));
    auto contains = [](const auto &list, const auto &x) { return std::find(list.begin(), list.end(), x) != list.end(); };
    auto isCommon = [&](const TensorType &type) {
      bool shape = type.rank() < 5 && contains(palette.shapes[static_cast<std::size_t>(type.rank())], type.dims);
      return shape && (type.dtype == DType::Bool || contains(palette.dtypes, type.dtype));
    };
    for (const schema::OperationSchema &schema : schema::operations()) {
      if (!hookReason(schema.id).empty() || !unmadeReason(schema.id).empty())
        continue;
      std::vector<Draw> &found = calls[static_cast<std::size_t>(schema.id)];
      for (int tries = 0; tries < 120 && found.size() < kCalls; ++tries) {
        Draw draw;
        if (!strategies.draw(schema, palette, random, {}, draw))
          continue;
        // Mostly on types that others have, too, so that results find takers.
        bool common = true;
        for (const Operand &operand : draw.operands)
          common &= isCommon(operand.type);
        if (!common && tries < 90)
          continue;
        draw.choices.clear();
        found.push_back(std::move(draw));
      }
    }
  }
};

class Generator::Builder {
public:
  Builder(Strategies &strategies, Pool &pool, std::uint64_t seed)
      : strategies(strategies), pool(pool), palette(pool.palette), random(seed), interpreter(program) {
    program.seed = seed;
    // Numbers come before the steps: places for inputs, which are filled when they are needed.
    program.inputs.resize(kMostInputs);
    program.results = {0};
    interpreter.run();
    strategies.typeOf = [this](int value) { return program.typeOf(value); };
  }

  Made build() {
    int steps = 2 + random.below(9);
    bool differentiates = random.chance(0.6);
    for (int i = 0; i < steps && !failed(); ++i) {
      if (differentiates && tapes.size() < 2 && palette.mostElements < 1000 && random.chance(tapes.empty() ? 0.6 : 0.2))
        openTape();
      // Two at once make a gradient of a gradient.
      if (tapes.size() == 1 && tapes[0].begin == numSteps() && random.chance(0.35))
        openTape();
      if (random.chance(0.16))
        effect();
      else
        operation();
      if (!tapes.empty() && random.chance(0.2))
        closeTape();
    }
    while (!tapes.empty() && !failed())
      closeTape();
    // After a failure nothing may be seen to have happened.
    if (failed() && random.chance(0.5))
      assign();
    return finish();
  }

private:
  static constexpr int kMostInputs = 24;
  struct Tape {
    int begin;
    std::vector<int> sources, variables;
  };

  bool failed() const { return interpreter.meaning.failure.has_value(); }
  int numSteps() const { return static_cast<int>(program.steps.size()); }
  std::vector<int> valuesOfSteps() const {
    std::vector<int> values;
    for (const Step &step : program.steps)
      for (std::size_t r = 0; r < step.types.size(); ++r)
        values.push_back(step.firstResult + static_cast<int>(r));
    return values;
  }

  // A value read from a variable before a tape began is not used while it records: that it is watched from the tape's own read on is
  // more than the interpreter follows.
  bool usable(int value) const {
    int step = program.stepOf(value);
    return step < 0 || tapes.empty() || program.steps[step].op != OpId::VariableRead || step >= tapes.back().begin;
  }

  // A value of such a type, the latest ones first, or -1.
  int existing(const std::function<bool(const TensorType &)> &fits) {
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
      return found[found.size() - 1 - static_cast<std::size_t>(random.below(std::min<int>(4, static_cast<int>(found.size()))))];
    return random.of(found);
  }
  // Whether a source of the innermost tape acts on a value.
  bool depends(int value) const {
    return !tapes.empty() && value < static_cast<int>(active.size()) && active[value];
  }

  Data data(const TensorType &type, OpId op = OpId::Constant) {
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
        static const Real special[] = {std::numeric_limits<Real>::quiet_NaN(), infinity, -infinity,
                                       0.0L, -0.0L,
                                       1e-30L, -3e20L, 88.5L, 0.5L};
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

  // A fresh input, or -1 when there are too many.
  int input(Data data) {
    if (numInputs == kMostInputs)
      return -1;
    program.inputs[numInputs].data = std::move(data);
    program.inputs[numInputs].kind = random.chance(0.3) ? Input::Kind::Capture : Input::Kind::Parameter;
    interpreter.meaning.values[numInputs] = arrayOf(program.inputs[numInputs].data);
    return numInputs++;
  }

  // Appends a step and interprets it. False, and nothing has changed, where its meaning is not wanted.
  bool append(Step step, double wanted = 1) {
    std::size_t values = interpreter.meaning.values.size();
    step.firstResult = static_cast<int>(values);
    program.steps.push_back(std::move(step));
    bool good = fuzz::check(program);
    if (good) {
      try {
        interpreter.run();
        good = failed() ? random.chance(0.05) : isGood(values) || random.chance(wanted);
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
    return false;
  }

  // Whether results are numbers that are known well.
  bool isGood(std::size_t firstValue) const {
    for (std::size_t value = firstValue; value < interpreter.meaning.values.size(); ++value) {
      const Array &array = *interpreter.meaning.values[value];
      if (array.elements.empty())
        return false;
      for (const Num &element : array.elements)
        if (!std::isfinite(element.value) || !(element.off < 1e-3L * (1 + std::fabs(element.value))) ||
            (is_floating(array.type.dtype) && std::fabs(element.value) > 1e5L))
          return false;
    }
    return true;
  }

  //===-- Operations --===//
  void operation() {
    static const std::vector<const schema::OperationSchema *> *drawn = [] {
      auto *list = new std::vector<const schema::OperationSchema *>;
      for (const schema::OperationSchema &schema : schema::operations())
        if (hookReason(schema.id).empty() && unmadeReason(schema.id).empty())
          list->push_back(&schema);
      return list;
    }();
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

  bool tryOperation(const schema::OperationSchema &schema) {
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

  //===-- Effects --===//
  int variable(const TensorType &type) {
    std::vector<int> fitting;
    for (std::size_t i = 0; i < program.variables.size(); ++i)
      if (program.variables[i].data.type == type)
        fitting.push_back(static_cast<int>(i));
    if (!fitting.empty() && random.chance(0.8))
      return random.of(fitting);
    if (program.variables.size() == 4)
      return -1;
    program.variables.push_back({random.chance(0.3), is_floating(type.dtype) && random.chance(0.8), data(type)});
    interpreter.meaning.variables.push_back(arrayOf(program.variables.back().data));
    return static_cast<int>(program.variables.size()) - 1;
  }

  void assign() {
    int value = existing([](const TensorType &) { return true; });
    if (value < 0)
      return;
    int index = variable(program.typeOf(value));
    if (index < 0)
      return;
    Step step{OpId::VariableAssign, {value}, {std::int64_t(index)}, {}, 0, {}};
    if (!failed()) {
      append(std::move(step));
      return;
    }
    step.firstResult = program.numValues();
    program.steps.push_back(std::move(step));
  }

  void read() {
    int index = program.variables.empty() || random.chance(0.3) ? variable({random.of(palette.dtypes), palette.shape(random)})
                                                                : random.below(static_cast<int>(program.variables.size()));
    if (index < 0)
      return;
    append({OpId::VariableRead, {}, {std::int64_t(index)}, {}, 0, {}});
    if (!tapes.empty() && is_floating(program.variables[index].data.type.dtype) && random.chance(0.7)) {
      std::vector<int> &variables = tapes.back().variables;
      if (std::find(variables.begin(), variables.end(), index) == variables.end())
        variables.push_back(index);
      followActive();
    }
  }

  void effect() {
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

  //===-- Tapes --===//
  void openTape() {
    Tape tape{numSteps(), {}, {}};
    int count = 1 + random.below(2);
    for (int i = 0; i < count; ++i) {
      auto fits = [&](const TensorType &type) { return is_floating(type.dtype) && countOf(type) <= 16 && countOf(type) > 0; };
      int value = random.chance(0.6) ? existing(fits) : -1;
      if (i == 0 && !tapes.empty() && !tapes.back().sources.empty() && random.chance(0.7))
        value = tapes.back().sources[0];
      // What a variable holds is watched again where the tape reads it.
      if (int step = value < 0 ? -1 : program.stepOf(value); step >= 0 && program.steps[step].op == OpId::VariableRead)
        value = -1;
      if (value < 0) {
        TensorType type{random.chance(0.5) ? DType::Float64 : DType::Float32, palette.shape(random)};
        if (!fits(type))
          type.dims = {};
        Data values{type, {}};
        for (std::int64_t e = 0; e < countOf(type); ++e)
          values.values.push_back(roundTo(type.dtype, random.uniform(0.3, 2.3)));
        value = input(std::move(values));
      }
      if (value >= 0 && std::find(tape.sources.begin(), tape.sources.end(), value) == tape.sources.end())
        tape.sources.push_back(value);
    }
    tapes.push_back(std::move(tape));
    followActive();
  }

  // The values on which a source of the innermost tape acts, as far as the tape sees.
  void followActive() {
    active.assign(static_cast<std::size_t>(program.numValues()), false);
    if (tapes.empty())
      return;
    for (int source : tapes.back().sources)
      active[source] = true;
    for (int i = tapes.back().begin; i < numSteps(); ++i) {
      const Step &step = program.steps[i];
      bool any = false;
      for (int operand : step.operands)
        any |= active[operand];
      if (step.op == OpId::VariableRead) {
        auto index = static_cast<int>(std::get<std::int64_t>(step.attributes[0]));
        any = program.variables[index].trainable &&
              std::find(tapes.back().variables.begin(), tapes.back().variables.end(), index) != tapes.back().variables.end();
      } else if (!schema::schemaOf(step.op).differentiable) {
        any = false;
      }
      for (std::size_t r = 0; r < step.types.size(); ++r)
        if (any && is_floating(step.types[r].dtype))
          active[step.firstResult + r] = true;
    }
  }

  // What it takes to interpret steps once without rounding.
  double cost(int begin, int end) const {
    double total = 0;
    for (int i = begin; i < end; ++i) {
      const Step &step = program.steps[i];
      if (step.tape) {
        for (const TensorType &type : step.types)
          total += 4.0 * static_cast<double>(countOf(type)) * cost(step.tape->begin, i);
        continue;
      }
      double work = 60;
      for (const TensorType &type : step.types)
        work += 4.0 * static_cast<double>(countOf(type));
      double product = 1;
      for (int operand : step.operands)
        product *= static_cast<double>(std::max<std::int64_t>(1, countOf(program.typeOf(operand))));
      if (!schema::schemaOf(step.op).elementwise)
        work += std::min(product, 20000.0);
      total += work;
    }
    return total;
  }

  void closeTape() {
    Tape tape = tapes.back();
    followActive();
    // Targets on which a source acts, and which a step of the tape computed.
    std::vector<int> targets, sources;
    for (int value : valuesOfSteps())
      if (active[value] && program.stepOf(value) >= tape.begin && program.steps[program.stepOf(value)].op != OpId::VariableRead)
        targets.push_back(value);
    // What an inner gradient is a function of, the results of what it differentiates or their operands, is its rules' choice.
    std::vector<int> between;
    if (std::none_of(program.steps.begin() + tape.begin, program.steps.end(), [](const Step &step) { return step.tape.has_value(); }))
      between = targets;
    tapes.pop_back();
    std::vector<bool> wasActive = std::move(active);
    followActive();
    if (targets.empty() || (tape.sources.empty() && tape.variables.empty()))
      return;
    TapeUse use{tape.begin, 1, random.chance(0.2), {}};
    Step step{OpId::Gradient, {}, {}, {}, 0, {}};
    step.operands = {random.chance(0.7) ? targets.back() : random.of(targets)};
    std::vector<int> derivatives;
    for (int value : targets)
      if (program.steps[program.stepOf(value)].tape)
        derivatives.push_back(value);
    if (!derivatives.empty() && random.chance(0.6))
      step.operands = {derivatives.back()};
    if (random.chance(0.2)) {
      step.operands.push_back(random.of(targets));
      use.numTargets = 2;
    }
    if (use.seeded)
      for (int t = 0; t < use.numTargets; ++t) {
        TensorType type = program.typeOf(step.operands[t]);
        int seed = random.chance(0.5) ? existing([&](const TensorType &other) { return other == type; }) : -1;
        if (seed < 0)
          seed = input(data(type));
        if (seed < 0)
          return;
        step.operands.push_back(seed);
      }
    // A seed or source is any value of its time; a source within the tape is one on which another acts.
    double budget = 1.5e6 / std::max(1.0, cost(tape.begin, numSteps())) / 22;
    auto affordable = [&](const TensorType &type) {
      budget -= static_cast<double>(countOf(type));
      return budget >= 0 && countOf(type) > 0;
    };
    sources = tape.sources;
    if (random.chance(0.25) && !between.empty())
      sources.push_back(random.of(between));
    for (int source : sources)
      if (affordable(program.typeOf(source)))
        step.operands.push_back(source);
    for (int variable : tape.variables)
      if (affordable(program.variables[variable].data.type))
        use.variableSources.push_back(variable);
    if (step.operands.size() == static_cast<std::size_t>(use.numTargets) * (use.seeded ? 2 : 1) && use.variableSources.empty())
      return;
    step.tape = std::move(use);
    append(std::move(step), 0.5);
  }

  //===-- The end --===//
  Made finish() {
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
      input(data({DType::Float32, {}}));
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

  Strategies &strategies;
  Pool &pool;
  const Palette &palette;
  Random random;
  Program program;
  Interpreter interpreter;
  int numInputs = 0;
  std::vector<Tape> tapes;
  std::vector<bool> active;
};

Generator::Generator() : strategies(std::make_unique<Strategies>()) {}
Generator::~Generator() = default;

Made Generator::make(std::uint64_t seed, std::uint64_t palette) {
  if (!pool || pool->seed != palette)
    pool = std::make_unique<Pool>(*strategies, palette);
  // A draw may come to nothing; the next one of the same seed is tried.
  for (std::uint64_t attempt = 0;; ++attempt) {
    try {
      Made made = Builder(*strategies, *pool, mix(seed, attempt)).build();
      if (!made.program.steps.empty() && check(made.program)) {
        made.program.seed = seed;
        return made;
      }
    } catch (const Undecided &) {
    }
  }
}

} // namespace calque::fuzz
