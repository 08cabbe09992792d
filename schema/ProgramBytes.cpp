#include "schema/ProgramBytes.h"

#include "absl/strings/str_cat.h"
#include "schema/Admission.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <bit>

namespace calque::schema {

using runtime::ByteReader;
using runtime::ByteWriter;

namespace {

// How deep programs may lie inside of operations.
constexpr int kMostDepth = 256;

// The letters of the kinds of attributes, in the order of AttributeKind.
constexpr std::string_view kKindLetters = "binsltcpx";
constexpr std::string_view kNumberLetters = "biuf"; // of the alternatives of Scalar

char letterOf(AttributeKind kind) { return kKindLetters[static_cast<std::size_t>(kind)]; }

//===-- Writing ---------------------------------------------------------------------------------===//

class Writer {
public:
  Writer(ByteWriter &bytes, bool isWhole) : bytes(bytes), isWhole(isWhole) {}

  void program(const Recording &recording) {
    if (isWhole) {
      text(recording.name);
      line(recording.line);
    }
    // Values are numbered anew: parameters first, then results in program order.
    std::vector<std::uint64_t> numbers(recording.numValues());
    std::uint64_t next = 0;
    bytes.compact(recording.parameters.size());
    for (ValueId parameter : recording.parameters) {
      numbers[index(parameter)] = next++;
      type(recording.typeOf(parameter));
    }
    bytes.compact(recording.variables.size());
    for (const RecordedVariable &variable : recording.variables) {
      type(variable.type);
      if (isWhole)
        text(variable.name);
    }
    auto values = [&](std::span<const ValueId> list) {
      bytes.compact(list.size());
      for (ValueId value : list)
        bytes.compact(numbers[index(value)]);
    };
    bytes.compact(recording.ops().size());
    for (const RecordedOp &op : recording.ops()) {
      const OperationSchema &schema = schemaOf(op.op);
      text(schema.mnemonic);
      if (isWhole)
        line(op.line);
      values(recording.operandsOf(op));
      std::span<const Attribute> attributes = recording.attributesOf(op);
      auto isDefault = [&](std::size_t i) {
        return schema.attributes[i].mayBeEmpty && std::get<std::vector<std::int64_t>>(attributes[i]).empty();
      };
      std::size_t written = 0;
      for (std::size_t i = 0; i < attributes.size(); ++i)
        written += !isDefault(i);
      bytes.compact(written);
      for (std::size_t i = 0; i < attributes.size(); ++i) {
        if (isDefault(i))
          continue;
        text(schema.attributes[i].name);
        bytes.number(static_cast<std::uint8_t>(letterOf(schema.attributes[i].kind)));
        attribute(attributes[i]);
      }
      bytes.compact(op.numResults);
      for (std::uint32_t r = 0; r < op.numResults; ++r) {
        ValueId result = op.firstResult + static_cast<ValueId>(r);
        numbers[index(result)] = next++;
        type(recording.typeOf(result));
      }
    }
    values(recording.results);
  }

private:
  // The first time, a text is written behind the next number. After that, only its number is written.
  void text(std::string_view text) {
    auto [found, isNew] = texts.try_emplace(text, texts.size());
    bytes.compact(found->second);
    if (isNew) {
      bytes.compact(text.size());
      bytes.raw(std::as_bytes(std::span(text)));
    }
  }
  void optionalText(const char *given) {
    bytes.number(static_cast<std::uint8_t>(given != nullptr));
    if (given)
      text(given);
  }
  void line(const SourceLine &line) {
    text(line.file);
    bytes.compact(line.line);
    bytes.compact(line.column);
    optionalText(line.function);
    optionalText(line.index);
  }
  void type(const TensorType &type) {
    text(name_of(type.dtype));
    bytes.compact(type.dims.size());
    for (std::int64_t size : type.dims) // 0 stands for an unknown size
      bytes.compact(size == kOpenSize ? 0 : static_cast<std::uint64_t>(size) + 1);
  }
  void attribute(const Attribute &attribute) {
    struct Visitor {
      Writer &writer;
      void operator()(bool value) const { writer.bytes.number(static_cast<std::uint8_t>(value)); }
      void operator()(std::int64_t value) const { writer.bytes.number(static_cast<std::uint64_t>(value)); }
      void operator()(const Scalar &value) const {
        writer.bytes.number(static_cast<std::uint8_t>(kNumberLetters[value.value().index()]));
        writer.bytes.number(value.bits());
      }
      void operator()(const std::string &value) const { writer.bytes.text(value); }
      void operator()(const std::vector<std::int64_t> &value) const {
        writer.bytes.compact(value.size());
        for (std::int64_t each : value)
          writer.bytes.number(static_cast<std::uint64_t>(each));
      }
      void operator()(DType value) const { writer.text(name_of(value)); }
      void operator()(const ConstantRef &value) const {
        writer.type(value->type);
        writer.bytes.number(static_cast<std::uint8_t>(value->splat));
        writer.bytes.block(value->bytes);
      }
      void operator()(const RecordingRef &value) const { writer.program(*value); }
    };
    std::visit(Visitor{*this}, attribute);
  }

