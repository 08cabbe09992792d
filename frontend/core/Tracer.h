// The one way in which programs are traced: of functions, of transformations, inside of operations.
#ifndef CALQUE_FRONTEND_CORE_TRACER_H
#define CALQUE_FRONTEND_CORE_TRACER_H

#include "absl/functional/function_ref.h"
#include "frontend/core/Trace.h"

#include <functional>

namespace calque::detail {

struct TraceOptions {
  std::string name = {};
  SourceLocation where = {}; // where the program is made
  SourceLocation call = {};  // what it is traced for
  bool mayMakeVariables = false;
  bool mayFallBack = false;
  // What the program is inside of an operation; else null. It takes what it captures as operands of the operation.
  const char *inside = nullptr;
  bool isRegion = false; // it is a branch, or a part of a loop
  // Whether results are values of their own, and those of host calls further results, as for what tapes see the call
  // of.
  bool isCalled = true;
  // Which captured tensors become constants: none, small ones that nothing else holds, or all.
  enum class Constants { None, Small, All } constants = Constants::Small;
  // A text that differs where the body's results differ in what is no tensor; asked after the body has run. None: it
  // gives tensors only.
  std::function<std::string()> structure = {};
};

struct TracedParameter {
  TypeRef type;
  std::string name = ""; // what messages call it: "argument 0"
};

struct TracedProgram {
  std::shared_ptr<Trace> trace; // it has ended; its recording has the results
  std::vector<Tensor> results;  // as the body gave them
};

// Runs the body on traced parameters, once, or many times where it decides on traced tensors. What it throws passes
// through.
TracedProgram traceProgram(const TraceOptions &options, std::span<const TracedParameter> parameters,
                           absl::FunctionRef<std::vector<Tensor>(Trace &, const std::vector<Tensor> &)> body);

// Parameters of the types of tensors. LeakedTensorError for a tensor of a trace where `eager` are wanted.
std::vector<TracedParameter> parametersLike(std::span<const Tensor> tensors, bool eager, SourceLocation where);

} // namespace calque::detail
#endif
