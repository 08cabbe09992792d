#include "frontend/operations/HostCall.h"

#include "absl/strings/str_cat.h"
#include "calque/function.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"

#include <algorithm>
#include <utility>

namespace calque::detail {

void requireHostInputs(std::size_t parameters, std::size_t inputs, SourceLocation where) {
  if (parameters != inputs)
    throw SignatureError(
        absl::StrCat("host_call: the number of inputs is ", inputs, ", and the callable takes ", parameters),
        userLine(where));
}

std::vector<Tensor> hostCall(HostCallable callable, const std::vector<Tensor> &inputs,
                             const std::vector<TensorSpec<>> &specs, std::optional<std::size_t> results,
                             std::string identity, SourceLocation where) {
  where = userLine(where);
  if (results && specs.size() != *results)
    throw SignatureError(absl::StrCat("host_call: the callable gives ", schema::counted(*results, "tensor"),
                                      ", and the call has ", schema::counted(specs.size(), "spec"),
                                      "; each tensor needs its TensorSpec"),
                         where);
  auto function = std::make_shared<HostFunction>();
  function->callable = std::move(callable);
  function->where = where;
  for (const Tensor &input : inputs)
    function->inputs.push_back(*implOf(input, where).type);
  for (const TensorSpec<> &spec : specs) {
    if (!spec.has_rank() || !spec.shape().is_known())
      throw ValueError(absl::StrCat("the results of a host call have known sizes; ", spec.str(), " has not"), where);
    function->results.push_back({spec.dtype(), spec.shape()});
  }
  if (!identity.empty()) {
    absl::StrAppend(&identity, " ", where.file ? where.file : "", " ", where.line, " ", where.column);
    for (const std::vector<schema::TensorType> *types : {&function->inputs, &function->results})
      for (const schema::TensorType &type : *types)
        absl::StrAppend(&identity, " ", type.str());
    function->identity = std::move(identity);
  }
  const std::shared_ptr<Trace> &trace = currentTrace();
  if (!trace) {
    // The callable gets new tensors, and so does its caller, so that no tape follows tensors through the host call.
    auto renew = [&](const Tensor &x) { return makeEager(x.impl()->type, x.impl()->buffer, where); };
    std::vector<Tensor> given;
    for (const Tensor &input : inputs) {
      if (input.impl()->trace)
        throwLeaked(*input.impl(), where);
      given.push_back(renew(input));
    }
    std::vector<Tensor> made = function->call(given);
    std::transform(made.begin(), made.end(), made.begin(), renew);
    return made;
  }

  return recordHostCall(std::move(function), inputs);
}

std::vector<Tensor> recordHostCall(std::shared_ptr<const HostFunction> function, const std::vector<Tensor> &inputs) {
  const std::shared_ptr<Trace> &trace = currentTrace();
  const SourceLocation where = function->where;
  if (!trace->mayCallHost())
    throw StateError("a host call can't stand in a pullback or a checkpoint, which may run any number of times", where);
  std::vector<schema::ValueId> operands;
  for (const Tensor &input : inputs)
    operands.push_back(trace->valueOf(input, where));
  std::vector<std::int64_t> types;
  for (const schema::TensorType &type : function->results) {
    types.push_back(static_cast<std::int64_t>(type.dtype));
    types.push_back(type.rank());
    types.insert(types.end(), type.dims.begin(), type.dims.end());
  }
  std::vector<std::shared_ptr<const HostFunction>> &functions = trace->root().hostFunctions;
  auto known = functions.end();
  if (!function->identity.empty())
    known = std::ranges::find_if(functions, [&](const auto &each) { return each->identity == function->identity; });
  const std::int64_t number = known - functions.begin();
  schema::Attribute attributes[] = {number, std::move(types)};
  schema::ValueId first = trace->append(schema::OpId::HostCall, operands, attributes, function->results, where);
  std::vector<Tensor> made;
  for (std::size_t i = 0; i < function->results.size(); ++i)
    made.push_back(trace->tensorOf(first + static_cast<schema::ValueId>(i), where));
  if (known == functions.end())
    functions.push_back(std::move(function));
  return made;
}

} // namespace calque::detail