  ByteWriter &bytes;
  const bool isWhole;
  HashMap<std::string_view, std::uint64_t> texts;
};

//===-- Reading ---------------------------------------------------------------------------------===//

// Thrown within this file alone.
struct Refused {
  std::string fault;
};
template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) { throw Refused{absl::StrCat(parts...)}; }

class Reader {
public:
  Reader(std::span<const std::byte> given, const char *(*keep)(const std::string &),
         std::string (*shown)(std::string_view))
      : bytes(given), keep(keep), shown(shown) {}

  RecordingRef whole() {
    auto version = bytes.number<std::uint32_t>();
    check();
    if (version == 0 || version > kProgramVersion)
      fail("it is of version ", version, ", and this Calque reads versions up to ", kProgramVersion);
    RecordingRef made = program(0);
    if (!bytes.rest.empty())
      fail(bytes.rest.size(), " bytes follow the program");
    return made;
  }

private:
  // The part of a program that was read so far. `values` has the values by their numbers in the file.
  struct Made {
    // Earlier versions wrote a pair of operations for `open_sizes`: sized_push made a stack of one entry, and sized_pop
    // gave the stack below the entry, and the entry with unknown sizes. The id of such a stack is the entry's.
    enum class Kind : std::uint8_t { Tensor, Stack, Below };
    struct Value {
      ValueId id;
      Kind kind = Kind::Tensor;
    };
    Recording &program;
    std::vector<Value> values;
  };

  RecordingRef program(int depth) {
    if (depth > kMostDepth)
      fail("programs lie more than ", kMostDepth, " deep in each other");
    auto made = std::make_shared<Recording>();
    made->name = text();
    made->line = line();
    std::size_t numParameters = bytes.compactCount(2);
    count(numParameters);
    Made read{*made, {}};
    for (; numParameters > 0; --numParameters)
      read.values.push_back({made->addParameter(type())});
    for (std::size_t n = bytes.compactCount(3); n > 0; --n) {
      TensorType held = type();
      if (!held.isStatic())
        fail("a variable is ", held.str(), ", and its sizes must be known");
      made->variables.push_back({std::move(held), text()});
    }
    check();
    if (depth && !made->variables.empty())
      fail("a program inside of an operation has variables");
    const std::size_t numOperations = bytes.compactCount(8);
    for (std::size_t i = 0; i < numOperations; ++i)
      operation(read, i, depth);
    made->results = values(read, "the results of the program");
    check();
    return made;
  }

