#include "frontend/Tape.h"

#include "calque/warnings.h"
#include "frontend/Apply.h"
#include "frontend/Execute.h"

#include <array>

namespace calque {
namespace detail {

using schema::OpId;
using schema::ValueId;

namespace {
thread_local std::vector<TapeState *> tapes; // active, the innermost last
thread_local std::shared_ptr<EagerRecorder> eagerRecorder; // while an eager tape is active

std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }
} // namespace

//===-- Eager recording -------------------------------------------------------------------------===//

ValueId EagerRecorder::valueOf(const Tensor &x) {
  const TensorImpl &impl = implOf(x);
  auto found = values.find(impl.id);
  if (found != values.end())
    return found->second;
  ValueId value = recording.addParameter(*impl.type);
  leaves.push_back(x);
  values.emplace(impl.id, value);
  return value;
}

void EagerRecorder::track(ValueId value) {
  if (tracked.size() <= index(value))
    tracked.resize(index(value) + 1);
  tracked[index(value)] = true;
}

bool EagerRecorder::isTracked(const Tensor &x) const {
  auto found = values.find(implOf(x).id);
  return found != values.end() && index(found->second) < tracked.size() && tracked[index(found->second)];
}

bool eagerTapesActive() { return eagerRecorder != nullptr; }

void recordEager(OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 std::span<const Tensor> results, SourceLocation where) {
  EagerRecorder &recorder = *eagerRecorder;
  bool any = false;
  for (const Tensor &operand : operands)
    any |= recorder.isTracked(operand);
  // What has no gradient is a leaf for what comes after it.
  if (!any || !schema::schemaOf(op).differentiable)
    return;
  std::vector<ValueId> values;
  for (const Tensor &operand : operands)
    values.push_back(recorder.valueOf(operand));
  std::vector<schema::TensorType> types;
  for (const Tensor &result : results)
    types.push_back(*implOf(result).type);
  ValueId first = recorder.recording.append(op, values, attributes, types, lineOf(where));
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueId value = first + static_cast<ValueId>(i);
    recorder.values.emplace(results[i].impl()->id, value);
    if (is_floating(types[i].dtype))
      recorder.track(value);
  }
}

