#include "frontend/core/Tracer.h"

#include "frontend/native/Capture.h"

namespace calque::detail {

using Constants = TraceOptions::Constants;

namespace {
std::shared_ptr<Trace> newTrace(const TraceOptions &options) {
  auto trace = !options.inside    ? std::make_shared<Trace>(options.mayMakeVariables)
               : options.isRegion ? Trace::region(currentTrace(), options.inside)
                                  : Trace::inside(currentTrace(), options.inside);
  if (!options.inside)
    trace->call = options.call;
  trace->mayFallBack = options.mayFallBack;
  if (options.constants == Constants::None)
    trace->mostConstantElements = 0;
  trace->recording.name = options.inside ? options.inside : options.name;
  trace->recording.line = lineOf(options.where);
  return trace;
}
} // namespace

TracedProgram traceProgram(const TraceOptions &options, std::span<const TracedParameter> parameters,
                           absl::FunctionRef<std::vector<Tensor>(Trace &, const std::vector<Tensor> &)> body) {
  std::shared_ptr<Trace> trace;
  TracedProgram program;
  std::vector<schema::ValueId> values;
  // Traces what `run` does; whether host code has decided.
  auto traced = [&](auto run) {
    trace = newTrace(options);
    std::vector<Tensor> arguments;
    for (const TracedParameter &parameter : parameters)
      arguments.push_back(trace->addParameter(parameter.type, parameter.name));
    TraceScope scope(trace);
    try {
      program.results = run(arguments);
    } catch (const std::bad_alloc &) {
      throw;
    } catch (const std::exception &) { // of a path that may never come
      if (!trace->decisions)
        throw;
    }
    if (trace->decisions)
      return true;
    if (options.isCalled)
      values = trace->ownValues(program.results, std::nullopt, options.where);
    else
      for (const Tensor &result : program.results)
        values.push_back(trace->valueOf(result, options.where));
    return false;
  };
  try {
    if (traced([&](const std::vector<Tensor> &arguments) { return body(*trace, arguments); }))
      traced([&](const std::vector<Tensor> &arguments) {
        return captureNative(
            [&] {
              std::vector<Tensor> results = body(*trace, arguments);
              return HostResults{std::move(results), options.structure ? options.structure() : ""};
            },
            options.where);
      });
  } catch (const native::NotCaptured &reason) {
    throwNotCaptured(reason, options.where);
  }
  if (options.isCalled) { // tapes of the caller can't compute results of host calls again
    std::vector<schema::ValueId> hostResults = trace->hostResults();
    values.insert(values.end(), hostResults.begin(), hostResults.end());
  }
  trace->recording.results = std::move(values);
  if (!options.inside)
    trace->finish(options.constants == Constants::All);
  if (trace->askedForSizes)
    throw SizesAsked(trace->asked);
  program.trace = trace;
  return program;
}

std::vector<TracedParameter> parametersLike(std::span<const Tensor> tensors, bool eager, SourceLocation where) {
  std::vector<TracedParameter> parameters;
  for (const Tensor &x : tensors) {
    const TensorImpl &impl = implOf(x, where);
    if (eager && impl.trace)
      throwLeaked(impl, where);
    parameters.push_back({impl.type});
  }
  return parameters;
}

} // namespace calque::detail
