#include "test/readers/ProgramMutator.h"

#include "schema/Moves.h"
#include "schema/ProgramBytes.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace calque::testing {

using namespace schema;

namespace {

class Draw {
public:
  explicit Draw(std::mt19937_64 &random) : random(random) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random() % std::max<std::size_t>(bound, 1)); }
  bool chance(std::size_t oneIn) { return below(oneIn) == 0; }
  template <typename T> auto &of(T &&list) { return list[below(std::size(list))]; }

  // Whether numbers are as operations have them, so that type rules take more of what is made.
  bool isMild = false;

  // A number that is at an end, or that overflows where it is added to itself or multiplied.
  std::int64_t evil() {
    if (isMild)
      return static_cast<std::int64_t>(below(4));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                           least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t two = 1;
    static constexpr std::int64_t numbers[] = {0,
                                               1,
                                               -1,
                                               2,
                                               -2,
                                               3,
                                               4,
                                               5,
                                               7,
                                               8,
                                               63,
                                               64,
                                               127,
                                               128,
                                               255,
                                               256,
                                               two << 31,
                                               (two << 31) - 1,
                                               -(two << 31),
                                               two << 32,
                                               (two << 32) + 1,
                                               two << 61,
                                               two << 62,
                                               (two << 62) + 1,
                                               (two << 62) + 3,
                                               (two << 62) - 1,
                                               -(two << 62),
                                               most,
                                               most - 1,
                                               most - 63,
                                               most / 2,
                                               most / 3,
                                               most / 4 + 1,
                                               least,
                                               least + 1,
                                               least / 2};
    return of(numbers);
  }
  std::int64_t number() { return chance(2) ? evil() : static_cast<std::int64_t>(below(9)) - 3; }
  std::int64_t size() {
    if (isMild)
      return static_cast<std::int64_t>(below(5));
    return chance(8)   ? kOpenSize
           : chance(6) ? std::abs(std::max(evil(), -std::numeric_limits<std::int64_t>::max()))
                       : static_cast<std::int64_t>(below(5));
  }
  DType dtype() { return of(kDTypes).dtype; }
  TensorType type() {
    TensorType made{dtype(), {}};
    for (std::size_t rank = below(5); rank > 0; --rank)
      made.dims.push_back(size());
    return made;
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> list(below(6));
    for (std::int64_t &each : list)
      each = number();
    return list;
  }

  std::mt19937_64 &random;
};

// A program whose operations can be changed in place. Values have numbers of their own, which nothing renumbers.
struct Editable {
  struct Op {
    OpId op;
    std::vector<int> operands;
    std::vector<Attribute> attributes;
    std::vector<int> results;
    SourceLine line;
  };

  explicit Editable(const Recording &from) : name(from.name), line(from.line), variables(from.variables) {
    for (std::size_t i = 0; i < from.numValues(); ++i)
      types.push_back(from.typeOf(static_cast<ValueId>(i)));
    parameters.assign(from.parameters.begin(), from.parameters.end());
    results.assign(from.results.begin(), from.results.end());
    for (const RecordedOp &op : from.ops()) {
      auto operands = from.operandsOf(op);
      auto attributes = from.attributesOf(op);
      ops.push_back({op.op, {operands.begin(), operands.end()}, {attributes.begin(), attributes.end()}, {}, op.line});
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        ops.back().results.push_back(op.firstResult + static_cast<int>(r));
    }
  }

  int add(const TensorType &type) {
    types.push_back(type);
    return static_cast<int>(types.size()) - 1;
  }
  std::vector<TensorType> typesOf(const std::vector<int> &values) const {
    std::vector<TensorType> made;
    for (int value : values)
      made.push_back(types[static_cast<std::size_t>(value)]);
    return made;
  }
  // The values before an operation.
  std::vector<int> before(std::size_t op) const {
    std::vector<int> values = parameters;
    for (std::size_t i = 0; i < op; ++i)
      values.insert(values.end(), ops[i].results.begin(), ops[i].results.end());
    return values;
  }

