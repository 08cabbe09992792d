#include "frontend/operations/HostFunction.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "calque/call.h"

#include <cstring>
#include <utility>

namespace calque::detail {

std::vector<Tensor> HostFunction::call(const std::vector<Tensor> &given) const {
  std::vector<Tensor> made = callable(given);
  if (made.size() != results.size())
    throw SignatureError(absl::StrCat("a host call must give ", schema::counted(results.size(), "tensor"),
                                      " by its specs, and gives ", made.size()),
                         where);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const TensorImpl &impl = implOf(made[i], where);
    if (impl.trace)
      throwLeaked(impl, where);
    if (*impl.type != results[i])
      throw SignatureError(
          absl::StrCat("result ", i, " of a host call must be ", results[i].str(), ", not ", impl.type->str()), where);
  }
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
  std::vector<Tensor> made = call(given);
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