  // Recordings count values, operands and attributes in 32 bits.
  void count(std::size_t more) {
    if (more > static_cast<std::size_t>(std::numeric_limits<ValueId>::max()) - numCounted)
      fail("it has more than ", std::numeric_limits<ValueId>::max(), " values, operands and attributes");
    numCounted += more;
  }

  void operation(Made &read, std::size_t number, int depth) {
    Recording &made = read.program;
    const std::string &mnemonic = text();
    check();
    const OperationSchema *schema = findOperation(mnemonic);
    if (!schema)
      fail("operation '", mnemonic, "' is not known");
    const std::string what = absl::StrCat("operation ", number, " (", mnemonic, ")");
    if (schema->id == OpId::SizedPush || schema->id == OpId::SizedPop)
      return openSizes(read, *schema, what, depth);
    if (!schema::maySave(schema->id))
      fail(what, " is one that derivatives alone make, and no function that was saved has it");
    SourceLine where = line();
    std::vector<ValueId> operands = values(read, what);
    std::vector<Attribute> attributes = attributesOf(*schema, what, depth);
    std::vector<TensorType> given, types = this->types();
    for (ValueId operand : operands)
      given.push_back(made.typeOf(operand));
    Inference inference = inferTypes(schema->id, given, attributes);
    if (inference.fault)
      fail(what, ": ", inference.fault.message);
    if (inference.types != types)
      fail(what, " has results of other types than it gives");
    if (schema->id == OpId::VariableRead || schema->id == OpId::VariableAssign) {
      const std::vector<RecordedVariable> &variables = made.variables;
      if (depth)
        fail(what, " stands in a program inside of an operation");
      auto variable = static_cast<std::uint64_t>(std::get<std::int64_t>(attributes[0]));
      if (variable >= variables.size())
        fail(what, ": there is no variable ", variable);
      const TensorType &held = variables[variable].type;
      if (held != (schema->id == OpId::VariableRead ? types[0] : given[0]))
        fail(what, " is of another type than variable ", variable, ", ", held.str());
    }
    append(read, schema->id, operands, attributes, types, where);
  }

  void append(Made &read, OpId op, std::span<const ValueId> operands, std::span<const Attribute> attributes,
              std::span<const TensorType> types, const SourceLine &where) {
    count(operands.size() + attributes.size() + types.size());
    ValueId next = read.program.append(op, operands, attributes, types, where);
    for (std::size_t i = 0; i < types.size(); ++i)
      read.values.push_back({next++});
  }

  // Reads one operation of the pair that earlier versions wrote. sized_pop takes the entry that sized_push put on the
  // stack. Nothing else may use the stack.
  void openSizes(Made &read, const OperationSchema &schema, const std::string &what, int depth) {
    static const TensorType number{DType::Float64, {}};
    const bool pops = schema.id == OpId::SizedPop;
    SourceLine where = line();
    const std::vector<ValueId> operands = values(read, what, pops);
    const std::vector<Attribute> attributes = attributesOf(schema, what, depth);
    const std::vector<TensorType> types = this->types();
    if (operands.size() != 2)
      fail(what, ": it has ", counted(operands.size(), "operand"), " and takes 2");
    const TensorType &first = read.program.typeOf(operands[0]), &second = read.program.typeOf(operands[1]);
    if (pops && std::get<bool>(attributes[0]))
      failAtStack(what);
    if (types != (pops ? std::vector{number, second} : std::vector{number}) || (!pops && first != number))
      fail(what, " has results of other types than it gives");
    if (!pops) {
      read.values.push_back({operands[1], Made::Kind::Stack});
      return;
    }
    const TensorType given[] = {first, second};
    if (Inference inference = inferTypes(OpId::OpenSizes, given, {}); inference.fault)
      fail(what, ": ", inference.fault.message);
    read.values.push_back({operands[0], Made::Kind::Below});
    append(read, OpId::OpenSizes, operands, {}, {&types[1], 1}, where);
  }

  [[noreturn]] static void failAtStack(const std::string &what) {
    fail(what, " takes from no stack of a loop variable whose sizes vary");
  }

