// The public handle of a tape.
#include "calque/gradient_tape.h"

#include "absl/strings/str_cat.h"
#include "calque/warnings.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Observer.h"
#include "frontend/gradients/Tape.h"

#include <ostream>

namespace calque {

using detail::TapeState;

GradientTape::GradientTape(GradientTapeOptions options, SourceLocation where)
    : state_(std::make_shared<TapeState>(options, detail::userLine(where))) {}
GradientTape::~GradientTape() { state_->stop(); }

void GradientTape::watch(const Tensor &x, SourceLocation where) {
  where = detail::userLine(where);
  if (!state_->recordingNow)
    throw StateError("watch: the tape does not record any more", where);
  if (state_->eager && detail::implOf(x, where).trace) {
    if (detail::currentTrace() && detail::currentTrace()->id == x.impl()->trace)
      throw StateError("a tape from outside of a trace is asked inside", where);
    detail::throwLeaked(*x.impl(), where);
  }
  if (!is_inexact(x.dtype()))
    detail::warn(absl::StrCat("a tensor of type ", name_of(x.dtype()),
                              " is watched; only floating-point tensors have gradients"),
                 where);
  state_->watch(state_->valueOf(x, where));
}

void GradientTape::watch(const Variable &x, SourceLocation where) {
  where = detail::userLine(where);
  if (!state_->recordingNow)
    throw StateError("watch: the tape does not record any more", where);
  detail::stateOf(x, where);
  for (TapeState::WatchedVariable &watched : state_->variables)
    if (watched.variable == x.state()) {
      watched.asked = true;
      return;
    }
  state_->variables.push_back({x.state(), {}, true});
  x.value(where); // a read makes the value known to the tape
}

void GradientTape::watch(const detail::Sources &sources, SourceLocation where) {
  for (const detail::Source &source : sources.list())
    if (source.variable)
      watch(*source.variable, where);
    else
      watch(source.tensor, where);
}

std::vector<std::vector<schema::ValueId>> GradientTape::use(const std::vector<detail::Source> &sources, bool isPullback,
                                                            SourceLocation where) {
  state_->checkUse(isPullback, where);
  std::vector<std::vector<schema::ValueId>> values(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].variable) {
      values[i] = {state_->valueOf(sources[i].tensor, where)};
      continue;
    }
    detail::stateOf(*sources[i].variable, where);
    for (const TapeState::WatchedVariable &watched : state_->variables)
      if (watched.variable == sources[i].variable->state())
        values[i] = watched.values;
    // Another path may read the variable.
    if (values[i].empty() && state_->trace && state_->trace->isOneOfPaths())
      values[i] = {state_->valueOf(sources[i].variable->value(where), where)};
  }
  if (!state_->options.persistent)
    state_->stop();
  return values;
}

std::ostream &operator<<(std::ostream &os, UnconnectedGradients unconnected) {
  switch (unconnected) {
  case UnconnectedGradients::None:
    return os << "None";
  case UnconnectedGradients::Zero:
    return os << "Zero";
  }
  return os << static_cast<int>(unconnected);
}

std::vector<std::optional<Tensor>> GradientTape::gradientOf(const std::vector<Tensor> &targets,
                                                            const std::vector<detail::Source> &sources,
                                                            const GradientOptions &options, SourceLocation where,
                                                            const char *pullbackOf) {
  where = detail::userLine(where);
  if (options.unconnected_gradients != UnconnectedGradients::None &&
      options.unconnected_gradients != UnconnectedGradients::Zero)
    throw ValueError(absl::StrCat("gradient: unconnected gradients are None or Zero; there is no ",
                                  static_cast<int>(options.unconnected_gradients)),
                     where);
  std::vector<std::vector<schema::ValueId>> values = use(sources, pullbackOf != nullptr, where);
  bool zeros = options.unconnected_gradients == UnconnectedGradients::Zero;
  // Observers see a gradient as one operation, as in a trace.
  const detail::Observer *observer = detail::currentTrace() ? nullptr : detail::currentObserver();
  std::vector<std::optional<Tensor>> gradients = [&] {
    detail::ObserverScope pause;
    return state_->gradient(targets, values, options.output_gradients, pullbackOf, where, zeros);
  }();
  if (observer) {
    std::vector<Tensor> connected;
    for (const std::optional<Tensor> &gradient : gradients)
      if (gradient)
        connected.push_back(*gradient);
    (*observer)(schema::OpId::Gradient, connected, where);
  }
  state_->used = true;
  state_->release();
  if (zeros)
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (!gradients[i])
        gradients[i] = sources[i].variable
                           ? calque::zeros(sources[i].variable->shape(where), sources[i].variable->dtype(where), where)
                           : detail::zerosLike(sources[i].tensor, where);
  return gradients;
}

std::vector<std::optional<Tensor>> GradientTape::gradient(const detail::Targets &targets,
                                                          const detail::Sources &sources,
                                                          const std::vector<Tensor> &output_gradients,
                                                          SourceLocation where) {
  return gradientOf(targets.list(), sources.list(), {.output_gradients = output_gradients}, where);
}
std::optional<Tensor> GradientTape::gradient(const detail::Targets &targets, const Tensor &source,
                                             const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradientOf(targets.list(), {source}, {.output_gradients = output_gradients}, where)[0];
}
std::optional<Tensor> GradientTape::gradient(const detail::Targets &targets, const Variable &source,
                                             const std::vector<Tensor> &output_gradients, SourceLocation where) {
  return gradientOf(targets.list(), {source}, {.output_gradients = output_gradients}, where)[0];
}

std::optional<Tensor> GradientTape::jacobianOf(const Tensor &target, const detail::Source &source, bool ofExamples,
                                               SourceLocation where) {
  where = detail::userLine(where);
  detail::requireFloatingType(ofExamples ? "batch_jacobian" : "jacobian",
                              source.variable ? *detail::stateOf(*source.variable, where)->type
                                              : *detail::implOf(source.tensor, where).type,
                              where);
  std::vector<std::vector<schema::ValueId>> values = use({source}, false, where);
  std::optional<Tensor> result = state_->jacobian(target, values, ofExamples, where)[0];
  state_->used = true;
  state_->release();
  return result;
}
std::optional<Tensor> GradientTape::jacobian(const Tensor &target, const Tensor &source, SourceLocation where) {
  return jacobianOf(target, source, false, where);
}
std::optional<Tensor> GradientTape::jacobian(const Tensor &target, const Variable &source, SourceLocation where) {
  return jacobianOf(target, source, false, where);
}
std::optional<Tensor> GradientTape::batch_jacobian(const Tensor &target, const Tensor &source, SourceLocation where) {
  return jacobianOf(target, source, true, where);
}
std::optional<Tensor> GradientTape::batch_jacobian(const Tensor &target, const Variable &source, SourceLocation where) {
  return jacobianOf(target, source, true, where);
}

GradientTape::Pause::~Pause() {
  if (state_)
    state_->resume();
}

GradientTape::Pause GradientTape::stop_recording(SourceLocation where) {
  if (!state_->recordingNow)
    throw StateError("stop_recording: the tape does not record any more", detail::userLine(where));
  state_->pause();
  return Pause(state_);
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
