#include "schema/Recording.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace calque::schema {

std::string SourceLine::str() const { return line ? absl::StrCat(file, ":", line) : "an unknown line"; }

ValueId Recording::addParameter(const TensorType &type) {
  ValueId value = static_cast<ValueId>(types_.size());
  types_.push_back(type);
  parameters.push_back(value);
  return value;
}

ValueId Recording::append(OpId op, std::span<const ValueId> operands, std::span<const Attribute> attributes,
                          std::span<const TensorType> results, SourceLine line) {
  RecordedOp recorded{op,
                      static_cast<std::uint32_t>(operands_.size()),
                      static_cast<std::uint32_t>(operands.size()),
                      static_cast<std::uint32_t>(attributes_.size()),
                      static_cast<std::uint32_t>(attributes.size()),
                      static_cast<ValueId>(types_.size()),
                      static_cast<std::uint32_t>(results.size()),
                      line};
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  attributes_.insert(attributes_.end(), attributes.begin(), attributes.end());
  types_.insert(types_.end(), results.begin(), results.end());
  ops_.push_back(recorded);
  return recorded.firstResult;
}

void Recording::appendCopy(const Recording &from, const RecordedOp &op, std::span<ValueId> renamed) {
  appendCopy(from, op, renamed, from.attributesOf(op));
}

void Recording::appendCopy(const Recording &from, const RecordedOp &op, std::span<ValueId> renamed,
                           std::span<const Attribute> attributes) {
  std::vector<ValueId> operands;
  for (ValueId operand : from.operandsOf(op))
    operands.push_back(renamed[index(operand)]);
  auto firstResult = index(op.firstResult);
  ValueId first =
      append(op.op, operands, attributes, std::span(from.types_).subspan(firstResult, op.numResults), op.line);
  for (std::uint32_t r = 0; r < op.numResults; ++r)
    renamed[firstResult + r] = first + static_cast<ValueId>(r);
}

namespace {
const RecordedOp *find(const Recording &recording, std::int64_t &number) {
  for (const RecordedOp &op : recording.ops()) {
    if (number-- == 0)
      return &op;
    for (const Attribute &attribute : recording.attributesOf(op))
      if (const auto *inner = std::get_if<RecordingRef>(&attribute))
        if (const RecordedOp *found = find(**inner, number))
          return found;
  }
  return nullptr;
}
} // namespace

const RecordedOp *Recording::operationAt(std::int64_t number) const {
  return number < 0 ? nullptr : find(*this, number);
}

std::span<const ValueId> Recording::gradientOperandsOf(const RecordedOp &op) const {
  std::span<const ValueId> operands = operandsOf(op);
  const OperationSchema &schema = schemaOf(op.op);
  if (!schema.counted && !schema.perAxis)
    return operands;
  const auto &list = std::get<std::vector<std::int64_t>>(attributesOf(op)[0]);
  return operands.first(schema.counted ? static_cast<std::size_t>(list[0]) : list.size());
}

std::span<const ValueId> Recording::capturesOf(const RecordedOp &op) const {
  if (!schemaOf(op.op).counted)
    return {};
  const auto &counts = std::get<std::vector<std::int64_t>>(attributesOf(op)[0]);
  return operandsOf(op).subspan(static_cast<std::size_t>(counts[0] + counts[1]));
}

bool equal(const Recording &a, const Recording &b) {
  auto sameOp = [&](const RecordedOp &x, const RecordedOp &y) {
    if (x.op != y.op || x.numResults != y.numResults || x.firstResult != y.firstResult ||
        !std::ranges::equal(a.operandsOf(x), b.operandsOf(y)) ||
        !std::ranges::equal(a.attributesOf(x), b.attributesOf(y),
                            [](const Attribute &p, const Attribute &q) { return equal(p, q); }))
      return false;
    for (std::uint32_t r = 0; r < x.numResults; ++r)
      if (a.typeOf(x.firstResult + static_cast<ValueId>(r)) != b.typeOf(y.firstResult + static_cast<ValueId>(r)))
        return false;
    return true;
  };
  auto sameType = [&](ValueId x, ValueId y) { return x == y && a.typeOf(x) == b.typeOf(y); };
  return std::ranges::equal(a.parameters, b.parameters, sameType) && a.results == b.results &&
         std::ranges::equal(a.ops(), b.ops(), sameOp);
}

bool hasEffect(const Recording &recording, const RecordedOp &op) {
  if (!schemaOf(op.op).pure)
    return true;
  for (const Attribute &attribute : recording.attributesOf(op))
    if (const auto *inner = std::get_if<RecordingRef>(&attribute))
      for (const RecordedOp &each : (*inner)->ops())
        if (hasEffect(**inner, each))
          return true;
  return false;
}

namespace {
// Of ordered_extern: symbol, types, transpose, repeats.
constexpr std::size_t kRepeats = 3;
constexpr std::int64_t kEmitted = 2;
} // namespace

bool runsOnce(const Recording &recording, const RecordedOp &op) {
  return op.op == OpId::HostCall ||
         (op.op == OpId::OrderedExtern && std::get<std::int64_t>(recording.attributesOf(op)[kRepeats]) == 0);
}

std::vector<Attribute> emittedAttributes(const Recording &recording, const RecordedOp &op) {
  std::span<const Attribute> own = recording.attributesOf(op);
  std::vector<Attribute> attributes(own.begin(), own.end());
  attributes[kRepeats] = kEmitted;
  return attributes;
}

RecordingRef withoutEffects(const RecordingRef &program) {
  auto made = std::make_shared<Recording>();
  made->name = program->name;
  made->line = program->line;
  std::vector<ValueId> renamed(program->numValues(), -1);
  for (ValueId parameter : program->parameters)
    renamed[index(parameter)] = made->addParameter(program->typeOf(parameter));
  for (const RecordedOp &op : program->ops()) {
    if (!schemaOf(op.op).pure && op.numResults == 0)
      continue;
    std::vector<Attribute> attributes;
    if (op.op == OpId::OrderedExtern && !runsOnce(*program, op)) {
      made->appendCopy(*program, op, renamed, emittedAttributes(*program, op));
      continue;
    }
    for (const Attribute &attribute : program->attributesOf(op)) {
      const auto *inner = std::get_if<RecordingRef>(&attribute);
      attributes.push_back(inner ? Attribute(withoutEffects(*inner)) : attribute);
    }
    made->appendCopy(*program, op, renamed, attributes);
  }
  for (ValueId result : program->results)
    made->results.push_back(renamed[index(result)]);
  return made;
}

} // namespace calque::schema
