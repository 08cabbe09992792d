#include "calque/layers/dtype_policy.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "layers/PolicyScope.h"

#include <atomic>

namespace calque::layers {

namespace {
struct Named {
  const char *name;
  std::optional<DType> compute, variables;
};
constexpr Named kPolicies[] = {
    {"", std::nullopt, std::nullopt},
    {"float16", DType::Float16, DType::Float16},
    {"bfloat16", DType::BFloat16, DType::BFloat16},
    {"float32", DType::Float32, DType::Float32},
    {"float64", DType::Float64, DType::Float64},
    {"mixed_float16", DType::Float16, DType::Float32},
    {"mixed_bfloat16", DType::BFloat16, DType::Float32},
};
std::atomic<DTypePolicy> ofNewLayers;
thread_local std::optional<DTypePolicy> ofThread;
} // namespace

DTypePolicy::DTypePolicy(const char *name, SourceLocation where) {
  const std::string wanted = name ? name : "";
  std::string names;
  for (const Named &policy : kPolicies) {
    if (policy.name == wanted) {
      compute_ = policy.compute;
      variables_ = policy.variables;
      return;
    }
    absl::StrAppend(&names, names.empty() ? "" : ", ", "'", policy.name, "'");
  }
  training::fail<ValueError>(absl::StrCat("dtype_policy: there is no policy '", wanted, "'; there are ", names), where);
}

std::string DTypePolicy::name() const {
  for (const Named &policy : kPolicies)
    if (policy.compute == compute_ && policy.variables == variables_)
      return policy.name;
  return "";
}

void set_dtype_policy(const DTypePolicy &policy) { ofNewLayers.store(policy, std::memory_order_relaxed); }
DTypePolicy dtype_policy() { return ofThread ? *ofThread : ofNewLayers.load(std::memory_order_relaxed); }

PolicyScope::PolicyScope(const DTypePolicy &policy) : before(ofThread) { ofThread = policy; }
PolicyScope::~PolicyScope() { ofThread = before; }

} // namespace calque::layers
