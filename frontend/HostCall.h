// A C++ callable that a function calls, and how native code calls it.
#ifndef CALQUE_FRONTEND_HOSTCALL_H
#define CALQUE_FRONTEND_HOSTCALL_H

#include "calque/host_call.h"
#include "frontend/TensorImpl.h"

namespace calque::detail {

struct HostFunction {
  HostCallable callable;
  std::vector<schema::TensorType> inputs; // some sizes may be unknown
  std::vector<schema::TensorType> results;
  SourceLocation where;

  // Calls it on the inputs, whose addresses come first and whose sizes are `sizes`, and copies its results to the
  // addresses after them.
  void run(std::span<void *const> addresses, const std::int64_t *sizes) const;
  void clearResults(std::span<void *const> addresses) const;
};

// The line of the host call that runs on this thread, which stands in for that of an operator without one.
SourceLocation hostCallLine();

} // namespace calque::detail
#endif
