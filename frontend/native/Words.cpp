#include "frontend/native/Words.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "calque/tensor.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Retyping.h"
#include "frontend/native/Derivatives.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace calque::detail::native {

using schema::ValueId;

namespace {

bool isSame(const char *a, const char *b) { return a == b || (a && b && std::strcmp(a, b) == 0); }

// Whether it is a call of a host function that each run makes its own, or has one inside.
bool callsHost(const Trace &root, const schema::Recording &recording, const schema::RecordedOp &op) {
  if (op.op == schema::OpId::HostCall) {
    const auto number = static_cast<std::size_t>(std::get<std::int64_t>(recording.attributesOf(op)[0]));
    return root.hostFunctions[number]->identity.empty();
  }
  for (const schema::Attribute &attribute : recording.attributesOf(op))
    if (const auto *inner = std::get_if<schema::RecordingRef>(&attribute))
      if (std::ranges::any_of((*inner)->ops(),
                              [&](const schema::RecordedOp &each) { return callsHost(root, **inner, each); }))
        return true;
  return false;
}

std::string_view bytesOf(const TensorImpl &impl) {
  return {static_cast<const char *>(impl.buffer.data()), impl.type->numBytes()};
}
std::size_t contentHash(const TensorImpl &impl) {
  return std::hash<std::string_view>()(bytesOf(impl)) + static_cast<std::size_t>(impl.type->dtype);
}
bool haveSameContent(const TensorImpl &a, const TensorImpl &b) {
  return *a.type == *b.type && bytesOf(a) == bytesOf(b);
}
bool areOfOneLine(const TensorImpl &a, const TensorImpl &b) {
  return a.where.line == b.where.line && a.where.column == b.where.column && isSame(a.where.file, b.where.file);
}

} // namespace

Kind Words::kindOf(const Trace &root, const schema::Recording &recording, const schema::RecordedOp &op,
                   const Decisions &decided, std::size_t place) {
  const bool isUnique = callsHost(root, recording, op);
  const std::string prefix = isUnique ? absl::StrCat(decided, "#", place) : std::string();
  std::vector<Kind> &alike =
      byHash[absl::HashOf(static_cast<int>(op.op), op.line.line, op.line.column, op.numOperands, op.numResults)];
  auto types = [&](std::span<const ValueId> values, std::vector<schema::TensorType> &into) {
    for (ValueId value : values)
      into.push_back(recording.typeOf(value));
  };
  for (Kind kind : alike)
    if (isOf(kinds[kind], recording, op, isUnique ? &prefix : nullptr))
      return kind;
  Operation operation{op.op, {}, {}, {}, op.line, prefix, schema::hasEffect(recording, op)};
  std::span<const schema::Attribute> attributes = recording.attributesOf(op);
  operation.attributes.assign(attributes.begin(), attributes.end());
  types(recording.operandsOf(op), operation.operands);
  for (std::uint32_t r = 0; r < op.numResults; ++r)
    operation.results.push_back(recording.typeOf(op.firstResult + static_cast<ValueId>(r)));
  kinds.push_back(std::move(operation));
  alike.push_back(static_cast<Kind>(kinds.size() - 1));
  return alike.back();
}

Kind Words::constant(const Tensor &x) {
  const TensorImpl &impl = *x.impl();
  std::vector<std::pair<Tensor, Kind>> &ofBuffer = constants[impl.buffer.data()];
  for (const auto &[known, kind] : ofBuffer)
    if (const TensorImpl &other = *known.impl();
        !impl.buffer.isForeign() && *impl.type == *other.type && areOfOneLine(impl, other))
      return kind;
  auto data = std::make_shared<schema::ConstantData>();
  data->type = *impl.type;
  const auto *first = static_cast<const std::byte *>(impl.buffer.data());
  data->bytes.assign(first, first + impl.type->numBytes());
  schema::Recording recording;
  schema::Attribute attribute = schema::ConstantRef(std::move(data));
  recording.append(schema::OpId::Constant, {}, {&attribute, 1}, {impl.type.get(), 1}, lineOf(impl.where));
  const Kind kind = kindOf(currentTrace()->root(), recording, recording.ops()[0], {}, 0);
  if (!impl.buffer.isForeign())
    ofBuffer.emplace_back(x, kind);
  return kind;
}

