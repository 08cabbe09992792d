#include "frontend/Tape.h"

#include "absl/strings/str_cat.h"
#include "frontend/Apply.h"
#include "frontend/CodeByStructure.h"

#include <array>
#include <cstring>
#include <numeric>

namespace calque::detail {

using schema::OpId;
using schema::ValueId;

namespace {
std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }

// The name of an operation in messages; the name of a user's operation is its symbol.
std::string nameOf(const schema::Recording &recording, const schema::RecordedOp &op) {
  return op.op == OpId::Extern ? std::get<std::string>(recording.attributesOf(op)[0])
                               : std::string(schema::schemaOf(op.op).mnemonic);
}
} // namespace

TapeState::TapeState(GradientTapeOptions options, SourceLocation where)
    : home(threadTapes()), options(options), where(where), trace(currentTrace()) {
  if (!trace) {
    if (!eagerRecorder())
      eagerRecorder() = std::make_shared<EagerRecorder>();
    eager = eagerRecorder();
  }
  firstOp = recording().ops().size();
  activeTapes().push_back(this);
}

TapeState::~TapeState() { stop(); }

void TapeState::stop() {
  if (!recordingNow)
    return;
  recordingNow = false;
  endOp = recording().ops().size();
  std::vector<TapeState *> &tapes = home->recording;
  std::erase(tapes, this);
  if (eager && eager == home->eager &&
      std::none_of(tapes.begin(), tapes.end(), [](TapeState *tape) { return tape->eager; }))
    home->eager = nullptr;
}

void TapeState::pause() {
  if (pauses++ == 0)
    unseen.push_back({recording().ops().size(), ~std::size_t(0)});
}

void TapeState::resume() {
  if (--pauses == 0)
    unseen.back().second = recording().ops().size();
}

void TapeState::reset() {
  firstOp = recording().ops().size();
  watches.clear();
  variables.clear();
  used = false;
  unseen.clear();
  if (isPaused())
    unseen.push_back({firstOp, ~std::size_t(0)});
}

void TapeState::watch(ValueId value) {
  if (!is_floating(recording().typeOf(value).dtype))
    return;
  for (const Watch &watched : watches)
    if (watched.value == value)
      return;
  watches.push_back({value, recording().ops().size()});
  if (eager)
    eager->track(value);
}

void TapeState::noteRead(const std::shared_ptr<VariableState> &variable, ValueId value) {
  auto found = std::find_if(variables.begin(), variables.end(),
                            [&](const WatchedVariable &watched) { return watched.variable == variable; });
  bool automatic = options.watch_accessed_variables && variable->trainable;
  if (found == variables.end()) {
    if (!automatic)
      return;
    found = variables.insert(found, {variable, {}, false});
  } else if (!automatic && !found->asked) {
    return;
  }
  if (std::find(found->values.begin(), found->values.end(), value) == found->values.end())
    found->values.push_back(value);
  watch(value);
}

void requireFloatingType(const char *operation, const schema::TensorType &type, SourceLocation where) {
  if (!is_floating(type.dtype))
    throw DTypeError(absl::StrCat(operation, ": derivatives are with respect to float32 and float64, not ", type.str()),
                     where);
}

void TapeState::checkUse(bool isPullback, SourceLocation where) {
  if (used && !options.persistent)
    throw StateError(absl::StrCat("a tape serves one gradient() unless it is persistent; this one, made at ",
                                  lineOf(this->where).str(), ", has served it"),
                     where);
  if (trace ? trace == currentTrace() : !currentTrace())
    return;
  if (isPullback)
    throw StateError(trace ? "a pullback of a trace is called outside of the trace"
                           : "a pullback from outside of a trace is called inside",
                     where);
  throw StateError(trace ? "a tape of a trace is asked outside of the trace"
                         : "a tape from outside of a trace is asked inside",
                   where);
}