  std::vector<Attribute> attributesOf(const OperationSchema &schema, const std::string &what, int depth) {
    std::vector<Attribute> attributes(schema.attributes.size());
    std::vector<bool> isThere(attributes.size());
    for (std::size_t n = bytes.compactCount(2); n > 0; --n) {
      const std::string name = text();
      auto letter = static_cast<char>(bytes.number<std::uint8_t>());
      check();
      std::size_t place = 0;
      while (place < attributes.size() && schema.attributes[place].name != name)
        ++place;
      if (place == attributes.size())
        fail(what, " has no attribute '", name, "'");
      if (isThere[place])
        fail(what, " has attribute '", name, "' twice");
      isThere[place] = true;
      if (letter != letterOf(schema.attributes[place].kind))
        fail(what, ": attribute '", name, "' is of another kind");
      attributes[place] = attribute(schema.attributes[place].kind, what, depth);
    }
    // An empty list that is the default is not written, so that versions without the attribute can read the program.
    for (std::size_t i = 0; i < attributes.size(); ++i)
      if (!isThere[i] && schema.attributes[i].mayBeEmpty)
        attributes[i] = std::vector<std::int64_t>();
      else if (!isThere[i])
        fail(what, " lacks attribute '", std::string(schema.attributes[i].name), "'");
    return attributes;
  }

  Attribute attribute(AttributeKind kind, const std::string &what, int depth) {
    switch (kind) {
    case AttributeKind::Bool:
      return flag();
    case AttributeKind::Int:
      return static_cast<std::int64_t>(bytes.number<std::uint64_t>());
    case AttributeKind::Number:
      return number();
    case AttributeKind::String:
      return bytes.text();
    case AttributeKind::Text:
      return shown ? shown(bytes.text()) : bytes.text();
    case AttributeKind::Ints: {
      std::vector<std::int64_t> list(bytes.compactCount(8));
      for (std::int64_t &each : list)
        each = static_cast<std::int64_t>(bytes.number<std::uint64_t>());
      return list;
    }
    case AttributeKind::Type:
      return elementType();
    case AttributeKind::Constant:
      return constant(what);
    case AttributeKind::Recording:
      return program(depth + 1);
    }
    fail(what, ": an attribute is of a kind that is not known");
  }

  bool flag() {
    auto value = bytes.number<std::uint8_t>();
    if (value > 1)
      fail("a truth value is ", int(value));
    return value != 0;
  }
  Scalar number() {
    auto letter = static_cast<char>(bytes.number<std::uint8_t>());
    auto bits = bytes.number<std::uint64_t>();
    check();
    switch (letter) {
    case 'b':
      if (bits > 1)
        fail("a truth value is ", bits);
      return bits != 0;
    case 'i':
      return static_cast<std::int64_t>(bits);
    case 'u':
      return bits;
    case 'f':
      return std::bit_cast<double>(bits);
    default:
      fail("a number is of a kind that is not known");
    }
  }
  ConstantRef constant(const std::string &what) {
    auto made = std::make_shared<ConstantData>();
    made->type = type();
    made->splat = flag();
    std::span<const std::byte> taken = bytes.block();
    check();
    if (!made->type.isStatic() || hasTooManyBytes(made->type))
      fail(what, ": a constant can't be ", made->type.str());
    std::size_t wanted = made->splat ? size_of(made->type.dtype) : made->type.numBytes();
    if (taken.size() != wanted)
      fail(what, ": a constant of ", made->type.str(), " has ", taken.size(), " bytes");
    if (made->type.dtype == DType::Bool)
      for (std::byte each : taken)
        if (each > std::byte(1))
          fail(what, ": a constant of bool has an element that is neither 0 nor 1");
    made->bytes.assign(taken.begin(), taken.end());
    return made;
  }

