#include "calque/transforms.h"

#include "absl/strings/str_cat.h"
#include "calque/call_site.h"

#include "frontend/compiled/CalledProgram.h"
#include "frontend/compiled/CodeByStructure.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Numerics.h"
#include "frontend/core/Tracer.h"
#include "frontend/gradients/Tape.h"
#include "frontend/native/Following.h"

namespace calque::detail {

using schema::OpId;
using schema::ValueId;

namespace {
// Runs a recording by code that is cached by structure, and shows the run to the eager tapes.
std::vector<Tensor> runRecording(const schema::Recording &recording, std::span<const Tensor *const> parameters,
                                 const std::vector<std::shared_ptr<VariableState>> &variables,
                                 const std::vector<std::shared_ptr<const HostFunction>> &hostFunctions,
                                 SourceLocation where) {
  ReadScope scope;
  // Code names host functions by number, so recordings of equal structure may call different functions. Code with host
  // calls is not cached.
  std::unique_ptr<const Code> once =
      hostFunctions.empty() ? nullptr : compileRecording(recording, hostFunctions, where, canCheckNumerics(parameters));
  StructuredCode structured =
      once ? StructuredCode{*once, {}, {}} : codeByStructure(recording, where, canCheckNumerics(parameters));
  std::vector<const Tensor *> inputs(parameters.begin(), parameters.end());
  for (const Tensor &indices : structured.indices)
    inputs.push_back(&indices);
  std::vector<VariableState *> states;
  for (const std::shared_ptr<VariableState> &variable : variables)
    states.push_back(variable.get());
  std::vector<Tensor> results(recording.results.size()), before;
  bool seen = eagerTapesActive();
  run(structured.code, inputs, states, results, {where, structured.indexed ? &*structured.indexed : &recording},
      seen ? &before : nullptr);
  if (seen)
    recordCall(calledProgram(recording), parameters, variables, before, results, where);
  return results;
}
} // namespace

std::vector<Tensor> runRecorded(const char *name, const std::vector<Tensor> &inputs,
                                const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
                                SourceLocation where) {
  where = userLine(where);
  if (currentTrace()) {
    InlinedCall call({}, where);
    return call.own(body(inputs), where);
  }
  return followAsFarAsNeeded([&] {
    // Code is cached by structure, so the recording must not contain elements of tensors.
    TraceOptions options{.name = name, .where = where, .call = where, .mayMakeVariables = true};
    options.constants = TraceOptions::Constants::None;
    auto [trace, given] =
        traceProgram(options, parametersLike(inputs, true, where),
                     [&](Trace &, const std::vector<Tensor> &parameters) { return body(parameters); });
    std::vector<const Tensor *> values;
    for (const Tensor &input : inputs)
      values.push_back(&input);
    for (const Tensor &captured : trace->captures)
      values.push_back(&captured);
    std::vector<Tensor> results = runRecording(trace->recording, values, trace->variables, trace->hostFunctions, where);
    results.resize(given.size());
    return results;
  });
}

Tensor alias(const Tensor &x, SourceLocation where) {
  where = userLine(where);
  if (currentTrace())
    return apply(OpId::Identity, {&x, 1}, {}, where);
  const TensorImpl &impl = implOf(x, where);
  if (impl.trace)
    throwLeaked(impl, where);
  Tensor result = makeEager(impl.type, impl.buffer, impl.where);
  if (eagerTapesActive())
    recordEager(OpId::Identity, {&x, 1}, {}, {&result, 1}, where);
  return result;
}

std::vector<Tensor> aliases(std::vector<Tensor> tensors, SourceLocation where) {
  for (Tensor &x : tensors)
    x = alias(x, where);
  return tensors;
}

namespace {
// The mapped axis of each tensor; std::nullopt for a tensor without one.
std::vector<std::optional<std::int64_t>> axesOf(const std::vector<Tensor> &tensors, const VmapOptions &options,
                                                SourceLocation where) {
  if (options.in_axes.empty())
    return std::vector<std::optional<std::int64_t>>(tensors.size(), 0);
  if (options.in_axes.size() != tensors.size())
    throw ValueError(absl::StrCat("vmap: in_axes has ", schema::counted(options.in_axes.size(), "entry", "entries"),
                                  ", and the arguments have ", schema::counted(tensors.size(), "tensor")),
                     where);
  return options.in_axes;
}
} // namespace

std::vector<Tensor> takeSlices(const std::vector<Tensor> &tensors, const VmapOptions &options, SourceLocation where) {
  where = userLine(where);
  std::vector<std::optional<std::int64_t>> axes = axesOf(tensors, options, where);
  std::vector<Tensor> stacked;
  std::vector<std::int64_t> given;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (axes[i]) {
      stacked.push_back(tensors[i]);
      given.push_back(*axes[i]);
    }
  if (stacked.empty())
    throw ValueError("vmap: no argument has a mapped axis", where);
  schema::Attribute attribute = given;
  std::vector<Tensor> slices = applyAll(OpId::Batch, stacked, {&attribute, 1}, where), result = tensors;
  for (std::size_t i = 0, next = 0; i < tensors.size(); ++i)
    result[i] = axes[i] ? slices[next++] : alias(tensors[i], where);
  return result;
}

std::vector<Tensor> stackSlices(const std::vector<Tensor> &values, const std::vector<Tensor> &slices,
                                const std::vector<Tensor> &tensors, const VmapOptions &options, SourceLocation where) {
  where = userLine(where);
  if (!options.out_axes.empty() && options.out_axes.size() != values.size())
    throw ValueError(absl::StrCat("vmap: out_axes has ", schema::counted(options.out_axes.size(), "entry", "entries"),
                                  ", and the result has ", schema::counted(values.size(), "tensor")),
                     where);
  std::vector<std::optional<std::int64_t>> axes = axesOf(tensors, options, where);
  // Chooses a tensor with a mapped axis; one whose size along the axis is known, if there is one.
  std::size_t chosen = axes.size();
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (!axes[i])
      continue;
    const schema::TensorType &type = *implOf(tensors[i], where).type;
    std::int64_t axis = schema::normalAxis(*axes[i], type.rank());
    if (chosen == axes.size() || type.dims[static_cast<std::size_t>(axis)] != schema::kOpenSize)
      chosen = i;
  }
  // Results of host calls on slices are stacked as well, because tapes need them.
  const std::shared_ptr<Trace> &trace = currentTrace();
  std::vector<ValueId> hostResults = trace->hostResultsFrom(implOf(slices[chosen], where).value);
  if (values.empty() && hostResults.empty())
    return {};
  std::vector<Tensor> operands = values;
  for (ValueId value : hostResults)
    operands.push_back(trace->tensorOf(value, where));
  std::vector<std::int64_t> outAxes = options.out_axes;
  outAxes.resize(operands.size(), 0);
  operands.push_back(slices[chosen]);
  operands.push_back(tensors[chosen]);
  schema::Attribute attributes[] = {std::move(outAxes), *axes[chosen]};
  std::vector<Tensor> results = applyAll(OpId::Unbatch, operands, attributes, where);
  for (std::size_t i = 0; i < hostResults.size(); ++i)
    trace->stackHostResult(hostResults[i], implOf(results[values.size() + i]).value);
  results.resize(values.size());
  return results;
}

