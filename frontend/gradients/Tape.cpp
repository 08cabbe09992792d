#include "frontend/gradients/Tape.h"

#include "absl/strings/str_cat.h"
#include "calque/transforms.h"
#include "frontend/core/Apply.h"
#include "frontend/gradients/Activity.h"
#include "frontend/gradients/ConnectedSources.h"
#include "frontend/native/Capture.h"
#include "schema/HashTables.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace calque::detail {

using schema::index;
using schema::OpId;
using schema::ValueId;

TapeState::TapeState(GradientTapeOptions options, SourceLocation where)
    : home(threadTapes()), options(options), where(where), trace(currentTrace()) {
  // Allocates all memory first, so that no recorder without a tape is left if memory runs out.
  activeTapes().reserve(activeTapes().size() + 1);
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

void TapeState::release() {
  if (eager && !options.persistent && used)
    eager = std::make_shared<EagerRecorder>();
}

void TapeState::pause() {
  if (pauses == 0)
    unseen.push_back({recording().ops().size(), ~std::size_t(0)});
  ++pauses;
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
  if (!is_inexact(recording().typeOf(value).dtype))
    return;
  for (const Watch &watched : watches)
    if (watched.value == value)
      return;
  if (eager)
    eager->track(value);
  watches.push_back({value, recording().ops().size()});
}

bool TapeState::isWatching(const VariableState &variable) const {
  if (isPaused())
    return false;
  if (options.watch_accessed_variables && variable.trainable)
    return true;
  return std::ranges::any_of(variables, [&](const WatchedVariable &watched) {
    return watched.asked && (watched.variable.get() == &variable || watched.variable == variable.original);
  });
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
  if (!is_inexact(type.dtype))
    throw DTypeError(
        absl::StrCat(operation, ": derivatives are with respect to floating-point numbers, not ", type.str()), where);
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

std::vector<std::size_t> TapeState::seenOps(std::span<const ValueId> targets) {
  std::vector<std::size_t> ops;
  std::span<const schema::RecordedOp> all = recording().ops();
  std::size_t end = recordingNow ? all.size() : endOp, nextUnseen = 0;
  ValueId last = targets.empty() ? -1 : *std::ranges::max_element(targets);
  while (end > firstOp && all[end - 1].firstResult > last)
    --end;
  for (std::size_t i = firstOp; i < end; ++i) {
    while (nextUnseen < unseen.size() && unseen[nextUnseen].second <= i)
      ++nextUnseen;
    if (nextUnseen == unseen.size() || unseen[nextUnseen].first > i)
      ops.push_back(i);
  }
  return ops;
}

TapeState::Plan TapeState::planFor(const std::vector<Tensor> &targets, const std::vector<std::vector<ValueId>> &sources,
                                   const char *operation, SourceLocation where) {
  Plan plan;
  for (const Tensor &target : targets)
    plan.targets.push_back(valueOf(target, where));
  const schema::Recording &recording = this->recording();
  std::vector<std::size_t> ops = seenOps(plan.targets);
  Activity activity(recording);
  std::size_t next = 0; // watches are in the order of `from`
  auto startWatching = [&](std::size_t op) {
    for (; next < watches.size() && watches[next].from <= op; ++next)
      activity.watch(watches[next].value);
  };
  for (std::size_t op : ops) {
    startWatching(op);
    activity.forward(op);
  }
  startWatching(recording.ops().size());
  for (ValueId target : plan.targets)
    activity.target(target);
  for (std::size_t i = ops.size(); i-- > 0;)
    activity.backward(ops[i], operation, where);

  std::vector<bool> isTarget(recording.numValues()), isConnected(recording.numValues());
  for (ValueId target : plan.targets) {
    isTarget[index(target)] = true;
    // A target whose computation the tape did not record is at the tape's boundary too.
    if (!activity.isProduced(target))
      plan.stops.push_back(target);
  }
  plan.stops.insert(plan.stops.end(), activity.boundary().begin(), activity.boundary().end());
  for (const std::vector<ValueId> &values : sources)
    for (ValueId source : values) {
      // A target that is itself a source gets its seed, whether or not it is watched.
      bool connected = (isTarget[index(source)] && is_inexact(recording.typeOf(source).dtype)) ||
                       (activity.isTracked(source) && activity.reaches(source));
      if (connected && !isConnected[index(source)]) {
        plan.connected.push_back(source);
        if (!isTarget[index(source)] && !activity.reachesPlainly(source))
          plan.byDerivatives.push_back(source);
      }
      isConnected[index(source)] = connected;
    }
  // A source at the boundary stays a stop: it receives a cotangent and passes none on. A parameter needs no stop,
  // because no operation computes it. Without such stops, a gradient has the same operands, no matter how often a loop
  // uses values from outside.
  std::erase_if(plan.stops, [&](ValueId value) { return !producerOf(recording, value); });
  std::ranges::sort(plan.stops);
  plan.stops.erase(std::unique(plan.stops.begin(), plan.stops.end()), plan.stops.end());
  return plan;
}

bool TapeState::areConnected(const Plan &plan, const std::vector<std::vector<ValueId>> &sources,
                             const Question &question) const {
  if (!trace->askedSources)
    return false;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (std::ranges::any_of(sources[i], [&](ValueId x) { return std::ranges::count(plan.connected, x) != 0; }) &&
        !trace->askedSources->connected.contains({question, i}))
      return false;
  return true;
}

// Removes the sources that no path connects any more once the derivatives on the way are expanded.
void TapeState::dropUnconnected(Plan &plan) {
  if (plan.byDerivatives.empty())
    return;
  std::vector<ValueId> targets;
  for (ValueId target : plan.targets)
    if (is_inexact(recording().typeOf(target).dtype))
      targets.push_back(target);
  std::vector<bool> isConnected = connectedSources(recording(), targets, plan.byDerivatives, plan.stops);
  HashSet<ValueId> dropped;
  for (std::size_t i = 0; i < isConnected.size(); ++i)
    if (!isConnected[i])
      dropped.insert(plan.byDerivatives[i]);
  std::erase_if(plan.connected, [&](ValueId source) { return dropped.contains(source); });
}

void TapeState::joinPaths(Plan &plan, const std::vector<std::vector<ValueId>> &sources, const Question &question) {
  if (!trace->isOneOfPaths())
    return;
  AskedSources none; // for the run that meets the first decision; other runs replace it
  AskedSources &known = trace->askedSources ? *trace->askedSources : none;
  std::vector<bool> isConnected(recording().numValues()), taken(recording().numValues());
  for (ValueId source : plan.connected)
    isConnected[index(source)] = true;
  plan.connected.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const AskedSources::Key key(question, i);
    known.asked.insert(key);
    if (std::ranges::any_of(sources[i], [&](ValueId value) { return isConnected[index(value)]; }))
      known.connected.insert(key);
    const bool onSomePath = !known.unconnected.contains(key);
    for (ValueId source : sources[i])
      if ((onSomePath || isConnected[index(source)]) && is_inexact(recording().typeOf(source).dtype) &&
          !taken[index(source)]) {
        taken[index(source)] = true;
        plan.connected.push_back(source);
      }
  }
  // A value that the tape has seen, but that does not depend on a source, is at the tape's boundary again in each
  // iteration. Such values are no stops, so that all paths ask for the same gradient.
  std::vector<bool> isSeen(recording().numValues());
  for (std::size_t number : seenOps(plan.targets)) {
    const schema::RecordedOp &op = recording().ops()[number];
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      isSeen[index(op.firstResult) + r] = true;
  }
  if (std::ranges::none_of(plan.stops, [&](ValueId value) { return isSeen[index(value)]; }))
    return;
  const Activity &depending = trace->dependingOn(plan.connected);
  std::erase_if(plan.stops, [&](ValueId value) { return isSeen[index(value)] && !depending.isProduced(value); });
}

void TapeState::settle(Plan &plan, const std::vector<std::vector<ValueId>> &sources, bool zerosWillDo,
                       SourceLocation where) {
  if (!trace)
    return;
  const Question question = trace->decisions ? trace->decisions->questionAt(where) : Question();
  if (!zerosWillDo && !areConnected(plan, sources, question))
    dropUnconnected(plan);
  joinPaths(plan, sources, question);
}

std::vector<std::optional<Tensor>> TapeState::pullBackTraced(const Plan &plan, std::span<const Tensor> seeds,
                                                             SourceLocation where) {
  std::vector<Tensor> operands;
  std::int64_t numTargets = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i)
    if (seeds[i].impl()) {
      operands.push_back(trace->tensorOf(plan.targets[i], where));
      ++numTargets;
    }
  for (const Tensor &seed : seeds)
    if (seed.impl())
      operands.push_back(seed);
  for (const std::vector<ValueId> *values : {&plan.connected, &plan.stops})
    for (ValueId value : *values)
      operands.push_back(trace->tensorOf(value, where));
  schema::Attribute counts = std::vector<std::int64_t>{numTargets, static_cast<std::int64_t>(plan.connected.size()),
                                                       static_cast<std::int64_t>(plan.stops.size())};
  std::vector<Tensor> results = applyAll(OpId::Gradient, operands, {&counts, 1}, where);
  return {results.begin(), results.end()};
}

