// Calls of a user's code by libraries.
#include "calque/user_calls.h"
#include "frontend/core/CallNames.h"
#include "frontend/native/MadeConstants.h"
#include "frontend/native/UserCall.h"
#include "frontend/operations/Regions.h"

namespace calque {

namespace detail {
namespace {

// Appends a program's operations to the current trace.
std::vector<Tensor> inlined(const schema::Recording &program, std::span<const Tensor> operands, SourceLocation where) {
  Trace &trace = *currentTrace();
  std::vector<schema::ValueId> renamed(program.numValues(), -1);
  for (std::size_t i = 0; i < operands.size(); ++i)
    renamed[schema::index(program.parameters[i])] = trace.valueOf(operands[i], where);
  for (const schema::RecordedOp &op : program.ops())
    trace.recording.appendCopy(program, op, renamed);
  std::vector<Tensor> results;
  for (schema::ValueId result : program.results)
    results.push_back(trace.tensorOf(renamed[schema::index(result)], where));
  return results;
}

} // namespace
} // namespace detail

std::vector<Tensor> call_user(const std::function<std::vector<Tensor>()> &code) {
  using namespace detail;
  const SourceLocation where = userLine({});
  UserCode user;
  const std::shared_ptr<Trace> trace = currentTrace();
  if (!trace || trace->decisions)
    return code();
  {
    UserCall call(*trace);
    try {
      std::vector<Tensor> results = code();
      if (!call.isLeft())
        return results;
    } catch (const UserCall::Left &) {
    } catch (const std::exception &) {
      if (!call.isLeft()) // else it comes of what was left
        throw;
    }
  }
  Regions regions(where);
  Trace &own = regions.trace("a function", {}, [&](const std::vector<Tensor> &) { return code(); });
  const std::vector<Tensor> operands = regions.operands({}, false);
  return regions.assignLast(inlined(*regions.program(own, operands, true), operands, where));
}

std::uint64_t capture_in_progress() {
  const detail::MadeConstants *runs = detail::constantsOfRuns();
  return runs ? runs->id : 0;
}

Tensor call_user(const std::function<Tensor()> &code) {
  return call_user([&] { return std::vector<Tensor>{code()}; })[0];
}

} // namespace calque
