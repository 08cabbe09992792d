// The C++ callable that a host call in native code runs, and the objects that host calls keep during a call of a
// function.
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
  // Each run of a lambda makes its callables anew. The identity tells that a callable is the same as in another run; it
  // is empty if that is not known.
  std::string identity = {};

  // Calls the callable on copies of the inputs, and copies its results to their addresses. The inputs' addresses come
  // first, then the results'. `sizes` has all sizes of the inputs, one input after the other.
  void run(std::span<void *const> addresses, const std::int64_t *sizes) const;
  void clearResults(std::span<void *const> addresses) const;
  // Returns the callable's results. SignatureError if they don't have the types that the specs give, LeakedTensorError
  // if one is traced.
  std::vector<Tensor> call(const std::vector<Tensor> &given) const;
};

// Objects that a host call keeps for later host calls in the same call of a function, by number. The end of that call
// destroys them.
struct KeptByCall {
  std::int64_t last = 0;
  HashMap<std::int64_t, std::shared_ptr<void>> entries;
};
// The objects of the call whose host call runs on this thread.
KeptByCall &keptByCall();
// Sets the objects of this thread for a scope.
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
