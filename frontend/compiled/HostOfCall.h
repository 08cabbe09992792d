// The services of the host for a call of native code: prints, host calls, and kernels of users' operations.
#ifndef CALQUE_FRONTEND_COMPILED_HOSTOFCALL_H
#define CALQUE_FRONTEND_COMPILED_HOSTOFCALL_H

#include "frontend/compiled/SiteErrors.h"
#include "runtime/Print.h"

#include <exception>

namespace calque::detail {

// Serves native code: writes prints to standard output, a line at a time, and runs host calls.
struct HostOfCall : runtime::HostCallbacks {
  HostOfCall(const Code &code, const Caller &caller)
      : HostCallbacks{&write, &callHost}, code(code), executable(*code.executable), caller(caller) {}
  // Keeps an exception until native code has returned, because native code can't be unwound.
  static bool callHost(void *self, std::int32_t site, bool failed, const std::int64_t *words, std::size_t numAddresses);
  const std::string &textOf(const Site &site) const { return caller.text ? *caller.text : site.text; }
  // Runs the kernel of a user's operation.
  bool callUser(const Site &at, bool failed, std::span<void *const> addresses, const std::int64_t *sizes);
  static void write(void *self, std::int32_t site, std::int32_t dtype, std::int32_t rank, const std::int64_t *dims,
                    const void *data);
  const Code &code;
  const Executable &executable;
  const Caller &caller;
  KeptByCall kept;
  std::exception_ptr thrown;
  runtime::PrintedLine line;
  bool isHeard = false; // the call has printed or called the host, so that its repetition would be noticed
};

} // namespace calque::detail
#endif