void recordCall(const schema::Recording &called, std::span<const Tensor *const> parameters,
                std::span<const std::shared_ptr<VariableState>> variables, std::span<const Tensor> before,
                std::span<const Tensor> results) {
  EagerRecorder &recorder = *eagerRecorder;
  for (std::size_t i = 0; i < variables.size(); ++i)
    noteVariableRead(variables[i], before[i]);
  bool any = false;
  for (const Tensor *parameter : parameters)
    any |= recorder.isTracked(*parameter);
  for (const Tensor &value : before)
    any |= recorder.isTracked(value);
  if (!any)
    return;

  std::vector<ValueId> renamed(called.numValues(), -1);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    renamed[index(called.parameters[i])] = recorder.valueOf(*parameters[i]);
  std::vector<ValueId> assigned(variables.size(), -1);
  for (const schema::RecordedOp &op : called.ops()) {
    std::span<const ValueId> operands = called.operandsOf(op);
    std::span<const schema::Attribute> attributes = called.attributesOf(op);
    if (op.op == OpId::VariableRead) {
      auto variable = static_cast<std::size_t>(std::get<std::int64_t>(attributes[0]));
      if (assigned[variable] < 0) {
        renamed[index(op.firstResult)] = recorder.valueOf(before[variable]);
      } else {
        // Assigning hides where a value came from.
        schema::TensorType type = called.typeOf(op.firstResult);
        renamed[index(op.firstResult)] =
            recorder.recording.append(OpId::StopGradient, {&assigned[variable], 1}, {}, {&type, 1}, op.line);
        for (TapeState *tape : tapes)
          if (tape->eager)
            tape->noteRead(variables[variable], renamed[index(op.firstResult)]);
      }
      continue;
    }
    if (op.op == OpId::VariableAssign) {
      assigned[static_cast<std::size_t>(std::get<std::int64_t>(attributes[0]))] = renamed[index(operands[0])];
      continue;
    }
    if (!schema::schemaOf(op.op).pure) { // it has had its effect
      // What a host call gave is among the results: a leaf.
      for (std::uint32_t r = 0; r < op.numResults; ++r)
        for (std::size_t i = 0; i < results.size(); ++i)
          if (called.results[i] == op.firstResult + static_cast<ValueId>(r))
            renamed[index(op.firstResult) + r] = recorder.valueOf(results[i]);
      continue;
    }
    std::vector<ValueId> values;
    bool tracked = false;
    for (ValueId operand : operands) {
      values.push_back(renamed[index(operand)]);
      tracked |= index(values.back()) < recorder.tracked.size() && recorder.tracked[index(values.back())];
    }
    std::vector<schema::TensorType> types;
    bool known = true;
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      types.push_back(called.typeOf(op.firstResult + static_cast<ValueId>(r)));
      known = known && types.back().isStatic();
    }
    // Sizes that the function leaves open are those of this call.
    if (!known) {
      std::vector<schema::TensorType> operandTypes;
      for (ValueId value : values)
        operandTypes.push_back(recorder.recording.typeOf(value));
      schema::Inference inference = schema::inferTypes(op.op, operandTypes, attributes);
      if (inference.fault)
        throwFault(inference.fault, SourceLocation::at(op.line.file, op.line.line, op.line.column));
      types = std::move(inference.types);
    }
    ValueId first = recorder.recording.append(op.op, values, attributes, types, op.line);
    for (std::uint32_t r = 0; r < op.numResults; ++r) {
      ValueId value = first + static_cast<ValueId>(r);
      renamed[index(op.firstResult) + r] = value;
      if (tracked && schema::schemaOf(op.op).differentiable && is_floating(types[r].dtype))
        recorder.track(value);
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    recorder.values.emplace(results[i].impl()->id, renamed[index(called.results[i])]);
}

void noteVariableRead(const std::shared_ptr<VariableState> &variable, const Tensor &value) {
  const TensorImpl &impl = implOf(value);
  for (TapeState *tape : tapes)
    if (tape->isPaused())
      continue;
    else if (impl.trace ? tape->trace && tape->trace->id == impl.trace : tape->eager != nullptr)
      tape->noteRead(variable, tape->valueOf(value, {}));
}

//===-- Tapes -----------------------------------------------------------------------------------===//

TapeState::TapeState(GradientTapeOptions options, SourceLocation where)
    : options(options), where(where), trace(currentTrace()) {
  if (!trace) {
    if (!eagerRecorder)
      eagerRecorder = std::make_shared<EagerRecorder>();
    eager = eagerRecorder;
  }
  firstOp = recording().ops().size();
  tapes.push_back(this);
}

TapeState::~TapeState() { stop(); }

void TapeState::stop() {
  if (!recordingNow)
    return;
  recordingNow = false;
  endOp = recording().ops().size();
  std::erase(tapes, this);
  if (eager && eager == eagerRecorder && std::none_of(tapes.begin(), tapes.end(), [](TapeState *tape) { return tape->eager; }))
    eagerRecorder = nullptr;
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

void TapeState::checkUse(SourceLocation where) {
  if (used && !options.persistent)
    throw StateError("a tape serves one gradient() unless it is persistent; this one, made at " + lineOf(this->where).str() +
                         ", has served it",
                     where);
  if (trace ? trace != currentTrace() : currentTrace() != nullptr)
    throw StateError(trace ? "a tape of a trace is asked outside of the trace" : "a tape from outside of a trace is asked inside", where);
}

// What the tape saw: values that depend on something watched, and those from which a target is reached.
TapeState::Activity TapeState::activityOf(std::span<const ValueId> targets, std::span<const ValueId> sources) {
  schema::Recording &recording = this->recording();
  std::span<const schema::RecordedOp> ops = recording.ops();
  std::size_t end = recordingNow ? ops.size() : endOp;
  Activity activity;
  activity.tracked.resize(recording.numValues());
  activity.reaches.resize(recording.numValues());
  std::vector<bool> seen(ops.size()), produced(recording.numValues());

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
    if (!schema::schemaOf(ops[i].op).differentiable)
      continue;
    for (ValueId operand : recording.operandsOf(ops[i]))
      seen[i] = seen[i] || activity.tracked[index(operand)];
    if (seen[i])
      for (std::uint32_t r = 0; r < ops[i].numResults; ++r) {
        std::size_t result = index(ops[i].firstResult) + r;
        produced[result] = true;
        activity.tracked[result] = is_floating(recording.typeOf(static_cast<ValueId>(result)).dtype);
      }
  }
  startWatching(ops.size());

  for (ValueId target : targets)
    activity.reaches[index(target)] = is_floating(recording.typeOf(target).dtype);
  std::vector<bool> isStop(recording.numValues());
  for (std::size_t i = end; i-- > firstOp;) {
    bool reaches = false;
    for (std::uint32_t r = 0; r < ops[i].numResults; ++r)
      reaches |= activity.reaches[index(ops[i].firstResult) + r];
    if (!seen[i] || !reaches)
      continue;
    for (ValueId operand : recording.operandsOf(ops[i])) {
      if (!is_floating(recording.typeOf(operand).dtype))
        continue;
      activity.reaches[index(operand)] = true;
      isStop[index(operand)] = !produced[index(operand)];
    }
  }
  // A target that the tape did not compute ends its view, too.
  for (ValueId target : targets)
    if (!produced[index(target)])
      isStop[index(target)] = true;
  // A source that the tape did not compute keeps its stop: it has a cotangent, and what came before it has none. Before a parameter
  // there is nothing.
  for (ValueId parameter : recording.parameters)
    if (std::find(sources.begin(), sources.end(), parameter) != sources.end())
      isStop[index(parameter)] = false;
  for (std::size_t value = 0; value < isStop.size(); ++value)
    if (isStop[value])
      activity.stops.push_back(static_cast<ValueId>(value));
  return activity;
}

ValueId TapeState::append(OpId op, std::span<const ValueId> operands, std::span<const schema::Attribute> attributes,
                          std::span<const schema::TensorType> types, SourceLocation where) {
  ValueId first = recording().append(op, operands, attributes, types, lineOf(where));
  if (eager && schema::schemaOf(op).differentiable)
    for (std::size_t i = 0; i < types.size(); ++i)
      eager->track(first + static_cast<ValueId>(i));
  return first;
}

std::vector<std::optional<Tensor>> TapeState::gradient(const std::vector<Tensor> &targets,
                                                       const std::vector<std::vector<ValueId>> &sources,
                                                       const std::vector<Tensor> &seeds, SourceLocation where) {
  if (!seeds.empty() && seeds.size() != targets.size())
    throw ValueError("gradient: " + std::to_string(seeds.size()) + " output gradients are given for " +
                         std::to_string(targets.size()) + " targets",
                     where);
  std::vector<ValueId> targetValues, allSources;
  for (const Tensor &target : targets)
    targetValues.push_back(valueOf(target, where));
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const schema::TensorType &target = *implOf(targets[i], where).type, &seed = *implOf(seeds[i], where).type;
    std::string message = "gradient: output gradient " + std::to_string(i) + " is " + seed.str() + " and its target " + target.str();
    if (seed.dtype != target.dtype)
      throw DTypeError(message, where);
    if (seed.dims != target.dims)
      throw ShapeError(message, where);
  }
  std::vector<ValueId> seedValues;
  for (const Tensor &seed : seeds)
    seedValues.push_back(valueOf(seed, where));
  for (const std::vector<ValueId> &values : sources)
    allSources.insert(allSources.end(), values.begin(), values.end());

  Activity activity = activityOf(targetValues, allSources);
  std::vector<ValueId> connected;
  for (ValueId source : allSources)
    if (activity.tracked[index(source)] && activity.reaches[index(source)] &&
        std::find(connected.begin(), connected.end(), source) == connected.end())
      connected.push_back(source);
  std::vector<std::optional<Tensor>> gradients(sources.size());
  if (connected.empty())
    return gradients;
  std::vector<ValueId> usedTargets, operands, results;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!is_floating(targets[i].dtype()))
      continue;
    usedTargets.push_back(targetValues[i]);
    if (!seeds.empty()) {
      results.push_back(seedValues[i]);
      continue;
    }
    auto constant = std::make_shared<schema::ConstantData>();
    constant->type = *targets[i].impl()->type;
    constant->splat = true;
    constant->bytes.resize(size_of(constant->type.dtype));
    if (constant->type.dtype == DType::Float32)
      *reinterpret_cast<float *>(constant->bytes.data()) = 1;
    else
      *reinterpret_cast<double *>(constant->bytes.data()) = 1;
    schema::TensorType type = constant->type;
    schema::Attribute attribute = schema::ConstantRef(std::move(constant));
    results.push_back(append(OpId::Constant, {}, {&attribute, 1}, {&type, 1}, where));
  }
  operands = usedTargets;
  operands.insert(operands.end(), results.begin(), results.end());
  operands.insert(operands.end(), connected.begin(), connected.end());
  operands.insert(operands.end(), activity.stops.begin(), activity.stops.end());
  schema::Attribute counts = std::vector<std::int64_t>{static_cast<std::int64_t>(usedTargets.size()),
                                                       static_cast<std::int64_t>(connected.size()),
                                                       static_cast<std::int64_t>(activity.stops.size())};
  std::vector<schema::TensorType> types;
  for (ValueId source : connected)
    types.push_back(recording().typeOf(source));
  ValueId first = append(OpId::Gradient, operands, {&counts, 1}, types, where);

  // A variable that was read several times: the derivatives by its values, summed.
  std::vector<ValueId> values;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ValueId sum = -1;
    for (ValueId source : sources[i]) {
      auto found = std::find(connected.begin(), connected.end(), source);
      if (found == connected.end())
        continue;
      ValueId value = first + static_cast<ValueId>(found - connected.begin());
      if (sum >= 0) {
        schema::TensorType type = recording().typeOf(source);
        std::array<ValueId, 2> pair{sum, value};
        value = append(OpId::Add, pair, {}, {&type, 1}, where);
      }
      sum = value;
    }
    if (sum >= 0) {
      values.push_back(sum);
      owners.push_back(i);
    }
  }
  if (trace) {
    for (std::size_t i = 0; i < values.size(); ++i)
      gradients[owners[i]] = trace->tensorOf(values[i], where);
    return gradients;
  }
  std::vector<Tensor> computed = runSlice(sliceOf(eager->recording, values), eager->leaves, where);
  for (std::size_t i = 0; i < values.size(); ++i) {
    eager->values.emplace(computed[i].impl()->id, values[i]);
    gradients[owners[i]] = std::move(computed[i]);
  }
  return gradients;
}

} // namespace detail