  // Gives results the types that the operations give.
  void repair() {
    for (Op &op : ops) {
      Inference inference = inferTypes(op.op, typesOf(op.operands), op.attributes);
      if (inference.fault)
        continue;
      while (op.results.size() < inference.types.size())
        op.results.push_back(add({}));
      op.results.resize(inference.types.size());
      for (std::size_t r = 0; r < op.results.size(); ++r)
        types[static_cast<std::size_t>(op.results[r])] = inference.types[r];
    }
  }

  RecordingRef made() const {
    auto recording = std::make_shared<Recording>();
    recording->name = name;
    recording->line = line;
    recording->variables = variables;
    std::map<int, ValueId> numbers;
    for (int parameter : parameters)
      numbers[parameter] = recording->addParameter(types[static_cast<std::size_t>(parameter)]);
    auto numbered = [&](const std::vector<int> &values) {
      std::vector<ValueId> list;
      for (int value : values) // what is gone is another one
        if (auto found = numbers.find(value); found != numbers.end())
          list.push_back(found->second);
        else if (recording->numValues())
          list.push_back(static_cast<ValueId>(static_cast<std::size_t>(value) % recording->numValues()));
      return list;
    };
    for (const Op &op : ops) {
      ValueId first = recording->append(op.op, numbered(op.operands), op.attributes, typesOf(op.results), op.line);
      for (int result : op.results)
        numbers[result] = first++;
    }
    recording->results = numbered(results);
    return recording;
  }

  std::string name;
  SourceLine line;
  std::vector<RecordedVariable> variables;
  std::vector<TensorType> types;
  std::vector<int> parameters, results;
  std::vector<Op> ops;
};

// A program of no operation, for an operation's region.
RecordingRef passing(std::span<const TensorType> types, std::size_t numResults) {
  auto made = std::make_shared<Recording>();
  for (const TensorType &type : types)
    made->addParameter(type);
  made->results.assign(made->parameters.begin(),
                       made->parameters.begin() + static_cast<std::ptrdiff_t>(std::min(numResults, types.size())));
  return made;
}

Attribute anyAttribute(AttributeKind kind, std::span<const TensorType> operands, Draw &draw) {
  switch (kind) {
  case AttributeKind::Bool:
    return draw.chance(2);
  case AttributeKind::Int:
    return draw.number();
  case AttributeKind::Number:
    switch (draw.below(4)) {
    case 0:
      return Scalar(draw.chance(2));
    case 1:
      return Scalar(draw.number());
    case 2:
      return Scalar(static_cast<std::uint64_t>(draw.number()));
    default:
      return Scalar(0.5);
    }
  case AttributeKind::String: {
    static const std::string texts[] = {"same", "valid", "", "%s{}%n"};
    return draw.of(texts);
  }
  case AttributeKind::Text: {
    static const std::string texts[] = {"", "{} {} {}", "}{", "%s%n"};
    return draw.of(texts);
  }
  case AttributeKind::Ints: {
    std::vector<std::int64_t> list = draw.numbers();
    if (!operands.empty() && draw.chance(2)) { // as long as there are dimensions
      list.resize(draw.chance(2) ? static_cast<std::size_t>(draw.of(operands).rank()) : operands.size());
      for (std::int64_t &each : list)
        each = draw.chance(4) ? draw.evil() : static_cast<std::int64_t>(draw.below(3));
    }
    return list;
  }
  case AttributeKind::Type:
    return draw.dtype();
  case AttributeKind::Constant: {
    auto made = std::make_shared<ConstantData>();
    made->type = draw.type();
    made->splat = true;
    made->bytes.resize(size_of(made->type.dtype), std::byte(draw.below(2)));
    return ConstantRef(made);
  }
  case AttributeKind::Recording:
    return passing(operands.subspan(draw.below(std::min<std::size_t>(operands.size() + 1, 3))), draw.below(4));
  }
  return false;
}

class Mutator {
public:
  Mutator(Editable &program, Draw &draw, int depth) : program(program), draw(draw), depth(depth) {}