// Finds the values that depend on a watched one and those that a target depends on, in the ranges that the tape
// recorded. The captures of a custom gradient affect the derivatives of its results, but not the results.
TapeState::Activity TapeState::activityOf(std::span<const ValueId> targets, std::span<const ValueId> sources,
                                          const char *operation, SourceLocation where) {
  schema::Recording &recording = this->recording();
  std::span<const schema::RecordedOp> ops = recording.ops();
  std::size_t end = recordingNow ? ops.size() : endOp;
  Activity activity;
  activity.tracked.resize(recording.numValues());
  activity.reaches.resize(recording.numValues());
  std::vector<bool> seen(ops.size()), produced(recording.numValues());
  std::vector<bool> derivativesTracked(recording.numValues()), derivativesReach(recording.numValues());

  std::size_t next = 0; // watches are in the order of `from`
  auto startWatching = [&](std::size_t op) {
    for (; next < watches.size() && watches[next].from <= op; ++next)
      activity.tracked[index(watches[next].value)] = true;
  };
  std::size_t nextUnseen = 0;
  for (std::size_t i = firstOp; i < end; ++i) {
    startWatching(i);
    while (nextUnseen < unseen.size() && unseen[nextUnseen].second <= i)
      ++nextUnseen;
    if (nextUnseen < unseen.size() && unseen[nextUnseen].first <= i)
      continue;
    const schema::OperationSchema &schema = schema::schemaOf(ops[i].op);
    if (!schema.differentiable && !schema.lacksGradient)
      continue;
    bool tracked = false, derivatives = false;
    for (ValueId operand : recording.gradientOperandsOf(ops[i])) {
      tracked = tracked || activity.tracked[index(operand)];
      derivatives = derivatives || derivativesTracked[index(operand)];
    }
    for (ValueId capture : recording.capturesOf(ops[i]))
      derivatives = derivatives || activity.tracked[index(capture)] || derivativesTracked[index(capture)];
    tracked = tracked || (schema.differentiates && derivatives);
    seen[i] = tracked || derivatives;
    if (seen[i])
      for (std::uint32_t r = 0; r < ops[i].numResults; ++r) {
        std::size_t result = index(ops[i].firstResult) + r;
        bool isFloating = is_floating(recording.typeOf(static_cast<ValueId>(result)).dtype);
        produced[result] = true;
        activity.tracked[result] = tracked && isFloating;
        derivativesTracked[result] = derivatives && isFloating;
      }
  }
  startWatching(ops.size());

  for (ValueId target : targets)
    activity.reaches[index(target)] = is_floating(recording.typeOf(target).dtype);
  std::vector<bool> isStop(recording.numValues());
  for (std::size_t i = end; i-- > firstOp;) {
    bool reaches = false, derivatives = false;
    for (std::uint32_t r = 0; r < ops[i].numResults; ++r) {
      reaches |= activity.reaches[index(ops[i].firstResult) + r];
      derivatives |= derivativesReach[index(ops[i].firstResult) + r];
    }
    if (!seen[i] || !reaches)
      continue;
    derivatives |= schema::schemaOf(ops[i].op).differentiates;
    activity.ofDerivatives |= derivatives;
    if (schema::schemaOf(ops[i].op).lacksGradient)
      throw LookupError(absl::StrCat(operation, ": operation '", nameOf(recording, ops[i]), "' at ", ops[i].line.str(),
                                     " has no gradient registered"),
                        where);
    auto reach = [&](ValueId operand) {
      if (!is_floating(recording.typeOf(operand).dtype))
        return;
      activity.reaches[index(operand)] = true;
      derivativesReach[index(operand)] = derivativesReach[index(operand)] || derivatives;
      isStop[index(operand)] = !produced[index(operand)];
    };
    for (ValueId operand : recording.gradientOperandsOf(ops[i]))
      reach(operand);
    if (derivatives)
      for (ValueId capture : recording.capturesOf(ops[i]))
        reach(capture);
  }
  // A target whose computation the tape did not record is at its boundary too.
  for (ValueId target : targets)
    if (!produced[index(target)])
      isStop[index(target)] = true;
  // A source at the boundary stays a stop: it receives a cotangent and passes none on. A parameter has no operation
  // before it and needs no stop.
  for (ValueId parameter : recording.parameters)
    if (std::find(sources.begin(), sources.end(), parameter) != sources.end())
      isStop[index(parameter)] = false;
  for (std::size_t value = 0; value < isStop.size(); ++value)
    if (isStop[value])
      activity.stops.push_back(static_cast<ValueId>(value));
  return activity;
}