//===-- The public handle -----------------------------------------------------------------------===//

using detail::TapeState;

GradientTape::GradientTape(GradientTapeOptions options, SourceLocation where)
    : state_(std::make_unique<TapeState>(options, detail::userLine(where))) {}
GradientTape::~GradientTape() = default;

void GradientTape::watch(const Tensor &x, SourceLocation where) {
  where = detail::userLine(where);
  if (!state_->recordingNow)
    throw StateError("watch: the tape does not record any more", where);
  if (state_->eager && detail::implOf(x, where).trace)
    detail::throwLeaked(*x.impl(), where);
  if (!is_floating(x.dtype()))
    detail::warn("a tensor of type " + std::string(name_of(x.dtype())) + " is watched; only floating-point tensors have gradients", where);
  state_->watch(state_->valueOf(x, where));
}

void GradientTape::watch(const Variable &x, SourceLocation where) {
  where = detail::userLine(where);
  if (!state_->recordingNow)
    throw StateError("watch: the tape does not record any more", where);
  for (TapeState::WatchedVariable &watched : state_->variables)
    if (watched.variable == x.state()) {
      watched.asked = true;
      return;
    }
  state_->variables.push_back({x.state(), {}, true});
  x.value(where); // what was read before is watched from now on
}

std::vector<std::optional<Tensor>> GradientTape::gradientOf(const std::vector<Tensor> &targets, const std::vector<detail::Source> &sources,
                                                            const GradientOptions &options, SourceLocation where) {
  where = detail::userLine(where);
  state_->checkUse(where);
  std::vector<std::vector<schema::ValueId>> values(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].variable) {
      values[i] = {state_->valueOf(sources[i].tensor, where)};
      continue;
    }
    for (const TapeState::WatchedVariable &watched : state_->variables)
      if (watched.variable == sources[i].variable->state())
        values[i] = watched.values;
  }
  if (!state_->options.persistent)
    state_->stop();
  std::vector<std::optional<Tensor>> gradients = state_->gradient(targets, values, options.output_gradients, where);
  state_->used = true;
  if (options.unconnected_gradients == UnconnectedGradients::Zero)
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (!gradients[i])
        gradients[i] = sources[i].variable ? zeros(sources[i].variable->shape(), sources[i].variable->dtype(), where)
                                           : zeros(sources[i].tensor.shape(), sources[i].tensor.dtype(), where);
  return gradients;
}