  void run() {
    for (std::size_t times = 1 + draw.below(3); times > 0; --times)
      once();
    if (!draw.chance(8))
      program.repair();
  }

private:
  void once() {
    if (program.ops.empty() || draw.chance(3))
      return put();
    const std::size_t at = draw.below(program.ops.size());
    Editable::Op &op = program.ops[at];
    switch (draw.below(9)) {
    case 0:
      if (!op.operands.empty())
        if (const std::vector<int> values = program.before(at); !values.empty())
          draw.of(op.operands) = draw.of(values);
      break;
    case 1: // more or fewer operands
      if (op.operands.empty() || draw.chance(2)) {
        if (const std::vector<int> values = program.before(at); !values.empty())
          op.operands.insert(op.operands.begin() + static_cast<std::ptrdiff_t>(draw.below(op.operands.size() + 1)),
                             draw.of(values));
      } else
        op.operands.erase(op.operands.begin() + static_cast<std::ptrdiff_t>(draw.below(op.operands.size())));
      break;
    case 2:
      program.ops.erase(program.ops.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 3: { // another operation, with the attributes that fit it
      op.op = draw.of(operations()).id;
      const std::vector<TensorType> operands = program.typesOf(op.operands);
      op.attributes.clear();
      for (const AttributeSchema &attribute : schemaOf(op.op).attributes)
        op.attributes.push_back(anyAttribute(attribute.kind, operands, draw));
      break;
    }
    case 4: // another type
      if (!program.types.empty()) {
        TensorType &type = draw.of(program.types);
        if (!type.dims.empty() && !draw.chance(3))
          draw.of(type.dims) = draw.size();
        else
          type = draw.type();
      }
      break;
    case 5:
      if (const std::vector<int> values = program.before(program.ops.size());
          !program.results.empty() && !values.empty())
        replaceBySame(draw.of(program.results), values);
      break;
    default:
      changeAttribute(op);
    }
  }

  // Puts in an operation whose type rule takes what it is given, if one of some that are drawn is such, and makes
  // something use it.
  void put() {
    const std::size_t at = draw.below(program.ops.size() + 1);
    const std::vector<int> values = program.before(at);
    draw.isMild = draw.chance(2);
    putAt(at, values);
    draw.isMild = false;
  }
  void putAt(std::size_t at, const std::vector<int> &values) {
    for (int tries = 0; tries < 60; ++tries) {
      // Constants are what indices and conditions are made of.
      const OperationSchema &schema = draw.chance(8) ? schemaOf(OpId::Constant) : draw.of(operations());
      Editable::Op op{schema.id, {}, {}, {}, {}};
      const std::size_t count = schema.numOperands >= 0 ? static_cast<std::size_t>(schema.numOperands) : draw.below(6);
      if (count && values.empty())
        continue;
      const int first = values.empty() ? 0 : draw.of(values);
      for (std::size_t i = 0; i < count; ++i)
        op.operands.push_back(draw.chance(2) ? first : draw.of(values));
      const std::vector<TensorType> operands = program.typesOf(op.operands);
      for (const AttributeSchema &attribute : schema.attributes)
        op.attributes.push_back(anyAttribute(attribute.kind, operands, draw));
      Inference inference = inferTypes(schema.id, operands, op.attributes);
      if (inference.fault && !draw.chance(40))
        continue;
      for (const TensorType &type : inference.types)
        op.results.push_back(program.add(type));
      const std::vector<int> made = op.results;
      program.ops.insert(program.ops.begin() + static_cast<std::ptrdiff_t>(at), std::move(op));
      if (made.empty())
        return;
      for (std::size_t later = at + 1; later < program.ops.size(); ++later)
        for (int &operand : program.ops[later].operands)
          if (draw.chance(2))
            replaceBySame(operand, made);
      for (int &result : program.results)
        if (draw.chance(2))
          replaceBySame(result, made);
      return;
    }
  }

  void replaceBySame(int &value, const std::vector<int> &by) {
    for (int other : by)
      if (program.types[static_cast<std::size_t>(other)] == program.types[static_cast<std::size_t>(value)] &&
          draw.chance(2)) {
        value = other;
        return;
      }
  }

  // Large numbers in all places, whose sum with some of them doubled is that of before modulo 2^64.
  void wrap(std::vector<std::int64_t> &list) {
    std::uint64_t left = 0;
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      const auto before = static_cast<std::uint64_t>(list[i]), after = static_cast<std::uint64_t>(draw.evil());
      left += (before - after) << draw.below(2);
      list[i] = static_cast<std::int64_t>(after);
    }
    list.back() = static_cast<std::int64_t>(static_cast<std::uint64_t>(list.back()) + left);
  }