ValueId TapeState::append(OpId op, std::span<const ValueId> operands, std::span<const schema::Attribute> attributes,
                          SourceLocation where) {
  std::vector<schema::TensorType> types;
  for (ValueId operand : operands)
    types.push_back(recording().typeOf(operand));
  schema::Inference inference = schema::inferTypes(op, types, attributes, nameInMessages(op));
  if (inference.fault)
    throwFault(inference.fault, where);
  return append(op, operands, attributes, inference.types, where);
}

ValueId TapeState::append(OpId op, std::span<const ValueId> operands, std::span<const schema::Attribute> attributes,
                          std::span<const schema::TensorType> types, SourceLocation where) {
  ValueId first = recording().append(op, operands, attributes, types, recordedLine(where));
  if (eager && schema::schemaOf(op).differentiable)
    for (std::size_t i = 0; i < types.size(); ++i)
      eager->track(first + static_cast<ValueId>(i));
  return first;
}

TapeState::Plan TapeState::planFor(const std::vector<Tensor> &targets, const std::vector<std::vector<ValueId>> &sources,
                                   const char *operation, SourceLocation where) {
  Plan plan;
  std::vector<ValueId> allSources;
  for (const Tensor &target : targets)
    plan.targets.push_back(valueOf(target, where));
  for (const std::vector<ValueId> &values : sources)
    allSources.insert(allSources.end(), values.begin(), values.end());
  Activity activity = activityOf(plan.targets, allSources, operation, where);
  auto isAmong = [](const std::vector<ValueId> &values, ValueId value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  for (ValueId source : allSources) {
    // A target that is itself a source gets its seed, watched or not.
    bool isTarget = isAmong(plan.targets, source) && is_floating(recording().typeOf(source).dtype);
    if ((isTarget || (activity.tracked[index(source)] && activity.reaches[index(source)])) &&
        !isAmong(plan.connected, source))
      plan.connected.push_back(source);
  }
  plan.stops = std::move(activity.stops);
  plan.ofDerivatives = activity.ofDerivatives;
  return plan;
}

// Leaves out the sources from which no path is left once the derivatives on the way are expanded.
void TapeState::dropUnconnected(Plan &plan) {
  if (!plan.ofDerivatives || plan.connected.empty())
    return;
  std::vector<ValueId> values;
  for (ValueId target : plan.targets)
    if (is_floating(recording().typeOf(target).dtype))
      values.push_back(target);
  std::size_t numTargets = values.size();
  values.insert(values.end(), plan.connected.begin(), plan.connected.end());
  values.insert(values.end(), plan.stops.begin(), plan.stops.end());
  Slice slice = sliceOf(recording(), values);
  std::vector<ValueId> &results = slice.recording.results;
  // Paths do not depend on seeds: the targets are their own.
  std::vector<ValueId> operands(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(numTargets));
  operands.insert(operands.end(), results.begin(), results.end());
  schema::Attribute counts =
      std::vector<std::int64_t>{static_cast<std::int64_t>(numTargets), static_cast<std::int64_t>(plan.connected.size()),
                                static_cast<std::int64_t>(plan.stops.size())};
  std::vector<schema::TensorType> types;
  for (ValueId source : plan.connected)
    types.push_back(recording().typeOf(source));
  ValueId first = slice.recording.append(OpId::Gradient, operands, {&counts, 1}, types, {});
  results.resize(types.size());
  std::iota(results.begin(), results.end(), first);
  std::vector<bool> isConnected = connectedResults(slice.recording);
  std::vector<ValueId> left;
  for (std::size_t i = 0; i < plan.connected.size(); ++i)
    if (isConnected[i])
      left.push_back(plan.connected[i]);
  plan.connected = std::move(left);
}

// The cotangents of the sources, or -1 for those without one. A source that was read several times gets the sum.
std::vector<ValueId> TapeState::cotangentsOf(const Plan &plan, const std::vector<std::vector<ValueId>> &sources,
                                             std::span<const ValueId> seeds, SourceLocation where) {
  std::vector<ValueId> operands;
  std::int64_t numTargets = 0;
  auto isSeeded = [&](std::size_t i) { return is_floating(recording().typeOf(plan.targets[i]).dtype); };
  for (std::size_t i = 0; i < plan.targets.size(); ++i)
    if (isSeeded(i)) {
      operands.push_back(plan.targets[i]);
      ++numTargets;
    }
  for (std::size_t i = 0; i < plan.targets.size(); ++i)
    if (isSeeded(i))
      operands.push_back(seeds[i]);
  operands.insert(operands.end(), plan.connected.begin(), plan.connected.end());
  operands.insert(operands.end(), plan.stops.begin(), plan.stops.end());
  schema::Attribute counts = std::vector<std::int64_t>{numTargets, static_cast<std::int64_t>(plan.connected.size()),
                                                       static_cast<std::int64_t>(plan.stops.size())};
  std::vector<schema::TensorType> types;
  for (ValueId source : plan.connected)
    types.push_back(recording().typeOf(source));
  ValueId first = append(OpId::Gradient, operands, {&counts, 1}, types, where);

  std::vector<ValueId> cotangents;
  for (const std::vector<ValueId> &values : sources) {
    ValueId sum = -1;
    for (ValueId source : values) {
      auto found = std::find(plan.connected.begin(), plan.connected.end(), source);
      if (found == plan.connected.end())
        continue;
      ValueId value = first + static_cast<ValueId>(found - plan.connected.begin());
      if (sum >= 0) {
        std::array<ValueId, 2> pair{sum, value};
        value = append(OpId::Add, pair, {}, where);
      }
      sum = value;
    }
    cotangents.push_back(sum);
  }
  return cotangents;
}

// The tensors of values: traced ones, or eager ones that are computed now.
std::vector<std::optional<Tensor>> TapeState::deliver(std::span<const ValueId> values, SourceLocation where) {
  std::vector<std::optional<Tensor>> tensors(values.size());
  std::vector<ValueId> present;
  for (ValueId value : values)
    if (value >= 0)
      present.push_back(value);
  std::vector<Tensor> computed;
  if (!trace)
    computed = runSlice(sliceOf(eager->recording, present), eager->leaves, where);
  std::size_t next = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0)
      continue;
    if (!trace)
      eager->values.emplace(computed[next].impl()->id, values[i]);
    tensors[i] = trace ? trace->tensorOf(values[i], where) : std::move(computed[next++]);
  }
  return tensors;
}