Kind Words::endOf(const std::string &text) {
  auto [found, isNew] = ends.try_emplace(text, static_cast<Kind>(ends.size()));
  if (isNew)
    endTexts.push_back(text);
  return found->second;
}

Value Words::outsideOf(const Tensor &x, bool isFresh) {
  const TensorImpl &impl = *x.impl();
  auto add = [&](bool isConstant) {
    tensors.push_back({x, isConstant});
    return -static_cast<Value>(tensors.size());
  };
  if (impl.trace) {
    auto [found, isNew] = byValue.try_emplace(std::pair(impl.trace, impl.value), 0);
    if (isNew)
      found->second = add(false);
    return found->second;
  }
  if (auto found = byId.find(impl.id); found != byId.end())
    return found->second;
  if (!isFresh)
    return byId[impl.id] = add(false);
  // Runs share buffers of equal elements, so that one look at them will do. A buffer stays as long as a tensor of it.
  auto implOfKnown = [&](Value value) -> const TensorImpl & {
    return *tensors[static_cast<std::size_t>(-1 - value)].tensor.impl();
  };
  absl::InlinedVector<Value, 1> &ofBuffer = byBuffer[impl.buffer.data()];
  for (Value known : ofBuffer)
    if (!impl.buffer.isForeign() && *impl.type == *implOfKnown(known).type && areOfOneLine(impl, implOfKnown(known)))
      return known;
  const std::size_t hash = contentHash(impl);
  auto [first, last] = byContent.equal_range(hash);
  for (; first != last; ++first)
    if (haveSameContent(impl, implOfKnown(first->second)) && areOfOneLine(impl, implOfKnown(first->second)))
      return first->second;
  Value value = add(true);
  ofBuffer.push_back(value);
  byContent.emplace(hash, value);
  return value;
}

CounterWords Words::counters(SourceLocation where) {
  const schema::TensorType number{DType::Int64, {}}, truth{DType::Bool, {}};
  auto add = [&](schema::OpId op, const schema::TensorType &result) {
    kinds.push_back({op, {}, {number, number}, {result}, lineOf(where), {}, false});
    return static_cast<Kind>(kinds.size() - 1);
  };
  CounterWords counter;
  counter.add = add(schema::OpId::Add, number);
  counter.equal = add(schema::OpId::Equal, truth);
  counter.constant = [this, where](std::int64_t n) {
    return outsideOf(makeScalar(Number(n), DType::Int64, where), true);
  };
  counter.numResults = [this](Kind kind) { return kinds[kind].results.size(); };
  return counter;
}

std::vector<Tensor> Words::apply(Kind step, const std::vector<Tensor> &operands) const {
  const Operation &operation = kinds[step];
  Trace &trace = *currentTrace();
  const SourceLocation where = locationOf(operation.line);
  std::vector<ValueId> values;
  std::vector<schema::TensorType> types;
  for (const Tensor &operand : operands) {
    values.push_back(trace.valueOf(operand, where));
    types.push_back(*implOf(operand).type);
  }
  if (operation.op == schema::OpId::Gradient || operation.op == schema::OpId::Jvp)
    requireWhole(operation, trace, values);
  if (operation.op == schema::OpId::Unbatch)
    requireBegun(operation, trace, values);
  std::vector<schema::TensorType> results = operation.results;
  if (types != operation.operands) {
    schema::Inference inference = schema::inferTypes(operation.op, types, operation.attributes);
    if (inference.fault)
      throwFault(inference.fault, where);
    results = std::move(inference.types);
  }
  ValueId first = trace.recording.append(operation.op, values, operation.attributes, results, operation.line);
  std::vector<Tensor> made;
  for (std::size_t i = 0; i < results.size(); ++i)
    made.push_back(trace.tensorOf(first + static_cast<ValueId>(i), where));
  return made;
}