  static bool hasTooManyBytes(const TensorType &type) {
    auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
    return !std::ranges::count(type.dims, 0) && std::ranges::any_of(type.dims, [&](std::int64_t size) {
      return __builtin_mul_overflow(bytes, size, &bytes);
    });
  }

  // With `takesStack`, the first value must be a stack.
  std::vector<ValueId> values(const Made &read, const std::string &what, bool takesStack = false) {
    std::vector<ValueId> list(bytes.compactCount(1));
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::uint64_t number = bytes.compact();
      if (number >= read.values.size())
        fail(what, ": there is no value ", number, " yet");
      const Made::Value &value = read.values[number];
      if (takesStack && i == 0 && value.kind != Made::Kind::Stack)
        failAtStack(what);
      if (!(takesStack && i == 0) && value.kind != Made::Kind::Tensor)
        fail(what, ": value ", number, " is a stack");
      list[i] = value.id;
    }
    check();
    return list;
  }
  std::vector<TensorType> types() {
    std::vector<TensorType> list;
    for (std::size_t n = bytes.compactCount(2); n > 0; --n)
      list.push_back(type());
    check();
    return list;
  }
  DType elementType() {
    const std::string &name = text();
    for (const DTypeInfo &info : kDTypes)
      if (name == info.name)
        return info.dtype;
    check();
    fail("element type '", name, "' is not known");
  }
  TensorType type() {
    TensorType made{elementType(), Dims(bytes.compactCount(1))};
    for (std::int64_t &size : made.dims) {
      std::uint64_t given = bytes.compact();
      if (given > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        fail("a size is ", given - 1);
      size = given ? static_cast<std::int64_t>(given - 1) : kOpenSize;
    }
    return made;
  }
  SourceLine line() {
    SourceLine line;
    line.file = kept();
    std::uint64_t row = bytes.compact(), column = bytes.compact();
    if (row > std::numeric_limits<std::uint32_t>::max() || column > std::numeric_limits<std::uint32_t>::max())
      fail("a line has the number ", row, ":", column);
    line.line = static_cast<std::uint32_t>(row);
    line.column = static_cast<std::uint32_t>(column);
    if (flag())
      line.function = kept();
    if (flag())
      line.index = kept();
    return line;
  }
  std::size_t textNumber() {
    std::uint64_t number = bytes.compact();
    if (number < texts.size())
      return number;
    if (number > texts.size())
      fail("a text has the number ", number, " where ", texts.size(), " are known");
    std::span<const std::byte> taken = bytes.raw(bytes.compact());
    check();
    texts.push_back({std::string(reinterpret_cast<const char *>(taken.data()), taken.size())});
    return number;
  }
  // Valid until the next text.
  const std::string &text() { return texts[textNumber()].text; }
  const char *kept() {
    Text &given = texts[textNumber()];
    if (!given.kept)
      given.kept = keep(given.text);
    return given.kept;
  }
  void check() const {
    if (!bytes.complete)
      fail("it is cut short");
    if (!bytes.known)
      fail("a number is written in a form that is not known");
  }

  struct Text {
    std::string text;
    const char *kept = nullptr;
  };

  ByteReader bytes;
  const char *(*keep)(const std::string &);
  std::string (*shown)(std::string_view);
  std::vector<Text> texts;
  std::size_t numCounted = 0;
};

} // namespace

void writeProgram(const Recording &recording, ByteWriter &bytes) {
  bytes.number(kProgramVersion);
  Writer(bytes, true).program(recording);
}

void writeCode(const Recording &recording, ByteWriter &bytes) { Writer(bytes, false).program(recording); }

ReadProgram readProgram(std::span<const std::byte> bytes, const char *(*keep)(const std::string &),
                        std::string (*shown)(std::string_view)) {
  try {
    return {Reader(bytes, keep, shown).whole(), ""};
  } catch (const Refused &refused) {
    return {nullptr, refused.fault};
  }
}

} // namespace calque::schema