std::vector<std::optional<Tensor>> TapeState::pullBack(const Plan &plan, std::span<const Tensor> seeds, bool batched,
                                                       SourceLocation where) {
  return trace ? pullBackTraced(plan, seeds, where) : pullBackEager(plan, seeds, batched, where);
}

std::vector<std::optional<Tensor>> TapeState::sumsOf(const Plan &plan, const std::vector<std::vector<ValueId>> &sources,
                                                     std::span<const std::optional<Tensor>> cotangents,
                                                     SourceLocation where) {
  HashMap<ValueId, std::size_t> numbers;
  for (std::size_t i = 0; i < plan.connected.size(); ++i)
    numbers.emplace(plan.connected[i], i);
  std::vector<std::optional<Tensor>> sums;
  for (const std::vector<ValueId> &values : sources) {
    std::optional<Tensor> &sum = sums.emplace_back();
    for (ValueId source : values) {
      auto found = numbers.find(source);
      if (found == numbers.end() || !cotangents[found->second])
        continue;
      Tensor cotangent = *cotangents[found->second];
      if (sum) {
        Tensor operands[] = {*sum, cotangent};
        cotangent = applyAsIs(OpId::Add, operands, {}, where);
      }
      sum = std::move(cotangent);
    }
  }
  return sums;
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
  std::vector<Tensor> seedTensors;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const schema::TensorType &target = *implOf(targets[i], where).type, &seed = *implOf(seeds[i], where).type;
    Tensor fitted =
        pullbackOf
            ? fitting(absl::StrCat(operation, ": cotangent ", i, " is ", seed.str(), " and its result ", target.str()),
                      seeds[i], targets[i], operation, where)
            : fitting(
                  absl::StrCat("gradient: output gradient ", i, " is ", seed.str(), " and its target ", target.str()),
                  seeds[i], targets[i], operation, where);
    seedTensors.push_back(is_inexact(target.dtype) ? std::move(fitted) : Tensor());
  }
  Plan plan = planFor(targets, sources, operation, where);
  settle(plan, sources, zerosWillDo, where);
  if (plan.connected.empty())
    return std::vector<std::optional<Tensor>>(sources.size());
  if (seeds.empty())
    for (const Tensor &target : targets)
      seedTensors.push_back(is_inexact(target.dtype()) ? onesLike(target, where) : Tensor());
  std::vector<std::optional<Tensor>> gradients =
      sumsOf(plan, sources, pullBack(plan, seedTensors, false, where), where);
  // Each gradient is a tensor of its own, even if an eager tape only passes a seed on, or if two sources have the same
  // cotangent.
  HashSet<const TensorImpl *> others;
  for (const Tensor &seed : seedTensors)
    others.insert(seed.impl().get());
  for (std::optional<Tensor> &gradient : gradients) {
    if (gradient && !trace && !others.insert(gradient->impl().get()).second)
      gradient = alias(*gradient, where);
  }
  return gradients;
}

