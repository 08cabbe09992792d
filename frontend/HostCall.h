// The C++ that a function calls, and its way in from native code.
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

  // Calls it on the elements at the addresses, and copies what it gives to those after them; sizes are those of all
  // inputs.
  void run(std::span<void *const> addresses, std::span<const std::int64_t> sizes) const;
  void clearResults(std::span<void *const> addresses) const;
};

} // namespace calque::detail
#endif
