#include "calque/layers/dtype_policy.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "layers/PolicyScope.h"

#include <atomic>

namespace calque::layers {

namespace {
std::string mixedName(const DTypeInfo &half) { return absl::StrCat("mixed_", half.name); }

std::atomic<DTypePolicy> ofNewLayers;
thread_local std::optional<DTypePolicy> ofThread;
} // namespace

DTypePolicy::DTypePolicy(const char *given, SourceLocation where) {
  const std::string wanted = given ? given : "";
  if (wanted.empty())
    return;
  std::string plain, mixed;
  for (const DTypeInfo &info : kDTypes) {
    if (info.kind != DTypeKind::Float)
      continue;
    absl::StrAppend(&plain, ", '", info.name, "'");
    if (wanted == info.name)
      compute_ = variables_ = info.dtype;
    if (!is_half(info.dtype))
      continue;
    absl::StrAppend(&mixed, ", '", mixedName(info), "'");
    if (wanted == mixedName(info)) {
      compute_ = info.dtype;
      variables_ = DType::Float32;
    }
  }
  if (!compute_)
    training::fail<ValueError>(
        absl::StrCat("dtype_policy: there is no policy '", wanted, "'; there are ''", plain, mixed), where);
}

std::string DTypePolicy::name() const {
  if (!compute_)
    return "";
  return mixes() ? mixedName(info_of(*compute_)) : name_of(*compute_);
}

void set_dtype_policy(const DTypePolicy &policy) { ofNewLayers.store(policy, std::memory_order_relaxed); }
DTypePolicy dtype_policy() { return ofThread ? *ofThread : ofNewLayers.load(std::memory_order_relaxed); }

PolicyScope::PolicyScope(const DTypePolicy &policy) : before(ofThread) { ofThread = policy; }
PolicyScope::~PolicyScope() { ofThread = before; }

} // namespace calque::layers
