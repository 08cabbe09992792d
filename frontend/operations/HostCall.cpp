#include "frontend/operations/HostCall.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/function.h"
#include "frontend/core/Apply.h"
#include "frontend/core/Trace.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace calque::detail {

namespace {
std::vector<Tensor> checked(const HostFunction &function, std::vector<Tensor> results) {
  if (results.size() != function.results.size())
    throw SignatureError(absl::StrCat("a host call must give ", schema::counted(function.results.size(), "tensor"),
                                      " by its specs, and gives ", results.size()),
                         function.where);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorImpl &impl = implOf(results[i], function.where);
    if (impl.trace)
      throwLeaked(impl, function.where);
    if (*impl.type != function.results[i])
      throw SignatureError(
          absl::StrCat("result ", i, " of a host call must be ", function.results[i].str(), ", not ", impl.type->str()),
          function.where);
  }
  return results;
}
} // namespace

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
    // Fresh tensors in both directions, so that no tape follows them through the host call.
    auto renew = [&](const Tensor &x) { return makeEager(x.impl()->type, x.impl()->buffer, where); };
    std::vector<Tensor> given;
    for (const Tensor &input : inputs) {
      if (input.impl()->trace)
        throwLeaked(*input.impl(), where);
      given.push_back(renew(input));
    }
    std::vector<Tensor> made = checked(*function, function->callable(given));
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

namespace {
thread_local SourceLocation running; // the line of the host call that runs
thread_local KeptByCall *keptNow = nullptr;
} // namespace

KeptByCall &keptByCall() { return *keptNow; }
KeptScope::KeptScope(KeptByCall &kept) : before(std::exchange(keptNow, &kept)) {}
KeptScope::~KeptScope() { keptNow = before; }
SourceLocation hostCallLine() { return running; }

void HostFunction::run(std::span<void *const> addresses, const std::int64_t *sizes) const {
  DepthGuard guard(where);
  absl::Cleanup restore = [before = std::exchange(running, where)] { running = before; };
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    schema::TensorType type = inputs[i];
    for (std::int64_t &size : type.dims)
      size = *sizes++;
    // Copies the operand, because the callable may keep the tensor.
    runtime::Buffer buffer = allocate(type, where);
    if (type.numBytes())
      std::memcpy(buffer.data(), addresses[i], type.numBytes());
    given.push_back(makeEager(std::make_shared<const schema::TensorType>(std::move(type)), std::move(buffer), where));
  }
  std::vector<Tensor> made = checked(*this, callable(given));
  for (std::size_t i = 0; i < made.size(); ++i)
    if (std::size_t bytes = results[i].numBytes())
      std::memcpy(addresses[inputs.size() + i], made[i].impl()->buffer.data(), bytes);
}

void HostFunction::clearResults(std::span<void *const> addresses) const {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (std::size_t bytes = results[i].numBytes())
      std::memset(addresses[inputs.size() + i], 0, bytes);
}

} // namespace calque::detail