namespace {
// Whether forward mode may not give what reverse mode does: the derivative is the user's, and is one of cotangents; the
// operation must not be done again; or it begins or ends a mapped axis, which tangents would have to follow from
// inside.
bool isForReverse(const schema::Recording &recording, const schema::RecordedOp &op) {
  if (op.op == OpId::CustomGradient || op.op == OpId::Extern || op.op == OpId::OrderedExtern || op.op == OpId::Batch ||
      schema::runsOnce(recording, op))
    return true;
  return std::ranges::any_of(recording.attributesOf(op), [](const schema::Attribute &attribute) {
    const auto *inner = std::get_if<schema::RecordingRef>(&attribute);
    return inner && std::ranges::any_of((*inner)->ops(),
                                        [&](const schema::RecordedOp &each) { return isForReverse(**inner, each); });
  });
}
} // namespace

// Forward mode goes through the program once, for all elements of the source, and keeps nothing.
bool TapeState::isForwardShorter(const Plan &plan, const std::vector<std::vector<ValueId>> &sources) {
  if (!trace || sources.size() != 1 || sources[0].size() != 1)
    return false;
  // Paths that part within the derivative may each see other operations, and would choose other modes.
  if (trace->decisions && !trace->decisions->made().empty() && trace->decisions->made().back().position > firstOp)
    return false;
  // What the tape has not seen passes tangents on, and no cotangents.
  const Activity &depending = trace->dependingOn(sources[0]);
  if (std::ranges::any_of(plan.stops,
                          [&](ValueId stop) { return stop != sources[0][0] && depending.isProduced(stop); }))
    return false;
  const schema::Recording &recording = trace->recording;
  const schema::TensorType &target = recording.typeOf(plan.targets[0]), &source = recording.typeOf(sources[0][0]);
  return source.isStatic() && source.dtype == target.dtype && source.numElements() > 0 &&
         source.numElements() < target.numElements() &&
         std::ranges::none_of(
             seenOps(plan.targets), [&](std::size_t op) { return isForReverse(recording, recording.ops()[op]); });
}