void requireFloating(const char *operation, const std::vector<Tensor> &tensors, SourceLocation where) {
  where = userLine(where);
  for (const Tensor &x : tensors)
    requireFloatingType(operation, *implOf(x, where).type, where);
}

void checkArgnums(const char *operation, const std::vector<std::int64_t> &argnums, const std::vector<bool> &areTensors,
                  SourceLocation where) {
  where = userLine(where);
  if (argnums.empty())
    throw ValueError(absl::StrCat(operation, ": argnums names no argument"), where);
  std::vector<bool> isGiven(areTensors.size());
  for (std::int64_t number : argnums) {
    if (number < 0 || number >= static_cast<std::int64_t>(areTensors.size()))
      throw ValueError(absl::StrCat(operation, ": argnums has ", number, ", and the call has ",
                                    schema::counted(areTensors.size(), "argument")),
                       where);
    const auto i = static_cast<std::size_t>(number);
    if (isGiven[i])
      throw ValueError(absl::StrCat(operation, ": argnums has ", number, " twice"), where);
    if (!areTensors[i])
      throw ValueError(absl::StrCat(operation, ": argument ", number, " of argnums is no tensor"), where);
    isGiven[i] = true;
  }
}

void requireSources(const char *operation, const std::vector<Tensor> &tensors, bool anyVariable, SourceLocation where) {
  where = userLine(where);
  if (anyVariable)
    throw ValueError(
        absl::StrCat(operation, ": there is a variable among the arguments that derivatives are with respect to; those "
                                "of variables are given by GradientTape"),
        where);
  if (tensors.empty()) {
    bool isGradient = std::string_view(operation).ends_with("grad"); // grad and value_and_grad; others take primals
    throw ValueError(absl::StrCat(operation,
                                  isGradient ? ": the first argument holds no tensor" : ": the primals hold no tensor",
                                  ", and derivatives are with respect to tensors"),
                     where);
  }
  requireFloating(operation, tensors, where);
}