  void changeAttribute(Editable::Op &op) {
    if (op.attributes.empty())
      return;
    Attribute &attribute = draw.of(op.attributes);
    if (auto *list = std::get_if<std::vector<std::int64_t>>(&attribute)) {
      switch (list->empty() ? 1 : draw.below(6)) {
      case 2: // a sum that wraps to what it was
        wrap(*list);
        break;
      case 0:
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(draw.below(list->size())));
        break;
      case 1:
        list->push_back(draw.number());
        break;
      default:
        draw.of(*list) = draw.number();
      }
    } else if (auto *inner = std::get_if<RecordingRef>(&attribute); inner && *inner && depth < 4) {
      Editable region(**inner);
      Mutator(region, draw, depth + 1).run();
      *inner = region.made();
    } else if (auto *constant = std::get_if<ConstantRef>(&attribute); constant && *constant && draw.chance(2)) {
      auto changed = std::make_shared<ConstantData>(**constant);
      for (std::byte &each : changed->bytes)
        if (draw.chance(8))
          each = std::byte(draw.below(256));
      *constant = changed;
    } else {
      const auto place = static_cast<std::size_t>(&attribute - op.attributes.data());
      attribute = anyAttribute(schemaOf(op.op).attributes[place].kind, program.typesOf(op.operands), draw);
    }
  }

  Editable &program;
  Draw &draw;
  int depth;
};

} // namespace

const char *keptForTest(const std::string &text) {
  static std::mutex mutex;
  static auto *texts = new std::set<std::string>;
  std::lock_guard lock(mutex);
  return texts->insert(text).first->c_str();
}

std::string mutatedProgram(std::string bytes, std::mt19937_64 &random) {
  Draw draw(random);
  const ReadProgram read = readProgram(std::as_bytes(std::span(bytes)), keptForTest);
  if (!read.program)
    return bytes;
  Editable program(*read.program);
  Mutator(program, draw, 0).run();
  runtime::ByteWriter writer;
  writeProgram(*program.made(), writer);
  return {reinterpret_cast<const char *>(writer.bytes.data()), writer.bytes.size()};
}

void lookAt(const Recording &program) {
  for (const RecordedOp &op : program.ops()) {
    (void)program.gradientOperandsOf(op);
    (void)program.capturesOf(op);
    (void)hasEffect(program, op);
    std::vector<TensorType> operands, results;
    bool isStatic = true;
    for (ValueId operand : program.operandsOf(op))
      operands.push_back(program.typeOf(operand));
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      results.push_back(program.typeOf(op.firstResult + static_cast<ValueId>(r)));
    for (const std::vector<TensorType> *types : {&operands, &results})
      for (const TensorType &type : *types)
        isStatic = isStatic && type.isStatic();
    if (MoveRule rule = moveRuleOf(op.op); rule && isStatic)
      (void)rule({op.op, operands, program.attributesOf(op)}, results);
    for (const Attribute &attribute : program.attributesOf(op))
      if (const auto *inner = std::get_if<RecordingRef>(&attribute))
        lookAt(**inner);
  }
  (void)withoutEffects(std::make_shared<Recording>(program));
  (void)program.operationAt(static_cast<std::int64_t>(program.ops().size()) / 2);
}

} // namespace calque::testing
