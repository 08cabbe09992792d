#include "frontend/core/Retyping.h"

#include "absl/strings/str_cat.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/TensorImpl.h"

#include <algorithm>
#include <cstring>

namespace calque::detail {

using schema::Attribute;
using schema::index;
using schema::kOpenSize;
using schema::OpId;
using schema::RecordedOp;
using schema::Recording;
using schema::RecordingRef;
using schema::SourceLine;
using schema::TensorType;
using schema::ValueId;

namespace {

using Types = std::vector<TensorType>;

bool mayBeEqual(std::int64_t a, std::int64_t b) { return a == b || a == kOpenSize || b == kOpenSize; }
bool mayBeEqual(const TensorType &a, const TensorType &b) {
  return a.dtype == b.dtype && std::ranges::equal(a.dims, b.dims, [](auto x, auto y) { return mayBeEqual(x, y); });
}

//===-- Operations that change what is known of a value -----------------------------------------===//

ValueId append(Recording &program, OpId op, std::initializer_list<ValueId> operands,
               std::initializer_list<Attribute> attributes, const TensorType &result, const SourceLine &line) {
  return program.append(op, {operands.begin(), operands.size()}, {attributes.begin(), attributes.size()}, {&result, 1},
                        line);
}

template <typename T> ValueId appendScalar(Recording &program, T element, DType dtype, const SourceLine &line) {
  auto data = std::make_shared<schema::ConstantData>();
  data->type = {dtype, {}};
  data->bytes.resize(sizeof(T));
  std::memcpy(data->bytes.data(), &element, sizeof(T));
  return append(program, OpId::Constant, {}, {schema::ConstantRef(data)}, data->type, line);
}

ValueId likeOther(Recording &program, ValueId value, ValueId like, const SourceLine &line) {
  const TensorType type = program.typeOf(like);
  const ValueId other = append(program, OpId::StopGradient, {like}, {}, type, line);
  return append(program, OpId::BroadcastLike, {value, other}, {}, type, line);
}

// The value with the type of another one, whose sizes it must have where both are known only to the call. `varies`: the
// other's unknown sizes say nothing of it.
ValueId withTypeOf(Recording &program, ValueId value, ValueId like, bool varies, const SourceLine &line) {
  const TensorType given = program.typeOf(value), wanted = program.typeOf(like);
  if (given == wanted || !mayBeEqual(given, wanted))
    return value;
  bool repeats = false; // a size of 1 would be repeated instead of compared
  for (std::size_t d = 0; d < wanted.dims.size(); ++d)
    repeats = repeats || (given.dims[d] == 1 && wanted.dims[d] == kOpenSize);
  if (!varies && !repeats)
    return likeOther(program, value, like, line);
  for (std::size_t d = 0; d < wanted.dims.size(); ++d) {
    if (given.dims[d] != kOpenSize || wanted.dims[d] == kOpenSize)
      continue;
    const TensorType size{DType::Int64, {}}, flag{DType::Bool, {}};
    const auto axis = static_cast<std::int64_t>(d);
    const ValueId own = append(program, OpId::SizeOf, {value}, {axis}, size, line),
                  other = append(program, OpId::SizeOf, {like}, {axis}, size, line),
                  same = append(program, OpId::Equal, {own, other}, {}, flag, line);
    const Attribute message = absl::StrCat(std::string(nameInMessages(OpId::While, line)),
                                           ": a loop variable changes its size, and does not vary");
    program.append(OpId::Assert, {&same, 1}, {&message, 1}, {}, line);
  }
  // Sizes can be left open that are known, and not the other way round.
  TensorType checked = given;
  std::vector<std::int64_t> shape, sizes;
  for (std::size_t d = 0; d < wanted.dims.size(); ++d) {
    shape.push_back(wanted.dims[d]);
    if (wanted.dims[d] == kOpenSize)
      sizes.insert(sizes.end(), {0, static_cast<std::int64_t>(d)});
    else
      checked.dims[d] = wanted.dims[d];
  }
  if (checked != given)
    value = append(program, OpId::BroadcastToOpen, {value}, {std::move(shape), std::move(sizes)}, checked, line);
  return append(program, OpId::OpenSizes, {value, like}, {}, wanted, line);
}

// The value with sizes open that are known. A loop without an iteration forgets them.
ValueId withOpen(Recording &program, ValueId value, const TensorType &wanted, const SourceLine &line) {
  const TensorType given = program.typeOf(value);
  if (given == wanted)
    return value;
  std::vector<std::int64_t> varying;
  for (std::size_t d = 0; d < wanted.dims.size(); ++d)
    if (given.dims[d] != wanted.dims[d])
      varying.insert(varying.end(), {0, static_cast<std::int64_t>(d)});
  auto condition = std::make_shared<Recording>(), body = std::make_shared<Recording>();
  for (const std::shared_ptr<Recording> &part : {condition, body}) {
    part->name = program.name;
    part->line = program.line;
    part->addParameter(wanted);
  }
  condition->results = {appendScalar(*condition, false, DType::Bool, line)};
  body->results = body->parameters;
  return append(program, OpId::While, {value}, {false, std::move(varying), RecordingRef(condition), RecordingRef(body)},
                wanted, line);
}

//===-- Programs --------------------------------------------------------------------------------===//

Types typesOf(const Recording &program, std::span<const ValueId> values) {
  Types types;
  for (ValueId value : values)
    types.push_back(program.typeOf(value));
  return types;
}

std::shared_ptr<Recording> madeFor(const Recording &program, std::span<const TensorType> parameters);

// `change` may append to the program, and change its results.
template <typename Change>
RecordingRef partFor(const Attribute &part, std::span<const TensorType> parameters, Change change) {
  const RecordingRef &program = std::get<RecordingRef>(part);
  std::shared_ptr<Recording> made = madeFor(*program, parameters);
  change(*made);
  return made;
}

// What both branches give. Where they know a size to be different, the result leaves it open.
void makeBranchesFor(std::span<const TensorType> operands, std::vector<Attribute> &attributes, const SourceLine &line) {
  std::shared_ptr<Recording> branches[2];
  for (std::size_t i : {0, 1})
    branches[i] = madeFor(*std::get<RecordingRef>(attributes[i]), operands.subspan(1));
  auto &[then, otherwise] = branches;
  for (std::size_t r = 0; r < std::min(then->results.size(), otherwise->results.size()); ++r) {
    TensorType common = then->typeOf(then->results[r]);
    const TensorType other = otherwise->typeOf(otherwise->results[r]);
    if (common.dtype != other.dtype || common.rank() != other.rank())
      continue;
    for (std::size_t d = 0; d < common.dims.size(); ++d)
      if (common.dims[d] != other.dims[d])
        common.dims[d] = kOpenSize;
    for (const std::shared_ptr<Recording> &branch : branches)
      branch->results[r] = withOpen(*branch, branch->results[r], common, line);
  }
  for (std::size_t i : {0, 1})
    attributes[i] = RecordingRef(branches[i]);
}

void makeLoopFor(std::span<const TensorType> operands, std::vector<Attribute> &attributes, const SourceLine &line) {
  const auto &varying = std::get<std::vector<std::int64_t>>(attributes[1]);
  Types taken(operands.begin(), operands.end());
  std::vector<bool> varies(taken.size());
  for (std::size_t i = 0; i < varying.size(); i += 2) {
    const auto variable = static_cast<std::size_t>(varying[i]);
    taken[variable].dims[static_cast<std::size_t>(varying[i + 1])] = kOpenSize;
    varies[variable] = true;
  }
  attributes[2] = partFor(attributes[2], taken, [](Recording &) {});
  attributes[3] = partFor(attributes[3], taken, [&](Recording &body) {
    for (std::size_t i = 0; i < body.results.size(); ++i) {
      const TensorType &given = body.typeOf(body.results[i]), &wanted = body.typeOf(body.parameters[i]);
      if (!mayBeEqual(given, wanted))
        throw ShapeError(absl::StrCat(std::string(nameInMessages(OpId::While, line)), ": a loop variable is ",
                                      wanted.str(), ", and its next value is ", given.str()),
                         locationOf(line));
      body.results[i] = withTypeOf(body, body.results[i], body.parameters[i], varies[i], line);
    }
  });
}

// An operation's attributes where its operands have these types.
std::vector<Attribute> attributesFor(OpId op, const SourceLine &line, std::span<const Attribute> own,
                                     std::span<const TensorType> operands) {
  std::vector<Attribute> attributes(own.begin(), own.end());
  if (op == OpId::Cond)
    makeBranchesFor(operands, attributes, line);
  else if (op == OpId::While)
    makeLoopFor(operands, attributes, line);
  else if (op == OpId::Checkpoint)
    attributes[0] = partFor(attributes[0], operands, [](Recording &) {});
  else if (op == OpId::CustomGradient)
    attributes[1] =
        partFor(attributes[1],
                operands.subspan(static_cast<std::size_t>(std::get<std::vector<std::int64_t>>(attributes[0])[0])),
                [](Recording &) {});
  return attributes;
}

std::vector<TensorType> inferredTypes(OpId op, const SourceLine &line, std::span<const TensorType> operands,
                                      std::span<const Attribute> attributes) {
  schema::Inference inference = schema::inferTypes(op, operands, attributes, nameInMessages(op, line));
  if (inference.fault)
    throwFault(inference.fault, locationOf(line));
  return std::move(inference.types);
}

// Gives seeds the types of their targets, and tangents those of their sources.
void matchDerivatives(Recording &made, const RecordedOp &op, std::span<const Attribute> attributes,
                      std::vector<ValueId> &operands) {
  if (op.op != OpId::Gradient && op.op != OpId::Jvp)
    return;
  const auto &counts = std::get<std::vector<std::int64_t>>(attributes[0]);
  const bool isGradient = op.op == OpId::Gradient;
  const auto first = static_cast<std::size_t>(isGradient ? 0 : counts[0]),
             count = static_cast<std::size_t>(counts[isGradient ? 0 : 1]);
  for (std::size_t i = first; i < first + count; ++i)
    operands[i + count] = withTypeOf(made, operands[i + count], operands[i], false, op.line);
}

std::shared_ptr<Recording> madeFor(const Recording &program, std::span<const TensorType> parameters) {
  auto made = std::make_shared<Recording>();
  made->name = program.name;
  made->line = program.line;
  made->variables = program.variables;
  std::vector<ValueId> renamed(program.numValues(), -1);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    renamed[index(program.parameters[i])] = made->addParameter(parameters[i]);
  for (const RecordedOp &op : program.ops()) {
    std::vector<ValueId> operands;
    for (ValueId operand : program.operandsOf(op))
      operands.push_back(renamed[index(operand)]);
    matchDerivatives(*made, op, program.attributesOf(op), operands);
    const Types types = typesOf(*made, operands);
    const std::vector<Attribute> attributes = attributesFor(op.op, op.line, program.attributesOf(op), types);
    const ValueId first =
        made->append(op.op, operands, attributes, inferredTypes(op.op, op.line, types, attributes), op.line);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      renamed[index(op.firstResult) + r] = first + static_cast<ValueId>(r);
  }
  for (ValueId result : program.results)
    made->results.push_back(renamed[index(result)]);
  return made;
}

} // namespace

RecordingRef retyped(const RecordingRef &program, std::span<const TensorType> parameters) {
  if (std::ranges::equal(typesOf(*program, program->parameters), parameters))
    return program;
  return madeFor(*program, parameters);
}

std::vector<TensorType> retypedResults(OpId op, const SourceLine &line, std::span<const Attribute> attributes,
                                       std::span<const TensorType> operands) {
  return inferredTypes(op, line, operands, attributesFor(op, line, attributes, operands));
}

} // namespace calque::detail