namespace {
template <typename T> std::vector<detail::Source> sourcesOf(const std::vector<T> &sources) {
  std::vector<detail::Source> result;
  for (const T &source : sources)
    if constexpr (std::is_same_v<T, Tensor>)
      result.push_back({source, {}});
    else
      result.push_back({{}, source});
  return result;
}
} // namespace

std::vector<std::optional<Tensor>> GradientTape::gradient(const std::vector<Tensor> &targets, const std::vector<Tensor> &sources,
                                                          const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradientOf(targets, sourcesOf(sources), {.output_gradients = output_gradients}, where);
}
std::vector<std::optional<Tensor>> GradientTape::gradient(const std::vector<Tensor> &targets, const std::vector<Variable> &sources,
                                                          const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradientOf(targets, sourcesOf(sources), {.output_gradients = output_gradients}, where);
}

std::vector<std::optional<Tensor>> GradientTape::gradient(const Tensor &target, const std::vector<Tensor> &sources,
                                                          const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradient(std::vector<Tensor>{target}, sources, output_gradients, where);
}
std::vector<std::optional<Tensor>> GradientTape::gradient(const Tensor &target, const std::vector<Variable> &sources,
                                                          const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradient(std::vector<Tensor>{target}, sources, output_gradients, where);
}
std::optional<Tensor> GradientTape::gradient(const Tensor &target, const Tensor &source,
                                             const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradient(std::vector<Tensor>{target}, std::vector<Tensor>{source}, output_gradients, where)[0];
}
std::optional<Tensor> GradientTape::gradient(const Tensor &target, const Variable &source,
                                             const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradient(std::vector<Tensor>{target}, std::vector<Variable>{source}, output_gradients, where)[0];
}

GradientTape::Pause::~Pause() {
  if (state_)
    state_->resume();
}

GradientTape::Pause GradientTape::stop_recording(SourceLocation where) {
  if (!state_->recordingNow)
    throw StateError("stop_recording: the tape does not record any more", detail::userLine(where));
  state_->pause();
  return Pause(state_.get());
}

void GradientTape::reset(SourceLocation where) {
  if (!state_->recordingNow)
    throw StateError("reset: the tape does not record any more", detail::userLine(where));
  state_->reset();
}

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> variables;
  for (const TapeState::WatchedVariable &watched : state_->variables)
    variables.emplace_back(watched.variable);
  return variables;
}

} // namespace calque
