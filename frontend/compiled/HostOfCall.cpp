#include "frontend/compiled/HostOfCall.h"

#include "absl/strings/str_cat.h"
#include "frontend/operations/UserOperationRegistry.h"
#include "runtime/Fork.h"

#include <cstring>
#include <iostream>
#include <mutex>

namespace calque::detail {

bool HostOfCall::callHost(void *self, std::int32_t site, bool failed, const std::int64_t *words,
                          std::size_t numAddresses) {
  HostOfCall &host = *static_cast<HostOfCall *>(self);
  const Site &at = host.executable.sites[static_cast<std::size_t>(site)];
  std::vector<void *> addresses(numAddresses);
  for (std::size_t i = 0; i < numAddresses; ++i)
    addresses[i] = reinterpret_cast<void *>(words[i]);
  const std::int64_t *sizes = words + numAddresses;
  if (at.kind == Site::Kind::Extern)
    return host.callUser(at, failed, addresses, sizes);
  const HostFunction &function = *host.code.hostFunctions[static_cast<std::size_t>(at.callee)];
  try {
    if (!failed) {
      host.isHeard = true;
      KeptScope scope(host.kept);
      function.run(addresses, sizes);
      return true;
    }
  } catch (...) {
    host.thrown = std::current_exception();
  }
  function.clearResults(addresses);
  return false;
}

bool HostOfCall::callUser(const Site &at, bool failed, std::span<void *const> addresses, const std::int64_t *sizes) {
  std::vector<schema::TensorType> types = at.types;
  for (std::size_t i = 0; i < at.numInputs; ++i)
    for (std::int64_t &size : types[i].dims)
      size = *sizes++;
  try {
    if (!failed) {
      std::shared_ptr<const OperationDefinition> definition = findUserOperation(textOf(at));
      if (!definition) // of a saved program, whose operations are checked, or the transpose of one
        throw LookupError(absl::StrCat("operation '", textOf(at), "' is not registered"), failureAt(at, caller).where);
      isHeard |= definition->order != CallOrder::None;
      const std::int32_t result = runUserOperation(*definition, types, at.numInputs, addresses);
      if (!result)
        return true;
      const Failure place = failureAt(at, caller);
      if (!definition->failure)
        throw ValueError(absl::StrCat(textOf(at), ": its kernel fails with ", result), place.where);
      const std::string failed = definition->failure(result);
      // A text that begins with the function that the user has called, or with the operation, says it all.
      if (failed.starts_with(place.operation + ": ") || failed.starts_with(textOf(at) + ": "))
        throw ValueError(failed, place.where);
      throw ValueError(absl::StrCat(textOf(at), ": its kernel fails: ", failed), place.where);
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  for (std::size_t i = at.numInputs; i < types.size(); ++i)
    if (std::size_t bytes = types[i].numBytes())
      std::memset(addresses[i], 0, bytes);
  return false;
}

void HostOfCall::write(void *self, std::int32_t site, std::int32_t dtype, std::int32_t rank, const std::int64_t *dims,
                       const void *data) {
  try {
    HostOfCall &host = *static_cast<HostOfCall *>(self);
    host.isHeard = true;
    const std::string &text = host.textOf(host.executable.sites.at(static_cast<std::size_t>(site)));
    std::optional<std::string> line = host.line.add(text, dtype, {dims, static_cast<std::size_t>(rank)}, data);
    if (!line)
      return;
    static runtime::ForkMutex mutex;
    std::lock_guard lock(mutex);
    std::cout << *line + "\n" << std::flush;
  } catch (...) { // a stream that throws must not end the process
  }
}

} // namespace calque::detail
