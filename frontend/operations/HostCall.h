// Host calls: a C++ callable that a function calls at run time, and how native code calls it.
#ifndef CALQUE_FRONTEND_OPERATIONS_HOSTCALL_H
#define CALQUE_FRONTEND_OPERATIONS_HOSTCALL_H

#include "calque/host_call.h"
#include "frontend/core/TensorImpl.h"
#include "schema/HashTables.h"

namespace calque::detail {

struct HostFunction {
  HostCallable callable;
  std::vector<schema::TensorType> inputs; // some sizes may be unknown
  std::vector<schema::TensorType> results;
  SourceLocation where;
  // Identifies the callable in several runs of one lambda, each of which makes the callable anew; else empty.
  std::string identity = {};

  // Calls it on the inputs, whose addresses come first and whose sizes are `sizes`, and copies its results to the
  // addresses after them.
  void run(std::span<void *const> addresses, const std::int64_t *sizes) const;
  void clearResults(std::span<void *const> addresses) const;
};

// Records the call of a function in the current trace. One with an identity is recorded once.
std::vector<Tensor> recordHostCall(std::shared_ptr<const HostFunction> function, const std::vector<Tensor> &inputs);

// Objects that a host call keeps for later host calls in the same call of a function, by number. They end with that
// call.
struct KeptByCall {
  std::int64_t last = 0;
  HashMap<std::int64_t, std::shared_ptr<void>> entries;
};
// The objects of the call whose host call runs on this thread.
KeptByCall &keptByCall();
// Sets it for a scope.
class KeptScope {
public:
  explicit KeptScope(KeptByCall &kept);
  ~KeptScope();
  KeptScope(const KeptScope &) = delete;
  KeptScope &operator=(const KeptScope &) = delete;

private:
  KeptByCall *before;
};

// The line of the host call that runs on this thread. Operators without a line of their own are reported there.
SourceLocation hostCallLine();

} // namespace calque::detail
#endif