void requireNoVariable(const char *operation, bool anyVariable, SourceLocation where) {
  if (anyVariable)
    throw ValueError(absl::StrCat(operation, ": there is a variable in the result, which has no place for a "
                                             "derivative; return its value"),
                     userLine(where));
}

std::vector<Tensor> tangentsOf(const char *operation, const std::vector<Tensor> &targets,
                               const std::vector<Tensor> &sources, const std::vector<Tensor> &tangents,
                               SourceLocation where) {
  where = userLine(where);
  if (sources.size() != tangents.size())
    throw ValueError(absl::StrCat(operation, ": the call gives ", schema::counted(tangents.size(), "tangent"), " for ",
                                  schema::counted(sources.size(), "primal")),
                     where);
  std::vector<Tensor> directions;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const schema::TensorType &source = *implOf(sources[i], where).type, &tangent = *implOf(tangents[i], where).type;
    directions.push_back(
        fitting(absl::StrCat(operation, ": tangent ", i, " is ", tangent.str(), " and its primal ", source.str()),
                tangents[i], sources[i], operation, where));
  }
  // Only floats have tangents other than 0.
  std::vector<Tensor> operands, result = targets;
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!is_inexact(implOf(targets[i], where).type->dtype)) {
      result[i] = zerosLike(targets[i], where);
      continue;
    }
    operands.push_back(targets[i]);
    moving.push_back(i);
  }
  if (moving.empty())
    return result;
  operands.insert(operands.end(), sources.begin(), sources.end());
  operands.insert(operands.end(), directions.begin(), directions.end());
  schema::Attribute counts =
      std::vector<std::int64_t>{static_cast<std::int64_t>(moving.size()), static_cast<std::int64_t>(sources.size())};
  std::vector<Tensor> changes = applyAll(OpId::Jvp, operands, {&counts, 1}, where);
  for (std::size_t i = 0; i < moving.size(); ++i)
    result[moving[i]] = changes[i];
  return result;
}

void requireReal(const char *operation, const schema::TensorType &type, SourceLocation where) {
  if (is_complex(type.dtype))
    throw DTypeError(absl::StrCat(operation, ": takes real numbers, not ", type.str(),
                                  "; jvp and gradients are of complex numbers, too"),
                     where);
}

Tensor basisOf(const Tensor &x, const char *operation, SourceLocation where) {
  requireFloating(operation, {x}, where);
  const schema::TensorType &type = *implOf(x, where).type;
  requireReal(operation, type, userLine(where));
  if (!type.isStatic())
    throw ShapeError(absl::StrCat(operation, ": the argument's sizes must be known; it is ", type.str()),
                     userLine(where));
  schema::Dims shape = type.dims;
  shape.insert(shape.begin(), type.numElements());
  CallSite site(where);
  return reshape(eye(type.numElements(), type.dtype, where), shape);
}

PullbackTape::PullbackTape(const char *operation, SourceLocation where)
    : operation_(operation), tape_({.persistent = true}, where) {}
std::shared_ptr<PullbackTape> PullbackTape::make(const char *operation, SourceLocation where) {
  return std::make_shared<PullbackTape>(operation, where);
}
void PullbackTape::watch(const Tensor &x, SourceLocation where) { tape_.watch(x, where); }
void PullbackTape::stop() { tape_.state_->stop(); }

std::vector<Tensor> PullbackTape::cotangents(const std::vector<Tensor> &targets, const std::vector<Tensor> &sources,
                                             const std::vector<Tensor> &seeds, SourceLocation where) {
  std::vector<Source> all;
  for (const Tensor &source : sources)
    all.push_back(source);
  std::vector<std::optional<Tensor>> found =
      tape_.gradientOf(targets, all, GradientOptions{seeds, UnconnectedGradients::Zero}, where, operation_);
  std::vector<Tensor> result;
  for (std::optional<Tensor> &cotangent : found)
    result.push_back(std::move(*cotangent));
  return result;
}

} // namespace calque::detail