const schema::TensorType *Words::typeOf(Kind step, std::size_t result) const {
  const std::vector<schema::TensorType> &results = kinds[step].results;
  return result < results.size() ? &results[result] : nullptr;
}

std::vector<schema::TensorType> Words::resultsFor(Kind step, std::span<const schema::TensorType> operands) const {
  try {
    return retypedResults(kinds[step].op, kinds[step].line, kinds[step].attributes, operands);
  } catch (const Error &) {
    return {};
  }
}

Tensor Words::outside(Value value) const {
  const auto &[tensor, isConstant] = tensors[static_cast<std::size_t>(-1 - value)];
  // A tensor that nothing else holds becomes a constant.
  const TensorImpl &impl = *tensor.impl();
  return isConstant ? makeEager(impl.type, impl.buffer, impl.where) : tensor;
}

const schema::TensorType &Words::typeOfOutside(Value value) const {
  return *tensors[static_cast<std::size_t>(-1 - value)].tensor.impl()->type;
}

std::string Words::nameOf(Kind step) const { return std::string(nameInMessages(kinds[step].op, kinds[step].line)); }

std::string Words::differenceOf(Kind one, Kind other) const {
  const Operation &a = kinds[one], &b = kinds[other];
  if (a.op != b.op || a.line.line != b.line.line || a.line.column != b.line.column)
    return "";
  if (a.operands.size() != b.operands.size())
    return absl::StrCat("takes ", a.operands.size(), " tensors and then ", b.operands.size(), kGrows);
  for (const auto &[before, after] : {std::pair(&a.operands, &b.operands), std::pair(&a.results, &b.results)})
    for (std::size_t i = 0; i < std::min(before->size(), after->size()); ++i)
      if ((*before)[i] != (*after)[i])
        return absl::StrCat("has ", (*before)[i].str(), " and then ", (*after)[i].str(),
                            ": the shapes and types of a loop's variables stay what they are; while_loop() takes "
                            "shape_invariants, and a TensorArray keeps what each iteration gives");
  return "has another C++ number as an argument each time: take a tensor that the loop changes, as gather() does for "
         "an index";
}

std::string Words::numberOf(Value value) const {
  if (value >= 0)
    return "";
  const auto &[tensor, isConstant] = tensors[static_cast<std::size_t>(-1 - value)];
  const TensorImpl &impl = *tensor.impl();
  if (impl.trace || impl.type->numElements() != 1)
    return "";
  std::ostringstream text;
  text << tensor;
  return text.str();
}

void Words::requireBegun(const Operation &operation, const Trace &trace, std::span<const ValueId> operands) {
  const ValueId example = operands[operands.size() - 2];
  const bool hasBegun = std::ranges::any_of(trace.recording.ops(), [&](const schema::RecordedOp &op) {
    return op.op == schema::OpId::Batch && op.firstResult <= example &&
           schema::index(example) < schema::index(op.firstResult) + op.numResults;
  });
  if (!hasBegun)
    throw NotCaptured{"a vmap begins outside of a branch or a loop and ends inside of it, or the other way round",
                      operation.line};
}