std::vector<std::optional<Tensor>> TapeState::gradient(const std::vector<Tensor> &targets,
                                                       const std::vector<std::vector<ValueId>> &sources,
                                                       const std::vector<Tensor> &seeds, const char *pullbackOf,
                                                       SourceLocation where, bool zerosWillDo) {
  const char *operation = pullbackOf ? pullbackOf : "gradient";
  if (pullbackOf && seeds.size() != targets.size())
    throw ValueError(absl::StrCat(operation, ": the pullback is given ", schema::counted(seeds.size(), "cotangent"),
                                  " for ", schema::counted(targets.size(), "result")),
                     where);
  if (!seeds.empty() && seeds.size() != targets.size())
    throw ValueError(absl::StrCat("gradient: output_gradients has ", schema::counted(seeds.size(), "tensor"),
                                  ", and the gradient is of ", schema::counted(targets.size(), "target")),
                     where);
  std::vector<ValueId> seedValues;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const schema::TensorType &target = *implOf(targets[i], where).type, &seed = *implOf(seeds[i], where).type;
    Tensor fitted =
        pullbackOf
            ? fitting(absl::StrCat(operation, ": cotangent ", i, " is ", seed.str(), " and its result ", target.str()),
                      seeds[i], targets[i], operation, where)
            : fitting(
                  absl::StrCat("gradient: output gradient ", i, " is ", seed.str(), " and its target ", target.str()),
                  seeds[i], targets[i], operation, where);
    seedValues.push_back(valueOf(fitted, where));
  }
  Plan plan = planFor(targets, sources, operation, where);
  if (!zerosWillDo)
    dropUnconnected(plan);
  if (plan.connected.empty())
    return std::vector<std::optional<Tensor>>(sources.size());
  if (seeds.empty())
    for (const Tensor &target : targets)
      seedValues.push_back(is_floating(target.dtype()) ? onesLike(plan.targets[seedValues.size()], where) : -1);
  return deliver(cotangentsOf(plan, sources, seedValues, where), where);
}

