#include "calque/call.h"

#include "absl/strings/str_cat.h"
#include "calque/function.h"
#include "calque/transforms.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Trace.h"

#include <atomic>

namespace calque {
namespace {
std::atomic<bool> runEagerly{false};
}

bool executing_eagerly() { return detail::currentTrace() == nullptr; }
void config::run_functions_eagerly(bool enable) { runEagerly.store(enable, std::memory_order_relaxed); }
bool config::functions_run_eagerly() { return runEagerly.load(std::memory_order_relaxed); }

namespace detail {

bool callsInline() { return currentTrace() != nullptr || runEagerly.load(std::memory_order_relaxed); }

namespace {
thread_local int depth = 0;
constexpr int kMostDepth = 200;
} // namespace

DepthGuard::DepthGuard(const SourceLocation &where) {
  if (depth == kMostDepth)
    throw RecursionError(absl::StrCat("functions, branches and loops nest ", kMostDepth,
                                      " deep; a recursion that depends on tensors alone has no end while tracing"),
                         userLine(where));
  ++depth;
}
DepthGuard::~DepthGuard() { --depth; }

InlinedCall::InlinedCall(const std::vector<Tensor> &arguments, SourceLocation where)
    : guard_(where), arguments_(aliases(arguments, where)),
      numBefore_(currentTrace() ? currentTrace()->recording.numValues() : 0) {}

std::vector<Tensor> InlinedCall::own(const std::vector<Tensor> &results, SourceLocation where) const {
  where = userLine(where);
  const std::shared_ptr<Trace> &trace = currentTrace();
  if (!trace)
    return aliases(results, where);
  const std::vector<schema::ValueId> values = trace->ownValues(results, numBefore_, where);
  std::vector<Tensor> tensors = results;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const TensorImpl &impl = implOf(results[i]); impl.trace != trace->id || impl.value != values[i])
      tensors[i] = trace->tensorOf(values[i], where);
  return tensors;
}

} // namespace detail
} // namespace calque
