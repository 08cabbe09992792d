// What a host call calls: a C++ callable that native code runs, and what it keeps for the call of a function.
#ifndef CALQUE_FRONTEND_OPERATIONS_HOSTFUNCTION_H
#define CALQUE_FRONTEND_OPERATIONS_HOSTFUNCTION_H

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
  // The callable's results, which must have the types that the specs give. SignatureError, LeakedTensorError.
  std::vector<Tensor> call(const std::vector<Tensor> &given) const;
};

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