ValueId TapeState::onesLike(ValueId value, SourceLocation where) {
  auto constant = std::make_shared<schema::ConstantData>();
  const schema::TensorType type = recording().typeOf(value);
  constant->type = {type.dtype, type.isStatic() ? type.dims : schema::Dims()};
  constant->splat = true;
  constant->bytes.resize(size_of(constant->type.dtype));
  dispatch(constant->type.dtype, [&]<typename T>(std::type_identity<T>) {
    const T one = 1;
    std::memcpy(constant->bytes.data(), &one, sizeof(one));
  });
  schema::Attribute attribute = schema::ConstantRef(std::move(constant));
  std::array<ValueId, 2> operands{append(OpId::Constant, {}, {&attribute, 1}, where), value};
  return type.isStatic() ? operands[0] : append(OpId::BroadcastLike, operands, {}, where);
}

std::vector<std::optional<Tensor>> TapeState::jacobian(const Tensor &target,
                                                       const std::vector<std::vector<ValueId>> &sources,
                                                       bool ofExamples, SourceLocation where) {
  const char *name = ofExamples ? "batch_jacobian" : "jacobian";
  const schema::TensorType type = *implOf(target, where).type;
  if (!type.isStatic())
    throw ShapeError(absl::StrCat(name, ": the target's sizes must be known; it is ", type.str(),
                                  ofExamples ? "; vmap(jacobian(f)) leaves the number of examples open" : ""),
                     where);
  if (!is_floating(type.dtype))
    return std::vector<std::optional<Tensor>>(sources.size());
  if (ofExamples && type.rank() == 0)
    throw ShapeError(absl::StrCat(name, ": the target's first dimension runs over the examples; it is ", type.str()),
                     where);
  Plan plan = planFor({target}, sources, name, where);
  dropUnconnected(plan);
  if (plan.connected.empty())
    return std::vector<std::optional<Tensor>>(sources.size());

  // One seed for each element of the target, or of one example of it: 1 there, 0 elsewhere. One batched pass takes all.
  schema::Dims seedShape = type.dims, spread = type.dims;
  std::int64_t elements = type.numElements();
  if (ofExamples) {
    elements = schema::TensorType{type.dtype, schema::Dims(type.dims.begin() + 1, type.dims.end())}.numElements();
    seedShape[0] = 1;
  }
  seedShape.insert(seedShape.begin(), elements);
  spread.insert(spread.begin(), elements);
  auto iota = [&](std::int64_t axis) {
    schema::Attribute attributes[] = {schema::Dims{elements, elements}, DType::Int64, axis};
    return append(OpId::Iota, {}, attributes, where);
  };
  std::array<ValueId, 2> indices{iota(0), iota(1)};
  ValueId isOne = append(OpId::Equal, indices, {}, where);
  schema::Attribute dtype = type.dtype, shape = seedShape, spreadShape = spread, axes = std::vector<std::int64_t>{0};
  ValueId ones = append(OpId::Cast, {&isOne, 1}, {&dtype, 1}, where);
  ValueId basis = append(OpId::Reshape, {&ones, 1}, {&shape, 1}, where);
  if (ofExamples)
    basis = append(OpId::BroadcastTo, {&basis, 1}, {&spreadShape, 1}, where);
  ValueId seed = append(OpId::Batch, {&basis, 1}, {&axes, 1}, where);
  std::vector<ValueId> cotangents = cotangentsOf(plan, sources, {&seed, 1}, where);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (cotangents[i] < 0)
      continue;
    const schema::TensorType source = recording().typeOf(sources[i][0]);
    if (!source.isStatic())
      throw ShapeError(absl::StrCat(name, ": the source's sizes must be known; it is ", source.str()), where);
    if (ofExamples && (source.rank() == 0 || source.dims[0] != type.dims[0]))
      throw ShapeError(absl::StrCat(name, ": target and source must have one number of examples; they are ", type.str(),
                                    " and ", source.str()),
                       where);
    // Shaped [elements, source], or [examples, elements, source of one example].
    std::array<ValueId, 3> operands{cotangents[i], seed, basis};
    schema::Attribute attributes[] = {std::vector<std::int64_t>{ofExamples ? 1 : 0}, std::int64_t(0)};
    ValueId stacked = append(OpId::Unbatch, operands, attributes, where);
    schema::Dims result = type.dims;
    result.insert(result.end(), source.dims.begin() + (ofExamples ? 1 : 0), source.dims.end());
    schema::Attribute resultShape = result;
    cotangents[i] = append(OpId::Reshape, {&stacked, 1}, {&resultShape, 1}, where);
  }
  return deliver(cotangents, where);
}

} // namespace calque::detail