void Words::requireWhole(const Operation &operation, const Trace &trace, std::span<const ValueId> operands) const {
  const auto &counts = std::get<std::vector<std::int64_t>>(operation.attributes[0]);
  const auto numTargets = static_cast<std::size_t>(counts[0]), numSources = static_cast<std::size_t>(counts[1]);
  // A gradient has a seed for each target before the sources, and the ends of its tape behind them.
  const bool isGradient = operation.op == schema::OpId::Gradient;
  const std::size_t first = isGradient ? 2 * numTargets : numTargets;
  const schema::Recording &recording = trace.recording;
  const std::span<const ValueId> all = operands.subspan(first, numSources),
                                 ends = isGradient ? operands.subspan(first + numSources) : all;
  if (passesOver(recording, operands.first(numTargets), all, ends))
    throw NotCaptured{"a derivative is asked for behind a branch or a loop that has begun it: its source, or where its "
                      "tape begins, is in there, as is what was computed from that",
                      operation.line};
  std::vector<std::size_t> parameterOf(recording.numValues(), ~std::size_t(0));
  for (std::size_t i = 0; i < recording.parameters.size(); ++i)
    parameterOf[schema::index(recording.parameters[i])] = i;
  std::vector<std::size_t> sources; // that are parameters
  for (ValueId source : operands.subspan(first, numSources))
    if (std::size_t i = parameterOf[schema::index(source)]; i != ~std::size_t(0))
      sources.push_back(i);
  if (!trace.isInside() || sources.empty())
    return;
  std::vector<bool> isNeeded(recording.numValues()), isEnd(recording.numValues());
  for (ValueId end : isGradient ? operands.subspan(first) : operands.subspan(first, numSources))
    isEnd[schema::index(end)] = true;
  auto need = [&](ValueId value) {
    if (!isEnd[schema::index(value)] && is_inexact(recording.typeOf(value).dtype))
      isNeeded[schema::index(value)] = true;
  };
  std::ranges::for_each(operands.first(numTargets), need);
  for (std::size_t i = recording.ops().size(); i-- > 0;) {
    const schema::RecordedOp &op = recording.ops()[i];
    bool isAsked = false;
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      isAsked = isAsked || isNeeded[schema::index(op.firstResult) + r];
    if (isAsked)
      std::ranges::for_each(recording.operandsOf(op), need);
  }
  for (std::size_t i = 0; i < recording.parameters.size(); ++i)
    if (isNeeded[schema::index(recording.parameters[i])])
      for (std::size_t source : sources)
        if (mayDepend(trace, i, source))
          throw NotCaptured{"a derivative is asked for inside of a branch or a loop, with respect to what comes from "
                            "before it, and through what was computed before it",
                            operation.line};
}

bool Words::mayDepend(const Trace &trace, std::size_t parameter, std::size_t source) const {
  if (parameter < trace.numArguments)
    return true; // a loop variable
  const TensorImpl &x = *trace.captures[parameter - trace.numArguments].impl();
  if (!x.trace || byValue.contains(std::pair(x.trace, x.value)))
    return false;
  if (source < trace.numArguments)
    return true;
  const TensorImpl &y = *trace.captures[source - trace.numArguments].impl();
  const Trace *around = trace.around(x.trace);
  if (!around || x.trace != y.trace)
    return true;
  if (dependents(around->recording, y.value)[schema::index(x.value)])
    return true;
  const OtherNames names = otherNames(around->recording, y.value);
  for (const std::vector<ValueId> *others : {&names.equal, &names.computed})
    for (ValueId other : *others)
      if (dependents(around->recording, other)[schema::index(x.value)])
        return true;
  // Both may come from farther around.
  const std::vector<ValueId> &parameters = around->recording.parameters;
  for (std::size_t q = 0; q < parameters.size(); ++q)
    for (std::size_t p = 0; parameters[q] == y.value && p < parameters.size(); ++p)
      if (p != q && dependents(around->recording, parameters[p])[schema::index(x.value)] && mayDepend(*around, p, q))
        return true;
  return false;
}

bool Words::isOf(const Operation &known, const schema::Recording &recording, const schema::RecordedOp &op,
                 const Decisions *prefix) {
  if (known.op != op.op || known.line.line != op.line.line || known.line.column != op.line.column ||
      !isSame(known.line.file, op.line.file) || !isSame(known.line.function, op.line.function) ||
      !isSame(known.line.index, op.line.index) || known.results.size() != op.numResults)
    return false;
  std::span<const ValueId> operands = recording.operandsOf(op);
  auto hasType = [&](const schema::TensorType &type, ValueId value) { return recording.typeOf(value) == type; };
  if (!std::equal(known.operands.begin(), known.operands.end(), operands.begin(), operands.end(), hasType))
    return false;
  for (std::uint32_t r = 0; r < op.numResults; ++r)
    if (!hasType(known.results[r], op.firstResult + static_cast<ValueId>(r)))
      return false;
  if (prefix)
    return known.prefix == *prefix;
  return std::ranges::equal(known.attributes, recording.attributesOf(op),
                            [](const auto &a, const auto &b) { return schema::equal(a, b); });
}

} // namespace calque::detail::native
