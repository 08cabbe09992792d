// Traces programs: those of functions, of transformations, and inside of operations.
#ifndef CALQUE_FRONTEND_CORE_TRACER_H
#define CALQUE_FRONTEND_CORE_TRACER_H

#include "absl/functional/function_ref.h"
#include "frontend/core/Trace.h"

#include <functional>

namespace calque::detail {

struct TraceOptions {
  std::string name = {};
  SourceLocation where = {}; // the line that makes the program
  SourceLocation call = {};  // the line of the call for which it is traced
  bool mayMakeVariables = false;
  bool mayFallBack = false;
  // The name of a program inside of an operation, whose captures become operands of the operation; else null.
  const char *inside = nullptr;
  bool isRegion = false; // the program is a branch, or a part of a loop
  // Whether tapes see the program as a call: then each result is a fresh value, and results of host calls are further
  // results.
  bool isCalled = true;
  // Which captured tensors become constants: none, small ones that nothing else holds, or all.
  enum class Constants { None, Small, All } constants = Constants::Small;
  // Called after the body has run. Returns a text of all parts of the body's results that are not tensors. Empty
  // function: the results are tensors only.
  std::function<std::string()> structure = {};
};

struct TracedParameter {
  TypeRef type;
  std::string name = ""; // its name in messages: "argument 0"
};

struct TracedProgram {
  std::shared_ptr<Trace> trace; // it has ended; its recording has the results
  std::vector<Tensor> results;  // as the body returned them
};

// Runs the body on traced parameters: once, or many times if it decides on traced tensors. Its exceptions pass through.
TracedProgram traceProgram(const TraceOptions &options, std::span<const TracedParameter> parameters,
                           absl::FunctionRef<std::vector<Tensor>(Trace &, const std::vector<Tensor> &)> body);

// Parameters of the types of these tensors. With `eager`, LeakedTensorError for a traced tensor.
std::vector<TracedParameter> parametersLike(std::span<const Tensor> tensors, bool eager, SourceLocation where);

} // namespace calque::detail
#endif