Tensor TapeState::jacobianForward(const Tensor &target, ValueId sourceId, SourceLocation where) {
  const Tensor source = trace->tensorOf(sourceId, where);
  const schema::TensorType type = *implOf(target, where).type, sourceType = *implOf(source, where).type;
  const Tensor basis = basisOf(source, "jacobian", where);
  schema::Attribute axes = std::vector<std::int64_t>{0};
  const Tensor direction = applyAsIs(OpId::Batch, {&basis, 1}, {&axes, 1}, where);
  schema::Attribute counts = std::vector<std::int64_t>{1, 1};
  const Tensor operands[] = {target, source, direction};
  const Tensor change = applyAll(OpId::Jvp, operands, {&counts, 1}, where)[0];
  const Tensor all[] = {change, direction, basis};
  schema::Attribute places[] = {std::vector<std::int64_t>{0}, std::int64_t(0)};
  const Tensor columns = applyAsIs(OpId::Unbatch, all, places, where); // [source, target...]
  // The source's dimensions go last.
  std::vector<std::int64_t> order(type.dims.size() + 1);
  std::iota(order.begin(), order.end(), 1);
  order.back() = 0;
  schema::Attribute attribute = order;
  const Tensor turned = applyAsIs(OpId::Transpose, {&columns, 1}, {&attribute, 1}, where);
  schema::Dims shape = type.dims;
  shape.insert(shape.end(), sourceType.dims.begin(), sourceType.dims.end());
  attribute = shape;
  return applyAsIs(OpId::Reshape, {&turned, 1}, {&attribute, 1}, where);
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
  requireReal(name, type, where);
  for (const std::vector<ValueId> &each : sources)
    for (ValueId source : each)
      requireReal(name, recording().typeOf(source), where);
  if (!is_floating(type.dtype))
    return std::vector<std::optional<Tensor>>(sources.size());
  if (ofExamples && type.rank() == 0)
    throw ShapeError(absl::StrCat(name, ": the target's first dimension runs over the examples; it is ", type.str()),
                     where);
  Plan plan = planFor({target}, sources, name, where);
  settle(plan, sources, false, where);
  if (plan.connected.empty())
    return std::vector<std::optional<Tensor>>(sources.size());
  if (!ofExamples && isForwardShorter(plan, sources))
    return {jacobianForward(target, sources[0][0], where)};

  // There is a seed for each element of the target, or of one example of the target. It is 1 at the element, and 0
  // elsewhere. One batched pass takes all seeds.
  schema::Dims seedShape = type.dims, spread = type.dims;
  std::int64_t elements = type.numElements();
  if (ofExamples) {
    elements = schema::TensorType{type.dtype, schema::Dims(type.dims.begin() + 1, type.dims.end())}.numElements();
    seedShape[0] = 1;
  }
  seedShape.insert(seedShape.begin(), elements);
  spread.insert(spread.begin(), elements);
  auto make = [&](OpId op, std::initializer_list<Tensor> operands,
                  std::initializer_list<schema::Attribute> attributes) {
    return applyAsIs(op, std::span(operands.begin(), operands.size()), std::span(attributes.begin(), attributes.size()),
                     where);
  };
  auto iota = [&](std::int64_t axis) {
    return make(OpId::Iota, {}, {schema::Dims{elements, elements}, DType::Int64, axis});
  };
  Tensor ones = make(OpId::Cast, {make(OpId::Equal, {iota(0), iota(1)}, {})}, {type.dtype});
  Tensor basis = make(OpId::Reshape, {ones}, {seedShape});
  if (ofExamples)
    basis = make(OpId::BroadcastTo, {basis}, {spread});
  Tensor seed = trace ? make(OpId::Batch, {basis}, {std::vector<std::int64_t>{0}}) : basis;
  std::vector<std::optional<Tensor>> cotangents = sumsOf(plan, sources, pullBack(plan, {&seed, 1}, true, where), where);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!cotangents[i])
      continue;
    const schema::TensorType source = recording().typeOf(sources[i][0]);
    if (!source.isStatic())
      throw ShapeError(absl::StrCat(name, ": the source's sizes must be known; it is ", source.str()), where);
    if (ofExamples && (source.rank() == 0 || source.dims[0] != type.dims[0]))
      throw ShapeError(absl::StrCat(name, ": target and source must have one number of examples; they are ", type.str(),
                                    " and ", source.str()),
                       where);
    // The shape is [elements, source], or [examples, elements, source of one example].
    Tensor stacked = *cotangents[i];
    if (trace) {
      stacked =
          make(OpId::Unbatch, {stacked, seed, basis}, {std::vector<std::int64_t>{ofExamples ? 1 : 0}, std::int64_t(0)});
    } else if (ofExamples) {
      std::vector<std::int64_t> order(stacked.impl()->type->dims.size());
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[0], order[1]);
      stacked = make(OpId::Transpose, {stacked}, {order});
    }
    schema::Dims result = type.dims;
    result.insert(result.end(), source.dims.begin() + (ofExamples ? 1 : 0), source.dims.end());
    cotangents[i] = make(OpId::Reshape, {stacked}, {result});
  }
  return cotangents;
}

} // namespace calque::detail
